// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiled matrix products as they are written: 32 x 32 and 16 x 16 tiles, whole
// and guarded, transposed, padded, with alpha and beta, of doubles; cuBLAS
// (pedantic) beside them. README.md says how to compare original and rewritten
// program.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cublas_v2.h>
#include <vector>
#define CK(x)                                                                  \
  do {                                                                         \
    auto e = (x);                                                              \
    if (e) {                                                                   \
      printf("err %d line %d\n", (int)e, __LINE__);                            \
      exit(1);                                                                 \
    }                                                                          \
  } while (0)
__global__ void whole32(const float *A, const float *B, float *C, int n) {
  __shared__ float As[32][32];
  __shared__ float Bs[32][32];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * 32 + ty, col = blockIdx.x * 32 + tx;
  float sum = 0;
  for (int t = 0; t < n / 32; ++t) {
    As[ty][tx] = A[row * n + t * 32 + tx];
    Bs[ty][tx] = B[(t * 32 + ty) * n + col];
    __syncthreads();
    for (int k = 0; k < 32; ++k)
      sum += As[ty][k] * Bs[k][tx];
    __syncthreads();
  }
  C[row * n + col] = sum;
}

__global__ void whole16(const float *A, const float *B, float *C, int n) {
  __shared__ float As[16][16];
  __shared__ float Bs[16][16];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
  float sum = 0;
  for (int t = 0; t < n / 16; ++t) {
    As[ty][tx] = A[row * n + t * 16 + tx];
    Bs[ty][tx] = B[(t * 16 + ty) * n + col];
    __syncthreads();
    for (int k = 0; k < 16; ++k)
      sum += As[ty][k] * Bs[k][tx];
    __syncthreads();
  }
  C[row * n + col] = sum;
}

__global__ void guarded32(const float *A, const float *B, float *C, int n) {
  __shared__ float As[32][32];
  __shared__ float Bs[32][32];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * 32 + ty, col = blockIdx.x * 32 + tx;
  float sum = 0;
  for (int t = 0; t < (n + 31) / 32; ++t) {
    As[ty][tx] = row < n && t * 32 + tx < n ? A[row * n + t * 32 + tx] : 0.0f;
    Bs[ty][tx] = t * 32 + ty < n && col < n ? B[(t * 32 + ty) * n + col] : 0.0f;
    __syncthreads();
    for (int k = 0; k < 32; ++k)
      sum += As[ty][k] * Bs[k][tx];
    __syncthreads();
  }
  if (row < n && col < n)
    C[row * n + col] = sum;
}

__global__ void guarded16(const float *A, const float *B, float *C, int n) {
  __shared__ float As[16][16];
  __shared__ float Bs[16][16];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
  float sum = 0;
  for (int t = 0; t < (n + 15) / 16; ++t) {
    As[ty][tx] = row < n && t * 16 + tx < n ? A[row * n + t * 16 + tx] : 0.0f;
    Bs[ty][tx] = t * 16 + ty < n && col < n ? B[(t * 16 + ty) * n + col] : 0.0f;
    __syncthreads();
    for (int k = 0; k < 16; ++k)
      sum += As[ty][k] * Bs[k][tx];
    __syncthreads();
  }
  if (row < n && col < n)
    C[row * n + col] = sum;
}

__global__ void trans32(const float *A, const float *B, float *C, int n) {
  __shared__ float As[32][33];
  __shared__ float Bs[32][33];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * 32 + ty, col = blockIdx.x * 32 + tx;
  float sum = 0;
  for (int t = 0; t < n / 32; ++t) {
    As[ty][tx] = A[row * n + t * 32 + tx];
    Bs[tx][ty] = B[(blockIdx.x * 32 + ty) * n + t * 32 + tx];
    __syncthreads();
    for (int k = 0; k < 32; ++k)
      sum += As[ty][k] * Bs[k][tx];
    __syncthreads();
  }
  C[row * n + col] = sum;
}

__global__ void padded32(const float *A, const float *B, float *C, int n) {
  __shared__ float As[32][33];
  __shared__ float Bs[32][33];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * 32 + ty, col = blockIdx.x * 32 + tx;
  float sum = 0;
  for (int t = 0; t < n / 32; ++t) {
    As[ty][tx] = A[row * n + t * 32 + tx];
    Bs[ty][tx] = B[(t * 32 + ty) * n + col];
    __syncthreads();
    for (int k = 0; k < 32; ++k)
      sum += As[ty][k] * Bs[k][tx];
    __syncthreads();
  }
  C[row * n + col] = sum;
}

__global__ void scaled16(const float *A, const float *B, float *C, int n,
                         float alpha, float beta) {
  __shared__ float As[16][16];
  __shared__ float Bs[16][16];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
  float sum = 0;
  for (int t = 0; t < n / 16; ++t) {
    As[ty][tx] = A[row * n + t * 16 + tx];
    Bs[ty][tx] = B[(t * 16 + ty) * n + col];
    __syncthreads();
    for (int k = 0; k < 16; ++k)
      sum += As[ty][k] * Bs[k][tx];
    __syncthreads();
  }
  C[row * n + col] = alpha * sum + beta * C[row * n + col];
}

