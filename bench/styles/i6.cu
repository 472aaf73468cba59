// scan / sort / compaction building blocks
#include "shown.h"
#include <vector>
#include <cstdint>

// --- Hillis-Steele, double buffered (GPU Gems 3, naive) ---
__global__ void scan_naive(float *g_odata, const float *g_idata, int n)
{
    extern __shared__ float temp[]; // 2*n
    int thid = threadIdx.x;
    int pout = 0, pin = 1;
    const size_t base = (size_t)blockIdx.x * n;
    temp[pout*n + thid] = (thid > 0) ? g_idata[base + thid-1] : 0;
    __syncthreads();
    for (int offset = 1; offset < n; offset *= 2)
    {
        pout = 1 - pout;
        pin  = 1 - pout;
        if (thid >= offset)
            temp[pout*n+thid] = temp[pin*n+thid] + temp[pin*n+thid - offset];
        else
            temp[pout*n+thid] = temp[pin*n+thid];
        __syncthreads();
    }
    g_odata[base + thid] = temp[pout*n+thid];
}

// --- Blelloch with conflict free offsets ---
#define LOG_NUM_BANKS 5
#define CONFLICT_FREE_OFFSET(n) ((n) >> LOG_NUM_BANKS)
__global__ void prescan(int *g_odata, const int *g_idata, int *g_sums, int n)
{
    extern __shared__ int tmp[];
    int thid = threadIdx.x;
    int offset = 1;
    const int *in = g_idata + (size_t)blockIdx.x * n;
    int *out = g_odata + (size_t)blockIdx.x * n;
    int ai = thid, bi = thid + n/2;
    int bankA = CONFLICT_FREE_OFFSET(ai), bankB = CONFLICT_FREE_OFFSET(bi);
    tmp[ai + bankA] = in[ai];
    tmp[bi + bankB] = in[bi];
    for (int d = n>>1; d > 0; d >>= 1)
    {
        __syncthreads();
        if (thid < d)
        {
            int a = offset*(2*thid+1)-1, b = offset*(2*thid+2)-1;
            a += CONFLICT_FREE_OFFSET(a); b += CONFLICT_FREE_OFFSET(b);
            tmp[b] += tmp[a];
        }
        offset *= 2;
    }
    if (thid == 0)
    {
        int last = n - 1 + CONFLICT_FREE_OFFSET(n - 1);
        g_sums[blockIdx.x] = tmp[last];
        tmp[last] = 0;
    }
    for (int d = 1; d < n; d *= 2)
    {
        offset >>= 1;
        __syncthreads();
        if (thid < d)
        {
            int a = offset*(2*thid+1)-1, b = offset*(2*thid+2)-1;
            a += CONFLICT_FREE_OFFSET(a); b += CONFLICT_FREE_OFFSET(b);
            int t = tmp[a];
            tmp[a] = tmp[b];
            tmp[b] += t;
        }
    }
    __syncthreads();
    out[ai] = tmp[ai + bankA];
    out[bi] = tmp[bi + bankB];
}

// --- bitonic, key/value, in shared ---
__device__ inline void Comparator(uint32_t &kA, uint32_t &vA, uint32_t &kB, uint32_t &vB, bool dir)
{
    if ((kA > kB) == dir) { uint32_t t = kA; kA = kB; kB = t; t = vA; vA = vB; vB = t; }
}
template <unsigned LEN>
__global__ void bitonicKV(uint32_t *k, uint32_t *v)
{
    __shared__ uint32_t s_key[LEN], s_val[LEN];
    const size_t o = (size_t)blockIdx.x * LEN + threadIdx.x;
    s_key[threadIdx.x] = k[o];            s_val[threadIdx.x] = v[o];
    s_key[threadIdx.x + LEN/2] = k[o + LEN/2]; s_val[threadIdx.x + LEN/2] = v[o + LEN/2];
    for (unsigned size = 2; size <= LEN; size <<= 1)
    {
        bool ddd = (threadIdx.x & (size/2)) == 0;
        if (size == LEN) ddd = true;
        for (unsigned stride = size/2; stride > 0; stride >>= 1)
        {
            __syncthreads();
            unsigned pos = 2*threadIdx.x - (threadIdx.x & (stride-1));
            Comparator(s_key[pos], s_val[pos], s_key[pos+stride], s_val[pos+stride], ddd);
        }
    }
    __syncthreads();
    k[o] = s_key[threadIdx.x];            v[o] = s_val[threadIdx.x];
    k[o + LEN/2] = s_key[threadIdx.x + LEN/2]; v[o + LEN/2] = s_val[threadIdx.x + LEN/2];
}

