use super::lower;
use crate::ir::{self, Function, FunctionKind, Module, Storage, print};
use crate::preproc::{Expanded, MaskKind, Masked};
use crate::source::{FileId, SourceFile};
use crate::syntax::SyntaxTree;
use std::sync::Arc;

mod corpus;

fn file(text: &str) -> Arc<SourceFile> {
    Arc::new(SourceFile::new(FileId(0), "a.cu".into(), text.as_bytes().to_vec()))
}

fn module(text: &str) -> Module {
    lower(&SyntaxTree::parse(Expanded::unchanged(file(text))).unwrap())
}

fn function(text: &str) -> Arc<Function> {
    module(text).functions.first().cloned().unwrap()
}

/// The lowered statements of a kernel template with a body of this text, on one line.
fn body(text: &str) -> String {
    let text = format!(
        "template <class T, int N> __global__ void kernel(float* a, int n, int m, int i, int j) {{\n{text}\n}}"
    );
    let printed = print::body(&function(&text));
    printed.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(body(text), expected, "\nfor {text}");
}

#[test]
fn arrays_nest_outermost_dimension_first() {
    let text = "__global__ void k() { __shared__ float t[BX][BY + 1][2]; }";
    let function = function(text);
    let Some(ir::StmtKind::Declare(declarations)) = function.body.as_ref().map(|body| &body[0].kind) else {
        panic!("no declaration");
    };
    assert_eq!(print::ty(&declarations[0].ty), "float[BX][BY + 1][2]");
    let dimensions: Vec<&str> =
        declarations[0].dimension_spans.iter().map(|span| &text[span.range()]).collect();
    assert_eq!(dimensions, ["BX", "BY + 1", "2"]);
    assert_eq!(&text[declarations[0].name_span.range()], "t");
    assert_eq!(&text[declarations[0].span.range()], "__shared__ float t[BX][BY + 1][2];");
}

#[test]
fn a_missing_dimension_has_an_empty_span_after_the_bracket() {
    let text = "extern __shared__ float4 s[];";
    let module = module(text);
    let variable = &module.variables[0];
    assert_eq!(variable.storage, Storage::DynamicShared);
    let at = text.find('[').unwrap() as u32 + 1;
    let spans: Vec<(u32, u32)> = variable.dimension_spans.iter().map(|span| (span.start, span.end)).collect();
    assert_eq!(spans, [(at, at)]);
}

#[test]
fn a_shift_in_a_comparison_is_no_template() {
    check("int i; if (i < n >> 2 && i < 4) f();", "int i; if ((i < (n >> 2)) && (i < 4)) { f(); }");
    check("int i; f(i < n && i >> 2);", "int i; f((i < n) && (i >> 2));");
    check("int i; f(!(i < n && j >= 0));", "int i; f(!((i < n) && (j >= 0)));");
    check("P p; x = (p.x < w && p.y >= 0);", "P p; x = ((p.x < w) && (p.y >= 0));");
    check("if (threadIdx.x < n + 1 >> k) f();", "if (threadIdx.x < ((n + 1) >> k)) { f(); }");
    check("bool b = limit<3> > 2;", "bool b = limit<3> > 2;");
}

#[test]
fn shared_declarations_of_every_kind() {
    check("__shared__ volatile float s[4], t;", "__shared__ float s[4]; __shared__ float t;");
    check("static __shared__ alignas(16) half h[N];", "__shared__ alignas(16) half h[N];");
    check("extern __shared__ unsigned char s[];", "extern __shared__ unsigned char s[];");
    check("__shared__ typename T::Storage s;", "__shared__ T::Storage s;");
    check(
        "__shared__ typename cub::BlockReduce<float, 128>::TempStorage s;",
        "__shared__ cub::BlockReduce<float, 128>::TempStorage s;",
    );
    check("typedef float Row[33]; __shared__ Row rows[32];", "__shared__ float rows[32][33];");
    check("{ __shared__ int x; x = 1; }", "{ __shared__ int x; x = 1; }");
}

