// Matrices of float, row by row.
#pragma once

constexpr int TILE = 32;

// out (cols x rows) = in (rows x cols), transposed
__global__ void transpose(float *out, const float *in, int rows, int cols);

// c = a * b, all of them n x n
__global__ void matmul(float *c, const float *a, const float *b, int n);
