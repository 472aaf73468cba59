// Small dense systems, one a thread: LU with pivoting, and Cholesky of a size of run time.
#include "bench.h"

template <typename T, int N> __global__ void luSolve(const T *A, const T *rhs, T *x, int batch) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= batch)
    return;
  T m[N][N];
  T b[N];
  int perm[N];
  for (int i = 0; i < N; ++i) {
    perm[i] = i;
    b[i] = rhs[(size_t)i * batch + id];
    for (int j = 0; j < N; ++j)
      m[i][j] = A[(size_t)(i * N + j) * batch + id];
  }
  for (int k = 0; k < N; ++k) {
    int p = k;
    T big = fabs(m[perm[k]][k]);
    for (int i = k + 1; i < N; ++i) {
      T v = fabs(m[perm[i]][k]);
      if (v > big) {
        big = v;
        p = i;
      }
    }
    int tmp = perm[k];
    perm[k] = perm[p];
    perm[p] = tmp;
    const int rk = perm[k];
    for (int i = k + 1; i < N; ++i) {
      const int ri = perm[i];
      T f = m[ri][k] / m[rk][k];
      for (int j = k + 1; j < N; ++j)
        m[ri][j] -= f * m[rk][j];
      b[ri] -= f * b[rk];
    }
  }
  T sol[N];
  for (int k = N - 1; k >= 0; --k) {
    const int rk = perm[k];
    T s = b[rk];
    for (int j = k + 1; j < N; ++j)
      s -= m[rk][j] * sol[j];
    sol[k] = s / m[rk][k];
    x[(size_t)k * batch + id] = sol[k];
  }
}

#define MAXD 12

__global__ void choleskyPacked(const float *in, float *out, int batch, int n) {
  const int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id < batch) {
    float L[MAXD * (MAXD + 1) / 2];
    const int len = n * (n + 1) / 2;
    for (int i = 0; i < len; ++i)
      L[i] = in[(size_t)i * batch + id];
    for (int j = 0; j < n; ++j) {
      int jj = j * (j + 1) / 2;
      float s = L[jj + j];
      for (int k = 0; k < j; ++k)
        s -= L[jj + k] * L[jj + k];
      float diag = sqrtf(s);
      L[jj + j] = diag;
      for (int i = j + 1; i < n; ++i) {
        int ii = i * (i + 1) / 2;
        float t = L[ii + j];
        for (int k = 0; k < j; ++k)
          t -= L[ii + k] * L[jj + k];
        L[ii + j] = t / diag;
      }
    }
    for (int i = 0; i < len; ++i)
      out[(size_t)i * batch + id] = L[i];
  }
}

int main() {
  {
    const int batch = 300000;
    float *A = toDevice(randomFloats((size_t)36 * batch, 361, -1, 1)), *b = toDevice(randomFloats((size_t)6 * batch, 362));
    float *x = deviceAlloc<float>((size_t)6 * batch);
    printTime("luSolve", timeMin([&] { luSolve<float, 6><<<(batch + 127) / 128, 128>>>(A, b, x, batch); }));
    printHash("luSolve", x, (size_t)6 * batch);
  }
  {
    const int batch = 200000, n = 10, len = n * (n + 1) / 2;
    std::vector<float> h = randomFloats((size_t)len * batch, 363, -0.5f, 0.5f);
    for (int j = 0; j < n; ++j)
      for (int s = 0; s < batch; ++s)
        h[(size_t)(j * (j + 1) / 2 + j) * batch + s] += 10.0f;
    float *in = toDevice(h), *out = deviceAlloc<float>(h.size());
    printTime("choleskyPacked", timeMin([&] { choleskyPacked<<<(batch + 127) / 128, 128>>>(in, out, batch, n); }));
    printHash("choleskyPacked", out, h.size());
  }
}
