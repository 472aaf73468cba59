#include "shown.h"

// Hillis-Steele, double buffered
__global__ void scan_naive(float *g_odata, const float *g_idata, int n) {
  extern __shared__ float temp[];
  int thid = threadIdx.x;
  int pout = 0, pin = 1;
  g_idata += blockIdx.x * n;
  g_odata += blockIdx.x * n;
  temp[pout * n + thid] = (thid > 0) ? g_idata[thid - 1] : 0;
  __syncthreads();
  for (int offset = 1; offset < n; offset *= 2) {
    pout = 1 - pout;
    pin = 1 - pout;
    if (thid >= offset)
      temp[pout * n + thid] = temp[pin * n + thid] + temp[pin * n + thid - offset];
    else
      temp[pout * n + thid] = temp[pin * n + thid];
    __syncthreads();
  }
  g_odata[thid] = temp[pout * n + thid];
}

// Blelloch with conflict-free padding
#define LOG_NUM_BANKS 5
#define CONFLICT_FREE_OFFSET(n) ((n) >> LOG_NUM_BANKS)
__global__ void prescan_padded(int *g_odata, const int *g_idata, int *sums, int n) {
  extern __shared__ int stemp[];
  int thid = threadIdx.x;
  int offset = 1;
  int base = blockIdx.x * n;
  int ai = thid;
  int bi = thid + (n / 2);
  int bankOffsetA = CONFLICT_FREE_OFFSET(ai);
  int bankOffsetB = CONFLICT_FREE_OFFSET(bi);
  stemp[ai + bankOffsetA] = g_idata[base + ai];
  stemp[bi + bankOffsetB] = g_idata[base + bi];
  for (int d = n >> 1; d > 0; d >>= 1) {
    __syncthreads();
    if (thid < d) {
      int ai = offset * (2 * thid + 1) - 1;
      int bi = offset * (2 * thid + 2) - 1;
      ai += CONFLICT_FREE_OFFSET(ai);
      bi += CONFLICT_FREE_OFFSET(bi);
      stemp[bi] += stemp[ai];
    }
    offset *= 2;
  }
  if (thid == 0) {
    sums[blockIdx.x] = stemp[n - 1 + CONFLICT_FREE_OFFSET(n - 1)];
    stemp[n - 1 + CONFLICT_FREE_OFFSET(n - 1)] = 0;
  }
  for (int d = 1; d < n; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (thid < d) {
      int ai = offset * (2 * thid + 1) - 1;
      int bi = offset * (2 * thid + 2) - 1;
      ai += CONFLICT_FREE_OFFSET(ai);
      bi += CONFLICT_FREE_OFFSET(bi);
      int t = stemp[ai];
      stemp[ai] = stemp[bi];
      stemp[bi] += t;
    }
  }
  __syncthreads();
  g_odata[base + ai] = stemp[ai + bankOffsetA];
  g_odata[base + bi] = stemp[bi + bankOffsetB];
}

// Brent-Kung, course style
#define SECTION_SIZE 1024
__global__ void Brent_Kung_scan_kernel(float *X, float *Y, unsigned int N) {
  __shared__ float XY[SECTION_SIZE];
  unsigned int i = 2 * blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) XY[threadIdx.x] = X[i]; else XY[threadIdx.x] = 0.0f;
  if (i + blockDim.x < N) XY[threadIdx.x + blockDim.x] = X[i + blockDim.x]; else XY[threadIdx.x + blockDim.x] = 0.0f;
  for (unsigned int stride = 1; stride <= blockDim.x; stride *= 2) {
    __syncthreads();
    unsigned int index = (threadIdx.x + 1) * 2 * stride - 1;
    if (index < SECTION_SIZE) XY[index] += XY[index - stride];
  }
  for (int stride = SECTION_SIZE / 4; stride > 0; stride /= 2) {
    __syncthreads();
    unsigned int index = (threadIdx.x + 1) * stride * 2 - 1;
    if (index + stride < SECTION_SIZE) XY[index + stride] += XY[index];
  }
  __syncthreads();
  if (i < N) Y[i] = XY[threadIdx.x];
  if (i + blockDim.x < N) Y[i + blockDim.x] = XY[threadIdx.x + blockDim.x];
}

