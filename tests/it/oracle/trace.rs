//! What did `runtime.cpp` write down?
//!
//! A file of 32-bit words in the machine's order; for each launch:
//!
//! | words | |
//! |---|---|
//! | 0x4c52434f | a launch begins |
//! | text, text, line | kernel as written, file and line of the launch; a text is its length and its bytes, padded |
//! | 3, 3, 3 | extents of the grid and of the block, index of the block that ran |
//! | address, bytes | dynamic shared memory |
//! | flag | whether the launch took too long and was given up |
//! | n, n x (parent, address) | paths: from which call on which path a function was entered; 0 is the launch |
//! | n, n x (text, line, column) | subscripts that left their array: its type, and where |
//! | n, n x steps up to 0xffffffff | the warps |
//!
//! A step is `kind, flags << 8, bytes << 16`, its path, its program counter, the number of barriers of the
//! block before it, the mask of its lanes, and an address for each of them.

/// What lanes did together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Load,
    Store,
    Atomic,
    AsyncCopy,
    Barrier,
    WarpSync,
    WarpOp,
    Subscript,
    Undefined,
    Misaligned,
}

#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub kind: Kind,
    pub flags: u8,
    pub bytes: u16,
    pub path: u32,
    pub pc: u32,
    pub interval: u32,
    pub mask: u32,
    /// Where its addresses begin.
    first: usize,
}

#[derive(Debug, Default)]
pub struct RawLaunch {
    pub kernel: String,
    pub block: [u32; 3],
    pub dynamic: (u32, u32),
    pub given_up: bool,
    /// The path from which it branches off, and the address to which the call returns.
    pub paths: Vec<(u32, u32)>,
    pub subscripts: Vec<(String, u32, u32)>,
    pub warps: Vec<Vec<Step>>,
    addresses: Vec<u32>,
}

impl RawLaunch {
    /// The lanes of a step, each with its address.
    pub fn lanes(&self, step: &Step) -> impl Iterator<Item = (u8, u32)> {
        let lanes = (0..32u8).filter(move |lane| step.mask >> lane & 1 == 1);
        lanes.zip(self.addresses[step.first..].iter().copied())
    }
}

const BEGIN: u32 = 0x4c52_434f;
const END: u32 = u32::MAX;

/// The launches of a trace. What was still being written when the program was stopped is left out.
pub fn read(bytes: &[u8]) -> Vec<RawLaunch> {
    let mut words = Words { bytes, at: 0 };
    let mut launches = Vec::new();
    while words.at < bytes.len() {
        assert_eq!(words.next(), BEGIN, "a launch begins");
        let launch = launch(&mut words);
        if words.at > bytes.len() {
            break;
        }
        launches.push(launch);
    }
    launches
}

struct Words<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Words<'_> {
    /// The next word; behind the end, that which ends a list of steps.
    fn next(&mut self) -> u32 {
        let word = self.bytes.get(self.at..self.at + 4);
        self.at += 4;
        word.map_or(END, |word| u32::from_ne_bytes(word.try_into().unwrap()))
    }

    fn count(&mut self) -> u32 {
        let count = self.next();
        if self.at > self.bytes.len() { 0 } else { count }
    }

    fn text(&mut self) -> String {
        let length = self.count() as usize;
        let text = self.bytes.get(self.at..self.at + length).unwrap_or_default();
        let text = String::from_utf8_lossy(text).into_owned();
        self.at += length.next_multiple_of(4);
        text
    }

    fn three(&mut self) -> [u32; 3] {
        [self.next(), self.next(), self.next()]
    }
}

fn launch(words: &mut Words) -> RawLaunch {
    let kernel = words.text();
    let (_file, _line, _grid) = (words.text(), words.next(), words.three());
    let (block, _index) = (words.three(), words.three());
    let dynamic = (words.next(), words.next());
    let given_up = words.next() != 0;
    let mut launch = RawLaunch { kernel, block, dynamic, given_up, ..RawLaunch::default() };
    launch.paths = (0..words.count()).map(|_| (words.next(), words.next())).collect();
    launch.subscripts = (0..words.count()).map(|_| (words.text(), words.next(), words.next())).collect();
    for _ in 0..words.count() {
        let mut steps = Vec::new();
        loop {
            let head = words.next();
            if head == END {
                break;
            }
            let step = Step {
                kind: kind(head & 0xff),
                flags: (head >> 8) as u8,
                bytes: (head >> 16) as u16,
                path: words.next(),
                pc: words.next(),
                interval: words.next(),
                mask: words.next(),
                first: launch.addresses.len(),
            };
            for _ in 0..step.mask.count_ones() {
                launch.addresses.push(words.next());
            }
            steps.push(step);
        }
        launch.warps.push(steps);
    }
    launch
}

fn kind(number: u32) -> Kind {
    match number {
        1 => Kind::Load,
        2 => Kind::Store,
        3 => Kind::Atomic,
        4 => Kind::AsyncCopy,
        5 => Kind::Barrier,
        6 => Kind::WarpSync,
        7 => Kind::WarpOp,
        8 => Kind::Subscript,
        9 => Kind::Undefined,
        10 => Kind::Misaligned,
        other => panic!("a step of kind {other}"),
    }
}
