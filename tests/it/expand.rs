//! Macros, conditionals and headers mean what they mean to a compiler.

use cudalint::preproc::{Defines, Expanded, HeaderCache, Includes, NoIncludes, expand, expand_cached};
use cudalint::source::{SourceFile, Sources};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

/// Files that exist only here.
struct Files {
    headers: BTreeMap<String, Arc<SourceFile>>,
}

impl Includes for Files {
    fn open(&self, _: &SourceFile, spec: &str, _: bool) -> Option<Arc<SourceFile>> {
        self.headers.get(spec).cloned()
    }
}

fn with_headers(text: &str, headers: &[(&str, &str)]) -> Expanded {
    let sources = Sources::default();
    let add = |name: &str, text: &str| sources.add(Path::new(name), text.as_bytes().to_vec());
    let main = add("main.cu", text);
    let headers = headers.iter().map(|(name, text)| ((*name).to_owned(), add(name, text))).collect();
    expand(&main, &Defines::default(), &Files { headers })
}

fn expand_text(text: &str) -> Expanded {
    with_headers(text, &[])
}

/// The expanded text with its white space squeezed.
fn squeezed(expanded: &Expanded) -> String {
    expanded.text().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn becomes(text: &str, expected: &str) {
    assert_eq!(squeezed(&expand_text(text)), expected, "from {text}");
}

#[test]
fn text_that_needs_no_change_is_not_copied() {
    let expanded = expand_text("__global__ void k(int* a) { a[0] = 1; } // #if\n");
    assert!(expanded.text.is_none() && expanded.map.segments.is_empty());
}

#[test]
fn object_like_macros() {
    becomes("#define N 32\nint a[N][N + 1];", "int a[32][32 + 1];");
    becomes("#define EMPTY\nint EMPTY a;", "int a;");
    becomes(
        "int a = N;\n#define N 1\nint b = N;\n#undef N\nint c = N;\n",
        "int a = N; int b = 1; int c = N;",
    );
    becomes(
        "#define N 1\n#define N 2\nint a = N; // N\nconst char* s = \"N\";",
        "int a = 2; // N const char* s = \"N\";",
    );
    becomes("#define LONG 1 + \\\n 2\nint a = LONG;", "int a = 1 + 2;");
}

#[test]
fn function_like_macros() {
    becomes("#define SQ(x) ((x) * (x))\nint a = SQ(SQ(2));", "int a = ((((2) * (2))) * (((2) * (2))));");
    becomes("#define F(x) x\nint a = F;\nint b = F (3);", "int a = F; int b = 3;");
    becomes("#define F() 7\nint a = F() + F( );", "int a = 7 + 7;");
    becomes("#define ADD(a, b) a + b\nint c = ADD((1, 2), f(3, 4));", "int c = (1, 2) + f(3, 4);");
    becomes("#define ID(x) x\nint c = ID(\n  1 + // one\n  2\n);", "int c = 1 + 2;");
    // The comma inside `<...>` separates arguments, as in C; a wrong count leaves the use alone.
    becomes("#define ONE(t) t\nONE(Pair<int, 2>) p;", "ONE(Pair<int, 2>) p;");
    becomes("#define ANY(...) __VA_ARGS__\nANY(Pair<int, 2>) p;", "Pair<int, 2> p;");
    becomes("#define CALL g\n#define g(x) <x>\nCALL(3);", "<3>;");
    becomes("#define G(x) x + F\n#define F(x) 2 * x\nint a = G(1)(9);", "int a = 1 + 2 * 9;");
}

#[test]
fn stringizing_and_pasting() {
    becomes("#define S(x) #x\nauto a = S( a  \"b\\n\" c );", r#"auto a = "a \"b\\n\" c";"#);
    becomes("#define CAT(a, b) a##b\nint CAT(x, 1) = CAT(0x, ff);", "int x1 = 0xff;");
    becomes("#define CAT(a, b) a##b\n#define X 5\nint a = CAT(X, 1), b = CAT(, X);", "int a = X1, b = 5;");
    becomes("#define CAT(a, b) a##b\n#define XCAT(a, b) CAT(a, b)\n#define P q\nint XCAT(P, P);", "int qq;");
    becomes("#define SHL(a) a < ## < 2\nint a = SHL(1);", "int a = 1 << 2;");
    becomes("#define L(g, b) <<<g, b>>>\nk L(1, 2)(a);", "k <<<1, 2>>>(a);");
}

#[test]
fn variadic_macros() {
    becomes("#define P(f, ...) printf(f, __VA_ARGS__)\nP(\"a\", 1, (2, 3));", "printf(\"a\", 1, (2, 3));");
    becomes(
        "#define P(f, ...) printf(f, ##__VA_ARGS__)\nP(\"a\"); P(\"a\", 1);",
        "printf(\"a\"); printf(\"a\",1);",
    );
    becomes("#define P(f, a...) printf(f, a)\nP(1, 2, 3);", "printf(1, 2, 3);");
    becomes(
        "#define P(f, ...) printf(f __VA_OPT__(, (0)) __VA_ARGS__)\nP(1); P(1, 2);",
        "printf(1); printf(1, (0) 2);",
    );
    becomes("#define ALL(...) f(__VA_ARGS__)\nALL(); ALL(1, 2);", "f(); f(1, 2);");
}

#[test]
fn a_macro_is_not_expanded_inside_itself() {
    becomes("#define A A + 1\nint a = A;", "int a = A + 1;");
    becomes("#define A B\n#define B A\nint a = A + B;", "int a = A + B;");
    becomes("#define F(x) F(x - 1) * x\nint a = F(3);", "int a = F(3 - 1) * 3;");
    becomes("#define F(x) x\nint a = F(F)(1);", "int a = F(1);");
}

#[test]
fn tokens_do_not_grow_together() {
    becomes("#define NEG -1\nint a = -NEG;\n#define E\nint b = 1 -E- 2;", "int a = - -1; int b = 1 - - 2;");
    becomes("#define T int\nT a;T/**/b;", "int a;int/**/b;");
}

#[test]
fn cuda_owns_its_words() {
    becomes("#define __shared__\n__shared__ float s[3];", "__shared__ float s[3];");
    becomes(
        "#if !OTHER\n#define __syncthreads() nop()\n#define threadIdx t\n#endif\n__syncthreads(); threadIdx.x;",
        "__syncthreads(); threadIdx.x;",
    );
    becomes(
        "#ifdef OTHER\n#else\n#define __syncthreads() nop()\n#endif\n__syncthreads();",
        "__syncthreads();",
    );
    // Where the file says so under no condition, or one that always holds, every compiler takes it.
    for around in ["#if 1", "#ifdef __CUDACC__", "#ifndef FILE_CU\n#define FILE_CU"] {
        becomes(&format!("{around}\n#define __syncthreads() nop()\n__syncthreads();\n#endif"), "nop();");
    }
    becomes(
        "#define __syncthreads() nop()\n#define warpSize 64\n__syncthreads(); warpSize;\n#undef warpSize\nwarpSize;",
        "nop(); 64; warpSize;",
    );
}

#[test]
fn conditionals_choose_one_branch() {
    let choose = |condition: &str| {
        squeezed(&expand_text(&format!(
            "#define FOUR 4\n#define F(x) (x + 1)\n{condition}\nyes\n#else\nno\n#endif\n"
        )))
    };
    let yes = [
        "#if 1",
        "#ifdef FOUR",
        "#ifndef OTHER",
        "#if defined FOUR && !defined(OTHER)",
        "#if OTHER == 0",
        "#if F(FOUR) == 5 && F ( 1 ) == 2",
        "#if (1 << 4 | 1) == 0x11 && 7 % 4 == 3 && -7 / 2 == -3",
        "#if 1 ? FOUR > 3 : 0",
        "#if __CUDA_ARCH__ >= 800 && defined(__CUDACC__)",
        "#if __cplusplus >= 2017'00L && 'a' == 97",
        "#if 1 || 1 / 0",
        "#if !__has_include(<nowhere.h>) && !__has_builtin(__x(y))",
        "#if not 0 and 1",
        "#if 0xffffffffffffffff + 1 == 0",
        "#if 0\nno\n#elif FOUR == 4",
        "#if 0\n#elifdef FOUR",
        "#if 0 // no\n#elif /* c */ 1 \\\n + 0",
    ];
    for condition in yes {
        assert_eq!(choose(condition), "yes", "{condition}");
    }
    let no = [
        "#if 0",
        "#ifdef OTHER",
        "#if 1 / 0",
        "#if 1 % 0 == 0",
        "#if",
        "#if 1 +",
        "#if (1",
        "#if 1 2",
        "#if 0 && 1 / 0",
        "#if \"a\"",
        "#if OTHER(1)",
    ];
    for condition in no {
        assert_eq!(choose(condition), "no", "{condition}");
    }
    becomes(
        "#if 0\n#if 1\na\n#else\nb\n#endif\n#elif 1\n#ifdef X\nc\n#else\nd\n#endif\n#elif 1\ne\n#else\nf\n#endif\ng",
        "d g",
    );
    becomes("#endif\n#else\na\n#elif 1\nb", "a b");
}

#[test]
fn what_is_not_closed_ends_somewhere() {
    becomes("a\n#if 0\nb", "a");
    becomes("a\n#if 1\nb\n#else\nc", "a b");
    becomes("a /* b", "a");
    becomes("char* a = \"b\nint c;", "char* a = \"b int c;");
    becomes("#define F(x) x\nF(1, (2", "F(1, (2");
    becomes("#define F(x\nint a = F(1)", "int a = F(1)");
    becomes("#define\n#\n#define 3\na", "a");
}

#[test]
fn blanking_keeps_every_position() {
    let text = "#define A 1 // é\r\nint b;\r\n#if 0\r\nß\r\n#endif\r\nint c;";
    let expanded = expand_text(text);
    assert_eq!(expanded.text().len(), text.len());
    for word in ["int b;", "int c;"] {
        assert_eq!(expanded.text().find(word), text.find(word));
    }
    let lines = |text: &str| text.match_indices('\n').map(|(at, _)| at).collect::<Vec<_>>();
    assert_eq!(lines(expanded.text()), lines(text));
}

#[test]
fn a_position_leads_back_to_the_use() {
    let text = "#define N 32\n#define AT(a, i) a[(i) * N]\nint x = N; float y = AT(tile, k + 1); z";
    let expanded = expand_text(text);
    let original = |word: &str| {
        let at = expanded.text().find(word).unwrap() as u32;
        let (start, end) = expanded.map.original(at, at + word.len() as u32);
        &text[start as usize..end as usize]
    };
    assert_eq!(original("32;"), "N;");
    assert_eq!(original("* 32"), "AT(tile, k + 1)");
    assert_eq!(original("k + 1"), "k + 1", "an argument is found where it is written");
    assert_eq!(original("z"), "z");
    let at = expanded.text().find("32;").unwrap() as u32;
    let segment = expanded.map.segments.iter().find(|segment| segment.expanded_start == at).unwrap();
    assert_eq!(expanded.file.slice(segment.definition.unwrap()), "#define N 32");
    let verbatim = |word: &str| {
        let at = expanded.text().find(word).unwrap() as u32;
        expanded.map.is_verbatim(at, at + word.len() as u32)
    };
    assert!(verbatim("int x") && verbatim("z"));
    assert!(!verbatim("32;") && !verbatim("k + 1") && !verbatim("= 32"));
}

#[test]
fn headers_contribute_their_macros_in_order() {
    let headers = [
        ("a.h", "#pragma once\n#include \"b.h\"\n#define A (B + 1)\nint not_inlined;\n"),
        ("b.h", "#ifndef B_H\n#define B_H\n#define B 2\n#endif\n"),
        ("x.h", "#ifdef X\n#undef X\n#define Y X_WAS_DEFINED\n#endif\n"),
    ];
    let text = "#define X\n#include \"a.h\"\n#include <a.h>\n#include \"gone.h\"\n#include \"x.h\"\n\
                #define B 9\n#include \"b.h\"\nint a = A; Y;\n#ifdef X\nno\n#endif\n";
    let expanded = with_headers(text, &headers);
    assert_eq!(squeezed(&expanded), "int a = (9 + 1); X_WAS_DEFINED;");
    let names: Vec<_> = expanded.headers.iter().map(|header| header.display_path()).collect();
    assert_eq!(names, ["a.h", "b.h", "x.h"]);
}

#[test]
fn threads_that_share_a_cache_agree() {
    let sources = Sources::default();
    let mut headers = BTreeMap::new();
    for index in 0..40 {
        let text = format!("#pragma once\n#include \"{}.h\"\n#define H{index} {index}\n", (index + 7) % 40);
        let name = format!("{index}.h");
        headers.insert(name.clone(), sources.add(Path::new(&name), text.into_bytes()));
    }
    let files = Files { headers };
    let mains: Vec<_> = (0..64)
        .map(|index| {
            let text = format!("#include \"{}.h\"\nH0 H39 H{index}", index % 40);
            sources.add(Path::new("main.cu"), text.into_bytes())
        })
        .collect();
    let (defines, cache) = (Defines::default(), HeaderCache::default());
    let run = |cache: &HeaderCache| -> Vec<(String, Vec<_>)> {
        let expanded = mains.iter().map(|main| expand_cached(main, &defines, &files, cache));
        expanded.map(|e| (squeezed(&e), e.headers.iter().map(|h| h.display_path()).collect())).collect()
    };
    let alone = run(&HeaderCache::default());
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| run(&cache))).collect();
        for thread in threads {
            assert_eq!(thread.join().unwrap(), alone);
        }
    });
}

