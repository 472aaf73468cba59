// An argument to which every launch gives one value is handed on to functions of the
// program: where these make no number of it, the rewritten kernel is for that value.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
#include "program.h"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

template <class Key, class Item>
__device__ inline void exchange(Key &a, Item &x, Key &b, Item &y, unsigned up) {
  if ((a > b) == up) {
    const Key k = a;
    a = b;
    b = k;
    const Item i = x;
    x = y;
    y = i;
  }
}

// CHECK-DAG: rewrote 'sortInts'
// CHECK-DAG: note: launches that pass length = 256 and up = 1 run the rewritten kernel
__global__ void sortInts(int *keys, unsigned *items, unsigned length, unsigned up) {
  __shared__ int k[256];
  __shared__ unsigned v[256];
  const unsigned t = threadIdx.x;
  keys += blockIdx.x * 256 + t;
  items += blockIdx.x * 256 + t;
  k[t] = keys[0];
  v[t] = items[0];
  k[t + 128] = keys[128];
  v[t + 128] = items[128];
  for (unsigned size = 2; size < length; size <<= 1) {
    const unsigned way = up ^ ((t & (size / 2)) != 0);
    for (unsigned stride = size / 2; stride > 0; stride >>= 1) {
      __syncthreads();
      const unsigned at = 2 * t - (t & (stride - 1));
      exchange(k[at], v[at], k[at + stride], v[at + stride], way);
    }
  }
  for (unsigned stride = length / 2; stride > 0; stride >>= 1) {
    __syncthreads();
    const unsigned at = 2 * t - (t & (stride - 1));
    exchange(k[at], v[at], k[at + stride], v[at + stride], up);
  }
  __syncthreads();
  keys[0] = k[t];
  items[0] = v[t];
  keys[128] = k[t + 128];
  items[128] = v[t + 128];
}

// Barriers of the block by its group: no number is made there.
// CHECK-DAG: rewrote 'sortGrouped'
// CHECK-DAG: note: launches that pass length = 256 and up = 0 run the rewritten kernel
__global__ void sortGrouped(int *keys, unsigned *items, unsigned length, unsigned up) {
  cg::thread_block cta = cg::this_thread_block();
  __shared__ int k[256];
  __shared__ unsigned v[256];
  const unsigned t = threadIdx.x;
  keys += blockIdx.x * 256 + t;
  items += blockIdx.x * 256 + t;
  k[t] = keys[0];
  v[t] = items[0];
  k[t + 128] = keys[128];
  v[t + 128] = items[128];
  for (unsigned size = 2; size < length; size <<= 1) {
    const unsigned way = up ^ ((t & (size / 2)) != 0);
    for (unsigned stride = size / 2; stride > 0; stride >>= 1) {
      cg::sync(cta);
      const unsigned at = 2 * t - (t & (stride - 1));
      exchange(k[at], v[at], k[at + stride], v[at + stride], way);
    }
  }
  for (unsigned stride = length / 2; stride > 0; stride >>= 1) {
    cg::sync(cta);
    const unsigned at = 2 * t - (t & (stride - 1));
    exchange(k[at], v[at], k[at + stride], v[at + stride], up);
  }
  cg::sync(cta);
  keys[0] = k[t];
  items[0] = v[t];
  keys[128] = k[t + 128];
  items[128] = v[t + 128];
}

// CHECK-DAG: rewrote 'sortNumbers'
// CHECK-DAG: note: launches that pass n = 64 and down = 0 run the rewritten kernel
__global__ void sortNumbers(float *keys, short *items, int n, unsigned down) {
  __shared__ float k[64];
  __shared__ short v[64];
  const int t = threadIdx.x, g = blockIdx.x * 64 + t;
  k[t] = keys[g];
  v[t] = items[g];
  __syncthreads();
  for (int size = 2; size <= n; size *= 2)
    for (int stride = size / 2; stride > 0; stride /= 2) {
      const int p = t ^ stride;
      if (p > t)
        exchange(k[t], v[t], k[p], v[p], down ^ ((t & size) == 0));
      __syncthreads();
    }
  keys[g] = k[t];
  items[g] = v[t];
}

// A number that hangs on how many there are: a division by 8 would be a product, which is
// rounded as the quotient is, but not by every compiler's fast divisions.
// CHECK-NOT: launches that pass count
__device__ float part(float x, int count) { return x / count; }
__global__ void parts(const float *in, float *out, int count) {
  __shared__ float s[128];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = in[g];
  __syncthreads();
  for (int d = 1; d < count; d *= 2) {
    const float x = t >= d ? s[t - d] : 0.f;
    __syncthreads();
    s[t] = fmaxf(part(s[t], count), x);
    __syncthreads();
  }
  out[g] = s[t];
}

int main() {
  Buffer<int> keys(randoms<int>(2048));
  Buffer<unsigned> items(randoms<unsigned>(2048));
  sortInts<<<8, 128>>>(keys.Data, items.Data, 256, 1);
  keys.show("keys");
  items.show("items");
  Buffer<float> numbers(randoms<float>(2048)), out(2048);
  Buffer<short> names(randoms<short>(2048));
  sortGrouped<<<8, 128>>>(keys.Data, items.Data, 256, 0);
  keys.show("keys back");
  items.show("items back");
  sortNumbers<<<32, 64>>>(numbers.Data, names.Data, 64, 0);
  numbers.show("numbers");
  names.show("names");
  parts<<<16, 128>>>(numbers.Data, out.Data, 8);
  out.show("parts");
}
