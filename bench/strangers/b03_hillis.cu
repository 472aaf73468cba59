// Inclusive scans after Hillis and Steele: double-buffered, and segmented by head flags.
#include "bench.h"

const int BLOCK = 256;

__global__ void scanDoubleBuffer(const float *in, float *out, int n) {
  __shared__ float temp[2][BLOCK];
  int t = threadIdx.x;
  int i = blockIdx.x * BLOCK + t;
  int pout = 0, pin = 1;
  temp[pout][t] = i < n ? in[i] : 0.0f;
  __syncthreads();
  for (int d = 1; d < BLOCK; d <<= 1) {
    pout = 1 - pout;
    pin = 1 - pout;
    if (t >= d)
      temp[pout][t] = temp[pin][t] + temp[pin][t - d];
    else
      temp[pout][t] = temp[pin][t];
    __syncthreads();
  }
  if (i < n)
    out[i] = temp[pout][t];
}

__global__ void segmentedScan(const int *__restrict__ val, const unsigned char *__restrict__ head,
                              int *__restrict__ out, int n) {
  __shared__ int v[BLOCK];
  __shared__ int f[BLOCK];
  int t = threadIdx.x;
  int i = blockIdx.x * blockDim.x + t;
  v[t] = i < n ? val[i] : 0;
  f[t] = i < n ? head[i] : 1;
  __syncthreads();
  for (int d = 1; d < BLOCK; d *= 2) {
    int nv = v[t], nf = f[t];
    if (t >= d) {
      if (!nf)
        nv += v[t - d];
      nf |= f[t - d];
    }
    __syncthreads();
    v[t] = nv;
    f[t] = nf;
    __syncthreads();
  }
  if (i < n)
    out[i] = v[t];
}

int main() {
  const int n = 30000000;
  const int blocks = (n + BLOCK - 1) / BLOCK;
  {
    float *in = toDevice(randomFloats(n, 61)), *out = deviceAlloc<float>(n);
    printTime("scanDoubleBuffer", timeMin([&] { scanDoubleBuffer<<<blocks, BLOCK>>>(in, out, n); }));
    printHash("scanDoubleBuffer", out, n);
    cudaFree(in);
    cudaFree(out);
  }
  std::vector<unsigned char> heads(n);
  Rng r(62);
  for (auto &h : heads)
    h = r.next() % 20 == 0;
  int *val = toDevice(randomInts<int>(n, 63, 50)), *out = deviceAlloc<int>(n);
  unsigned char *head = toDevice(heads);
  printTime("segmentedScan", timeMin([&] { segmentedScan<<<blocks, BLOCK>>>(val, head, out, n); }));
  printHash("segmentedScan", out, n);
}
