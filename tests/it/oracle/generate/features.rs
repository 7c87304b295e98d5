//! What real code has beside plain C, and what can be written with it.

use crate::support::random::Random;

/// A feature of C++ or CUDA.
#[derive(Clone, Copy, Debug)]
pub struct Feature {
    pub name: &'static str,
    pub make: fn(&mut Random) -> Piece,
}

/// What a feature brings to a kernel.
#[derive(Clone, Debug, Default)]
pub struct Piece {
    /// Declared before the kernel.
    pub global: String,
    /// Declared at the beginning of the kernel, where `t`, `lane`, `a` and `b` are known.
    pub local: String,
    /// Values; `$0` and `$1` stand for others.
    pub values: Vec<String>,
    /// Statements; they may change `a` and `b`. `$u` is a number of its own.
    pub statements: Vec<String>,
}

/// A feature from its texts, in which `@` is a small number.
fn piece(random: &mut Random, global: &str, local: &str, values: &[&str], statements: &[&str]) -> Piece {
    let number = (2 + random.below(7)).to_string();
    let with_number = |text: &&str| text.replace('@', &number);
    Piece {
        global: with_number(&global),
        local: with_number(&local),
        values: values.iter().map(with_number).collect(),
        statements: statements.iter().map(with_number).collect(),
    }
}

macro_rules! features {
    ($($name:literal: $global:literal, $local:literal, [$($value:literal),*], [$($statement:literal),*];)*) => {
        &[$(Feature { name: $name, make: |random| piece(random, $global, $local, &[$($value),*], &[$($statement),*]) }),*]
    };
}

/// Features of which every kernel is judged rightly.
pub const SOUND: &[Feature] = features! {
    "templates of functions":
        "template <int K> __device__ int scaled(int i) { return i * K + (K > 4 ? 1 : 0); }
template <typename T> __device__ T least(T a, T b) { return b < a ? b : a; }
", "", ["scaled<@>($0)", "least($0 + 0, $1 + 0)", "least<int>($0, @)"], [];
    "templates of classes":
        "template <bool Wide, int Base = @> struct Pick {
    static constexpr int pitch = Wide ? 33 : 16;
    static __device__ int at(int r, int c) { return r * pitch + c + Base; }
};
", "", ["Pick<true>::at($0 & 15, $1)", "Pick<false, 0>::at($0 & 31, $1)", "Pick<false>::pitch * ($0 & 31)"], [];
    "full specialization":
        "template <typename T> struct Factor { static constexpr int value = 1; };
template <> struct Factor<short> { static constexpr int value = @; };
template <> struct Factor<double> { enum { value = 2 }; };
", "", ["Factor<short>::value * ($0 & 63)", "Factor<double>::value + $0", "Factor<int>::value * $0"], [];
    "if constexpr":
        "template <int K> __device__ int chosen(int i) {
    if constexpr (K % 2 == 0) return i + K;
    else return i * 2 - K;
}
", "", ["chosen<@>($0)", "chosen<3>($0)"], [];
    "lambda by reference": "", "auto by_reference = [&](int i) { return i * @ + a; };",
        ["by_reference($0 & 63)"], ["a = (a + 5) & 63;", "b = by_reference($0 & 31) & 127;"];
    "lambda of its arguments": "", "auto sum_of = [](int i, int j) { return i * @ + j; };",
        ["sum_of($0 & 63, $1)"], [];
    "lambda with a fixed capture": "", "const int fixed = @ + lane / 8;
auto with_fixed = [fixed](int i) { return i + fixed * 2; };", ["with_fixed($0)"], [];
    "generic lambda": "", "auto twice = [](auto i) { return i + i; };", ["twice($0)", "twice(@)"], [];
    "function over a lambda":
        "template <typename F> __device__ int applied(F f, int i) { return f(i) + 1; }