__global__ void double32(const double *A, const double *B, double *C, int n) {
  __shared__ double As[32][32];
  __shared__ double Bs[32][32];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * 32 + ty, col = blockIdx.x * 32 + tx;
  double sum = 0;
  for (int t = 0; t < n / 32; ++t) {
    As[ty][tx] = A[row * n + t * 32 + tx];
    Bs[ty][tx] = B[(t * 32 + ty) * n + col];
    __syncthreads();
    for (int k = 0; k < 32; ++k)
      sum += As[ty][k] * Bs[k][tx];
    __syncthreads();
  }
  C[row * n + col] = sum;
}

__global__ void double16(const double *A, const double *B, double *C, int n) {
  __shared__ double As[16][16];
  __shared__ double Bs[16][16];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
  double sum = 0;
  for (int t = 0; t < n / 16; ++t) {
    As[ty][tx] = A[row * n + t * 16 + tx];
    Bs[ty][tx] = B[(t * 16 + ty) * n + col];
    __syncthreads();
    for (int k = 0; k < 16; ++k)
      sum += As[ty][k] * Bs[k][tx];
    __syncthreads();
  }
  C[row * n + col] = sum;
}

template <class F> float med(F f, int n = 5) {
  std::vector<float> t;
  cudaEvent_t a, b;
  cudaEventCreate(&a);
  cudaEventCreate(&b);
  for (int i = 0; i < n + 2; i++) {
    cudaEventRecord(a);
    f();
    cudaEventRecord(b);
    CK(cudaEventSynchronize(b));
    float m;
    cudaEventElapsedTime(&m, a, b);
    if (i >= 2)
      t.push_back(m);
  }
  CK(cudaGetLastError());
  std::sort(t.begin(), t.end());
  return t[t.size() / 2];
}
cublasHandle_t hd;
template <class T> unsigned long long hash(const T *p, size_t n) {
  std::vector<unsigned char> h(n * sizeof(T));
  CK(cudaMemcpy(h.data(), p, h.size(), cudaMemcpyDeviceToHost));
  unsigned long long s = 1469598103934665603ull;
  for (size_t i = 0; i < h.size(); i += 4) {
    unsigned w;
    memcpy(&w, &h[i], 4);
    s = (s ^ w) * 1099511628211ull;
  }
  return s;
}
template <class T> struct Set {
  T *A, *B, *C;
  size_t c;
  Set(int n) {
    c = (size_t)n * n;
    std::vector<T> h(c);
    unsigned s = 1;
    for (auto &x : h) {
      s = s * 1664525 + 1013904223;
      x = (int)(s >> 8) % 1000 / 500.f - 1;
    }
    CK(cudaMalloc(&A, c * sizeof(T)));
    CK(cudaMalloc(&B, c * sizeof(T)));
    CK(cudaMalloc(&C, c * sizeof(T)));
    CK(cudaMemcpy(A, h.data(), c * sizeof(T), cudaMemcpyHostToDevice));
    std::reverse(h.begin(), h.end());
    CK(cudaMemcpy(B, h.data(), c * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~Set() {
    cudaFree(A);
    cudaFree(B);
    cudaFree(C);
  }
};
#define RUN(name, T, n, call)                                                  \
  {                                                                            \
    CK(cudaMemset(s.C, 0, s.c * sizeof(T)));                                   \
    call;                                                                      \
    CK(cudaGetLastError());                                                    \
    auto h = hash(s.C, s.c);                                                   \
    float m = med([&] { call; });                                              \
    printf("%s %d %.4f %016llx\n", name, n, m, h);                             \
  }
int main() {
  cublasCreate(&hd);
  cublasSetMathMode(hd, CUBLAS_PEDANTIC_MATH);
  for (int n : {4096, 8192, 2048, 1024, 1000}) {
    Set<float> s(n);
    const float *A = s.A, *B = s.B;
    float *C = s.C;
    float al = 1, be = 0;
    RUN("cublas", float, n,
        (cublasSgemm(hd, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &al, B, n, A, n,
                     &be, C, n)));
    const int g32 = (n + 31) / 32, g16 = (n + 15) / 16;
    if (n % 32 == 0) {
      RUN("whole32", float, n,
          (whole32<<<dim3(n / 32, n / 32), dim3(32, 32)>>>(A, B, C, n)));
      if (n != 8192)
        RUN("whole16", float, n,
            (whole16<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(A, B, C, n)));
    }
    if (n == 4096) {
      RUN("trans32", float, n,
          (trans32<<<dim3(n / 32, n / 32), dim3(32, 32)>>>(A, B, C, n)));
      RUN("padded32", float, n,
          (padded32<<<dim3(n / 32, n / 32), dim3(32, 32)>>>(A, B, C, n)));
      RUN("scaled16", float, n,
          (scaled16<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(A, B, C, n, 1.5f,
                                                            0.0f)));
    }
    if (n <= 4096) {
      RUN("guarded32", float, n,
          (guarded32<<<dim3(g32, g32), dim3(32, 32)>>>(A, B, C, n)));
      RUN("guarded16", float, n,
          (guarded16<<<dim3(g16, g16), dim3(16, 16)>>>(A, B, C, n)));
    }
  }
  for (int n : {4096, 2048}) {
    Set<double> s(n);
    const double *A = s.A, *B = s.B;
    double *C = s.C;
    double al = 1, be = 0;
    RUN("cublas_double", double, n,
        (cublasDgemm(hd, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &al, B, n, A, n,
                     &be, C, n)));
    RUN("double32", double, n,
        (double32<<<dim3(n / 32, n / 32), dim3(32, 32)>>>(A, B, C, n)));
    RUN("double16", double, n,
        (double16<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(A, B, C, n)));
  }
}
