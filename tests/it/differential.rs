//! Do `cudalint`'s wavefronts agree with a plain interpretation, lane by lane, of random kernels?
//!
//! The seed is fixed: `CUDALINT_CASES` asks for more cases, `CUDALINT_SEED` for others.

use crate::support::kernels::{Case, decided, number, verdicts};
use crate::support::random::Random;
use crate::support::styles::Style;

#[test]
fn random_kernels_cost_what_a_plain_interpretation_says() {
    let cases = number("CUDALINT_CASES", 400);
    let mut random = Random(number("CUDALINT_SEED", 1));
    let (mut ran, mut undecided) = (0u64, 0u64);
    let mut wrong: Vec<String> = Vec::new();
    while ran < cases {
        let case = Case::random(&mut random);
        let Some(expected) = case.interpret() else { continue };
        if expected.0 == 0 {
            continue;
        }
        ran += 1;
        let text = case.text(Style::Direct);
        let found = verdicts(&text);
        match decided(&found) {
            None => {
                undecided += 1;
                if std::env::var_os("CUDALINT_SHOW").is_some() {
                    let why: Vec<_> = found.iter().filter_map(|v| v.reason.clone()).collect();
                    println!("undecided: {why:?}\n{text}");
                }
            }
            Some(sums) if sums != expected => {
                wrong.push(format!("expected {expected:?}, found {sums:?}:\n{text}"));
            }
            Some(_) => {}
        }
    }
    println!("{ran} kernels, {undecided} undecided, {} wrong", wrong.len());
    assert!(wrong.is_empty(), "{} of {ran} are wrong; the first:\n{}", wrong.len(), wrong[0]);
    assert!(undecided * 20 <= ran, "{undecided} of {ran} are not decided");
}