", "", ["applied([=](int i) { return i * 2 + lane; }, $0)"], [];
    "class with methods":
        "class Pitch {
    int pitch, start;
  public:
    __device__ Pitch(int pitch, int start = 1) : pitch(pitch), start(start) {}
    __device__ int at(int r, int c) const { return r * pitch + c; }
    __device__ int operator()(int i) const { return i * pitch + start; }
    __device__ void grow() { pitch = (pitch + 1) & 15; }
};
", "Pitch pitch(@), other(lane & 7, 3);",
        ["pitch.at($0 & 31, $1)", "pitch($0 & 63)", "other($0 & 31)", "Pitch(4).at($0 & 15, 2)"], ["pitch.grow();"];
    "class over memory":
        "template <typename T> struct View {
    T *p;
    int step;
    __device__ View(T *p, int step) : p(p), step(step) {}
    __device__ T &operator[](int i) { return p[(i * step) & 255]; }
    __device__ T get(int i) const { return p[(i + step) & 255]; }
    __device__ void set(int i, T v) { p[(i ^ step) & 255] = v; }
};
", "__shared__ float own[256];
View<float> seen(own, @);", [],
        ["seen[$0 & 255] = 2;", "sum += seen.get($0 & 511);", "seen.set($0 & 511, 3);", "sum += seen[$0 & 127];"];
    "inheritance":
        "struct Base {
    int k;
    __device__ int go(int i) const { return i + k; }
};
struct Derived : Base {
    int m;
    __device__ int both(int i) const { return go(i) * 2 + m; }
};
", "Derived derived;
derived.k = @;
derived.m = lane;", ["derived.both($0)", "derived.go($0)", "derived.k * ($0 & 31)"], ["derived.m = $0 & 63;"];
    "struct":
        "struct Box { int w, h; };
__device__ Box turned(Box x) { return {x.h, x.w}; }
__device__ int area(const Box &x) { return x.w * x.h; }
", "Box box{@, lane & 15};", ["box.w * ($0 & 31)", "area(box) + $0", "turned(box).w + $0"],
        ["box = turned(box);", "box.h = $0 & 15;", "Box copy = box;\ncopy.w = 1;\na = area(copy);"];
    "reference parameter":
        "__device__ void bump(int &v, int by) { v = (v + by) & 255; }
__device__ void split(int v, int *low, int &high) { *low = v & 7; high = v >> 3 & 15; }
", "", [], ["bump(a, $0);", "bump(b, @);", "split($0 & 127, &a, b);"];
    "reference": "", "", [], ["int &same = a;\nsame = (same + $0) & 127;", "int *pointer = &b;\n*pointer = $0 & 63;"];
    "narrow types": "", "unsigned char byte = lane * 9;
short half = lane * 300;",
        ["(unsigned char)($0 * 9)", "((short)(($0 & 127) * 300) >> 4)", "(signed char)$0", "byte", "(half >> 3)"],
        ["byte += 77;", "byte = $0;", "half = half * 3 + 1;", "byte ^= $0 & 31;"];
    "unsigned that wraps": "", "unsigned u = t - 20u;",
        ["(int)((unsigned)$0 * 2654435761u >> 23)", "(int)(u % 61)", "(int)((u ^ 0x55u) >> 3 & 255)"],
        ["u = u * 1664525u + 1013904223u;", "u -= @;"];
    "wide integers": "", "long long wide = (long long)t * 0x100000001ll;",
        ["(int)((unsigned long long)$0 * 12345ull >> 3)", "(int)(wide >> 32)", "(int)(wide % 37)"],
        ["wide += @;"];
    "bits": "", "",
        ["__popc($0)", "(__brev($0 & 31) >> 27)", "__clz($0 & 1023)", "__ffs($0)", "($0 ^ $1 >> 1)"], [];
    "minimum and maximum": "", "", ["min($0, $1)", "max($0, @)", "abs($0 - 20)"], [];
    "enumerators":
        "enum Kind { plain = 2, odd = @, last };
enum class Side : int { left = 1, right = 5 };
", "", ["$0 + odd", "last * ($0 & 31)", "(int)Side::right + $0"], [];
    "constant functions":
        "constexpr int power(int x, int n) { return n ? x * power(x, n - 1) : 1; }
