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

#[test]
fn variants_beyond_the_most_that_are_run_are_not_silent() {
    let all = |count: usize| {
        let mut text = String::from(
            "template <int N> __global__ void k(int *out) {\n__shared__ int s[64];\ns[threadIdx.x] = N;\n}\nvoid launch(int *out) {\n",
        );
        for n in 0..count {
            writeln!(text, "k<{n}><<<1, 32>>>(out);").unwrap();
        }
        verdicts(&(text + "}\n"))
    };
    assert!(all(16).iter().all(|it| it.status == Status::Exact));
    let one_more = all(17);
    let unknown: Vec<&SiteVerdict> = one_more.iter().filter(|it| it.status == Status::Unknown).collect();
    assert_eq!((one_more.len(), unknown.len()), (17, 1));
    assert_eq!(unknown[0].kernel, "k<16>");
    assert_eq!(unknown[0].reason.as_deref(), Some("this variant was not run: 16 others of the kernel were"));
    let many = all(20);
    let reasons: Vec<&str> = many.iter().filter_map(|it| it.reason.as_deref()).collect();
    assert_eq!(reasons, ["4 variants, including this one, were not run: 16 others were"]);
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
        "template <class T, int N> __global__ void k(T *out) {\n__shared__ T s[64];\ns[threadIdx.x] = N;\n}\nvoid launch(float *f, double *d) {\n",
    );
    for (ty, out) in [("float", "f"), ("double", "d")] {
        for n in 0..12 {
            writeln!(text, "k<{ty}, {n}><<<1, 32>>>({out});").unwrap();
        }
    }
    let found = verdicts(&(text + "}\n"));
    let run: Vec<&SiteVerdict> = found.iter().filter(|it| it.status == Status::Exact).collect();
    assert_eq!(run.len(), 16);
    assert!((0..12).all(|n| run.iter().any(|it| it.kernel.ends_with(&format!(", {n}>")))), "{run:#?}");
    assert!(["float", "double"].iter().all(|ty| run.iter().any(|it| it.kernel.contains(ty))));
}
