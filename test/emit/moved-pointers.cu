// Pointer parameters that the kernel moves: what is loaded or stored anew is
// counted from where the launch pointed, not from where they are by then.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=SAME %s
// RUN: rcache-rewrite %s -o %t.fast.cu --cuda-path=%cuda -- -I%S/Inputs 2> /dev/null
// RUN: rcache-check diff %s %t.fast.cu -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=SAME %s
//
// CHECK-DAG: rewrote 'line'
// CHECK-DAG: rewrote 'rows'
// CHECK-DAG: rewrote 'mirror'
// CHECK-DAG: rewrote 'product'
// CHECK-DAG: rewrote 'twice'
// SAME: equivalent: {{.*}}; {{[1-9]}}{{.*}} by a rewritten kernel
#include "program.h"

__global__ void line(const float *in, float *out) {
  __shared__ float s[130];
  in += blockIdx.x * 128;
  s[threadIdx.x] = in[threadIdx.x];
  if (threadIdx.x < 2)
    s[128 + threadIdx.x] = in[128 + threadIdx.x];
  __syncthreads();
  out += blockIdx.x * 128;
  out[threadIdx.x] = s[threadIdx.x] + s[threadIdx.x + 2];
}

__global__ void rows(const int *__restrict__ in, int *__restrict__ out, int w) {
  __shared__ int s[66];
  in += (size_t)blockIdx.y * w;
  out = out + (size_t)blockIdx.y * w;
  const int x = blockIdx.x * 64 + threadIdx.x;
  s[threadIdx.x + 1] = in[x];
  if (threadIdx.x == 0)
    s[0] = x > 0 ? in[x - 1] : 0;
  if (threadIdx.x == 63)
    s[65] = x + 1 < w ? in[x + 1] : 0;
  __syncthreads();
  out[x] = s[threadIdx.x] + 3 * s[threadIdx.x + 1] + s[threadIdx.x + 2];
}

__global__ void mirror(const double *a, double *b, int lda, int ldb) {
  __shared__ double t[16][16];
  const int tx = threadIdx.x, ty = threadIdx.y;
  a += (size_t)blockIdx.y * 16 * lda + blockIdx.x * 16;
  b += (size_t)blockIdx.y * 16 * ldb + (gridDim.x - 1 - blockIdx.x) * 16;
#pragma unroll
  for (int r = 0; r < 4; ++r)
    t[ty + 4 * r][15 - tx] = a[(ty + 4 * r) * lda + tx];
  __syncthreads();
#pragma unroll
  for (int r = 0; r < 4; ++r)
    b[(ty + 4 * r) * ldb + tx] = t[ty + 4 * r][tx];
}

// Moved from tile to tile.
__global__ void product(const float *a, const float *b, float *c, int n) {
  __shared__ float as[16][16], bs[16][16];
  const int tx = threadIdx.x, ty = threadIdx.y;
  a += (blockIdx.y * 16 + ty) * n + tx;
  b += ty * n + blockIdx.x * 16 + tx;
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    as[ty][tx] = *a;
    bs[ty][tx] = *b;
    a += 16;
    b += 16 * n;
    __syncthreads();
    for (int i = 0; i < 16; ++i)
      sum += as[ty][i] * bs[i][tx];
    __syncthreads();
  }
  c[(blockIdx.y * 16 + ty) * n + blockIdx.x * 16 + tx] = sum;
}

// Moved between two phases.
__global__ void twice(const int *in, int *out, int n) {
  __shared__ int s[128];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = in[g];
  __syncthreads();
  int v = s[(t + 1) % 128];
  __syncthreads();
  in += n;
  s[t] = in[g];
  __syncthreads();
  out[g] = v - s[127 - t];
}

int main() {
  const int n = 1024;
  Buffer<float> F(randoms<float>(n + 128)), G(n);
  line<<<n / 128, 128>>>(F.Data, G.Data);
  G.show("line");
  Buffer<int> I(randoms<int>(4 * n)), J(4 * n);
  rows<<<dim3(n / 64, 4), 64>>>(I.Data, J.Data, n);
  J.show("rows");
  Buffer<double> D(randoms<double>(64 * 48)), E(64 * 48);
  mirror<<<dim3(4, 3), dim3(16, 4)>>>(D.Data, E.Data, 64, 64);
  E.show("mirror");
  Buffer<float> A(randoms<float>(64 * 64)), B(randoms<float>(64 * 64)), C(64 * 64);
  product<<<dim3(4, 4), dim3(16, 16)>>>(A.Data, B.Data, C.Data, 64);
  C.show("product");
  Buffer<int> K(n);
  twice<<<n / 128, 128>>>(I.Data, K.Data, n);
  K.show("twice");
}
