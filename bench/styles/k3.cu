// k3 -- reductions, scans, norms, softmax.
#include "shown.h"
#include <cuda_fp16.h>
#include <cfloat>
#include <climits>

__global__ void to_half(const float *a, __half *h, size_t n, float scale, float shift)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        h[i] = __float2half(a[i] * scale + shift);
}

// ====== sum of ints, two loads at the start, tree unrolled by template ======
template <class T, unsigned int blockSize>
__global__ void reduce6(const T *g_idata, T *g_odata, unsigned int n)
{
    __shared__ T sdata[blockSize];
    unsigned int tid = threadIdx.x;
    unsigned int i = blockIdx.x * blockSize * 2 + threadIdx.x;
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
    if (tid < 32) {
        mySum += sdata[tid + 32];
        for (int offset = 16; offset > 0; offset >>= 1) mySum += __shfl_down_sync(0xffffffffu, mySum, offset);
    }
    if (tid == 0) g_odata[blockIdx.x] = mySum;
}

// ====== dot product as in the beginners' book ======
const int threadsPerBlock = 256;
__global__ void dot(const double *a, const double *b, double *c, int N)
{
    __shared__ double cache[threadsPerBlock];
    int tid = threadIdx.x + blockIdx.x * blockDim.x;
    int cacheIndex = threadIdx.x;
    double temp = 0;
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

// ====== work-efficient scan with padding against bank conflicts ======
#define LOG_NUM_BANKS 5
#define CONFLICT_FREE_OFFSET(n) ((n) >> LOG_NUM_BANKS)
__global__ void prescan(float *g_odata, const float *g_idata, float *g_sums, int n)
{
    extern __shared__ float temp[];
    const int thid = threadIdx.x;
    const long base = (long)blockIdx.x * n;
    int ai = thid, bi = thid + n / 2;
    int bankOffsetA = CONFLICT_FREE_OFFSET(ai), bankOffsetB = CONFLICT_FREE_OFFSET(bi);
    temp[ai + bankOffsetA] = g_idata[base + ai];
    temp[bi + bankOffsetB] = g_idata[base + bi];
    int offset = 1;
    for (int d = n >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (thid < d) {
            int a = offset * (2 * thid + 1) - 1, b = offset * (2 * thid + 2) - 1;
            a += CONFLICT_FREE_OFFSET(a);
            b += CONFLICT_FREE_OFFSET(b);
            temp[b] += temp[a];
        }
        offset *= 2;
    }
    if (thid == 0) {
        int last = n - 1 + CONFLICT_FREE_OFFSET(n - 1);
        g_sums[blockIdx.x] = temp[last];
        temp[last] = 0;
    }
    for (int d = 1; d < n; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (thid < d) {
            int a = offset * (2 * thid + 1) - 1, b = offset * (2 * thid + 2) - 1;
            a += CONFLICT_FREE_OFFSET(a);
            b += CONFLICT_FREE_OFFSET(b);
            float t = temp[a];
            temp[a] = temp[b];
            temp[b] += t;
        }
    }
    __syncthreads();
    g_odata[base + ai] = temp[ai + bankOffsetA];
    g_odata[base + bi] = temp[bi + bankOffsetB];
}

// ====== segmented inclusive scan (Hillis-Steele), flags with the values ======
__global__ void segmented_scan_kernel(const int *vals, const unsigned char *heads, int *out, int n)
{
    __shared__ int sv[1024];
    __shared__ unsigned char sf[1024];
    int t = threadIdx.x;
    int g = blockIdx.x * 1024 + t;
    sv[t] = g < n ? vals[g] : 0;
    sf[t] = g < n ? (heads[g] == 3) : 1;
    __syncthreads();
    for (int stride = 1; stride < 1024; stride *= 2) {
        int v = sv[t];
        unsigned char f = sf[t];
        if (t >= stride) {
            if (!f) v += sv[t - stride];
            f |= sf[t - stride];
        }
        __syncthreads();
        sv[t] = v;
        sf[t] = f;
        __syncthreads();
    }
    if (g < n) out[g] = sv[t];
}

// ====== online softmax: a pair (max, sum) per thread, merged in a tree ======
struct __align__(8) MD { float m; float d; };
__device__ __forceinline__ MD reduce_md_op(MD a, MD b)
{
    bool a_bigger = a.m > b.m;
    MD big = a_bigger ? a : b, small = a_bigger ? b : a;
    MD res;
    res.d = big.d + small.d * __expf(small.m - big.m);
    res.m = big.m;
    return res;
}
template <int THREADBLOCK_SIZE>
__global__ void online_softmax(const float *__restrict x, float *__restrict y, int V)
{
    __shared__ MD shm[THREADBLOCK_SIZE];
    x += (size_t)blockIdx.x * V;
    y += (size_t)blockIdx.x * V;
    MD p = {-FLT_MAX, 0.0f};
    for (int e = threadIdx.x; e < V; e += THREADBLOCK_SIZE) {
        MD nw = {x[e], 1.0f};
        p = reduce_md_op(p, nw);
    }
    shm[threadIdx.x] = p;
    __syncthreads();
#pragma unroll
    for (int s = THREADBLOCK_SIZE / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) shm[threadIdx.x] = reduce_md_op(shm[threadIdx.x], shm[threadIdx.x + s]);
        __syncthreads();
    }
    MD total = shm[0];
    float inv = __fdividef(1.0f, total.d);
    for (int e = threadIdx.x; e < V; e += THREADBLOCK_SIZE) y[e] = __expf(x[e] - total.m) * inv;
}

