//! In which bank does each element of an array lie, and what does reading it row by row or column by column cost?

use std::io::{self, Write};
use std::str::FromStr;

use crate::banks::{Access, Cost, Request, Target, cost, lanes_served_together};

/// The extents of an array of one to three dimensions, outermost first: `4x33` is `t[4][33]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    extents: Vec<u32>,
}

/// The text is no shape.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{given}` is not a shape: expected one to three extents of 1 to {LARGEST}, such as 1024, 32x33 or 4x16x17"
)]
pub struct ParseShapeError {
    /// What was written.
    pub given: String,
}

/// No extent is larger; with [`MOST_ELEMENT_BYTES`] this keeps every offset in range.
const LARGEST: u32 = 1 << 16;

/// The largest element of which a picture is drawn, in bytes.
pub const MOST_ELEMENT_BYTES: u32 = 1024;

impl FromStr for Shape {
    type Err = ParseShapeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let extents: Result<Vec<u32>, _> =
            text.split(['x', 'X']).map(|extent| extent.trim().parse()).collect();
        extents
            .ok()
            .filter(|extents| (1..=3).contains(&extents.len()))
            .filter(|extents| extents.iter().all(|extent| (1..=LARGEST).contains(extent)))
            .map(|extents| Self { extents })
            .ok_or_else(|| ParseShapeError { given: text.to_owned() })
    }
}

/// A longer extent is cut to `CUT`: the banks repeat.
const MOST: u32 = 64;
const CUT: u32 = 33;
const MOST_PLANES: u32 = 4;

const fn shown(extent: u32) -> u32 {
    if extent <= MOST { extent } else { CUT }
}

/// The array: `planes` of `rows` of `columns`, of which the rows may be padded.
#[derive(Clone, Copy)]
struct Array<'a> {
    dimensions: usize,
    planes: u32,
    rows: u32,
    columns: u32,
    /// Elements after each row that nobody reads.
    padding: u32,
    element_bytes: u32,
    target: &'a Target,
}

/// An element, as `(plane, row, column)`.
type Element = (u32, u32, u32);

/// What each lane of a warp reads: lane `l` the element `l`.
type Elements = Vec<Element>;

impl Array<'_> {
    fn offset(&self, (plane, row, column): Element) -> i64 {
        let row = i64::from(plane) * i64::from(self.rows) + i64::from(row);
        let element = row * i64::from(self.columns + self.padding) + i64::from(column);
        element * i64::from(self.element_bytes)
    }

    fn bytes(&self) -> i64 {
        self.offset((self.planes, 0, 0))
    }

    fn contains(&self, (plane, row, column): Element) -> bool {
        plane < self.planes && row < self.rows && column < self.columns
    }

    /// Hands the request of a warp that reads these elements to `ask`.
    fn asked<T>(&self, elements: &[Element], ask: impl Fn(&Request<'_>) -> T) -> T {
        let (mut offsets, mut active) = ([0; 32], 0);
        for (lane, (slot, &element)) in offsets.iter_mut().zip(elements).enumerate() {
            *slot = self.offset(element);
            active |= 1 << lane;
        }
        ask(&Request::new(Access::Load, self.element_bytes, active, &offsets))
    }

    fn cost(&self, elements: &[Element]) -> Option<Cost> {
        self.asked(elements, |request| cost(request, self.target))
    }

    /// The elements of 32 lanes at most, those outside the array left out.
    fn lanes(&self, element: impl Fn(u32) -> Element) -> Elements {
        (0..32).map(element).take_while(|&element| self.contains(element)).collect()
    }
}

