// Configuration and arguments with effects are evaluated in the order of <<<>>>:
// first the configuration. What no one can tell the order of stays one call.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck --input-file=%t.remarks %s
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
// RUN: %nvcc -std=c++17 -I%S/Inputs -c %t.cu -o %t.o
// Host code as nvcc makes it, without a device: what is printed is the order.
// RUN: %nvcc -std=c++17 -DRCACHE_ANY_LAUNCH -I%S/Inputs %s -o %t.original && %t.original > %t.expected
// RUN: %nvcc -std=c++17 -DRCACHE_ANY_LAUNCH -I%S/Inputs %t.cu -o %t.exe && %t.exe > %t.out
// RUN: cmp %t.expected %t.out
// RUN: FileCheck --check-prefix=TEXT --input-file=%t.cu %s
// CHECK: rewrote 'k' (8 launches)
// TEXT: (::rcache::device::configure(blocks(n - off[i++], 256), 256), k{{_rc_launch}}(::rcache::device::configured(), a.Data + off[i],
// TEXT: { k{{_rc_launch}}(blocks(m, 256), 256, 0, 0, a.Data, b.Data, m);
//
#include "sum3.h"
__global__ void k(const float *in, float *out, int n) { SUM3(float) }
static int calls;
static int trace(const char *what, int v) { std::printf("%s%d ", what, ++calls); return v; }
int main() {
  const int n = 5000; Buffer<float> a(randoms<float>(n)), b(n);
  int off[4] = {0, 256, 512, 768}, i = 0;
  k<<<blocks(n - off[i++], 256), 256>>>(a.Data + off[i], b.Data, n - off[i]);
  std::printf("%d\n", i); b.show("inc");
  k<<<trace("g", 8), trace("b", 256), trace("s", 0), (cudaStream_t)(size_t)trace("t", 0)>>>(a.Data + trace("x", 1), b.Data + trace("y", 2), trace("z", 2000));
  std::printf("\n"); b.show("trace");
  auto inner = [&](int m) { k<<<blocks(m, 256), 256>>>(a.Data, b.Data, m); return m; };
  k<<<blocks(i = 1000, 256), 256>>>(a.Data, b.Data + 16, inner(i - 100));
  b.show("nested");
  auto thrower = [&]() -> int { throw 3; };
  try { k<<<blocks(i, 256), 256>>>(a.Data, b.Data, thrower()); } catch (int e) { std::printf("caught %d\n", e); }
  k<<<blocks(i++, 256), 256>>>(a.Data, b.Data + 4, i);
  b.show("after");
  i ? k<<<4, trace("c", 256)>>>(a.Data, b.Data, 1000) : (void)0;
  for (int r = 0; r < 2; k<<<4, trace("f", 256)>>>(a.Data + r, b.Data, 1000), ++r) ;
  b.show("end");
}
