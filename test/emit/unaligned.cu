// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs of eight outputs lose where they do not start at multiples of 16 bytes: a
// launch asks, offset and pitch included, and runs shorter runs elsewhere.

// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --cuda-path=%cuda 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: rcache-check run %s > %t.original
// RUN: rcache-check run %t.cu > %t.rewritten
// RUN: diff %t.original %t.rewritten
// RUN: rcache-check diff %s %t.cu
// RUN: %nvcc -o %t.o -c %t.cu

// CHECK: rewrote 'taps' (1 launch): 8 outputs a thread
// CHECK: note: where vectors would not start at multiples of 16 bytes: 4 outputs a thread
// CHECK: rewrote 'rows' (1 launch): 8 outputs a thread
// CHECK: note: where vectors would not start at multiples of 16 bytes: 4 outputs a thread

#include <cstdio>

constexpr int B = 256, R = 3;

// TEXT: taps_rc_launch(
// TEXT: reinterpret_cast<size_t>(in) % 16 == 0 &&
// TEXT-NEXT: reinterpret_cast<size_t>(out + (halo)) % 16 == 0
// TEXT: taps_rc<<<
// TEXT: taps_rc_unaligned<<<
// TEXT: taps<<<
__global__ void taps(const float *in, float *out, int halo, int n) {
  __shared__ float s[B + 2 * R];
  const int l = threadIdx.x, g = blockIdx.x * B + l;
  if (g < n + 2 * R)
    s[l] = in[g];
  if (l < 2 * R && g + B < n + 2 * R)
    s[l + B] = in[g + B];
  __syncthreads();
  if (g < n)
    out[g + halo] = s[l] + s[l + 1] + s[l + 2] + s[l + 3] - s[l + 4] +
                    s[l + 5] - s[l + 6];
}

// TEXT: rows_rc_launch(
// TEXT: pitch % 4 == 0
// TEXT: rows_rc<<<
// TEXT: rows_rc_unaligned<<<
__global__ void rows(const float *in, float *out, int pitch, int n) {
  __shared__ float s[B + 2 * R];
  const int l = threadIdx.x, x = blockIdx.x * B + l;
  const float *row = in + blockIdx.y * pitch;
  s[l + R] = x < n ? row[x] : 0;
  if (l < R) {
    s[l] = x >= R ? row[x - R] : 0;
    s[l + R + B] = x + B < n ? row[x + B] : 0;
  }
  __syncthreads();
  if (x < n)
    out[blockIdx.y * pitch + x] = s[l] + s[l + 1] + s[l + 2] + s[l + 3] -
                                  s[l + 4] + s[l + 5] - s[l + 6];
}

int main(int argc, char **) {
  const int n = 3000 * argc, size = 3100;
  float *a, *b;
  cudaMallocManaged(&a, size * sizeof(float));
  cudaMallocManaged(&b, size * sizeof(float));
  for (int i = 0; i < size; ++i)
    a[i] = (i * 37 % 101) * 0.25f;
  for (int halo = 0; halo < 6; ++halo) {
    for (int i = 0; i < size; ++i)
      b[i] = -1;
    taps<<<(n + B - 1) / B, B>>>(a + halo / 4, b, halo, n - halo);
    cudaDeviceSynchronize();
    double sum = 0;
    for (int i = 0; i < size; ++i)
      sum += b[i] * (i % 17 + 1);
    printf("taps %d: %a\n", halo, sum);
  }
  for (int pitch = 600; pitch < 606; ++pitch) {
    for (int i = 0; i < size; ++i)
      b[i] = -1;
    rows<<<dim3(3 * argc, 5), B>>>(a, b, pitch, 600);
    cudaDeviceSynchronize();
    double sum = 0;
    for (int i = 0; i < size; ++i)
      sum += b[i] * (i % 17 + 1);
    printf("rows %d: %a\n", pitch, sum);
  }
}
