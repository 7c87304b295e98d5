//! Does the program come to an end, in bounded memory and with an answer, whatever it is given?
//!
//! Every test writes one file, runs the program on it with a limit on time and memory, and asks
//! that it end by itself: with findings, without, or with a clear message. Run times here are those
//! of an unoptimised build, so the limits are generous.

use crate::support::bounded::{TIME, WITNESS, deep, has_witness, kernel, nested, run, run_bytes};
use assert_cmd::Command;
use std::fmt::Write;

#[test]
fn deep_parentheses() {
    run(&nested("(", "1", ")"));
}

#[test]
fn deep_unary_operators() {
    run(&nested("-", "n", ""));
    run(&nested("!", "n", ""));
    run(&nested("*&", "n", ""));
}

#[test]
fn deep_operators() {
    run(&nested("1 + ", "n", ""));
    run(&nested("n ? 1 : ", "n", ""));
    run(&nested("n = ", "n", ""));
    run(&nested("(int)", "n", ""));
}

#[test]
fn deep_subscripts_and_calls() {
    run(&nested("s[", "0", "]"));
    run(&nested("f(", "0", ")"));
    run(&nested("p", "[0]", "[0]"));
    run(&nested("a.", "b", ""));
}

#[test]
fn deep_braces() {
    run(&kernel(&format!("{}s[0] = 1;{}", "{".repeat(deep()), "}".repeat(deep()))));
    run(&nested("{", "1", "}"));
    run(&format!("{}{}{WITNESS}", "namespace a {".repeat(deep()), "}".repeat(deep())));
    run(&format!("{}{}{WITNESS}", "struct a {".repeat(deep()), "};".repeat(deep())));
}

#[test]
fn deep_brackets() {
    run(&kernel(&format!("int a{};", "[2]".repeat(deep()))));
    run(&kernel(&format!("int {}a;", "*".repeat(deep()))));
}

#[test]
fn deep_templates() {
    run(&kernel(&format!("{}int{} v;", "a<".repeat(deep()), ">".repeat(deep()))));
    run(&format!("{}void f() {{}}{WITNESS}", "template <class T> ".repeat(deep())));
    run(&format!("{}class T{} void f() {{}}{WITNESS}", "template <".repeat(deep()), ">".repeat(deep())));
}

#[test]
fn deep_statements() {
    run(&kernel(&format!("{} s[0] = 1;", "if (n)".repeat(deep()))));
    run(&kernel(&"if (n) s[0] = 1; else ".repeat(deep())));
    run(&kernel(&format!("{} s[0] = 1;", "for (int i = 0; i < n; i++)".repeat(deep()))));
    run(&kernel(&format!("{} s[0] = 1;", "while (n)".repeat(deep()))));
    run(&kernel(&format!("{} s[0] = 1;", "switch (n) case 1:".repeat(deep()))));
}

#[test]
fn loops_in_loops() {
    let depth = 24;
    let mut body = String::new();
    for at in 0..depth {
        writeln!(body, "for (int i{at} = 0; i{at} < n + {at}; i{at}++) {{ s[i{at} & 7] += i{at};").unwrap();
    }
    body.push_str(&"}".repeat(depth));
    assert!(has_witness(&run(&kernel(&body))));
}

#[test]
fn conditions_in_conditions() {
    let depth = 24;
    let mut body = String::new();
    for at in 0..depth {
        writeln!(body, "if (p[{at}] > threadIdx.x) {{ s[threadIdx.x] += {at}; }} else {{ n += {at}; }}")
            .unwrap();
    }
    assert!(has_witness(&run(&kernel(&body))));
    let open: String = (0..depth).map(|at| format!("if (p[{at}]) {{ n++; ")).collect();
    let close = "} else { s[n] = 2; }".repeat(depth);
    assert!(has_witness(&run(&kernel(&format!("{open} s[0] = 1; {close}")))));
}

