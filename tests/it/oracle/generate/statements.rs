//! The statements of a random kernel.

use super::features::Piece;
use crate::support::random::Random;
use std::fmt::Write;

pub struct Body<'a> {
    pub text: String,
    random: &'a mut Random,
    columns: u64,
    pieces: &'a [Piece],
    /// Names that can be read, innermost last: all of them `int` with a small value.
    names: Vec<String>,
    depth: usize,
    /// How many names were made.
    made: usize,
    /// Whether threads may have ended or gone other ways.
    diverged: bool,
}

impl<'a> Body<'a> {
    pub fn new(random: &'a mut Random, columns: u64, pieces: &'a [Piece]) -> Body<'a> {
        let names = ["t", "lane", "a", "b", "n"].map(str::to_owned).to_vec();
        Body { text: String::new(), random, columns, pieces, names, depth: 1, made: 0, diverged: false }
    }

    fn line(&mut self, text: &str) {
        writeln!(self.text, "{}{text}", "    ".repeat(self.depth)).unwrap();
    }

    /// The declarations that a feature needs in the kernel.
    pub fn locals(&mut self, text: &str) {
        text.lines().for_each(|line| self.line(line));
    }

    pub fn whole(&mut self) {
        for _ in 0..5 + self.random.below(5) {
            self.statement(2);
        }
        self.line("__syncthreads();");
        for _ in 0..3 {
            self.access();
        }
    }

    fn block(&mut self, head: &str, nesting: usize) {
        self.line(&format!("{head} {{"));
        let (names, diverged) = (self.names.len(), self.diverged);
        self.depth += 1;
        self.diverged = true;
        for _ in 0..1 + self.random.below(3) {
            self.statement(nesting - 1);
        }
        self.depth -= 1;
        self.diverged = diverged;
        self.names.truncate(names);
        self.line("}");
    }

    fn statement(&mut self, nesting: usize) {
        match self.random.below(16) {
            0..=5 => self.access(),
            6 | 7 => self.local(),
            8 | 9 => self.of_a_feature(),
            10 if nesting > 0 => {
                let condition = self.condition();
                self.block(&format!("if ({condition})"), nesting);
                if self.random.below(2) == 0 {
                    self.block("else", nesting);
                }
            }
            11 | 12 if nesting > 0 => self.repeated(nesting),
            13 if !self.diverged => {
                let barrier = self.random.of(&["__syncthreads();", "__syncwarp();", "__syncthreads();"]);
                self.line(barrier);
            }
            14 if !self.diverged => {
                let exchange = self.random.of(&[
                    "a = __shfl_xor_sync(0xffffffff, a, 5);",
                    "b = __shfl_sync(0xffffffff, a, 3) + 1;",
                    "b = __popc(__ballot_sync(0xffffffff, a > 20));",
                ]);
                self.line(exchange);
            }
            15 if self.depth == 1 && self.text.len() > 400 => {
                let condition = self.condition();
                self.line(&format!("if ({condition}) return;"));
                self.diverged = true;
            }
            _ => self.assignment(),
        }
    }

    fn repeated(&mut self, nesting: usize) {
        let counter = format!("k{}", self.made);
        self.made += 1;
        let small = self.random.below(5) + 1;
        let head = match self.random.below(6) {
            0 => format!("for (int {counter} = 0; {counter} < {small}; {counter}++)"),
            1 => format!("for (int {counter} = {small}; {counter} > 0; {counter} -= 2)"),
            2 => format!("for (int {counter} = lane & 3; {counter} < {}; ++{counter})", small + 2),
            3 => format!("for (int {counter} = 1; {counter} <= 16; {counter} <<= 1)"),
            4 => format!("for (int {counter} = t; {counter} < 100; {counter} += 32)"),
            _ => {
                self.line(&format!("int {counter} = {small};"));
                self.names.push(counter.clone());
                self.block(&format!("while ({counter}-- > (t & 1))"), nesting);
                return;
            }
        };
        self.names.push(counter);
        self.block(&head, nesting);
        self.names.pop();
    }

    fn access(&mut self) {
        let place = if self.random.below(3) == 0 {
            let (row, column) = (self.expression(2), self.expression(1));
            format!("grid[{row} & 15][({column} & 1023) % {}]", self.columns)
        } else {
            format!("s[{} & 1023]", self.expression(3))
        };
        match self.random.below(5) {
            0 | 1 => self.line(&format!("{place} = 1;")),
            2 => self.line(&format!("{place} += 1;")),
            _ => self.line(&format!("sum += {place};")),
        }
    }

    fn local(&mut self) {
        let name = format!("v{}", self.made);
        self.made += 1;
        let value = self.expression(2);
        let ty = self.random.of(&["int", "int", "unsigned char", "short", "const int", "auto"]);
        self.line(&format!("{ty} {name} = {value} & 511;"));
        self.names.push(name);
    }

    fn assignment(&mut self) {
        let (name, value) = (self.random.of(&["a", "b"]), self.expression(2));
        match self.random.below(4) {
            0 => self.line(&format!("{name} = ({name} + {value}) & 255;")),
            1 => self.line(&format!("{name} ^= {value} & 63;")),
            2 => {
                let condition = self.condition();
                self.line(&format!("if ({condition}) {name} = {value} & 127;"));
            }
            _ => self.line(&format!("{name} = {value} & 127;")),
        }
    }

    /// A statement that one of the features brings.
    fn of_a_feature(&mut self) {
        let at = self.random.below(self.pieces.len() as u64) as usize;
        let statements = &self.pieces[at].statements;
        if statements.is_empty() {
            return self.access();
        }
        let form = statements[self.random.below(statements.len() as u64) as usize].clone();
        self.made += 1;
        let filled = self.filled(&form, 2).replace("$u", &self.made.to_string());
        if filled.contains('\n') {
            self.line("{");
            self.depth += 1;
            self.locals(&filled);
            self.depth -= 1;
            self.line("}");
        } else {
            self.line(&filled);
        }
    }

    fn condition(&mut self) -> String {
        let (left, right) = (self.expression(1), self.random.below(40));
        match self.random.below(5) {
            0 => format!("{left} % 3 == {}", right % 3),
            1 => format!("{left} > {right}"),
            2 => format!("({left} & {}) != 0", 1 << (right % 5)),
            3 => format!("t < {} && {left} > {right}", right + 8),
            _ => format!("{left} < {right} || lane == 7"),
        }
    }

    /// `$0` and `$1` stand for values.
    fn filled(&mut self, form: &str, depth: u32) -> String {
        let mut text = form.to_owned();
        for mark in ["$0", "$1"] {
            if text.contains(mark) {
                let value = self.expression(depth.saturating_sub(1));
                text = text.replace(mark, &value);
            }
        }
        text
    }

    /// A value of at most a few thousand, in brackets where it needs them.
    fn expression(&mut self, depth: u32) -> String {
        if depth == 0 || self.random.below(6) == 0 {
            return match self.random.below(5) {
                0 => self.random.below(40).to_string(),
                1 => "(int)threadIdx.x".to_owned(),
                _ => {
                    let at = self.random.below(self.names.len() as u64) as usize;
                    self.names[at].clone()
                }
            };
        }
        if self.random.below(3) == 0 {
            let at = self.random.below(self.pieces.len() as u64) as usize;
            let forms = &self.pieces[at].values;
            if !forms.is_empty() {
                let form = forms[self.random.below(forms.len() as u64) as usize].clone();
                let filled = self.filled(&form, depth);
                return format!("({filled} & 511)");
            }
        }
        let left = self.expression(depth - 1);
        match self.random.below(9) {
            0 | 1 => format!("({left} + {})", self.expression(depth - 1)),
            2 => format!("({left} - {})", self.expression(depth - 1)),
            3 => format!("({left} & 255) * {}", self.random.of(&[2, 3, 4, 5, 8, 16, 17, 32, 33])),
            4 => format!("({left} ^ {})", self.expression(depth - 1)),
            5 => format!("{left} / {}", self.random.of(&[2, 3, 4, 8])),
            6 => format!("{left} % {}", self.random.of(&[3, 5, 8, 16, 31, 32])),
            7 => format!("(({left} & 63) << {})", self.random.below(5)),
            _ => {
                let (condition, other) = (self.condition(), self.expression(depth - 1));
                format!("({condition} ? {left} : {other})")
            }
        }
    }
}
