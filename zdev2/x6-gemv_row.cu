// linear algebra and data mining kernels
#include <stdio.h>
#include <stdlib.h>
#include <float.h>
#include <cuda_runtime.h>
static void HandleError(cudaError_t err, const char *file, int line) {
  if (err != cudaSuccess) { printf("%s in %s at line %d\n", cudaGetErrorString(err), file, line); exit(EXIT_FAILURE); }
}
#define HANDLE_ERROR(err) (HandleError(err, __FILE__, __LINE__))

typedef float DATA_TYPE;
#define DIM_THREAD_BLOCK 16
/* gemv, one block of 128 threads per row, x is not staged, partial sums are */
__global__ void gemv_row(const double *__restrict__ A, const double *__restrict__ x, double *y, int m, int n, int lda) {
  __shared__ double partial[128];
  int row = blockIdx.x;
  double s = 0;
  for (int c = threadIdx.x; c < n; c += blockDim.x) s += A[(size_t)row * lda + c] * x[c];
  partial[threadIdx.x] = s;
  __syncthreads();
  for (int w = blockDim.x / 2; w > 0; w >>= 1) {
    if (threadIdx.x < w) partial[threadIdx.x] += partial[threadIdx.x + w];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[row] = partial[0];
}

#define FW 32
/* LU factorisation of many 16x16 diagonal blocks, 16 threads walking the block (Rodinia lud_diagonal made batched) */
#define LB 16
__global__ void lu_diag_batched(float *m, int count) {
  __shared__ float shadow[4][LB][LB];
  int g = threadIdx.y, t = threadIdx.x;
  int id = blockIdx.x * 4 + g;
  float *mat = m + (size_t)(id < count ? id : count - 1) * LB * LB;
  for (int i = 0; i < LB; i++) shadow[g][i][t] = mat[i * LB + t];
  __syncthreads();
  for (int i = 0; i < LB - 1; i++) {
    if (t > i) {
      for (int j = 0; j < i; j++) shadow[g][t][i] -= shadow[g][t][j] * shadow[g][j][i];
      shadow[g][t][i] /= shadow[g][i][i];
    }
    __syncthreads();
    if (t > i)
      for (int j = 0; j < i + 1; j++) shadow[g][i + 1][t] -= shadow[g][i + 1][j] * shadow[g][j][t];
    __syncthreads();
  }
  if (id < count)
    for (int i = 1; i < LB; i++) mat[i * LB + t] = shadow[g][i][t];
}

template <class T> static T *init(size_t n, double scale, double off) {
  T *h = (T *)malloc(n * sizeof(T));
  for (size_t i = 0; i < n; i++) h[i] = (T)(((i * 1103515245u + 12345u) >> 9 & 1023) * scale + off);
  T *d;
  HANDLE_ERROR(cudaMalloc((void **)&d, n * sizeof(T)));
  HANDLE_ERROR(cudaMemcpy(d, h, n * sizeof(T), cudaMemcpyHostToDevice));
  free(h);
  return d;
}
int main(void) {
  int ni = 1024, nj = 1000;
  float *a = init<float>(ni * nj, 0.01, 0), *c = init<float>(ni * ni, 0.01, 0);
  int m = 4000, n = 3500, lda = 3517;
  double *A = init<double>((size_t)m * lda, 0.001, 0), *x = init<double>(n, 0.01, 0), *y = init<double>(m, 0, 0);
  gemv_row<<<m, 128>>>(A, x, y, m, n, lda);
  HANDLE_ERROR(cudaGetLastError());
  int np = 494020, ncl = 24, nf = 34;
  float *pts = init<float>((size_t)np * nf, 0.1, 0), *ctr = init<float>(ncl * nf, 0.09, 1);
  int *mem = init<int>(np, 0, 0);
  HANDLE_ERROR(cudaGetLastError());
  int nq = 100000, nr = 5003;
  float *ref = init<float>(3 * nr, 0.1, 0);
  HANDLE_ERROR(cudaGetLastError());
  int gv = 2048;
  int *graph = init<int>(gv * gv, 1, 1);
  HANDLE_ERROR(cudaGetLastError());
  int cnt = 50001;
  float *mats = init<float>((size_t)cnt * 256, 0.001, 3.0);
  lu_diag_batched<<<(cnt + 3) / 4, dim3(LB, 4)>>>(mats, cnt);
  HANDLE_ERROR(cudaGetLastError());
  HANDLE_ERROR(cudaDeviceSynchronize());
  return 0;
}