#[test]
fn a_macro_can_name_the_header_and_a_header_can_be_asked_for() {
    let headers = [("v2/config.h", "#define WIDTH 64\n")];
    let text =
        "#define CONFIG \"v2/config.h\"\n#if __has_include(\"v2/config.h\")\n#include CONFIG\n#endif\nWIDTH";
    assert_eq!(squeezed(&with_headers(text, &headers)), "64");
}

#[test]
fn the_same_name_means_different_things_at_different_places() {
    let headers = [("set.h", "#undef V\n#define V VALUE\n")];
    let text = "#define VALUE 1\n#include \"set.h\"\nV\n#undef VALUE\n#define VALUE 2\nV\n#undef V\nV";
    assert_eq!(squeezed(&with_headers(text, &headers)), "1 2 V");
}

#[test]
fn cycles_of_headers_end() {
    let headers = [
        ("self.h", "#include \"self.h\"\n#include \"self.h\"\n#define SELF 1\n"),
        ("ping.h", "#include \"pong.h\"\n#define PING 2\n"),
        ("pong.h", "#include \"ping.h\"\n#include \"main.cu\"\n#define PONG 3\n"),
    ];
    let expanded = with_headers("#include \"ping.h\"\nPING PONG\n#include \"self.h\"\n", &headers);
    assert_eq!(squeezed(&expanded), "2 3");
    assert_eq!(expanded.headers.len(), 3);
}

