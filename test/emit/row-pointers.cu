// Tiles that are rows of dynamic shared storage: pointers to arrays.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2>&1 | FileCheck %s
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs -DRCACHE_ANY_LAUNCH 2>&1 \
// RUN:   | FileCheck %s --check-prefix=DIFF
// DIFF: equivalent: 6 launches compared, {{.*}}; 4 by a rewritten kernel
#include "program.h"

// CHECK-DAG: rewrote 'product' ({{.*}}): {{[0-9]+}} outputs a thread; 'pool_0' {{.*}} 'pool_1'
__global__ void product(const float *A, const float *B, float *C, int n) {
  extern __shared__ float pool[];
  float (*As)[16] = reinterpret_cast<float (*)[16]>(pool);
  float (*Bs)[17] = (float (*)[17])(pool + 16 * 16);
  const int r = blockIdx.y * 16 + threadIdx.y, c = blockIdx.x * 16 + threadIdx.x;
  float acc = 0;
  for (int k0 = 0; k0 < n; k0 += 16) {
    As[threadIdx.y][threadIdx.x] = A[r * n + k0 + threadIdx.x];
    Bs[threadIdx.y][threadIdx.x] = B[(k0 + threadIdx.y) * n + c];
    __syncthreads();
    for (int k = 0; k < 16; ++k)
      acc = fmaf(As[threadIdx.y][k], Bs[k][threadIdx.x], acc);
    __syncthreads();
  }
  C[r * n + c] = acc;
}
// CHECK-DAG: rewrote 'blurred'
__global__ void blurred(const float *__restrict__ a, float *__restrict__ out, int n) {
  __shared__ float flat[18 * 18];
  float (*tile)[18] = reinterpret_cast<float (*)[18]>(flat);
  const int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
  for (int j = ty; j < 18; j += 16)
    for (int i = tx; i < 18; i += 16) {
      const int p = (int)blockIdx.x * 16 + i - 1, q = (int)blockIdx.y * 16 + j - 1;
      tile[j][i] = p >= 0 && p < n && q >= 0 && q < n ? a[q * n + p] : 0;
    }
  __syncthreads();
  if (x < n && y < n)
    out[y * n + x] = tile[ty][tx + 1] + tile[ty + 1][tx] + tile[ty + 1][tx + 2] + tile[ty + 2][tx + 1];
}
// Rows of another type than the storage's:
// CHECK-DAG: 'punned' left as it is: {{.*}} [type-punned]
__global__ void punned(const int *a, int *out, int n) {
  __shared__ float pool[64];
  int (*rows)[8] = (int (*)[8])pool;
  rows[threadIdx.x / 8][threadIdx.x % 8] = a[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = rows[threadIdx.x / 8][7 - threadIdx.x % 8];
}

int main() {
  for (int n : {64, 96}) {
    const Buffer<float> a(randoms<float>(n * n)), b(randoms<float>(n * n));
    const Buffer<int> numbers(randoms<int>(64));
    Buffer<float> c(n * n);
    Buffer<int> more(64);
    product<<<dim3(n / 16, n / 16), dim3(16, 16), (256 + 272) * 4>>>(a.Data, b.Data, c.Data, n);
    c.show("product", n);
    blurred<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(a.Data, c.Data, n), c.show("blurred", n);
    punned<<<1, 64>>>(numbers.Data, more.Data, n), more.show("punned", n);
  }
}
