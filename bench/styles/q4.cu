// reductions and scans
#include "shown.h"
#include <cuda_fp16.h>
#include <cooperative_groups.h>
#include <cfloat>
namespace cg = cooperative_groups;

// 1 ------------------------------------------------------------------ unrolled template ladder
template <unsigned int blockSize, bool nIsPow2>
__global__ void reduce6_int(const int *g_idata, int *g_odata, unsigned int n)
{
    extern __shared__ int sdata[];
    unsigned int tid = threadIdx.x;
    unsigned int i = blockIdx.x * blockSize * 2 + threadIdx.x;
    unsigned int gridSize = blockSize * 2 * gridDim.x;

    int mySum = 0;
    while (i < n) {
        mySum += g_idata[i];
        if (nIsPow2 || i + blockSize < n) mySum += g_idata[i + blockSize];
        i += gridSize;
    }
    sdata[tid] = mySum;
    __syncthreads();

    if ((blockSize >= 512) && (tid < 256)) { sdata[tid] = mySum = mySum + sdata[tid + 256]; }
    __syncthreads();
    if ((blockSize >= 256) && (tid < 128)) { sdata[tid] = mySum = mySum + sdata[tid + 128]; }
    __syncthreads();
    if ((blockSize >= 128) && (tid < 64)) { sdata[tid] = mySum = mySum + sdata[tid + 64]; }
    __syncthreads();
    if (tid < 32) {
        if (blockSize >= 64) mySum += sdata[tid + 32];
        for (int offset = 16; offset > 0; offset /= 2)
            mySum += __shfl_down_sync(0xffffffffu, mySum, offset);
    }
    if (tid == 0) g_odata[blockIdx.x] = mySum;
}

// 2 ------------------------------------------------------------------ cooperative groups, doubles
__global__ void reduce_norm2_cooperative(const double *x, double *partial, int n)
{
    cg::thread_block cta = cg::this_thread_block();
    cg::thread_block_tile<32> tile32 = cg::tiled_partition<32>(cta);
    __shared__ double warpSums[32];

    double sum = 0.0;
    for (int i = blockIdx.x * blockDim.x + cta.thread_rank(); i < n; i += gridDim.x * cta.size())
        sum += x[i] * x[i];
    for (int offset = tile32.size() / 2; offset > 0; offset /= 2)
        sum += tile32.shfl_down(sum, offset);
    if (tile32.thread_rank() == 0) warpSums[tile32.meta_group_rank()] = sum;
    cg::sync(cta);
    if (tile32.meta_group_rank() == 0) {
        sum = tile32.thread_rank() < tile32.meta_group_size() ? warpSums[tile32.thread_rank()] : 0.0;
        for (int offset = 16; offset > 0; offset >>= 1)
            sum += tile32.shfl_down(sum, offset);
        if (tile32.thread_rank() == 0) partial[blockIdx.x] = sqrt(sum);
    }
}

// 3 ------------------------------------------------------------------ argmin of structures
struct ValIdx {
    float val;
    int idx;
};
__device__ inline ValIdx better(ValIdx a, ValIdx b)
{
    if (b.val < a.val || (b.val == a.val && b.idx < a.idx)) return b;
    return a;
}
__global__ void argmin_per_row(const float *m, ValIdx *best, int cols)
{
    __shared__ ValIdx cache[192];
    const float *row = m + (size_t)blockIdx.x * cols;
    ValIdx mine = {FLT_MAX, 0x7fffffff};
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        ValIdx v = {row[c], c};
        mine = better(mine, v);
    }
    cache[threadIdx.x] = mine;
    __syncthreads();
    // 192 = 3 * 64
    if (threadIdx.x < 64) {
        cache[threadIdx.x] = better(cache[threadIdx.x], cache[threadIdx.x + 64]);
        cache[threadIdx.x] = better(cache[threadIdx.x], cache[threadIdx.x + 128]);
    }
    __syncthreads();
    for (int s = 32; s >= 1; s >>= 1) {
        if (threadIdx.x < s) cache[threadIdx.x] = better(cache[threadIdx.x], cache[threadIdx.x + s]);
        __syncthreads();
    }
    if (threadIdx.x == 0) best[blockIdx.x] = cache[0];
}