#[test]
fn user_definitions_and_the_target() {
    let text = "#ifdef FAST\nint a[TILE(2)], b = __CUDA_ARCH__;\n#endif\n#ifdef SMUGGLED\nno\n#endif";
    let file = Sources::default().add(Path::new("a.cu"), text.as_bytes().to_vec());
    let defines = Defines::new(750, [("FAST", "1\n#define SMUGGLED"), ("TILE(n)", "n * 8")]);
    let expanded = expand(&file, &defines, &NoIncludes);
    assert_eq!(squeezed(&expanded), "int a[2 * 8], b = 750;");
}

#[test]
fn assertions_stay_calls() {
    becomes("#define ASSERT(c) if (!(c)) abort()\nASSERT(n > 0);", "ASSERT(n > 0);");
}

#[test]
fn masks_keep_what_means_something() {
    let expanded = expand_text(
        "#define W 8\n__global__ void __launch_bounds__(W * 32, 2, 1) k() { __shared__ __align__(2 * W) char s[1]; }\n\
         __global__ void __cluster_dims__(2, 1) j() {}",
    );
    let masked: Vec<_> =
        expanded.masked.iter().map(|mask| (format!("{:?}", mask.kind), mask.args.as_str())).collect();
    let expected = [("LaunchBounds", "8 * 32, 2, 1"), ("Align", "2 * 8"), ("ClusterDims", "2, 1")];
    assert_eq!(masked, expected.map(|(kind, args)| (kind.to_owned(), args)));
    for mask in &expanded.masked {
        assert!(expanded.text()[mask.start as usize..mask.end as usize].trim().is_empty());
    }
}