#[test]
fn a_local_record_is_the_modules_under_a_name_of_its_own() {
    let text = "__global__ void k() { __shared__ union { float f[4]; int i; } u; struct S { int x; }; S s; }
                __global__ void l() { struct S { float y; }; S s; }";
    let module = module(text);
    let names: Vec<&str> = module.records.iter().map(|record| &*record.name).collect();
    assert_eq!(names, ["(anonymous union at byte 33)", "k::S", "l::S"]);
    assert!(module.records[0].union);
    assert!(print::body(&module.functions[0]).contains("__shared__ (anonymous union at byte 33) u;"));
    assert!(print::body(&module.functions[1]).contains("l::S s;"));
}

#[test]
fn local_types_see_local_constants() {
    let module = module("__global__ void k() { constexpr int W = 32; struct S { float a[W]; }; }");
    assert_eq!(print::ty(&module.records[0].fields[0].ty), "float[32]");
}

#[test]
fn constructor_syntax_is_a_construct() {
    check("dim3 block(32, 8);", "dim3 block = dim3{32, 8};");
    check(
        "dim3 block(BX, BY), grid(n * m), one(a[3]);",
        "dim3 block = dim3{BX, BY}; dim3 grid = dim3{n * m}; dim3 one = dim3{a[3]};",
    );
    check("T x{n};", "T x = T{n};");
    check("T x = {n};", "T x = {n};");
    check("float f(int); T g();", "");
}

#[test]
fn casts_of_every_spelling() {
    check("m = (int)n;", "m = ((int)n);");
    check("m = (uint)(n);", "m = ((unsigned)n);");
    check("m = (T)(n);", "m = ((T)n);");
    check("m = unsigned(n);", "m = ((unsigned)n);");
    check("m = T(n);", "m = T{n};");
    check("m = static_cast<const float*>(a)[0];", "m = ((float*)a)[0];");
    check("m = (unsigned long long int)n;", "m = ((unsigned long long)n);");
    check("m = (std::uint32_t)(n);", "m = ((unsigned)n);");
    check("m = (from_a_header)(n);", "m = ((from_a_header)n);");
    check("m = (max)(n, m);", "m = max(n, m);");
    check("m = (n)(m);", "m = n(m);");
}

#[test]
fn a_cast_that_another_operator_swallowed() {
    check("m = (size_t)-n * j;", "m = (((unsigned long long)(-n)) * j);");
    check("m = (T)-n * j;", "m = (((T)(-n)) * j);");
    check("m = (T)*a + 1;", "m = (((T)(*a)) + 1);");
    check("m = (uint)(a)[i];", "m = ((unsigned)a[i]);");
    check("m = (n) - 1;", "m = (n - 1);");
    check("m = (n) & 31;", "m = (n & 31);");
    check("m = (N) * 4;", "m = (N * 4);");
}

#[test]
fn a_cast_of_what_is_assigned_to() {
    check("(T&)a[i] = b[i];", "((T&)a[i]) = b[i];");
    check("m = (int&)n += 2;", "m = (((int&)n) += 2);");
    check("(int&)(T&)n = 2;", "((int&)((T&)n)) = 2;");
    check("m = (int)(n = 2);", "m = ((int)(n = 2));");
}

#[test]
fn comparisons_that_parse_as_templates() {
    check("if (i < n && j > (m)) return;", "if ((i < n) && (j > m)) { return; }");
    check("bool b = i < n && j > (m) - 1;", "bool b = (i < n) && (j > (m - 1));");
    check("f(i < n, j > (m));", "f(i < n, j > m);");
    check("f<N>(m);", "f<N>(m);");
}

#[test]
fn products_that_parse_as_declarations() {
    check("n * m;", "n * m;");
    check("T * p;", "T* p;");
    check("float (*rows)[33] = (float (*)[33])a;", "(float[33])* rows = ((float[33])*)a;");
    check("T (*rows)[33] = reinterpret_cast<T (*)[33]>(a);", "(T[33])* rows = ((T[33])*)a;");
}

