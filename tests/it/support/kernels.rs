//! Random kernels, interpreted lane by lane.
//!
//! Each case is an expression tree over the thread's coordinates and a loop counter. `styles` writes
//! it down as CUDA for the analysis; here it is interpreted for every lane by itself, and the banks
//! are counted from the definition.

// Not every test uses all of it.
#![allow(dead_code)]

use super::random::Random;
use cudalint::analysis::{NoFiles, Options, Run};
use cudalint::verdict::{SiteVerdict, Status};
use std::path::{Path, PathBuf};

impl Random {
    pub fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize]
    }
}

/// An expression over one lane's variables.
#[derive(Clone, Debug)]
pub enum Tree {
    Number(i64),
    Variable(usize),
    Binary(&'static str, Box<Tree>, Box<Tree>),
    Choice(Box<Tree>, Box<Tree>, Box<Tree>),
}

/// The variables, by number: coordinates, the linear index, lane, warp, loop counter.
pub const NAMES: [&str; 7] = ["x", "y", "z", "t", "lane", "warp", "k"];

/// How integers behave in a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    Signed,
    Unsigned,
}

impl Tree {
    fn random(random: &mut Random, depth: u32) -> Tree {
        if depth == 0 || random.below(5) == 0 {
            return if random.below(3) == 0 {
                Tree::Number(random.below(40) as i64)
            } else {
                Tree::Variable(random.of(&[0, 0, 0, 1, 2, 3, 4, 5, 6, 6]))
            };
        }
        let left = Tree::random(random, depth - 1);
        let operator =
            random.of(&["+", "+", "-", "*", "*", "/", "%", "&", "|", "^", "^", "<<", ">>", "?", "<"]);
        let right = match operator {
            "/" | "%" => Tree::Number(random.of(&[1, 2, 3, 4, 5, 7, 8, 16, 24, 32, 33, 64])),
            "<<" | ">>" => Tree::Number(random.below(7) as i64),
            "&" if random.below(2) == 0 => Tree::Number(random.of(&[1, 3, 7, 12, 15, 16, 31, 56, 63])),
            "*" if random.below(3) > 0 => Tree::Number(random.of(&[2, 3, 4, 8, 16, 17, 32, 33, 36, 64])),
            _ => Tree::random(random, depth - 1),
        };
        if operator == "?" {
            let otherwise = Tree::random(random, depth - 1);
            return Tree::Choice(left.into(), right.into(), otherwise.into());
        }
        Tree::Binary(operator, left.into(), right.into())
    }

    pub fn text(&self, sign: Sign) -> String {
        match self {
            Tree::Number(number) if sign == Sign::Unsigned => format!("{number}u"),
            Tree::Number(number) => number.to_string(),
            Tree::Variable(at) => NAMES[*at].to_string(),
            Tree::Binary("<", a, b) if sign == Sign::Unsigned => {
                format!("(unsigned)({} < {})", a.text(sign), b.text(sign))
            }
            // As macros write it; it also looks like a cast to a function type.
            Tree::Binary(operator @ ("*" | "&"), a, b) if matches!(**b, Tree::Variable(_)) => {
                format!("({} {operator} ({}))", a.text(sign), b.text(sign))
            }
            Tree::Binary(operator, a, b) => format!("({} {operator} {})", a.text(sign), b.text(sign)),
            Tree::Choice(c, a, b) => {
                format!("({} & 1 ? {} : {})", c.text(sign), a.text(sign), b.text(sign))
            }
        }
    }

