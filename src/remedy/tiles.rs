//! Does a layout keep tiles that `wmma` calls can read?
//!
//! A call reads lines at a fixed distance, the leading dimension. So a layout must keep each line in one piece, and
//! keep one distance between all lines of a tile. Longer rows do, if each line is within its row:
//!
//! ```text
//! half s[256], tiles of 16 lines of 16     rows of 16 elements, 24 apart: i + i / 16 * 8
//!     the call asks for a distance of 16       lines lie at 0, 24, 48, ..: it asks for 24
//! half s[4096], a line of 16 in each 256   lines lie at 0, 384, 768, ..: it asks for 384
//! ```
//!
//! All tiles of one call must have the same distance again.

use super::layout::Layout;
use crate::events::Tile;

/// Bytes by a multiple of which a tile starts, and lines are apart.
const TILE_ALIGN: i64 = 32;
const LINE_ALIGN: i64 = 16;
/// Bytes after which banks repeat.
const PERIOD: u64 = 128;

/// How far apart the lines of a tile that starts at this byte then lie; `None` where it is no tile any more, or not
/// aligned as a call demands. `fits`: whether it is as it is.
pub(super) fn moved(tile: &Tile, start: i64, layout: &Layout, element: u64, fits: bool) -> Option<i64> {
    let unit = layout.unit(element);
    let place = |at: i64| Some(layout.byte(u64::try_from(at).ok()?, element) as i64);
    let first = place(start)?;
    let mut distance = None;
    for line in 0..i64::from(tile.lines) {
        let from = start.checked_add(line.checked_mul(tile.distance)?)?;
        let to = place(from)?;
        // The elements that begin in it, the first of which may have begun before.
        let next = u64::try_from(from).ok()?.next_multiple_of(unit) as i64;
        let mut pieces = (next..from + i64::from(tile.length)).step_by(unit as usize);
        if !pieces.all(|piece| place(piece) == Some(to + (piece - from))) {
            return None;
        }
        if line > 0 {
            let own = (to - first).checked_div(line).filter(|own| own * line == to - first)?;
            if *distance.get_or_insert(own) != own {
                return None;
            }
        }
    }
    let distance = distance.unwrap_or(tile.distance);
    let aligned = first % TILE_ALIGN == 0 && distance % LINE_ALIGN == 0;
    let alike = (first - start) % TILE_ALIGN == 0 && (distance - tile.distance) % LINE_ALIGN == 0;
    (if fits { aligned } else { alike }).then_some(distance)
}

/// The rows that lie as far apart as the lines of tiles do, with each length that `wmma` takes: banks repeat after 128
/// bytes, and lines are a multiple of 16 bytes apart.
pub(super) fn rows(distances: &[u64], element: u64) -> Vec<Layout> {
    let whole = distances.iter().filter(|bytes| **bytes > 0 && bytes.is_multiple_of(element));
    let steps = (LINE_ALIGN as u64..PERIOD).step_by(LINE_ALIGN as usize);
    let extras: Vec<u64> =
        steps.filter(|step| step.is_multiple_of(element)).map(|step| step / element).collect();
    let of = |bytes: &u64| {
        let row = bytes / element;
        extras.clone().into_iter().map(move |extra| Layout::Rows { row, extra })
    };
    whole.flat_map(of).collect()
}

#[cfg(test)]
mod tests;
