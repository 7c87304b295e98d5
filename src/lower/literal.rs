//! What value and type does a literal have?

use crate::ir::{ExprKind, Real, Scalar, UnaryOp};

/// A number literal, with the sign that the grammar may have folded into it.
pub(super) fn number(text: &str) -> ExprKind {
    let (negative, digits) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let kind = unsigned_number(digits.trim());
    match kind {
        ExprKind::Int(value, scalar) if negative && !scalar.is_unsigned() => ExprKind::Int(-value, scalar),
        ExprKind::Float(value, scalar) if negative => ExprKind::Float(Real::of(-value.value()), scalar),
        kind @ ExprKind::Int(..) if negative => {
            // The operand's span is filled in by the caller, who knows it.
            let span = crate::source::Span { file: crate::source::FileId(0), start: 0, end: 0, nth: 0 };
            ExprKind::Unary(UnaryOp::Neg, Box::new(crate::ir::Expr { kind, span }))
        }
        kind => kind,
    }
}

fn unsigned_number(text: &str) -> ExprKind {
    let text = text.replace('\'', "").to_ascii_lowercase();
    let (radix, digits) = match text.as_bytes() {
        [b'0', b'x', ..] => (16, &text[2..]),
        [b'0', b'b', ..] => (2, &text[2..]),
        _ => (10, text.as_str()),
    };
    let floating = match radix {
        16 => digits.contains(['.', 'p']),
        2 => false,
        _ => digits.contains(['.', 'e']) || digits.ends_with('f'),
    };
    let parsed = if floating { float(radix, digits) } else { integer(radix, digits) };
    parsed.unwrap_or(ExprKind::Unsupported("number literal"))
}

fn integer(radix: u32, text: &str) -> Option<ExprKind> {
    let digits = text.trim_end_matches(['u', 'l', 'z']);
    let suffix = &text[digits.len()..];
    let radix = if radix == 10 && digits.len() > 1 && digits.starts_with('0') { 8 } else { radix };
    let value = u64::from_str_radix(digits, radix).ok()?;
    let (unsigned, long) = (suffix.contains('u'), suffix.contains(['l', 'z']));
    let scalar = if unsigned {
        if long || value > u64::from(u32::MAX) { Scalar::U64 } else { Scalar::U32 }
    } else if !long && value <= i32::MAX as u64 {
        Scalar::I32
    } else if !long && radix != 10 && value <= u64::from(u32::MAX) {
        Scalar::U32
    } else if value <= i64::MAX as u64 {
        Scalar::I64
    } else {
        Scalar::U64
    };
    Some(ExprKind::Int(i128::from(value), scalar))
}

fn float(radix: u32, text: &str) -> Option<ExprKind> {
    let (digits, scalar) = match text.strip_suffix(['f', 'l']) {
        Some(digits) if text.ends_with('f') => (digits, Scalar::F32),
        Some(digits) => (digits, Scalar::F64),
        None => (text, Scalar::F64),
    };
    let value = if radix == 16 { hex_float(digits)? } else { digits.parse().ok()? };
    Some(ExprKind::Float(Real::of(value), scalar))
}

fn hex_float(text: &str) -> Option<f64> {
    let (mantissa, exponent) = text.split_once('p')?;
    let mut exponent: i32 = exponent.parse().ok()?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut value = 0.0;
    for digit in whole.chars().chain(fraction.chars()) {
        value = value * 16.0 + f64::from(digit.to_digit(16)?);
    }
    exponent = exponent.saturating_sub(4 * fraction.len() as i32);
    Some(value * 2f64.powi(exponent))
}

/// A character literal with its quotes and prefix.
pub(super) fn character(text: &str) -> ExprKind {
    let (prefix, rest) = text.split_at(text.find('\'').unwrap_or(0));
    let inner = rest.strip_prefix('\'').unwrap_or(rest);
    let inner = unescape(inner.strip_suffix('\'').unwrap_or(inner));
    let mut chars = inner.chars();
    let (Some(first), None) = (chars.next(), chars.next()) else {
        return ExprKind::Unsupported("multi-character literal");
    };
    let code = i128::from(u32::from(first));
    match prefix {
        "" if code > 255 => ExprKind::Unsupported("multi-character literal"),
        "" => ExprKind::Int(i128::from(code as u8 as i8), Scalar::I8),
        "u8" => ExprKind::Int(code, Scalar::U8),
        "u" => ExprKind::Int(code, Scalar::U16),
        "U" => ExprKind::Int(code, Scalar::U32),
        _ => ExprKind::Int(code, Scalar::I32),
    }
}

/// Text with its escape sequences replaced.
pub(super) fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        let Some(escape) = chars.next() else { break };
        let (radix, longest) = match escape {
            'x' => (16, 8),
            'u' => (16, 4),
            'U' => (16, 8),
            '0'..='7' => (8, 3),
            _ => (0, 0),
        };
        if radix == 0 {
            match escape {
                'n' => out.push('\n'),
                't' => out.push('\t'),
                'r' => out.push('\r'),
                'a' => out.push('\x07'),
                'b' => out.push('\x08'),
                'f' => out.push('\x0c'),
                'v' => out.push('\x0b'),
                '\n' => {}
                other => out.push(other),
            }
            continue;
        }
        let (mut code, mut length) = if radix == 8 { (escape.to_digit(8).unwrap_or(0), 1) } else { (0, 0) };
        while length < longest
            && let Some(digit) = chars.peek().and_then(|next| next.to_digit(radix))
        {
            code = code.wrapping_mul(radix).wrapping_add(digit);
            length += 1;
            chars.next();
        }
        out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_have_the_type_that_holds_them() {
        assert_eq!(number("0x1'0fFull"), ExprKind::Int(0x10ff, Scalar::U64));
        assert_eq!(number("2147483648"), ExprKind::Int(2_147_483_648, Scalar::I64));
        assert_eq!(number("0xffffffff"), ExprKind::Int(0xffff_ffff, Scalar::U32));
        assert_eq!(number("010"), ExprKind::Int(8, Scalar::I32));
        assert_eq!(number("0b101u"), ExprKind::Int(5, Scalar::U32));
        assert_eq!(number("-7"), ExprKind::Int(-7, Scalar::I32));
        assert!(matches!(number("-5u"), ExprKind::Unary(UnaryOp::Neg, _)));
        assert_eq!(number("99999999999999999999999"), ExprKind::Unsupported("number literal"));
    }

    #[test]
    fn floats_have_the_type_of_their_suffix() {
        assert_eq!(number("1.5f"), ExprKind::Float(Real::of(1.5), Scalar::F32));
        assert_eq!(number(".5"), ExprKind::Float(Real::of(0.5), Scalar::F64));
        assert_eq!(number("3.F"), ExprKind::Float(Real::of(3.0), Scalar::F32));
        assert_eq!(number("-1e-3"), ExprKind::Float(Real::of(-0.001), Scalar::F64));
        assert_eq!(number("0x1.8p1"), ExprKind::Float(Real::of(3.0), Scalar::F64));
    }

    #[test]
    fn characters_are_numbers() {
        assert_eq!(character("'a'"), ExprKind::Int(97, Scalar::I8));
        assert_eq!(character(r"'\n'"), ExprKind::Int(10, Scalar::I8));
        assert_eq!(character(r"'\xff'"), ExprKind::Int(-1, Scalar::I8));
        assert_eq!(character(r"L'\0'"), ExprKind::Int(0, Scalar::I32));
        assert_eq!(character(r"'\''"), ExprKind::Int(39, Scalar::I8));
    }
}