    /// The value in 32 bits; `None` where a signed computation leaves them, which is undefined.
    fn value(&self, variables: &[i64; 7], sign: Sign) -> Option<i64> {
        let fit = |value: i64| match sign {
            Sign::Unsigned => Some(i64::from(value as u32)),
            Sign::Signed => i32::try_from(value).ok().map(i64::from),
        };
        match self {
            Tree::Number(number) => Some(*number),
            Tree::Variable(at) => Some(variables[*at]),
            Tree::Choice(c, a, b) => {
                let side = if c.value(variables, sign)? & 1 != 0 { a } else { b };
                side.value(variables, sign)
            }
            Tree::Binary(operator, a, b) => {
                let (a, b) = (a.value(variables, sign)?, b.value(variables, sign)?);
                match *operator {
                    "+" => fit(a + b),
                    "-" => fit(a - b),
                    "*" => fit(a.checked_mul(b)?),
                    "/" => fit(a / b),
                    "%" => fit(a % b),
                    "&" => Some(a & b),
                    "|" => Some(a | b),
                    "^" => Some(a ^ b),
                    // A negative number shifted left is undefined before C++20.
                    "<<" if a < 0 => None,
                    "<<" => fit(a << b),
                    ">>" => Some(a >> b),
                    "<" => Some(i64::from(a < b)),
                    other => panic!("{other}"),
                }
            }
        }
    }
}

/// How the index is written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `s[index]`
    Plain,
    /// `s[row][column]` with a row length that need not be a power of 2.
    Rows(i64),
    /// `reinterpret_cast<T *>(bytes)[index]`
    CastArray,
    /// `*reinterpret_cast<T *>(&words[index * (size / 4)])`
    CastElement,
}

