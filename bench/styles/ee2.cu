// Scans inside a block, as written by various people.
#include <algorithm>
#include <cstdint>
#include "shown.h"

// --- A. Hillis-Steele in place with two barriers a step
__global__ void scanInPlace(const int *src, int *dst, int len)
{
    __shared__ int sh[1024];
    int gid = blockIdx.x * blockDim.x + threadIdx.x;
    sh[threadIdx.x] = gid < len ? src[gid] : 0;
    for (int dist = 1; dist < blockDim.x; dist <<= 1) {
        int add = 0;
        __syncthreads();
        if (threadIdx.x >= dist) add = sh[threadIdx.x - dist];
        __syncthreads();
        sh[threadIdx.x] += add;
    }
    if (gid < len) dst[gid] = sh[threadIdx.x];
}

// --- B. the two halves of one dynamic array take turns; exclusive
__global__ void scan_pingpong(float *g_odata, const float *g_idata, int n)
{
    extern __shared__ float temp[];
    int thid = threadIdx.x;
    int pout = 0, pin = 1;
    g_idata += (size_t)n * blockIdx.x;
    g_odata += (size_t)n * blockIdx.x;
    temp[pout * n + thid] = (thid > 0) ? g_idata[thid - 1] : 0;
    __syncthreads();
    for (int offset = 1; offset < n; offset *= 2) {
        pout = 1 - pout;
        pin = 1 - pout;
        float v = temp[pin * n + thid];
        if (thid >= offset)
            v += temp[pin * n + thid - offset];
        temp[pout * n + thid] = v;
        __syncthreads();
    }
    g_odata[thid] = temp[pout * n + thid];
}

// --- C. work-efficient, 2 values a thread, level by level with a shift count
template <int LOG2N>
__global__ void blelloch_excl(const uint32_t *__restrict__ in, uint32_t *__restrict__ out, uint32_t *__restrict__ totals)
{
    constexpr int N = 1 << LOG2N;
    __shared__ uint32_t t[N];
    const int id = threadIdx.x;
    const size_t o = size_t(blockIdx.x) << LOG2N;
    t[id] = in[o + id];
    t[id + N / 2] = in[o + id + N / 2];
    for (int lev = 0; lev < LOG2N; ++lev) {
        __syncthreads();
        if (id < (N >> (lev + 1))) {
            int right = ((id + 1) << (lev + 1)) - 1;
            int left = right - (1 << lev);
            t[right] += t[left];
        }
    }
    __syncthreads();
    if (id == 0) {
        totals[blockIdx.x] = t[N - 1];
        t[N - 1] = 0;
    }
    for (int lev = LOG2N - 1; lev >= 0; --lev) {
        __syncthreads();
        if (id < (N >> (lev + 1))) {
            int right = ((id + 1) << (lev + 1)) - 1;
            int left = right - (1 << lev);
            uint32_t keep = t[left];
            t[left] = t[right];
            t[right] += keep;
        }
    }
    __syncthreads();
    out[o + id] = t[id];
    out[o + id + N / 2] = t[id + N / 2];
}

// --- D. padded against bank conflicts, doubles, last tile partly filled
#define LOG_BANKS 5
#define PAD(i) ((i) + ((i) >> LOG_BANKS))
#define PRESCAN_N 512

__global__ void prescanPadded(double *out, const double *in, int n)
{
    __shared__ double tmp[PAD(PRESCAN_N)];
    int t = threadIdx.x;
    int base = blockIdx.x * PRESCAN_N;
    int ai = t, bi = t + PRESCAN_N / 2;
    tmp[PAD(ai)] = (base + ai < n) ? in[base + ai] : 0.0;
    tmp[PAD(bi)] = (base + bi < n) ? in[base + bi] : 0.0;

    int step = 1;
    for (int d = PRESCAN_N >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) {
            int i = step * (2 * t + 1) - 1;
            int j = step * (2 * t + 2) - 1;
            tmp[PAD(j)] += tmp[PAD(i)];
        }
        step <<= 1;
    }
    if (t == 0) tmp[PAD(PRESCAN_N - 1)] = 0.0;
    for (int d = 1; d < PRESCAN_N; d <<= 1) {
        step >>= 1;
        __syncthreads();
        if (t < d) {
            int i = step * (2 * t + 1) - 1;
            int j = step * (2 * t + 2) - 1;
            double x = tmp[PAD(i)];
            tmp[PAD(i)] = tmp[PAD(j)];
            tmp[PAD(j)] += x;
        }
    }
    __syncthreads();
    if (base + ai < n) out[base + ai] = tmp[PAD(ai)];
    if (base + bi < n) out[base + bi] = tmp[PAD(bi)];
}

