//! Are comments that ask for something read on any text, with spans that lie in it?

#![no_main]

use cudalint::preproc::comments::directives;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    for directive in directives(&text) {
        assert!(
            text.get(directive.span.start as usize..directive.span.end as usize).is_some(),
            "{directive:?}"
        );
    }
});