// 4 ------------------------------------------------------------------ minimum, maximum, sum together
#define STAT_THREADS 256
#define STAT_ITEMS 8
__global__ void min_max_sum_chunks(const float *data, float *mn, float *mx, float *sm, int n)
{
    __shared__ float smin[STAT_THREADS];
    __shared__ float smax[STAT_THREADS];
    __shared__ float ssum[STAT_THREADS];
    int tid = threadIdx.x;
    int base = blockIdx.x * (STAT_THREADS * STAT_ITEMS) + tid;
    float lo = FLT_MAX, hi = -FLT_MAX, su = 0.0f;
#pragma unroll
    for (int k = 0; k < STAT_ITEMS; k++) {
        int i = base + k * STAT_THREADS;
        if (i < n) {
            float v = data[i];
            lo = fminf(lo, v);
            hi = fmaxf(hi, v);
            su += v;
        }
    }
    smin[tid] = lo;
    smax[tid] = hi;
    ssum[tid] = su;
    for (int stride = STAT_THREADS / 2; stride > 0; stride /= 2) {
        __syncthreads();
        if (tid < stride) {
            smin[tid] = fminf(smin[tid], smin[tid + stride]);
            smax[tid] = fmaxf(smax[tid], smax[tid + stride]);
            ssum[tid] += ssum[tid + stride];
        }
    }
    if (tid == 0) {
        mn[blockIdx.x] = smin[0];
        mx[blockIdx.x] = smax[0];
        sm[blockIdx.x] = ssum[0];
    }
}

// 5 ------------------------------------------------------------------ work efficient scan without bank conflicts
#define LOG_NUM_BANKS 5
#define CONFLICT_FREE_OFFSET(n) ((n) >> LOG_NUM_BANKS)
__global__ void prescan_blelloch(float *g_odata, const float *g_idata, float *blockSums, int n)
{
    extern __shared__ float temp[];
    int thid = threadIdx.x;
    int offset = 1;
    size_t start = (size_t)blockIdx.x * n;

    int ai = thid;
    int bi = thid + (n / 2);
    int bankOffsetA = CONFLICT_FREE_OFFSET(ai);
    int bankOffsetB = CONFLICT_FREE_OFFSET(bi);
    temp[ai + bankOffsetA] = g_idata[start + ai];
    temp[bi + bankOffsetB] = g_idata[start + bi];

    for (int d = n >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (thid < d) {
            int ai = offset * (2 * thid + 1) - 1;
            int bi = offset * (2 * thid + 2) - 1;
            ai += CONFLICT_FREE_OFFSET(ai);
            bi += CONFLICT_FREE_OFFSET(bi);
            temp[bi] += temp[ai];
        }
        offset *= 2;
    }
    if (thid == 0) {
        int last = n - 1 + CONFLICT_FREE_OFFSET(n - 1);
        blockSums[blockIdx.x] = temp[last];
        temp[last] = 0;
    }
    for (int d = 1; d < n; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (thid < d) {
            int ai = offset * (2 * thid + 1) - 1;
            int bi = offset * (2 * thid + 2) - 1;
            ai += CONFLICT_FREE_OFFSET(ai);
            bi += CONFLICT_FREE_OFFSET(bi);
            float t = temp[ai];
            temp[ai] = temp[bi];
            temp[bi] += t;
        }
    }
    __syncthreads();
    g_odata[start + ai] = temp[ai + bankOffsetA];
    g_odata[start + bi] = temp[bi + bankOffsetB];
}

// 6 ------------------------------------------------------------------ segmented scan with head flags
__global__ void segmented_scan_flags(const int *vals, const unsigned char *heads, int *out, int n)
{
    __shared__ int v[512];
    __shared__ unsigned char f[512];
    const int t = threadIdx.x, i = blockIdx.x * 512 + t;
    v[t] = i < n ? vals[i] : 0;
    f[t] = i < n ? (heads[i] > 9 || t == 0) : 1;
    __syncthreads();
    for (int d = 1; d < 512; d <<= 1) {
        int nv = v[t];
        unsigned char nf = f[t];
        if (t >= d) {
            if (!nf) nv += v[t - d];
            nf |= f[t - d];
        }
        __syncthreads();
        v[t] = nv;
        f[t] = nf;
        __syncthreads();
    }
    if (i < n) out[i] = v[t];
}

// 7 ------------------------------------------------------------------ mean and variance of the 16x16 cells of an image
__global__ void cell_mean_variance(const unsigned char *img, float *mean, float *var, int w, int h)
{
    __shared__ unsigned int s1[16][16];
    __shared__ unsigned int s2[16][16];
    unsigned tx = threadIdx.x, ty = threadIdx.y;
    unsigned x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
    unsigned p = (x < w && y < h) ? img[y * w + x] : 0u;
    s1[ty][tx] = p;
    s2[ty][tx] = p * p;
    __syncthreads();
    for (unsigned k = 8; k > 0; k >>= 1) {      // along x
        if (tx < k) {
            s1[ty][tx] += s1[ty][tx + k];
            s2[ty][tx] += s2[ty][tx + k];
        }
        __syncthreads();
    }
    for (unsigned k = 8; k > 0; k >>= 1) {      // along y
        if (tx == 0 && ty < k) {
            s1[ty][0] += s1[ty + k][0];
            s2[ty][0] += s2[ty + k][0];
        }
        __syncthreads();
    }
    if (tx == 0 && ty == 0) {
        float m = s1[0][0] / 256.0f;
        mean[blockIdx.y * gridDim.x + blockIdx.x] = m;
        var[blockIdx.y * gridDim.x + blockIdx.x] = s2[0][0] / 256.0f - m * m;
    }
}

