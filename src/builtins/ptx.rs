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

/// Whether an instruction orders no threads: it computes, or accesses memory and waits for nobody. Of an
/// instruction that is not listed that is not known.
#[must_use]
pub(crate) fn orders_nothing(instruction: &str) -> bool {
    const COMPUTING: [&str; 51] = [
        "abs", "add", "addc", "and", "bfe", "bfi", "brev", "clz", "copysign", "cos", "cvt", "cvta", "div",
        "dp2a", "dp4a", "ex2", "fma", "fns", "isspacep", "ldmatrix", "lg2", "lop3", "mad", "madc", "max",
        "min", "mma", "mov", "mul", "mul24", "neg", "not", "or", "popc", "prefetch", "prmt", "rcp", "rem",
        "rsqrt", "sad", "selp", "set", "setp", "shf", "shl", "shr", "sin", "sqrt", "stmatrix", "sub", "tanh",
    ];
    const ORDERING: [&str; 6] = ["acquire", "release", "acq_rel", "relaxed", "volatile", "bulk"];
    let text = instruction.trim().trim_start_matches(['{', '}']).trim();
    let text = match text.strip_prefix('@') {
        Some(guarded) => guarded.split_once(char::is_whitespace).map_or("", |(_, rest)| rest.trim()),
        None => text,
    };
    let opcode = text.split(char::is_whitespace).next().unwrap_or("");
    let mut parts = opcode.split('.');
    let plain = !opcode.split('.').any(|part| ORDERING.contains(&part));
    match parts.next().unwrap_or("") {
        "" => plain,
        "ld" | "st" | "xor" => plain,
        "cp" => plain && parts.next() == Some("async") && !opcode.contains("mbarrier"),
        name => plain && COMPUTING.contains(&name),
    }
}

/// Whether assembly reads a clock.
#[must_use]
pub(crate) fn reads_clock(template: &str) -> bool {
    template.contains("clock") || template.contains("globaltimer")
}

/// Whether an instruction may access shared memory: it names an address, and not one of another kind.
pub(crate) fn may_access_shared(instruction: &str) -> bool {
    const ELSEWHERE: [&str; 4] = [".global", ".local", ".const", ".param"];
    let elsewhere = ELSEWHERE.iter().any(|space| instruction.contains(space));
    instruction.contains('[') && (!elsewhere || instruction.contains(".shared"))
}

/// Whether an instruction acts on an `mbarrier` and on nothing else in shared memory.
pub(crate) fn is_of_barrier(opcode: &str) -> bool {
    opcode.starts_with("mbarrier.") || opcode.starts_with("cp.async.mbarrier.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_names_an_address_may_access_shared_memory() {
        let may = ["ld.shared.f32 %0, [%1]", "ld.f32 %0, [%1]", "cp.async.cg.shared.global [%0], [%1], 16"];
        may.into_iter().for_each(|text| assert!(may_access_shared(text), "{text}"));
        let may_not = ["ld.global.nc.f32 %0, [%1]", "mov.u32 %0, %laneid", "cp.async.wait_group 0", ""];
        may_not.into_iter().for_each(|text| assert!(!may_access_shared(text), "{text}"));
    }

    #[test]
    fn what_waits_or_is_not_listed_may_order() {
        let nothing = ["ld.shared.f32 %0, [%1];", "@p st.shared.u32 [%0], %1;", ".reg .pred p;", "{", ""];
        nothing.into_iter().for_each(|text| assert!(orders_nothing(text), "{text}"));
        let async_copies = ["cp.async.cg.shared.global [%0], [%1], 16;", "cp.async.wait_group 0;"];
        async_copies.into_iter().for_each(|text| assert!(orders_nothing(text), "{text}"));
        let ordering = [
            "bar.sync 1, 64;",
            "ld.acquire.gpu.u32 %0, [%1];",
            "@!p mbarrier.try_wait.parity.shared.b64 p, [%0], %1;",
            "cp.async.bulk.wait_group 0;",
            "cp.async.mbarrier.arrive.shared.b64 [%0];",
            "some.new.thing;",
        ];
        ordering.into_iter().for_each(|text| assert!(!orders_nothing(text), "{text}"));
    }
}
