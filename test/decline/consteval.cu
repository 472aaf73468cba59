// `if consteval` has no condition, in a kernel, in what it calls, and in host code.
//
// REQUIRES: cuda-toolkit
// RUN: rcache-rewrite %s -o %t.cu -q --list --force --self-check=off --cuda-path=%cuda -- -std=c++20 | FileCheck %s

__device__ constexpr float half(float x) {
  if consteval { return x * .5f; } else { return x * .25f; }
}

#define SMOOTH(NAME, RESULT)                                                   \
  __global__ void NAME(const float *in, float *out, int n) {                   \
    __shared__ float s[130];                                                   \
    const int t = threadIdx.x, g = blockIdx.x * 128 + t;                       \
    for (int l = t; l < 130; l += 128) {                                       \
      const int e = (int)(blockIdx.x * 128) + l - 1;                           \
      s[l] = e >= 0 && e < n ? in[e] : 0.f;                                    \
    }                                                                          \
    __syncthreads();                                                           \
    float x = s[t] + s[t + 1] + s[t + 2];                                      \
    RESULT;                                                                    \
    if (g < n)                                                                 \
      out[g] = x;                                                              \
  }

// CHECK-DAG: declined{{.*}}inKernel{{.*}}unsupported-statement
SMOOTH(inKernel, if consteval { x = 1; } else { x += 2; })
// CHECK-DAG: declined{{.*}}negated{{.*}}unsupported-statement
SMOOTH(negated, if !consteval { x += 2; })
// CHECK-DAG: declined{{.*}}inCalled{{.*}}unsupported-statement
SMOOTH(inCalled, x = half(x))
// CHECK-DAG: rewritten{{.*}}without
SMOOTH(without, x += 2)

int main(int argc, char **argv) {
  int n = 1000;
  if consteval { n = 1; } else { n *= argc; }
  float *a, *b;
  cudaMalloc(&a, n * sizeof(float));
  cudaMalloc(&b, n * sizeof(float));
  inKernel<<<(n + 127) / 128, 128>>>(a, b, n);
  negated<<<(n + 127) / 128, 128>>>(a, b, n);
  inCalled<<<(n + 127) / 128, 128>>>(a, b, n);
  without<<<(n + 127) / 128, 128>>>(a, b, n);
}
