// How far a thread reads is an argument, to which every launch gives one value: the
// rewritten kernel is for that, and other launches run the original.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: FileCheck %s --check-prefix=TEXT < %t.cu
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
// RUN: rcache-check diff %s %t.cu --args 2 -- -I%S/Inputs
#include "program.h"
#include <cstdlib>

// CHECK-DAG: rewrote 'blur'
// CHECK-DAG: note: launches that pass radius = 3 run the rewritten kernel
// TEXT-DAG: radius == 3
// A number that is stored is made of the argument itself.
// TEXT-DAG: / (float)(2 * radius + 1)
__global__ void blur(const float *in, float *out, int n, int radius) {
  extern __shared__ float tile[];
  const int l = threadIdx.x + radius, g = blockIdx.x * blockDim.x + threadIdx.x;
  tile[l] = g < n ? in[g] : 0.f;
  if (threadIdx.x < radius) {
    tile[l - radius] = g >= radius ? in[g - radius] : 0.f;
    tile[l + blockDim.x] = g + blockDim.x < n ? in[g + blockDim.x] : 0.f;
  }
  __syncthreads();
  float sum = 0;
  for (int j = -radius; j <= radius; ++j)
    sum += tile[l + j];
  if (g < n)
    out[g] = sum / (float)(2 * radius + 1);
}

// Through variables of the kernel, and functions of the host.
// CHECK-DAG: rewrote 'taps'
// TEXT-DAG: half == 2u
__constant__ int weight[16] = {1, 4, 6, 4, 1};
__global__ void taps(const int *in, int *out, int pitch, int rows, unsigned half) {
  __shared__ int s[16 + 8][16 + 8];
  const int width = 2 * half + 1, x = blockIdx.x * 16 + threadIdx.x,
            y = blockIdx.y * 16 + threadIdx.y;
  for (int j = threadIdx.y; j < 16 + 2 * half; j += 16)
    for (int i = threadIdx.x; i < 16 + 2 * half; i += 16) {
      const int gx = (int)(blockIdx.x * 16) + i - (int)half,
                gy = (int)(blockIdx.y * 16) + j - (int)half;
      s[j][i] = gx >= 0 && gx < pitch && gy >= 0 && gy < rows ? in[gy * pitch + gx] : 0;
    }
  __syncthreads();
  if (x >= pitch || y >= rows)
    return;
  int sum = 0;
  for (int j = 0; j < width; ++j)
    for (int i = 0; i < width; ++i)
      sum += weight[i] * weight[j] * s[threadIdx.y + j][threadIdx.x + i];
  out[y * pitch + x] = sum;
}
void runTaps(const Buffer<int> &in, Buffer<int> &out, int w, int h, unsigned half) {
  taps<<<dim3(blocks(w, 16), blocks(h, 16)), dim3(16, 16)>>>(in.Data, out.Data, w, h,
                                                             half);
  out.show("taps", w, h);
}

// Two values: which of them would it be?
// CHECK-NOT: launches that pass reach
__global__ void both(const float *in, float *out, int n, int reach) {
  __shared__ float s[128 + 16];
  const int g = blockIdx.x * 128 + threadIdx.x;
  for (int i = threadIdx.x; i < 128 + 2 * reach; i += 128)
    s[i] = blockIdx.x * 128 + i < n ? in[blockIdx.x * 128 + i] : 1.f;
  __syncthreads();
  float m = s[threadIdx.x];
  for (int j = 1; j <= 2 * reach; ++j)
    m = fmaxf(m, s[threadIdx.x + j]);
  if (g < n)
    out[g] = m;
}

// A division by 4 would be a product, with which a sum is fused.
// CHECK-NOT: launches that pass count
__global__ void mean(const float *in, float *out, int n, int count) {
  __shared__ float s[128 + 16];
  const int g = blockIdx.x * 128 + threadIdx.x;
  for (int i = threadIdx.x; i < 128 + count; i += 128)
    s[i] = blockIdx.x * 128 + i < n ? in[blockIdx.x * 128 + i] : 1.f;
  __syncthreads();
  float sum = 0;
  for (int j = 0; j < count; ++j)
    sum += s[threadIdx.x + j] / (float)(count - j);
  if (g < n)
    out[g] = sum;
}

// In an unrolled loop other products of the two arms would be fused.
// CHECK-NOT: launches that pass arms
__global__ void chosen(const float *in, float *out, int n, int arms) {
  __shared__ float s[128 + 16];
  const int g = blockIdx.x * 128 + threadIdx.x, t = threadIdx.x + 8;
  s[t] = g < n ? in[g] : 0.f;
  if (threadIdx.x < 8) {
    s[threadIdx.x] = g >= 8 && g < n + 8 ? in[g - 8] : 0.f;
    s[t + 128] = g + 128 < n ? in[g + 128] : 0.f;
  }
  __syncthreads();
  float sum = 0;
  for (int j = -arms; j <= arms; ++j)
    if (s[t + j] > 0.f)
      sum += s[t + j] * 0.3f;
    else
      sum -= s[t + j] * s[t + arms];
  if (g < n)
    out[g] = sum;
}

