//! Is every kind of work that a text can ask for bounded, and what is beyond the bound told?
//!
//! Each test writes a text whose meaning would take exponentially or endlessly long to find, or one
//! that is merely enormous, and asks for an end within the limits of `support/bounded.rs`: the
//! kernel behind it is still judged.

use crate::support::bounded::{TIME, WITNESS, deep, has_witness, kernel, nested, run, run_in, scaled};
use crate::support::thorough;
use std::fmt::Write;

fn repeated(count: usize, each: impl Fn(usize) -> String) -> String {
    (0..count).map(each).collect()
}

fn assert_judged(text: &str) {
    let ran = run(text);
    assert!(has_witness(&ran), "{}: {}", &text[..text.len().min(300)], ran.stderr);
}

#[test]
fn rarer_expressions_nested() {
    for (open, middle, close) in [
        ("[&]() { return ", "1", "; }()"),
        ("sizeof(", "1", ")"),
        ("1, ", "n", ""),
        ("n && ", "n", ""),
        ("n << ", "n", ""),
        ("n < ", "n", ""),
        ("n += ", "n", ""),
        ("f<<<", "1", ">>>(0)"),
        ("int{", "1", "}"),
        ("static_cast<int>(", "1", ")"),
        ("new int[", "1", "]"),
        ("\"a\" ", "\"b\"", ""),
        ("a->", "b", ""),
        ("a::", "b", ""),
        ("++", "n", ""),
        ("n", "", "++"),
        ("~", "n", ""),
        ("throw ", "n", ""),
        ("(n ? ", "1", " : 2)"),
        ("n ? ", "1", " : 2"),
        ("a.*", "b", ""),
        ("atomicAdd(s, ", "1", ")"),
        ("__ldg(&", "p", ")"),
    ] {
        assert_judged(&nested(open, middle, close));
    }
    run(&nested("decltype(", "1", ")"));
}

#[test]
fn rarer_statements_nested() {
    for (open, close) in [
        ("do ", " while (n);"),
        ("try {", "} catch (...) {}"),
        ("case 1: ", ""),
        ("default: ", ""),
        ("if (n) {", "}"),
        ("for (int i = 0; i < 4; i++) {", "}"),
        ("if (n) {} else {", "}"),
        ("if (n) ; else if (n) ; else ", ""),
        ("if constexpr (n) {", "}"),
        ("auto f = [&]() {", "};"),
        ("struct A {", "};"),
        ("asm volatile(\"a\" : \"=r\"(", "));"),
    ] {
        run(&kernel(&format!("{}s[0] = 1;{}", open.repeat(deep()), close.repeat(deep()))));
    }
    run(&kernel(&format!("{}s[0] = 1;", repeated(deep(), |at| format!("a{at}: ")))));
}

#[test]
fn declarations_nested() {
    for (open, middle, close) in [
        ("extern \"C\" {", "", "}"),
        ("class a {", "", "};"),
        ("enum a {", "", "};"),
        ("void f() {", "", "}"),
        ("void f(", "", ");"),
        ("void (*", "f", ")();"),
        ("template <template <class> ", "class T", "> void f();"),
        ("requires (", "true", ")"),
        ("[[", "a", "]]"),
        ("alignas(", "4", ")"),
        ("__launch_bounds__(", "1", ")"),
        ("using a = b<", "int", ">;"),
        ("struct a : ", "b", " {};"),
    ] {
        run(&format!("{}{middle}{}\n{WITNESS}", open.repeat(deep()), close.repeat(deep())));
    }
}

