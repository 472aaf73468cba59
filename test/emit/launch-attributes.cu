// Attributes of a kernel are those of its text: launch bounds behind macros, as
// attributes, of a template parameter; clusters are left alone; what
// cudaFuncSetAttribute allows the original the new kernel is allowed as well.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck --input-file=%t.remarks %s
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
// RUN: %compile -std=c++17 -I%S/Inputs -c %t.cu -o %t.o
// CHECK-DAG: rewrote 'b1'
// CHECK-DAG: rewrote 'b2'
// CHECK-DAG: rewrote 'b3'
// CHECK-DAG: 'b4' left as it is: {{.*}}[kernel-attribute]
// CHECK-DAG: rewrote 'b5<256>'
// CHECK-DAG: rewrote 'dyn'
//
#include "sum3.h"
#define BOUND __launch_bounds__(256)
#define K __global__ void
__global__ void BOUND b1(const float *in, float *out, int n) { SUM3(float) }
__attribute__((global)) void __attribute__((launch_bounds(256, 2))) b2(const float *in, float *out, int n) { SUM3(float) }
K __maxnreg__(64) b3(const float *in, float *out, int n) { SUM3(float) }
__global__ void __cluster_dims__(2, 1, 1) b4(const float *in, float *out, int n) { SUM3(float) }
template <int N> __global__ void __launch_bounds__(N) b5(const float *in, float *out, int n) { SUM3(float) }
__global__ void dyn(const float *in, float *out, int n) {
  extern __shared__ float s[]; const int t = threadIdx.x, g = blockIdx.x * 256 + t;
  s[t] = g < n ? in[g] : 0; __syncthreads(); float v = 0; for (int i = 0; i < 8; ++i) v += s[(t * 7 + i * i) & 255]; if (g < n) out[g] = v; }
int main() {
  const int n = 5000; Buffer<float> a(randoms<float>(n)), b(n);
  b1<<<20, 256>>>(a.Data, b.Data, n); b.show("b1"); b2<<<20, 256>>>(a.Data + 1, b.Data, n - 1); b.show("b2");
  b3<<<20, 256>>>(a.Data + 2, b.Data, n - 2); b.show("b3"); b4<<<20, 256>>>(a.Data + 3, b.Data, n - 3); b.show("b4");
  b5<256><<<20, 256>>>(a.Data + 4, b.Data, n - 4); b.show("b5");
  cudaFuncSetAttribute(dyn, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000);
  dyn<<<20, 256, 100000>>>(a.Data, b.Data, n); std::printf("%d\n", (int)cudaGetLastError()); b.show("dyn");
  dyn<<<20, 256, 100001>>>(a.Data + 1, b.Data, n - 1); std::printf("%d\n", (int)cudaGetLastError()); b.show("dyn");
}
