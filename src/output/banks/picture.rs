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

/// No extent is larger: a row of this many elements is far more than any shared memory.
const LARGEST: u32 = 1 << 20;

impl FromStr for Shape {
    type Err = ParseShapeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || ParseShapeError { given: text.to_owned() };
        let extents: Result<Vec<u32>, _> =
            text.split(['x', 'X']).map(|extent| extent.trim().parse()).collect();
        let extents = extents.map_err(|_| error())?;
        let known = (1..=3).contains(&extents.len()) && extents.iter().all(|&e| (1..=LARGEST).contains(&e));
        if known { Ok(Self { extents }) } else { Err(error()) }
    }
}

/// Larger arrays are cut: their banks repeat.
const MOST_ROWS: u32 = 64;
const MOST_COLUMNS: u32 = 64;
const MOST_PLANES: u32 = 4;

/// A warp's read of 32 elements along one dimension.
struct Read {
    offsets: [i64; 32],
    active: u32,
}

/// The array: `planes` of `rows` of `columns`.
struct Array<'a> {
    planes: u32,
    rows: u32,
    columns: u32,
    element_bytes: u32,
    target: &'a Target,
}

/// A dimension to read along.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Along {
    Planes,
    Rows,
    Columns,
}

impl Array<'_> {
    fn offset(&self, plane: u32, row: u32, column: u32) -> i64 {
        let element = (i64::from(plane) * i64::from(self.rows) + i64::from(row)) * i64::from(self.columns);
        (element + i64::from(column)) * i64::from(self.element_bytes)
    }

    fn bytes(&self) -> i64 {
        self.offset(self.planes, 0, 0)
    }

    /// How far `along` goes, then the dimensions into which a warp that is longer than that continues.
    fn order(&self, along: Along) -> [(Along, u32); 3] {
        let (planes, rows, columns) =
            ((Along::Planes, self.planes), (Along::Rows, self.rows), (Along::Columns, self.columns));
        match along {
            Along::Planes => [planes, columns, rows],
            Along::Rows => [rows, columns, planes],
            Along::Columns => [columns, rows, planes],
        }
    }

    /// The elements that lane 0, 1, ... of a warp read along a dimension, from the element at `start` on, as
    /// `(plane, row, column)`.
    fn elements(&self, along: Along, start: (u32, u32, u32)) -> impl Iterator<Item = (u32, u32, u32)> {
        let order = self.order(along);
        let wraps = order[0].1 < 32;
        let mut at = Some(start);
        std::iter::from_fn(move || {
            let now = at?;
            let mut next = now;
            at = None;
            for (dimension, extent) in order {
                let index = match dimension {
                    Along::Planes => &mut next.0,
                    Along::Rows => &mut next.1,
                    Along::Columns => &mut next.2,
                };
                *index += 1;
                if *index < extent {
                    at = Some(next);
                    break;
                }
                *index = 0;
                if !wraps {
                    break;
                }
            }
            Some(now)
        })
        .take(32)
    }

    fn read(&self, along: Along, start: (u32, u32, u32)) -> Read {
        let mut read = Read { offsets: [0; 32], active: 0 };
        for (lane, (plane, row, column)) in self.elements(along, start).enumerate() {
            if let Some(offset) = read.offsets.get_mut(lane) {
                *offset = self.offset(plane, row, column);
                read.active |= 1 << lane;
            }
        }
        read
    }

    fn request<'a>(&self, read: &'a Read) -> Request<'a> {
        Request::new(Access::Load, self.element_bytes, read.active, &read.offsets)
    }

    fn cost(&self, along: Along) -> Option<Cost> {
        cost(&self.request(&self.read(along, (0, 0, 0))), self.target)
    }
}

/// Writes the bank of every element as a table, marks the elements that a column read cannot get in one pass,
/// and says below what a warp's reads along each dimension cost. With `colour`, marks are red as well.
pub fn write_picture(
    out: &mut dyn Write,
    element_bytes: u32,
    shape: &Shape,
    target: &Target,
    colour: bool,
) -> io::Result<()> {
    let (dimensions, array) = match *shape.extents.as_slice() {
        [planes, rows, columns] => (3, Array { planes, rows, columns, element_bytes, target }),
        [rows, columns] => (2, Array { planes: 1, rows, columns, element_bytes, target }),
        [columns] => (1, Array { planes: 1, rows: 1, columns, element_bytes, target }),
        _ => return Ok(()),
    };
    let extents: String = shape.extents.iter().map(|extent| format!("[{extent}]")).collect();
    let banks = format!("{} banks of {} bytes", target.banks(), target.bank_bytes());
    writeln!(
        out,
        "t{extents} of {}-byte elements on {target}: the bank of each element ({banks})",
        element_bytes
    )?;
    if dimensions == 1 {
        line_table(out, &array)?;
        return strides(out, &array);
    }
    for plane in 0..array.planes.min(MOST_PLANES) {
        writeln!(out)?;
        if dimensions == 3 {
            writeln!(out, "t[{plane}]")?;
        }
        plane_table(out, &array, plane, colour)?;
    }
    if array.planes > MOST_PLANES {
        writeln!(out, "\n({} more planes are not shown)", array.planes - MOST_PLANES)?;
    }
    reads(out, &array, dimensions)
}