#[test]
fn macros_that_grow_without_end() {
    let doubling = |define: &dyn Fn(usize) -> String, first: &str, body: &str| {
        format!("{first}\n{}{}", repeated(59, |at| define(at + 1)), kernel(body))
    };
    let of_functions = |at: usize| format!("#define A{at}(x) A{}(x) A{}(x)\n", at - 1, at - 1);
    assert_judged(&doubling(&of_functions, "#define A0(x) x x", "A59(s[0] = 1;)"));
    let of_calls = |at: usize| format!("#define E{at}(...) E{}(E{}(__VA_ARGS__))\n", at - 1, at - 1);
    assert_judged(&doubling(&of_calls, "#define E0(x) x x", "E59(s[0] = 1;)"));
    let in_condition = |at: usize| format!("#define A{at} (A{} + A{})\n", at - 1, at - 1);
    let text = format!("#define A0 1\n{}#if A59\n#endif\n{WITNESS}", repeated(59, |at| in_condition(at + 1)));
    assert_judged(&text);
    for (define, open, middle, close) in [
        ("#define D(x) x x", "D(", "s[0] = 1;", ")"),
        ("#define V(...) __VA_ARGS__, __VA_ARGS__", "V(", "1", ")"),
        ("#define P(a) a##a", "P(", "x", ")"),
        ("#define S(a) #a #a\n#define T(a) S(a)", "T(", "x", ")"),
    ] {
        let (open, close) = (open.repeat(60), close.repeat(60));
        assert_judged(&format!("{define}\n{}", kernel(&format!("{open}{middle}{close};"))));
    }
    let turns =
        "#define V(a, ...) a __VA_OPT__(W(__VA_ARGS__))\n#define W(a, ...) a __VA_OPT__(V(__VA_ARGS__))\n";
    assert_judged(&format!("{turns}{}", kernel(&format!("V({}1);", "1,".repeat(deep())))));
}

#[test]
fn long_chains_of_macros() {
    let objects = repeated(deep(), |at| format!("#define A{} A{at}\n", at + 1));
    assert_judged(&format!("#define A0 1\n{objects}{}", kernel(&format!("s[A{}] = 1;", deep()))));
    let last = scaled(20_000);
    let functions = repeated(last, |at| format!("#define A{}(x) A{at}(x)\n", at + 1));
    assert_judged(&format!("#define A0(x) x\n{functions}{}", kernel(&format!("s[A{last}(1)] = 1;"))));
    let calls = format!("s[{}1{}] = 1;", "F(".repeat(deep()), ")".repeat(deep()));
    assert_judged(&format!("#define F(x) x\n{}", kernel(&calls)));
    let (names, ones) = (repeated(deep(), |at| format!("a{at},")), "1,".repeat(deep()));
    assert_judged(&format!("#define A({names} z) a7\n{}", kernel(&format!("s[A({ones} 1)] = 1;"))));
    assert_judged(&format!(
        "#define X {}1\n{}",
        "1 + ".repeat(2000),
        kernel(&format!("int v; {}", "v = X;".repeat(5000)))
    ));
    assert_judged(&format!(
        "{}{WITNESS}",
        repeated(scaled(300_000), |at| format!("#define A {at}\n#undef A\n"))
    ));
}

#[test]
fn headers_that_multiply() {
    let witness = "int start_of_it;\n";
    let folder = |files: &[(String, String)], main: &str| {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(root.path().join(name), text).unwrap();
        }
        std::fs::write(root.path().join("a.cu"), format!("{main}{witness}{WITNESS}")).unwrap();
        let ran = run_in(root.path(), "accesses a.cu");
        assert!(has_witness(&ran), "{}", ran.stderr);
    };
    let named = |at: usize, text: String| (format!("h{at}.cuh"), text);
    let twice =
        |at: usize| named(at, format!("#include \"h{}.cuh\"\n#include \"h{}.cuh\"\n", at + 1, at + 1));
    folder(&(0..40).map(twice).collect::<Vec<_>>(), "#include \"h0.cuh\"\n");
    let chain = |at: usize| named(at, format!("#pragma once\n#include \"h{}.cuh\"\n", at + 1));
    folder(&(0..scaled(5000)).map(chain).collect::<Vec<_>>(), "#include \"h0.cuh\"\n");
    let many = if thorough() { 500 } else { 100 };
    let around = |at: usize| {
        let (left, right) = ((at * 7 + 1) % many, (at * 13 + 5) % many);
        named(at, format!("#define H{at} {at}\n#include \"h{left}.cuh\"\n#include \"h{right}.cuh\"\n"))
    };
    folder(
        &(0..many).map(around).collect::<Vec<_>>(),
        &repeated(many, |at| format!("#include \"h{at}.cuh\"\n")),
    );
    folder(
        &[("h0.cuh".to_owned(), "#if 1\n#include \"h0.cuh\"\n#endif\n".to_owned())],
        "#include \"h0.cuh\"\n",
    );
    folder(&[], &repeated(deep(), |at| format!("#include \"nothing{at}.cuh\"\n")));
}

