// before
#include <mma.h>
using namespace nvcuda;
__global__ void k(const half *in, float *out) {
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
// no after: How a fragment's elements are spread over the lanes is the hardware's affair; the load from shared memory is made for it.
