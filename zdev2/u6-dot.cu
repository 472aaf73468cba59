#include "h.h"
#include <cstring>
static void show(const char *name, const void *dev, size_t bytes) {
  cudaError_t e = cudaDeviceSynchronize();
  unsigned char *h = (unsigned char *)malloc(bytes);
  cudaMemcpy(h, dev, bytes, cudaMemcpyDeviceToHost);
  unsigned long long f = 1469598103934665603ull;
  size_t i = 0;
  for (; i + 8 <= bytes; i += 8) {
    unsigned long long w;
    memcpy(&w, h + i, 8);
    f = (f ^ w) * 1099511628211ull;
  }
  for (; i < bytes; ++i) f = (f ^ h[i]) * 1099511628211ull;
  printf("%s %016llx%s%s\n", name, f, e ? " " : "", e ? cudaGetErrorString(e) : "");
  free(h);
}
// ---- SDK reduction, version with completely unrolled tail, two elements a thread
template <class T, unsigned int blockSize>
__global__ void reduceSum(const T *g_idata, T *g_odata, unsigned int n) {
  extern __shared__ __align__(16) unsigned char s_raw[];
  T *sdata = reinterpret_cast<T *>(s_raw);
  unsigned int tid = threadIdx.x;
  unsigned int i = blockIdx.x * (blockSize * 2) + tid;
  unsigned int gridSize = blockSize * 2 * gridDim.x;
  T mySum = 0;
  while (i < n) {
    mySum += g_idata[i];
    if (i + blockSize < n) mySum += g_idata[i + blockSize];
    i += gridSize;
  }
  sdata[tid] = mySum;
  __syncthreads();
  if (blockSize >= 512) { if (tid < 256) sdata[tid] = mySum = mySum + sdata[tid + 256]; __syncthreads(); }
  if (blockSize >= 256) { if (tid < 128) sdata[tid] = mySum = mySum + sdata[tid + 128]; __syncthreads(); }
  if (blockSize >= 128) { if (tid < 64) sdata[tid] = mySum = mySum + sdata[tid + 64]; __syncthreads(); }
  if (blockSize >= 64) { if (tid < 32) sdata[tid] = mySum = mySum + sdata[tid + 32]; __syncthreads(); }
  if (blockSize >= 32) { if (tid < 16) sdata[tid] = mySum = mySum + sdata[tid + 16]; __syncthreads(); }
  if (tid < 8) sdata[tid] = mySum = mySum + sdata[tid + 8];
  __syncthreads();
  if (tid < 4) sdata[tid] = mySum = mySum + sdata[tid + 4];
  __syncthreads();
  if (tid < 2) sdata[tid] = mySum = mySum + sdata[tid + 2];
  __syncthreads();
  if (tid == 0) g_odata[blockIdx.x] = mySum + sdata[1];
}

// ---- dot product from the book
const int threadsPerBlock = 256;
__global__ void dot(float *a, float *b, float *c, int N) {
  __shared__ float cache[threadsPerBlock];
  int tid = threadIdx.x + blockIdx.x * blockDim.x;
  int cacheIndex = threadIdx.x;
  float temp = 0;
  while (tid < N) {
    temp += a[tid] * b[tid];
    tid += blockDim.x * gridDim.x;
  }
  cache[cacheIndex] = temp;
  __syncthreads();
  int i = blockDim.x / 2;
  while (i != 0) {
    if (cacheIndex < i) cache[cacheIndex] += cache[cacheIndex + i];
    __syncthreads();
    i /= 2;
  }
  if (cacheIndex == 0) c[blockIdx.x] = cache[0];
}

// ---- argmax of every row, ties to the smaller index
__global__ void row_argmax(const float *m, int *where, float *what, int cols) {
  __shared__ float v[128];
  __shared__ int ix[128];
  const float *r = m + (size_t)blockIdx.x * cols;
  float best = -1e30f; int bi = 0;
  for (int c = threadIdx.x; c < cols; c += 128)
    if (r[c] > best) { best = r[c]; bi = c; }
  v[threadIdx.x] = best; ix[threadIdx.x] = bi;
  for (int s = 64; s > 0; s >>= 1) {
    __syncthreads();
    if (threadIdx.x < s) {
      float o = v[threadIdx.x + s]; int oi = ix[threadIdx.x + s];
      if (o > v[threadIdx.x] || (o == v[threadIdx.x] && oi < ix[threadIdx.x])) { v[threadIdx.x] = o; ix[threadIdx.x] = oi; }
    }
  }
  if (threadIdx.x == 0) { where[blockIdx.x] = ix[0]; what[blockIdx.x] = v[0]; }
}

// ---- mean and variance per column block (Welford merge)
struct Stat { double mean, m2; long long n; };
__device__ Stat merge(Stat a, Stat b) {
  Stat r;
  r.n = a.n + b.n;
  if (r.n == 0) { r.mean = 0; r.m2 = 0; return r; }
  double d = b.mean - a.mean;
  r.mean = a.mean + d * b.n / r.n;
  r.m2 = a.m2 + b.m2 + d * d * ((double)a.n * b.n / r.n);
  return r;
}
__global__ void welford_blocks(const float *x, Stat *out, size_t n) {
  __shared__ Stat st[192];
  Stat s = {0.0, 0.0, 0};
  for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
    s.n++;
    double d = x[i] - s.mean;
    s.mean += d / s.n;
    s.m2 += d * (x[i] - s.mean);
  }
  st[threadIdx.x] = s;
  __syncthreads();
  // 192 = 128 + 64
  if (threadIdx.x >= 128) st[threadIdx.x - 128] = merge(st[threadIdx.x - 128], st[threadIdx.x]);
  __syncthreads();
  for (int k = 64; k >= 1; k /= 2) {
    if (threadIdx.x < k) st[threadIdx.x] = merge(st[threadIdx.x], st[threadIdx.x + k]);
    __syncthreads();
  }
  if (!threadIdx.x) out[blockIdx.x] = st[0];
}

template <class T> void reduceBoth(const char *nm, unsigned n) {
  T *in = mk<T>(n); T *part = mk<T>(1024), *res = mk<T>(1);
  reduceSum<T, 512><<<1024, 512, 512 * sizeof(T)>>>(in, part, n);
  reduceSum<T, 128><<<1, 128, 128 * sizeof(T)>>>(part, res, 1024);
  show(nm, part, 1024 * sizeof(T)); show(nm, res, sizeof(T));
  cudaFree(in);
}

int main() {
  reduceBoth<float>("reduceSum f", (1u << 26) - 77);
  reduceBoth<int>("reduceSum i", 50000000u);
  reduceBoth<double>("reduceSum d", 1u << 24);
  { int N = 33 * 1024 * 1024; int g = 2112;
    float *a = mk<float>(N), *b = mk<float>(N), *c = mk<float>(g);
    dot<<<g, threadsPerBlock>>>(a, b, c, N);
    show("dot", c, g * 4); cudaFree(a); cudaFree(b); }
  { int rows = 20000, cols = 1001;
    float *m = mk<float>((size_t)rows * cols), *w = mk<float>(rows); int *p = mk<int>(rows);
    row_argmax<<<rows, 128>>>(m, p, w, cols);
    show("row_argmax ix", p, rows * 4); show("row_argmax v", w, rows * 4); cudaFree(m); }
  { size_t n = 30000001; float *x = mk<float>(n); Stat *o; cudaMalloc(&o, 1056 * sizeof(Stat));
    welford_blocks<<<1056, 192>>>(x, o, n);
    show("welford_blocks", o, 1056 * sizeof(Stat)); }
  return 0;
}
