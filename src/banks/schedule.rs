//! Which lane gets its word from which bank in which wavefront?
//!
//! The same groups and banks that [`cost`](super::cost) counts, spelled out, to be drawn. In which order the
//! hardware serves the words of a bank is not documented; here it is that of the lanes. How many wavefronts
//! there are does not depend on it.

use super::groups::{Count, Layout};
use super::{
    Access, Family, Piece, Request, Target, addressing, counting, group_lanes, groups_of, pieces, turns,
};

/// One machine access of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Served {
    /// Bytes from each lane's offset to what it accesses.
    pub shift: u32,
    /// Bytes per lane, at most 16.
    pub bytes: u32,
    /// How many machine accesses of the request go the same way.
    pub times: u32,
    /// The lanes that are served together, group after group; bit `l` is lane `l`.
    pub groups: Vec<u32>,
    /// Which lane is served by which bank, and when: by lane, then by bank from the lowest byte on.
    pub touches: Vec<Touch>,
    /// The wavefronts it takes, each [`Served::passes`] times.
    pub wavefronts: u32,
    /// Passes through the banks for each wavefront: two for compare-and-swap, else one.
    pub passes: u32,
}

/// A word that a lane wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touch {
    /// The lane.
    pub lane: u8,
    /// The bank.
    pub bank: u8,
    /// The wavefront that delivers it, from 1.
    pub wavefront: u32,
}

/// How a request is served; `None` where [`cost`](super::cost) has no answer, on 1.x, and for 16 bytes per
/// lane on 2.x, where a count is known and the way to it is not.
#[must_use]
pub fn schedule(request: &Request<'_>, target: &Target) -> Option<Vec<Served>> {
    super::cost(request, target)?;
    let family = target.family();
    if family == Family::Tesla {
        return None;
    }
    let layout = Layout::of(family);
    let split = match request.access {
        Access::MatrixLoad { matrices } | Access::MatrixStore { matrices } => {
            let request = Request { active: request.active & addressing(matrices), ..*request };
            let piece = Piece { shift: 0, bytes: 16, times: 1 };
            vec![served(&request, &layout, &piece, 8, (Count::Words, 1))]
        }
        Access::Atomic(kind) => {
            let piece = Piece { shift: 0, bytes: 4, times: 1 };
            vec![served(request, &layout, &piece, 32, turns(kind)?)]
        }
        Access::Load | Access::Store | Access::AsyncCopy => {
            let one = |piece: Piece| {
                let known = family != Family::Fermi || piece.bytes < 16;
                let lanes = group_lanes(request, family, piece.bytes);
                let turns = (counting(request, target, piece.bytes), 1);
                known.then(|| served(request, &layout, &piece, lanes, turns))
            };
            pieces(request, family).map(one).collect::<Option<_>>()?
        }
    };
    Some(split)
}

fn served(
    request: &Request<'_>,
    layout: &Layout,
    piece: &Piece,
    lanes: u32,
    (count, passes): (Count, u32),
) -> Served {
    let (mut groups, mut touches, mut wavefronts) = (Vec::new(), Vec::new(), 0);
    for group in groups_of(request, lanes, i64::from(piece.shift), piece.bytes) {
        let mut rows: [Vec<i64>; 32] = Default::default();
        group.each_word(layout, |lane, bank, row| {
            let known = rows[bank].iter().position(|&other| count == Count::Words && other == row);
            let turn = known.unwrap_or_else(|| {
                rows[bank].push(row);
                rows[bank].len() - 1
            });
            touches.push(Touch { lane, bank: bank as u8, wavefront: wavefronts + turn as u32 + 1 });
        });
        wavefronts += rows.iter().map(|rows| rows.len() as u32).max().unwrap_or(0);
        groups.push(group.lanes);
    }
    let Piece { shift, bytes, times } = *piece;
    Served { shift, bytes, times, groups, touches, wavefronts, passes }
}
