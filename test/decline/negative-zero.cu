// A sum that begins with -0 is its first product where a compiler takes the first
// round out of the loop, and another product is fused in the next sum.
// RUN: %rewrite %s -q --force --list -- %mock 2>&1 | FileCheck %s
// CHECK: declined from_minus_zero; fusion-unsettled ({{.*}} begins with -0)
// CHECK: declined set_anew; fusion-unsettled ({{.*}} begins with -0)
// CHECK: rewritten from_zero
// CHECK: rewritten greatest

#define STAGE                                                                  \
  __shared__ float s[130];                                                     \
  int t = threadIdx.x, g = blockIdx.x * 128 + t;                               \
  s[t] = in[g];                                                                \
  if (t < 2)                                                                   \
    s[t + 128] = in[g + 128];                                                  \
  __syncthreads();

__global__ void from_minus_zero(const float *__restrict__ in, float *__restrict__ out, float k) {
  STAGE
  float sum = -0.f;
#pragma unroll
  for (int i = 0; i < 3; ++i)
    sum += s[t + i] * k;
  out[g] = sum;
}
__global__ void set_anew(const float *__restrict__ in, float *__restrict__ out, float k) {
  STAGE
  float sum;
  sum = -0.0;
#pragma unroll
  for (int i = 0; i < 3; ++i)
    sum = s[t + i] * k + sum;
  out[g] = sum;
}
__global__ void from_zero(const float *__restrict__ in, float *__restrict__ out, float k) {
  STAGE
  float sum = 0.f;
#pragma unroll
  for (int i = 0; i < 3; ++i)
    sum += s[t + i] * k;
  out[g] = sum;
}
__global__ void greatest(const float *__restrict__ in, float *__restrict__ out, float k) {
  STAGE
  float most = -0.f;
#pragma unroll
  for (int i = 0; i < 3; ++i)
    most = s[t + i] > most ? s[t + i] : most;
  out[g] = most;
}

void run(const float *in, float *out, float k, int n) {
  from_minus_zero<<<n / 128, 128>>>(in, out, k);
  set_anew<<<n / 128, 128>>>(in, out, k);
  from_zero<<<n / 128, 128>>>(in, out, k);
  greatest<<<n / 128, 128>>>(in, out, k);
}
