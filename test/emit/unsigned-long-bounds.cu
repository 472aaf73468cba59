// Indices and sizes in size_t: `n - 1` wraps for n = 0 alone, which launches ask for.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=SAME %s
//
// CHECK-DAG: rewrote 'five<int>' {{.*}}'s' reloaded
// CHECK-DAG: rewrote 'five<{{.*}}long{{.*}}>' {{.*}}'s' reloaded
// TEXT-DAG: nx >= 1
// TEXT-DAG: ny >= 1
// SAME: equivalent: {{.*}}; {{[1-9]}}{{.*}} by a rewritten kernel
#include "program.h"

template <class N>
__global__ void five(const double *__restrict__ in, double *__restrict__ out, size_t pitch, N nx, N ny) {
  __shared__ double s[8 + 2][32 + 2];
  const size_t x = blockIdx.x * 32ull + threadIdx.x + 1, y = blockIdx.y * 8ull + threadIdx.y + 1;
  if (x < nx - 1 && y < ny - 1) {
    s[threadIdx.y + 1][threadIdx.x + 1] = in[y * pitch + x];
    if (threadIdx.x == 0) s[threadIdx.y + 1][0] = in[y * pitch + x - 1];
    if (threadIdx.x == 31 || x == nx - 2) s[threadIdx.y + 1][threadIdx.x + 2] = in[y * pitch + x + 1];
    if (threadIdx.y == 0) s[0][threadIdx.x + 1] = in[(y - 1) * pitch + x];
    if (threadIdx.y == 7 || y == ny - 2) s[threadIdx.y + 2][threadIdx.x + 1] = in[(y + 1) * pitch + x];
  }
  __syncthreads();
  if (x < nx - 1 && y < ny - 1)
    out[y * pitch + x] = s[threadIdx.y + 1][threadIdx.x] + s[threadIdx.y + 1][threadIdx.x + 2] +
                         s[threadIdx.y][threadIdx.x + 1] + s[threadIdx.y + 2][threadIdx.x + 1] -
                         4 * s[threadIdx.y + 1][threadIdx.x + 1];
}

int main() {
  for (int w : {70, 33, 3}) {
    const int h = 21;
    Buffer<double> in(randoms<double>(w * h)), out(w * h);
    const dim3 grid((w - 2 + 31) / 32, (h - 2 + 7) / 8), block(32, 8);
    five<int><<<grid, block>>>(in.Data, out.Data, w, w, h);
    out.show("int", w * h);
    five<size_t><<<grid, block>>>(in.Data, out.Data, w, w, h);
    out.show("size_t", w * h);
  }
}
