//! Which atomic does what a statement does, if there is one?
//!
//! | | |
//! |---|---|
//! | adds | `atomicAdd`: `int`, `unsigned`, `unsigned long long`, `float`, from 6.0 on `double` |
//! | sets, clears or flips bits | `atomicOr`, `atomicAnd`, `atomicXor`: integers of 4 and 8 bytes |
//! | takes the larger or smaller | `atomicMax`, `atomicMin`: integers of 4 and 8 bytes |
//! | anything else, or another type | a loop with `atomicCAS`: 4 and 8 bytes, from 7.0 on `unsigned short` |

use super::super::Case;
use crate::events::{Access, Array};
use crate::source::Span;

/// What is changed, as far as that bears on atomics.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Changed {
    /// `int`, `unsigned`
    Word,
    /// `unsigned long long`
    Wide,
    /// Another integer of 8 bytes: `long long`, `long`, `size_t`, which are other types.
    OtherWide,
    Float,
    Double,
    /// An integer of fewer than 4 bytes.
    Narrow,
    /// Of a type that is not told.
    Other,
}

/// What a statement does to it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    Add,
    /// It adds what is no integer.
    Rounded,
    Bits(&'static str),
    Extremum,
    /// A product, a quotient, a shift.
    Without,
    Unknown,
}

const OTHERWISE: &str = "or let one thread do it for all";

/// What helps a statement that changes what an access names.
pub(in super::super) fn advice(case: &Case<'_>, array: &Array, access: &Access) -> String {
    let changed = changed(case, array, access);
    match (change(case, access.span), changed) {
        (_, Changed::Narrow) if access.bytes == Some(1) => {
            format!("no atomic takes one byte: make it an `int` and use an atomic, {OTHERWISE}")
        }
        (_, Changed::Narrow) => format!(
            "the only two-byte atomic is `atomicCAS`, from compute capability 7.0 on: make it an `int`, \
             {OTHERWISE}"
        ),
        (Change::Without, _) => by_exchange("no atomic does that"),
        (Change::Extremum, Changed::Float | Changed::Double) => {
            by_exchange(&format!("there is no `atomicMax` or `atomicMin` for `{}`", array.element))
        }
        (Change::Bits(name), Changed::OtherWide) => as_unsigned(name),
        (Change::Bits(name), _) => format!("use `{name}`, {OTHERWISE}"),
        (Change::Extremum, _) => format!("use `atomicMax` or `atomicMin`, {OTHERWISE}"),
        (Change::Rounded, Changed::Word | Changed::Wide | Changed::OtherWide) => {
            by_exchange("adding a fraction to an integer rounds the sum, and no atomic does that")
        }
        (Change::Add, Changed::OtherWide) => as_unsigned("atomicAdd"),
        (Change::Add | Change::Rounded, Changed::Double) => {
            format!("use `atomicAdd`, which takes a `double` from compute capability 6.0 on, {OTHERWISE}")
        }
        (Change::Add | Change::Rounded, _) => format!("use `atomicAdd`, {OTHERWISE}"),
        (Change::Unknown, _) => format!("use an atomic such as `atomicAdd`, {OTHERWISE}"),
    }
}

/// What helps threads that write something if what they read says so.
pub(in super::super) fn decided_by_read(case: &Case<'_>, array: &Array, access: &Access) -> String {
    let one = match changed(case, array, access) {
        Changed::Word | Changed::Wide | Changed::OtherWide => "an atomic such as `atomicMax`, which does",
        _ => "`atomicCAS` in a loop, which does",
    };
    format!("if the value read decides what is written, use {one} both at once")
}

fn by_exchange(why: &str) -> String {
    format!("{why}: use `atomicCAS` in a loop, {OTHERWISE}")
}

fn as_unsigned(name: &str) -> String {
    format!("use `{name}` on it as an `unsigned long long`, the 8-byte type that it takes, {OTHERWISE}")
}

fn changed(case: &Case<'_>, array: &Array, access: &Access) -> Changed {
    if access.bytes.is_some_and(|bytes| bytes < 4) {
        // From 7.0 and 8.0 on, `atomicAdd` takes `__half` and `__nv_bfloat16`.
        return if access.scalar { Changed::Narrow } else { Changed::Other };
    }
    if array.element_bytes != access.bytes.map(u64::from) {
        return Changed::Other;
    }
    let words = array.element.split_whitespace().filter(|word| !matches!(*word, "volatile" | "const"));
    match words.collect::<Vec<_>>().join(" ").as_str() {
        "int" | "signed" | "unsigned" | "unsigned int" | "uint" | "int32_t" | "uint32_t" => Changed::Word,
        // `uint64_t` and `unsigned long` are as wide and another type.
        "unsigned long long" if declared(case, array).contains("long long") => Changed::Wide,
        "unsigned long long" | "long long" => Changed::OtherWide,
        "float" => Changed::Float,
        "double" => Changed::Double,
        _ => Changed::Other,
    }
}

/// What stands before an array's name in its declaration.
fn declared(case: &Case<'_>, array: &Array) -> String {
    (case.text)(Span { end: array.name_span.start, ..array.span })
}

fn change(case: &Case<'_>, target: Span) -> Change {
    let text = (case.text)(target);
    let mut behind = String::new();
    // The text may end sooner.
    for length in [48, 32, 16, 8, 4] {
        let span = Span { start: target.end, end: target.end.saturating_add(length), ..target };
        behind = (case.text)(span);
        if !behind.is_empty() {
            break;
        }
    }
    let behind = behind.split(';').next().unwrap_or("").trim();
    let before = Span { start: target.start.saturating_sub(2), end: target.start, ..target };
    let steps = ["++", "--"].iter().any(|step| behind.starts_with(step) || (case.text)(before) == *step);
    let operators = [
        ("+=", Change::Add),
        ("-=", Change::Add),
        ("|=", Change::Bits("atomicOr")),
        ("&=", Change::Bits("atomicAnd")),
        ("^=", Change::Bits("atomicXor")),
        ("*=", Change::Without),
        ("/=", Change::Without),
        ("%=", Change::Without),
        ("<<=", Change::Without),
        (">>=", Change::Without),
    ];
    let written = operators.iter().find(|(operator, _)| behind.starts_with(operator));
    // `0.5f`: a name does not tell.
    let fraction = |text: &str| {
        text.match_indices('.').any(|(at, _)| text[at + 1..].starts_with(|next: char| next.is_ascii_digit()))
    };
    match written {
        Some((_, Change::Add)) if fraction(behind) => return Change::Rounded,
        Some((_, change)) => return *change,
        None => {}
    }
    let value = behind.strip_prefix('=').map(str::trim).filter(|value| !value.starts_with('='));
    let rest = value.and_then(|value| value.strip_prefix(text.trim())).map(str::trim);
    match (steps, value, rest) {
        (true, ..) => Change::Add,
        (_, _, Some(rest)) if rest.starts_with(['+', '-']) => {
            if fraction(rest) {
                Change::Rounded
            } else {
                Change::Add
            }
        }
        (_, _, Some(rest)) if rest.starts_with('|') => Change::Bits("atomicOr"),
        (_, _, Some(rest)) if rest.starts_with('&') => Change::Bits("atomicAnd"),
        (_, _, Some(rest)) if rest.starts_with('^') => Change::Bits("atomicXor"),
        (_, _, Some(rest)) if rest.starts_with(['*', '/', '%']) => Change::Without,
        (_, Some(value), _) if value.contains("max") || value.contains("min") || value.contains('?') => {
            Change::Extremum
        }
        _ => Change::Unknown,
    }
}