// --- E. segmented inclusive sum; heads come as bytes
struct SegVal {
    float v;
    int head;
};
__device__ inline SegVal segPlus(SegVal left, SegVal right)
{
    SegVal r;
    r.head = left.head | right.head;
    r.v = right.head ? right.v : left.v + right.v;
    return r;
}
template <unsigned W>
__global__ void segmentedScan(const float *val, const unsigned char *headByte, float *out, unsigned n)
{
    __shared__ SegVal a[2][W];
    unsigned me = threadIdx.x, g = W * blockIdx.x + me, cur = 0;
    SegVal s = {0.f, 0};
    if (g < n) {
        s.v = val[g];
        s.head = headByte[g] == 7;
    }
    a[0][me] = s;
    __syncthreads();
#pragma unroll
    for (unsigned hop = 1; hop < W; hop += hop) {
        if (me >= hop) s = segPlus(a[cur][me - hop], s);
        cur ^= 1;
        a[cur][me] = s;
        __syncthreads();
    }
    if (g < n) out[g] = s.v;
}

// --- F. affine maps x -> m x + c over unsigned, four a thread, then the tree over the threads
struct Lcg { unsigned m, c; };
__host__ __device__ static inline Lcg then(Lcg f, Lcg g) { return Lcg{g.m * f.m, g.m * f.c + g.c}; }

__global__ void lcgChain(const uint2 *steps, unsigned *states, unsigned seed, int n)
{
    __shared__ Lcg part[192];
    const int tid = threadIdx.x;
    const int first = (blockIdx.x * 192 + tid) * 4;
    Lcg loc[4];
    Lcg run = {1u, 0u};
    for (int k = 0; k < 4; k++) {
        Lcg f = {1u, 0u};
        if (first + k < n) {
            uint2 s = steps[first + k];
            f.m = s.x * 4u + 1u;
            f.c = s.y * 2u + 1u;
        }
        run = then(run, f);
        loc[k] = run;
    }
    part[tid] = run;
    __syncthreads();
    for (int d = 1; d < 192; d += d) {
        Lcg before = {1u, 0u};
        if (tid - d >= 0) before = part[tid - d];
        Lcg now = part[tid];
        __syncthreads();
        part[tid] = then(before, now);
        __syncthreads();
    }
    unsigned x = seed ^ blockIdx.x;
    if (tid) x = part[tid - 1].m * x + part[tid - 1].c;
    for (int k = 0; k < 4; k++)
        if (first + k < n) states[first + k] = loc[k].m * x + loc[k].c;
}

// --- G. running maximum of short rows; blockDim = (64, 8), one row for each y
__global__ void runningMax(const short *H, short *skyline, int rows, int pitch)
{
    __shared__ short m[8][64];
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.x * 8 + y;
    short carry = -32768;
    for (int x0 = 0; x0 < pitch; x0 += 64) {
        short v = -32768;
        if (row < rows && x0 + x < pitch) v = H[(size_t)row * pitch + x0 + x];
        if (x == 0 && carry > v) v = carry;
        m[y][x] = v;
        __syncthreads();
        for (int k = 1; k < 64; k *= 2) {
            short o = x >= k ? m[y][x - k] : (short)-32768;
            __syncthreads();
            if (o > v) v = o;
            m[y][x] = v;
            __syncthreads();
        }
        carry = m[y][63];
        if (row < rows && x0 + x < pitch) skyline[(size_t)row * pitch + x0 + x] = v;
        __syncthreads();
    }
}