#[test]
fn ordinary_code_is_not_masked() {
    let text = "\
enum Color {\n  RED\n};\nint list[] = {\n  twice(1)\n};\nFLOAT\narea(int r) { return (int) SIZE; }\n\
struct A {\n  A(int x)\n    : x(x) {}\n  A(const A&);\n  T operator()(int i) const;\n};\n\
void f(FLOAT a, TYPE const* b) {\n  LABEL:\n  FLOAT c = A * B;\n  if (c) { g(); }\n  while (FLAG)\n    h(1);\n\
  x = y\n    + MAX;\n  return MAX;\n}\n\
struct TYPE t;\nauto l = [&](int i) { return i; };\nfor (TYPE i = 0; i < N; next(i)\n) {}\n";
    assert!(expand_text(text).text.is_none(), "{}", expand_text(text).text());
}

#[test]
fn a_million_definitions_take_linear_time() {
    let mut text = String::new();
    for index in 0..1_000_000 {
        let _ = writeln!(text, "#define N{index} {index}");
    }
    text.push_str("N999999 N0");
    becomes(&text, "999999 0");
}

#[test]
fn no_set_of_definitions_is_slow_or_deep() {
    // Doubling bodies, with something and with nothing at the end.
    let mut text = String::from("#define A0 x\n#define B0\n");
    for index in 1..60 {
        let _ = writeln!(text, "#define A{index} A{0} A{0}\n#define B{index} B{0} B{0}", index - 1);
    }
    text.push_str(&"A59 B59\n".repeat(100));
    assert!(expand_text(&text).text().contains("A59"));
    // A long chain, deep nesting, calls that never close, and deep conditions.
    let mut chain = String::from("#define C0 1\n");
    for index in 1..100_000 {
        let _ = writeln!(chain, "#define C{index} C{}", index - 1);
    }
    chain.push_str("int a = C99999;");
    becomes(&chain, "int a = 1;");
    for (open, close) in [("F(", ")"), ("F(", ""), ("(", ")"), ("{[(", ")]}"), ("{[(", "")] {
        let nested = format!("#define F(x) x\n{}{}", open.repeat(100_000), close.repeat(100_000));
        assert!(!expand_text(&nested).text().is_empty());
    }
    for repeated in [
        "__launch_bounds__(",
        "asm(",
        "__attribute__((",
        "DISPATCH(a, ",
        "DISPATCH(a, {",
        "typename A<",
        "A static ",
        ") __device__ ",
        "template <class T = ",
        "enum : ",
        "\"\" A ",
        "/*",
        "R\"(",
        "F(F ",
        "F\n",
    ] {
        let text = format!("#define F(x) x x\n{}", repeated.repeat(100_000));
        assert!(!expand_text(&text).text().is_empty());
    }
    for prefix in ["(", "!", "1 ? ", "- ", "1 || "] {
        becomes(&format!("#if {}1\n#endif\na", prefix.repeat(100_000)), "a");
    }
    becomes(&format!("{}{}a", "#if 1\n".repeat(100_000), "#endif\n".repeat(100_000)), "a");
}

