// prefix sums of blocks
#include "shown.h"

// GPU Gems 3, naive scan with a double buffer
__global__ void scan_naive(float *g_odata, float *g_idata, int n)
{
    extern __shared__ float temp[];   // 2 * n
    int thid = threadIdx.x;
    int pout = 0, pin = 1;
    g_idata += blockIdx.x * n;
    g_odata += blockIdx.x * n;

    // exclusive: shift right by one
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

// GPU Gems 3, work efficient, padded against bank conflicts
#define NUM_BANKS 32
#define LOG_NUM_BANKS 5
#define CONFLICT_FREE_OFFSET(n) ((n) >> LOG_NUM_BANKS)

__global__ void prescan(int *g_odata, const int *g_idata, int *g_sums, int n)
{
    extern __shared__ int tmp[];
    int thid = threadIdx.x;
    int offset = 1;
    int base = blockIdx.x * n;

    int ai = thid;
    int bi = thid + (n / 2);
    int bankOffsetA = CONFLICT_FREE_OFFSET(ai);
    int bankOffsetB = CONFLICT_FREE_OFFSET(bi);
    tmp[ai + bankOffsetA] = g_idata[base + ai];
    tmp[bi + bankOffsetB] = g_idata[base + bi];

    for (int d = n >> 1; d > 0; d >>= 1) {          // build sum in place up the tree
        __syncthreads();
        if (thid < d) {
            int ai = offset * (2 * thid + 1) - 1;
            int bi = offset * (2 * thid + 2) - 1;
            ai += CONFLICT_FREE_OFFSET(ai);
            bi += CONFLICT_FREE_OFFSET(bi);
            tmp[bi] += tmp[ai];
        }
        offset *= 2;
    }
    if (thid == 0) {
        g_sums[blockIdx.x] = tmp[n - 1 + CONFLICT_FREE_OFFSET(n - 1)];
        tmp[n - 1 + CONFLICT_FREE_OFFSET(n - 1)] = 0;
    }
    for (int d = 1; d < n; d *= 2) {                // traverse down tree & build scan
        offset >>= 1;
        __syncthreads();
        if (thid < d) {
            int ai = offset * (2 * thid + 1) - 1;
            int bi = offset * (2 * thid + 2) - 1;
            ai += CONFLICT_FREE_OFFSET(ai);
            bi += CONFLICT_FREE_OFFSET(bi);
            int t = tmp[ai];
            tmp[ai] = tmp[bi];
            tmp[bi] += t;
        }
    }
    __syncthreads();
    g_odata[base + ai] = tmp[ai + bankOffsetA];
    g_odata[base + bi] = tmp[bi + bankOffsetB];
}

// textbook Brent-Kung, two elements per thread, inclusive
#define SECTION_SIZE 1024
__global__ void Brent_Kung_scan_kernel(float *X, float *Y, unsigned int N) {
  __shared__ float XY[SECTION_SIZE];
  unsigned int i = 2*blockIdx.x*blockDim.x + threadIdx.x;
  XY[threadIdx.x] = 0.0f;
  XY[threadIdx.x + blockDim.x] = 0.0f;
  if(i < N) XY[threadIdx.x] = X[i];
  if(i + blockDim.x < N) XY[threadIdx.x + blockDim.x] = X[i + blockDim.x];
  for(unsigned int stride = 1; stride <= blockDim.x; stride *= 2) {
    __syncthreads();
    unsigned int index = (threadIdx.x + 1)*2*stride - 1;
    if(index < SECTION_SIZE) {
      XY[index] += XY[index - stride];
    }
  }
  for (int stride = SECTION_SIZE/4; stride > 0; stride /= 2) {
    __syncthreads();
    unsigned int index = (threadIdx.x + 1)*stride*2 - 1;
    if(index + stride < SECTION_SIZE) {
      XY[index + stride] += XY[index];
    }
  }
  __syncthreads();
  if (i < N) Y[i] = XY[threadIdx.x];
  if (i + blockDim.x < N) Y[i + blockDim.x] = XY[threadIdx.x + blockDim.x];
}

// segmented inclusive scan: values and head flags, one barrier pair per step
template<class T, int B>
__global__ void segScan(const T *val, const unsigned char *head, T *res, int n)
{
	__shared__ T   sv[B];
	__shared__ int sf[B];
	int t = threadIdx.x;
	int i = blockIdx.x * B + t;
	sv[t] = i < n ? val[i] : T(0);
	sf[t] = i < n ? head[i] == 0 : 1;
	if (t == 0) sf[t] = 1;
	__syncthreads();
	for (int d = 1; d < B; d <<= 1) {
		T   v = sv[t];
		int f = sf[t];
		if (t >= d) {
			if (!f) v += sv[t - d];
			f |= sf[t - d];
		}
		__syncthreads();
		sv[t] = v;
		sf[t] = f;
		__syncthreads();
	}
	if (i < n) res[i] = sv[t];
}

// four per thread, shuffle inside the warp, totals of the warps through shared memory
namespace primitives {
template <typename T>
__device__ __forceinline__ T warpInclusive(T x, int lane) {
#pragma unroll
  for (int o = 1; o < 32; o <<= 1) {
    T y = __shfl_up_sync(0xFFFFFFFFu, x, o);
    if (lane >= o) x += y;
  }
  return x;
}

template <int kThreads>
__global__ void __launch_bounds__(kThreads)
block_scan4(const uint4* __restrict__ in, uint4* __restrict__ out, unsigned* __restrict__ totals) {
  constexpr int kWarps = kThreads / 32;
  __shared__ unsigned warp_total[kWarps];
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const size_t at = (size_t)blockIdx.x * kThreads + threadIdx.x;
  uint4 v = in[at];
  v.y += v.x; v.z += v.y; v.w += v.z;
  const unsigned incl = warpInclusive(v.w, lane);
  if (lane == 31) warp_total[warp] = incl;
  __syncthreads();
  if (warp == 0) {
    unsigned t = lane < kWarps ? warp_total[lane] : 0u;
    t = warpInclusive(t, lane);
    if (lane < kWarps) warp_total[lane] = t;
  }
  __syncthreads();
  const unsigned before = incl - v.w + (warp > 0 ? warp_total[warp - 1] : 0u);
  out[at] = make_uint4(v.x + before, v.y + before, v.z + before, v.w + before);
  if (threadIdx.x == kThreads - 1) totals[blockIdx.x] = v.w + before;
}
}  // namespace primitives

// integral image, horizontal pass: a block walks along its row and hands a carry on
__global__ void rowIntegral(const unsigned char *src, int srcPitch, unsigned int *dst, int dstPitch, int width)
{
    __shared__ unsigned int s[2 * 256];
    __shared__ unsigned int carry;
    const int tid = threadIdx.x;
    const unsigned char *row = src + (size_t)blockIdx.x * srcPitch;
    unsigned int *orow = dst + (size_t)blockIdx.x * dstPitch;

    if (tid == 0) carry = 0;
    s[tid] = 0;                       // zero padding on the left side
    const int pos = 256 + tid;
    for (int x0 = 0; x0 < width; x0 += 256) {
        unsigned int own = x0 + tid < width ? row[x0 + tid] : 0;
        s[pos] = own;
        for (int off = 1; off < 256; off <<= 1) {
            __syncthreads();
            unsigned int t = s[pos] + s[pos - off];
            __syncthreads();
            s[pos] = t;
        }
        __syncthreads();
        unsigned int c = carry;
        if (x0 + tid < width) orow[x0 + tid] = s[pos] + c;
        __syncthreads();
        if (tid == 255) carry = c + s[pos];
    }
}

int main()
{
    const size_t n = 1 << 24;
    float *f = mk<float>(n), *g = mk<float>(n);
    scan_naive<<<n / 512, 512, 2 * 512 * sizeof(float)>>>(g, f, 512);
    show("scan_naive", g, n * 4);
    Brent_Kung_scan_kernel<<<(n + 1023) / 1024, 512>>>(f, g, n - 700);
    show("Brent_Kung_scan_kernel", g, (n - 700) * 4);

    int *a = mk<int>(n), *b = mk<int>(n), *s = mk<int>(n / 512);
    int per = 1024;
    prescan<<<n / per, per / 2, (per + per / NUM_BANKS) * sizeof(int)>>>(b, a, s, per);
    show("prescan", b, n * 4);
    show("prescan.sums", s, n / per * 4);
    per = 512;
    prescan<<<n / per, per / 2, (per + per / NUM_BANKS) * sizeof(int)>>>(b, a, s, per);
    show("prescan 512", b, n * 4);

    int m = n - 12345;
    unsigned char *h = mk<unsigned char>(n);
    segScan<float, 256><<<(m + 255) / 256, 256>>>(f, h, g, m);
    show("segScan<float>", g, (size_t)m * 4);
    double *d = mk<double>(n / 2), *e = mk<double>(n / 2);
    segScan<double, 128><<<n / 2 / 128, 128>>>(d, h, e, n / 2);
    show("segScan<double>", e, n / 2 * 8);

    unsigned *ua = mk<unsigned>(2 * n), *ub = mk<unsigned>(2 * n), *ut = mk<unsigned>(n / 64);
    primitives::block_scan4<256><<<2 * n / 1024, 256>>>((const uint4 *)ua, (uint4 *)ub, ut);
    show("block_scan4<256>", ub, 2 * n * 4);
    show("block_scan4<256>.totals", ut, 2 * n / 1024 * 4);

    int w = 3900, rows = 3000, sp = 4096, dp = 4000;
    unsigned *ii = mk<unsigned>((size_t)rows * dp);
    rowIntegral<<<rows, 256>>>(h, sp, ii, dp, w);
    show("rowIntegral", ii, (size_t)rows * dp * 4);
    return 0;
}
