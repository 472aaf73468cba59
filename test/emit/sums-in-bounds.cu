// Loops whose counter stands in a sum: `threadIdx.x + i < n` is `i < n - threadIdx.x`
// where nothing wraps.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=SAME %s
//
// CHECK-DAG: rewrote 'tile' {{.*}}'t' reloaded{{.*}}original: 1.{{[0-9]+}} loads
// CHECK-DAG: rewrote 'line' {{.*}}'s' reloaded
// CHECK-DAG: no array goes to registers [unsupported-statement]: 's' is staged in a loop
// SAME: equivalent: {{.*}}; {{[1-9]}}{{.*}} by a rewritten kernel
#include "program.h"

__global__ void tile(const unsigned char *src, unsigned char *dst, int w, int h) {
  __shared__ unsigned char t[8 + 2][64 + 2];
  const int x = blockIdx.x * 64 + threadIdx.x;
  const int y = blockIdx.y * 8 + threadIdx.y;
  for (int dy = 0; threadIdx.y + dy < 10; dy += 8)
    for (int dx = 0; threadIdx.x + dx < 66; dx += 64)
      if (x + dx < w && y + dy < h)
        t[threadIdx.y + dy][threadIdx.x + dx] = src[(y + dy) * w + x + dx];
  __syncthreads();
  if (x < w - 2 && y < h - 2) {
    unsigned char m = 0;
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 3; ++i)
        m = max(m, t[threadIdx.y + j][threadIdx.x + i]);
    dst[y * (w - 2) + x] = m;
  }
}

__global__ void line(const int *in, int *out, int n) {
  __shared__ int s[160];
  const int t = threadIdx.x, first = blockIdx.x * 128 - 16;
  for (int i = 0; 160 > i + t; i += 128)
    s[t + i] = first + t + i >= 0 && first + t + i < n ? in[first + t + i] : -1;
  __syncthreads();
  if (first + 16 + t < n)
    out[first + 16 + t] = s[t] - s[t + 32];
}

// Below zero the sum is large: no round, and not the first ones.
__global__ void wraps(const int *in, int *out, int n) {
  __shared__ int s[128];
  for (int i = -128; threadIdx.x + i < 128; i += 128)
    s[(threadIdx.x + i) & 127] = in[blockIdx.x * 128 + threadIdx.x];
  __syncthreads();
  out[blockIdx.x * 128 + threadIdx.x] = s[127 - threadIdx.x];
}

void never(const int *in, int *out, int n) { wraps<<<n, 128>>>(in, out, n); }

int main() {
  for (int n : {70, 200}) {
    const int h = 21;
    Buffer<unsigned char> in(randoms<unsigned char>(n * h)), out(n * h);
    tile<<<dim3((n - 2 + 63) / 64, (h - 2 + 7) / 8), dim3(64, 8)>>>(in.Data, out.Data, n, h);
    out.show("tile", n);
  }
  for (int n : {1000, 128, 60}) {
    Buffer<int> in(randoms<int>(n + 128)), out(n + 128);
    line<<<blocks(n, 128), 128>>>(in.Data, out.Data, n);
    out.show("line", n);
  }
}
