// Lists that are searched and counters with a bin that moves are no stacks: in local memory
// lanes are in different lines. A stack gains nothing; nor do bytes of which the best so far
// is looked for (0.73x measured).
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2>&1 | FileCheck %s
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
//
// CHECK-DAG: rewrote 'sorted_window'
// CHECK-DAG: rewrote 'moving_median'
// CHECK-DAG: rewrote 'swapped_state'
// CHECK-DAG: 'depth_first' left as it is{{.*}}no-gain
// CHECK-DAG: 'selected' left as it is{{.*}}no-gain
#include "program.h"

// The oldest is looked up and taken out, the newest sinks to its place.
__global__ void sorted_window(const float *__restrict__ in, float *__restrict__ out, int series,
                              int length) {
  const int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= series)
    return;
  float list[20];
  int filled = 0;
  for (int t = 0; t < length; ++t) {
    const float v = in[t * series + id];
    if (filled == 20) {
      const float old = in[(t - 20) * series + id];
      int lo = 0, hi = 19;
      while (lo < hi) {
        const int middle = (lo + hi) / 2;
        if (list[middle] < old)
          lo = middle + 1;
        else
          hi = middle;
      }
      for (int i = lo; i + 1 < 20; i++)
        list[i] = list[i + 1];
      --filled;
    }
    int p = filled++;
    for (; p > 0 && list[p - 1] > v; p--)
      list[p] = list[p - 1];
    list[p] = v;
    out[t * series + id] = list[filled / 2];
  }
}

// Counters of a window that moves, and the bin in whose middle the median lies.
__global__ void moving_median(const unsigned char *__restrict__ in, unsigned char *__restrict__ out,
                              int series, int length) {
  const int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= series)
    return;
  unsigned char count[32];
  for (int i = 0; i < 32; i++)
    count[i] = 0;
  int bin = 0, below = 0;
  for (int t = 0; t < length; ++t) {
    const int n = in[t * series + id] >> 3;
    count[n]++;
    if (n < bin)
      below++;
    if (t >= 31) {
      const int o = in[(t - 31) * series + id] >> 3;
      count[o]--;
      if (o < bin)
        below--;
    }
    const int half = (t < 31 ? t : 30) / 2;
    while (below > half)
      below -= count[--bin];
    while (below + count[bin] <= half)
      below += count[bin++];
    out[t * series + id] = bin;
  }
}

// A permutation that is walked through and swapped where data says.
__global__ void swapped_state(const unsigned char *__restrict__ keys, unsigned char *__restrict__ out,
                              int streams, int bytes) {
  const int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= streams)
    return;
  unsigned char s[64], j = 0;
  for (int i = 0; i < 64; i++)
    s[i] = i;
  for (int i = 0; i < 64; i++) {
    const unsigned char t = s[i];
    j = (j + t + keys[id * 8 + i % 8]) % 64;
    s[i] = s[j];
    s[j] = t;
  }
  unsigned char x = 0, y = 0;
  for (int n = 0; n < bytes; n++) {
    x %= 63;
    const unsigned char a = s[++x];
    y = (y + a) % 64;
    const unsigned char b = s[y];
    s[x] = b;
    s[y] = a;
    out[n * streams + id] = s[(a + b) % 64];
  }
}

// Lanes push and pop together for the most part.
__global__ void depth_first(const int *__restrict__ tree, int *__restrict__ out, int queries,
                            int nodes) {
  const int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= queries)
    return;
  int stack[16], top = 0, sum = 0;
  stack[top++] = 1;
  while (top > 0) {
    const int node = stack[--top];
    sum += tree[node];
    if (tree[node] % 4 < id % 4 && 2 * node + 1 < nodes && top < 14) {
      stack[top++] = 2 * node;
      stack[top++] = 2 * node + 1;
    }
  }
  out[id] = sum;
}

// Compilers hold the best so far in a register.
__global__ void selected(const unsigned char *__restrict__ in, unsigned char *__restrict__ out, int n) {
  const int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= n)
    return;
  unsigned char v[25];
  for (int i = 0; i < 25; i++)
    v[i] = in[id + i];
  for (int i = 0; i < 13; i++) {
    int m = i;
    for (int j = i + 1; j < 25; j++)
      if (v[j] < v[m])
        m = j;
    const unsigned char t = v[i];
    v[i] = v[m];
    v[m] = t;
  }
  out[id] = v[12];
}

int main() {
  const int n = 1000, length = 60;
  Buffer<float> floats(randoms<float>(n * length)), medians(size_t(n) * length);
  Buffer<unsigned char> bytes(randoms<unsigned char>(n * length)), found(size_t(n) * length);
  Buffer<int> tree(randoms<int>(n)), sums(size_t(n) * length);
  for (int m : {n, 129}) {
    sorted_window<<<blocks(m, 128), 128>>>(floats.Data, medians.Data, m, length);
    medians.show("sorted_window");
    moving_median<<<blocks(m, 128), 128>>>(bytes.Data, found.Data, m, length);
    found.show("moving_median");
    swapped_state<<<blocks(m, 128), 128>>>(bytes.Data, found.Data, m, length);
    found.show("swapped_state");
    depth_first<<<blocks(m, 128), 128>>>(tree.Data, sums.Data, m, n);
    sums.show("depth_first");
    selected<<<blocks(m, 128), 128>>>(bytes.Data, found.Data, m);
    found.show("selected");
  }
}
