#include "shown.h"

// parallel cyclic reduction, one system per block
template <class T>
__global__ void pcr_small_systems_kernel(const T *a_d, const T *b_d, const T *c_d, const T *d_d, T *x_d, int system_size, int iterations) {
  int thid = threadIdx.x;
  int blid = blockIdx.x;
  int delta = 1;
  extern __shared__ char smem[];
  T *a = (T *)smem;
  T *b = &a[system_size];
  T *c = &b[system_size];
  T *d = &c[system_size];
  T *x = &d[system_size];
  a[thid] = a_d[thid + blid * system_size];
  b[thid] = b_d[thid + blid * system_size];
  c[thid] = c_d[thid + blid * system_size];
  d[thid] = d_d[thid + blid * system_size];
  T aNew, bNew, cNew, dNew;
  __syncthreads();
  for (int j = 0; j < iterations; j++) {
    int i = thid;
    int iRight = i + delta;
    if (iRight >= system_size) iRight = system_size - 1;
    int iLeft = i - delta;
    if (iLeft < 0) iLeft = 0;
    T tmp1 = (i - delta >= 0) ? a[i] / b[iLeft] : T(0);
    T tmp2 = (i + delta < system_size) ? c[i] / b[iRight] : T(0);
    bNew = b[i] - c[iLeft] * tmp1 - a[iRight] * tmp2;
    dNew = d[i] - d[iLeft] * tmp1 - d[iRight] * tmp2;
    aNew = -a[iLeft] * tmp1;
    cNew = -c[iRight] * tmp2;
    __syncthreads();
    b[i] = bNew;
    d[i] = dNew;
    a[i] = aNew;
    c[i] = cNew;
    delta *= 2;
    __syncthreads();
  }
  if (thid < delta) {
    x[thid] = d[thid] / b[thid];
  }
  __syncthreads();
  x_d[thid + blid * system_size] = x[thid];
}

// small Cholesky in shared memory, one matrix per block
#define CHN 24
__global__ void batched_cholesky(double *A, int batch) {
  __shared__ double s[CHN][CHN + 1];
  const int tid = threadIdx.x;
  double *M = A + (size_t)blockIdx.x * CHN * CHN;
  for (int e = tid; e < CHN * CHN; e += blockDim.x) {
    int r = e / CHN, c = e % CHN;
    s[r][c] = M[e] * 0.01 + (r == c ? 4.0 : 0.0);
  }
  __syncthreads();
  for (int k = 0; k < CHN; ++k) {
    if (tid == 0) s[k][k] = sqrt(s[k][k]);
    __syncthreads();
    if (tid > k && tid < CHN) s[tid][k] /= s[k][k];
    __syncthreads();
    for (int e = tid; e < CHN * CHN; e += blockDim.x) {
      int i = e / CHN, j = e % CHN;
      if (j > k && i >= j) s[i][j] -= s[i][k] * s[j][k];
    }
    __syncthreads();
  }
  for (int e = tid; e < CHN * CHN; e += blockDim.x) {
    int r = e / CHN, c = e - r * CHN;
    M[e] = c <= r ? s[r][c] : 0.0;
  }
}

// Rodinia LUD diagonal
#define LB 32
__global__ void lud_diagonal(float *m, int matrix_dim, int offset) {
  int i, j;
  __shared__ float shadow[LB][LB];
  int array_offset = offset * matrix_dim + offset;
  for (i = 0; i < LB; i++) {
    shadow[i][threadIdx.x] = m[array_offset + threadIdx.x];
    array_offset += matrix_dim;
  }
  __syncthreads();
  for (i = 0; i < LB - 1; i++) {
    if (threadIdx.x > i) {
      for (j = 0; j < i; j++) shadow[threadIdx.x][i] -= shadow[threadIdx.x][j] * shadow[j][i];
      shadow[threadIdx.x][i] /= shadow[i][i];
    }
    __syncthreads();
    if (threadIdx.x > i) {
      for (j = 0; j < i + 1; j++) shadow[i + 1][threadIdx.x] -= shadow[i + 1][j] * shadow[j][threadIdx.x];
    }
    __syncthreads();
  }
  array_offset = (offset + 1) * matrix_dim + offset;
  for (i = 1; i < LB; i++) {
    m[array_offset + threadIdx.x] = shadow[i][threadIdx.x];
    array_offset += matrix_dim;
  }
}

#define LI 16
__global__ void lud_internal(float *m, int matrix_dim, int offset) {
  __shared__ float peri_row[LI][LI];
  __shared__ float peri_col[LI][LI];
  int i;
  float sum;
  int global_row_id = offset + (blockIdx.y + 1) * LI;
  int global_col_id = offset + (blockIdx.x + 1) * LI;
  peri_row[threadIdx.y][threadIdx.x] = m[(offset + threadIdx.y) * matrix_dim + global_col_id + threadIdx.x];
  peri_col[threadIdx.y][threadIdx.x] = m[(global_row_id + threadIdx.y) * matrix_dim + offset + threadIdx.x];
  __syncthreads();
  sum = 0;
  for (i = 0; i < LI; i++) sum += peri_col[threadIdx.y][i] * peri_row[i][threadIdx.x];
  m[(global_row_id + threadIdx.y) * matrix_dim + global_col_id + threadIdx.x] -= sum;
}

