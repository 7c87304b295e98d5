// Threads without data skip the barrier at which the others wait.
constexpr int BLOCK = 128;

__global__ void reverse(int* data) {
  __shared__ int block[BLOCK];

  if (threadIdx.x < 100) {
    block[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = block[99 - threadIdx.x];
  }
  __syncthreads();
  block[threadIdx.x] = 0;
}

void run(int* data) {
  reverse<<<1, BLOCK>>>(data);
}
