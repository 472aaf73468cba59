#include "shown.h"
#include <float.h>

#define NBINS 16
__global__ void localHistogram(const float *data, int *hist, int rows, int cols, float lo, float hi) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  int bins[NBINS];
  for (int b = 0; b < NBINS; b++) bins[b] = 0;
  float scale = NBINS / (hi - lo);
  for (int c = 0; c < cols; c++) {
    int b = (int)((data[c * rows + r] - lo) * scale);
    if (b < 0) b = 0;
    if (b >= NBINS) b = NBINS - 1;
    bins[b]++;
  }
  for (int b = 0; b < NBINS; b++) hist[b * rows + r] = bins[b];
}

// BVH traversal with stack
struct Node { float lo[3], hi[3]; int left, right; };  // leaf: left = ~prim
#define STACK_SIZE 32
__device__ bool hitBox(const Node &n, const float o[3], const float inv[3], float tmax) {
  float t0 = 0.f, t1 = tmax;
  for (int a = 0; a < 3; a++) {
    float n0 = (n.lo[a] - o[a]) * inv[a], n1 = (n.hi[a] - o[a]) * inv[a];
    t0 = fmaxf(t0, fminf(n0, n1));
    t1 = fminf(t1, fmaxf(n0, n1));
  }
  return t0 <= t1;
}
__global__ void bvhTraverse(const Node *nodes, int *hits, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  float o[3] = {0.5f + x * 100.f / w, 0.5f + y * 100.f / h, -10.f};
  float inv[3] = {1.f / 0.013f, 1.f / 0.021f, 1.f};
  int stack[STACK_SIZE];
  int sp = 0, cnt = 0;
  stack[sp++] = 0;
  while (sp > 0) {
    int id = stack[--sp];
    const Node &n = nodes[id];
    if (!hitBox(n, o, inv, 1e4f)) continue;
    if (n.left < 0) cnt += 1 + (~n.left) % 3;
    else {
      stack[sp++] = n.right;
      stack[sp++] = n.left;
    }
  }
  hits[y * w + x] = cnt;
}

// 5x5 median by insertion sort
__global__ void median5x5(const unsigned char *src, unsigned char *dst, int width, int height) {
  int ix = blockIdx.x * blockDim.x + threadIdx.x;
  int iy = blockIdx.y * blockDim.y + threadIdx.y;
  if (ix < width && iy < height) {
    unsigned char window[25];
    int count = 0;
    for (int dy = -2; dy <= 2; dy++)
      for (int dx = -2; dx <= 2; dx++) {
        int xx = ix + dx, yy = iy + dy;
        if (xx >= 0 && xx < width && yy >= 0 && yy < height) window[count++] = src[yy * width + xx];
      }
    for (int i = 1; i < count; i++) {
      unsigned char key = window[i];
      int j = i - 1;
      while (j >= 0 && window[j] > key) {
        window[j + 1] = window[j];
        j--;
      }
      window[j + 1] = key;
    }
    dst[iy * width + ix] = window[count / 2];
  }
}

// Gaussian elimination with partial pivoting on a thread-local matrix
template <typename T, int N>
__global__ void smallSolve(const T *A, const T *rhs, T *x, int batch) {
  int tid = threadIdx.x + blockDim.x * blockIdx.x;
  if (tid >= batch) return;
  T m[N][N + 1];
  int piv[N];
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < N; j++) m[i][j] = A[(i * N + j) * batch + tid] + (i == (j + 2) % N ? T(20) : T(0));
    m[i][N] = rhs[i * batch + tid];
    piv[i] = i;
  }
  for (int k = 0; k < N; k++) {
    int p = k;
    T best = fabs(m[piv[k]][k]);
    for (int i = k + 1; i < N; i++) {
      T v = fabs(m[piv[i]][k]);
      if (v > best) { best = v; p = i; }
    }
    int t = piv[k]; piv[k] = piv[p]; piv[p] = t;
    for (int i = k + 1; i < N; i++) {
      T f = m[piv[i]][k] / m[piv[k]][k];
      for (int j = k; j <= N; j++) m[piv[i]][j] -= f * m[piv[k]][j];
    }
  }
  T sol[N];
  for (int k = N - 1; k >= 0; k--) {
    T s = m[piv[k]][N];
    for (int j = k + 1; j < N; j++) s -= m[piv[k]][j] * sol[j];
    sol[k] = s / m[piv[k]][k];
  }
  for (int k = 0; k < N; k++) x[k * batch + tid] = sol[k];
}

