// Sums of which no rule tells what a compiler fuses: nvcc is asked, and the new kernel says
// what it made of the original.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force --self-check=quick -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
// RUN: %if slow %{ rcache-rewrite %t.cu -o %t.again.cu --cuda-path=%cuda -- -I%S/Inputs 2> /dev/null %}
// RUN: %if slow %{ cmp %t.cu %t.again.cu %}
//
// Without a compiler, where quotients are products, and without fusing, nothing is asked.
// RUN: %if slow %{ rcache-rewrite %s --force --self-check=off -o %t.off.cu --cuda-path=%cuda -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=OFF %s %}
// RUN: %if slow %{ rcache-rewrite %s --force --self-check=quick --kernel=doubled -o %t.fast.cu --cuda-path=%cuda -- -I%S/Inputs -use_fast_math 2>&1 | FileCheck --check-prefix=OFF %s %}
// RUN: rcache-rewrite %s --force --self-check=quick -o %t.apart.cu --cuda-path=%cuda -- -I%S/Inputs -ffp-contract=off 2>&1 | FileCheck --check-prefix=APART %s
// RUN: FileCheck --check-prefix=PLAIN %s < %t.apart.cu
//
// OFF-NOT: rewrote 'doubled'
// APART: rewrote 'doubled'
// PLAIN-NOT: __fmaf_rn{{[(]}}
#include "buffers.h"

// CHECK-DAG: rewrote 'doubled'
// CHECK-DAG: its sums say what is rounded
// TEXT-LABEL: void doubled_rc{{[(]}}
// TEXT: __fmaf_rn{{[(]}}
// TEXT-LABEL: void doubled_rc_launch{{[(]}}
__global__ void doubled(const float *x, float *y, int n) {
  __shared__ float s[128 + 1];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? x[g] : 0.f;
  if (t == 0) s[128] = g + 128 < n ? x[g + 128] : 0.f;
  __syncthreads();
  if (g < n)
    y[g] = 2 * s[t] - 3 * s[t + 1];
}

// A product that a variable holds, and one of what is read where the variable is set.
// CHECK-DAG: rewrote 'held'
__global__ void held(const float *x, float *y, float w, int n) {
  __shared__ float s[128 + 2];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  for (int i = t; i < 130; i += 128)
    s[i] = blockIdx.x * 128 + i < n ? x[blockIdx.x * 128 + i] : 0.f;
  __syncthreads();
  const float p = s[t] * s[t + 1], q = w * w;
  float u = p + s[t + 2];
  if (w > 2.f)
    u = u * q - p;
  if (g < n)
    y[g] = u - (p - q * 3);
}

// In a loop, to a variable, in 64 bits, over two lines.
// CHECK-DAG: rewrote 'twice'
__global__ void twice(const double *x, double *y, double w, int n) {
  __shared__ double s[128 + 4];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  for (int i = t; i < 132; i += 128)
    s[i] = blockIdx.x * 128 + i < n ? x[blockIdx.x * 128 + i] : 0.0;
  __syncthreads();
  double v = 1;
  for (int k = 0; k < 4; ++k) {
    v += s[t + k] * w;
    v = v * 0.5 - s[t + 4] *
                      s[t + k];
  }
  v -= 2 * v;
  if (g < n)
    y[g] = 2.0 * v - s[t] * 7;
}

// Functions are written out first, here two levels of them.
__device__ float scaled(float a, float b) { return a * b; }
__device__ float between(float a, float b, float t) { return a + scaled(t, b - a); }
// CHECK-DAG: rewrote '(anonymous namespace)::call'
namespace {
__global__ void call(const float *x, float *y, int n) {
  __shared__ float s[128 + 1];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? x[g] : 0.f;
  if (t == 0) s[128] = g + 128 < n ? x[g + 128] : 0.f;
  __syncthreads();
  if (g < n)
    y[g] = 2 * between(s[t], s[t + 1], 0.3f) - scaled(3.f, s[t + 1]);
}
} // namespace

// A function of the toolkit may end in a product.
// CHECK-DAG: rewrote 'root'
__global__ void root(const float *x, float *y, float w, int n) {
  __shared__ float s[128 + 1];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? x[g] : 0.f;
  if (t == 0) s[128] = g + 128 < n ? x[g + 128] : 0.f;
  __syncthreads();
  if (g < n)
    y[g] = (2 * s[t] - 3 * s[t + 1]) * expf(s[t] * w) - 1.f;
}

// Left: products in macros.
#define TIMES(a, b) ((a) * (b))
// CHECK-DAG: 'macro' left as it is: {{.*}}[fusion-unsettled]
__global__ void macro(const float *x, float *y, int n) {
  __shared__ float s[128 + 1];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? x[g] : 0.f;
  if (t == 0) s[128] = g + 128 < n ? x[g + 128] : 0.f;
  __syncthreads();
  if (g < n)
    y[g] = 2 * s[t] - TIMES(3.f, s[t + 1]);
}

/// Values of which every product is rounded.
template <class T> void fill(Buf<T> &b) {
  std::vector<T> h(b.n);
  unsigned x = 77;
  for (T &v : h) {
    x = x * 1664525u + 1013904223u;
    v = T(int(x >> 8) - (1 << 23)) * T(1.1e-6);
  }
  cudaMemcpy(b.d, h.data(), h.size() * sizeof(T), cudaMemcpyHostToDevice);
}
int main() {
  for (int n : SIZES) {
    Buf<float> a(n), b(n);
    Buf<double> c(n), d(n);
    fill(a), fill(c);
    doubled<<<(n + 127) / 128, 128>>>(a.d, b.d, n); show("doubled", b);
    held<<<(n + 127) / 128, 128>>>(a.d, b.d, 2.3f, n); show("held", b);
    held<<<(n + 127) / 128, 128>>>(a.d, b.d, 1.7f, n); show("held", b);
    twice<<<(n + 127) / 128, 128>>>(c.d, d.d, 1.3, n); show("twice", d);
    macro<<<(n + 127) / 128, 128>>>(a.d, b.d, n); show("macro", b);
    call<<<(n + 127) / 128, 128>>>(a.d, b.d, n); show("call", b);
    root<<<(n + 127) / 128, 128>>>(a.d, b.d, 0.01f, n); show("root", b);
  }
}
