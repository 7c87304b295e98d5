//! What does `cudalint banks` print?

#![allow(clippy::unwrap_used)] // a failed unwrap is a failed test

use cudalint::banks::Target;
use cudalint::output::banks::{Agreement, Shape, compare_requests, write_picture};

fn target(text: &str) -> Target {
    Target::new(text.parse().unwrap())
}

fn picture(element_bytes: u32, shape: &str, on: &str, colour: bool) -> String {
    let mut out = Vec::new();
    write_picture(&mut out, element_bytes, &shape.parse().unwrap(), &target(on), colour).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn show() {
    for (e, s, t) in [
        (4, "4x33", "9.0"),
        (4, "8x8", "9.0"),
        (4, "32x32", "9.0"),
        (4, "33x33", "9.0"),
        (16, "8x9", "9.0"),
        (1, "4x8", "1.0"),
        (4, "100", "9.0"),
        (8, "2x4x4", "3.5"),
        (12, "8x8", "9.0"),
        (4, "100x1000", "8.0"),
    ] {
        println!("{}\n=====", picture(e, s, t, false));
    }
}
