//! Does a hostile folder, file name, source text or repository get anything but a message?

mod display;
mod files;
mod links;
mod options;
mod repository;

use std::path::Path;
use std::time::Duration;

/// A column read of a 32 x 32 tile: one finding, which a fix repairs.
const CONFLICT: &str = "\
__global__ void transpose(float *out, const float *in) {
    __shared__ float tile[32][32];
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
void launch(float *out, const float *in) { transpose<<<1, dim3(32, 32)>>>(out, in); }
";

/// Exit code, stdout and stderr; fails when it takes too long.
fn run(root: &Path, arguments: &[&str]) -> (i32, String, String) {
    let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_cudalint"));
    let output = command.current_dir(root).args(arguments).timeout(Duration::from_secs(60)).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().expect("it ends"), text(output.stdout), text(output.stderr))
}

fn fixed() -> String {
    CONFLICT.replace("tile[32][32]", "tile[32][33]")
}
