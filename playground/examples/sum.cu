// A sum over a block. Take out a barrier and see what changes.
constexpr int BLOCK = 256;

__global__ void sum(float* sums, const float* in) {
  __shared__ float part[BLOCK];

  part[threadIdx.x] = in[blockIdx.x * BLOCK + threadIdx.x];
  __syncthreads();
  for (int half = BLOCK / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      part[threadIdx.x] += part[threadIdx.x + half];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = part[0];
  }
}

void run(float* sums, const float* in, int blocks) {
  sum<<<blocks, BLOCK>>>(sums, in);
}
