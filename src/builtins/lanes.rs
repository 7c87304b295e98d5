//! Which intrinsics bring the lanes of a warp together, and whom does a shuffle read?

/// How an intrinsic between the lanes of a warp is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LaneForm {
    /// Whether its first argument names the lanes that meet; where not, it went with compute capability 7.0.
    pub is_masked: bool,
    /// The fewest arguments that it has.
    pub arguments: usize,
    /// Of a shuffle: how its third argument tells the lane that is read.
    pub reads: Option<Reads>,
}

/// How a number tells the lane that a shuffle reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reads {
    /// It is the lane's number within the group.
    At,
    /// That many lanes before the reader.
    Up,
    /// That many lanes behind.
    Down,
    /// The bits in which the numbers of the two lanes differ.
    Xor,
}

impl Reads {
    /// The lane that `lane` reads, in groups of `width` lanes, a power of two. (PTX ISA, `shfl.sync`.)
    pub(crate) fn source(self, lane: usize, by: i64, width: i64) -> u8 {
        let lane = lane as i64;
        let first = lane - lane % width;
        // The instruction looks at five bits.
        let by = by & 31;
        let from = match self {
            Reads::At => first + by % width,
            Reads::Up if lane - by >= first => lane - by,
            Reads::Down if lane + by < first + width => lane + by,
            Reads::Xor if lane ^ by < first + width => lane ^ by,
            Reads::Up | Reads::Down | Reads::Xor => lane,
        };
        from as u8
    }
}

/// How the intrinsic of this name is called, if lanes meet at it.
#[must_use]
pub(crate) fn lane_form(name: &str) -> Option<LaneForm> {
    let (stem, is_masked) = match name.strip_suffix("_sync") {
        Some(stem) => (stem, true),
        None => (name, name == "__syncwarp"),
    };
    let reads = match stem {
        "__shfl" => Some(Reads::At),
        "__shfl_up" => Some(Reads::Up),
        "__shfl_down" => Some(Reads::Down),
        "__shfl_xor" => Some(Reads::Xor),
        "__syncwarp" if name == stem => None,
        "__any" | "__all" | "__ballot" => None,
        "__match_any" | "__match_all" if is_masked => None,
        _ if is_masked && stem.starts_with("__reduce_") => None,
        _ => return None,
    };
    let arguments = match stem {
        "__syncwarp" => 0,
        _ => 1 + usize::from(reads.is_some()) + usize::from(is_masked) + usize::from(stem == "__match_all"),
    };
    Some(LaneForm { is_masked, arguments, reads })
}

/// Whether a text may name such an intrinsic.
#[must_use]
pub(crate) fn says_lanes(text: &str) -> bool {
    const BEGINNINGS: [&str; 7] =
        ["__shfl", "__syncwarp", "__any", "__all", "__ballot", "__match_", "__reduce_"];
    BEGINNINGS.iter().any(|word| memchr::memmem::find(text.as_bytes(), word.as_bytes()).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whom_a_shuffle_reads() {
        let from = |reads: Reads, by, width| [3, 27].map(|lane| reads.source(lane, by, width));
        assert_eq!(from(Reads::Down, 8, 32), [11, 27]);
        assert_eq!(from(Reads::Down, 8, 16), [11, 27]);
        assert_eq!(from(Reads::Up, 8, 32), [3, 19]);
        assert_eq!(from(Reads::Xor, 8, 16), [11, 19]);
        assert_eq!(from(Reads::Xor, 16, 16), [3, 11]);
        assert_eq!(from(Reads::At, 5, 32), [5, 5]);
        assert_eq!(from(Reads::At, 21, 16), [5, 21]);
    }

    #[test]
    fn what_brings_lanes_together() {
        let masked = |name| lane_form(name).map(|form| form.is_masked);
        assert_eq!(masked("__shfl_xor_sync"), Some(true));
        assert_eq!(masked("__syncwarp"), Some(true));
        assert_eq!(masked("__reduce_add_sync"), Some(true));
        assert_eq!(masked("__ballot"), Some(false));
        assert_eq!(masked("__shfl_down_double"), None);
        assert_eq!(masked("__match_any"), None);
        assert_eq!(masked("__activemask"), None);
        assert_eq!(masked("mma_sync"), None);
        let arguments = ["__syncwarp", "__any", "__shfl", "__ballot_sync", "__match_all_sync", "__shfl_sync"];
        let arguments = arguments.map(|name| lane_form(name).map(|form| form.arguments));
        assert_eq!(arguments, [Some(0), Some(1), Some(2), Some(2), Some(3), Some(3)]);
    }
}
