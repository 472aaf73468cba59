// A radius that only launches tell, and blocks that overlap by it: rounds of made-up
// radii, in which no thread is left to read, end the verifier's work (they took
// minutes).
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: timeout 60 rcache-rewrite %s --force --candidate=1 -o %t.cu --cuda-path=%cuda -- -arch=sm_90 -I%S/Inputs 2>&1 | FileCheck %s
// RUN: %if slow %{ rcache-check diff %s %t.cu -- -I%S/Inputs %}
//
// CHECK: rewrote 'erode' (1 launch): 16 outputs a thread
// CHECK: note: the plan was not executed: loops with too many rounds
#include "program.h"

__global__ void erode(const float *in, float *out, int w, int h, int r) {
  __shared__ float tile[16 * 16];
  const int tx = threadIdx.x, ty = threadIdx.y, side = 16 - 2 * r;
  const int x = blockIdx.x * side + tx - r, y = blockIdx.y * side + ty - r;
  const bool inside = x >= 0 && x < w && y >= 0 && y < h;
  tile[ty * 16 + tx] = inside ? in[y * w + x] : 0.0f;
  __syncthreads();
  if (!inside || tx < r || tx >= 16 - r || ty < r || ty >= 16 - r)
    return;
  float least = tile[ty * 16 + tx];
  for (int j = -r; j <= r; ++j)
    for (int i = -r; i <= r; ++i)
      least = fminf(least, tile[(ty + j) * 16 + tx + i]);
  out[y * w + x] = least;
}

int main() {
  const int w = 37, h = 21;
  for (int r : {0, 1, 3}) {
    Buffer<float> in(randoms<float>(w * h)), out(w * h);
    const int side = 16 - 2 * r;
    erode<<<dim3((w + side - 1) / side, (h + side - 1) / side), dim3(16, 16)>>>(in.Data, out.Data, w, h, r);
    out.show("erode", w, h);
  }
}
