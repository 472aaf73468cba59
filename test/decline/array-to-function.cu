// The array is passed to functions of the file: by pointer and by reference (written out),
// to one that gives a place in it, and to one whose product is rounded as no part of a sum
// would be: a compiler may not write it out.
// RUN: %rewrite %s -q --force --list -- %mock 2>&1 | FileCheck %s
// CHECK: rewritten by_pointer
// CHECK: rewritten by_reference
// CHECK: declined place{{.*}}; array-to-function
// CHECK: declined rounded; array-to-function ('s' is passed to 'product', which is not to be inlined)
// CHECK: rewritten whole

__device__ float difference(const float *s, int i) { return s[i] - s[i + 1]; }
__device__ float sum(const float (&s)[65], int i) { return s[i] + s[i + 1]; }

__device__ const float &at(const float (&s)[65], int i) { return s[i]; }

__global__ void by_pointer(const float *__restrict__ in, float *__restrict__ out) {
  __shared__ float s[65];
  int t = threadIdx.x, g = blockIdx.x * 64 + t;
  s[t] = in[g];
  if (t == 0)
    s[64] = in[g + 64];
  __syncthreads();
  out[g] = difference(s, t);
}

__global__ void by_reference(const float *__restrict__ in, float *__restrict__ out) {
  __shared__ float s[65];
  int t = threadIdx.x, g = blockIdx.x * 64 + t;
  s[t] = in[g];
  if (t == 0)
    s[64] = in[g + 64];
  __syncthreads();
  out[g] = sum(s, t);
}

__global__ void place(const float *__restrict__ in, float *__restrict__ out) {
  __shared__ float s[65];
  int t = threadIdx.x, g = blockIdx.x * 64 + t;
  s[t] = in[g];
  if (t == 0)
    s[64] = in[g + 64];
  __syncthreads();
  out[g] = at(s, t) + at(s, t + 1);
}

__device__ __noinline__ float product(const float *s, int i) { return s[i] * s[i + 1]; }
__global__ void rounded(const float *__restrict__ in, float *__restrict__ out) {
  __shared__ float s[65];
  int t = threadIdx.x, g = blockIdx.x * 64 + t;
  s[t] = in[g];
  if (t == 0)
    s[64] = in[g + 64];
  __syncthreads();
  out[g] = product(s, t) + in[g];
}

__device__ __noinline__ int larger(const int *s, int i) { return max(s[i], s[i + 1]); }
__global__ void whole(const int *__restrict__ in, int *__restrict__ out) {
  __shared__ int s[65];
  int t = threadIdx.x, g = blockIdx.x * 64 + t;
  s[t] = in[g];
  if (t == 0)
    s[64] = in[g + 64];
  __syncthreads();
  out[g] = larger(s, t) + in[g];
}

void run(const float *in, float *out, const int *from, int *to, int n) {
  by_pointer<<<n / 64, 64>>>(in, out);
  by_reference<<<n / 64, 64>>>(in, out);
  place<<<n / 64, 64>>>(in, out);
  rounded<<<n / 64, 64>>>(in, out);
  whole<<<n / 64, 64>>>(from, to);
}
