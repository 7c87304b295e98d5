//! Is this `#if` true?
//!
//! C's constant expressions over wrapping 64-bit integers, without a sign where an operand has none: `-1 > 0u`. A name
//! that is no macro is 0.
//! What cannot be read, and what divides by zero, is false. So is what rests on `NAME(x)` with a macro that nothing
//! defines: no compiler takes that, so the build defines it, and it may as well be true.

use super::expansion::Expander;
use super::lexer::Kind;
use super::piece::Piece;

/// How deep parentheses, prefixes and `?:` may nest.
const MAX_DEPTH: u32 = 256;

/// Answers what an expression asks about its surroundings.
pub(crate) trait Surroundings {
    /// Whether a macro of this name is defined.
    fn defined(&self, name: &str) -> bool;
    /// Whether `#include` would find this header.
    fn has_include(&self, spec: &str, angled: bool) -> bool;
}

/// What a condition comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    True,
    False,
    /// It asks a macro that nothing defines; taken for false.
    Open,
}

/// Evaluates an expanded condition.
pub(crate) fn answer(expander: &Expander<'_>, pieces: &[Piece], around: &dyn Surroundings) -> Answer {
    let mut parser = Evaluator { expander, pieces, at: 0, depth: 0, asks_unknown: false, around };
    match parser.ternary() {
        _ if parser.at != pieces.len() => Answer::False,
        Ok(Some(Number { bits: 0, .. })) | Err(Malformed) => Answer::False,
        Ok(Some(_)) => Answer::True,
        Ok(None) if parser.asks_unknown => Answer::Open,
        Ok(None) => Answer::False,
    }
}

/// Not an expression.
struct Malformed;

/// `None`: it divides by zero, or asks a macro that nothing defines, which only matters where the value is needed.
type Value = Result<Option<Number>, Malformed>;

/// A number of 64 bits.
#[derive(Clone, Copy)]
struct Number {
    bits: i64,
    unsigned: bool,
}

impl Number {
    fn signed(bits: i64) -> Number {
        Number { bits, unsigned: false }
    }

    fn truth(holds: bool) -> Number {
        Number::signed(i64::from(holds))
    }
}

struct Evaluator<'e> {
    expander: &'e Expander<'e>,
    pieces: &'e [Piece],
    at: usize,
    depth: u32,
    /// Whether a macro was asked that nothing defines.
    asks_unknown: bool,
    around: &'e dyn Surroundings,
}

/// The binary operators with how strongly they bind, longer spellings first.
const OPERATORS: [(&str, u8); 24] = [
    ("<<", 8),
    (">>", 8),
    ("<=", 7),
    (">=", 7),
    ("==", 6),
    ("!=", 6),
    ("&&", 2),
    ("||", 1),
    ("<", 7),
    (">", 7),
    ("&", 5),
    ("^", 4),
    ("|", 3),
    ("+", 9),
    ("-", 9),
    ("*", 10),
    ("/", 10),
    ("%", 10),
    ("and", 2),
    ("or", 1),
    ("bitand", 5),
    ("bitor", 3),
    ("xor", 4),
    ("not_eq", 6),
];