// ====== half softmax, the row kept in shared memory as floats ======
__device__ float blockReduceMax(float v, float *warpbuf)
{
    for (int o = 16; o; o >>= 1) v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, o));
    if ((threadIdx.x & 31) == 0) warpbuf[threadIdx.x >> 5] = v;
    __syncthreads();
    float r = warpbuf[0];
    for (int w = 1; w < (int)(blockDim.x >> 5); w++) r = fmaxf(r, warpbuf[w]);
    __syncthreads();
    return r;
}
__device__ float blockReduceSum(float v, float *warpbuf)
{
    for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(0xffffffff, v, o);
    if ((threadIdx.x & 31) == 0) warpbuf[threadIdx.x >> 5] = v;
    __syncthreads();
    float r = 0;
    for (int w = 0; w < (int)(blockDim.x >> 5); w++) r += warpbuf[w];
    __syncthreads();
    return r;
}
__global__ void softmax_half_kernel(const half2 *in, half2 *out, int cols2, float scale)
{
    extern __shared__ float2 rowbuf[];
    __shared__ float wb[32];
    const size_t off = (size_t)blockIdx.x * cols2;
    float mx = -INFINITY;
    for (int c = threadIdx.x; c < cols2; c += blockDim.x) {
        float2 f = __half22float2(in[off + c]);
        f.x *= scale;
        f.y *= scale;
        rowbuf[c] = f;
        mx = fmaxf(mx, fmaxf(f.x, f.y));
    }
    mx = blockReduceMax(mx, wb);
    float sum = 0;
    for (int c = threadIdx.x; c < cols2; c += blockDim.x) {
        float2 f = rowbuf[c];
        f.x = __expf(f.x - mx);
        f.y = __expf(f.y - mx);
        sum += f.x + f.y;
        rowbuf[c] = f;
    }
    sum = 1.0f / blockReduceSum(sum, wb);
    for (int c = threadIdx.x; c < cols2; c += blockDim.x)
        out[off + c] = __floats2half2_rn(rowbuf[c].x * sum, rowbuf[c].y * sum);
}

// ====== layer norm by Welford, one block of 32x4 per row ======
template <typename T>
__device__ void welfordMerge(T &mean, T &m2, T &cnt, T mb, T m2b, T cb)
{
    T tot = cnt + cb;
    if (tot == T(0)) return;
    T delta = mb - mean;
    mean += delta * cb / tot;
    m2 += m2b + delta * delta * cnt * cb / tot;
    cnt = tot;
}
__global__ void cuApplyLayerNorm(float *out, float *mu_out, float *rstd_out, const float *vals, const float *gamma, const float *beta, int n1, int n2, float eps)
{
    __shared__ float s_mean[4], s_m2[4], s_cnt[4];
    int row = blockIdx.x;
    const float *lvals = vals + (size_t)row * n2;
    int thr = threadIdx.y * blockDim.x + threadIdx.x, numx = blockDim.x * blockDim.y;
    float mean = 0, m2 = 0, cnt = 0;
    for (int l = thr; l < n2; l += numx) {
        float v = lvals[l];
        cnt += 1;
        float d = v - mean;
        mean += d / cnt;
        m2 += d * (v - mean);
    }
    for (int o = 16; o > 0; o >>= 1) {
        float mb = __shfl_down_sync(~0u, mean, o), qb = __shfl_down_sync(~0u, m2, o), cb = __shfl_down_sync(~0u, cnt, o);
        welfordMerge(mean, m2, cnt, mb, qb, cb);
    }
    if (threadIdx.x == 0) {
        s_mean[threadIdx.y] = mean;
        s_m2[threadIdx.y] = m2;
        s_cnt[threadIdx.y] = cnt;
    }
    __syncthreads();
    mean = s_mean[0]; m2 = s_m2[0]; cnt = s_cnt[0];
    for (int k = 1; k < 4; ++k) welfordMerge(mean, m2, cnt, s_mean[k], s_m2[k], s_cnt[k]);
    float rstd = rsqrtf(m2 / n2 + eps);
    for (int l = thr; l < n2; l += numx) out[(size_t)row * n2 + l] = gamma[l] * (lvals[l] - mean) * rstd + beta[l];
    if (thr == 0) { mu_out[row] = mean; rstd_out[row] = rstd; }
}

