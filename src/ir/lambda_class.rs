//! What is the class of a lambda called?

use super::{Function, Lambda, Name};

/// What the class of a lambda is called, behind the name of its function: no other class has such a name.
const LAMBDA_CLASS: &str = "(lambda";

impl Lambda {
    /// The name of its class, if it has one, in a function. Overloads of the function, and those of other files, have
    /// lambdas, too: it ends in the function's place.
    #[must_use]
    pub fn class_name(&self, function: &Function) -> Name {
        let (name, place) = (&function.name, function.name_span.start);
        match self.number {
            1 => format!("{name}::{LAMBDA_CLASS}#{place})").into(),
            number => format!("{name}::{LAMBDA_CLASS} {number}#{place})").into(),
        }
    }

    /// Whether a class is that of a lambda.
    #[must_use]
    pub fn is_class(name: &str) -> bool {
        name.ends_with(')') && name.rsplit("::").next().is_some_and(|last| last.starts_with(LAMBDA_CLASS))
    }

    /// The name of a type as a user is shown it: without places.
    #[must_use]
    pub fn shown(name: &str) -> String {
        let mut parts = name.split(LAMBDA_CLASS);
        let mut out = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            out.push_str(LAMBDA_CLASS);
            let (inside, behind) = part.split_once(')').unwrap_or((part, ""));
            out.push_str(inside.split('#').next().unwrap_or_default());
            out.push(')');
            out.push_str(behind);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_not_shown() {
        assert_eq!(
            Lambda::shown("f::(lambda 2#141)<float, g::(lambda#7)>"),
            "f::(lambda 2)<float, g::(lambda)>"
        );
        assert_eq!(Lambda::shown("(lambda)"), "(lambda)");
        assert_eq!(Lambda::shown("Tile<8>"), "Tile<8>");
        assert!(Lambda::is_class("f::(lambda 2#141)") && !Lambda::is_class("f::Op"));
    }
}
