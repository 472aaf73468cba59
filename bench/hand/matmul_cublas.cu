// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libraries: -lcublas
//
// The matrix product of originals/matmul.cu by cuBLAS, in FP32: the ceiling.
// Its sums have another order, so its bits are not compared.

#include "../harness.cuh"
#include <cublas_v2.h>

static bench::Line product4096(int n) {
  bench::Line line;
  line.Name = "matmul-4096";
  line.Bytes = 3.0 * double(n) * n * 4;
  line.Operations = 2.0 * double(n) * n * n;
  line.Fp32 = double(n) * n * n;
  return line;
}

int main() {
  const int n = 4096;
  const size_t count = size_t(n) * n;
  const float *A = bench::random<float>(count, 1),
              *B = bench::random<float>(count, 2);
  float *C = bench::blank<float>(count);
  cublasHandle_t handle;
  if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) {
    std::fprintf(stderr, "cuBLAS does not start\n");
    return 1;
  }
  const float one = 1, zero = 0;
  bool good = true;
  bench::Line line = product4096(n);
  line.Shape = "-";
  line.Ms = bench::medianMs(
      [&] {
        // Rows are columns to cuBLAS: C' = B' A'.
        good &= cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, B,
                            n, A, n, &zero, C, n) == CUBLAS_STATUS_SUCCESS;
      },
      5);
  if (!good) {
    std::fprintf(stderr, "cublasSgemm fails\n");
    return 1;
  }
  bench::print("cuBLAS", line);
  cublasDestroy(handle);
  return 0;
}