// cyclic reduction, system in shared, n unknowns with n/2 threads
__global__ void crKernel(const float *d_a, const float *d_b, const float *d_c, const float *d_d, float *d_x, int n) {
  extern __shared__ float sm[];
  float *a = sm, *b = sm + n, *c = sm + 2 * n, *d = sm + 3 * n, *x = sm + 4 * n;
  const int t = threadIdx.x, nt = blockDim.x;
  const size_t base = (size_t)blockIdx.x * n;
  for (int k = t; k < n; k += nt) { a[k] = d_a[base + k]; b[k] = d_b[base + k]; c[k] = d_c[base + k]; d[k] = d_d[base + k]; x[k] = 0.f; }
  if (t == 0) { a[0] = 0.f; c[n - 1] = 0.f; }
  __syncthreads();
  int stride = 1;
  for (int act = n / 2; act > 1; act >>= 1) {
    if (t < act) {
      int i = 2 * stride * t + 2 * stride - 1;
      int l = i - stride, r = min(i + stride, n - 1);
      float k1 = a[i] / b[l];
      if (i == n - 1) {
        b[i] -= c[l] * k1;
        d[i] -= d[l] * k1;
        a[i] = -a[l] * k1;
        c[i] = 0.f;
      } else {
        float k2 = c[i] / b[r];
        b[i] -= c[l] * k1 + a[r] * k2;
        d[i] -= d[l] * k1 + d[r] * k2;
        a[i] = -a[l] * k1;
        c[i] = -c[r] * k2;
      }
    }
    stride *= 2;
    __syncthreads();
  }
  if (t == 0) {
    int i = stride - 1, j = 2 * stride - 1;
    float det = b[j] * b[i] - c[i] * a[j];
    x[i] = (b[j] * d[i] - c[i] * d[j]) / det;
    x[j] = (d[j] * b[i] - d[i] * a[j]) / det;
  }
  __syncthreads();
  for (int act = 2; act < n; act <<= 1) {
    stride >>= 1;
    if (t < act) {
      int i = 2 * stride * t + stride - 1;
      float v = d[i] - c[i] * x[i + stride];
      if (i - stride >= 0) v -= a[i] * x[i - stride];
      x[i] = v / b[i];
    }
    __syncthreads();
  }
  for (int k = t; k < n; k += nt) d_x[base + k] = x[k];
}

static float *mkAdd(size_t n, float add, float mul) {
  float *h = (float *)malloc(n * 4), *d;
  for (size_t i = 0; i < n; i++) h[i] = add + mul * ((i * 31) % 17);
  cudaMalloc(&d, n * 4);
  cudaMemcpy(d, h, n * 4, cudaMemcpyHostToDevice);
  free(h);
  return d;
}

int main() {
  {
    int n = 256, sys = 2000, it = 8;
    float *a = mkAdd(n * sys, -1, .01f), *b = mkAdd(n * sys, 4, .1f), *c = mkAdd(n * sys, -.9f, .02f), *d = mk<float>(n * sys), *x = mk<float>(n * sys);
    pcr_small_systems_kernel<float><<<sys, n, n * 5 * sizeof(float)>>>(a, b, c, d, x, n, it);
    show("pcr_small_systems_kernel", x, n * sys * 4);
  }
  {
    int batch = 4000;
    double *A = mk<double>(batch * CHN * CHN);
    batched_cholesky<<<batch, 128>>>(A, batch);
    show("batched_cholesky", A, (size_t)batch * CHN * CHN * 8);
  }
  {
    int n = 2048;
    float *h = (float *)malloc(n * n * 4), *m;
    for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) h[i * n + j] = expf(-0.01f * abs(i - j)) * 10 + (i == j ? 5 : 0);
    cudaMalloc(&m, n * n * 4);
    cudaMemcpy(m, h, n * n * 4, cudaMemcpyHostToDevice);
    lud_diagonal<<<1, LB>>>(m, n, 64);
    show("lud_diagonal", m, n * n * 4);
    int off = 32;
    dim3 g((n - off) / LI - 1, (n - off) / LI - 1);
    lud_internal<<<g, dim3(LI, LI)>>>(m, n, off);
    show("lud_internal", m, n * n * 4);
  }
  {
    int n = 512, sys = 1500;
    float *a = mkAdd(n * sys, -1, .01f), *b = mkAdd(n * sys, 4, .1f), *c = mkAdd(n * sys, -.9f, .02f), *d = mk<float>(n * sys), *x = mk<float>(n * sys);
    crKernel<<<sys, n / 2, 5 * n * sizeof(float)>>>(a, b, c, d, x, n);
    show("crKernel", x, n * sys * 4);
  }
}
