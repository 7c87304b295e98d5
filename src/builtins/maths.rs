//! Which mathematical functions are there for numbers of more than one type, and what do they hand back?
//!
//! C++ has `sqrt` for `float`, for `double` and for integers, so a program may add one for numbers of its own. Those
//! whose name ends in `f` are there for `float` alone.

use super::{Kind, find};

/// The type of a number, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Number {
    /// `float`
    Single,
    Double,
    /// An integer.
    Whole,
}

/// A mathematical function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Maths {
    /// How many numbers it takes.
    pub operands: usize,
    /// Whether it is there for `float` alone.
    pub of_floats: bool,
    /// Whether it hands back what it is given, or one of two: `max`, `abs`.
    pub keeps: bool,
    name: &'static str,
}

/// The mathematical function of this name, unless only CUDA has such names.
#[must_use]
pub(crate) fn maths(name: &str) -> Option<Maths> {
    let found = find(name).filter(|it| !it.family && it.name == name)?;
    let is_one = matches!(
        found.kind,
        Kind::Arithmetic | Kind::Absolute | Kind::Extremum | Kind::Ceiling | Kind::Floor
    );
    // Those of `__half`, and of matrices.
    let is_other = name.starts_with("__")
        || name.starts_with('h') && !name.starts_with("hypot")
        || matches!(name, "umin" | "umax" | "fill_fragment");
    if !is_one || is_other {
        return None;
    }
    let stem = name.strip_suffix('f').filter(|stem| find(stem).is_some_and(|it| it.name == *stem));
    let of_floats = stem.is_some() || matches!(name, "fdividef");
    let operands = match stem.unwrap_or(name) {
        "pow" | "atan2" | "copysign" | "fdim" | "fdivide" | "fmod" | "hypot" | "rhypot" | "ldexp"
        | "scalbn" | "scalbln" | "nextafter" | "remainder" | "jn" | "yn" | "min" | "max" | "fmin"
        | "fmax" => 2,
        "fma" | "norm3d" | "rnorm3d" => 3,
        "norm4d" | "rnorm4d" => 4,
        _ => 1,
    };
    let keeps = matches!(found.kind, Kind::Absolute) || matches!(name, "min" | "max");
    Some(Maths { operands, of_floats, keeps, name: found.name })
}

impl Maths {
    /// What it hands back for numbers of these types, unless that is one of them: [`Maths::keeps`]. None where that
    /// is not the same in each version of C++.
    #[must_use]
    pub(crate) fn result(self, given: &[Number]) -> Option<Number> {
        let stem = if self.of_floats { &self.name[..self.name.len() - 1] } else { self.name };
        match stem {
            "isinf" | "isnan" | "isfinite" | "signbit" => return None,
            "ilogb" | "lrint" | "lround" | "llrint" | "llround" => return None,
            _ if self.of_floats => return Some(Number::Single),
            "ldexp" | "scalbn" | "scalbln" | "jn" | "yn" => return None,
            _ => {}
        }
        let all = |number: Number| given.iter().all(|it| *it == number);
        if all(Number::Single) {
            Some(Number::Single)
        } else if all(Number::Whole) || given.contains(&Number::Double) {
            Some(Number::Double)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_for_float_alone_end_in_f() {
        let of_floats = |name: &str| maths(name).map(|it| it.of_floats);
        assert_eq!(of_floats("sqrt"), Some(false));
        assert_eq!(of_floats("sqrtf"), Some(true));
        assert_eq!(of_floats("erf"), Some(false));
        assert_eq!(of_floats("erff"), Some(true));
        assert_eq!(of_floats("__expf"), None);
        assert_eq!(of_floats("hsqrt"), None);
        assert_eq!(of_floats("printf"), None);
    }

    #[test]
    fn integers_become_double() {
        use Number::{Double, Single, Whole};
        let result = |name: &str, given: &[Number]| maths(name).and_then(|it| it.result(given));
        assert_eq!(result("sqrt", &[Whole]), Some(Double));
        assert_eq!(result("pow", &[Single, Double]), Some(Double));
        assert_eq!(result("pow", &[Single, Whole]), None);
        assert_eq!(result("powf", &[Double, Double]), Some(Single));
    }
}
