// Slots along y alone: neighbouring rows of a tile share what a thread has loaded of
// it, and a warp's accesses stay as they were. Each form is run.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.any.cu -q --explain-choice --cuda-path=%cuda -- -I%S/Inputs 2> %t.table
// RUN: FileCheck --check-prefix=TABLE %s < %t.table
// TABLE: candidates of 'box'
// TABLE: 1x16 {{.*}} s: reload by rows 20x5
// TABLE: 1x2 {{.*}} s: reload 6x5
// TABLE: candidates of 'column'
// TABLE: 2x8 {{.*}} s: reload 24x2
// TABLE: 1x8 {{.*}} s: reload 24x1
// TABLE: candidates of 'seven'
// TABLE: 1x16 {{.*}} s: reload 18x3
//
// RUN: sed -n '/of .box/,/of .column/p' %t.table | awk '$2 == "1x16" && /reload 20x5/ {print $1}' | xargs -I@ rcache-rewrite %s --kernel=box --candidate=@ -o %t.box.cu -q --cuda-path=%cuda -- -I%S/Inputs
// RUN: FileCheck --check-prefix=BOX %s < %t.box.cu
// RUN: rcache-check diff %s %t.box.cu -- -I%S/Inputs
// BOX: // Register cache: a thread stands for 16 threads of box.
// BOX: s: window of 20 x 5 registers, loaded by each thread
// BOX: for (int rc_sy = 0; rc_sy < 16; ++rc_sy)
// BOX: int gx = x0 + (threadIdx.x % 16u)
// BOX: rc_threads_of_block(16u * rc_merged, 1u, 1u)
//
// RUN: %if slow %{ sed -n '/of .box/,/of .column/p' %t.table | awk '$2 == "1x4" && /by rows/ {print $1}' | xargs -I@ rcache-rewrite %s --kernel=box --candidate=@ -o %t.stream.cu -q --cuda-path=%cuda -- -I%S/Inputs %}
// RUN: %if slow %{ rcache-check diff %s %t.stream.cu -- -I%S/Inputs %}
//
// RUN: %if slow %{ sed -n '/of .column/,/of .seven/p' %t.table | awk '$2 == "1x8" && /reload 24x1/ {print $1}' | xargs -I@ rcache-rewrite %s --kernel=column --candidate=@ -o %t.column.cu -q --cuda-path=%cuda -- -I%S/Inputs %}
// RUN: %if slow %{ rcache-check diff %s %t.column.cu -- -I%S/Inputs %}
//
// RUN: sed -n '/of .seven/,$p' %t.table | awk '$2 == "1x4" && /reload/ {print $1}' | xargs -I@ rcache-rewrite %s --kernel=seven --candidate=@ -o %t.seven.cu -q --cuda-path=%cuda -- -I%S/Inputs
// RUN: FileCheck --check-prefix=SEVEN %s < %t.seven.cu
// RUN: rcache-check diff %s %t.seven.cu -- -I%S/Inputs
//
// What a plane stores no other round and no other thread reads or stores: without
// the barriers of the original.
// SEVEN: // Register cache: a thread stands for 4 threads of seven.
// SEVEN: No barrier is left
#include "buffers.h"

// 16x16 box filter, square tile
__global__ void box(const float *__restrict__ in, float *__restrict__ out, int w, int h) {
  __shared__ float s[20][20];
  int x0 = blockIdx.x * 16, y0 = blockIdx.y * 16;
  for (int y = threadIdx.y; y < 20; y += 16)
    for (int x = threadIdx.x; x < 20; x += 16) {
      int gx = x0 + x - 2, gy = y0 + y - 2;
      s[y][x] = gx >= 0 && gx < w && gy >= 0 && gy < h ? in[gy * w + gx] : 0;
    }
  __syncthreads();
  float a = 0;
  for (int j = 0; j < 5; ++j)
    for (int i = 0; i < 5; ++i) a += s[threadIdx.y + j][threadIdx.x + i];
  int gx = x0 + threadIdx.x, gy = y0 + threadIdx.y;
  if (gx < w && gy < h) out[gy * w + gx] = a;
}
// column filter
__global__ void column(const float *__restrict__ in, float *__restrict__ out, int w, int h) {
  __shared__ float s[24][32];
  int x = blockIdx.x * 32 + threadIdx.x, y0 = blockIdx.y * 8;
  for (int y = threadIdx.y; y < 24; y += 8) {
    int gy = y0 + y - 8;
    s[y][threadIdx.x] = gy >= 0 && gy < h && x < w ? in[gy * w + x] : 0;
  }
  __syncthreads();
  float a = 0;
  for (int j = 0; j <= 16; ++j) a += s[threadIdx.y + j][threadIdx.x] * (1.0f / (j + 1));
  int gy = y0 + threadIdx.y;
  if (x < w && gy < h) out[gy * w + x] = a;
}
// 3-D 7 point with plane loop
__global__ void seven(const float *__restrict__ in, float *__restrict__ out, int nx, int ny, int nz) {
  __shared__ float s[18][34];
  int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  bool in2 = x < nx && y < ny;
  float below = 0, cur = in2 ? in[y * nx + x] : 0, above = 0;
  for (int z = 0; z < nz; ++z) {
    above = in2 && z + 1 < nz ? in[((z + 1) * ny + y) * nx + x] : 0;
    s[ty][tx] = cur;
    if (threadIdx.x == 0) s[ty][0] = x > 0 && y < ny ? in[(z * ny + y) * nx + x - 1] : 0;
    if (threadIdx.x == 31) s[ty][33] = x + 1 < nx && y < ny ? in[(z * ny + y) * nx + x + 1] : 0;
    if (threadIdx.y == 0) s[0][tx] = y > 0 && x < nx ? in[(z * ny + y - 1) * nx + x] : 0;
    if (threadIdx.y == 15) s[17][tx] = y + 1 < ny && x < nx ? in[(z * ny + y + 1) * nx + x] : 0;
    __syncthreads();
    if (in2) out[(z * ny + y) * nx + x] = s[ty][tx] * -6.f + s[ty][tx - 1] + s[ty][tx + 1] + s[ty - 1][tx] + s[ty + 1][tx] + below + above;
    __syncthreads();
    below = cur; cur = above;
  }
}
int main() {
  const int sizes[][2] = {{16, 16}, {33, 19}, {70, 41}};
  for (auto &z : sizes) {
    int w = z[0], h = z[1], n = w * h;
    Buf<float> a(n), b(n), c(n), p(5 * n), q(5 * n); a.nums(3); p.nums(4);
    CHECK((box<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(a.d, b.d, w, h)));
    CHECK((column<<<dim3((w + 31) / 32, (h + 7) / 8), dim3(32, 8)>>>(a.d, c.d, w, h)));
    CHECK((seven<<<dim3((w + 31) / 32, (h + 15) / 16), dim3(32, 16)>>>(p.d, q.d, w, h, 5)));
    show("box", b); show("column", c); show("seven", q);
  }
}
