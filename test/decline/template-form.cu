// A kernel whose template parameters cannot be repeated one by one.
// RUN: %rewrite %s -q --list -- %mock 2>&1 | FileCheck %s
// CHECK: declined pack{{.*}}; template-form
// CHECK: declined unnamed{{.*}}; template-form

#define BODY                                                                   \
  __shared__ float s[257];                                                     \
  const int g = blockIdx.x * 256 + threadIdx.x;                                \
  s[threadIdx.x + 1] = g < n ? in[g] : 0.0f;                                   \
  if (threadIdx.x == 0)                                                        \
    s[0] = g > 0 && g <= n ? in[g - 1] : 0.0f;                                 \
  __syncthreads();                                                             \
  if (g < n)                                                                   \
    out[g] = s[threadIdx.x] + s[threadIdx.x + 1];

template <typename... More>
__global__ void pack(const float *in, float *out, int n, More... more) {
  BODY
}
template <typename T, int = 4>
__global__ void unnamed(const T *in, T *out, int n) {
  BODY
}

void run(const float *in, float *out, int n) {
  pack<<<(n + 255) / 256, 256>>>(in, out, n, 1, 2.0);
  unnamed<<<(n + 255) / 256, 256>>>(in, out, n);
}
