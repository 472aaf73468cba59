// Shared arrays that are named by vectors of their elements, by elements, or by both:
// planned element by element.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck --check-prefix=REMARK %s < %t.remarks
// RUN: FileCheck %s < %t.cu
// RUN: FileCheck --check-prefix=ASKS %s < %t.cu
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
// RUN: %if slow %{ %nvcc -std=c++17 -I%S/Inputs -Xptxas -v -cubin %t.cu -o %t.cubin 2>&1 | FileCheck --check-prefix=PTXAS %s %}
//
// Vectors of memory begin at whole ones: a launch is asked whether pitches do.
// ASKS-DAG: (w % 4 == 0)
// ASKS-DAG: (pitch % 4 == 0)
// PTXAS-NOT: {{[1-9][0-9]*}} bytes stack frame
// REMARK-NOT: type-punned
#include "buffers.h"

// Staged by vectors, read by elements: one function of the elements of memory.
// REMARK-DAG: rewrote 'smooth'
// REMARK-DAG: note: vectors in shared memory are planned by their elements
// CHECK-LABEL: void smooth_{{rc}}(
// CHECK-NOT: __shared__
// CHECK-LABEL: void smooth_{{rc}}_launch(
__global__ void smooth(const float *__restrict__ a, float *__restrict__ b) {
  __shared__ float s[512 + 8];
  int t = threadIdx.x, base = blockIdx.x * 512;
  *reinterpret_cast<float4 *>(&s[4 * t]) = *reinterpret_cast<const float4 *>(&a[base + 4 * t]);
  if (t < 8)
    s[512 + t] = a[base + 512 + t];
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    float sum = 0;
    for (int j = 0; j <= 8; ++j)
      sum += s[t + 128 * k + j];
    b[base + t + 128 * k] = sum;
  }
}

// A pointer to vectors, of both.
// REMARK-DAG: rewrote 'diff'
__global__ void diff(float *out, const float4 *in) {
  __shared__ float tile[256];
  float4 *tile4 = (float4 *)tile;
  const int tid = threadIdx.x;
  if (tid < 64)
    tile4[tid] = in[blockIdx.x * 64 + tid];
  __syncthreads();
  float left = tile[tid > 0 ? tid - 1 : 0];
  out[blockIdx.x * 256 + tid] = tile[tid] - left;
}

// Staged by elements, read by vectors.
// REMARK-DAG: rewrote 'blend'
__global__ void blend(const float *__restrict__ x, float *__restrict__ y) {
  __shared__ __align__(16) float row[4 * 64 + 4];
  int base = blockIdx.x * 256;
  for (int i = threadIdx.x; i < 260; i += 64)
    row[i] = x[base + i];
  __syncthreads();
  float4 p = ((const float4 *)row)[threadIdx.x];
  float4 q = ((const float4 *)row)[threadIdx.x + 1];
  float4 r;
  r.x = p.x + q.x; r.y = p.y + q.y; r.z = p.z + q.z; r.w = p.w + q.w;
  reinterpret_cast<float4 *>(y)[blockIdx.x * 64 + threadIdx.x] = r;
}

// By a macro, with borders that are made of numbers.
#define FETCH_FLOAT4(p) (reinterpret_cast<float4 *>(&(p))[0])
// REMARK-DAG: rewrote 'conv4'
__global__ void conv4(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ __align__(16) float s[4 * 128 + 8];
  int t = threadIdx.x, g = 4 * (blockIdx.x * 128 + t);
  const float4 none = make_float4(0.f, 0.f, 0.f, 0.f);
  FETCH_FLOAT4(s[4 + 4 * t]) = *(const float4 *)(in + g);
  if (t == 0)
    FETCH_FLOAT4(s[0]) = blockIdx.x ? *(const float4 *)(in + g - 4) : none;
  if (t == 127)
    FETCH_FLOAT4(s[4 * 128 + 4]) = g + 4 < n ? *(const float4 *)(in + g + 4) : none;
  __syncthreads();
  float r[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    float acc = 0.f;
    for (int j = -3; j <= 3; ++j)
      acc += s[4 + 4 * t + k + j];
    r[k] = acc;
  }
  *(float4 *)(out + g) = make_float4(r[0], r[1], r[2], r[3]);
}

// Bytes.
// REMARK-DAG: rewrote 'rowblur'
__global__ void rowblur(const unsigned char *__restrict__ src, unsigned char *__restrict__ dst, int pitch) {
  __shared__ __align__(4) unsigned char line[1024 + 8];
  const unsigned char *from = src + blockIdx.y * pitch + blockIdx.x * 1024;
  uchar4 *words = reinterpret_cast<uchar4 *>(line);
  words[threadIdx.x] = reinterpret_cast<const uchar4 *>(from)[threadIdx.x];
  if (threadIdx.x < 2)
    words[256 + threadIdx.x] = reinterpret_cast<const uchar4 *>(from)[256 + threadIdx.x];
  __syncthreads();
  for (int i = threadIdx.x; i < 1024; i += 256)
    dst[blockIdx.y * pitch + blockIdx.x * 1024 + i] = (line[i] + line[i + 1] + line[i + 2]) / 3;
}