#[test]
fn deep_preprocessor() {
    run(&format!("{}int x;\n{}{WITNESS}", "#if 1\n".repeat(deep()), "#endif\n".repeat(deep())));
    run(&format!("{}int x;\n{}{WITNESS}", "#ifdef A\n".repeat(deep()), "#endif\n".repeat(deep())));
    run(&format!("{}{WITNESS}", "#if 1\n".repeat(deep())));
    run(&format!("#if {}1{}\n#endif\n{WITNESS}", "(".repeat(deep()), ")".repeat(deep())));
    run(&format!("#if {}1\n#endif\n{WITNESS}", "!".repeat(deep())));
    run(&format!("#if 1\n{}#endif\n{WITNESS}", "#elif 1\n".repeat(deep())));
}

#[test]
fn a_macro_of_macros_grows_without_end() {
    let mut text = String::from("#define A0 1 + 1\n");
    for at in 1..60 {
        writeln!(text, "#define A{at} A{} + A{}", at - 1, at - 1).unwrap();
    }
    run(&format!("{text}{}", kernel("s[A59] = 1;")));
}

#[test]
fn a_million_macros() {
    let mut text = String::new();
    for at in 0..1_000_000 {
        writeln!(text, "#define M{at} {at}").unwrap();
    }
    let ran = run(&format!("{text}{}", kernel("s[M7] = M999999;")));
    assert!(has_witness(&ran));
}

#[test]
fn a_long_line() {
    let ran = run(&format!("// {}{WITNESS}", "x".repeat(50 << 20)));
    assert!(has_witness(&ran));
    run(&kernel(&format!("int v = {}1;", "1 + ".repeat(1 << 20))));
}

#[test]
fn a_file_that_is_too_large() {
    let root = tempfile::tempdir().unwrap();
    let file = std::fs::File::create(root.path().join("a.cu")).unwrap();
    file.set_len(200 << 20).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_cudalint"));
    let output = command.current_dir(root.path()).arg("a.cu").timeout(TIME).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("`a.cu` is larger than 64 MiB"), "{stderr}");
}

#[test]
fn headers_that_include_themselves() {
    let root = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(root.path().join(name), text).unwrap();
    write("a.cuh", "#include \"a.cuh\"\n#include \"b.cuh\"\n__device__ int fa() { return 1; }\n");
    write("b.cuh", "#include \"a.cuh\"\n#include \"c.cu\"\n__device__ int fb() { return fa(); }\n");
    write("c.cu", &format!("#include \"b.cuh\"\n#include \"c.cu\"\n{WITNESS}"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_cudalint"));
    let output = command.current_dir(root.path()).args(["accesses", "."]).timeout(TIME).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).contains("seen"));
}

#[test]
fn bytes_that_are_no_text() {
    let witness = WITNESS.as_bytes();
    let with = |before: &[u8]| [before, witness].concat();
    assert!(has_witness(&run_bytes("accesses", &with(b"\xef\xbb\xbf"))));
    assert!(has_witness(&run_bytes("accesses", &with(b"// caf\xe9 \xff\xfe\n"))));
    assert!(has_witness(&run_bytes("accesses", WITNESS.replace('\n', "\r\n").as_bytes())));
    run_bytes("accesses", &with(b"\0\0\0int x;\0\n"));
    run_bytes("accesses", WITNESS.replace(' ', "\0").as_bytes());
    run_bytes("accesses", WITNESS.replace('\n', "\r").as_bytes());
    let every: Vec<u8> = (0..=255u8).cycle().take(100_000).chain(witness.iter().copied()).collect();
    run_bytes("accesses", &every);
}

