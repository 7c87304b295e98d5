//! How does a table look on a terminal?

use comfy_table::{Table, presets};

/// A table without lines around its cells.
#[must_use]
pub fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header.to_vec());
    table
}

/// The table's lines, without white space at their ends.
#[must_use]
pub fn text_of(table: &Table) -> String {
    table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}
