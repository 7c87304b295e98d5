//! Which random kernels are worth running: C++ as real code has it, defined, and inside its arrays.
//!
//! A kernel is made of a few features (`features.rs`): a class with a call operator, a lambda that captures
//! by reference, a narrow type that wraps. Each brings its declarations and what can be written with them,
//! and plain statements use that at random: stores and loads of shared arrays under loops, branches,
//! barriers and early returns (`statements.rs`). All values stay small, so nothing overflows that must not;
//! every subscript is masked, so nothing leaves its array.

pub mod features;
mod statements;

use crate::support::random::Random;
use features::Feature;
use std::fmt::Write;

/// Shapes of blocks, and the threads they have.
const BLOCKS: [[u32; 3]; 8] =
    [[32, 1, 1], [64, 1, 1], [96, 1, 1], [48, 1, 1], [16, 4, 1], [8, 8, 1], [33, 2, 1], [4, 4, 4]];
/// Types of the shared arrays.
const ELEMENTS: [&str; 7] = ["int", "float", "int", "float", "unsigned char", "short", "double"];

/// A program with so many kernels, `kernel0` and so on, and a `main` that launches them.
pub fn program(random: &mut Random, kernels: usize, allowed: &[Feature]) -> String {
    let mut text = String::new();
    let mut launches = String::new();
    for number in 0..kernels {
        let mut features: Vec<Feature> = (0..3 + random.below(3)).map(|_| random.of(allowed)).collect();
        features.dedup_by_key(|feature| feature.name);
        let block = random.of(&BLOCKS);
        kernel(random, number, &features, &mut text);
        let [x, y, z] = block;
        let size = 1 + random.below(60);
        writeln!(launches, "    case{number}::kernel{number}<<<3, dim3({x}, {y}, {z})>>>(in, out, {size});")
            .unwrap();
    }
    format!(
        "{text}int main() {{\n    int *in, *out;\n    cudaMallocManaged(&in, 4096);\n    \
         cudaMallocManaged(&out, 4096);\n    for (int i = 0; i < 1024; i++) in[i] = i * 37 % 11;\n{launches}}}\n"
    )
}

/// One kernel, in a namespace of its own, so that its helpers may have the names of others.
fn kernel(random: &mut Random, number: usize, features: &[Feature], out: &mut String) {
    let pieces: Vec<features::Piece> = features.iter().map(|feature| (feature.make)(random)).collect();
    let names: Vec<&str> = features.iter().map(|feature| feature.name).collect();
    writeln!(out, "// {}\nnamespace case{number} {{", names.join(", ")).unwrap();
    for (at, piece) in pieces.iter().enumerate() {
        // Twice the same feature has its declarations once.
        if !features[..at].iter().any(|feature| feature.name == features[at].name) {
            out.push_str(&piece.global);
        }
    }
    let (one, two) = (random.of(&ELEMENTS), random.of(&ELEMENTS));
    let columns = random.of(&[8, 9, 16, 17, 20, 33]);
    writeln!(
        out,
        "__global__ void kernel{number}(const int *in, int *out, int n) {{\n    \
         __shared__ {one} s[1024];\n    __shared__ {two} grid[16][{columns}];\n    \
         int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z), lane = t & 31;\n    \
         int a = t * 3 & 63, b = {}, sum = 0;",
        random.below(50)
    )
    .unwrap();
    let mut body = statements::Body::new(random, columns, &pieces);
    for (at, piece) in pieces.iter().enumerate() {
        if !features[..at].iter().any(|feature| feature.name == features[at].name) {
            body.locals(&piece.local);
        }
    }
    body.whole();
    out.push_str(&body.text);
    writeln!(out, "    out[t] = sum + a + b;\n}}\n}} // namespace case{number}\n").unwrap();
}
