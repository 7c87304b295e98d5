//! What do `min` and `max` give, of two numbers or of a list?

use super::arithmetic::{promote, scalar_of};
use super::machine::Machine;
use super::operators::float;
use super::value::{Step, Steps, Value};
use crate::codegen::sight;
use crate::domain::{Int, Reason, Unknown, Variation};
use crate::ir::{BinaryOp, Expr};
use crate::source::Span;

impl Machine<'_> {
    /// The smaller or the larger of two values.
    pub(super) fn extremum(&mut self, a: &Value, b: &Value, max: bool, span: Span) -> Value {
        match (a, b) {
            (Value::Float(x, s), Value::Float(y, t)) => {
                let scalar = promote(*s, *t, BinaryOp::Add);
                float(if max { x.max(*y) } else { x.min(*y) }, scalar)
            }
            _ => match (self.number(a, span), self.number(b, span)) {
                (Ok(x), Ok(y)) => {
                    let scalar = promote(scalar_of(a), scalar_of(b), BinaryOp::Add);
                    let (x, y) = (self.wrapped_to(&x, scalar), self.wrapped_to(&y, scalar));
                    if let Some(int) = self.host_extremum(&x, &y, max) {
                        return Value::Int(int, scalar);
                    }
                    let result = self.world.extremum(&x, &y, max);
                    let sight = sight::through_both(if max { "max" } else { "min" }, &x, &y);
                    let result = result.map(|int| Int { sight, ..int });
                    self.integer_result(result, &x, &y, scalar, span)
                }
                (Err(why), _) | (_, Err(why)) => Value::opaque(a.variation().max(b.variation()), why),
            },
        }
    }

    /// `std::max({a, b, c})`, or that of a variable that holds such a list. The list's elements are all of
    /// one type, and braces do not narrow, so that each of them has its value in that type.
    pub(super) fn extremum_of_list(&mut self, list: &Expr, name: &str, span: Span) -> Value {
        let value = self.evaluate(list);
        let unknown = |variation: Variation| {
            let words = format!("which numbers `{name}` is given");
            Value::opaque(variation.min(Variation::Maybe), Unknown::new(Reason::Unsupported, span, words))
        };
        let Value::Aggregate(parts) = &value else { return unknown(value.variation()) };
        let is_element = |(at, (path, _)): (usize, &(Steps, Value))| path_is(path, at);
        if !parts.iter().enumerate().all(is_element) {
            return unknown(value.variation());
        }
        let max = name.contains("max");
        let elements = parts.iter().map(|(_, element)| element.clone());
        elements
            .reduce(|best, element| self.extremum(&best, &element, max, span))
            .unwrap_or_else(|| unknown(Variation::Uniform))
    }
}

/// Whether a way leads to the element of this number, and no further.
fn path_is(path: &Steps, at: usize) -> bool {
    matches!(path.as_slice(), [Step::Index(index)] if usize::try_from(*index) == Ok(at))
}
