//! Does the whole analysis come to an end on any text and headers, with findings that every output
//! format can print?

#![no_main]

use cudalint::analysis::{Options, Run};
use cudalint::cli::found::findings;
use cudalint::fingerprint::of_all;
use cudalint::output::{accesses, github, gitlab, json, junit, sarif, short, text};
use cudalint_fuzz::{Bundle, Headers, on_deep_stack, tokens};
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use std::path::{Path, PathBuf};

fuzz_target!(|data: &[u8]| {
    let Bundle { main, headers } = Bundle::split(data);
    on_deep_stack(|| {
        let targets = ["sm_13", "sm_20", "sm_30", "sm_90"].map(str::to_owned).to_vec();
        let options = Options { targets, ..Options::default() };
        let files = [PathBuf::from("a.cu")];
        let run = Run::new(options, &files, Box::new(Headers(headers)));
        let reports = [run.analyze_file(Path::new("a.cu"), main)];
        let sources = run.sources();
        let told = findings(sources, &reports, &|_, _, level| level).told;
        let prints = of_all(sources, &told);
        let _ = text::render(sources, &told, true);
        let _ = short::render(sources, &told);
        let _ = json::render(sources, &told);
        let _ = sarif::render(sources, &told, &prints);
        let _ = github::render(sources, &told);
        let _ = gitlab::render(sources, &told, &prints);
        let _ = junit::render(sources, &told, &["a.cu".to_owned()]);
        let verdicts: Vec<_> = reports[0].verdicts.iter().collect();
        let _ = accesses::render_json(sources, &verdicts);
        for verdict in verdicts {
            if let (Some(wavefronts), Some(ideal)) = (verdict.wavefronts, verdict.ideal) {
                assert!(wavefronts >= ideal, "{verdict:?}");
            }
        }
    });
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    tokens::mutate(data, size, max_size, seed, fuzzer_mutate)
});