/// Headers that all lead to each other: as each is read by itself too, it would be the square, or the
/// third power, of their number. What is beyond the limit is told.
#[test]
fn headers_that_all_include_each_other() {
    let told = |count: usize, includes: &dyn Fn(usize) -> Vec<usize>| {
        let root = tempfile::tempdir().unwrap();
        for at in 0..count {
            let lines = includes(at).into_iter().map(|other| format!("#include \"h{other}.cuh\"\n"));
            let text = format!("#pragma once\n{}#define M{at} {at}\n", lines.collect::<String>());
            std::fs::write(root.path().join(format!("h{at}.cuh")), text).unwrap();
        }
        let kernel = WITNESS.replace("[threadIdx.x][0]", "[threadIdx.x][M1 - 1]");
        std::fs::write(root.path().join("a.cu"), format!("#include \"h0.cuh\"\n{kernel}")).unwrap();
        let ran = run_in(root.path(), "check --format short a.cu");
        assert!(ran.stdout.contains("32-way"), "{}{}", ran.stdout, ran.stderr);
        ran.stderr.contains("than cudalint follows: macros may be missing")
    };
    assert!(!told(60, &|at| (0..60).filter(|other| *other != at).collect()));
    assert!(!told(300, &|at| (0..300).filter(|other| *other != at).collect()));
    // As deep as compilers go, and no deeper.
    assert!(!told(200, &|at| vec![(at + 1) % 200]));
    assert!(told(202, &|at| vec![(at + 1) % 202]));
    // Each leads to all others, in no order.
    told(1000, &|at| (1..10).map(|by| (at * 31 + by * by * 97) % 1000).collect());
}

/// Headers without `#pragma once`, of which each includes all that come after it.
#[test]
fn includes_that_are_too_many_are_told() {
    let root = tempfile::tempdir().unwrap();
    for at in 0..40 {
        let lines = repeated(40 - at - 1, |by| format!("#include \"h{}.cuh\"\n", at + 1 + by));
        std::fs::write(root.path().join(format!("h{at}.cuh")), lines).unwrap();
    }
    std::fs::write(root.path().join("a.cu"), format!("#include \"h0.cuh\"\n{WITNESS}")).unwrap();
    let ran = run_in(root.path(), "accesses a.cu");
    assert!(has_witness(&ran), "{}", ran.stderr);
    assert!(ran.stderr.contains("warning: `a.cu` and "), "{}", ran.stderr);
}

#[test]
fn constants_that_take_for_ever() {
    for functions in [
        "constexpr int f(int n) { while (true) n++; return n; }",
        "constexpr int f(int n) { for (;;) {} return n; }",
        "constexpr int f(int n) { return n + f(n + 1); }",
        "constexpr int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }",
        "constexpr int g(int m, int n) { return m == 0 ? n + 1 : n == 0 ? g(m - 1, 1) : g(m - 1, g(m, n - 1)); }\n\
         constexpr int f(int n) { return g(n, n); }",
        "constexpr int f(int n) { int sum = 0; for (long i = 0; i < 1000000000000; i++) sum += i; return sum; }",
    ] {
        let text = format!(
            "{functions}\nconstexpr int a = f(90);\n__global__ void k(int *p) {{ __shared__ int s[f(80)]; \
             __shared__ int t[64]; s[threadIdx.x * f(70)] = 1; t[threadIdx.x + a] = f(60); }}\n\
             void go(int *p) {{ k<<<f(3), f(50)>>>(p); }}\n{WITNESS}"
        );
        assert_judged(&text);
    }
}

#[test]
fn types_that_grow_without_end() {
    let mutual = "template <int N> struct B; template <int N> struct A { enum { v = B<N + 1>::v + B<N - 1>::v }; };\n\
        template <int N> struct B { enum { v = A<N + 1>::v + A<N - 1>::v }; };\n\
        template <int N> __device__ int h(int n);\n\
        template <int N> __device__ int g(int n) { return h<N + 1>(n) + h<N - 1>(n); }\n\
        template <int N> __device__ int h(int n) { return g<N + 1>(n) + g<N * 2>(n); }\n";
    assert_judged(&format!(
        "{mutual}{}",
        kernel("__shared__ int t[A<0>::v]; t[0] = 1; s[g<0>(threadIdx.x)] = 1;")
    ));
    let pairs = repeated(59, |at| format!("using T{} = P<T{at}, T{at}>;\n", at + 1));
    let uses = "__shared__ T59 t[4]; t[threadIdx.x].a.a.b.a = 1; __shared__ char c[sizeof(T59)]; c[threadIdx.x] = 1;";
    let first = "template <class A, class B> struct P { A a; B b; };\nusing T0 = int;\n";
    assert_judged(&format!("{first}{pairs}{}", kernel(uses)));
    let structs = repeated(69, |at| format!("struct S{} {{ S{at} a, b; }};\n", at + 1));
    let uses = "__shared__ S69 t[4]; t[threadIdx.x].a.a.b.a.a = 1; __shared__ S30 u[1000]; u[threadIdx.x].b.b.a = 1;";
    assert_judged(&format!("struct S0 {{ int a; }};\n{structs}{}", kernel(uses)));
}