// Rows of a tile, guarded, through a variable that is set twice.
// REMARK-DAG: rewrote 'second'
__global__ void second(const int *__restrict__ img, int *__restrict__ res, int w, int h) {
  __shared__ __align__(16) int t[10][64];
  int lx = threadIdx.x, ly = threadIdx.y, gy = blockIdx.y * 8 + ly - 1;
  if (lx < 16) {
    int4 v = make_int4(0, 0, 0, 0);
    if (gy >= 0 && gy < h)
      v = *(const int4 *)(img + gy * w + blockIdx.x * 64 + 4 * lx);
    *(int4 *)&t[ly][4 * lx] = v;
    if (ly < 2) {
      int4 u = {0, 0, 0, 0};
      if (gy + 8 < h)
        u = *(const int4 *)(img + (gy + 8) * w + blockIdx.x * 64 + 4 * lx);
      *(int4 *)&t[ly + 8][4 * lx] = u;
    }
  }
  __syncthreads();
  res[(blockIdx.y * 8 + ly) * w + blockIdx.x * 64 + lx] = t[ly][lx] - 2 * t[ly + 1][lx] + t[ly + 2][lx];
}

// Dynamic shared memory, by pairs and by their members.
// REMARK-DAG: rewrote 'pairs'
__global__ void pairs(const float2 *__restrict__ z, float *__restrict__ m) {
  extern __shared__ float sm[];
  float2 *sz = (float2 *)sm;
  sz[threadIdx.x] = z[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  m[blockIdx.x * blockDim.x + threadIdx.x] = sm[threadIdx.x] + sm[threadIdx.x + blockDim.x];
}

// Declared with vectors, read by their members.
// REMARK-DAG: rewrote 'lanes'
__global__ void lanes(const float4 *__restrict__ p, float *__restrict__ q) {
  __shared__ float4 buf[64];
  buf[threadIdx.x] = p[blockIdx.x * 64 + threadIdx.x];
  __syncthreads();
  const float *f = reinterpret_cast<const float *>(buf);
  for (int k = 0; k < 4; ++k)
    q[blockIdx.x * 256 + threadIdx.x + 64 * k] = f[threadIdx.x + 64 * k] * 0.5f;
}

// Two views, of two and of three numbers, and products that end rounded.
struct Three {
  float a, b, c;
};
// REMARK-DAG: rewrote 'mixed'
__global__ void mixed(const float *__restrict__ in, float *__restrict__ out, float w) {
  __shared__ __align__(8) float s[96 + 6];
  int t = threadIdx.x, g = blockIdx.x * 96;
  if (t < 48) {
    float2 v = ((const float2 *)(in + g))[t], value = {1.f, 2.f};
    v.x *= w;
    v.y = v.y * w + value.y;
    ((float2 *)s)[t] = v;
  }
  if (t < 2) {
    Three x = {in[g + 96 + 3 * t] * w, in[g + 97 + 3 * t] * w, w};
    ((Three *)(s + 96))[t] = x;
  }
  __syncthreads();
  out[g + t] = s[t] + s[t + 1] + s[t + 6];
}

int main() {
  for (int b : {1, 2, 7, 33}) {
    Buf<float> a(1024 * b + 2048), o(1024 * b + 2048);
    a.nums(3);
    smooth<<<b, 128>>>(a.d, o.d); show("smooth", o);
    diff<<<b, 256>>>(o.d, (const float4 *)a.d); show("diff", o);
    blend<<<b, 64>>>(a.d, o.d); show("blend", o);
    conv4<<<b, 128>>>(a.d, o.d, 512 * b); show("conv4", o);
    pairs<<<b, 128, 128 * sizeof(float2)>>>((const float2 *)a.d, o.d); show("pairs", o);
    lanes<<<b, 64>>>((const float4 *)a.d, o.d); show("lanes", o);
    mixed<<<b, 96>>>(a.d, o.d, 0.37f); show("mixed", o);
    Buf<unsigned char> c(2 * 1024 * (b + 1)), d(2 * 1024 * (b + 1));
    c.nums(5);
    rowblur<<<dim3(b, 2), 256>>>(c.d, d.d, 1024 * b); show("rowblur", d);
    Buf<int> i(64 * 8 * b * 2), j(64 * 8 * b * 2);
    i.nums(7);
    second<<<dim3(2, b), dim3(64, 8)>>>(i.d, j.d, 128, 8 * b); show("second", j);
  }
}
