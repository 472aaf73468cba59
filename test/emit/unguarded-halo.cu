// Tiles whose writes have different conditions though all of them load from one
// place: the halo with none (padded arrays), or with a stricter one, and no corners.
// A window that reaches over several writes is loaded as a whole wherever the image
// allows it; which write staged an element is not asked.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
//
// CHECK-DAG: rewrote 'cross' {{.*}}'s' reloaded
// CHECK-DAG: rewrote 'stricter' {{.*}}'s' reloaded
// CHECK-DAG: rewrote 'line' {{.*}}'s' {{reloaded|shuffled|read from}}
//
// TEXT: __global__ void cross{{_rc}}(
// TEXT: s_w_inside =
// TEXT-NOT: <= rc_e{{[01]}} &&
// TEXT-NOT: rc_e{{[01]}} < {{[0-9]+}} &&
// TEXT: if (
// TEXT: __global__ void stricter{{_rc}}(
// TEXT: s_w_inside =
// TEXT-NOT: <= rc_e{{[01]}} &&
// TEXT-NOT: rc_e{{[01]}} < {{[0-9]+}} &&
// TEXT: if (
#include "program.h"

constexpr int R = 3, BX = 32, BY = 4;

// The image has R elements around it; threads beyond it stage nothing of their own.
__global__ void cross(float *__restrict__ out, const float *__restrict__ in,
                      int w, int h) {
  __shared__ float s[BY + 2 * R][BX + 2 * R];
  const int x = blockIdx.x * BX + threadIdx.x;
  const int y = blockIdx.y * BY + threadIdx.y;
  const int tx = threadIdx.x + R, ty = threadIdx.y + R;
  const int at = (y + R) * (w + 2 * R) + x + R, down = BY * (w + 2 * R);
  if (x < w + R && y < h + R)
    s[ty][tx] = in[at];
  if (threadIdx.x < R) {
    s[ty][tx - R] = in[at - R];
    s[ty][tx + BX] = in[at + BX];
  }
  if (threadIdx.y < R) {
    s[ty - R][tx] = in[at - R * (w + 2 * R)];
    s[ty + BY][tx] = in[at + down];
  }
  __syncthreads();
  float sum = s[ty][tx];
  for (int i = 1; i <= R; ++i)
    sum += (s[ty][tx - i] + s[ty][tx + i]) * (s[ty - i][tx] + s[ty + i][tx]);
  if (x < w && y < h)
    out[y * w + x] = sum;
}

// What stages the halo looks at itself, not at what it stages.
__global__ void stricter(double *__restrict__ out,
                         const double *__restrict__ in, int w, int h) {
  __shared__ double s[BY + 2 * R][BX + 2 * R];
  const int x = blockIdx.x * BX + threadIdx.x;
  const int y = blockIdx.y * BY + threadIdx.y;
  const int tx = threadIdx.x + R, ty = threadIdx.y + R;
  const int at = (y + R) * (w + 2 * R) + x + R, down = BY * (w + 2 * R);
  const bool near = x < w + R && y < h + R;
  s[ty][tx] = near ? in[at] : 0.0;
  if (threadIdx.x < R) {
    s[ty][tx - R] = near ? in[at - R] : 0.0;
    s[ty][tx + BX] = x + BX < w + R && y < h + R ? in[at + BX] : 0.0;
  }
  if (threadIdx.y < R) {
    s[ty - R][tx] = near ? in[at - R * (w + 2 * R)] : 0.0;
    s[ty + BY][tx] = x < w + R && y + BY < h + R ? in[at + down] : 0.0;
  }
  __syncthreads();
  double sum = s[ty][tx];
  for (int i = 1; i <= R; ++i)
    sum += (s[ty][tx - i] + s[ty][tx + i]) * (s[ty - i][tx] + s[ty + i][tx]);
  if (x < w && y < h)
    out[y * w + x] = sum;
}

// One dimension, a halo as wide as the block.
__global__ void line(int *__restrict__ out, const int *__restrict__ in,
                     int n) {
  __shared__ int s[3 * 32];
  const int i = blockIdx.x * 32 + threadIdx.x;
  if (i < n + 32)
    s[threadIdx.x + 32] = in[i + 32];
  s[threadIdx.x] = in[i];
  s[threadIdx.x + 64] = in[i + 64];
  __syncthreads();
  int sum = 0;
  for (int k = 0; k <= 64; k += 8)
    sum = sum * 3 + s[threadIdx.x + k - (k == 64)];
  if (i < n)
    out[i] = sum;
}

template <typename T, typename Kernel>
void image(Kernel k, const char *name, int w, int h) {
  // A block more than the image, which is loaded unasked.
  Buffer<T> in(randoms<T>((w + 2 * R) * (h + 2 * R + 2 * BY) + 2 * BX));
  Buffer<T> out(w * h);
  k(out.Data, in.Data, w, h);
  out.show(name, w, h);
}

int main() {
  const int sizes[][2] = {{1, 1}, {70, 21}, {128, 16}, {33, 5}};
  for (auto &z : sizes) {
    image<float>(
        [](float *out, const float *in, int w, int h) {
          cross<<<dim3(blocks(w, BX), blocks(h, BY)), dim3(BX, BY)>>>(out, in,
                                                                      w, h);
        },
        "cross", z[0], z[1]);
    image<double>(
        [](double *out, const double *in, int w, int h) {
          stricter<<<dim3(blocks(w, BX), blocks(h, BY)), dim3(BX, BY)>>>(
              out, in, w, h);
        },
        "stricter", z[0], z[1]);
  }
  for (int n : {1, 100, 256}) {
    Buffer<int> in(randoms<int>(n + 96)), out(n);
    line<<<blocks(n, 32), 32>>>(out.Data, in.Data, n);
    out.show("line", n);
  }
}