// --- one block radix sort of a tile: 1 bit split per pass ---
template <int NT>
__device__ int block_excl_scan(int x, int *ws, int &total)
{
    int lane = threadIdx.x % 32, w = threadIdx.x / 32, incl = x;
    for (int d = 1; d < 32; d *= 2) {
        int y = __shfl_up_sync(0xffffffffu, incl, d);
        if (lane >= d) incl += y;
    }
    if (lane == 31) ws[w] = incl;
    __syncthreads();
    int before = 0;
    total = 0;
    for (int i = 0; i < NT/32; i++) { if (i < w) before += ws[i]; total += ws[i]; }
    __syncthreads();
    return before + incl - x;
}
template <int NT, int BITS>
__global__ void radix_split(const unsigned short *in, unsigned short *out)
{
    __shared__ unsigned short key[NT];
    __shared__ int ws[NT/32];
    key[threadIdx.x] = in[(size_t)blockIdx.x*NT + threadIdx.x];
    __syncthreads();
    for (int b = 0; b < BITS; b++) {
        unsigned short k = key[threadIdx.x];
        int one = (k >> b) & 1, total;
        int zerosBefore = block_excl_scan<NT>(1 - one, ws, total);
        int dst = one ? total + (int)threadIdx.x - zerosBefore : zerosBefore;
        key[dst] = k;
        __syncthreads();
    }
    out[(size_t)blockIdx.x*NT + threadIdx.x] = key[threadIdx.x];
}

// --- per-digit counting for LSD radix: private byte counters per thread laid out in shared ---
__global__ void digit_count(const unsigned *keys, int n, int shift, int *counts, int per)
{
    __shared__ unsigned char c[16][128];
    for (int d = 0; d < 16; d++) c[d][threadIdx.x] = 0;
    int b = blockIdx.x * 128 * per;
    for (int i = 0; i < per; i++) {
        int p = b + i * 128 + threadIdx.x;
        if (p < n) c[(keys[p] >> shift) & 15][threadIdx.x]++;
    }
    __syncthreads();
    if (threadIdx.x < 16) {
        int s = 0;
        for (int t = 0; t < 128; t++) s += c[threadIdx.x][t];
        counts[threadIdx.x * gridDim.x + blockIdx.x] = s;
    }
}

// --- merge path: each block merges its diagonal slice of two sorted arrays ---
__device__ int merge_path(const int *a, int na, const int *b, int nb, int diag)
{
    int lo = max(0, diag - nb), hi = min(diag, na);
    while (lo < hi) {
        int m = (lo + hi) / 2;
        if (a[m] <= b[diag - 1 - m]) lo = m + 1; else hi = m;
    }
    return lo;
}
template <int NT, int VT>
__global__ void merge_tiles(const int *a, int na, const int *b, int nb, int *out)
{
    __shared__ int s[NT * VT];
    int d0 = blockIdx.x * NT * VT, d1 = min(d0 + NT * VT, na + nb);
    int a0 = merge_path(a, na, b, nb, d0), a1 = merge_path(a, na, b, nb, d1);
    int b0 = d0 - a0, b1 = d1 - a1, ca = a1 - a0, cb = b1 - b0;
    for (int i = threadIdx.x; i < ca + cb; i += NT) s[i] = i < ca ? a[a0 + i] : b[b0 + i - ca];
    __syncthreads();
    int diag = min((int)threadIdx.x * VT, ca + cb);
    int i = merge_path(s, ca, s + ca, cb, diag), j = diag - i;
    int r[VT];
#pragma unroll
    for (int k = 0; k < VT; k++) {
        bool fromA = i < ca && (j >= cb || s[i] <= s[ca + j]);
        bool any = fromA || j < cb;
        r[k] = any ? (fromA ? s[i] : s[ca + j]) : 0;
        if (fromA) i++; else if (any) j++;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < VT; k++) if (diag + k < ca + cb && threadIdx.x * VT + k < NT * VT) s[threadIdx.x * VT + k] = r[k];
    __syncthreads();
    for (int q = threadIdx.x; q < ca + cb; q += NT) out[d0 + q] = s[q];
}

