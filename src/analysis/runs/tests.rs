use crate::analysis::{NoFiles, Options, Run};
use crate::events::Assumption;
use crate::verdict::{SiteVerdict, Status};
use std::fmt::Write;
use std::path::{Path, PathBuf};

fn verdicts(text: &str) -> Vec<SiteVerdict> {
    let path = PathBuf::from("a.cu");
    let run = Run::new(Options::default(), std::slice::from_ref(&path), Box::new(NoFiles));
    run.analyze_file(Path::new("a.cu"), text.as_bytes().to_vec()).verdicts
}

#[test]
fn a_variant_that_is_not_run_is_not_known() {
    let mut text = String::from(
        "template <int N> __global__ void k(int *out) {\n__shared__ int s[64];\ns[threadIdx.x] = N;\nint sum = 0;\nif (N > 0) {\n",
    );
    for depth in 0..24 {
        writeln!(text, "for (int i{depth} = 0; i{depth} < 2; i{depth}++)").unwrap();
    }
    text.push_str("sum++;\n}\nout[0] = s[sum];\n}\nvoid launch(int *out) {\n");
    for n in 0..7 {
        writeln!(text, "k<{n}><<<1, 32>>>(out);").unwrap();
    }
    text.push_str("}\n");
    let found = verdicts(&text);
    for n in 0..7 {
        let kernel = format!("k<{n}>");
        let of_kernel: Vec<&SiteVerdict> = found.iter().filter(|it| it.kernel == kernel).collect();
        assert!(!of_kernel.is_empty(), "nothing is said of {kernel}");
        let known = n == 0;
        assert!(of_kernel.iter().all(|it| (it.status != Status::Unknown) == known), "{of_kernel:#?}");
    }
    let last = found.iter().filter(|it| it.kernel == "k<6>");
    let reasons: Vec<&str> = last.filter_map(|it| it.reason.as_deref()).collect();
    assert_eq!(reasons, ["this variant was not run: 4 others of the kernel are too long to follow"; 3]);
}

/// A kernel of which a run takes so many rounds, and `count` launches of it.
fn instances(rounds: usize, count: usize) -> String {
    let mut text = format!(
        "template <int N> __global__ void k(int *out) {{\n__shared__ int s[64];\nint at = threadIdx.x;\n\
         for (int i = 0; i < {rounds}; i++) at = (at * 5 + N) % 64;\ns[at] = N;\n}}\nvoid launch(int *out) {{\n"
    );
    for n in 0..count {
        writeln!(text, "k<{n}><<<1, 32>>>(out);").unwrap();
    }
    text + "}\n"
}

#[test]
fn hundreds_of_variants_are_run_that_are_cheap() {
    let found = verdicts(&instances(1, 200));
    assert_eq!(found.len(), 200);
    assert!(found.iter().all(|it| it.status == Status::Exact), "{found:#?}");
}

#[test]
fn variants_that_are_not_cheap_are_left_out_and_not_silent() {
    let all = |count: usize| verdicts(&instances(1000, count));
    let first = all(16);
    assert!(first.iter().all(|it| it.status == Status::Exact), "{first:#?}");
    let found = all(300);
    let is_unknown = |it: &&SiteVerdict| it.status == Status::Unknown;
    let unknown: Vec<&SiteVerdict> = found.iter().filter(is_unknown).collect();
    let run = found.len() - unknown.len();
    assert!((17..200).contains(&run), "{run} were run");
    let reasons: Vec<&str> = unknown.iter().filter_map(|it| it.reason.as_deref()).collect();
    let left = 300 - run;
    assert_eq!(reasons, [format!("{left} variants, including this one, were not run: {run} others were")]);
    assert_eq!(unknown[0].kernel, format!("k<{run}>"));
    let one_more = all(run + 1);
    let reasons: Vec<&str> = one_more.iter().filter_map(|it| it.reason.as_deref()).collect();
    assert_eq!(reasons, [format!("this variant was not run: {run} others of the kernel were")]);
}

/// What the variants of one kernel take is not missing for the next.
#[test]
fn a_kernel_after_many_variants_is_run_as_if_it_were_alone() {
    let long = "__global__ void long_loop(int *out) {\n__shared__ int t[64];\nint at = threadIdx.x;\n\
                for (int i = 0; i < 1000; i++) at = (at * 3 + 1) % 64;\nt[at] = 1;\n}\n\
                void run_it(int *out) { long_loop<<<1, 32>>>(out); }\n";
    let of = |text: &str| -> Vec<SiteVerdict> {
        verdicts(text).into_iter().filter(|it| it.kernel == "long_loop").collect()
    };
    let (alone, after) = (of(long), of(&(instances(1000, 300) + long)));
    let figures = |found: &[SiteVerdict]| -> Vec<_> {
        found.iter().map(|it| (it.status, it.wavefronts, it.reason.clone())).collect()
    };
    assert_eq!(figures(&alone), figures(&after));
    assert_eq!(alone[0].status, Status::Exact);
}

#[test]
fn rounds_that_a_bound_may_cut_short_are_assumed() {
    let text = "// cudalint: block(32)
__global__ void k(int *out, int n) {
    __shared__ int s[1024];
    for (int size = 1; size < n; size *= 2) s[threadIdx.x * size] = 1;
    out[0] = s[threadIdx.x];
}";
    let found = verdicts(text);
    let (write, read) = (&found[0], &found[1]);
    assert_eq!((write.status, write.worst), (Status::Assumed, Some(32)));
    let assumed = Assumption::RunsOn { variable: "size".into() };
    assert!(write.assumptions.contains(&assumed), "{:?}", write.assumptions);
    assert_eq!(read.status, Status::Exact, "what comes after does not rest on the loop");
}

#[test]
fn the_variants_that_are_run_differ_in_each_argument() {
    let mut text = String::from(
        "template <class T, int N> __global__ void k(T *out) {\n__shared__ T s[64];\nint at = threadIdx.x;\n\
         for (int i = 0; i < 1000; i++) {\nat = (at * 5 + N) % 64;\nat = at ^ at >> 2;\n}\ns[at] = N;\n}\n\
         void launch() {\n",
    );
    let types = ["short", "int", "float", "double"];
    for ty in types {
        for n in 0..14 {
            writeln!(text, "k<{ty}, {n}><<<1, 32>>>(({ty} *)0);").unwrap();
        }
    }
    let found = verdicts(&(text + "}\n"));
    let run: Vec<&SiteVerdict> = found.iter().filter(|it| it.status == Status::Exact).collect();
    // In the order of the text, two of the types would have come.
    assert!((16..42).contains(&run.len()), "{} were run", run.len());
    assert!((0..14).all(|n| run.iter().any(|it| it.kernel.ends_with(&format!(", {n}>")))), "{run:#?}");
    assert!(types.iter().all(|ty| run.iter().any(|it| it.kernel.contains(ty))));
}
