// C = A * B^T in double; the tile of B is read from rows of B, stored transposed with a padded column.
#include "bench.h"

static constexpr int TS = 16;

__global__ void dgemmNT(const double *__restrict__ A, const double *__restrict__ B, double *__restrict__ C, int m, int n,
                        int k, int lda, int ldb, int ldc) {
  __shared__ double a[TS][TS];
  __shared__ double bT[TS][TS + 1];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int i = blockIdx.y * TS + ty;
  const int j = blockIdx.x * TS + tx;
  double sum = 0.0;
  for (int p = 0; p < k; p += TS) {
    const int jb = blockIdx.x * TS + ty;
    a[ty][tx] = (i < m && p + tx < k) ? A[(size_t)i * lda + p + tx] : 0.0;
    bT[tx][ty] = (jb < n && p + tx < k) ? B[(size_t)jb * ldb + p + tx] : 0.0;
    __syncthreads();
#pragma unroll
    for (int q = 0; q < TS; ++q)
      sum += a[ty][q] * bT[q][tx];
    __syncthreads();
  }
  if (i < m && j < n)
    C[(size_t)i * ldc + j] = sum;
}

int main() {
  const int m = 1000, n = 1200, k = 800;
  std::vector<double> ha((size_t)m * k), hb((size_t)n * k);
  Rng r(211);
  for (auto &v : ha)
    v = r.uniform() - 0.5;
  for (auto &v : hb)
    v = r.uniform() - 0.5;
  double *A = toDevice(ha), *B = toDevice(hb), *C = deviceAlloc<double>((size_t)m * n);
  dim3 block(TS, TS);
  dim3 grid((n + TS - 1) / TS, (m + TS - 1) / TS);
  printTime("dgemmNT", timeMin([&] { dgemmNT<<<grid, block>>>(A, B, C, m, n, k, k, k, n); }));
  printHash("dgemmNT", C, (size_t)m * n);
}