#[test]
fn thousands_of_kernels() {
    let text = repeated(scaled(10_000), |at| {
        format!(
            "__global__ void k{at}(int *p, int n) {{ __shared__ int t[32][32]; t[threadIdx.x][{}] = n; \
             __syncthreads(); p[0] = t[0][threadIdx.x]; }}\n",
            at % 32
        )
    });
    assert_judged(&format!("{text}{WITNESS}"));
}

#[test]
fn thousands_of_kernels_with_loops() {
    let text = repeated(scaled(5000), |at| {
        format!(
            "__global__ void k{at}(float *o, int n) {{ __shared__ float s[256];\n\
             for (int j = threadIdx.x; j < n; j += blockDim.x) {{ s[(j * {}) & 255] = o[j]; }}\n\
             __syncthreads();\n\
             for (int i = 0; i < 64; ++i) o[i] += s[(threadIdx.x * 2 + i) & 255]; }}\n",
            at % 7 + 1
        )
    });
    assert_judged(&format!("{text}{WITNESS}"));
}

/// Each is run to the end of its budget, some of them with less.
#[test]
fn kernels_that_are_too_long() {
    let text = repeated(scaled(500), |at| {
        format!(
            "__global__ void k{at}(int *p, int n) {{ __shared__ int s[1024]; int w = threadIdx.x;\n{}}}\n",
            "w = (w ^ n) * (w >> 3); s[w & 1023] = w;\n".repeat(30_000 / 500)
                + &"for (int i = 0; i < 50; ++i) for (int j = 0; j < 50; ++j) s[(w * i * j) & 1023] = n;\n"
                    .repeat(9)
        )
    });
    assert_judged(&format!("{text}{WITNESS}"));
}

#[test]
fn ten_thousand_scenarios_and_what_is_told_of_them() {
    let template = "template <int N> __global__ void k(int *p) { __shared__ int t[N][32]; t[threadIdx.x % N][0] = 1; }\n";
    let launches = |each: &dyn Fn(usize) -> String| {
        format!("{template}void all(int *p, int c) {{\n{}}}\n{WITNESS}", repeated(10_000, each))
    };
    let several = launches(&|at| format!("k<{}><<<1, {}>>>(p);\n", at + 1, at % 1024 + 1));
    let told = run(&several);
    assert!(
        has_witness(&told) && told.stdout.contains("variants, including this one, were not run: "),
        "{}",
        told.stdout
    );
    let switch = launches(&|at| format!("if (c == {at}) k<7><<<1, {}>>>(p);\n", at % 1024 + 1));
    assert_judged(&switch);
    let choices = repeated(10_000, |at| format!("if (p[{at}]) b = {};\n", at % 1024 + 1));
    assert_judged(&format!(
        "{template}void all(int *p) {{ int b = 1;\n{choices}k<32><<<1, b>>>(p); }}\n{WITNESS}"
    ));
}

