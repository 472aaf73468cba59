// Histograms that each thread keeps for itself.
#include "bench.h"

// a thread counts the codes of its own row
__global__ void rowHistogram(const unsigned char *codes, int *counts, int rows, int len) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows)
    return;
  int bins[32];
  for (int b = 0; b < 32; ++b)
    bins[b] = 0;
  for (int i = 0; i < len; ++i)
    bins[codes[(size_t)i * rows + row] & 31]++;
  for (int b = 0; b < 32; ++b)
    counts[(size_t)b * rows + row] = bins[b];
}

// most frequent grey level of the 5x5 neighbourhood (mode filter), 16 levels
__global__ void modeFilter(const unsigned char *__restrict__ src, unsigned char *__restrict__ dst, int w, int h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h)
    return;
  unsigned char hist[16] = {0};
  for (int dy = -2; dy <= 2; ++dy)
    for (int dx = -2; dx <= 2; ++dx) {
      int sx = min(max(x + dx, 0), w - 1);
      int sy = min(max(y + dy, 0), h - 1);
      ++hist[src[sy * w + sx] >> 4];
    }
  int best = 0;
  for (int v = 1; v < 16; ++v)
    if (hist[v] > hist[best])
      best = v;
  dst[y * w + x] = (unsigned char)(best << 4);
}

// local binary-ish texture: entropy-like score with short counters and a grid-stride loop
__global__ void __launch_bounds__(128) textureScore(const unsigned short *samples, float *score, size_t n, int window) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
    short cnt[64];
    memset(cnt, 0, sizeof(cnt));
    for (int k = 0; k < window; ++k) {
      unsigned v = samples[i + k];
      cnt[(v >> 2) & 63] += 1;
    }
    int s = 0;
    for (int b = 0; b < 64; ++b)
      s += cnt[b] * cnt[b];
    score[i] = (float)s / (float)(window * window);
  }
}

int main() {
  {
    const int rows = 200000, len = 200;
    unsigned char *codes = toDevice(randomInts<unsigned char>((size_t)rows * len, 301, 256));
    int *counts = deviceAlloc<int>((size_t)32 * rows);
    int threads = 128;
    int blocks = (rows + threads - 1) / threads;
    printTime("rowHistogram", timeMin([&] { rowHistogram<<<blocks, threads>>>(codes, counts, rows, len); }));
    printHash("rowHistogram", counts, (size_t)32 * rows);
  }
  {
    const int w = 1920, h = 1080;
    unsigned char *src = toDevice(randomInts<unsigned char>(w * h, 302, 256)), *dst = deviceAlloc<unsigned char>(w * h);
    dim3 b(32, 8), g((w + 31) / 32, (h + 7) / 8);
    printTime("modeFilter", timeMin([&] { modeFilter<<<g, b>>>(src, dst, w, h); }));
    printHash("modeFilter", dst, w * h);
  }
  {
    const size_t n = 2000000;
    const int window = 48;
    unsigned short *s = toDevice(randomInts<unsigned short>(n + window, 303, 1024));
    float *score = deviceAlloc<float>(n);
    printTime("textureScore", timeMin([&] { textureScore<<<1056, 128>>>(s, score, n, window); }));
    printHash("textureScore", score, n);
  }
}
