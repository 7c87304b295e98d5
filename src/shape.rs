//! Is this the shape of a block, and who says that a kernel has it?

/// Most threads of a block.
const MOST_THREADS: u32 = 1024;
/// Most threads along z.
const MOST_DEEP: u32 = 64;

/// A block shape given on the command line or by a configuration file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockOption {
    /// The kernel it is for; `None` for every kernel.
    pub kernel: Option<String>,
    /// Threads in x, y, z.
    pub shape: [u32; 3],
    /// Whether a configuration file gives it, which a flag overrides.
    pub configured: bool,
}

/// Where the block shape came from, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BlockFrom {
    /// `// cudalint: block(32, 8)`
    Directive,
    /// `cudalint.toml`
    Config,
    /// `--block`
    Flag,
    /// A launch in the files given.
    Launch,
    /// `__launch_bounds__`
    LaunchBounds,
    /// What the kernel's own code implies.
    Implied,
    /// 256 x 1 x 1.
    Default,
}

/// Reads `32`, `32,8` or `32, 8, 1`: threads along x, y and z; what is left out is 1.
///
/// # Errors
/// When it is no shape that a device takes, in words.
pub fn block(text: &str) -> Result<[u32; 3], String> {
    let mut shape = [1_u32; 3];
    for (axis, number) in text.split(',').enumerate() {
        let slot = shape.get_mut(axis).ok_or("a block has at most three dimensions")?;
        let parsed = number.trim().parse().ok().filter(|&threads| threads > 0);
        *slot = parsed.ok_or_else(|| format!("`{}` is not a number of threads", number.trim()))?;
    }
    checked(shape)
}

/// The shape, if a device takes it.
///
/// # Errors
/// When no device does, in words.
pub fn checked(shape: [u32; 3]) -> Result<[u32; 3], String> {
    let threads = shape.iter().try_fold(1_u32, |product, &axis| product.checked_mul(axis));
    match threads {
        Some(0) => Err("0 is not a number of threads".to_owned()),
        Some(..=MOST_THREADS) if shape[2] <= MOST_DEEP => Ok(shape),
        Some(..=MOST_THREADS) => Err(format!("a block has at most {MOST_DEEP} threads along z")),
        _ => Err(format!("a block has at most {MOST_THREADS} threads")),
    }
}