// ====== RMS norm, float4 loads ======
__global__ void rmsnorm_kernel(float4 *o, const float4 *x, const float4 *weight, int size4, float eps)
{
    __shared__ float partial[1024 / 32];
    __shared__ float s_scale;
    const float4 *row = x + (size_t)blockIdx.x * size4;
    float ss = 0.0f;
    for (int j = threadIdx.x; j < size4; j += blockDim.x) {
        float4 v = row[j];
        ss += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
    }
    for (int m = 16; m >= 1; m /= 2) ss += __shfl_xor_sync(0xffffffff, ss, m, 32);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = ss;
    __syncthreads();
    if (threadIdx.x < 32) {
        ss = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0.0f;
        for (int m = 16; m >= 1; m /= 2) ss += __shfl_xor_sync(0xffffffff, ss, m, 32);
        if (threadIdx.x == 0) s_scale = 1.0f / sqrtf(ss / (4 * size4) + eps);
    }
    __syncthreads();
    float sc = s_scale;
    for (int j = threadIdx.x; j < size4; j += blockDim.x) {
        float4 v = row[j], w = weight[j];
        o[(size_t)blockIdx.x * size4 + j] = make_float4(w.x * (sc * v.x), w.y * (sc * v.y), w.z * (sc * v.z), w.w * (sc * v.w));
    }
}

// ====== batch norm statistics: a block per channel of NCHW ======
__global__ void batch_norm_collect_statistics(const float *input, float *save_mean, float *save_invstd, int N, int C, int HW, double eps)
{
    __shared__ double ssum[512], ssq[512];
    int plane = blockIdx.x;
    double sum = 0, sq = 0;
    for (int b = 0; b < N; ++b) {
        const float *p = input + ((size_t)b * C + plane) * HW;
        for (int i = threadIdx.x; i < HW; i += blockDim.x) {
            double v = p[i];
            sum += v;
            sq += v * v;
        }
    }
    ssum[threadIdx.x] = sum;
    ssq[threadIdx.x] = sq;
    for (unsigned s = blockDim.x >> 1; s; s >>= 1) {
        __syncthreads();
        if (threadIdx.x < s) {
            ssum[threadIdx.x] += ssum[threadIdx.x + s];
            ssq[threadIdx.x] += ssq[threadIdx.x + s];
        }
    }
    if (threadIdx.x == 0) {
        double cnt = (double)N * HW, m = ssum[0] / cnt;
        save_mean[plane] = (float)m;
        save_invstd[plane] = (float)(1.0 / sqrt(ssq[0] / cnt - m * m + eps));
    }
}

// ====== argmax of each row; ties go to the smaller index ======
__global__ void argmaxRows(const float *mat, long long *idx, float *val, int cols)
{
    __shared__ float bestV[128];
    __shared__ int bestI[128];
    float bv = -INFINITY;
    int bi = INT_MAX;
    for (int c = threadIdx.x; c < cols; c += 128) {
        float v = mat[(size_t)blockIdx.x * cols + c];
        if (v > bv) { bv = v; bi = c; }
    }
    bestV[threadIdx.x] = bv;
    bestI[threadIdx.x] = bi;
    __syncthreads();
    for (int half_ = 64; half_ >= 1; half_ /= 2) {
        if (threadIdx.x < half_) {
            float ov = bestV[threadIdx.x + half_];
            int oi = bestI[threadIdx.x + half_];
            if (ov > bestV[threadIdx.x] || (ov == bestV[threadIdx.x] && oi < bestI[threadIdx.x])) {
                bestV[threadIdx.x] = ov;
                bestI[threadIdx.x] = oi;
            }
        }
        __syncthreads();
    }
    if (!threadIdx.x) { idx[blockIdx.x] = bestI[0]; val[blockIdx.x] = bestV[0]; }
}

// ====== column sums of a tall matrix: partial sums turned over in a tile ======
__global__ void colsum32x32(const float *A, float *out, int rows, int cols)
{
    __shared__ float block[32][32 + 1];
    int col = blockIdx.x * 32 + threadIdx.x;
    float s = 0.f;
    if (col < cols)
        for (int r = threadIdx.y; r < rows; r += 32) s += A[(size_t)r * cols + col];
    block[threadIdx.y][threadIdx.x] = s;
    __syncthreads();
    s = block[threadIdx.x][threadIdx.y];
    for (int o = 16; o > 0; o /= 2) s += __shfl_down_sync(0xffffffff, s, o);
    int oc = blockIdx.x * 32 + threadIdx.y;
    if (threadIdx.x == 0 && oc < cols) out[oc] = s;
}

