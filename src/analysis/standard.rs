//! What do the names of the standard library stand for that kernels choose types with?
//!
//! No compiler's headers are at hand, so `std::conditional_t<sizeof(T) == 4, float4, float2>` would be a type
//! of unknown size, and both branches of `if constexpr (std::is_same_v<T, float>)` would be possible. The
//! names are written down in `standard.h`, those of CUB in `cub.h`, and lowered once as any other text. They count
//! where nothing that is visible has such a name.

use crate::ir::Module;
use crate::lower::lower;
use crate::preproc::Expanded;
use crate::source::{FileId, SourceFile};
use crate::syntax::SyntaxTree;
use std::sync::{Arc, OnceLock};

const TEXT: &str = concat!(include_str!("standard.h"), include_str!("cub.h"));

/// What is in these texts. No access is ever placed there.
pub(super) fn standard() -> Arc<Module> {
    static LOWERED: OnceLock<Arc<Module>> = OnceLock::new();
    let lowered = LOWERED.get_or_init(|| {
        // The file is none of a run's.
        let file = SourceFile::new(FileId::NO_TEXT, "standard.h".into(), TEXT.as_bytes().to_vec());
        let tree = SyntaxTree::parse(Expanded::unchanged(Arc::new(file)));
        Arc::new(tree.map(|tree| lower(&tree)).unwrap_or_default())
    });
    Arc::clone(lowered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_understood() {
        let module = standard();
        assert!(module.damage.is_empty());
        let specialised = |name: &str| module.records.iter().filter(|it| &*it.name == name).count();
        assert_eq!((specialised("conditional"), specialised("is_same")), (2, 2));
        assert!(module.variables.iter().all(|it| it.constant && it.init.is_some()));
        assert!(module.functions.iter().all(|it| it.owner.is_some() && it.body.is_some()));
    }
}
