// Several elements of a thread in loops between barriers. Where an argument ends such a
// loop, the array does at the latest.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2>&1 | FileCheck %s
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
// RUN: rcache-rewrite %s --force --kernel=counted --mutate=wrong-register -o %t.bad.cu --cuda-path=%cuda -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=BAD %s
//
// CHECK-DAG: rewrote 'sorted' {{.*}}'k' owned by a warp; 'v' owned by a warp
// CHECK-DAG: rewrote 'counted' {{.*}}'s' owned by a warp
// CHECK-DAG: rewrote 'summed' {{.*}}'s' owned by a warp
// CHECK-DAG: rewrote 'directed' {{.*}}'s' owned by a warp
// CHECK-DAG: rewrote 'left' {{.*}}'s' kept shared
// BAD: the plan verifier found: s[t ^ d] at line {{[0-9]+}}
// TEXT: sorted_rc(
// TEXT: rc_k_own
// TEXT: if (i < length && base + i < total)
#include "program.h"

#define SWAP(K, V, i, j, up)                                                                  \
  do {                                                                                        \
    if ((K[i] > K[j]) == (up)) {                                                              \
      unsigned a = K[i]; K[i] = K[j]; K[j] = a;                                               \
      unsigned b = V[i]; V[i] = V[j]; V[j] = b;                                               \
    }                                                                                         \
  } while (0)

// Segments of up to 256 keys, with what belongs to them.
__global__ void sorted(const unsigned *key, const unsigned *value, unsigned *keys, unsigned *values,
                       unsigned length, unsigned total) {
  __shared__ unsigned k[256], v[256];
  const unsigned base = blockIdx.x * length;
  for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) {
    const bool in = i < length && base + i < total;
    k[i] = in ? key[base + i] : 0xffffffffu;
    v[i] = in ? value[base + i] : 0xffffffffu;
  }
  for (unsigned size = 2; size <= 256; size <<= 1)
    for (unsigned stride = size >> 1; stride > 0; stride >>= 1) {
      __syncthreads();
      unsigned t = threadIdx.x;
      unsigned pos = 2 * t - (t & (stride - 1));
      bool up = (pos & size) == 0;
      SWAP(k, v, pos, pos + stride, up);
    }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < length && base + i < total; i += blockDim.x) {
    keys[base + i] = k[i];
    values[base + i] = v[i];
  }
}

__global__ void counted(const int *__restrict__ in, int *__restrict__ out, int n) {
  __shared__ int s[256];
  const int t = threadIdx.x, base = blockIdx.x * 256;
  for (int r = 0; r < 2; ++r) {
    const int i = t + 128 * r;
    s[i] = base + i < n ? in[base + i] : 0;
  }
  for (int d = 1; d < 128; d <<= 1) {
    __syncthreads();
    int x = s[t], y = s[t ^ d];
    __syncthreads();
    s[t] = x + y;
  }
  __syncthreads();
  for (int r = 0; r < 2; ++r) {
    const int i = t + 128 * r;
    if (base + i < n)
      out[base + i] = s[i];
  }
}

// Three elements a thread, the last one in front of half of the threads.
__global__ void summed(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[320];
  const int t = threadIdx.x, base = blockIdx.x * 320;
  for (int i = t; i < 320; i += 128)
    s[i] = base + i < n ? in[base + i] : 0.f;
  __syncthreads();
  for (int d = 64; d > 0; d >>= 1) {
    if (t < d)
      s[t] += s[t + d];
    __syncthreads();
  }
  for (int i = t; i < 320; i += 128)
    if (base + i < n)
      out[base + i] = s[i];
}

// A number of the round's own is used by two declarations, of which one is not needed.
__global__ void directed(const int *__restrict__ in, int *__restrict__ out) {
  __shared__ int s[256];
  const int base = blockIdx.x * 256;
  for (int i = threadIdx.x; i < 256; i += 128)
    s[i] = in[base + i];
  for (unsigned size = 2; size <= 256; size <<= 1)
    for (unsigned stride = size >> 1; stride > 0; stride >>= 1) {
      __syncthreads();
      unsigned t = threadIdx.x;
      unsigned pos = 2 * t - (t & (stride - 1));
      bool up = (t & (size / 2)) == 0;
      int x = s[pos], y = s[pos + stride];
      if ((x > y) == up) {
        s[pos] = y;
        s[pos + stride] = x;
      }
    }
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += 128)
    out[base + i] = s[i];
}

// The round that is left lies behind the array, and stores.
__global__ void left(const float *__restrict__ in, float *__restrict__ out, int *seen, int n) {
  __shared__ float s[256];
  const int t = threadIdx.x;
  s[t] = in[t];
  s[t + 128] = in[t + 128];
  for (int d = 128; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d)
      s[t] += s[t + d];
  }
  __syncthreads();
  for (int i = t; i < n; i += blockDim.x) {
    seen[i] = 1;
    if (i >= 256)
      break;
    out[i] = s[i];
  }
}

int main() {
  const int n = 20000;
  Buffer<unsigned> keys(randoms<unsigned>(n)), values(randoms<unsigned>(n)), k(n), v(n);
  Buffer<int> ints(randoms<int>(n)), sums(n);
  Buffer<float> floats(randoms<float>(n)), rows(n);
  for (int m : {n, 129, 3001}) {
    for (int length : {256, 200, 1}) {
      sorted<<<blocks(m, length), 128>>>(keys.Data, values.Data, k.Data, v.Data, length, m);
      k.show("keys", m, length);
      v.show("values", m, length);
    }
    counted<<<blocks(m, 256), 128>>>(ints.Data, sums.Data, m);
    sums.show("counted", m);
    summed<<<blocks(m, 320), 128>>>(floats.Data, rows.Data, m);
    rows.show("summed", m);
    directed<<<n / 256, 128>>>(ints.Data, sums.Data);
    sums.show("directed", m);
    left<<<1, 128>>>(floats.Data, rows.Data, sums.Data, m);
    rows.show("left", m);
    sums.show("left", m);
  }
}