/// `7`, or `28-31` where an element spans several banks.
fn bank_label(array: &Array<'_>, offset: i64) -> String {
    let first = array.target.bank_of(offset);
    let last = array.target.bank_of(offset + i64::from(array.element_bytes.max(1)) - 1);
    if first == last { first.to_string() } else { format!("{first}-{last}") }
}

/// Whether each element of a plane shares its bank with another one that the same column read wants at the same
/// time.
fn collisions(array: &Array<'_>, plane: u32) -> impl Fn(u32, u32) -> bool {
    let (rows, columns) = (array.rows.min(MOST_ROWS), array.columns.min(MOST_COLUMNS));
    let mut marked = vec![false; (rows * columns) as usize];
    let mut at = |(_, row, column): (u32, u32, u32)| {
        if row < rows && column < columns {
            if let Some(mark) = marked.get_mut((row * columns + column) as usize) {
                *mark = true;
            }
        }
    };
    // A column of 32 rows or more is read by a warp for each 32 of them; of fewer, one warp reads several columns.
    let columns_at_once = (32 / array.rows).max(1);
    for column in (0..columns).step_by(columns_at_once as usize) {
        for row in (0..rows).step_by(32) {
            let read = array.read(Along::Rows, (plane, row, column));
            let elements: Vec<_> = array.elements(Along::Rows, (plane, row, column)).collect();
            let together = lanes_served_together(&array.request(&read), array.target) as usize;
            for (i, &one) in elements.iter().enumerate() {
                for (j, &other) in elements.iter().enumerate().skip(i + 1) {
                    let pair = Request { active: 1 << i | 1 << j, ..array.request(&read) };
                    let collide = i / together == j / together
                        && cost(&pair, array.target).is_some_and(|cost| cost.witness.is_some());
                    if collide {
                        at(one);
                        at(other);
                    }
                }
            }
        }
    }
    move |row, column| marked.get((row * columns + column) as usize).copied().unwrap_or(false)
}

fn plane_table(out: &mut dyn Write, array: &Array<'_>, plane: u32, colour: bool) -> io::Result<()> {
    let collides = collisions(array, plane);
    let (rows, columns) = (array.rows.min(MOST_ROWS), array.columns.min(MOST_COLUMNS));
    let label = |row, column| bank_label(array, array.offset(plane, row, column));
    let width = widest(array) + 1;
    let head = "row\\col".len();
    write!(out, "row\\col")?;
    for column in 0..columns {
        write!(out, " {:>width$}", format!("{column} "))?;
    }
    writeln!(out)?;
    let mut any = false;
    for row in 0..rows {
        write!(out, "{row:>head$}")?;
        for column in 0..columns {
            let marked = collides(row, column);
            any |= marked;
            let cell = format!("{}{}", label(row, column), if marked { '*' } else { ' ' });
            if marked && colour {
                write!(out, " {}\x1b[1;31m{cell}\x1b[0m", " ".repeat(width.saturating_sub(cell.len())))?;
            } else {
                write!(out, " {cell:>width$}")?;
            }
        }
        writeln!(out)?;
    }
    if rows < array.rows || columns < array.columns {
        writeln!(out, "(the first {rows} of {} rows, {columns} of {} columns)", array.rows, array.columns)?;
    }
    if any {
        writeln!(out, "* in the same bank as another element that the same column read wants")?;
    }
    Ok(())
}

/// The most characters of a bank label of this array.
fn widest(array: &Array<'_>) -> usize {
    let spans = array.element_bytes > array.target.bank_bytes()
        || array.target.bank_bytes().checked_rem(array.element_bytes) != Some(0);
    if spans { 5 } else { 2 }
}

/// A one-dimensional array, a turn around the banks a row.
fn line_table(out: &mut dyn Write, array: &Array<'_>) -> io::Result<()> {
    let turn = array.target.banks() * array.target.bank_bytes();
    let per_row = (turn / array.element_bytes.max(1)).clamp(1, 32);
    let width = widest(array);
    let shown = array.columns.min(MOST_ROWS * per_row);
    for start in (0..shown).step_by(per_row as usize) {
        write!(out, "\n{start:>7}:")?;
        for column in start..(start + per_row).min(array.columns) {
            write!(out, " {:>width$}", bank_label(array, array.offset(0, 0, column)))?;
        }
    }
    writeln!(out)?;
    if shown < array.columns {
        writeln!(out, "(the first {shown} of {} elements)", array.columns)?;
    }
    Ok(())
}

