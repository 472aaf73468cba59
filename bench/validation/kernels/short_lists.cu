// A thread's own array at indices that depend on data: the five nearest of a
// set (the list rarely changes), a histogram of sixteen (it always changes), a
// permutation followed around, splines from a table.
#include "validation.cuh"

#define K_NEAREST 5

__global__ void kNearest(const float2 *query, int queries, const float2 *set,
                         int points, int *index, float *reach) {
  int q = blockIdx.x * blockDim.x + threadIdx.x;
  if (q >= queries)
    return;
  float best[K_NEAREST];
  int who[K_NEAREST];
  for (int k = 0; k < K_NEAREST; ++k) {
    best[k] = 3.4e38f;
    who[k] = -1;
  }
  const float2 p = query[q];
  for (int j = 0; j < points; ++j) {
    float dx = set[j].x - p.x, dy = set[j].y - p.y;
    float d = dx * dx + dy * dy;
    if (d < best[K_NEAREST - 1]) {
      int at = K_NEAREST - 1;
      while (at > 0 && best[at - 1] > d) {
        best[at] = best[at - 1];
        who[at] = who[at - 1];
        --at;
      }
      best[at] = d;
      who[at] = j;
    }
  }
  for (int k = 0; k < K_NEAREST; ++k)
    index[(size_t)k * queries + q] = who[k];
  reach[q] = sqrtf(best[K_NEAREST - 1]);
}

// one thread counts the nibbles of a run of words; bins-major result
__global__ void nibbleCounts(const unsigned *words, unsigned *counts, int runs,
                             int words_per_run) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= runs)
    return;
  unsigned bin[16] = {};
  for (int i = 0; i < words_per_run; ++i) {
    unsigned v = words[(size_t)i * runs + r];
    for (int shift = 0; shift < 32; shift += 4)
      bin[(v >> shift) & 15]++;
  }
  for (int b = 0; b < 16; ++b)
    counts[(size_t)b * runs + r] = bin[b];
}

// shuffles 0..11 by the digits of a seed, then measures the cycle through 0
__global__ void cycleLengths(const unsigned *seed, int *length, int n) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n)
    return;
  unsigned s = seed[t];
  unsigned char perm[12];
  for (int i = 0; i < 12; i++)
    perm[i] = (unsigned char)i;
  for (int i = 11; i > 0; i--) {
    s = s * 1664525u + 1013904223u;
    int j = (s >> 16) % (i + 1);
    unsigned char c = perm[i];
    perm[i] = perm[j];
    perm[j] = c;
  }
  int len = 1;
  for (int at = perm[0]; at != 0; at = perm[at])
    ++len;
  length[t] = len * 16 + perm[3];
}

// each thread has its own eight knots; samples pick the cubic between them
__global__ void splineTable(const float *knots, const float *at, float *value,
                            int curves, int samples) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= curves)
    return;
  float y[8];
  for (int k = 0; k < 8; ++k)
    y[k] = knots[(size_t)k * curves + c];
  for (int s = 0; s < samples; ++s) {
    float u = at[(size_t)s * curves + c];
    int i = min(max((int)u, 1), 5);
    float f = u - i;
    float a = y[i + 2] - y[i + 1] - y[i - 1] + y[i];
    float b = y[i - 1] - y[i] - a;
    value[(size_t)s * curves + c] =
        ((a * f + b) * f + (y[i + 1] - y[i - 1])) * f + y[i];
  }
}

void nearest(const float2 *q, int nq, const float2 *s, int ns, int *i, float *r) {
  kNearest<<<(nq + 127) / 128, 128>>>(q, nq, s, ns, i, r);
}
void nibbles(const unsigned *w, unsigned *c, int runs, int per) {
  nibbleCounts<<<(runs + 255) / 256, 256>>>(w, c, runs, per);
}
void cycles(const unsigned *s, int *l, int n) {
  cycleLengths<<<(n + 255) / 256, 256>>>(s, l, n);
}
void splines(const float *k, const float *a, float *v, int curves, int samples) {
  splineTable<<<(curves + 127) / 128, 128>>>(k, a, v, curves, samples);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (Extent e : extents({{10000, 2000, 1}, {1 << 17, 4096, 1}, {1 << 20, 500, 1}},
                          {140, 60, 1})) {
    float *q = filled<float>(2 * e.x, 651), *s = filled<float>(2 * e.y, 652),
          *r = zeros<float>(e.x);
    size_t n = (size_t)K_NEAREST * e.x;
    int *i = zeros<int>(n);
    measure("kNearest", text(e),
            [&] {
              nearest((const float2 *)q, e.x, (const float2 *)s, e.y, i, r);
            },
            {result(i, n), result(r, e.x)});
    release(q, s, r, i);
  }
  for (Extent e : extents({{1 << 14, 64, 1}, {200000, 32, 1}, {1 << 20, 32, 1}},
                          {300, 5, 1})) {
    size_t n = (size_t)e.x * e.y;
    unsigned *w = filled<unsigned>(n, 653, 0, 4e9),
             *c = zeros<unsigned>((size_t)16 * e.x);
    measure("nibbleCounts", text(e), [&] { nibbles(w, c, e.x, e.y); },
            {result(c, (size_t)16 * e.x)});
    release(w, c);
    float *k = filled<float>((size_t)8 * e.x, 654), *a = filled<float>(n, 655, 0, 7),
          *v = zeros<float>(n);
    measure("splineTable", text(e), [&] { splines(k, a, v, e.x, e.y); },
            {result(v, n)});
    release(k, a, v);
  }
  for (int n : sizes({1 << 18, 3000000, 1 << 24}, 300)) {
    unsigned *s = filled<unsigned>(n, 656, 0, 4e9);
    int *l = zeros<int>(n);
    measure("cycleLengths", text(n), [&] { cycles(s, l, n); }, {result(l, n)});
    release(s, l);
  }
}