#[derive(Clone, Debug)]
pub struct Case {
    pub block: [i64; 3],
    pub sign: Sign,
    /// The element: its type and bytes.
    pub element: (&'static str, i64),
    /// Elements of the array, a power of 2.
    pub length: i64,
    pub form: Form,
    pub index: Tree,
    pub column: Tree,
    pub guard: Option<Tree>,
    /// First value, bound, and what is done to the counter.
    pub counter: (i64, i64, &'static str),
    pub store: bool,
}

impl Case {
    pub fn random(random: &mut Random) -> Case {
        let block = random.of(&[
            [32, 1, 1],
            [64, 1, 1],
            [256, 1, 1],
            [48, 1, 1],
            [16, 16, 1],
            [32, 8, 1],
            [8, 8, 4],
            [33, 3, 1],
            [4, 4, 4],
            [1024, 1, 1],
            [7, 5, 3],
            [32, 32, 1],
        ]);
        let element = random.of(&[
            ("char", 1),
            ("short", 2),
            ("float", 4),
            ("int", 4),
            ("double", 8),
            ("float2", 8),
            ("float4", 16),
            ("int4", 16),
        ]);
        let form = match random.below(6) {
            0 | 1 => Form::Rows(random.of(&[8, 9, 16, 17, 31, 32, 33, 34, 36, 64])),
            2 => Form::CastArray,
            3 if element.1 >= 4 => Form::CastElement,
            _ => Form::Plain,
        };
        let counter = match random.below(7) {
            0 | 1 => (0, 1, "k++"),
            2 => (0, 1 + random.below(9) as i64, "k++"),
            3 => (random.below(5) as i64, 20, "k += 3"),
            // Long enough for its middle rounds to be passed over.
            5 => (random.below(3) as i64, 40 + random.below(60) as i64, "k++"),
            6 => (random.below(9) as i64, 300 + random.below(90) as i64, "k += 5"),
            _ => (1, 64, "k *= 2"),
        };
        Case {
            block,
            sign: if random.below(3) == 0 { Sign::Unsigned } else { Sign::Signed },
            element,
            length: 8192 / element.1,
            form,
            index: Tree::random(random, 4),
            column: Tree::random(random, 3),
            guard: (random.below(3) == 0).then(|| Tree::random(random, 2)),
            counter,
            store: random.below(2) == 0,
        }
    }

    fn counters(&self) -> Vec<i64> {
        let (mut k, bound, step) = self.counter;
        let mut values = Vec::new();
        while k < bound {
            values.push(k);
            k = match step {
                "k++" => k + 1,
                "k += 3" => k + 3,
                "k += 5" => k + 5,
                _ => k * 2,
            };
        }
        values
    }

    pub fn rows(&self, columns: i64) -> i64 {
        let mut rows = 1;
        while rows * 2 * columns * self.element.1 <= 16384 {
            rows *= 2;
        }
        rows
    }

    /// Requests, wavefronts and ideal, lane by lane; `None` when something is undefined.
    pub fn interpret(&self) -> Option<(u64, u64, u64)> {
        let [bx, by, bz] = self.block;
        let threads = bx * by * bz;
        let (mut requests, mut wavefronts, mut ideal) = (0, 0, 0);
        for k in self.counters() {
            for warp in 0..(threads + 31) / 32 {
                let mut offsets: Vec<(usize, i64)> = Vec::new();
                for lane in 0..32 {
                    let t = warp * 32 + lane;
                    if t >= threads {
                        continue;
                    }
                    let variables = [t % bx, t / bx % by, t / (bx * by), t, lane, warp, k];
                    if let Some(guard) = &self.guard
                        && guard.value(&variables, self.sign)? & 3 == 0
                    {
                        continue;
                    }
                    let index = self.index.value(&variables, self.sign)?;
                    let element = match self.form {
                        Form::Rows(columns) => {
                            let column = (self.column.value(&variables, self.sign)? & 1023) % columns;
                            (index & (self.rows(columns) - 1)) * columns + column
                        }
                        _ => index & (self.length - 1),
                    };
                    offsets.push((lane as usize, element * self.element.1));
                }
                if !offsets.is_empty() {
                    let (cost, least) = count(&offsets, self.element.1, self.store);
                    requests += 1;
                    wavefronts += cost;
                    ideal += least;
                }
            }
        }
        Some((requests, wavefronts, ideal))
    }
}

/// Wavefronts of one request and their least number, on a target of 5.x or newer: wide accesses
/// are served by halves and quarters of the warp, unless a load gives neighbouring lanes the same.
fn count(offsets: &[(usize, i64)], bytes: i64, store: bool) -> (u64, u64) {
    let find = |lane: usize| offsets.iter().find(|(other, _)| *other == lane).map(|(_, offset)| *offset);
    let paired = |distance: usize| {
        offsets.iter().all(|(lane, offset)| find(lane ^ distance).is_none_or(|other| other == *offset))
    };
    let merged = !store && (paired(1) || paired(2));
    let lanes = match bytes {
        8 if !merged => 16,
        8 => 32,
        16 if !merged => 8,
        16 => 16,
        _ => 32,
    };
    let (mut wavefronts, mut ideal) = (0, 0);
    for group in 0..32 / lanes {
        let mut words: Vec<i64> = offsets
            .iter()
            .filter(|(lane, _)| lane / lanes == group)
            .flat_map(|(_, offset)| offset / 4..=(offset + bytes - 1) / 4)
            .collect();
        if words.is_empty() {
            continue;
        }
        words.sort_unstable();
        words.dedup();
        let fullest = (0..32).map(|bank| words.iter().filter(|word| *word % 32 == bank).count()).max();
        wavefronts += fullest.unwrap_or(0) as u64;
        ideal += 1;
    }
    (wavefronts, ideal)
}

/// The verdicts on a text.
pub fn verdicts(text: &str) -> Vec<SiteVerdict> {
    let path = PathBuf::from("case.cu");
    let run = Run::new(Options::default(), std::slice::from_ref(&path), Box::new(NoFiles));
    run.analyze_file(Path::new("case.cu"), text.as_bytes().to_vec()).verdicts
}

/// The sums over all sites; `None` when one is not decided.
pub fn decided(verdicts: &[SiteVerdict]) -> Option<(u64, u64, u64)> {
    let mut sums = (0, 0, 0);
    for verdict in verdicts {
        if !matches!(verdict.status, Status::Exact | Status::Assumed) {
            return None;
        }
        sums.0 += verdict.requests?;
        sums.1 += verdict.wavefronts?;
        sums.2 += verdict.ideal?;
    }
    Some(sums)
}

pub fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}
