// Inclusive sums within blocks: Hillis and Steele's with two halves of a buffer
// for 1024 threads, Kogge and Stone's in place for 256, and Brent and Kung's.
#include "validation.cuh"

__global__ void scanHillisSteele(float *g_odata, const float *g_idata, int n) {
  extern __shared__ float temp[]; // two rows of blockDim.x
  int thid = threadIdx.x;
  int gid = blockIdx.x * blockDim.x + thid;
  int pout = 0, pin = 1;
  temp[thid] = (gid < n) ? g_idata[gid] : 0.0f;
  __syncthreads();
  for (int offset = 1; offset < blockDim.x; offset *= 2) {
    pout = 1 - pout;
    pin = 1 - pout;
    if (thid >= offset)
      temp[pout * blockDim.x + thid] =
          temp[pin * blockDim.x + thid] + temp[pin * blockDim.x + thid - offset];
    else
      temp[pout * blockDim.x + thid] = temp[pin * blockDim.x + thid];
    __syncthreads();
  }
  if (gid < n)
    g_odata[gid] = temp[pout * blockDim.x + thid];
}

#define SECTION_SIZE 256

__global__ void Kogge_Stone_scan_kernel(const float *X, float *Y,
                                        unsigned int N) {
  __shared__ float XY[SECTION_SIZE];
  unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N)
    XY[threadIdx.x] = X[i];
  else
    XY[threadIdx.x] = 0.0f;
  for (unsigned int stride = 1; stride < blockDim.x; stride *= 2) {
    __syncthreads();
    float temp;
    if (threadIdx.x >= stride)
      temp = XY[threadIdx.x] + XY[threadIdx.x - stride];
    __syncthreads();
    if (threadIdx.x >= stride)
      XY[threadIdx.x] = temp;
  }
  if (i < N)
    Y[i] = XY[threadIdx.x];
}

__global__ void Brent_Kung_scan_kernel(const float *X, float *Y,
                                       unsigned int N) {
  __shared__ float XY[2 * SECTION_SIZE];
  unsigned int i = 2 * blockIdx.x * blockDim.x + threadIdx.x;
  XY[threadIdx.x] = i < N ? X[i] : 0.0f;
  XY[threadIdx.x + blockDim.x] = i + blockDim.x < N ? X[i + blockDim.x] : 0.0f;
  for (unsigned int stride = 1; stride <= blockDim.x; stride *= 2) {
    __syncthreads();
    unsigned int index = (threadIdx.x + 1) * 2 * stride - 1;
    if (index < 2 * SECTION_SIZE)
      XY[index] += XY[index - stride];
  }
  for (int stride = SECTION_SIZE / 2; stride > 0; stride /= 2) {
    __syncthreads();
    unsigned int index = (threadIdx.x + 1) * stride * 2 - 1;
    if (index + stride < 2 * SECTION_SIZE)
      XY[index + stride] += XY[index];
  }
  __syncthreads();
  if (i < N)
    Y[i] = XY[threadIdx.x];
  if (i + blockDim.x < N)
    Y[i + blockDim.x] = XY[threadIdx.x + blockDim.x];
}

void hillis(const float *in, float *out, int n) {
  scanHillisSteele<<<(n + 1023) / 1024, 1024, 2 * 1024 * sizeof(float)>>>(
      out, in, n);
}
void kogge(const float *in, float *out, int n) {
  Kogge_Stone_scan_kernel<<<(n + SECTION_SIZE - 1) / SECTION_SIZE,
                            SECTION_SIZE>>>(in, out, n);
}
void brent(const float *in, float *out, int n) {
  Brent_Kung_scan_kernel<<<(n + 511) / 512, SECTION_SIZE>>>(in, out, n);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (int n : sizes({1 << 26, 9999991, 65536}, 1500)) {
    float *in = filled<float>(n, 381, 0, 1), *a = zeros<float>(n),
          *b = zeros<float>(n), *c = zeros<float>(n);
    measure("scanHillisSteele", text(n), [&] { hillis(in, a, n); }, {result(a, n)});
    measure("Kogge_Stone_scan_kernel", text(n), [&] { kogge(in, b, n); }, {result(b, n)});
    measure("Brent_Kung_scan_kernel", text(n), [&] { brent(in, c, n); }, {result(c, n)});
    release(in, a, b, c);
  }
}