#[test]
fn sizes_and_types_as_operands() {
    check("m = sizeof(T) * n;", "m = (sizeof(T) * n);");
    check(
        "m = sizeof(a[0]) + sizeof n + alignof(float4);",
        "m = ((sizeof a[0] + sizeof n) + alignof(float4));",
    );
    check("m = offsetof(S, x);", "m = offsetof(S, x);");
    check("decltype(n) x = n;", "decltype(n) x = n;");
}

#[test]
fn scopes_shadow_and_end() {
    let function =
        function("__global__ void k(int x) { { int x = 1; x; } x; for (int x = 0; x < 1; ++x) x; x; }");
    let printed = function.body.as_ref().unwrap().iter().map(|stmt| print::stmt(&function, stmt));
    assert_eq!(printed.count(), 4);
    let uses = format!("{:?}", function.body);
    let slots: Vec<&str> = uses.matches("Local(LocalId(").collect();
    assert_eq!(slots.len(), 6);
    assert!(uses.contains("Local(LocalId(0))") && uses.contains("Local(LocalId(1))"));
    assert!(uses.contains("Local(LocalId(2))"));
}

#[test]
fn control_flow() {
    check("if (int x = n; x < 3) i = x; else j = x;", "{ int x = n; if (x < 3) { i = x; } else { j = x; } }");
    check("while (int x = f(n)) i = x;", "while () { int x = f(n); if (x) { i = x; } else { break; } }");
    check("do ++i; while (i < n);", "do while (i < n) { ++i; }");
    check(
        "for (i = 0, j = 1; i < n; i += 2, --j) continue;",
        "{ i = 0, j = 1; while (i < n; i += 2, --j) { continue; } }",
    );
    check(
        "switch (n) { case 1: { f(); } case 2: g(); break; default: h(); }",
        "switch (n) { case 1: { f(); } case 2: g(); break; default: h(); }",
    );
    check("if constexpr (N > 3) f(); else if (n) g();", "if (N > 3) { f(); } else { if (n) { g(); } }");
}

#[test]
fn lists_and_arrays_are_walked_with_an_index() {
    check(
        "for (int n : {32, m}) f(n);",
        "{ auto element = m; int index = 0; while (index < 2; ++index) { \
         int n = (index == 0) ? 32 : element; f(n); } }",
    );
    check(
        "int a[3]; for (auto& x : a) x = 1;",
        "int a[3]; { int index = 0; while (index < ((int)(sizeof a / sizeof a[0])); ++index) { \
         auto& x = a[index]; x = 1; } }",
    );
    check(
        "for (int n : {}) f(n);",
        "<unsupported: range-based for> { int n = {}[<unsupported: element of a range>]; f(n); }",
    );
}

#[test]
fn other_ranges_are_walked_with_iterators() {
    check(
        "for (auto& x : a) x = 1;",
        "{ auto& range = a; auto end = range.end(); auto at = range.begin(); while (at != end; ++at) { \
         auto& x = *at; x = 1; } }",
    );
}

#[test]
fn what_is_not_modelled_keeps_its_contents() {
    check(
        "try { f(); } catch (int e) { g(e); }",
        "<unsupported: try> { f(); <unsupported: catch> { g(e); } }",
    );
    check(
        "again: f(); goto again; g();",
        "again: <unsupported: loop made of `goto`> { f(); <unsupported: goto back> { } } g();",
    );
    check("if (n) goto end; f(); end: g();", "if (n) { goto end; } f(); end: g();");
    check(
        "goto in; { in: f(); }",
        "<unsupported: goto into a statement> { <unsupported: goto> { } { in: f(); } }",
    );
    check("(i = n, j);", "i = n, j;");
    check("i = n $ j;", "i = n; <damaged>;");
    check("FOR_EACH(i, n) { f(i); }", "<unsupported: macro with a block> { f(i); }");
}

