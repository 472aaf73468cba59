// A queue of planes that only some threads load: what the others hold is what they
// held in front of the loop. Conditions that a round changes say nothing of others.
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite --force %s -o %t.cu --cuda-path=%cuda 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check %s --kernel=laplace7 --rewritten=%t.cu --trials=30
// RUN: rcache-check %s --kernel=flagged --rewritten=%t.cu --trials=30
// CHECK-DAG: rewrote 'laplace7' {{.*}}'s' reloaded
// CHECK-DAG: 'flagged'
#include <cuda_runtime.h>
#define TX 32
#define TY 8

__global__ void laplace7(const float *__restrict__ in, float *__restrict__ out,
                         int nx, int ny, int nz, float c0, float c1) {
  __shared__ float s[TY + 2][TX + 2];
  int i = blockIdx.x * TX + threadIdx.x + 1;
  int j = blockIdx.y * TY + threadIdx.y + 1;
  int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  bool active = i < nx - 1 && j < ny - 1;
  bool load = i < nx && j < ny;
  int plane = nx * ny;
  int at = j * nx + i;
  float below = 0, current = 0, above = 0;
  if (load) {
    below = in[at];
    current = in[at + plane];
  }
  for (int k = 1; k < nz - 1; k++) {
    int c = at + k * plane;
    if (load)
      above = in[c + plane];
    __syncthreads();
    if (load) {
      s[ty][tx] = current;
      if (threadIdx.x == 0)
        s[ty][0] = in[c - 1];
      if (threadIdx.x == TX - 1 && i + 1 < nx)
        s[ty][TX + 1] = in[c + 1];
      if (threadIdx.y == 0)
        s[0][tx] = in[c - nx];
      if (threadIdx.y == TY - 1 && j + 1 < ny)
        s[TY + 1][tx] = in[c + nx];
    }
    __syncthreads();
    if (active)
      out[c] = c1 * (s[ty][tx - 1] + s[ty][tx + 1] + s[ty - 1][tx] +
                     s[ty + 1][tx] + below + above) -
               c0 * current;
    below = current;
    current = above;
  }
}

// Every second plane is kept: `fresh` is another value in each round.
__global__ void flagged(const float *__restrict__ in, float *__restrict__ out,
                        int nx, int nz) {
  __shared__ float s[66];
  int i = blockIdx.x * 64 + threadIdx.x, t = threadIdx.x + 1;
  int fresh = 1;
  float current = in[i];
  for (int k = 1; k < nz; k++) {
    if (fresh)
      current = in[i + k * nx];
    fresh = 1 - fresh;
    s[t] = current;
    if (threadIdx.x == 0)
      s[0] = s[65] = 0;
    __syncthreads();
    out[i + k * nx] = s[t - 1] + s[t + 1];
    __syncthreads();
  }
}

void run(const float *in, float *out, int nx, int ny, int nz) {
  dim3 threads(TX, TY);
  dim3 blocks((nx - 2 + TX - 1) / TX, (ny - 2 + TY - 1) / TY);
  laplace7<<<blocks, threads>>>(in, out, nx, ny, nz, 6.f, 1.f);
  flagged<<<nx / 64, 64>>>(in, out, nx, nz);
}
