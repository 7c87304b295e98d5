// A tile is written by rows and read by columns: all lanes of a warp want one bank.
constexpr int TILE = 32;

__global__ void transpose(float* out, const float* in, int width, int height) {
  __shared__ float tile[TILE][TILE];

  int x = blockIdx.x * TILE + threadIdx.x;
  int y = blockIdx.y * TILE + threadIdx.y;
  if (x < width && y < height) {
    tile[threadIdx.y][threadIdx.x] = in[y * width + x];
  }
  __syncthreads();

  int column = blockIdx.y * TILE + threadIdx.x;
  int row = blockIdx.x * TILE + threadIdx.y;
  if (column < height && row < width) {
    out[row * height + column] = tile[threadIdx.x][threadIdx.y];
  }
}

void run(float* out, const float* in, int width, int height) {
  dim3 block(TILE, TILE);
  dim3 grid((width + TILE - 1) / TILE, (height + TILE - 1) / TILE);
  transpose<<<grid, block>>>(out, in, width, height);
}