// ====== per-block stream compaction, padded with -1 ======
__global__ void compact_block(const int *in, int *out, int *counts, int n, int threshold)
{
    __shared__ int pos[257];
    __shared__ int kept[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    int v = i < n ? in[i] : 0;
    int flag = i < n && v > threshold;
    kept[threadIdx.x] = -1;
    if (threadIdx.x == 0) pos[0] = 0;
    pos[threadIdx.x + 1] = flag;
    __syncthreads();
    for (int d = 1; d < 256; d += d) {
        int add = (int)threadIdx.x >= d ? pos[threadIdx.x + 1 - d] : 0;
        __syncthreads();
        pos[threadIdx.x + 1] += add;
        __syncthreads();
    }
    if (flag) kept[pos[threadIdx.x]] = v * 1000 + threadIdx.x;
    __syncthreads();
    if (i < n) out[i] = kept[threadIdx.x];
    if (threadIdx.x == 255) counts[blockIdx.x] = pos[256];
}

int main()
{
    {
        unsigned n = 50000017u;
        int *a = mk<int>(n), *o = mk<int>(2048), *c = mk<int>(n);
        reduce6<int, 256><<<2048, 256>>>(a, o, n);
        show("reduce6_256", o, 2048 * 4);
        reduce6<int, 512><<<1000, 512>>>(a, o, n);
        show("reduce6_512", o, 1000 * 4);
        int m = 16000100, nb = (m + 255) / 256;
        int *cnt = mk<int>(nb);
        compact_block<<<nb, 256>>>(a, c, cnt, m, 6);
        show("compact", c, 4ull * m);
        show("compact_counts", cnt, 4ull * nb);
        unsigned char *f = mk<unsigned char>(n);
        segmented_scan_kernel<<<(m + 1023) / 1024, 1024>>>(a, f, c, m);
        show("segmented_scan", c, 4ull * m);
    }
    {
        int n = 20000003;
        double *a = mk<double>(n), *b = mk<double>(n), *c = mk<double>(1024);
        dot<<<1024, threadsPerBlock>>>(a, b, c, n);
        show("dot", c, 8192);
    }
    {
        int per = 1024, blocks = 20000;
        size_t N = (size_t)per * blocks;
        float *a = mk<float>(N), *b = mk<float>(N), *s = mk<float>(blocks);
        prescan<<<blocks, per / 2, (per + CONFLICT_FREE_OFFSET(per)) * sizeof(float)>>>(b, a, s, per);
        show("prescan", b, N * 4);
        show("prescan_sums", s, blocks * 4);
    }
    {
        int rows = 3000, cols = 5000;
        size_t N = (size_t)rows * cols;
        float *a = mk<float>(N), *b = mk<float>(N), *g = mk<float>(cols), *be = mk<float>(cols), *mu = mk<float>(rows), *rs = mk<float>(rows);
        online_softmax<256><<<rows, 256>>>(a, b, cols);
        show("online_softmax", b, N * 4);
        cuApplyLayerNorm<<<rows, dim3(32, 4)>>>(b, mu, rs, a, g, be, rows, cols, 1e-5f);
        show("layernorm", b, N * 4);
        show("layernorm_mu", mu, rows * 4);
        show("layernorm_rstd", rs, rows * 4);
        rmsnorm_kernel<<<rows, 384>>>((float4 *)b, (const float4 *)a, (const float4 *)g, cols / 4, 1e-6f);
        show("rmsnorm", b, N * 4);
        __half *h, *k;
        cudaMalloc(&h, N * 2);
        cudaMalloc(&k, N * 2);
        to_half<<<1024, 256>>>(a, h, N, 0.5f, -2.f);
        softmax_half_kernel<<<rows, 320, cols / 2 * sizeof(float2)>>>((half2 *)h, (half2 *)k, cols / 2, 0.7f);
        show("softmax_half", k, N * 2);
        long long *ix = mk<long long>(rows);
        argmaxRows<<<rows, 128>>>(a, ix, mu, cols);
        show("argmax_idx", ix, rows * 8);
        show("argmax_val", mu, rows * 4);
        float *cs = mk<float>(cols);
        colsum32x32<<<(cols + 31) / 32, dim3(32, 32)>>>(a, cs, rows, cols);
        show("colsum", cs, cols * 4);
    }
    {
        int N = 24, C = 256, HW = 56 * 56;
        float *x = mk<float>((size_t)N * C * HW), *m = mk<float>(C), *s = mk<float>(C);
        batch_norm_collect_statistics<<<C, 512>>>(x, m, s, N, C, HW, 1e-5);
        show("bn_mean", m, C * 4);
        show("bn_invstd", s, C * 4);
    }
    return 0;
}
