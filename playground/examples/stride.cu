// How far lanes are apart is known only when the kernel is launched: odd distances cost nothing.
__global__ void gather(float* out, const float* in, int pitch) {
  extern __shared__ float values[];

  for (int i = threadIdx.x; i < 32 * pitch; i += blockDim.x) {
    values[i] = in[i];
  }
  __syncthreads();
  out[threadIdx.x] = values[threadIdx.x * pitch];
}

void run(float* out, const float* in, int pitch) {
  gather<<<1, 32, 32 * pitch * sizeof(float)>>>(out, in, pitch);
}