#[test]
fn a_huge_expansion_is_left_alone() {
    let text = format!("#define BIG {}\nint a = BIG;", "1 + ".repeat(20_000));
    becomes(&text, "int a = BIG;");
    let text = format!("#define SOME {}\n{}", "x ".repeat(1000), "SOME\n".repeat(1000));
    let expanded = expand_text(&text);
    assert!(expanded.text().len() <= text.len() * 4 + (64 << 10));
    assert!(expanded.text().contains("SOME") && expanded.text().contains("x x"));
}

#[test]
fn any_bytes_are_survived() {
    let seeds = [
        "#define F(x, ...) x##x #x __VA_ARGS__\n",
        "F(1,2",
        "#if ",
        "R\"(",
        "\"\\",
        "/*",
        "é\\\n",
        "\0",
        "__align__(",
        "DISPATCH(a, b; c)",
        "#include ",
        "'",
        "typename A::",
        "]{})(",
        "struct X Y {",
        "defined(",
        "\r\n",
    ];
    let mut state = 1_u64;
    for _ in 0..2000 {
        let mut text = String::new();
        for _ in 0..12 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            text.push_str(seeds[(state >> 33) as usize % seeds.len()]);
        }
        let expanded = expand_text(&text);
        let end = expanded.text().len() as u32;
        let (_, last) = expanded.map.original(0, end);
        assert!(last as usize <= text.len());
    }
}
