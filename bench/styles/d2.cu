// Scans: Hillis-Steele, Blelloch with conflict-free padding, segmented, block compaction, radix split
#include "shown.h"

#define NUM_BANKS 32
#define LOG_NUM_BANKS 5
#define CONFLICT_FREE_OFFSET(index) ((index) >> LOG_NUM_BANKS)

// Naive inclusive scan, double buffered (GPU Gems 3, listing 39-1)
__global__ void scan_naive(float *g_odata, const float *g_idata, float *sums)
{
    extern __shared__ float temp[]; // allocated on invocation
    int n = blockDim.x;
    int thid = threadIdx.x;
    int base = blockIdx.x * n;
    int pout = 0, pin = 1;

    temp[pout * n + thid] = g_idata[base + thid];
    __syncthreads();
    for (int offset = 1; offset < n; offset *= 2)
    {
        pout = 1 - pout; // swap double buffer indices
        pin = 1 - pout;
        if (thid >= offset)
            temp[pout * n + thid] = temp[pin * n + thid] + temp[pin * n + thid - offset];
        else
            temp[pout * n + thid] = temp[pin * n + thid];
        __syncthreads();
    }
    g_odata[base + thid] = temp[pout * n + thid];
    if (thid == n - 1)
        sums[blockIdx.x] = temp[pout * n + thid];
}

// Work-efficient exclusive scan
template <int N>
__global__ void prescan(int *g_odata, const int *g_idata, int *blockSums)
{
    __shared__ int temp[N + (N >> LOG_NUM_BANKS)];
    int thid = threadIdx.x;
    int offset = 1;
    const int blk = blockIdx.x * N;

    int ai = thid;
    int bi = thid + (N / 2);
    int bankOffsetA = CONFLICT_FREE_OFFSET(ai);
    int bankOffsetB = CONFLICT_FREE_OFFSET(bi);
    temp[ai + bankOffsetA] = g_idata[blk + ai];
    temp[bi + bankOffsetB] = g_idata[blk + bi];

    for (int d = N >> 1; d > 0; d >>= 1) // build sum in place up the tree
    {
        __syncthreads();
        if (thid < d)
        {
            int a = offset * (2 * thid + 1) - 1;
            int b = offset * (2 * thid + 2) - 1;
            a += CONFLICT_FREE_OFFSET(a);
            b += CONFLICT_FREE_OFFSET(b);
            temp[b] += temp[a];
        }
        offset *= 2;
    }
    if (thid == 0)
    {
        int last = N - 1 + CONFLICT_FREE_OFFSET(N - 1);
        blockSums[blockIdx.x] = temp[last];
        temp[last] = 0;
    }
    for (int d = 1; d < N; d *= 2) // traverse down tree & build scan
    {
        offset >>= 1;
        __syncthreads();
        if (thid < d)
        {
            int a = offset * (2 * thid + 1) - 1;
            int b = offset * (2 * thid + 2) - 1;
            a += CONFLICT_FREE_OFFSET(a);
            b += CONFLICT_FREE_OFFSET(b);
            int t = temp[a];
            temp[a] = temp[b];
            temp[b] += t;
        }
    }
    __syncthreads();
    g_odata[blk + ai] = temp[ai + bankOffsetA];
    g_odata[blk + bi] = temp[bi + bankOffsetB];
}

// Segmented inclusive scan: flag marks the head of a segment
struct SegPair { int v; int f; };

__global__ void segScanBlock(const int *vals, const int *flags, int *out, int n)
{
    const int BS = 256;
    __shared__ SegPair s[BS];
    int t = threadIdx.x;
    int i = blockIdx.x * BS + t;
    s[t].v = i < n ? vals[i] : 0;
    s[t].f = i < n ? (flags[i] == 12) : 1;
    __syncthreads();
    for (int d = 1; d < BS; d <<= 1) {
        SegPair cur = s[t], prev;
        prev.v = 0; prev.f = 0;
        if (t >= d) prev = s[t - d];
        __syncthreads();
        if (t >= d) {
            if (!cur.f) cur.v += prev.v;
            cur.f |= prev.f;
            s[t] = cur;
        }
        __syncthreads();
    }
    if (i < n) out[i] = s[t].v;
}