// Legendre table and dynamic degree pick
#define MAXDEG 12
__global__ void legendreEval(const float *theta, const int *deg, float *out, size_t n) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i >= n) return;
  float P[MAXDEG + 1];
  float x = cosf(theta[i]);
  P[0] = 1.f;
  P[1] = x;
  for (int l = 2; l <= MAXDEG; l++) P[l] = ((2 * l - 1) * x * P[l - 1] - (l - 1) * P[l - 2]) / l;
  float s = 0.f;
  int d = deg[i];
  for (int k = 0; k < 3; k++) s += (k + 1) * P[(d + 5 * k) % (MAXDEG + 1)];
  out[i] = s;
}

static int build(Node *t, int &n, int lo, int hi) {
  int id = n++;
  Node &q = t[id];
  if (hi - lo == 1) {
    float cx = (lo * 37) % 100, cy = (lo * 61) % 97, cz = (lo * 13) % 89;
    q.lo[0] = cx; q.hi[0] = cx + 2; q.lo[1] = cy; q.hi[1] = cy + 2; q.lo[2] = cz; q.hi[2] = cz + 2;
    q.left = ~lo; q.right = -1;
    return id;
  }
  int mid = (lo + hi) / 2;
  int l = build(t, n, lo, mid), r = build(t, n, mid, hi);
  t[id].left = l; t[id].right = r;
  for (int a = 0; a < 3; a++) {
    t[id].lo[a] = t[l].lo[a] < t[r].lo[a] ? t[l].lo[a] : t[r].lo[a];
    t[id].hi[a] = t[l].hi[a] > t[r].hi[a] ? t[l].hi[a] : t[r].hi[a];
  }
  return id;
}

int main() {
  {
    int rows = 100000, cols = 120;
    float *d = mk<float>((size_t)rows * cols);
    int *h = mk<int>(rows * NBINS);
    localHistogram<<<(rows + 255) / 256, 256>>>(d, h, rows, cols, 0.f, 12.6f);
    show("localHistogram", h, rows * NBINS * 4);
  }
  {
    int prims = 500, n = 0;
    Node *t = (Node *)malloc(2 * prims * sizeof(Node)), *d;
    build(t, n, 0, prims);
    cudaMalloc(&d, n * sizeof(Node));
    cudaMemcpy(d, t, n * sizeof(Node), cudaMemcpyHostToDevice);
    int w = 320, h = 200, *o = mk<int>(w * h);
    bvhTraverse<<<dim3((w + 15) / 16, (h + 7) / 8), dim3(16, 8)>>>(d, o, w, h);
    show("bvhTraverse", o, w * h * 4);
  }
  {
    int w = 1001, h = 667;
    unsigned char *a = mk<unsigned char>(w * h), *b = mk<unsigned char>(w * h);
    median5x5<<<dim3((w + 31) / 32, (h + 3) / 4), dim3(32, 4)>>>(a, b, w, h);
    show("median5x5", b, w * h);
  }
  {
    int b = 60000;
    double *A = mk<double>((size_t)b * 49), *r = mk<double>(b * 7), *x = mk<double>(b * 7);
    smallSolve<double, 7><<<(b + 127) / 128, 128>>>(A, r, x, b);
    show("smallSolve", x, b * 7 * 8);
  }
  {
    size_t n = 3000000;
    float *t = mk<float>(n), *o = mk<float>(n);
    int *d = mk<int>(n);
    legendreEval<<<(n + 255) / 256, 256>>>(t, d, o, n);
    show("legendreEval", o, n * 4);
  }
}