// A number of a scoped enumeration is none that a launch compares with one.
// CHECK-NOT: launches that pass way
enum class Way { One = 1, Three = 3 };
__global__ void ways(const int *in, int *out, int n, Way way) {
  __shared__ int s[128 + 16];
  const int g = blockIdx.x * 128 + threadIdx.x;
  for (int i = threadIdx.x; i < 128 + (int)way; i += 128)
    s[i] = blockIdx.x * 128 + i < n ? in[blockIdx.x * 128 + i] : 1;
  __syncthreads();
  int sum = 0;
  for (int j = 0; j <= (int)way; ++j)
    sum += s[threadIdx.x + j];
  if (g < n)
    out[g] = sum;
}

// Whichever way the host takes, it is 2; and a byte is a number like others.
// CHECK: note: launches that pass left = 2 and right = 2 and more = 2 and wide = 1 run the rewritten kernel
__global__ void bytes(const int *in, int *out, int n, unsigned char left, signed char right, char more, bool wide) {
  __shared__ int s[128 + 16];
  const int g = blockIdx.x * 128 + threadIdx.x;
  for (int i = threadIdx.x; i < 128 + left + right + more + wide; i += 128)
    s[i] = blockIdx.x * 128 + i < n ? in[blockIdx.x * 128 + i] : 1;
  __syncthreads();
  int sum = 0;
  for (int j = 0; j <= left + right + more + wide; ++j)
    sum += s[threadIdx.x + j];
  if (g < n)
    out[g] = sum;
}
void runBytes(const Buffer<int> &in, Buffer<int> &out, int n) {
  unsigned char left;
  if (n > 1000) {
    left = 2;
  } else {
    left = 1 + 1;
  }
  bytes<<<blocks(n, 128), 128>>>(in.Data, out.Data, n, left, n > 1000 ? 2 : 2, (char)2, true);
  out.show("bytes", n);
}

// One of two values, as far as the text tells: the original runs.
// CHECK-NOT: launches that pass depth
__global__ void either(const int *in, int *out, int n, int depth) {
  __shared__ int s[128 + 16];
  const int g = blockIdx.x * 128 + threadIdx.x;
  for (int i = threadIdx.x; i < 128 + depth; i += 128)
    s[i] = blockIdx.x * 128 + i < n ? in[blockIdx.x * 128 + i] : 1;
  __syncthreads();
  int sum = 0;
  for (int j = 0; j <= depth; ++j)
    sum += s[threadIdx.x + j];
  if (g < n)
    out[g] = sum;
}
void runEither(const Buffer<int> &in, Buffer<int> &out, int n) {
  int depth = 1;
  if (n > 1000)
    depth = 2;
  else if (n > 500)
    depth = 3;
  else
    depth = 2;
  either<<<blocks(n, 128), 128>>>(in.Data, out.Data, n, depth);
  out.show("either", n);
}

int main(int argc, char **argv) {
  const int n = 5000;
  int radius = 3;
  Buffer<float> in(randoms<float>(n)), out(n);
  for (int threads : {128, 256}) {
    blur<<<blocks(n, threads), threads, (threads + 2 * radius) * sizeof(float)>>>(
        in.Data, out.Data, n, radius);
    out.show("blur", threads);
  }
  if (argc > 1) { // one that no text tells
    const int other = atoi(argv[1]);
    blur<<<blocks(n, 64), 64, (64 + 2 * other) * sizeof(float)>>>(in.Data, out.Data, n,
                                                                  other);
    out.show("blur", other);
  }
  Buffer<int> image(randoms<int>(70 * 50)), result(70 * 50);
  runTaps(image, result, 70, 50, 2);
  runTaps(image, result, 50, 70, 2);
  for (int reach = 1; reach < 4; ++reach)
    both<<<blocks(n, 128), 128>>>(in.Data, out.Data, n, reach);
  both<<<blocks(n, 128), 128>>>(in.Data, out.Data, n, 1);
  both<<<blocks(n, 128), 128>>>(in.Data, out.Data, n, 2);
  out.show("both");
  mean<<<blocks(n, 128), 128>>>(in.Data, out.Data, n, 4);
  out.show("mean");
  chosen<<<blocks(n, 128), 128>>>(in.Data, out.Data, n, 3);
  out.show("chosen");
  ways<<<blocks(3000, 128), 128>>>(image.Data, result.Data, 3000, Way::Three);
  result.show("ways");
  for (int m : {3000, 700, 300}) {
    runBytes(image, result, m);
    runEither(image, result, m);
  }
}
