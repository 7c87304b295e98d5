// Multiplies two matrices on the GPU and compares a few elements with the CPU: ./matmul [n]

#include "matrix.cuh"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

static void check(cudaError_t status) {
    if (status != cudaSuccess) {
        std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
        std::exit(1);
    }
}

static int tiles(int n) { return (n + TILE - 1) / TILE; }

int main(int argc, char **argv) {
    int n = argc > 1 ? std::atoi(argv[1]) : 1000;
    size_t bytes = size_t(n) * n * sizeof(float);

    std::vector<float> a(size_t(n) * n), b(size_t(n) * n), c(size_t(n) * n);
    for (float &x : a) x = std::rand() / float(RAND_MAX);
    for (float &x : b) x = std::rand() / float(RAND_MAX);

    float *d_a, *d_b, *d_c, *d_bt;
    check(cudaMalloc(&d_a, bytes));
    check(cudaMalloc(&d_b, bytes));
    check(cudaMalloc(&d_c, bytes));
    check(cudaMalloc(&d_bt, bytes));
    check(cudaMemcpy(d_a, a.data(), bytes, cudaMemcpyHostToDevice));
    check(cudaMemcpy(d_bt, b.data(), bytes, cudaMemcpyHostToDevice));

    // b comes column by column.
    dim3 grid(tiles(n), tiles(n));
    transpose<<<grid, dim3(TILE, 8)>>>(d_b, d_bt, n, n);
    matmul<<<grid, dim3(TILE, TILE)>>>(d_c, d_a, d_b, n);
    check(cudaGetLastError());
    check(cudaMemcpy(c.data(), d_c, bytes, cudaMemcpyDeviceToHost));

    float worst = 0.0f;
    for (int i = 0; i < n; i += 97) {
        float sum = 0.0f;
        for (int k = 0; k < n; ++k) sum += a[size_t(i) * n + k] * b[size_t(i) * n + k];
        worst = std::fmax(worst, std::fabs(sum - c[size_t(i) * n + i]));
    }
    std::printf("%d x %d: off by at most %g\n", n, n, worst);

    cudaFree(d_a);
    cudaFree(d_b);
    cudaFree(d_c);
    cudaFree(d_bt);
}
