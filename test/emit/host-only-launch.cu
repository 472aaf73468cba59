// Launches in text that only the host's compilation has are not seen: they run
// the original, the remark tells where they are, and the others are rewritten.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --cuda-path=%cuda --report=%t.json 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: FileCheck --check-prefix=TEXT %s --input-file=%t.cu
// RUN: FileCheck --check-prefix=REPORT %s --input-file=%t.json
// RUN: rcache-check run %s > %t.original
// RUN: rcache-check run %t.cu > %t.rewritten
// RUN: diff %t.original %t.rewritten
// RUN: %nvcc -c %t.cu -o %t.o
//
// CHECK-DAG: 'hidden' left as it is: {{.*}}(a launch in parts of the file that a device-side parse leaves out: line 78) [no-launch]
// CHECK-DAG: rewrote 'both<4>' (1 launch)
// CHECK-DAG: note: launches in parts of the file that a device-side parse leaves out: line 77, 82; they keep running the original
// CHECK-DAG: rewrote 'shown' (1 launch)
//
// TEXT: shown_rc_{{launch}}((
// TEXT: both<4><<<
// TEXT: hidden<<<
// TEXT: both_rc_{{launch}}<4>(
// TEXT: both < 4 ><<<
//
// REPORT: "name": "both<4>"
// REPORT: "rewritten": 1,
// REPORT-NEXT: "left": 0,
// REPORT-NEXT: "unseen": 2

#include <cstdio>

template <int R>
__global__ void both(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[128 + 2 * R];
  int g = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x] = g < n ? in[g] : 0;
  if (threadIdx.x < 2 * R)
    s[threadIdx.x + 128] = g + 128 < n ? in[g + 128] : 0;
  __syncthreads();
  float sum = 0;
  for (int i = 0; i <= 2 * R; ++i)
    sum += s[threadIdx.x + i];
  if (g < n)
    out[g] = sum;
}

__global__ void hidden(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[128 + 8];
  int g = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x] = g < n ? in[g] : 0;
  if (threadIdx.x < 8)
    s[threadIdx.x + 128] = g + 128 < n ? in[g + 128] : 0;
  __syncthreads();
  float sum = 0;
  for (int i = 0; i <= 8; ++i)
    sum += s[threadIdx.x + i];
  if (g < n)
    out[g] = sum;
}

__global__ void shown(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[128 + 8];
  int g = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x] = g < n ? in[g] : 0;
  if (threadIdx.x < 8)
    s[threadIdx.x + 128] = g + 128 < n ? in[g + 128] : 0;
  __syncthreads();
  float sum = 0;
  for (int i = 0; i <= 8; ++i)
    sum += s[threadIdx.x + i];
  if (g < n)
    out[g] = sum;
}

void show(const float *in, float *out, int n) { shown<<<(n + 127) / 128, 128>>>(in, out, n); }
#ifndef __CUDA_ARCH__
void first(const float *in, float *out, int n) { both<4><<<(n + 127) / 128, 128>>>(in, out, n); }
void second(const float *in, float *out, int n) { hidden<<<(n + 127) / 128, 128>>>(in, out, n); }
#endif
void third(const float *in, float *out, int n) { both<4><<<(n + 127) / 128, 128>>>(in, out, n); }
#if !defined(__CUDA_ARCH__)
void fourth(const float *in, float *out, int n) { both < 4 ><<<(n + 127) / 128, 128>>>(in, out, n); }
#endif

int main() {
#ifndef __CUDA_ARCH__
  const int n = 1000;
  float *in, *out;
  cudaMallocManaged(&in, n * sizeof(float));
  cudaMallocManaged(&out, n * sizeof(float));
  for (int i = 0; i < n; ++i)
    in[i] = (i * 37 % 101) * 0.125f;
  for (auto *run : {show, first, second, third, fourth}) {
    run(in, out, n);
    cudaDeviceSynchronize();
    double sum = 0;
    for (int i = 0; i < n; ++i)
      sum += out[i] * (i % 7 + 1);
    std::printf("%.17g\n", sum);
  }
#endif
}
