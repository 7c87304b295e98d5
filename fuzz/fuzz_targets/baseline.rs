//! Is any baseline read, or refused with a message?

#![no_main]

use cudalint::baseline::Baseline;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match Baseline::read(text) {
        Ok(baseline) => {
            assert_eq!(baseline.is_empty(), baseline.len() == 0);
            let _ = baseline.contains("none");
        }
        Err(message) => assert!(!message.is_empty()),
    }
});
