//! Which of several items of one name does a path mean?
//!
//! C++ looks for a name in the namespace around its use, then in the one around that, and stops
//! where it finds it. `db::load` is looked for in the same places, with `db` behind each.
//!
//! Example: in `gemm::fast`, the path `detail::load` means `gemm::fast::detail::load` if there is
//! one, else `gemm::detail::load`, else `detail::load`. What a `using` brings into sight is not
//! followed: if none of these exists, any item of that name may be meant, first of all those whose
//! namespace ends in `detail`. Of `std::array` that is not so: no other `array` is meant.

use super::{Alias, Declaration, Function, Name, Path, Record, TemplateArg};
use std::sync::Arc;

/// The namespaces around an item, outermost first. Unnamed and inline ones do not count.
pub(crate) type Namespace = Arc<[Name]>;

/// The namespaces of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Scopes {
    /// The names of all that it opens, sorted.
    pub opened: Vec<Name>,
    /// Those of them whose name need not be said.
    pub inline: Vec<Name>,
    /// Names that stand for different namespaces.
    pub unclear: Vec<Name>,
    /// What their names find that stands elsewhere.
    pub brought: Vec<Brought>,
}

/// `using namespace a::b;` or `using a::b::f;` in a namespace.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Brought {
    /// The last name of the namespace.
    pub within: Name,
    /// The names that are written.
    pub parts: Vec<Name>,
    /// Whether it is all of a namespace.
    pub whole: bool,
}

/// Something that stands in a namespace.
pub(crate) trait Named {
    /// Where.
    fn namespace(&self) -> &Namespace;
}

macro_rules! named {
    ($($item:ty),*) => {$(
        impl Named for $item {
            fn namespace(&self) -> &Namespace {
                &self.namespace
            }
        }
    )*};
}
named!(Alias, Declaration, Function, Record);

/// How well an item of the namespace `at` answers to `qualifiers`, written in the namespace `from`.
fn rank(at: &[Name], qualifiers: &[(Name, Vec<TemplateArg>)], from: &[Name]) -> usize {
    let ends = at.len() >= qualifiers.len()
        && at.iter().rev().zip(qualifiers.iter().rev()).all(|(name, (qualifier, _))| name == qualifier);
    if !ends {
        return 0;
    }
    let around = at.get(..at.len() - qualifiers.len()).unwrap_or_default();
    if from.starts_with(around) { 2 + around.len() } else { 1 }
}

/// Whether an item of the namespace `at` is what these qualifiers say, whatever brings it into sight.
pub(super) fn answers(at: &[Name], qualifiers: &[(Name, Vec<TemplateArg>)]) -> bool {
    rank(at, qualifiers, &[]) > 0
}

/// What a path says of a place in the standard library, if it names one: `std`, and what stands behind it.
/// Nothing else lies there: what has the name elsewhere is another item, whatever brings it into sight.
pub(super) fn in_standard_library(
    qualifiers: &[(Name, Vec<TemplateArg>)],
) -> Option<&[(Name, Vec<TemplateArg>)]> {
    let own = match qualifiers {
        [(first, _), rest @ ..] if &**first == "cuda" => rest,
        all => all,
    };
    own.first().filter(|(name, _)| &**name == "std").map(|_| own)
}

/// Those of `items`, all of one name, that a path with these qualifiers means in `from`.
pub(crate) fn meant<'i, 'p, T: Named>(
    items: &'i [Arc<T>],
    qualifiers: &'p [(Name, Vec<TemplateArg>)],
    from: &'p [Name],
) -> impl Iterator<Item = &'i Arc<T>> + Clone {
    let rank = |item: &Arc<T>| rank(item.namespace(), qualifiers, from);
    let standard = in_standard_library(qualifiers);
    let best = if items.len() > 1 { items.iter().map(rank).max() } else { None };
    let is_best = move |item: &&Arc<T>| best.is_none_or(|best| rank(item) == best);
    items.iter().filter(move |item| {
        is_best(item) && standard.is_none_or(|place| self::rank(item.namespace(), place, from) > 0)
    })
}

/// Whether a path in the namespace `from` leads to this one, by what is written and no `using`.
pub(crate) fn is_where_said(namespace: &[Name], path: &Path, from: &[Name]) -> bool {
    let said: Vec<&Name> = path.qualifiers.iter().map(|(name, _)| name).collect();
    let Some(around) = namespace.len().checked_sub(said.len()) else { return false };
    let (outer, inner) = namespace.split_at(around);
    inner.iter().eq(said) && (if path.global { outer.is_empty() } else { from.starts_with(outer) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(path: &str) -> Vec<Name> {
        path.split("::").filter(|part| !part.is_empty()).map(Name::from).collect()
    }

    #[test]
    fn the_nearest_namespace_around_wins() {
        let rank = |at: &str, written: &str, from: &str| {
            let qualifiers: Vec<_> = names(written).into_iter().map(|name| (name, Vec::new())).collect();
            rank(&names(at), &qualifiers, &names(from))
        };
        assert!(rank("gemm::fast", "", "gemm::fast") > rank("gemm", "", "gemm::fast"));
        assert!(rank("gemm", "", "gemm::fast") > rank("", "", "gemm::fast"));
        assert!(rank("", "", "gemm") > rank("other", "", "gemm"));
        assert!(rank("gemm::detail", "detail", "gemm::fast") > rank("detail", "detail", "gemm::fast"));
        assert!(rank("other::detail", "detail", "gemm") > rank("other", "detail", "gemm"));
    }

    #[test]
    fn only_the_standard_library_has_its_names() {
        let standard = |written: &str| {
            let qualifiers: Vec<_> = names(written).into_iter().map(|name| (name, Vec::new())).collect();
            in_standard_library(&qualifiers).map(<[_]>::len)
        };
        assert_eq!(
            (standard("std"), standard("cuda::std"), standard("std::chrono")),
            (Some(1), Some(1), Some(2))
        );
        assert_eq!(
            (standard("cuda"), standard("cuda::ptx"), standard("lib::std"), standard("")),
            (None, None, None, None)
        );
    }
}