impl<'e> Evaluator<'e> {
    fn text(&self, at: usize) -> &'e str {
        self.pieces.get(at).map_or("", |piece| self.expander.text(piece))
    }

    fn eat(&mut self, punct: &str) -> bool {
        let found = self.text(self.at) == punct;
        self.at += usize::from(found);
        found
    }

    fn deeper(&mut self, read: impl FnOnce(&mut Self) -> Value) -> Value {
        if self.depth >= MAX_DEPTH {
            return Err(Malformed);
        }
        self.depth += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn ternary(&mut self) -> Value {
        let test = self.binary(1)?;
        if !self.eat("?") {
            return Ok(test);
        }
        let yes = self.deeper(Self::ternary)?;
        if !self.eat(":") {
            return Err(Malformed);
        }
        let no = self.deeper(Self::ternary)?;
        Ok(test.and_then(|test| if test.bits != 0 { yes } else { no }))
    }

    /// The operator here, with the number of tokens it is written in.
    fn operator(&self) -> Option<(&'static str, u8, usize)> {
        let first = self.pieces.get(self.at)?;
        if !matches!(first.kind, Kind::Ident | Kind::Punct(b'!' | b'%'..=b'/' | b'<'..=b'>' | b'^' | b'|')) {
            return None;
        }
        let text = self.text(self.at);
        OPERATORS.iter().find_map(|&(operator, strength)| {
            if operator == text {
                return Some((operator, strength, 1));
            }
            let (head, tail) = operator.split_at_checked(1)?;
            let second = self.pieces.get(self.at + 1)?;
            let both = matches!(first.kind, Kind::Punct(_)) && !second.space;
            (both && head == text && tail == self.text(self.at + 1)).then_some((operator, strength, 2))
        })
    }

    fn binary(&mut self, weakest: u8) -> Value {
        let mut left = self.unary()?;
        while let Some((operator, strength, length)) = self.operator() {
            if strength < weakest {
                break;
            }
            self.at += length;
            let right = self.deeper(|inner| inner.binary(strength + 1))?;
            left = apply(operator, left, right);
        }
        Ok(left)
    }

    fn unary(&mut self) -> Value {
        let text = self.text(self.at);
        let operator = match text {
            "!" | "not" => |value: Number| Number::truth(value.bits == 0),
            "~" | "compl" => |value: Number| Number { bits: !value.bits, ..value },
            "-" => |value: Number| Number { bits: value.bits.wrapping_neg(), ..value },
            "+" => |value: Number| value,
            _ => return self.primary(),
        };
        self.at += 1;
        Ok(self.deeper(Self::unary)?.map(operator))
    }

    fn primary(&mut self) -> Value {
        let piece = self.pieces.get(self.at).ok_or(Malformed)?;
        let text = self.text(self.at);
        self.at += 1;
        match piece.kind {
            Kind::Number => integer(text).map(Some).ok_or(Malformed),
            Kind::Char => character(text).map(|it| Some(Number::signed(it))).ok_or(Malformed),
            Kind::Punct(b'(') => {
                let value = self.deeper(Self::ternary)?;
                if self.eat(")") { Ok(value) } else { Err(Malformed) }
            }
            Kind::Ident => self.word(text),
            _ => Err(Malformed),
        }
    }

    fn word(&mut self, word: &str) -> Value {
        match word {
            "true" => Ok(Some(Number::truth(true))),
            "defined" => {
                let parenthesised = self.eat("(");
                let name = self.text(self.at);
                self.at += 1;
                if parenthesised && !self.eat(")") {
                    return Err(Malformed);
                }
                Ok(Some(Number::truth(self.around.defined(name))))
            }
            "__has_include" | "__has_include_next" => {
                let inside = self.parenthesised()?;
                let spec: String = inside.map(|at| self.text(at)).collect();
                let quoted = |open, close| spec.strip_prefix(open)?.strip_suffix(close);
                let found = match (quoted('<', '>'), quoted('"', '"')) {
                    (Some(spec), _) => self.around.has_include(spec, true),
                    (_, Some(spec)) => self.around.has_include(spec, false),
                    _ => false,
                };
                Ok(Some(Number::truth(found)))
            }
            // What a compiler defines itself: `__has_builtin(x)`.
            _ if self.text(self.at) == "(" && word.starts_with("__") => {
                self.parenthesised().map(|_| Some(Number::signed(0)))
            }
            _ if self.text(self.at) == "(" => {
                self.asks_unknown = true;
                self.parenthesised().map(|_| None)
            }
            _ => Ok(Some(Number::signed(0))),
        }
    }

    /// The numbers of the tokens between the parentheses that open here.
    fn parenthesised(&mut self) -> Result<std::ops::Range<usize>, Malformed> {
        let mut depth = 0_usize;
        let start = self.at + 1;
        while self.at < self.pieces.len() {
            match self.text(self.at) {
                "(" => depth += 1,
                ")" => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Ok(start..self.at.saturating_sub(1).max(start));
            }
        }
        Err(Malformed)
    }
}