#[test]
fn text_that_does_not_end() {
    for start in [
        "/*",
        "\"",
        "'",
        "R\"(",
        "R\"",
        "#",
        "#define",
        "#define A(",
        "#if",
        "#if (",
        "#include",
        "#include \"",
        "#include <",
        "\\",
        "__global__",
        "__global__ void k(",
        "template <",
        "int a[",
        "a<<<",
        "a<<<1,",
        "asm(\"",
        "asm volatile(",
        "//",
        "struct {",
        "enum {",
        "namespace",
        "[[",
        "__launch_bounds__(",
        "0x",
        "1e",
        "??",
        "L\"",
        "''",
        "#pragma unroll (",
        "// cudalint:",
        "// cudalint: block(",
    ] {
        run_bytes("check", start.as_bytes());
        run_bytes("check", format!("{WITNESS}{start}").as_bytes());
        run_bytes("check", format!("{start}{WITNESS}").as_bytes());
    }
}

#[test]
fn a_text_cut_anywhere() {
    let text = "#define N 32\ntemplate <int B> __global__ void __launch_bounds__(256) k(float *p) {\n\
        extern __shared__ float s[];\nfor (int i = 0; i < N; i++) { s[threadIdx.x * B + i] = p[i]; }\n\
        __syncthreads();\nif (threadIdx.x < 16) asm volatile(\"bar.sync 0;\" ::: \"memory\");\n}\n\
        void f(float *p) { k<33><<<dim3(1, 2), 256, 4096>>>(p); }\n";
    let root = tempfile::tempdir().unwrap();
    for end in 0..=text.len() {
        std::fs::write(root.path().join(format!("{end}.cu")), &text[..end]).unwrap();
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_cudalint"));
    let output = command.current_dir(root.path()).args(["check", "."]).timeout(TIME).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 1)), "{stderr}");
    assert!(!stderr.contains("internal error"), "{stderr}");
}

#[test]
fn arithmetic_at_its_limits() {
    for expression in [
        "1 / 0",
        "1 % 0",
        "threadIdx.x / 0",
        "threadIdx.x % 0",
        "n / 0",
        "1 << 64",
        "1 << 65",
        "1 >> 200",
        "threadIdx.x << 64",
        "threadIdx.x << -1",
        "1ull << 63",
        "-2147483648 / -1",
        "(-2147483647 - 1) / -1",
        "(-9223372036854775807ll - 1) / -1",
        "(-9223372036854775807ll - 1) % -1",
        "-(-9223372036854775807ll - 1)",
        "9223372036854775807ll + 1",
        "9223372036854775807ll * 9223372036854775807ll",
        "18446744073709551616",
        "999999999999999999999999999999999999",
        "1e400",
        "0x1p9999",
        "(int)1e300",
        "(int)(0.0 / 0.0)",
        "threadIdx.x * 9223372036854775807ll",
        "(long long)threadIdx.x << 62",
        "n * n * n * n * n * n * n * n",
        "~0ull >> 1",
        "threadIdx.x - 18446744073709551615ull",
        "1 / (threadIdx.x - threadIdx.x)",
        "threadIdx.x / (threadIdx.x - 3)",
        "n / (n - n)",
        "n % (threadIdx.x & 3)",
        "'\\777'",
        "sizeof(void)",
        "sizeof(int[1ull << 62])",
        "n << threadIdx.x",
        "threadIdx.x >> n",
        "abs(-2147483647 - 1)",
        "min(n, 9223372036854775807ll)",
    ] {
        let ran = run(&kernel(&format!("s[{expression}] = 1; int a = {expression}; s[a] = 2;")));
        assert!(has_witness(&ran), "{expression}: {}", ran.stderr);
    }
}

