// What headers of programs say of cuBLAS in passing. Nothing here computes: kernels do not call it.
#pragma once
#include "cuda_runtime.h"

typedef int cublasStatus_t, cublasMath_t, cublasComputeType_t, cublasOperation_t, cublasGemmAlgo_t, cudaDataType_t;
typedef cudaDataType_t cudaDataType;
typedef struct cublasContext *cublasHandle_t;
typedef struct cublasLtContext *cublasLtHandle_t;
enum {
    CUBLAS_STATUS_SUCCESS,
    CUBLAS_OP_N,
    CUBLAS_OP_T,
    CUBLAS_COMPUTE_32F,
    CUBLAS_COMPUTE_32F_FAST_TF32,
    CUBLAS_DEFAULT_MATH,
    CUBLAS_TF32_TENSOR_OP_MATH,
    CUBLAS_GEMM_DEFAULT,
    CUDA_R_32F,
    CUDA_R_16F,
    CUDA_R_16BF
};

#define ORACLE_NOT_HERE(NAME) ORACLE_QUIET static inline cublasStatus_t NAME(...) { return CUBLAS_STATUS_SUCCESS; }
ORACLE_NOT_HERE(cublasCreate)
ORACLE_NOT_HERE(cublasDestroy)
ORACLE_NOT_HERE(cublasSetMathMode)
ORACLE_NOT_HERE(cublasSetStream)
ORACLE_NOT_HERE(cublasLtCreate)
ORACLE_NOT_HERE(cublasLtDestroy)
