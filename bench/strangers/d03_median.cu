// Median of a window whose size is known at run time: insertion sort in an array of the thread.
#include "bench.h"

#define MAX_WIN 49

__global__ void medianWindow(const float *in, float *out, int width, int height, int r) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height)
    return;
  float w[MAX_WIN];
  int m = 0;
  for (int dy = -r; dy <= r; dy++) {
    for (int dx = -r; dx <= r; dx++) {
      int xx = x + dx, yy = y + dy;
      if (xx < 0 || yy < 0 || xx >= width || yy >= height)
        continue;
      float v = in[yy * width + xx];
      int p = m++;
      while (p > 0 && w[p - 1] > v) {
        w[p] = w[p - 1];
        p--;
      }
      w[p] = v;
    }
  }
  out[y * width + x] = w[m / 2];
}

// k smallest distances of each query, kept sorted; selection by replacing the largest
__global__ void kSmallest(const unsigned *__restrict__ keys, unsigned *__restrict__ out, int queries, int perQuery, int k) {
  unsigned best[16];
  int q = blockIdx.x * blockDim.x + threadIdx.x;
  if (q < queries) {
    for (int i = 0; i < k; ++i)
      best[i] = 0xffffffffu;
    for (int j = 0; j < perQuery; ++j) {
      unsigned key = keys[(size_t)j * queries + q];
      if (key < best[k - 1]) {
        int p = k - 1;
        for (; p > 0 && best[p - 1] > key; --p)
          best[p] = best[p - 1];
        best[p] = key;
      }
    }
    for (int i = 0; i < k; ++i)
      out[(size_t)i * queries + q] = best[i];
  }
}

int main() {
  const int width = 1280, height = 720;
  float *in = toDevice(randomFloats(width * height, 321)), *out = deviceAlloc<float>(width * height);
  dim3 block(16, 16), grid((width + 15) / 16, (height + 15) / 16);
  printTime("medianWindow", timeMin([&] { medianWindow<<<grid, block>>>(in, out, width, height, 2); }));
  printHash("medianWindow", out, width * height);

  const int queries = 1 << 18, per = 100, k = 10;
  unsigned *keys = toDevice(randomInts<unsigned>((size_t)queries * per, 322, 1u << 31));
  unsigned *o = deviceAlloc<unsigned>((size_t)queries * k);
  printTime("kSmallest", timeMin([&] { kSmallest<<<queries / 64, 64>>>(keys, o, queries, per, k); }));
  printHash("kSmallest", o, (size_t)queries * k);
}