// segmented inclusive scan (value+flag)
__global__ void segscan_block(const double *val, const unsigned char *head, double *out, size_t n) {
  __shared__ double sv[256];
  __shared__ int sf[256];
  size_t gid = (size_t)blockIdx.x * 256 + threadIdx.x;
  int lane = threadIdx.x;
  sv[lane] = gid < n ? val[gid] : 0.0;
  sf[lane] = gid < n ? (head[gid] == 0) : 1;
  __syncthreads();
  for (int d = 1; d < 256; d <<= 1) {
    double v = sv[lane];
    int f = sf[lane];
    if (lane >= d) {
      if (!f) v += sv[lane - d];
      f |= sf[lane - d];
    }
    __syncthreads();
    sv[lane] = v;
    sf[lane] = f;
    __syncthreads();
  }
  if (gid < n) out[gid] = sv[lane];
}

// several items per thread, blocked arrangement via shared exchange
template <int NT, int VT>
__global__ void scanVT(const unsigned *in, unsigned *out, unsigned count) {
  __shared__ unsigned shared[NT * VT];
  __shared__ unsigned sums[2][NT];
  int tid = threadIdx.x;
  unsigned gbase = blockIdx.x * NT * VT;
#pragma unroll
  for (int i = 0; i < VT; ++i) {
    unsigned k = gbase + NT * i + tid;
    shared[NT * i + tid] = k < count ? in[k] : 0u;
  }
  __syncthreads();
  unsigned x[VT], s = 0;
#pragma unroll
  for (int i = 0; i < VT; ++i) { x[i] = shared[VT * tid + i]; s += x[i]; }
  int which = 0;
  sums[0][tid] = s;
  __syncthreads();
  for (int off = 1; off < NT; off += off) {
    unsigned t = sums[which][tid];
    if (tid >= off) t += sums[which][tid - off];
    which ^= 1;
    sums[which][tid] = t;
    __syncthreads();
  }
  unsigned run = tid ? sums[which][tid - 1] : 0;
#pragma unroll
  for (int i = 0; i < VT; ++i) { run += x[i]; shared[VT * tid + i] = run; }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < VT; ++i) {
    unsigned k = gbase + NT * i + tid;
    if (k < count) out[k] = shared[NT * i + tid];
  }
}

int main() {
  {
    int n = 512, blocks = 3000;
    float *a = mk<float>(n * blocks), *b = mk<float>(n * blocks);
    scan_naive<<<blocks, n, 2 * n * sizeof(float)>>>(b, a, n);
    show("scan_naive", b, n * blocks * 4);
  }
  {
    int n = 1024, blocks = 4000;
    int *a = mk<int>(n * blocks), *b = mk<int>(n * blocks), *s = mk<int>(blocks);
    prescan_padded<<<blocks, n / 2, (n + n / 32) * sizeof(int)>>>(b, a, s, n);
    show("prescan_padded", b, n * blocks * 4);
  }
  {
    unsigned n = 2000003;
    float *a = mk<float>(n), *b = mk<float>(n);
    Brent_Kung_scan_kernel<<<(n + SECTION_SIZE - 1) / SECTION_SIZE, SECTION_SIZE / 2>>>(a, b, n);
    show("Brent_Kung_scan_kernel", b, n * 4);
  }
  {
    size_t n = 1500001;
    double *a = mk<double>(n), *b = mk<double>(n);
    unsigned char *h = mk<unsigned char>(n);
    segscan_block<<<(n + 255) / 256, 256>>>(a, h, b, n);
    show("segscan_block", b, n * 8);
  }
  {
    unsigned n = 5000011;
    unsigned *a = mk<unsigned>(n), *b = mk<unsigned>(n);
    scanVT<128, 7><<<(n + 128 * 7 - 1) / (128 * 7), 128>>>(a, b, n);
    show("scanVT", b, n * 4);
  }
}
