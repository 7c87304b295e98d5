//! Does any text parse and lower to something whose spans lie in the file?

#![no_main]

use cudalint::lower::lower;
use cudalint::preproc::{Defines, NoIncludes, expand};
use cudalint::source::Sources;
use cudalint::syntax::SyntaxTree;
use cudalint_fuzz::{on_deep_stack, tokens};
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use std::path::Path;

fuzz_target!(|data: &[u8]| {
    on_deep_stack(|| {
        let file = Sources::default().add(Path::new("a.cu"), data.to_vec());
        let defines = Defines::new(900, std::iter::empty());
        let Some(tree) = SyntaxTree::parse(expand(&file, &defines, &NoIncludes)) else { return };
        let module = lower(&tree);
        for function in &module.functions {
            assert!(file.text.get(function.span.range()).is_some(), "{:?}", function.span);
            assert!(file.text.get(function.name_span.range()).is_some(), "{:?}", function.name_span);
        }
    });
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    tokens::mutate(data, size, max_size, seed, fuzzer_mutate)
});
