// Tensor cores read their fragments from shared memory by design.
// REQUIRES: cuda-toolkit
// RUN: %rewrite %s -q --list --cuda-path=%cuda 2>&1 | FileCheck %s
// CHECK: declined k{{.*}}; tensor-fragments
#include <mma.h>

__global__ void k(const half *in, float *out) {
  using namespace nvcuda;
  __shared__ half s[256];
  for (int i = threadIdx.x; i < 256; i += 32)
    s[i] = in[i];
  __syncthreads();
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
  wmma::fill_fragment(c, 0.0f);
  wmma::load_matrix_sync(a, s, 16);
  wmma::load_matrix_sync(b, s, 16);
  wmma::mma_sync(c, a, b, c);
  wmma::store_matrix_sync(out, c, 16, wmma::mem_row_major);
}

void run(const half *in, float *out) { k<<<1, 32>>>(in, out); }
