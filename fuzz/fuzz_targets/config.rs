//! Is any `cudalint.toml` read, or refused with a message that can be printed?

#![no_main]

use cudalint::config::Config;
use libfuzzer_sys::fuzz_target;
use std::path::Path;

fuzz_target!(|text: &str| {
    match Config::parse(text, Path::new("/home/cudalint.toml")) {
        Ok(config) => {
            for path in ["/home/a.cu", "/home/tests/a.cu", "/elsewhere/a.cu", "/", ""] {
                let _ = config.excludes(Path::new(path), false);
                let _ = config.excludes(Path::new(path), true);
                let _ = config.level(Path::new(path), "bank-conflict");
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
