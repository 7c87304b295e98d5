//! What is known of the instructions of PTX?

/// Whether an instruction of this name is followed where it stands in inline assembly.
#[must_use]
pub(crate) fn is_followed(opcode: &str) -> bool {
    const FOLLOWED: [&str; 24] = [
        "add", "and", "atom", "bar", "barrier", "cp", "cvt", "cvta", "exit", "ld", "ldmatrix", "mad", "mov",
        "mul", "or", "red", "setp", "shl", "shr", "st", "stmatrix", "sub", "trap", "xor",
    ];
    FOLLOWED.contains(&opcode)
}

/// Whether a text holds an instruction that waits for the block.
#[must_use]
pub(crate) fn says_barrier(text: &str) -> bool {
    let words = ["bar.sync", "bar.red", "barrier.sync", "barrier.red", "barrier.cta"];
    words.iter().any(|word| text.contains(word))
}

/// Whether a text may hold an atomic.
#[must_use]
pub(crate) fn says_atomic(text: &str) -> bool {
    let says = |word: &str| memchr::memmem::find(text.as_bytes(), word.as_bytes()).is_some();
    says("atom.") || says("red.")
}

/// Whether the assembly only computes: it names no address and no barrier.
#[must_use]
pub(crate) fn only_computes(template: &str) -> bool {
    template.contains("mma") && !template.contains('[')
}

/// Whether the assembly may end threads.
#[must_use]
pub(crate) fn may_end_threads(template: &str) -> bool {
    ["trap", "exit"].iter().any(|word| template.contains(word))
}
