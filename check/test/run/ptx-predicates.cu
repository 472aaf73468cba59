// REQUIRES: cuda-toolkit
// RUN: %check run %s | FileCheck %s
// RUN: %status 3 %check run %s --device-code=clang --args unset 2>&1 | FileCheck %s --check-prefix=UNSET
// Predicated instructions of inline PTX: arithmetic, a load that must not
// happen, a block library's scan step.
// CHECK: ok
// UNSET: error: a value that was never initialised is stored to global memory
#include <cstdio>
__global__ void kernel(const int *a, int *o, int n, bool set) {
  int t = threadIdx.x, sum = t, v = 0, w = -1;
  for (int d = 1; d < 32; d *= 2)
    asm volatile("{ .reg .s32 r0; .reg .pred p;"
                 "  shfl.sync.up.b32 r0|p, %1, %2, 0, -1;"
                 "  @p add.s32 r0, r0, %3; mov.s32 %0, r0; }"
                 : "=r"(sum)
                 : "r"(sum), "r"(d), "r"(sum));
  asm volatile("{ .reg .pred p; setp.lt.s32 p, %2, %3;\n"
               "\t@p ld.global.s32 %0, [%4];\n"
               "\t@!p mov.s32 %1, 7; }"
               : "+r"(v), "+r"(w)
               : "r"(t), "r"(n), "l"(a + t));
  if (!set)
    asm("{ .reg .pred p; setp.lt.s32 p, %1, %2; @p mov.s32 %0, 5; }"
        : "=r"(v)
        : "r"(t), "r"(n));
  o[t] = 1000000 * sum + 1000 * v + w;
}
int main(int argc, char **) {
  int h[32], *a, *o, bad = 0;
  for (int i = 0; i < 32; ++i)
    h[i] = i + 1;
  cudaMalloc(&a, 20 * 4);
  cudaMalloc(&o, sizeof(h));
  cudaMemcpy(a, h, 20 * 4, cudaMemcpyHostToDevice);
  kernel<<<1, 32>>>(a, o, 20, argc == 1);
  cudaMemcpy(h, o, sizeof(h), cudaMemcpyDeviceToHost);
  for (int i = 0; i < 32; ++i)
    bad += h[i] != 1000000 * (i * (i + 1) / 2) +
                       (i < 20 ? 1000 * (i + 1) - 1 : 7);
  puts(bad ? "wrong" : "ok");
}
