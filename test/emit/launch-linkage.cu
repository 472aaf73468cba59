// A kernel of a header, launched in two files with other blocks: the new kernels
// have other plans and one name. Both are linked into one program.
//
// REQUIRES: cuda-toolkit
// RUN: rm -rf %t && mkdir -p %t && cp %S/Inputs/program.h %S/Inputs/sum3.h %t
// RUN: %python -c "t = open(r'%s').read().split('//---' + ' ')[1:]; [open(r'%t/' + p.split('\n', 1)[0], 'w').write(p.split('\n', 1)[1]) for p in t]"
// RUN: rcache-rewrite %t/one.cu -q --force -o %t/one_rc.cu --cuda-path=%cuda -- -DBLOCK=256
// RUN: rcache-rewrite %t/two.cu -q --force -o %t/two_rc.cu --cuda-path=%cuda -- -DBLOCK=64
// RUN: %nvcc -std=c++17 -rdc=true -static-global-template-stub=false -dc %t/one_rc.cu -o %t/one.o
// RUN: %nvcc -std=c++17 -rdc=true -static-global-template-stub=false -dc %t/two_rc.cu -o %t/two.o
// RUN: %nvcc -rdc=true %t/one.o %t/two.o -o %t/program
// RUN: %nvcc -std=c++17 -rdc=true -static-global-template-stub=false -ptx %t/one_rc.cu -o %t/one.ptx
// RUN: FileCheck --input-file=%t/one.ptx %s
// No entry that a linker could take for another file's.
// CHECK-NOT: .visible .entry _Z{{.*}}rows_rc
// CHECK-NOT: .weak .entry _Z{{.*}}rows_rc
// CHECK: .entry __nv_static{{.*}}rows_rc

#if 0
//--- kernel.cuh
template <typename T, int B> __global__ void rows(const T *in, T *out, int n) {
  __shared__ T s[B + 2];
  const int t = threadIdx.x, g = blockIdx.x * B + t;
  s[t + 1] = g < n ? in[g] : T(0);
  if (t == 0)
    s[0] = g > 0 && g <= n ? in[g - 1] : T(0);
  if (t == B - 1)
    s[B + 1] = g + 1 < n ? in[g + 1] : T(0);
  __syncthreads();
  if (g < n)
    out[g] = s[t] + s[t + 1] * T(2) + s[t + 2];
}
//--- one.cu
#include "kernel.cuh"
void second(const float *a, float *b, int n);
void first(const float *a, float *b, int n) { rows<float, 256><<<(n + 255) / 256, 256>>>(a, b, n); }
int main() { first(0, 0, 0); second(0, 0, 0); }
//--- two.cu
#include "kernel.cuh"
void second(const float *a, float *b, int n) { rows<float, 256><<<(n + 63) / 64, 64>>>(a, b, n); }
//--- rest
#endif