#[test]
fn sizes_at_their_limits() {
    for declaration in [
        "__shared__ int a[1ull << 62];",
        "__shared__ int a[1ull << 62][1ull << 62];",
        "__shared__ int a[-1];",
        "__shared__ int a[0];",
        "__shared__ int a[1 / 0];",
        "__shared__ int a[];",
        "__shared__ int a[n];",
        "__shared__ struct { char c[1ull << 63]; double d; } a[1ull << 40];",
        "__shared__ int a[2147483647][2147483647][2147483647];",
        "__shared__ a;",
        "__shared__;",
        "int a[1ull << 62];",
        "int a[100000000]; for (int i = 0; i < 100000000; i++) a[i] = i;",
    ] {
        let ran = run(&kernel(&format!("{declaration} a[threadIdx.x] = 1; a[1][2] = 3;")));
        assert!(has_witness(&ran), "{declaration}: {}", ran.stderr);
    }
    let alone = "__global__ void k() { __shared__ char a[4294967295][32]; a[threadIdx.y][threadIdx.x] = 1; }";
    assert!(!run(alone).stderr.contains("panicked"));
    let own = "struct T { T a; T b[4]; int c; };\nstruct U { struct V v; }; struct V { U u; };\n";
    let text =
        format!("{own}{}", kernel("__shared__ T t[4]; __shared__ U u; t[threadIdx.x].a.a.c = 1; u.v.u;"));
    assert!(has_witness(&run(&text)));
}

#[test]
fn blocks_at_their_limits() {
    for block in [
        "0",
        "-1",
        "1025",
        "4294967296",
        "dim3(1024, 1024, 1024)",
        "dim3(0, 0, 0)",
        "dim3(1, 1, 65)",
        "dim3(4294967295, 4294967295, 4294967295)",
        "1 / 0",
        "dim3()",
        "dim3(1024, 1, 1)",
    ] {
        let launch = format!("void go(int *p) {{ k<<<1, {block}>>>(p, 1); }}\n");
        let ran = run(&format!("{}{launch}", kernel("s[threadIdx.x * 32] = 1;")));
        assert!(has_witness(&ran), "{block}: {}", ran.stderr);
    }
}

#[test]
fn loops_without_end() {
    for (begin, end) in [
        ("while (true) {", "}"),
        ("for (;;) {", "}"),
        ("do {", "} while (1);"),
        ("for (int i = 0; i < 10; i--) {", "}"),
        ("for (unsigned i = 10; i >= 0; i--) {", "}"),
        ("for (int i = 0; i != 7; i += 2) {", "}"),
        ("for (long long i = 0; i < 9223372036854775807ll; i++) {", "}"),
        ("for (int i = 0; i < 2147483647; i += 1) {", "}"),
        ("for (int i = threadIdx.x; ; i += 32) {", "}"),
        ("while (p[n]) {", "n = p[n]; }"),
        ("for (int i = 1; i < n; i *= 3) {", "}"),
        ("again: {", "} goto again;"),
        ("while (atomicAdd(p, 1)) {", "__syncthreads(); }"),
    ] {
        let body = format!("{begin} s[threadIdx.x] += 1; n++; {end}");
        let nest = format!("{begin} {begin} {begin} s[threadIdx.x] += n; {end} {end} {end}");
        for body in [body, nest] {
            let ran = run(&kernel(&body));
            assert!(has_witness(&ran), "{body}: {}", ran.stderr);
        }
    }
}

#[test]
fn recursion_without_end() {
    for functions in [
        "__device__ int f(int n) { return n ? f(n - 1) + f(n + 1) : 0; }",
        "__device__ int g(int n); __device__ int f(int n) { return g(n) + g(n); } __device__ int g(int n) { return f(n) + f(n); }",
        "template <int N> __device__ int t(int n) { return t<N + 1>(n) + t<N - 1>(n); } __device__ int f(int n) { return t<0>(n); }",
        "template <class T> struct W { T t; }; template <class T> __device__ int t(T v) { W<T> w; return t(w) + t(w); } __device__ int f(int n) { return t(n); }",
        "template <int N> struct S { static const int v = S<N + 1>::v + S<N + 2>::v; }; __device__ int f(int n) { return S<0>::v; }",
        "template <class T> struct S { S<S<T>> next; }; __device__ int f(int n) { S<int> s; return sizeof(s); }",
        "using A = B; using B = A; __device__ int f(int n) { A a; return sizeof(A); }",
        "const int a = b + b; const int b = a + a; __device__ int f(int n) { return a; }",
        "__device__ int f(int n) { auto g = [&](auto h, int i) { return h(h, i) + h(h, i); }; return g(g, n); }",
        "struct F { __device__ int operator()(int n) { F f; return f(n) + (*this)(n); } }; __device__ int f(int n) { F f; return f(n); }",
        "__device__ int f(int n) { int r = 0; for (int i = 0; i < n; i++) r += f(i) + f(r); return r; }",
    ] {
        let ran = run(&format!("{functions}\n{}", kernel("s[f(threadIdx.x)] = f(n);")));
        assert!(has_witness(&ran), "{functions}: {}", ran.stderr);
    }
    let host = "void h(int n) { h(n + 1); h(n + 2); witness<<<1, n>>>(0); for (;;) h(n); }\n";
    assert!(has_witness(&run(&format!("{WITNESS}{host}"))));
    let kernels =
        "__global__ void r(int *p) { __shared__ int s[32]; s[threadIdx.x] = 1; r<<<1, 32>>>(p); }\n";
    assert!(has_witness(&run(&format!("{WITNESS}{kernels}"))));
}