// Stream compaction inside the block: keep elements above a threshold, packed to the front
__global__ void __launch_bounds__(512) compactBlock(const float *in, float *out, int *counts, float thr, int n)
{
    __shared__ int pos[512];
    __shared__ float kept[512];
    const int t = threadIdx.x;
    const int g = blockIdx.x * 512 + t;
    float v = (g < n) ? in[g] : -1.0f;
    int keep = (v > thr) ? 1 : 0;
    pos[t] = keep;
    kept[t] = 0.0f;
    __syncthreads();
    for (int ofs = 1; ofs < 512; ofs *= 2) {
        int add = 0;
        if (t >= ofs) add = pos[t - ofs];
        __syncthreads();
        pos[t] += add;
        __syncthreads();
    }
    if (keep) kept[pos[t] - 1] = v;
    __syncthreads();
    if (g < n) out[g] = kept[t];
    if (t == 511) counts[blockIdx.x] = pos[511];
}

// one-bit split radix sort of a block of keys, all 16 bits
__device__ unsigned split_scan(unsigned p, unsigned *buf)
{
    unsigned i = threadIdx.x, n = blockDim.x;
    buf[i] = p;
    __syncthreads();
    for (unsigned o = 1; o < n; o <<= 1) {
        unsigned v = i >= o ? buf[i - o] : 0u;
        __syncthreads();
        buf[i] += v;
        __syncthreads();
    }
    unsigned r = buf[i];
    __syncthreads();
    return r;
}

__global__ void radix_split_sort(unsigned *keys)
{
    __shared__ unsigned val[256];
    __shared__ unsigned scanbuf[256];
    unsigned i = threadIdx.x;
    unsigned n = blockDim.x;
    unsigned *mine = keys + (size_t)blockIdx.x * n;
    unsigned x = mine[i];
    val[i] = ((x * 2654435761u) ^ (i * 40503u)) & 0xffffu;
    __syncthreads();
    for (unsigned bit = 0; bit < 16; ++bit) {
        unsigned k = val[i];
        unsigned b = (k >> bit) & 1u;
        unsigned ones_before = split_scan(b, scanbuf);       // inclusive
        unsigned total = scanbuf[n - 1];
        unsigned zeros = n - total;
        __syncthreads();
        if (b)
            val[zeros + ones_before - 1] = k;
        else
            val[i - ones_before] = k;
        __syncthreads();
    }
    mine[i] = val[i];
}

// max-plus scan: running best of (a + x) used for gap penalties; several elements per thread
#define ITEMS 4
__global__ void maxScan4(const int *in, int *out, int gap)
{
    __shared__ int blk[128];
    int loc[ITEMS];
    int base = (blockIdx.x * 128 + threadIdx.x) * ITEMS;
    int run = -1000000;
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) {
        int v = in[base + k] + gap * (threadIdx.x * ITEMS + k);
        run = max(run, v);
        loc[k] = run;
    }
    blk[threadIdx.x] = run;
    __syncthreads();
    for (int d = 1; d < 128; d *= 2) {
        int o = threadIdx.x >= d ? blk[threadIdx.x - d] : -1000000;
        __syncthreads();
        blk[threadIdx.x] = max(blk[threadIdx.x], o);
        __syncthreads();
    }
    int carry = threadIdx.x > 0 ? blk[threadIdx.x - 1] : -1000000;
#pragma unroll
    for (int k = 0; k < ITEMS; ++k)
        out[base + k] = max(loc[k], carry) - gap * (threadIdx.x * ITEMS + k);
}

int main()
{
    const int n = 1 << 24;
    {
        float *in = mk<float>(n), *out = mk<float>(n), *sums = mk<float>(n / 512);
        scan_naive<<<n / 512, 512, 2 * 512 * sizeof(float)>>>(out, in, sums);
        show("scan_naive", out, n * sizeof(float));
        int *cnt = mk<int>(n / 512);
        compactBlock<<<n / 512, 512>>>(in, out, cnt, 6.0f, n);
        show("compactBlock", out, n * sizeof(float));
    }
    {
        int *in = mk<int>(n), *out = mk<int>(n), *sums = mk<int>(n / 1024);
        prescan<1024><<<n / 1024, 512>>>(out, in, sums);
        show("prescan", out, n * sizeof(int));
        segScanBlock<<<(n - 100 + 255) / 256, 256>>>(in, in, out, n - 100);
        show("segScanBlock", out, n * sizeof(int));
        maxScan4<<<n / 512, 128>>>(in, out, -1);
        show("maxScan4", out, n * sizeof(int));
    }
    {
        int m = 1 << 22;
        unsigned *k = mk<unsigned>(m);
        radix_split_sort<<<m / 256, 256>>>(k);
        show("radix_split_sort", k, m * sizeof(unsigned));
    }
    return 0;
}