constexpr int kTable[4] = {3, 0, @, 1};
", "constexpr int cube = power(2, 3);", ["cube * ($0 & 31)", "kTable[$0 & 3] * 8 + lane", "power(3, 2) + $0"], [];
    "macros": "#define MIX(x, y) ((x) * 2 + (y))
#define WRAP(x) ((x) & 63)
", "", ["MIX($0, $1)", "WRAP($0 + 1)"], [];
    "local array": "", "int table[4] = {1, @, 4, 2};", ["table[$0 & 3] * 4", "table[1] + $0"],
        ["table[2] = $0 & 15;", "for (int i = 0; i < 4; i++) table[i] = i * @ + 1;"];
    "switch": "", "", [],
        ["switch (t % 4) {\ncase 0: a = 1; break;\ncase 1: s[lane * 2] = 1;\ncase 2: a = $0 & 63; break;\ndefault: s[t * 4 & 1023] = 2;\n}"];
    "break and continue": "", "", [],
        ["for (int i = 0; i < 6; i++) {\n    if (i == (lane & 3)) continue;\n    if (i > 4 - (t & 1)) break;\n    s[(t * @ + i) & 1023] = 1;\n}"];
    "do while": "", "", [], ["int left = lane % 3;\ndo {\n    s[(t + 100 * left) & 1023] = 1;\n} while (left-- > 0);"];
    "moving pointer": "", "auto *moving = s + lane;", [],
        ["*moving = 1;\nmoving += @;", "sum += moving[@];", "moving = s + ($0 & 511);", "moving[lane & 15] = 3;"];
    "overloads by type":
        "__device__ int kind_of(int) { return 1; }
__device__ int kind_of(float) { return 4; }
__device__ int kind_of(double) { return 8; }
", "", ["kind_of(1) * ($0 & 63)", "kind_of(1.0f) * ($0 & 63)", "kind_of(2.0) + $0"], [];
    "default arguments": "__device__ int moved(int i, int by = @, int times = 2) { return i + by * times; }
", "", ["moved($0)", "moved($0, 1)", "moved($0, 3, lane)"], [];
    "recursion":
        "__device__ int digits(int v) { return v < 10 ? v : v % 10 + digits(v / 10); }
", "", ["digits($0 & 511)"], [];
    "static members":
        "struct Layout {
    static constexpr int pitch = 3 * @;
    static __device__ int at(int i) { return i / pitch + i % pitch * 4; }
};
", "", ["Layout::at($0 & 255)", "Layout::pitch + $0"], [];
    "array by reference":
        "template <typename T, int N> __device__ int length(const T (&)[N]) { return N; }
", "int four[4];", ["length(four) * ($0 & 63)"], [];
    "data": "", "", ["(in[t] & 0)"], ["if (in[t] > 4) s[t * 2 & 1023] = 1;", "if (in[lane] == @) b = 1;"];
    "warps": "", "const int warp = t / 32;", ["warp * 64 + lane", "(lane ^ @) * 2"],
        ["if (lane == 0) s[warp] = 1;", "if (warp == 0) s[lane * @ & 1023] = 1;"];
    "increments": "", "int i = lane, j = @;", ["i", "j"],
        ["s[i++ & 1023] = 1;", "s[++j * 4 & 1023] = 1;", "j = (j + i--) & 127;", "i = j++ & 63, j &= 31;"];
    "operators on values":
        "struct Pair {
    int x, y;
    __device__ Pair operator+(Pair o) const { return {x + o.x, y + o.y}; }
    __device__ bool operator<(const Pair &o) const { return x < o.x; }
};
__device__ Pair operator*(Pair p, int k) { return {p.x * k, p.y + k}; }
", "Pair pair{lane, @};", ["(pair + Pair{$0, 1}).x", "(pair * 3).y + $0", "(pair < Pair{$0, 0} ? 1 : 4)"],
        ["pair = pair + Pair{1, 2};\npair.x &= 63;"];
    "range-based loop": "", "const int steps[3] = {1, @, 9};", [],
        ["for (int step : steps) s[(t + step * 32) & 1023] = 1;", "for (const int &step : steps) a = (a + step) & 63;"];
    "function pointer":
        "__device__ int plus_one(int i) { return i + 1; }
