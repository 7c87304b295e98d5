//! Does the preprocessor come to an end on any text and headers, with spans that lie in the file?

#![no_main]

use cudalint::preproc::{Defines, Includes, expand};
use cudalint::source::{SourceFile, Sources};
use cudalint_fuzz::{Bundle, on_deep_stack, tokens};
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

struct Beside(HashMap<PathBuf, Arc<SourceFile>>);

impl Includes for Beside {
    fn open(&self, _: &SourceFile, spec: &str, _: bool) -> Option<Arc<SourceFile>> {
        self.0.get(Path::new(spec)).cloned()
    }
}

fuzz_target!(|data: &[u8]| {
    let Bundle { main, headers } = Bundle::split(data);
    on_deep_stack(|| {
        let sources = Sources::default();
        let file = sources.add(Path::new("a.cu"), main);
        let open = |(path, bytes): (PathBuf, Vec<u8>)| (path.clone(), sources.add(&path, bytes));
        let includes = Beside(headers.into_iter().map(open).collect());
        let defines = Defines::new(900, [("GIVEN", "3")]);
        let expanded = expand(&file, &defines, &includes);
        let (text, original) = (expanded.text(), file.text.len() as u32);
        for at in (0..text.len()).step_by(1 + text.len() / 64) {
            let (start, end) = expanded.map.original(at as u32, at as u32 + 1);
            assert!(start <= end && end <= original, "{at} leads to {start}..{end} of {original}");
        }
        for comment in &expanded.comments {
            assert!(
                file.text.get(comment.span.start as usize..comment.span.end as usize).is_some(),
                "{comment:?}"
            );
        }
    });
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    tokens::mutate(data, size, max_size, seed, fuzzer_mutate)
});
