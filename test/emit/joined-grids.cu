// Joined blocks of 16384 outputs leave SMs idle in grids of less than several waves
// of them: a second form, with smaller blocks, is for those, and the original for
// what is smaller still. Tests run both (-DRCACHE_ANY_LAUNCH, which rcache-check
// gives): the one for smaller grids where all extents of a grid are odd.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --cuda-path=%cuda -- -arch=sm_90 -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: %if slow %{ rcache-rewrite %s -o %t.seen.cu --cuda-path=%cuda --self-check=quick -- -arch=sm_90 -I%S/Inputs 2>&1 | FileCheck --check-prefixes=CHECK,SEEN %s %}
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
// RUN: rcache-check run %s -- -I%S/Inputs > %t.original
// RUN: sed -e 's/  product_rc<<</  printf("many\\n"); product_rc<<</; s/  product_rc_small<<</  printf("few\\n"); product_rc_small<<</' %t.cu > %t.told.cu
// RUN: rcache-check run %t.told.cu -- -I%S/Inputs > %t.forms
// RUN: FileCheck --check-prefix=FORMS %s < %t.forms
// RUN: grep -v -e many -e few %t.forms | cmp - %t.original
// RUN: %if slow %{ rcache-check run %t.told.cu -- -URCACHE_ANY_LAUNCH -I%S/Inputs | cmp - %t.original %}
// RUN: rcache-rewrite %s -o %t.known.cu --cuda-path=%cuda -- -arch=sm_90 -I%S/Inputs -DSIDE=2048 2>&1 | FileCheck --check-prefix=KNOWN %s
//
// CHECK: remark: rewrote 'product' (1 launch): 64 outputs a thread
// CHECK: note: about {{[1-9][0-9][0-9]}} registers a thread, predicted speed-up {{[34][.0-9]+}}x on sm_90 (H200), from 50688 blocks on
// CHECK: note: in smaller grids: 16 outputs a thread; 'As' kept shared, staged once for several blocks
// SEEN: note: executed before it was written: {{[1-9][0-9]*}} launches
//
// TEXT: if (::rcache::device::fills(rc_grid, 4u, 202752, true) &&
// TEXT: product_rc<<<
// TEXT: } else if (::rcache::device::fills(rc_grid, 16u, 14784) &&
// TEXT: product_rc_small<<<
// TEXT: product<<<
//
// FORMS: few
// FORMS: many
//
// A grid that host code tells has its plan, and no other.
// KNOWN: rewrote 'product' (1 launch)
// KNOWN-NOT: in smaller grids
#include "program.h"

__global__ void product(const float *A, const float *B, float *C, int n) {
  __shared__ float As[16][16];
  __shared__ float Bs[16][16];
  const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < (n + 15) / 16; ++t) {
    const int k = t * 16;
    As[threadIdx.y][threadIdx.x] = row < n && k + threadIdx.x < n ? A[row * n + k + threadIdx.x] : 0.0f;
    Bs[threadIdx.y][threadIdx.x] = col < n && k + threadIdx.y < n ? B[(k + threadIdx.y) * n + col] : 0.0f;
    __syncthreads();
    for (int i = 0; i < 16; ++i)
      sum += As[threadIdx.y][i] * Bs[i][threadIdx.x];
    __syncthreads();
  }
  if (row < n && col < n)
    C[row * n + col] = sum;
}

static void launch(int n) {
  Buffer<float> A(randoms<float>(n * n)), B(randoms<float>(n * n)), C((size_t)n * n);
  const int blocks = (n + 15) / 16;
  product<<<dim3(blocks, blocks), dim3(16, 16)>>>(A.Data, B.Data, C.Data, n);
  C.show("product", n, n);
}

int main(int argc, char **) {
#ifdef SIDE
  launch(SIDE);
#else
  for (int n : {33, 32})
    launch(n * argc);
#endif
}
