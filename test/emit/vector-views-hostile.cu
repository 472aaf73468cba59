// Vectors in shared memory where what stands for an access could do more, less or
// something else than the access did: rewritten with the same results, or left.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
#include "buffers.h"

// The place sets a variable: it is not said four times.
// CHECK-DAG: 'counted' left as it is: {{.*}}[type-punned]
__global__ void counted(const float4 *in, float *out) {
  __shared__ __align__(16) float s[512];
  int t = threadIdx.x, i = t;
  ((float4 *)s)[i++] = in[blockIdx.x * 128 + t];
  __syncthreads();
  out[blockIdx.x * 128 + t] = s[4 * i - 4] + s[511 - t];
}

// The place is an element of shared memory.
// CHECK-DAG: 'placed' left as it is:
__global__ void placed(const float4 *in, const int *at, float *out) {
  __shared__ __align__(16) float s[256];
  __shared__ int p[64];
  int t = threadIdx.x;
  p[t] = (t * 37 + at[0]) & 63;
  __syncthreads();
  ((float4 *)s)[p[t]] = in[p[t]];
  __syncthreads();
  out[blockIdx.x * 64 + t] = s[4 * p[t] + 1];
}

// Two names for the value, one of them in the text already.
// CHECK-DAG: rewrote 'named'
__global__ void named(const float4 *in, float *out, float value) {
  __shared__ __align__(16) float s[256];
  int t = threadIdx.x;
  float value2 = value + 1;
  ((float4 *)s)[t] = in[blockIdx.x * 64 + t];
  __syncthreads();
  out[blockIdx.x * 64 + t] = s[t] * value + value2;
}

// Vectors of memory that begin at no multiple of one in the index alone.
// CHECK-DAG: 'odd'
__global__ void odd(const float *in, float *out) {
  __shared__ __align__(16) float s[260];
  int t = threadIdx.x;
  ((float4 *)s)[t] = *(const float4 *)(in + 1 + blockIdx.x * 256 + 4 * t);
  __syncthreads();
  for (int k = 0; k < 4; ++k)
    out[blockIdx.x * 256 + t + 64 * k] = s[t + 64 * k];
}

// Only some of the members are set, by an array of the same memory.
// CHECK-DAG: 'some'
__global__ void some(const float4 *in, float *out) {
  __shared__ __align__(16) float s[256];
  int t = threadIdx.x;
  float4 *v = reinterpret_cast<float4 *>(s);
  v[t] = in[blockIdx.x * 64 + t];
  __syncthreads();
  v[t].y = v[t].x + 1;
  v[t].w = 2;
  __syncthreads();
  out[blockIdx.x * 64 + t] = s[t] + s[255 - t];
}

// In place, by pairs of neighbours.
// CHECK-DAG: 'swapped'
__global__ void swapped(const float2 *in, float2 *out) {
  __shared__ __align__(8) float s[128];
  float2 *v = (float2 *)s;
  int t = threadIdx.x;
  v[t] = in[blockIdx.x * 64 + t];
  __syncthreads();
  float2 mine = v[t], other = v[63 - t];
  __syncthreads();
  v[t] = make_float2(mine.y + other.x, other.y);
  __syncthreads();
  out[blockIdx.x * 64 + t] = v[t ^ 1];
}

// A row further: vectors run over the end of theirs.
// CHECK-DAG: 'rows'
__global__ void rows(const float4 *in, float *out) {
  __shared__ __align__(16) float s[8][36];
  int t = threadIdx.x;
  float4 *v = (float4 *)s;
  v[t] = in[blockIdx.x * 72 + t];
  __syncthreads();
  out[blockIdx.x * 72 + t] = s[t / 36][t % 36] + s[t / 36 + 6][t % 36];
}

// Bytes that are used as bytes, words and vectors of words.
// CHECK-DAG: 'punned' left as it is: {{.*}}[type-punned]
__global__ void punned(const float4 *in, unsigned char *out) {
  extern __shared__ unsigned char raw[];
  int t = threadIdx.x;
  ((float4 *)raw)[t] = in[t];
  __syncthreads();
  out[blockIdx.x * 64 + t] = raw[16 * t] ^ (unsigned char)((float *)raw)[t];
}

// Dynamic memory that is vectors by one name and numbers by its own.
// CHECK-DAG: 'own_name'
__global__ void own_name(const float4 *in, float *out) {
  extern __shared__ float sm[];
  int t = threadIdx.x;
  reinterpret_cast<float4 *>(sm)[t] = in[blockIdx.x * 64 + t];
  __syncthreads();
  for (int k = 0; k < 4; ++k)
    out[blockIdx.x * 256 + t + 64 * k] = sm[t + 64 * k];
}

// A condition on each way, and a loop that the pointer moves through.
// CHECK-DAG: 'moved'
__global__ void moved(const float4 *in, float *out, int n) {
  __shared__ __align__(16) float s[4 * 64 * 2];
  int t = threadIdx.x;
  float4 *v = (float4 *)s + t;
  for (int k = 0; k < 2; ++k, v += 64)
    if (t + 64 * k < n) *v = in[t + 64 * k]; else *v = make_float4(k, t, 0, 1);
  __syncthreads();
  for (int k = 0; k < 8; ++k)
    out[blockIdx.x * 512 + t + 64 * k] = s[t + 64 * k];
}

int main() {
  for (int b : {1, 3, 8}) {
    Buf<float> a(4 * 1024 * b + 4), o(1024 * b);
    a.nums(3);
    const float4 *v = (const float4 *)a.d;
    Buf<int> at(64);
    at.nums(9);
    counted<<<b, 128>>>(v, o.d); show("counted", o);
    placed<<<b, 64>>>(v, at.d, o.d);
    named<<<b, 64>>>(v, o.d, 0.25f); show("named", o);
    odd<<<b, 64>>>(a.d + 3, o.d); show("odd", o);
    some<<<b, 64>>>(v, o.d); show("some", o);
    swapped<<<b, 64>>>((const float2 *)v, (float2 *)o.d); show("swapped", o);
    rows<<<b, 72>>>(v, o.d); show("rows", o);
    Buf<unsigned char> c(64 * b);
    punned<<<b, 64, 1024>>>(v, c.d); show("punned", c);
    own_name<<<b, 64, 1024>>>(v, o.d); show("own_name", o);
    for (int n : {0, 70, 128}) { moved<<<b, 64>>>(v, o.d, n); show("moved", o); }
  }
}
