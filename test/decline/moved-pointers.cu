// Pointers that the kernel moves have a copy that moves: the verdict is that of what
// is left then.
// RUN: %rewrite %s -q --list -- %mock 2>&1 | FileCheck %s
// CHECK: rewritten keys: {{.*}}'k' owned by a warp
// CHECK: declined table; data-dependent-index

__device__ void order(unsigned &a, unsigned &b, unsigned up) {
  if ((a > b) == up) {
    unsigned t = a;
    a = b;
    b = t;
  }
}
__global__ void keys(unsigned *to, const unsigned *from, unsigned up) {
  __shared__ unsigned k[256];
  from += blockIdx.x * 256 + threadIdx.x;
  to += blockIdx.x * 256 + threadIdx.x;
  k[threadIdx.x] = from[0];
  k[threadIdx.x + 128] = from[128];
  for (unsigned stride = 128; stride > 0; stride >>= 1) {
    __syncthreads();
    unsigned at = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
    order(k[at], k[at + stride], up);
  }
  __syncthreads();
  to[0] = k[threadIdx.x];
  to[128] = k[threadIdx.x + 128];
}

__global__ void table(const int *from, int *to) {
  __shared__ int s[128];
  from += blockIdx.x * 128;
  s[threadIdx.x] = from[threadIdx.x];
  __syncthreads();
  to[blockIdx.x * 128 + threadIdx.x] = s[s[threadIdx.x] & 127];
}

void run(unsigned *a, unsigned *b, int *c, int *d) {
  keys<<<10000, 128>>>(a, b, 1);
  table<<<1000, 128>>>(c, d);
}
