//! Is any table of bank requests compared, or refused with a message?

#![no_main]

use cudalint::banks::{ComputeCapability, Target};
use cudalint::output::banks::compare_requests;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    for capability in ComputeCapability::known() {
        let target = Target::new(capability);
        let (mut out, mut summary) = (Vec::new(), Vec::new());
        let mut bytes = data;
        if let Err(error) = compare_requests(&mut bytes, "a.csv", &target, &mut out, &mut summary) {
            assert!(!error.to_string().is_empty());
        }
    }
});