#[test]
fn lambdas_use_the_slots_of_their_function() {
    check("auto f = [&](int k) { return k + n; };", "auto f = [](int k) { return k + n; };");
    check("auto f = [x = n + 1] { return x; };", "auto f = x = (n + 1), []() { return x; };");
    check("auto f = [=](int k) { return k + n; };", "auto f = n = n, [](int k) { return k + n; };");
    check("auto f = [n, &m] { return n + m; };", "auto f = n = n, []() { return n + m; };");
    check(
        "auto [p, q] = f(); p = q;",
        "auto (parts) = f(); auto& p = (parts).0; auto& q = (parts).1; p = q;",
    );
}

#[test]
fn assembly_pieces_are_joined() {
    check(
        "asm volatile(\"bar.sync %0,\" \" 32;\" : \"=r\"(n) : \"r\"(m) : \"memory\");",
        "asm(\"bar.sync %0, 32;\" : \"=r\"(n) : \"r\"(m));",
    );
}

#[test]
fn launches_keep_their_configuration() {
    let module = module("void f() { ns::k<float, 4><<<dim3(n, 2), BX * BY, bytes, stream>>>(a, b); }");
    assert!(module.functions[0].mentions.launch);
    let expected = "ns::k<float, 4><<<dim3{n, 2}, BX * BY, bytes>>>(a, b);\n";
    assert_eq!(print::body(&module.functions[0]), expected);
}

#[test]
fn local_aliases_are_replaced() {
    check("using V = float4; V* p = (V*)a; m = sizeof(V);", "float4* p = (float4*)a; m = sizeof(float4);");
    check("using S = Traits<T>; m = S::width;", "m = Traits<T>::width;");
    check(
        "enum { A = 4, B, C = B * 2, D }; m = D;",
        "const int A = 4; const int B = 5; const int C = B * 2; const int D = (B * 2) + 1; m = D;",
    );
}

