// `size_t(y) * w + x` of a clamped coordinate, filled by linear ids: the clamp
// may be negative where the image is empty, and an index counts modulo 2^64. A
// quotient of such a number does not.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: rcache-check diff %s %t.cu
//
// CHECK-DAG: rewrote 'cross' {{.*}}'s' reloaded
// CHECK-DAG: rewrote 'halves' {{.*}}'s'
//
// TEXT-LABEL: void cross{{_rc}}(
// TEXT: 8 * (int)blockIdx.y{{.*}} < h -
// TEXT: load_{{.*}}, 1>(
#include <cuda_runtime.h>
#include <vector>

__global__ void cross(const unsigned short *__restrict__ src, int *__restrict__ dst, int w, int h) {
  __shared__ unsigned short s[10][34];
  for (unsigned t = threadIdx.y * 32 + threadIdx.x; t < 10 * 34; t += 256) {
    const int i = t % 34, j = t / 34;
    const int gx = min(max(int(blockIdx.x * 32) + i - 1, 0), w - 1);
    const int gy = min(max(int(blockIdx.y * 8) + j - 1, 0), h - 1);
    s[j][i] = src[size_t(gy) * w + gx];
  }
  __syncthreads();
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  const int i = threadIdx.x + 1, j = threadIdx.y + 1;
  if (x < w && y < h)
    dst[size_t(y) * w + x] = s[j][i - 1] + s[j][i + 1] + s[j - 1][i] + s[j + 1][i] - 4 * s[j][i];
}

// The numbers above 2^63 stay what they are where they are divided.
__global__ void halves(const float *in, float *out, int from, int n) {
  __shared__ float s[128 + 2];
  for (int i = threadIdx.x; i < 130; i += 128) {
    const int g = int(blockIdx.x * 128) + i + from;
    s[i] = in[size_t(g) / 2 % size_t(n)];
  }
  __syncthreads();
  const int x = blockIdx.x * 128 + threadIdx.x;
  if (x < n)
    out[x] = s[threadIdx.x] + s[threadIdx.x + 1] + s[threadIdx.x + 2];
}

int main() {
  const int sizes[][2] = {{64, 64}, {61, 33}, {5, 3}};
  for (const auto &n : sizes) {
    const int w = n[0], h = n[1];
    std::vector<unsigned short> pixels(w * h);
    std::vector<float> values(w * h);
    for (int i = 0; i < w * h; ++i) {
      pixels[i] = i * i * 7 + i / 3;
      values[i] = int(i * 37 % 101) - 50.25f;
    }
    unsigned short *a;
    int *b;
    float *c, *d;
    cudaMalloc(&a, pixels.size() * sizeof(*a));
    cudaMalloc(&b, pixels.size() * sizeof(*b));
    cudaMalloc(&c, values.size() * sizeof(*c));
    cudaMalloc(&d, values.size() * sizeof(*d));
    cudaMemcpy(a, pixels.data(), pixels.size() * sizeof(*a), cudaMemcpyHostToDevice);
    cudaMemcpy(c, values.data(), values.size() * sizeof(*c), cudaMemcpyHostToDevice);
    cross<<<dim3((w + 31) / 32, (h + 7) / 8), dim3(32, 8)>>>(a, b, w, h);
    halves<<<(w * h + 127) / 128, 128>>>(c, d, -3, w * h);
    cudaDeviceSynchronize();
  }
}