#[test]
fn very_many_of_everything() {
    for text in [
        "/**/".repeat(scaled(500_000)),
        "//\n".repeat(scaled(500_000)),
        "// cudalint: allow(bank-conflict)\n".repeat(deep()),
        "#\n".repeat(scaled(200_000)),
        ";".repeat(deep()),
        "<".repeat(scaled(200_000)),
        "__global__ ".repeat(deep()),
        "__shared__ ".repeat(deep()),
        "\\".repeat(scaled(500_000)) + "\n",
        ")".repeat(scaled(200_000)),
        "#define A \\\n".to_owned() + &"1 \\\n".repeat(scaled(200_000)),
        format!("#pragma unroll {}\n", "(".repeat(deep())),
        repeated(10_000, |at| format!("__device__ int f(int a{at}, float b) {{ return a{at}; }}\n")),
        format!("struct S {{ {} }};\n", repeated(scaled(50_000), |at| format!("int a{at};"))),
    ] {
        assert_judged(&format!("{text}{WITNESS}"));
    }
    for body in [
        repeated(scaled(20_000), |at| format!("s[(threadIdx.x * {at}) & 1023] = {at};\n")),
        repeated(10_000, |at| format!("__shared__ int t{at}[32];\nt{at}[threadIdx.x] = 1;")),
        format!("int a = threadIdx.x; {} s[a & 1023] = 1;", "a = a * a + n * a;\n".repeat(5000)),
        format!("int {} = 1;", "a".repeat(scaled(8 << 20))),
        format!("s[0] = {};", "9".repeat(scaled(4 << 20))),
        format!("for (int i : {{{}}}) s[i & 1023] = 1;", "n, ".repeat(scaled(20_000))),
        format!(
            "{}s[n & 1023] = 1;{}",
            "for (int i : f([&] { ".repeat(60),
            " return n; })) n += i;".repeat(60)
        ),
        format!("const char *c = \"{}\";", "a".repeat(scaled(20 << 20))),
        "for (int i = 0; i < 1000; i++) for (int j = 0; j < i; j++) for (int k = 0; k < j; k++)\n\
         s[(threadIdx.x ^ i ^ j ^ k) & 1023] += 1;"
            .to_owned(),
    ] {
        assert_judged(&kernel(&body));
    }
}

/// Each is called on what the one before hands back, as bindings to other languages are.
#[test]
fn very_many_calls_in_a_row() {
    let calls = repeated(500, |at| format!(".add(\"f{at}\", &f)"));
    let kernel = "__global__ void k(float *out) {\n    __shared__ float s[64];\n    s[threadIdx.x] = 1;\n}\n";
    let class =
        "struct Module {\n    template <class F> Module &add(const char *, F) { return *this; }\n};\n";
    assert_judged(&format!(
        "{class}int f(int);\nstatic int threads = 64;\n{kernel}void bind(Module &m, float *out) {{\n    m{calls};\n    \
         k<<<1, threads>>>(out);\n}}\n{WITNESS}"
    ));
}

#[test]
fn a_long_chain_of_locals() {
    let mut body = String::from("int a0 = threadIdx.x;\n");
    for at in 0..5000 {
        writeln!(body, "int a{} = a{at} * 3 + n;", at + 1).unwrap();
    }
    assert_judged(&kernel(&format!("{body}s[a5000 & 1023] = 1;")));
}

#[test]
fn numbers_that_are_sums_of_thousands() {
    let body = repeated(scaled(20_000), |at| format!("w += p[{at}];\n"));
    assert_judged(&kernel(&format!("int w = 0; {body} s[w & 1023] = 1;")));
}

#[test]
fn a_class_of_thousands_of_members() {
    let members = repeated(50_000, |at| format!("int m{at};\n"));
    let used = "S v; v.m7 = threadIdx.x; s[v.m7 & 31] = v.m1;";
    assert_judged(&format!("struct S {{\n{members}}};\n{}", kernel(used)));
}

/// A number that is mixed with itself in every iteration: its parts double each time.
#[test]
fn numbers_that_are_mixed_with_themselves() {
    for step in ["w = (w ^ 0x9e3779b9u) ^ (w >> 16);", "w = w / 3 + w % 5;", "w = w * w + (w & n);"] {
        assert_judged(&kernel(&format!("unsigned w = n; {} s[w & 1023] = 1;", step.repeat(32))));
    }
}

#[test]
fn numbers_at_the_ends_of_their_range() {
    for body in [
        "for (int i = 0; i % (n - n) < 4; i++) s[i] = 1;",
        "long long v = threadIdx.x - 0x7fffffffffffffffll - 1; if (v % 0 == n) s[v / -1 & 31] = 1;",
        "if (threadIdx.x * 0x4000000000000000ull != n * 4ull) s[threadIdx.x] = 1;",
    ] {
        assert_judged(&kernel(body));
    }
}

#[test]
fn very_many_threads() {
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("a.cu"), WITNESS).unwrap();
    for (threads, environment) in [(Some("30000"), "1"), (None, "30000")] {
        let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_cudalint"));
        command.args(["accesses", "a.cu"]).args(threads.map(|it| format!("--threads={it}")));
        command.current_dir(root.path()).env("RAYON_NUM_THREADS", environment);
        let output = command.timeout(TIME).output().unwrap();
        assert!(String::from_utf8(output.stdout).unwrap().contains("seen"), "{threads:?}");
    }
}