// --- H. compaction inside a tile: offsets from a scan of flags, order kept
template <typename T, int TPB, int PER>
class TileCompactor {
public:
    struct Storage { int offs[TPB]; T kept[TPB * PER]; };
    template <class Pred>
    static __device__ int run(Storage &st, const T *src, int avail, Pred keep)
    {
        int flags = 0, cnt = 0;
        T loc[PER];
        for (int p = 0; p < PER; ++p) {
            int at = threadIdx.x * PER + p;
            loc[p] = T();
            if (at < avail) {
                loc[p] = src[at];
                if (keep(loc[p], at)) { flags |= 1 << p; ++cnt; }
            }
        }
        st.offs[threadIdx.x] = cnt;
        __syncthreads();
        int incl = cnt;
        for (int d = 1; d < TPB; d <<= 1) {
            int left = (int)threadIdx.x < d ? 0 : st.offs[threadIdx.x - d];
            __syncthreads();
            st.offs[threadIdx.x] = incl += left;
            __syncthreads();
        }
        int w = incl - cnt;
        for (int p = 0; p < PER; ++p)
            if (flags >> p & 1) st.kept[w++] = loc[p];
        __syncthreads();
        return st.offs[TPB - 1];
    }
};

__global__ void compactTiles(const float *x, float *y, int *counts, int n, float thr)
{
    using C = TileCompactor<float, 256, 4>;
    __shared__ C::Storage st;
    int tile0 = blockIdx.x * 1024;
    int avail = min(1024, n - tile0);
    int total = C::run(st, x + tile0, avail, [=](float v, int at) { return v * (1 + (at & 1)) > thr; });
    for (int k = threadIdx.x; k < avail; k += 256)
        y[tile0 + k] = k < total ? st.kept[k] : -1.f;
    if (threadIdx.x == 0) counts[blockIdx.x] = total;
}

template <class... P> void release(P *...p) { (cudaFree(p), ...); }

int main()
{
    {
        int n = 20000011;
        int *a = mk<int>(n), *b = mk<int>(n);
        scanInPlace<<<(n + 1023) / 1024, 1024>>>(a, b, n);
        show("scanInPlace", b, (size_t)n * 4);
        release(a, b);
    }
    {
        int n = 480, rows = 30000;
        float *a = mk<float>((size_t)n * rows), *b = mk<float>((size_t)n * rows);
        scan_pingpong<<<rows, n, 2 * n * sizeof(float)>>>(b, a, n);
        show("scan_pingpong", b, (size_t)n * rows * 4);
        release(a, b);
    }
    {
        size_t tiles = 25000;
        uint32_t *a = mk<uint32_t>(tiles << 10), *b = mk<uint32_t>(tiles << 10), *t = mk<uint32_t>(tiles);
        blelloch_excl<10><<<tiles, 512>>>(a, b, t);
        show("blelloch_excl", b, tiles << 12);
        show("blelloch_excl", t, tiles * 4);
        release(a, b, t);
    }
    {
        int n = 10000123;
        double *a = mk<double>(n), *b = mk<double>(n);
        prescanPadded<<<(n + PRESCAN_N - 1) / PRESCAN_N, PRESCAN_N / 2>>>(b, a, n);
        show("prescanPadded", b, (size_t)n * 8);
        release(a, b);
    }
    {
        unsigned n = 15000007;
        float *a = mk<float>(n), *b = mk<float>(n);
        unsigned char *h = mk<unsigned char>(n);
        segmentedScan<128><<<(n + 127) / 128, 128>>>(a, h, b, n);
        show("segmentedScan", b, (size_t)n * 4);
        release(a, b, h);
    }
    {
        int n = 16000002;
        unsigned *a = mk<unsigned>(2 * (size_t)n), *b = mk<unsigned>(n);
        lcgChain<<<(n + 767) / 768, 192>>>((uint2 *)a, b, 12345u, n);
        show("lcgChain", b, (size_t)n * 4);
        release(a, b);
    }
    {
        int rows = 20003, pitch = 700;
        short *a = mk<short>((size_t)rows * pitch), *b = mk<short>((size_t)rows * pitch);
        runningMax<<<(rows + 7) / 8, dim3(64, 8)>>>(a, b, rows, pitch);
        show("runningMax", b, (size_t)rows * pitch * 2);
        release(a, b);
    }
    {
        int n = 25000025, nb = (n + 1023) / 1024;
        float *a = mk<float>(n), *b = mk<float>(n);
        int *c = mk<int>(nb);
        compactTiles<<<nb, 256>>>(a, b, c, n, 9.f);
        show("compactTiles", b, (size_t)n * 4);
        show("compactTiles", c, (size_t)nb * 4);
        release(a, b, c);
    }
    return 0;
}
