//! Is any `compile_commands.json` read, or refused with a message?

#![no_main]

use cudalint::config::commands::Commands;
use libfuzzer_sys::fuzz_target;
use std::path::Path;

fuzz_target!(|text: &str| {
    match Commands::read(text, &|path| Path::new("/home").join(path)) {
        Ok(commands) => {
            let _ = commands.of(Path::new("/home/a.cu"));
        }
        Err(message) => assert!(!message.is_empty()),
    }
});