/// Writes the bank of every element as a table, marks the elements that a column read cannot get in one pass,
/// and says below what a warp's reads along each dimension cost. With `colour`, marks are red as well.
///
/// Fails with [`io::ErrorKind::InvalidInput`] unless elements have 1 to [`MOST_ELEMENT_BYTES`] bytes.
pub fn write_picture(
    out: &mut dyn Write,
    element_bytes: u32,
    shape: &Shape,
    target: &Target,
    colour: bool,
) -> io::Result<()> {
    if !(1..=MOST_ELEMENT_BYTES).contains(&element_bytes) {
        let why = format!("an element has 1 to {MOST_ELEMENT_BYTES} bytes, not {element_bytes}");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    let (dimensions, planes, rows, columns) = match *shape.extents.as_slice() {
        [planes, rows, columns] => (3, planes, rows, columns),
        [rows, columns] => (2, 1, rows, columns),
        [columns] => (1, 1, 1, columns),
        _ => return Ok(()),
    };
    let array = Array { dimensions, planes, rows, columns, padding: 0, element_bytes, target };
    let extents: String = shape.extents.iter().map(|extent| format!("[{extent}]")).collect();
    let banks = format!("{} banks of {} bytes", target.banks(), target.bank_bytes());
    writeln!(
        out,
        "t{extents} of {element_bytes}-byte elements on {target}: the bank of each element ({banks})"
    )?;
    writeln!(out)?;
    if dimensions == 1 {
        line_table(out, &array)?;
        writeln!(out)?;
        strides(out, &array)?;
    } else {
        for plane in 0..planes.min(MOST_PLANES) {
            if dimensions == 3 {
                writeln!(out, "t[{plane}]")?;
            }
            plane_table(out, &array, plane, colour)?;
            writeln!(out)?;
        }
        if planes > MOST_PLANES {
            writeln!(out, "(the first {MOST_PLANES} of {planes} planes)\n")?;
        }
        reads(out, &array)?;
    }
    let limit = target.static_shared_limit();
    if array.bytes() > i64::from(limit) {
        writeln!(
            out,
            "the array has {} bytes: more than the {limit} that may be declared statically",
            array.bytes()
        )?;
    }
    Ok(())
}

/// `7`, or `28-31` where an element spans several banks.
fn bank_label(array: &Array<'_>, element: Element) -> String {
    let offset = array.offset(element);
    if array.element_bytes >= array.target.banks() * array.target.bank_bytes() {
        return "all".to_owned();
    }
    let first = array.target.bank_of(offset);
    let last = array.target.bank_of(offset + i64::from(array.element_bytes) - 1);
    if first == last { first.to_string() } else { format!("{first}-{last}") }
}

/// The most characters of a bank label of this array.
fn label_width(array: &Array<'_>) -> usize {
    if array.target.bank_bytes().is_multiple_of(array.element_bytes) { 2 } else { 5 }
}

/// Those elements of a plane that share a bank with another one that the same column read wants at the same time,
/// row by row. Each 32 rows of a column are read by one warp.
fn collisions(array: &Array<'_>, plane: u32) -> Vec<Vec<bool>> {
    let (rows, columns) = (shown(array.rows), shown(array.columns));
    let mut marked = vec![vec![false; columns as usize]; rows as usize];
    for column in 0..columns {
        for start in (0..rows).step_by(32) {
            let elements = array.lanes(|lane| (plane, start + lane, column));
            for (lane, &(_, row, _)) in elements.iter().enumerate() {
                let slot = marked.get_mut(row as usize).and_then(|row| row.get_mut(column as usize));
                if let Some(slot) = slot {
                    *slot = array.asked(&elements, |request| collides(request, lane, array.target));
                }
            }
        }
    }
    marked
}

/// Whether a lane collides with any other active one of its group.
fn collides(request: &Request<'_>, lane: usize, target: &Target) -> bool {
    let together = lanes_served_together(request, target) as usize;
    let group = lane / together * together;
    (group..group + together).filter(|&other| other != lane && request.active >> other & 1 == 1).any(
        |other| {
            let pair = Request { active: 1 << lane | 1 << other, ..*request };
            cost(&pair, target).is_some_and(|cost| cost.witness.is_some())
        },
    )
}

fn plane_table(out: &mut dyn Write, array: &Array<'_>, plane: u32, colour: bool) -> io::Result<()> {
    let marks = collisions(array, plane);
    let (rows, columns) = (shown(array.rows), shown(array.columns));
    let width = label_width(array);
    let columns_head: String = (0..columns).map(|column| format!(" {column:>width$} ")).collect();
    writeln!(out, "row\\col{}", columns_head.trim_end())?;
    for (row, marks) in (0..rows).zip(&marks) {
        let cells = (0..columns).zip(marks).map(|(column, &marked)| {
            let label = bank_label(array, (plane, row, column));
            match (marked, colour) {
                (false, _) => format!(" {label:>width$} "),
                (true, false) => format!(" {label:>width$}*"),
                (true, true) => format!(" \x1b[1;31m{label:>width$}*\x1b[0m"),
            }
        });
        let cells: String = cells.collect();
        writeln!(out, "{row:>7}{}", cells.trim_end())?;
    }
    if rows < array.rows || columns < array.columns {
        writeln!(
            out,
            "(the first {rows} of {} rows and {columns} of {} columns)",
            array.rows, array.columns
        )?;
    }
    if marks.iter().flatten().any(|&marked| marked) {
        writeln!(out, "* lies in a bank that the same column read wants another word of")?;
    }
    Ok(())
}

/// A one-dimensional array, a turn around the banks or 32 elements a row.
fn line_table(out: &mut dyn Write, array: &Array<'_>) -> io::Result<()> {
    let turn = array.target.banks() * array.target.bank_bytes();
    let per_row = (turn / array.element_bytes).clamp(1, 32);
    let width = label_width(array);
    let shown = array.columns.min(CUT * per_row);
    for start in (0..shown).step_by(per_row as usize) {
        let columns = start..(start + per_row).min(array.columns);
        let cells = columns.map(|column| format!(" {:>width$}", bank_label(array, (0, 0, column))));
        writeln!(out, "{start:>7}:{}", cells.collect::<String>())?;
    }
    if shown < array.columns {
        writeln!(out, "(the first {shown} of {} elements)", array.columns)?;
    }
    Ok(())
}

/// What a warp's strided reads of a one-dimensional array cost.
fn strides(out: &mut dyn Write, array: &Array<'_>) -> io::Result<()> {
    for stride in [1, 2, 3, 4, 8, 16, 32, 33] {
        let elements = array.lanes(|lane| (0, 0, lane * stride));
        if stride > 1 && elements.len() < 32 {
            continue;
        }
        let index = if stride == 1 { "t[lane]".to_owned() } else { format!("t[{stride} * lane]") };
        line(out, array, &index, &elements)?;
    }
    Ok(())
}

fn line(out: &mut dyn Write, array: &Array<'_>, what: &str, elements: &[Element]) -> io::Result<()> {
    let Some(cost) = array.cost(elements) else { return Ok(()) };
    writeln!(out, "a warp reading {what} takes {}", outcome(&cost))
}

/// `32 wavefronts instead of 1: a 32-way bank conflict, lanes 0 and 1 meet in bank 0`
fn outcome(cost: &Cost) -> String {
    let plural = if cost.wavefronts == 1 { "" } else { "s" };
    let wavefronts = format!("{} wavefront{plural}", cost.wavefronts);
    match cost.witness {
        Some(witness) if cost.excess() > 0 => {
            let (low, high) = witness.lanes;
            let (ideal, ways, bank) = (cost.ideal, cost.ways, witness.bank);
            let article = if matches!(ways, 8 | 11 | 18) { "an" } else { "a" };
            format!(
                "{wavefronts} instead of {ideal}: {article} {ways}-way bank conflict, lanes {low} and {high} meet in bank {bank}"
            )
        }
        _ => format!("{wavefronts}: no conflict"),
    }
}

/// The lines below the tables: reads along each dimension, and the padding that mends those down the columns.
fn reads(out: &mut dyn Write, array: &Array<'_>) -> io::Result<()> {
    let column = array.lanes(|lane| (0, lane, 0));
    let row = array.lanes(|lane| (0, 0, lane));
    line(out, array, &format!("column 0 ({} rows)", column.len()), &column)?;
    // Short columns: a full warp also reads the next ones, as a block of that height does.
    let columns = array.lanes(|lane| (0, lane % array.rows, lane / array.rows));
    let several = columns.len() > column.len();
    if several {
        let last = columns.last().map_or(0, |&(_, _, column)| column);
        line(out, array, &format!("columns 0 to {last} (lane l reads row l % {})", array.rows), &columns)?;
    }
    line(out, array, &format!("row 0 ({} columns)", row.len()), &row)?;
    if array.dimensions == 3 {
        let planes = array.lanes(|lane| (lane, 0, 0));
        line(out, array, &format!("t[lane][0][0] ({} planes)", planes.len()), &planes)?;
    }
    padding(out, array, if several { &columns } else { &column }, &row)
}

/// The fewest elements after each row with which the columns are free of conflicts and the rows no worse.
fn padding(out: &mut dyn Write, array: &Array<'_>, columns: &[Element], row: &[Element]) -> io::Result<()> {
    let excess = |array: &Array<'_>, elements| array.cost(elements).map_or(0, |cost| cost.excess());
    if excess(array, columns) == 0 {
        return Ok(());
    }
    let before = excess(array, row);
    let mends = |by: &u32| {
        let padded = Array { padding: *by, ..*array };
        excess(&padded, columns) == 0 && excess(&padded, row) <= before
    };
    let Some(by) = (1..=32).find(mends) else {
        return writeln!(out, "no padding of up to 32 elements after each row frees that of conflicts");
    };
    let plural = if by == 1 { "" } else { "s" };
    let planes = if array.dimensions == 3 { format!("[{}]", array.planes) } else { String::new() };
    let padded = Array { padding: by, ..*array };
    writeln!(
        out,
        "help: pad the rows by {by} element{plural}: with t{planes}[{}][{}] no column conflicts (+{} bytes)",
        array.rows,
        array.columns + by,
        padded.bytes() - array.bytes(),
    )
}
