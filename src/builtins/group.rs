//! Which member of a cooperative group is it?

/// A method or accessor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GroupMember {
    /// Waits for the group.
    Sync,
    /// The thread's number in the group.
    ThreadRank,
    /// How many threads there are.
    Size,
    /// `threadIdx`
    ThreadIndex,
    /// `blockDim`
    BlockSize,
    /// `blockIdx`
    BlockIndex,
    /// The block's number in the grid.
    BlockRank,
    /// A tile's number among those of its block.
    TileRank,
    /// How many tiles there are.
    TileCount,
    /// Hands values from lane to lane.
    Shuffle,
}

impl GroupMember {
    /// The one of this name.
    #[must_use]
    pub(crate) fn of(name: &str) -> Option<GroupMember> {
        Some(match name {
            "sync" => GroupMember::Sync,
            "thread_rank" => GroupMember::ThreadRank,
            "size" | "num_threads" => GroupMember::Size,
            "thread_index" => GroupMember::ThreadIndex,
            "group_dim" | "dim_threads" => GroupMember::BlockSize,
            "group_index" => GroupMember::BlockIndex,
            "block_rank" => GroupMember::BlockRank,
            "meta_group_rank" => GroupMember::TileRank,
            "meta_group_size" => GroupMember::TileCount,
            _ if name.starts_with("shfl") => GroupMember::Shuffle,
            _ => return None,
        })
    }
}