// --- compaction within a tile via ballot; tile-local output with count ---
__global__ void compact_ballot(const int *in, int *out, int *cnt, int n, int pivot)
{
    __shared__ int woff[9];
    int i = blockIdx.x * 256 + threadIdx.x, lane = threadIdx.x & 31, w = threadIdx.x >> 5;
    int x = i < n ? in[i] : 0;
    bool keep = i < n && x > pivot;
    unsigned m = __ballot_sync(0xffffffffu, keep);
    if (lane == 0) woff[w + 1] = __popc(m);
    if (threadIdx.x == 0) woff[0] = 0;
    __syncthreads();
    if (threadIdx.x == 0) for (int k = 1; k <= 8; k++) woff[k] += woff[k - 1];
    __syncthreads();
    if (keep) out[blockIdx.x * 256 + woff[w] + __popc(m & ((1u << lane) - 1))] = x;
    if (threadIdx.x == 0) cnt[blockIdx.x] = woff[8];
}

// --- segmented inclusive scan with head flags, (flag,value) struct operator ---
struct FV { int f; float v; };
__device__ FV combine(FV l, FV r) { FV o; o.f = l.f | r.f; o.v = r.f ? r.v : l.v + r.v; return o; }
__global__ void segscan(const float *x, const unsigned char *head, float *y, int n)
{
    __shared__ FV buf[2][256];
    int i = blockIdx.x * 256 + threadIdx.x, t = threadIdx.x, cur = 0;
    FV a = {1, 0.f};
    if (i < n) { a.f = t == 0 || head[i] == 3; a.v = x[i]; }
    buf[0][t] = a;
    __syncthreads();
    for (int d = 1; d < 256; d <<= 1) {
        FV r = buf[cur][t];
        if (t >= d) r = combine(buf[cur][t - d], r);
        buf[cur ^ 1][t] = r;
        cur ^= 1;
        __syncthreads();
    }
    if (i < n) y[i] = buf[cur][t].v;
}

int main()
{
    const int n = 1 << 23;
    std::vector<unsigned> h(n);
    unsigned s = 3;
    for (auto &x : h) { s ^= s << 13; s ^= s >> 17; s ^= s << 5; x = s; }
    unsigned *rnd, *val = mk<unsigned>(n);
    cudaMalloc(&rnd, n * 4ull);
    cudaMemcpy(rnd, h.data(), n * 4ull, cudaMemcpyHostToDevice);
    float *fi = mk<float>(n), *fo = mk<float>(n);
    int *ii = mk<int>(n), *io = mk<int>(n), *sums = mk<int>(n / 1024);
    scan_naive<<<n / 512, 512, 2 * 512 * 4>>>(fo, fi, 512);
    show("scan_naive", fo, n * 4ull);
    prescan<<<n / 1024, 512, (1024 + 32) * 4>>>(io, ii, sums, 1024);
    show("prescan", io, n * 4ull);
    show("prescan_sums", sums, n / 1024 * 4);
    digit_count<<<(n / 128 + 199) / 200, 128>>>(rnd, n, 12, sums, 200);
    show("digit_count", sums, n / 1024 * 4);
    unsigned short *so = mk<unsigned short>(n);
    radix_split<256, 16><<<n / 256, 256>>>((unsigned short *)rnd, so);
    show("radix_split", so, n * 2ull);
    {
        std::vector<int> a(3000001), b(2500000);
        int x = 0, y = 0;
        for (size_t i = 0; i < a.size(); i++) a[i] = x += h[i] % 7;
        for (size_t i = 0; i < b.size(); i++) b[i] = y += h[i + 5000] % 9;
        int na = (int)a.size(), nb = (int)b.size(), *da = mk<int>(na), *db = mk<int>(nb);
        cudaMemcpy(da, a.data(), na * 4ull, cudaMemcpyHostToDevice);
        cudaMemcpy(db, b.data(), nb * 4ull, cudaMemcpyHostToDevice);
        merge_tiles<128, 7><<<(na + nb + 895) / 896, 128>>>(da, na, db, nb, io);
        show("merge_tiles", io, 4ull * (na + nb));
    }
    compact_ballot<<<(n - 100 + 255) / 256, 256>>>(ii, io, (int *)val, n - 100, 5);
    show("compact_ballot", io, n * 4ull);
    show("compact_cnt", val, n / 256 * 4ull);
    unsigned char *hd = mk<unsigned char>(n);
    segscan<<<(n - 33 + 255) / 256, 256>>>(fi, hd, fo, n - 33);
    show("segscan", fo, n * 4ull);
    bitonicKV<1024><<<n / 1024, 512>>>(rnd, val);
    show("bitonicKV_k", rnd, n * 4ull);
    show("bitonicKV_v", val, n * 4ull);
    return 0;
}