__device__ int times_four(int i) { return i * 4; }
", "int (*called)(int) = lane < 16 ? plus_one : times_four;
int (*fixed_call)(int) = times_four;", ["called($0 & 63)", "fixed_call($0 & 63)"], ["fixed_call = plus_one;"];
    "member template":
        "struct Reader {
    int base;
    template <typename T> __device__ int sized(int i) const { return base + i * (int)sizeof(T); }
    template <int K> __device__ int times(int i) const { return i * K + base; }
};
", "Reader reader{@};", ["reader.sized<double>($0 & 31)", "reader.times<3>($0)", "reader.sized<char>($0)"], [];
    "parameter pack":
        "template <typename... T> __device__ int total(T... v) { return (v + ... + 0); }
template <int... K> __device__ int summed(int i) { return ((i ^ K) + ...); }
", "", ["total($0, 1, $1)", "summed<1, @, 4>($0)", "total($0)"], [];
    "lambda with a state": "", "auto counted = [n = @]() mutable { return n += 3; };", [],
        ["s[(t * 2 + counted()) & 1023] = 1;", "a = counted() & 63;"];
    "default member values":
        "struct Settings { int pitch = @; int from = 2; __device__ int at(int i) const { return i * pitch + from; } };
struct More : Settings { int extra = 5; };
", "Settings settings;
More more;", ["settings.at($0 & 63)", "more.at(lane) + more.extra", "more.pitch * ($0 & 31)"], ["settings.from = $0 & 31;"];
    "shadowed names": "constexpr int lane_count = 32, shadow = @;
", "", ["shadow * ($0 & 63)"], ["int shadow = 3;\n{\n    int shadow = 5;\n    a = shadow * 2;\n}\nb = shadow;"];
    "class of an array":
        "struct Cells {
    int v[4];
    __device__ int &operator[](int i) { return v[i & 3]; }
    __device__ int total() const { int all = 0; for (int i = 0; i < 4; i++) all += v[i]; return all; }
};
", "Cells cells = {{1, @, lane, 3}};", ["cells[$0 & 3] + $1", "cells.total()"], ["cells[$0] = $1 & 15;", "cells.v[1] = lane & 7;"];
    "pointers to pointers": "", "int *chosen = &a, **twice_removed = &chosen;", [],
        ["**twice_removed = $0 & 63;", "chosen = &b;", "*chosen = (*chosen + 1) & 63;\nchosen = &a;"];
    "loop that data ends": "", "", [], ["for (int i = 0; i < in[lane]; i++) s[(t + i * 32) & 1023] = 1;"];
    "search that data ends": "", "", [], ["int at = lane;\nwhile (in[at] > 4) at++;\ns[at & 1023] = 1;"];
    "partial specialization":
        "template <typename T> struct Words { static constexpr int value = 1; };
template <typename T> struct Words<T *> { static constexpr int value = @; };
", "", ["Words<int *>::value * ($0 & 63)", "Words<int>::value * 4"], [];
    "goto forward": "", "", [], ["if (lane > 2 * @) goto behind$u;\ns[lane * 2] = 1;\nbehind$u:\ns[t + 200] = 2;"];
    "unsigned of 64 bits": "", "", ["(int)((unsigned long long)$0 * 0x9e3779b97f4a7c15ull >> 57)"], [];
    "capture that changes later": "", "int before = 3;
auto held = [before](int i) { return i * before; };
before = 8;", ["held($0 & 63)"], ["before = $0 & 7;"];
    "compound operators":
        "struct Count {
    int n;
    __device__ Count &operator+=(int k) { n = (n + k) & 127; return *this; }
    __device__ Count &operator++() { ++n; return *this; }
    __device__ operator int() const { return n; }
};
", "Count count{@};", ["count.n + $0", "(int)count * 2"], ["count += $0;", "++count;\ncount += 0;"];
    "returned reference": "__device__ int &smaller(int &x, int &y) { return y < x ? y : x; }