#[test]
fn functions_know_who_calls_them() {
    let module = module(
        "template <class T> struct S { template <int Q> __device__ void m(int); static constexpr int W = 3; };
         template <class T> template <int Q> __device__ void S<T>::m(int x) {}
         template <> __global__ void __launch_bounds__(256, 2) k<float, 4>(float* p) {}
         namespace n { extern \"C\" __global__ void l(int) {} }
         constexpr int c() { return 1; }
         template __global__ void k<int, 2>(int*);",
    );
    let kinds: Vec<(&str, FunctionKind)> =
        module.functions.iter().map(|function| (&*function.name, function.kind)).collect();
    use FunctionKind::{Device, Kernel};
    assert_eq!(kinds, [("m", Device), ("m", Device), ("k", Kernel), ("l", Kernel), ("c", Device)]);
    let method = &module.functions[1];
    assert_eq!(method.owner.as_deref(), Some("S"));
    assert_eq!((&*method.owner_params[0].name, &*method.template_params[0].name), ("T", "Q"));
    assert_eq!(module.functions[0].body, None);
    assert_eq!(module.functions[2].specialization.len(), 2);
    assert_eq!(module.functions[2].launch_bounds.iter().map(print::expr).collect::<Vec<_>>(), ["256", "2"]);
    assert_eq!(print::path(&module.instantiations[0].path), "k<int, 2>");
    assert_eq!(print::declaration(&module.records[0].constants[0]), "static const int W = 3");
}

/// The preprocessor takes `class` out of `template class S<float>;`.
#[test]
fn explicit_instantiations_of_classes_are_kept() {
    let module = module(
        "namespace n { template <class T, int N> class S { void m() {} }; }
         template       n::S<float, 4>;
         namespace n { template        EXPORTED S<int, 2>; }
         template void f<int>(int);",
    );
    let paths: Vec<String> = module.class_instantiations.iter().map(print::path).collect();
    assert_eq!(paths, ["n::S<float, 4>", "S<int, 2>"]);
    assert_eq!(module.instantiations.len(), 1);
    assert!(module.damage.is_empty());
}

#[test]
fn nested_classes_are_reached_through_their_outer_class() {
    let module = module("template <int N> struct A { struct B { int x[N]; B(int y) : z(y) {} }; B b; };");
    assert_eq!(&*module.records[1].name, "A::B");
    assert_eq!(&*module.records[1].template_params[0].name, "N");
    assert_eq!(print::ty(&module.records[0].aliases[0].ty), "A::B<N>");
    assert_eq!(print::ty(&module.records[0].fields[0].ty), "A::B<N>");
    assert_eq!(module.functions[0].owner.as_deref(), Some("A::B"));
    assert_eq!(&*module.functions[0].name, "A::B");
    assert_eq!(print::body(&module.functions[0]), "this->z = y;\n");
}

#[test]
fn file_scope_names() {
    let module = module(
        "const int W = 32, H = W * 2; __constant__ float c[4]; typedef struct { float x; } P;
         enum E : unsigned char { A, B = 5, C }; enum class F { X }; using V = P*;",
    );
    let variables: Vec<String> = module.variables.iter().map(|v| print::declaration(v)).collect();
    let expected = [
        "const int W = 32",
        "const int H = W * 2",
        "__constant__ float c[4]",
        "const unsigned char A = 0",
        "const unsigned char B = 5",
        "const unsigned char C = 6",
        "const int F::X = 0",
    ];
    assert_eq!(variables, expected);
    assert_eq!(&*module.records[0].name, "P");
    assert_eq!(
        module.aliases.iter().map(|a| (&*a.name, print::ty(&a.ty))).collect::<Vec<_>>(),
        [("V", "P*".into())]
    );
    assert_eq!(module.enums.len(), 2);
}

#[test]
fn barriers_by_any_spelling() {
    let mentions =
        |statement: &str| function(&format!("__global__ void k() {{ {statement} }}")).mentions.barrier;
    for barrier in [
        "__syncthreads();",
        "if (__syncthreads_or(x)) f();",
        "cg::sync(block);",
        "block.sync();",
        "cg::this_thread_block().sync();",
        "asm volatile(\"bar.sync 1, 64;\");",
        "asm(\"barrier.cta.sync 0;\");",
        "__barrier_sync(0);",
        "synchronize(block);",
        "cg::synchronize(cg::this_grid());",
    ] {
        assert!(mentions(barrier), "{barrier}");
    }
    for other in ["__syncwarp();", "asm(\"bar.warp.sync 1;\");", "sync();", "asm(\"mbarrier.arrive;\");"] {
        assert!(!mentions(other), "{other}");
    }
}

#[test]
fn eight_byte_banks_are_seen() {
    assert!(
        module("void f() { cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeEightByte); }").eight_byte_banks
    );
    assert!(
        module("void f() { cudaFuncSetSharedMemConfig(k, cudaSharedMemBankSizeEightByte); }")
            .eight_byte_banks
    );
    assert!(
        !module("void f() { cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeFourByte); }").eight_byte_banks
    );
}

#[test]
fn masks_are_attached_to_what_they_were_cut_from() {
    let text = "template <class T>\n                        __global__ void k() {              __shared__ float s[4]; }\nstruct               P { int x; };";
    let mask = |pattern: &str, before: u32, length: u32, kind, args: &str| {
        let at = text.find(pattern).unwrap() as u32 - before;
        Masked { start: at, end: at + length, kind, args: args.into() }
    };
    let masked = vec![
        mask("__global__", 23, 20, MaskKind::LaunchBounds, "BX * 2, 1"),
        mask("__shared__", 13, 12, MaskKind::Align, "16"),
        mask("P {", 12, 10, MaskKind::Align, "sizeof(int) * 2"),
    ];
    let expanded = Expanded { masked, ..Expanded::unchanged(file(text)) };
    let module = lower(&SyntaxTree::parse(expanded).unwrap());
    let kernel = &module.functions[0];
    assert_eq!(kernel.launch_bounds.iter().map(print::expr).collect::<Vec<_>>(), ["BX * 2", "1"]);
    assert_eq!(kernel.launch_bounds[0].span.start, text.find("__global__").unwrap() as u32 - 23);
    assert_eq!(print::body(kernel), "__shared__ alignas(16) float s[4];\n");
    assert_eq!(module.records[0].align.as_ref().map(print::expr), Some("sizeof(int) * 2".into()));
}

#[test]
fn damage_is_contained() {
    let function =
        function("__global__ void k(int n) { int a = 1; if (n) { n = ) ; a = 2; } __syncthreads(); }");
    assert!(function.damaged && function.mentions.barrier);
    let printed = print::body(&function);
    assert!(printed.contains("int a = 1;") && printed.contains("__syncthreads();"), "{printed}");
    assert!(printed.contains("<damaged>"), "{printed}");
}

#[test]
fn a_sequence_in_parentheses_begins_with_an_assignment() {
    check("(a[0] = 1, f());", "a[0] = 1, f();");
    check("n = (a = 1, b = 2, g(a));", "n = (a = 1, b = 2, g(a));");
}

#[test]
fn constants_of_a_shattered_kernel_are_nobodys() {
    let module = module(
        "__global__ void k(int n) {\n#ifdef A\n if (n) {\n#else\n if (!n) {\n#endif\n const int t = n; } }\n const int W = 3;",
    );
    assert!(module.variables.iter().all(|variable| &*variable.name != "t"));
}

#[test]
fn literal_and_name_kinds() {
    check("m = 'a' + 0x1F + 1.5f + true;", "m = (((97 + 31) + 1.5f) + true);");
    check("m = threadIdx.x + warpSize;", "m = (threadIdx.x + warpSize);");
    check("p = nullptr; f(\"a\" \"b\\n\");", "p = nullptr; f(\"ab\\n\");");
}

/// A test thread has 2 MiB of stack, and this is a build without optimisation.
#[test]
fn deep_nesting_is_cut() {
    const DEEP: usize = 100_000;
    let wrap = |inner: String| module(&format!("__global__ void k(int x) {{ {inner} }}"));
    let pair =
        |open: &str, inner: &str, close: &str| format!("{}{inner}{}", open.repeat(DEEP), close.repeat(DEEP));
    let cut = |module: &Module| {
        module
            .functions
            .iter()
            .any(|function| print::body(function).contains("nesting deeper than 200 levels"))
    };
    assert!(cut(&wrap(pair("f(", "x", ")") + ";")));
    assert!(cut(&wrap(pair("-(", "x", ")") + ";")));
    assert!(cut(&wrap(pair("{", "x;", "}"))));
    assert!(cut(&wrap(pair("if (x) ", "x;", ""))));
    assert!(cut(&wrap(format!("x = x{};", " + x".repeat(10_000)))));
    assert!(cut(&wrap(pair("x[", "0", "]") + ";")));
    assert!(cut(&wrap(pair("[&] { ", "x;", " }();"))));
    wrap(pair("(", "x", ")") + ";");
    wrap(format!("int {}p;", "*".repeat(DEEP)));
    wrap(format!("int p{};", "[2]".repeat(10_000)));
    // The parser itself takes time with the square of this depth.
    wrap(format!("{}int{}x;", "A<".repeat(10_000), "> ".repeat(10_000)));
    wrap(pair("struct S {", "int x;", "};"));
    module(&pair("namespace n {", "int x;", "}"));
    module(&pair("struct S {", "int x;", "};"));
    module(&pair("template <class T> ", "int x;", ""));
    module(&format!("int {};", "a::".repeat(DEEP)));
    // One node with that many children: the query engine takes time with their square.
    module(&"(".repeat(10_000));
    module(&"{".repeat(10_000));
    module(&"__global__ void k() { int x[".repeat(2_000));
}

#[test]
fn a_product_in_parentheses_is_no_cast_to_a_function_type() {
    check("n = (i * (j)) - m;", "n = ((i * j) - m);");
    check("n = (i & (j * m)) + 1;", "n = ((i & (j * m)) + 1);");
    check("n = m - (N * (j)) & i * 2;", "n = ((m - (N * j)) & (i * 2));");
    check("n = (T)(i);", "n = ((T)i);");
}
