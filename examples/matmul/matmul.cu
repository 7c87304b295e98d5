#include "matrix.cuh"

// Each block computes one tile of c; each thread one element of it.
__global__ void matmul(float *c, const float *a, const float *b, int n) {
    __shared__ float as[TILE][TILE];
    __shared__ float bs[TILE][TILE];

    int row = blockIdx.y * TILE + threadIdx.y;
    int col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;

    for (int k = 0; k < n; k += TILE) {
        as[threadIdx.y][threadIdx.x] = 0.0f;
        bs[threadIdx.y][threadIdx.x] = 0.0f;
        if (row < n && k + threadIdx.x < n) {
            as[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
        }
        if (col < n && k + threadIdx.y < n) {
            bs[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + col];
            __syncthreads();
        }
        for (int i = 0; i < TILE; ++i) {
            sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
        }
        __syncthreads();
    }
    if (row < n && col < n) {
        c[row * n + col] = sum;
    }
}