fn apply(operator: &str, left: Option<Number>, right: Option<Number>) -> Option<Number> {
    match (operator, left) {
        ("&&" | "and", Some(Number { bits: 0, .. })) => return Some(Number::truth(false)),
        ("||" | "or", Some(value)) if value.bits != 0 => return Some(Number::truth(true)),
        _ => {}
    }
    let (one, other) = (left?, right?);
    let unsigned = one.unsigned || other.unsigned;
    let (left, right) = (one.bits, other.bits);
    let shift = (right & 63) as u32;
    let order = if unsigned { (left as u64).cmp(&(right as u64)) } else { left.cmp(&right) };
    let both = |bits: i64| Number { bits, unsigned };
    Some(match operator {
        "&&" | "||" | "and" | "or" => Number::truth(right != 0),
        "|" | "bitor" => both(left | right),
        "^" | "xor" => both(left ^ right),
        "&" | "bitand" => both(left & right),
        "==" => Number::truth(left == right),
        "!=" | "not_eq" => Number::truth(left != right),
        "<" => Number::truth(order.is_lt()),
        ">" => Number::truth(order.is_gt()),
        "<=" => Number::truth(order.is_le()),
        ">=" => Number::truth(order.is_ge()),
        "<<" => Number { bits: left.wrapping_shl(shift), ..one },
        ">>" if one.unsigned => Number { bits: ((left as u64) >> shift) as i64, ..one },
        ">>" => Number { bits: left.wrapping_shr(shift), ..one },
        "+" => both(left.wrapping_add(right)),
        "-" => both(left.wrapping_sub(right)),
        "*" => both(left.wrapping_mul(right)),
        "/" if right != 0 && unsigned => both((left as u64 / right as u64) as i64),
        "%" if right != 0 && unsigned => both((left as u64 % right as u64) as i64),
        "/" if right != 0 => both(left.wrapping_div(right)),
        "%" if right != 0 => both(left.wrapping_rem(right)),
        _ => return None,
    })
}

/// An integer literal's value, wrapped to 64 bits. A literal that does not fit in a signed 64-bit integer is unsigned.
fn integer(text: &str) -> Option<Number> {
    let digits = text.trim_end_matches(['u', 'U', 'l', 'L', 'z', 'Z']);
    let suffix = &text[digits.len()..];
    let (digits, radix) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&digits[2..], 16),
        [b'0', b'b' | b'B', ..] => (&digits[2..], 2),
        [b'0', _, ..] => (&digits[1..], 8),
        _ => (digits, 10),
    };
    let mut value = 0_i64;
    let mut any = false;
    for character in digits.chars().filter(|&character| character != '\'') {
        value = value.wrapping_mul(i64::from(radix)).wrapping_add(i64::from(character.to_digit(radix)?));
        any = true;
    }
    let unsigned = suffix.contains(['u', 'U']) || value < 0;
    any.then_some(Number { bits: value, unsigned })
}

fn character(text: &str) -> Option<i64> {
    let inside = text.split_once('\'')?.1.strip_suffix('\'')?;
    let mut characters = inside.chars();
    let value = match (characters.next()?, characters.next()) {
        ('\\', Some('n')) => 10,
        ('\\', Some('t')) => 9,
        ('\\', Some('r')) => 13,
        ('\\', Some('x')) => i64::from_str_radix(inside.get(2..)?, 16).ok()?,
        ('\\', Some('0'..='7')) => i64::from_str_radix(inside.get(1..)?, 8).ok()?,
        ('\\', Some(other)) => other as i64,
        (one, _) => one as i64,
    };
    Some(value)
}
