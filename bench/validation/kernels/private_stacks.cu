// A thread's own stack, list and row: adaptive quadrature, the nearest few of a
// point set, the edit distance of short words.
#include "validation.cuh"

__device__ float density(float x, float sharp) {
  return 1.0f / (1.0f + sharp * x * x);
}

__global__ void adaptiveSimpson(const float *sharpness, float *integral, int n,
                                float tolerance) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float c = sharpness[i];
  float from[16], to[16];
  int top = 1;
  from[0] = 0.0f;
  to[0] = 1.0f;
  float total = 0.0f;
  while (top > 0) {
    --top;
    float a = from[top], b = to[top], h = b - a, m = 0.5f * (a + b);
    float fa = density(a, c), fm = density(m, c), fb = density(b, c);
    float fl = density(0.5f * (a + m), c), fr = density(0.5f * (m + b), c);
    float coarse = h / 6.0f * (fa + 4.0f * fm + fb);
    float fine = h / 12.0f * (fa + 4.0f * fl + 2.0f * fm + 4.0f * fr + fb);
    if (fabsf(fine - coarse) <= tolerance || top >= 14 || h < 1e-3f) {
      total += fine;
    } else {
      from[top] = m;
      to[top++] = b;
      from[top] = a;
      to[top++] = m;
    }
  }
  integral[i] = total;
}

#define MAX_K 12

__global__ void nearestFew(const float2 *queries, const float2 *points,
                           int npoints, int *index, int n, int k) {
  int q = blockIdx.x * blockDim.x + threadIdx.x;
  if (q >= n)
    return;
  float dist[MAX_K];
  int idx[MAX_K];
  for (int j = 0; j < k; ++j) {
    dist[j] = 1e30f;
    idx[j] = -1;
  }
  float2 p = queries[q];
  for (int c = 0; c < npoints; ++c) {
    float dx = points[c].x - p.x, dy = points[c].y - p.y;
    float d = dx * dx + dy * dy;
    if (d < dist[k - 1]) {
      int j = k - 1;
      for (; j > 0 && dist[j - 1] > d; --j) {
        dist[j] = dist[j - 1];
        idx[j] = idx[j - 1];
      }
      dist[j] = d;
      idx[j] = c;
    }
  }
  for (int j = 0; j < k; ++j)
    index[(size_t)j * n + q] = idx[j];
}

#define MAX_WORD 24

// words are stored by columns, `count` apart
__global__ void editDistance(const char *words, const char *pattern, int length,
                             int patternLength, unsigned char *distance,
                             int count) {
  int w = blockIdx.x * blockDim.x + threadIdx.x;
  if (w >= count)
    return;
  unsigned char row[MAX_WORD + 1];
  for (int j = 0; j <= patternLength; ++j)
    row[j] = j;
  for (int i = 1; i <= length; ++i) {
    char ch = words[(size_t)(i - 1) * count + w];
    int diagonal = row[0];
    row[0] = i;
    for (int j = 1; j <= patternLength; ++j) {
      int cost = diagonal + (pattern[j - 1] != ch);
      diagonal = row[j];
      row[j] = min(cost, min((int)row[j - 1], (int)row[j]) + 1);
    }
  }
  distance[w] = row[patternLength];
}

void quadrature(const float *s, float *o, int n) {
  adaptiveSimpson<<<(n + 127) / 128, 128>>>(s, o, n, 1e-6f);
}
void neighbours(const float2 *q, const float2 *p, int np, int *idx, int n,
                int k) {
  int threads = 128;
  nearestFew<<<(n + threads - 1) / threads, threads>>>(q, p, np, idx, n, k);
}
void edits(const char *w, const char *p, int len, int plen, unsigned char *d,
           int count) {
  editDistance<<<(count + 255) / 256, 256>>>(w, p, len, plen, d, count);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (int n : sizes({1 << 22, 1 << 20}, 200)) {
    float *s = filled<float>(n, 641, 1, 200), *o = zeros<float>(n);
    measure("adaptiveSimpson", text(n), [&] { quadrature(s, o, n); },
            {result(o, n)});
    release(s, o);
  }
  // queries, points
  for (Extent e : extents({{1 << 20, 1024, 1}, {100000, 5000, 1}}, {150, 40, 1})) {
    const int k = 5;
    float *q = filled<float>(2 * (size_t)e.x, 642),
          *p = filled<float>(2 * (size_t)e.y, 643);
    int *idx = zeros<int>((size_t)k * e.x);
    measure("nearestFew", text(e),
            [&] {
              neighbours((const float2 *)q, (const float2 *)p, e.y, idx, e.x, k);
            },
            {result(idx, (size_t)k * e.x)});
    release(q, p, idx);
  }
  // words, letters
  for (Extent e : extents({{1 << 22, 16, 1}, {1 << 20, 24, 1}}, {300, 9, 1})) {
    char *w = filled<char>((size_t)e.x * e.y, 644, 97, 103),
         *p = filled<char>(MAX_WORD, 645, 97, 103);
    unsigned char *d = zeros<unsigned char>(e.x);
    measure("editDistance", text(e), [&] { edits(w, p, e.y, 20, d, e.x); },
            {result(d, e.x)});
    release(w, p, d);
  }
}
