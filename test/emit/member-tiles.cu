// Objects in shared memory whose members are arrays of two dimensions: each is planned as
// an array of its own. Methods by name that nobody calls are no obstacle; one that is called
// is, and so is an object whose address is taken.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2>&1 | FileCheck %s
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=SAME %s
//
// CHECK-DAG: rewrote 'twoTiles' {{.*}}; 't_q' reloaded{{.*}}; 't_w' reloaded
// CHECK-DAG: rewrote 'oneElement' {{.*}}; 't_q' reloaded
// CHECK-DAG: rewrote 'products' {{.*}}; 't_a' kept shared, staged once for several blocks; 't_b' kept shared
// CHECK-DAG: 'called' left as it is
// CHECK-DAG: 'addressed' left as it is
// SAME: equivalent: 5 launches {{.*}}; 3 by a rewritten kernel
#include "program.h"
struct Tile {
  float q[8][33];
  short w[32];
  __device__ float first() const { return q[0][0]; }
};
struct Pair {
  static constexpr int B = 16;
  float a[B][B], b[B][B + 1];
};
__global__ void twoTiles(const float *in, float *out) {
  __shared__ Tile t;
  const int x = threadIdx.x, y = threadIdx.y;
  t.q[y][x] = in[(blockIdx.x * 8 + y) * 32 + x];
  if (y == 0)
    t.w[x] = (short)in[x];
  __syncthreads();
  out[(blockIdx.x * 8 + y) * 32 + x] = t.q[7 - y][x] - t.w[31 - x];
}
__global__ void oneElement(const float *in, float *out) {
  __shared__ Tile t[1];
  const int x = threadIdx.x, y = threadIdx.y;
  t[0].q[y][x] = in[(blockIdx.x * 8 + y) * 32 + x];
  __syncthreads();
  out[(blockIdx.x * 8 + y) * 32 + x] = t[0].q[y][31 - x];
}
__global__ void products(const float *A, const float *B, float *C, int n) {
  __shared__ Pair t;
  const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    t.a[y][x] = row < n && k + x < n ? A[row * n + k + x] : 0.f;
    t.b[y][x] = k + y < n && col < n ? B[(k + y) * n + col] : 0.f;
    __syncthreads();
    for (int i = 0; i < 16; ++i)
      sum += t.a[y][i] * t.b[i][x];
    __syncthreads();
  }
  if (row < n && col < n)
    C[row * n + col] = sum;
}
__global__ void called(const float *in, float *out) {
  __shared__ Tile t;
  const int x = threadIdx.x, y = threadIdx.y;
  t.q[y][x] = in[(blockIdx.x * 8 + y) * 32 + x];
  __syncthreads();
  out[(blockIdx.x * 8 + y) * 32 + x] = t.q[7 - y][x] - t.first();
}
__device__ float second(const Tile *t) { return t->q[1][1]; }
__global__ void addressed(const float *in, float *out) {
  __shared__ Tile t;
  const int x = threadIdx.x, y = threadIdx.y;
  t.q[y][x] = in[(blockIdx.x * 8 + y) * 32 + x];
  __syncthreads();
  out[(blockIdx.x * 8 + y) * 32 + x] = t.q[7 - y][x] - second(&t);
}
int main() {
  const int n = 8 * 32 * 12, m = 75;
  Buffer<float> in(randoms<float>(n)), out(n), a(randoms<float>(m * m)), b(randoms<float>(m * m)), c(m * m);
#define RUN(K) K<<<12, dim3(32, 8)>>>(in.Data, out.Data), out.show(#K)
  RUN(twoTiles);
  RUN(oneElement);
  RUN(called);
  RUN(addressed);
  products<<<dim3(5, 5), dim3(16, 16)>>>(a.Data, b.Data, c.Data, m);
  c.show("products");
}
