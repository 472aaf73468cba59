// Where blocks share the rounds of a loop, threads that store nothing need no window,
// unless what they make of it says which element is met or what is executed.
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force --cuda-path=%cuda -- -std=c++17 -I%S/Inputs 2>&1 | FileCheck %s
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: rcache-check diff %s %t.cu -- -std=c++17 -DRCACHE_ANY_LAUNCH -I%S/Inputs 2>&1 | FileCheck --check-prefix=DIFF %s
// DIFF: {{[1-9][0-9]*}} by a rewritten kernel
#include "buffers.h"

#define STAGE                                                                                       \
  __shared__ int s[18][18];                                                                         \
  const int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty; \
  for (int z = 0; z < d; ++z) {                                                                     \
    for (int j = ty; j < 18; j += 16)                                                               \
      for (int i = tx; i < 18; i += 16) {                                                           \
        const int xx = blockIdx.x * 16 + i - 1, yy = blockIdx.y * 16 + j - 1;                       \
        s[j][i] = xx >= 0 && xx < w && yy >= 0 && yy < h ? a[(z * h + yy) * w + xx] : 0;            \
      }                                                                                             \
    __syncthreads();
#define STORE(v)                 \
  if (x < w && y < h)            \
    o[(z * h + y) * w + x] = v;  \
  __syncthreads();               \
  }
#define SIGNATURE const unsigned char *__restrict__ a, const int *__restrict__ table, int *__restrict__ o, int w, int h, int d

// CHECK-DAG: rewrote 'sums'
// TEXT-LABEL: void sums_rc(
// TEXT: {{// else no}} output is made of it
__global__ void sums(SIGNATURE) { STAGE STORE(s[ty][tx + 1] + 2 * s[ty + 2][tx + 1] + s[ty + 1][tx]) }

// CHECK-DAG: rewrote 'looked'
// TEXT-LABEL: void looked_rc(
// TEXT-NOT: {{// else no}} output is made of it
// TEXT-LABEL: void looked_rc_launch(
__global__ void looked(SIGNATURE) {
  STAGE const int v = table[s[ty][tx + 1]] + table[s[ty + 2][tx + 1]] + table[s[ty + 1][tx]];
  STORE(v)
}

// CHECK-DAG: rewrote 'decided'
// TEXT-LABEL: void decided_rc(
// TEXT-NOT: {{// else no}} output is made of it
// TEXT-LABEL: void decided_rc_launch(
__global__ void decided(SIGNATURE) {
  STAGE int v = s[ty][tx + 1];
  for (int k = s[ty + 2][tx + 1] % 5; k != 0; --k)
    v += s[ty + 1][tx];
  STORE(v)
}

// CHECK-DAG: rewrote 'called'
// TEXT-LABEL: void called_rc(
// TEXT-NOT: {{// else no}} output is made of it
// TEXT-LABEL: void called_rc_launch(
__global__ void called(SIGNATURE) {
  STAGE const auto at = [=](int k) { return table[k] + k; };
  const int v = at(s[ty][tx + 1]) + at(s[ty + 2][tx + 1]) + s[ty + 1][tx];
  STORE(v)
}

int main() {
  const int w = 36, h = 20, d = 20;
  Buf<unsigned char> a(w * h * d, 1);
  Buf<int> table(256), o(w * h * d);
  table.nums(2);
  const dim3 grid(4, 2), block(16, 16);
  CHECK((sums<<<grid, block>>>(a.d, table.d, o.d, w, h, d)));
  show("sums", o);
  CHECK((looked<<<grid, block>>>(a.d, table.d, o.d, w, h, d)));
  show("looked", o);
  CHECK((decided<<<grid, block>>>(a.d, table.d, o.d, w, h, d)));
  show("decided", o);
  CHECK((called<<<grid, block>>>(a.d, table.d, o.d, w, h, d)));
  show("called", o);
}