/// What a warp's strided reads of a one-dimensional array cost.
fn strides(out: &mut dyn Write, array: &Array<'_>) -> io::Result<()> {
    writeln!(out)?;
    for stride in [1, 2, 3, 4, 8, 16, 32, 33] {
        if stride > 1 && 31 * stride >= array.columns {
            continue;
        }
        let lanes = array.columns.div_ceil(stride).min(32);
        let offsets =
            std::array::from_fn(|lane| lane as i64 * i64::from(stride) * i64::from(array.element_bytes));
        let read = Read { offsets, active: u32::MAX >> (32 - lanes) };
        if let Some(cost) = cost(&array.request(&read), array.target) {
            let index = if stride == 1 { "t[lane]".to_owned() } else { format!("t[{stride} * lane]") };
            writeln!(out, "a warp reading {index} takes {}", outcome(&cost))?;
        }
    }
    over_limit(out, array)
}

/// `32 wavefronts instead of 1: a 32-way bank conflict, lanes 0 and 1 meet in bank 0`
fn outcome(cost: &Cost) -> String {
    let wavefronts = if cost.wavefronts == 1 {
        "1 wavefront".to_owned()
    } else {
        format!("{} wavefronts", cost.wavefronts)
    };
    match cost.witness {
        Some(witness) if cost.excess() > 0 => {
            let (low, high) = witness.lanes;
            format!(
                "{wavefronts} instead of {}: a {}-way bank conflict, lanes {low} and {high} meet in bank {}",
                cost.ideal, cost.ways, witness.bank
            )
        }
        _ => format!("{wavefronts}: no conflict"),
    }
}

/// The lines below the tables: reads along each dimension, and the padding that mends the column read.
fn reads(out: &mut dyn Write, array: &Array<'_>, dimensions: usize) -> io::Result<()> {
    writeln!(out)?;
    let names = [
        (Along::Rows, "column", "rows", array.rows, array.columns),
        (Along::Columns, "row", "columns", array.columns, array.rows),
    ];
    for (along, line, across, extent, lines) in names {
        let Some(cost) = array.cost(along) else { continue };
        let lanes = extent.min(32);
        let more = 31 / extent;
        let what = match more.min(lines - 1) {
            0 => format!("{line} 0 ({lanes} {across})"),
            last => format!("{line}s 0 to {last} ({lanes} {across} each)"),
        };
        writeln!(out, "a warp reading {what} takes {}", outcome(&cost))?;
    }
    if dimensions == 3 {
        if let Some(cost) = array.cost(Along::Planes) {
            writeln!(
                out,
                "a warp reading t[0 to {}][0][0] takes {}",
                array.planes.min(32) - 1,
                outcome(&cost)
            )?;
        }
    }
    padding(out, array, dimensions)?;
    over_limit(out, array)
}

/// The fewest elements of padding per row with which neither rows nor columns conflict.
fn padding(out: &mut dyn Write, array: &Array<'_>, dimensions: usize) -> io::Result<()> {
    let excess = |array: &Array<'_>, along| array.cost(along).map_or(0, |cost| cost.excess());
    if excess(array, Along::Rows) == 0 {
        return Ok(());
    }
    let row_excess = excess(array, Along::Columns);
    let padded = (1..=32).map(|by| (by, Padded { by, of: array }.offsets()));
    for (by, (column_read, row_read)) in padded {
        let (Some(column), Some(row)) =
            (cost(&array.request(&column_read), array.target), cost(&array.request(&row_read), array.target))
        else {
            return Ok(());
        };
        if column.excess() == 0 && row.excess() <= row_excess {
            let plane = if dimensions == 3 { format!("[{}]", array.planes) } else { String::new() };
            let added = i64::from(by) * i64::from(array.element_bytes) * i64::from(array.rows);
            return writeln!(
                out,
                "with rows padded by {by} element{}, t{plane}[{}][{}], the column read takes {} (+{} bytes)",
                if by == 1 { "" } else { "s" },
                array.rows,
                array.columns + by,
                outcome(&column),
                added * i64::from(array.planes),
            );
        }
    }
    writeln!(out, "no padding of up to 32 elements per row frees the column read of conflicts")
}

/// The same array with longer rows, of which the same elements are read.
struct Padded<'a> {
    by: u32,
    of: &'a Array<'a>,
}

impl Padded<'_> {
    /// The column read and the row read.
    fn offsets(&self) -> (Read, Read) {
        let longer = Array { columns: self.of.columns + self.by, ..*self.of };
        let read = |along| {
            let mut read = Read { offsets: [0; 32], active: 0 };
            for (lane, (plane, row, column)) in self.of.elements(along, (0, 0, 0)).enumerate() {
                if let Some(offset) = read.offsets.get_mut(lane) {
                    *offset = longer.offset(plane, row, column);
                    read.active |= 1 << lane;
                }
            }
            read
        };
        (read(Along::Rows), read(Along::Columns))
    }
}

fn over_limit(out: &mut dyn Write, array: &Array<'_>) -> io::Result<()> {
    let limit = array.target.static_shared_limit();
    if array.bytes() > i64::from(limit) {
        writeln!(
            out,
            "the array has {} bytes: more than the {limit} that may be declared statically",
            array.bytes()
        )?;
    }
    Ok(())
}