// 8 ------------------------------------------------------------------ dot product of half vectors
const int threadsPerBlock = 256;
__global__ void dot_half(const __half *a, const __half *b, float *c, int N)
{
    __shared__ float cache[threadsPerBlock];
    int tid = threadIdx.x + blockIdx.x * blockDim.x;
    int cacheIndex = threadIdx.x;
    float temp = 0;
    while (tid < N) {
        temp += __half2float(a[tid]) * __half2float(b[tid]);
        tid += blockDim.x * gridDim.x;
    }
    cache[cacheIndex] = temp;
    __syncthreads();
    int i = blockDim.x / 2;
    while (i != 0) {
        if (cacheIndex < i)
            cache[cacheIndex] += cache[cacheIndex + i];
        __syncthreads();
        i /= 2;
    }
    if (cacheIndex == 0)
        c[blockIdx.x] = cache[0];
}

static __half *mk_half(size_t n, unsigned mul)
{
    __half *h = (__half *)malloc(n * sizeof(__half)), *d;
    for (size_t i = 0; i < n; ++i) h[i] = __float2half(((i * mul) % 61) / 32.0f - 1.0f);
    cudaMalloc(&d, n * sizeof(__half));
    cudaMemcpy(d, h, n * sizeof(__half), cudaMemcpyHostToDevice);
    free(h);
    return d;
}

int main()
{
    size_t cap = 40000000;
    float *f = mk<float>(cap), *o = mk<float>(cap);
    int *iv = mk<int>(cap), *io = mk<int>(cap);

    unsigned n1 = 39999999;
    reduce6_int<512, false><<<2048, 512, 512 * sizeof(int)>>>(iv, io, n1);
    show("reduce6_int", io, 2048 * 4);

    int n2 = 15000000;
    double *dv = mk<double>(n2), *dp = mk<double>(4096);
    reduce_norm2_cooperative<<<2640, 384>>>(dv, dp, n2);
    show("reduce_norm2_cooperative", dp, 2640 * 8);

    int rows = 12000, cols = 2999;
    ValIdx *best;
    cudaMalloc(&best, rows * sizeof(ValIdx));
    argmin_per_row<<<rows, 192>>>(f, best, cols);
    show("argmin_per_row", best, rows * sizeof(ValIdx));

    int n4 = 38000017, b4 = (n4 + STAT_THREADS * STAT_ITEMS - 1) / (STAT_THREADS * STAT_ITEMS);
    float *mn = mk<float>(b4), *mx = mk<float>(b4), *sm = mk<float>(b4);
    min_max_sum_chunks<<<b4, STAT_THREADS>>>(f, mn, mx, sm, n4);
    show("min_max_sum_chunks min", mn, b4 * 4);
    show("min_max_sum_chunks max", mx, b4 * 4);
    show("min_max_sum_chunks sum", sm, b4 * 4);

    int sec = 1024, secs = 20000;
    float *bs = mk<float>(secs);
    prescan_blelloch<<<secs, sec / 2, (sec + CONFLICT_FREE_OFFSET(sec)) * sizeof(float)>>>(o, f, bs, sec);
    show("prescan_blelloch", o, (size_t)sec * secs * 4);
    show("prescan_blelloch sums", bs, secs * 4);

    int n6 = 12000005;
    unsigned char *heads = mk<unsigned char>(n6);
    segmented_scan_flags<<<(n6 + 511) / 512, 512>>>(iv, heads, io, n6);
    show("segmented_scan_flags", io, (size_t)n6 * 4);

    int w = 7000, h = 5001;
    unsigned char *img = mk<unsigned char>((size_t)w * h);
    dim3 g7((w + 15) / 16, (h + 15) / 16);
    float *mean = mk<float>(g7.x * g7.y), *var = mk<float>(g7.x * g7.y);
    cell_mean_variance<<<g7, dim3(16, 16)>>>(img, mean, var, w, h);
    show("cell_mean_variance mean", mean, g7.x * g7.y * 4);
    show("cell_mean_variance var", var, g7.x * g7.y * 4);

    int n8 = 33000001;
    __half *ha = mk_half(n8, 37), *hb = mk_half(n8, 11);
    dot_half<<<4096, threadsPerBlock>>>(ha, hb, o, n8);
    show("dot_half", o, 4096 * 4);
    return 0;
}