#[test]
fn a_doubling_chain_of_calls() {
    let mut text = String::from("__device__ int f0(int n) { return n; }\n");
    for at in 1..40 {
        writeln!(text, "__device__ int f{at}(int n) {{ return f{}(n) + f{}(n + 1); }}", at - 1, at - 1)
            .unwrap();
    }
    assert!(has_witness(&run(&format!("{text}{}", kernel("s[f39(threadIdx.x)] = 1;")))));
}

#[test]
fn a_thousand_kernels() {
    let mut text = String::new();
    for at in 0..1000 {
        writeln!(
            text,
            "__global__ void k{at}(int *p, int n) {{ __shared__ int t[32][32]; t[threadIdx.x][{}] = n; \
             __syncthreads(); p[0] = t[0][threadIdx.x]; }}",
            at % 32
        )
        .unwrap();
    }
    let ran = run(&format!("{text}{WITNESS}"));
    assert!(has_witness(&ran) && ran.code == 0, "{}", ran.stderr);
}

#[test]
fn ten_thousand_launches() {
    let mut text = String::from(WITNESS);
    text.push_str(
        "template <int N> __global__ void k(int *p) { __shared__ int t[N]; t[threadIdx.x * 2 % N] = 1; }\n",
    );
    text.push_str("void all(int *p) {\n");
    for at in 0..10_000 {
        writeln!(text, "k<{}><<<{at}, {}>>>(p);", at % 700 + 1, at % 1024 + 1).unwrap();
    }
    text.push_str("}\n");
    assert!(has_witness(&run(&text)));
}

#[test]
fn a_thousand_template_parameters() {
    let list = |each: &dyn Fn(usize) -> String| (0..1000).map(each).collect::<Vec<_>>().join(", ");
    let text = format!(
        "template <{}> __global__ void k(int *p) {{ __shared__ int s[64]; s[threadIdx.x * T7 % 64] = T999; }}\n\
         void go(int *p) {{ k<{}><<<1, 64>>>(p); }}\n{WITNESS}",
        list(&|at| format!("int T{at}")),
        list(&|at| at.to_string()),
    );
    assert!(has_witness(&run(&text)));
}

#[test]
fn a_large_block_with_much_to_do() {
    let mut body = String::from(
        "for (int i = 0; i < 64; i++) for (int j = 0; j < 64; j++) for (int k = 0; k < 64; k++) {\n",
    );
    for at in 0..100 {
        writeln!(
            body,
            "s[(threadIdx.x * {} ^ (i + j * {at} + k)) & 1023] += s[(threadIdx.x >> {}) + k];",
            at + 1,
            at % 9
        )
        .unwrap();
    }
    body.push('}');
    let launch = "void go(int *p) { k<<<1, 1024>>>(p, 1); }\n";
    assert!(has_witness(&run(&format!("{}{launch}", kernel(&body)))));
}
