// Windows of which not every register is read: rows have runs of their own, the
// corners are never loaded (the original does not stage them), and all five
// staging writes are one function, so that the fast path is the image's inside.
// RUN: rcache-rewrite %s -o %t.cu --force --cuda-path=%cuda -q
// RUN: grep -v '^//' %t.cu | FileCheck %s
// RUN: %if slow %{ %nvcc -std=c++17 -ptx %t.cu -o %t.ptx %}
// RUN: rcache-check run %s > %t.original
// RUN: rcache-check run %t.cu > %t.rewritten
// RUN: diff %t.original %t.rewritten
// RUN: %if slow %{ rcache-rewrite %s -o %t.0.cu --cuda-path=%cuda -q --candidate=0 %}
// RUN: %if slow %{ rcache-check run %t.0.cu > %t.rewritten0 %}
// RUN: %if slow %{ diff %t.original %t.rewritten0 %}
// RUN: %if slow %{ rcache-rewrite %s -o %t.one.cu --cuda-path=%cuda -q --coarsen=1 --force %}
// RUN: %if slow %{ rcache-check run %t.one.cu > %t.rewritten1 %}
// RUN: %if slow %{ diff %t.original %t.rewritten1 %}
// RUN: rcache-rewrite %s -o %t.no.cu --cuda-path=%cuda -q --print-after=verify | FileCheck %s --check-prefix=VERIFY --implicit-check-not=WRONG
// REQUIRES: cuda-toolkit, rcache-check
// VERIFY: verified,
//
// CHECK-LABEL: heat_rc{{2?}}(
// CHECK: const auto rc_s_at
// CHECK: {{return in\[}}
// CHECK-NOT: {{return in\[}}
// CHECK: bool rc_s_w_inside, rc_s_w_words;
// CHECK: rc_s_w_inside =
// CHECK-NEXT: 1 <= (int)rc_block_x + rc_e1
// One test for all rows, none at a row.
// CHECK: rc_s_w_words = rc_s_w_inside &&
// CHECK: on_word<16>(
// CHECK: on_word<16>(
// CHECK: if (rc_s_w_words) {
// CHECK: const int rc_r0 = 0;
// CHECK: load_words<16, 1, 1, 5>(
// CHECK: for (int rc_r0 = 1; rc_r0 < 5; ++rc_r0)
// CHECK: load_words<16, 1>(
// CHECK: } else if (rc_s_w_inside) {
// CHECK: load_words<4, 0, 1, 5>(
// CHECK: load_words<4, 0>(
// CHECK-LABEL: cross_rc{{2?}}(
// CHECK: load_words<16, {{[0-9]}}, {{[0-9]}}, {{[0-9]}}>(

#include <cstdio>
#include <vector>

#define BX 32
#define BY 8

__global__ void heat(const float *in, float *out, int w, int h) {
  __shared__ float s[BY + 2][BX + 2];
  const int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
  const int lx = threadIdx.x + 1, ly = threadIdx.y + 1;
  const bool inside = x < w && y < h;
  s[ly][lx] = inside ? in[y * w + x] : 0.0f;
  if (threadIdx.x == 0)
    s[ly][0] = x > 0 && y < h && x - 1 < w ? in[y * w + x - 1] : 0.0f;
  if (threadIdx.x == BX - 1)
    s[ly][BX + 1] = x + 1 < w && y < h ? in[y * w + x + 1] : 0.0f;
  if (threadIdx.y == 0)
    s[0][lx] = y > 0 && x < w && y - 1 < h ? in[(y - 1) * w + x] : 0.0f;
  if (threadIdx.y == BY - 1)
    s[BY + 1][lx] = y + 1 < h && x < w ? in[(y + 1) * w + x] : 0.0f;
  __syncthreads();
  if (inside)
    out[y * w + x] = 0.6f * s[ly][lx] + 0.1f * (s[ly - 1][lx] + s[ly + 1][lx] +
                                                s[ly][lx - 1] + s[ly][lx + 1]);
}

// A cross of radius 3, the whole tile staged, a gap in its arms.
__global__ void cross(const double *__restrict__ in, double *__restrict__ out, int w, int h) {
  __shared__ double s[BY + 6][BX + 6];
  const int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
  for (int j = threadIdx.y; j < BY + 6; j += BY)
    for (int i = threadIdx.x; i < BX + 6; i += BX) {
      const int sx = min(max(int(blockIdx.x * BX) + i - 3, 0), w - 1);
      const int sy = min(max(int(blockIdx.y * BY) + j - 3, 0), h - 1);
      s[j][i] = in[sy * w + sx];
    }
  __syncthreads();
  const int i = threadIdx.x + 3, j = threadIdx.y + 3;
  if (x < w && y < h)
    out[y * w + x] = s[j][i] - 0.25 * (s[j - 3][i] + s[j + 3][i] + s[j][i - 3] + s[j][i + 3]);
}

template <typename T, typename F> void show(int w, int h, F launch) {
  std::vector<T> host(w * h);
  for (int i = 0; i < w * h; ++i)
    host[i] = T((i * 7919 + 13) % 1009) / 8;
  T *in, *out;
  cudaMalloc(&in, w * h * sizeof(T));
  cudaMalloc(&out, w * h * sizeof(T));
  cudaMemcpy(in, host.data(), w * h * sizeof(T), cudaMemcpyHostToDevice);
  cudaMemset(out, 0xff, w * h * sizeof(T));
  launch(in, out, dim3((w + BX - 1) / BX, (h + BY - 1) / BY));
  cudaMemcpy(host.data(), out, w * h * sizeof(T), cudaMemcpyDeviceToHost);
  unsigned long long sum = 0;
  for (int i = 0; i < w * h; ++i)
    sum = sum * 31 + (unsigned long long)(long long)(host[i] * 4096);
  std::printf("%d x %d: %llx %g\n", w, h, sum, double(host[w * h / 2]));
  cudaFree(in);
  cudaFree(out);
}

int main() {
  const int sizes[][2] = {{1, 1}, {32, 8}, {33, 9}, {128, 24}, {100, 31}, {5, 40}, {68, 16}};
  for (auto &z : sizes) {
    const int w = z[0], h = z[1];
    show<float>(w, h, [&](const float *in, float *out, dim3 grid) {
      heat<<<grid, dim3(BX, BY)>>>(in, out, w, h);
    });
    show<double>(w, h, [&](const double *in, double *out, dim3 grid) {
      cross<<<grid, dim3(BX, BY)>>>(in, out, w, h);
    });
  }
  return 0;
}
