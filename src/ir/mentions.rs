//! What does a function's own text mention, by which it is asked quickly whether more is worth a look?

/// What a function's own text mentions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Mentions {
    /// A `__shared__` declaration.
    pub shared: bool,
    /// A block barrier by any spelling.
    pub barrier: bool,
    /// A `volatile` object: what is read is read each time.
    pub volatile: bool,
    /// A loop that may wait for what another thread writes, if what it reads is read each time.
    pub waits: bool,
    /// An atomic by any spelling.
    pub atomics: bool,
    /// An intrinsic by which the lanes of a warp meet.
    pub lanes: bool,
    /// A `<<<...>>>` or `cudaLaunchKernel`-like call.
    pub launch: bool,
}