", "", [], ["smaller(a, b) = $0 & 63;", "smaller(a, b) += 1;\na &= 127;\nb &= 127;"];
    "conditional lvalue": "", "", [], ["(t % 2 ? a : b) = $0 & 63;"];
    "destructor":
        "struct Undo {
    int &v;
    int kept;
    __device__ Undo(int &v, int to) : v(v), kept(v) { v = to & 63; }
    __device__ ~Undo() { v = kept; }
};
", "", [], ["{\n    Undo undo(a, $0);\n    s[a * 3 & 1023] = 1;\n}\ns[a & 1023] = 2;"];
    "copy of threadIdx": "", "auto whole = threadIdx;", ["(int)whole.x * @", "(int)(whole.x + whole.y)"], [];
    "namespace alias":
        "namespace inner { namespace deep { __device__ int moved_by(int i) { return i * @ + 1; } } }
namespace short_name = inner::deep;
", "", ["short_name::moved_by($0 & 63)", "inner::deep::moved_by($0 & 63)"], [];
    "using declaration":
        "namespace tools { __device__ int turned_by(int i) { return i ^ @; } constexpr int base = 12; }
using tools::turned_by;
", "using tools::base;", ["turned_by($0)", "base + $0"], [];
    "union": "union Bits { int i; float f; unsigned char bytes[4]; };
", "Bits bits;
bits.i = lane * 0x0102;", ["bits.bytes[0] + $0", "bits.bytes[1] * 4", "(bits.i >> 4)"], ["bits.bytes[0] = @;", "bits.i = $0;"];
    "bit field": "struct Field { unsigned low : 3; unsigned high : 5; };
", "Field field = {};
field.low = lane;
field.high = t;", ["field.low * @", "field.high + $0"], ["field.low = $0 & 15;"];
    "variable template": "template <int K> constexpr int squared = K * K;
template <> constexpr int squared<0> = 7;
", "", ["squared<@> + $0", "squared<0> * ($0 & 31)"], [];
    "structured binding": "struct Two { int x, y; };
", "Two two{@, lane};
auto [first, second] = two;
auto &[first_of, second_of] = two;", ["first * ($0 & 31)", "second + $0"], ["second_of = $0 & 31;\na = two.y;"];
    "signs compared": "", "", ["($0 - 20 < 9u ? 1 : 5) * lane", "((unsigned)lane > -1 ? 2 : 3) * ($0 & 63)"], [];
    "overloads by sign":
        "__device__ int sign_of(int) { return 1; }
__device__ int sign_of(unsigned) { return 4; }
__device__ int sign_of(long long) { return 9; }
", "", ["sign_of(threadIdx.x) * ($0 & 63)", "sign_of(7u) + $0", "sign_of(1ll) + $0", "sign_of(lane) * $0"], [];
    "virtual function":
        "struct Shape { __device__ virtual int side(int i) const { return i; } };
struct Square : Shape { __device__ int side(int i) const override { return i * @; } };
", "Square square;
const Shape &shape = square;", ["shape.side($0 & 63)", "square.side($0 & 63)"], [];
    "lambda that hands back a reference": "", "auto place = [&](int i) -> auto & { return s[(i * @) & 1023]; };", [],
        ["place($0) = 1;", "sum += place($0);"];
    "constructor with a list":
        "class Range {
    int low, high, width = high - low;
  public:
    __device__ Range(int n) : Range(0, n) {}
    __device__ Range(int low, int high) : low(low), high(high) {}
    __device__ int clamp(int v) const { return v < low ? low : v > high ? high : v; }
    __device__ int size() const { return width; }
};
", "Range range(3, 50), single(@);", ["range.clamp($0)", "single.clamp($0)", "range.size() + $0", "single.size() * ($0 & 31)"], [];
    "class made by a function":
        "template <typename T> struct Made {
    T *p;
    int step;
    __device__ T &operator[](int i) { return p[(i * step) & 1023]; }
};
template <typename T> __device__ Made<T> made(T *p, int step) { return Made<T>{p, step}; }
", "auto over = made(s, @);", [], ["over[$0 & 255] = 2;", "sum += over[$0 & 127];"];
};

/// Features that are known to be judged wrongly. Each is to move up once it is not.
pub const KNOWN_WRONG: &[Feature] = features! {};
