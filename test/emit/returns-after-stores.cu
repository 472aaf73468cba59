// Blocks that store something and return, for what memory says of them: their threads ask
// for no element that the original does not load. (Their block numbers are none.) Where the
// value that decides is another one at the barrier, the array stays.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force --self-check=off -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2>&1 | FileCheck %s
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=SAME %s
//
// CHECK-DAG: rewrote 'stores' {{.*}}; 's' read at the barrier
// CHECK-DAG: rewrote 'storesFar' {{.*}}; 's' read at the barrier
// CHECK-DAG: rewrote 'threadsToo' {{.*}}; 's' read at the barrier
// CHECK-DAG: rewrote 'atOnce' {{.*}}; 's' read at the barrier
// CHECK-DAG: rewrote 'changed' {{.*}}; 's' kept shared
// CHECK-DAG: rewrote 'loaded' {{.*}}; 's' kept shared
// CHECK-DAG: rewrote 'window' {{.*}}; 's' reloaded
// CHECK-DAG: rewrote 'between'
// SAME: equivalent: 8 launches {{.*}}; 8 by a rewritten kernel
#include "program.h"
#define KERNEL(NAME, LEAVES)                                                                       \
  __global__ void NAME(const int *list, const int *in, int *out) {                                 \
    __shared__ int s[128];                                                                         \
    const int t = threadIdx.x;                                                                     \
    int b = list[blockIdx.x];                                                                      \
    LEAVES                                                                                         \
    s[t] = in[b * 128 + t];                                                                        \
    __syncthreads();                                                                               \
    out[b * 128 + t] = s[(t + 1) & 127];                                                           \
  }
#define NOTE                                                                                       \
  if (t == 0)                                                                                      \
  out[384 + blockIdx.x] = b
KERNEL(stores, if (b < 0) { NOTE; return; })
KERNEL(storesFar, if (b < -777776) { NOTE; return; })
KERNEL(threadsToo, if (b < 0 || t >= 128) return;)
KERNEL(atOnce, if (b < 0) return;)
KERNEL(changed, if (b < 0) { NOTE; return; } b = 2 - b;)
KERNEL(loaded, if (list[blockIdx.x] < 0) { NOTE; return; })
__global__ void window(const int *list, const int *in, int *out) {
  __shared__ int s[130];
  const int t = threadIdx.x, n = 384;
  const int b = list[blockIdx.x];
  if (b < 0) {
    NOTE;
    return;
  }
  const int g = b * 128 + t;
  s[t + 1] = g < n ? in[g] : 0;
  if (t == 0)
    s[0] = g > 0 ? in[g - 1] : 0;
  if (t == 127)
    s[129] = g + 1 < n ? in[g + 1] : 0;
  __syncthreads();
  if (g < n)
    out[g] = s[t] - s[t + 1] + 3 * s[t + 2];
}
__global__ void between(const int *list, const int *in, int *out) {
  __shared__ int s[128];
  const int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  const int y = s[(t + 5) & 127];
  __syncthreads();
  const int b = list[blockIdx.x];
  if (b < 0) {
    if (t == 0)
      out[384 + blockIdx.x] = y;
    return;
  }
  s[t] = in[b * 128 + t];
  __syncthreads();
  out[b * 128 + t] = s[(t + 1) & 127];
}
int main() {
  Buffer<int> list(std::vector<int>{2, -777777, 0, -777777, 1, -777777}), in(randoms<int>(512)), out(512);
#define RUN(K) K<<<6, 128>>>(list.Data, in.Data, out.Data), out.show(#K)
  RUN(stores);
  RUN(storesFar);
  RUN(threadsToo);
  RUN(atOnce);
  RUN(changed);
  RUN(loaded);
  RUN(window);
  RUN(between);
}
