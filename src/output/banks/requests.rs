//! Does the model agree with a table of measured requests?

use std::io::{self, Read, Write};

use crate::banks::{Access, ParseAccessError, Request, Target, cost};

/// How a table compares with the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Agreement {
    /// Requests in the table.
    pub rows: usize,
    /// Rows whose measured wavefronts are the model's.
    pub agree: usize,
    /// Rows whose measured wavefronts are not.
    pub disagree: usize,
    /// Rows for which the model promises no number.
    pub unknown: usize,
    /// Rows without a measurement, of those for which the model has a number.
    pub unmeasured: usize,
}

impl Agreement {
    /// No row contradicts the model.
    pub fn all_agree(&self) -> bool {
        self.disagree == 0
    }
}

/// Why a table could not be compared.
#[derive(Debug, thiserror::Error)]
pub enum RequestsError {
    /// A row is not a request.
    #[error("{file}:{line}: {why}")]
    Row {
        /// The table's name.
        file: String,
        /// The row's line, from 1.
        line: u64,
        /// What is wrong with it.
        why: String,
    },
    /// The table cannot be read.
    #[error("cannot read {file}: {source}")]
    Read {
        /// The table's name.
        file: String,
        /// The cause.
        source: io::Error,
    },
    /// The comparison cannot be written.
    #[error(transparent)]
    Write(#[from] io::Error),
}

/// One row: the request, and its number if it was measured.
struct Row {
    access: Access,
    bytes: u32,
    active: u32,
    offsets: [i64; 32],
    measured: Option<u32>,
}

const HEADER: [&str; 6] =
    ["op", "bytes_per_lane", "active_mask_hex", "byte_offset_of_each_lane", "wavefronts", "model_wavefronts"];

/// Copies a table of requests (`op,bytes_per_lane,active_mask_hex,byte_offset_of_each_lane,wavefronts`, the last
/// column optional, the header too) from `table` to `out` with the model's wavefronts as a sixth column, and
/// writes one line of summary to `summary`.
///
/// `file` names the table in errors. Where the model promises no number, its column says `unknown`.
pub fn compare_requests(
    table: &mut dyn Read,
    file: &str,
    target: &Target,
    out: &mut dyn Write,
    summary: &mut dyn Write,
) -> Result<Agreement, RequestsError> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(table);
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(HEADER).map_err(into_io)?;
    let mut agreement = Agreement::default();
    for (number, record) in reader.records().enumerate() {
        let record = record.map_err(|error| reading_failed(file, error))?;
        if number == 0 && record.get(0).is_some_and(|op| op.trim() == "op") {
            continue;
        }
        let line = record.position().map_or(0, csv::Position::line);
        let row = parse(&record).map_err(|why| RequestsError::Row { file: file.to_owned(), line, why })?;
        let request = Request::new(row.access, row.bytes, row.active, &row.offsets);
        let modelled = cost(&request, target).map(|cost| cost.wavefronts);
        agreement.rows += 1;
        match (modelled, row.measured) {
            (None, _) => agreement.unknown += 1,
            (Some(_), None) => agreement.unmeasured += 1,
            (Some(modelled), Some(measured)) if modelled == measured => agreement.agree += 1,
            (Some(_), Some(_)) => agreement.disagree += 1,
        }
        let modelled = modelled.map_or_else(|| "unknown".to_owned(), |count| count.to_string());
        let given = (0..5).map(|column| record.get(column).unwrap_or(""));
        writer.write_record(given.chain([modelled.as_str()])).map_err(into_io)?;
    }
    writer.flush()?;
    let Agreement { rows, agree, disagree, unknown, unmeasured } = agreement;
    write!(summary, "{file} on {target}: {rows} rows, {agree} agree, {disagree} disagree")?;
    if unknown > 0 {
        write!(summary, ", {unknown} the model has no number for")?;
    }
    if unmeasured > 0 {
        write!(summary, ", {unmeasured} not measured")?;
    }
    writeln!(summary)?;
    Ok(agreement)
}

fn into_io(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

fn reading_failed(file: &str, error: csv::Error) -> RequestsError {
    let line = error.position().map_or(0, csv::Position::line);
    let file = file.to_owned();
    match error.into_kind() {
        csv::ErrorKind::Io(source) => RequestsError::Read { file, source },
        csv::ErrorKind::Utf8 { .. } => RequestsError::Row { file, line, why: "not UTF-8 text".to_owned() },
        other => RequestsError::Row { file, line, why: format!("not a row: {other:?}") },
    }
}

fn parse(record: &csv::StringRecord) -> Result<Row, String> {
    let cell = |column: usize| record.get(column).map_or("", str::trim);
    if !(4..=6).contains(&record.len()) {
        return Err(format!(
            "{} columns, expected {} (the last may be missing)",
            record.len(),
            HEADER[..5].join(",")
        ));
    }
    let access = cell(0).parse().map_err(|error: ParseAccessError| error.to_string())?;
    let bytes = cell(1).parse().map_err(|_| format!("`{}` is not a number of bytes per lane", cell(1)))?;
    let mask = cell(2).trim_start_matches("0x");
    let digits = !mask.is_empty() && mask.bytes().all(|b| b.is_ascii_hexdigit());
    let active = u32::from_str_radix(mask, 16).ok().filter(|_| digits);
    let active = active.ok_or_else(|| format!("`{}` is not a mask of 32 lanes in hexadecimal", cell(2)))?;
    let mut offsets = [0; 32];
    let mut given = 0;
    for text in cell(3).split_ascii_whitespace() {
        let offset = text.parse().map_err(|_| format!("`{text}` is not a byte offset"))?;
        if let Some(slot) = offsets.get_mut(given) {
            *slot = offset;
        }
        given += 1;
    }
    if given != 32 {
        return Err(format!("{given} byte offsets, expected one for each of the 32 lanes"));
    }
    let measured = match cell(4) {
        "" => None,
        text => Some(text.parse().map_err(|_| format!("`{text}` is not a number of wavefronts"))?),
    };
    Ok(Row { access, bytes, active, offsets, measured })
}
