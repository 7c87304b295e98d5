//! How can a source text be damaged the way people damage it: by whole tokens?
//!
//! Bytes flipped at random mostly make text that the first pass drops. Tokens deleted, doubled,
//! swapped or taken from elsewhere make text that looks like CUDA until far into the analysis.

use std::ops::Range;

/// A small deterministic generator (splitmix64).
pub struct Random(pub u64);

impl Random {
    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`; 0 when `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        if n == 0 { 0 } else { (self.next() % n as u64) as usize }
    }
}

/// Words and numbers that decide something somewhere.
const TELLING: &[&str] = &[
    "0",
    "1",
    "-1",
    "32",
    "33",
    "1024",
    "2147483647",
    "4294967296",
    "9223372036854775807ll",
    "18446744073709551615ull",
    "0x80000000",
    "threadIdx.x",
    "threadIdx.y",
    "blockDim.x",
    "blockIdx.x",
    "gridDim.x",
    "warpSize",
    "__shared__",
    "extern __shared__",
    "__syncthreads();",
    "__syncwarp();",
    "__global__",
    "__device__",
    "__host__",
    "__launch_bounds__(256)",
    "template <int N>",
    "template <class... T>",
    "constexpr",
    "static",
    "auto",
    "int",
    "unsigned",
    "float4",
    "double",
    "char",
    "struct",
    "union",
    "sizeof(",
    "reinterpret_cast<float4 *>(",
    "for (int i = 0; i < 32; i++)",
    "while (true)",
    "do {",
    "if (threadIdx.x < 16)",
    "else",
    "switch (threadIdx.x)",
    "case 1:",
    "default:",
    "return",
    "break;",
    "continue;",
    "goto",
    "<<<1, 32>>>",
    "<<<1, dim3(32, 8), 4096>>>",
    "[",
    "]",
    "(",
    ")",
    "{",
    "}",
    "<",
    ">",
    ";",
    ",",
    "::",
    "->",
    "...",
    "#define A(x) x",
    "\n#if 0\n",
    "\n#else\n",
    "\n#endif\n",
    "\n#include \"a.cuh\"\n",
    "##",
    "\\\n",
    "/*",
    "*/",
    "//",
    "\"",
    "'",
    "R\"(",
    "% 0",
    "/ 0",
    "<< 63",
    ">> 64",
    "atomicAdd(",
    "__shfl_sync(",
    "asm volatile(\"bar.sync 0;\");",
];

/// Where the tokens of a text are: words, numbers, blanks and single signs.
#[must_use]
pub fn tokens(text: &[u8]) -> Vec<Range<usize>> {
    let class = |byte: u8| match byte {
        b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | 0x80.. => 1,
        b' ' | b'\t' | b'\r' | b'\n' => 2,
        _ => 0,
    };
    let mut found: Vec<Range<usize>> = Vec::new();
    for (at, byte) in text.iter().enumerate() {
        match found.last_mut() {
            Some(last) if class(*byte) != 0 && class(text[last.start]) == class(*byte) => last.end = at + 1,
            _ => found.push(at..at + 1),
        }
    }
    found
}

/// The text with one to four changes, no longer than `most` bytes.
#[must_use]
pub fn mutated(text: &[u8], random: &mut Random, most: usize) -> Vec<u8> {
    let mut text = text.to_vec();
    for _ in 0..=random.below(4) {
        text = changed_once(&text, random);
    }
    text.truncate(most);
    text
}

/// As the mutator of a fuzz target: `data[..size]` changed in place, in at most `max_size` bytes;
/// its new length. A third of the time libFuzzer changes it in `its_own` way.
pub fn mutate(
    data: &mut [u8],
    size: usize,
    max_size: usize,
    seed: u32,
    its_own: fn(&mut [u8], usize, usize) -> usize,
) -> usize {
    if seed % 3 == 0 {
        return its_own(data, size, max_size);
    }
    let new = mutated(&data[..size], &mut Random(seed.into()), max_size);
    data[..new.len()].copy_from_slice(&new);
    new.len()
}

fn changed_once(text: &[u8], random: &mut Random) -> Vec<u8> {
    let tokens = tokens(text);
    if tokens.is_empty() {
        return TELLING[random.below(TELLING.len())].as_bytes().to_vec();
    }
    let count = tokens.len();
    let run = |random: &mut Random| {
        let first = random.below(count);
        // Mostly one token, sometimes a whole statement or function.
        let most = 1 << random.below(8);
        let length = 1 + random.below(most);
        tokens[first].start..tokens[(first + length).min(count) - 1].end
    };
    let one = run(random);
    let put = |range: Range<usize>, new: &[u8]| [&text[..range.start], new, &text[range.end..]].concat();
    match random.below(9) {
        0 => put(one, b""),
        1 => {
            let again = [&text[one.clone()], b" ", &text[one.clone()]].concat();
            put(one, &again)
        }
        2 => {
            let other = run(random);
            let (left, right) = if one.start < other.start { (one, other) } else { (other, one) };
            if left.end > right.start {
                return put(left, b"");
            }
            let between = &text[left.end..right.start];
            let swapped = [&text[right.clone()], between, &text[left.clone()]].concat();
            put(left.start..right.end, &swapped)
        }
        // A cut seldom, or little would be left to look at.
        3 if random.below(8) == 0 => text[..one.start].to_vec(),
        3 | 4 => put(one, TELLING[random.below(TELLING.len())].as_bytes()),
        5 => put(one.start..one.start, format!(" {} ", TELLING[random.below(TELLING.len())]).as_bytes()),
        6 => {
            let other = run(random);
            let taken = text[other].to_vec();
            put(one, &taken)
        }
        7 => {
            let other = run(random);
            let taken = text[other].to_vec();
            put(one.start..one.start, &taken)
        }
        _ => {
            let number = tokens.iter().filter(|token| text[token.start].is_ascii_digit());
            let numbers: Vec<_> = number.cloned().collect();
            if numbers.is_empty() {
                return put(one, b"7");
            }
            let at = numbers[random.below(numbers.len())].clone();
            let new = match random.below(4) {
                0 => random.below(70).to_string(),
                1 => (1u64 << random.below(64)).to_string(),
                2 => (1u64 << random.below(63)).wrapping_sub(1).to_string(),
                _ => format!("-{}", random.below(70)),
            };
            put(at, new.as_bytes())
        }
    }
}
