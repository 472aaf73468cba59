// A tridiagonal system in each thread (Thomas algorithm), diagonals interleaved over the systems.
#include "bench.h"

#define MAXN 64

__global__ void thomasPerThread(const float *a, const float *b, const float *c, const float *d, float *x, int systems,
                                int n) {
  int s = blockIdx.x * blockDim.x + threadIdx.x;
  if (s >= systems)
    return;
  float cp[MAXN], dp[MAXN];
  float den = b[s];
  cp[0] = c[s] / den;
  dp[0] = d[s] / den;
  for (int i = 1; i < n; i++) {
    size_t k = (size_t)i * systems + s;
    float m = b[k] - a[k] * cp[i - 1];
    cp[i] = c[k] / m;
    dp[i] = (d[k] - a[k] * dp[i - 1]) / m;
  }
  float v = dp[n - 1];
  x[(size_t)(n - 1) * systems + s] = v;
  for (int i = n - 2; i >= 0; i--) {
    v = dp[i] - cp[i] * v;
    x[(size_t)i * systems + s] = v;
  }
}

int main() {
  const int systems = 200000, n = 50;
  const size_t total = (size_t)systems * n;
  float *a = toDevice(randomFloats(total, 351, -1, 1)), *b = toDevice(randomFloats(total, 352, 3, 4));
  float *c = toDevice(randomFloats(total, 353, -1, 1)), *d = toDevice(randomFloats(total, 354, -1, 1));
  float *x = deviceAlloc<float>(total);
  const int bs = 128;
  printTime("thomasPerThread",
            timeMin([&] { thomasPerThread<<<(systems + bs - 1) / bs, bs>>>(a, b, c, d, x, systems, n); }));
  printHash("thomasPerThread", x, total);
}
