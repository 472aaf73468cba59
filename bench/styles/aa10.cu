// sorting, compression and column-store kernels
#include "shown.h"
#include <cstdint>
#include <vector>
#include <algorithm>

typedef unsigned long long u64;
typedef uint32_t u32;
typedef uint8_t u8;

static u32 lcg_state = 2463534242u;
static u32 lcg() { lcg_state = lcg_state * 1103515245u + 12345u; return lcg_state >> 3; }

template <typename T> T *to_device(const std::vector<T> &v)
{
    T *p = nullptr;
    cudaMalloc(&p, v.size() * sizeof(T));
    cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice);
    return p;
}

// ===== LSD radix sort of a tile, one bit at a time, 4 keys per thread
template <int BLOCK, int BITS>
__global__ void radixTileSortSplit(const u32 *in, u32 *out, int n, int shift)
{
    constexpr int ITEMS = 4, TILE = BLOCK * ITEMS;
    __shared__ u32 keys[TILE];
    __shared__ int scan[BLOCK];
    const int base = blockIdx.x * TILE, t = threadIdx.x;
    for (int i = t; i < TILE; i += BLOCK) keys[i] = base + i < n ? in[base + i] : 0xffffffffu;
    __syncthreads();
    for (int b = 0; b < BITS; ++b) {
        u32 k[ITEMS];
        int zeros = 0;
        for (int j = 0; j < ITEMS; ++j) {
            k[j] = keys[t * ITEMS + j];
            zeros += !((k[j] >> (shift + b)) & 1u);
        }
        scan[t] = zeros;
        __syncthreads();
        for (int d = 1; d < BLOCK; d <<= 1) {
            int v = t >= d ? scan[t - d] : 0;
            __syncthreads();
            scan[t] += v;
            __syncthreads();
        }
        const int total = scan[BLOCK - 1];
        int zpos = scan[t] - zeros;
        int opos = total + t * ITEMS - zpos;
        for (int j = 0; j < ITEMS; ++j) {
            if ((k[j] >> (shift + b)) & 1u) keys[opos++] = k[j];
            else keys[zpos++] = k[j];
        }
        __syncthreads();
    }
    for (int i = t; i < TILE; i += BLOCK)
        if (base + i < n) out[base + i] = keys[i];
}

// ===== longest match in a sliding window (LZ77 front end)
#define LZ_TILE 512
#define LZ_WIN 120
#define LZ_MAX 18
__global__ void lzWindowMatch(const u8 *src, u32 *match, int n)
{
    __shared__ u8 buf[LZ_WIN + LZ_TILE + LZ_MAX];
    const int start = blockIdx.x * LZ_TILE - LZ_WIN;
    for (int i = threadIdx.x; i < LZ_WIN + LZ_TILE + LZ_MAX; i += blockDim.x) {
        int g = start + i;
        buf[i] = (g >= 0 && g < n) ? src[g] : 0;
    }
    __syncthreads();
    for (int k = threadIdx.x; k < LZ_TILE; k += blockDim.x) {
        int pos = blockIdx.x * LZ_TILE + k;
        if (pos >= n) break;
        int limit = min(LZ_MAX, n - pos), reach = min(LZ_WIN, pos);
        int bestLen = 0, bestDist = 0;
        const u8 *cur = buf + LZ_WIN + k;
        for (int d = 1; d <= reach; ++d) {
            int l = 0;
            while (l < limit && cur[l] == cur[l - d]) ++l;
            if (l > bestLen) {
                bestLen = l;
                bestDist = d;
                if (l == limit) break;
            }
        }
        match[pos] = bestLen >= 3 ? (u32)(bestLen << 16 | bestDist) : (u32)cur[0];
    }
}

// ===== merge of two sorted sequences along merge-path diagonals
template <class It>
__device__ int mergePath(It a, int na, It b, int nb, int diag)
{
    int lo = max(0, diag - nb), hi = min(diag, na);
    while (lo < hi) {
        int mid = (lo + hi) >> 1;
        if (a[mid] <= b[diag - 1 - mid]) lo = mid + 1;
        else hi = mid;
    }
    return lo;
}

template <int NT, int VT>
__global__ void mergePathTiles(const int *A, int na, const int *B, int nb, int *C)
{
    __shared__ int sh[NT * VT];
    __shared__ int split[2];
    const int d0 = blockIdx.x * NT * VT, d1 = min(d0 + NT * VT, na + nb);
    if (threadIdx.x < 2) split[threadIdx.x] = mergePath(A, na, B, nb, threadIdx.x ? d1 : d0);
    __syncthreads();
    const int a0 = split[0], a1 = split[1], b0 = d0 - a0, b1 = d1 - a1;
    const int la = a1 - a0, lb = b1 - b0;
    for (int i = threadIdx.x; i < la + lb; i += NT) sh[i] = i < la ? A[a0 + i] : B[b0 + i - la];
    __syncthreads();
    int td = min((int)threadIdx.x * VT, la + lb);
    int ai = mergePath((const int *)sh, la, (const int *)sh + la, lb, td), bi = td - ai;
    int r[VT];
#pragma unroll
    for (int k = 0; k < VT; ++k) {
        r[k] = 0;
        if (td + k < la + lb) {
            bool takeA = bi >= lb || (ai < la && sh[ai] <= sh[la + bi]);
            r[k] = takeA ? sh[ai++] : sh[la + bi++];
        }
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < VT; ++k)
        if (td + k < la + lb) sh[td + k] = r[k];
    __syncthreads();
    for (int i = threadIdx.x; i < la + lb; i += NT) C[d0 + i] = sh[i];
}

// ===== run-length encoding of independent 512-byte pages
#define PAGE 512
__global__ void rleEncodePages(const u8 *raw, u8 *vals, uint16_t *lens, int *runs, int n)
{
    __shared__ u8 v[PAGE];
    __shared__ int pre[2][PAGE];
    __shared__ int starts[PAGE];
    int t = threadIdx.x, g = blockIdx.x * PAGE + t;
    int m = min(PAGE, n - (int)blockIdx.x * PAGE);
    v[t] = t < m ? raw[g] : 0;
    __syncthreads();
    int head = t < m && (t == 0 || v[t] != v[t - 1]);
    int cur = 0;
    pre[0][t] = head;
    __syncthreads();
    for (int off = 1; off < PAGE; off *= 2) {
        pre[cur ^ 1][t] = pre[cur][t] + (t >= off ? pre[cur][t - off] : 0);
        cur ^= 1;
        __syncthreads();
    }
    int count = pre[cur][PAGE - 1];
    if (head) starts[pre[cur][t] - 1] = t;
    __syncthreads();
    if (t < count) {
        int s = starts[t], e = t + 1 < count ? starts[t + 1] : m;
        vals[(size_t)blockIdx.x * PAGE + t] = v[s];
        lens[(size_t)blockIdx.x * PAGE + t] = (uint16_t)(e - s);
    }
    if (t == 0) runs[blockIdx.x] = count;
}

// ===== prefix-code decoding with an 8-bit table, independent streams, word-interleaved
#define HUF_SYMS 48
template <int TPB>
__global__ void huffmanDecodeLut(const u32 *words, const uint16_t *lut, u8 *out, int nstreams)
{
    __shared__ uint16_t table[256];
    __shared__ u8 sym[TPB][HUF_SYMS + 4];
    for (int i = threadIdx.x; i < 256; i += TPB) table[i] = lut[i];
    __syncthreads();
    const int s = blockIdx.x * TPB + threadIdx.x;
    if (s < nstreams) {
        u64 bits = 0;
        int have = 0, w = 0;
        for (int k = 0; k < HUF_SYMS; k++) {
            if (have < 32) {
                bits |= (u64)words[(size_t)w++ * nstreams + s] << (32 - have);
                have += 32;
            }
            uint16_t e = table[bits >> 56];
            sym[threadIdx.x][k] = e >> 8;
            bits <<= e & 255;
            have -= e & 255;
        }
    }
    __syncthreads();
    const int live = min(TPB, nstreams - (int)blockIdx.x * TPB);
    for (int i = threadIdx.x; i < live * HUF_SYMS; i += TPB)
        out[(size_t)blockIdx.x * TPB * HUF_SYMS + i] = sym[i / HUF_SYMS][i % HUF_SYMS];
}

// ===== SELECT key, sum(v), count(*), max(v) GROUP BY key, few keys
#define GROUPS 200
struct Agg { u64 sum; u32 cnt; int mx; };
__global__ void groupBySumCountMax(const u8 *__restrict__ key, const int *__restrict__ val, Agg *result, int n)
{
    __shared__ u64 s_sum[GROUPS];
    __shared__ u32 s_cnt[GROUPS];
    __shared__ int s_max[GROUPS];
    for (int g = threadIdx.x; g < GROUPS; g += blockDim.x) { s_sum[g] = 0; s_cnt[g] = 0; s_max[g] = INT32_MIN; }
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int g = key[i];
        int v = val[i];
        atomicAdd(&s_sum[g], (u64)(long long)v);
        atomicAdd(&s_cnt[g], 1u);
        atomicMax(&s_max[g], v);
    }
    __syncthreads();
    for (int g = threadIdx.x; g < GROUPS; g += blockDim.x)
        if (s_cnt[g]) {
            atomicAdd(&result[g].sum, s_sum[g]);
            atomicAdd(&result[g].cnt, s_cnt[g]);
            atomicMax(&result[g].mx, s_max[g]);
        }
}

// ===== frame-of-reference + bit packing, 256 values per block
__global__ void forBitpack256(const u32 *col, u32 *packed, int nblocks)
{
    __shared__ u32 d[256];
    __shared__ u32 lo[8], hi[8];
    const int t = threadIdx.x;
    const u32 x = col[(size_t)blockIdx.x * 256 + t];
    u32 mn = __reduce_min_sync(0xffffffffu, x), mx = __reduce_max_sync(0xffffffffu, x);
    if ((t & 31) == 0) { lo[t >> 5] = mn; hi[t >> 5] = mx; }
    __syncthreads();
    mn = lo[0];
    mx = hi[0];
    for (int i = 1; i < 8; i++) { mn = min(mn, lo[i]); mx = max(mx, hi[i]); }
    d[t] = x - mn;
    __syncthreads();
    const int width = mx == mn ? 0 : 32 - __clz(mx - mn);
    u32 *dst = packed + (size_t)blockIdx.x * 258;
    if (t == 0) { dst[0] = mn; dst[1] = width; }
    if (t < 8 * width) {
        u32 word = 0;
        int first = t * 32 / width, last = (t * 32 + 31) / width;
        for (int v = first; v <= last; v++) {
            int off = v * width - t * 32;
            word |= off >= 0 ? d[v] << off : d[v] >> -off;
        }
        dst[2 + t] = word;
    }
}

// ===== top-16 of every column by a private binary heap
#define TOPK 16
__global__ void columnTopKHeap(const float *score, float *top, int rows, int cols)
{
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= cols) return;
    float heap[TOPK];                   // min-heap
    int size = 0;
    for (int r = 0; r < rows; ++r) {
        float v = score[(size_t)r * cols + c] * (float)(1 + (r * 29 + c) % 17);
        if (size < TOPK) {
            int i = size++;
            while (i > 0 && heap[(i - 1) / 2] > v) {
                heap[i] = heap[(i - 1) / 2];
                i = (i - 1) / 2;
            }
            heap[i] = v;
        } else if (v > heap[0]) {
            int i = 0;
            for (;;) {
                int ch = 2 * i + 1;
                if (ch >= TOPK) break;
                if (ch + 1 < TOPK && heap[ch + 1] < heap[ch]) ch++;
                if (heap[ch] >= v) break;
                heap[i] = heap[ch];
                i = ch;
            }
            heap[i] = v;
        }
    }
    // pop in ascending order
    for (int k = 0; k < TOPK; ++k) {
        top[(size_t)k * cols + c] = heap[0];
        float v = heap[--size];
        int i = 0;
        for (;;) {
            int ch = 2 * i + 1;
            if (ch >= size) break;
            if (ch + 1 < size && heap[ch + 1] < heap[ch]) ch++;
            if (heap[ch] >= v) break;
            heap[i] = heap[ch];
            i = ch;
        }
        heap[i] = v;
    }
}

int main()
{
    {
        int n = 7000001;
        std::vector<u32> h(n);
        for (auto &x : h) x = lcg();
        u32 *a = to_device(h), *b = mk<u32>(n);
        radixTileSortSplit<256, 6><<<(n + 1023) / 1024, 256>>>(a, b, n, 9);
        show("radixTileSortSplit", b, (size_t)n * 4);
    }
    {
        int n = 6000100;
        std::vector<u8> h(n);
        for (int i = 0; i < n; i++) h[i] = i > 70 && (lcg() & 63) > 3 ? h[i - 5 - (i >> 9) % 60] : (u8)(lcg() >> 5);
        u8 *s = to_device(h);
        u32 *m = mk<u32>(n);
        lzWindowMatch<<<(n + LZ_TILE - 1) / LZ_TILE, 256>>>(s, m, n);
        show("lzWindowMatch", m, (size_t)n * 4);
    }
    {
        int na = 4000037, nb = 5100003;
        std::vector<int> a(na), b(nb);
        int x = 0;
        for (auto &v : a) v = x += lcg() % 9;
        x = 5;
        for (auto &v : b) v = x += lcg() % 7;
        int *da = to_device(a), *db = to_device(b), *c = mk<int>(na + nb);
        mergePathTiles<128, 7><<<(na + nb + 128 * 7 - 1) / (128 * 7), 128>>>(da, na, db, nb, c);
        show("mergePathTiles", c, (size_t)(na + nb) * 4);
    }
    {
        int n = 12000333, pages = (n + PAGE - 1) / PAGE;
        std::vector<u8> h(n);
        for (int i = 0; i < n; i++) h[i] = i && (lcg() & 7) ? h[i - 1] : (u8)lcg();
        u8 *r = to_device(h), *v = mk<u8>((size_t)pages * PAGE);
        uint16_t *l = mk<uint16_t>((size_t)pages * PAGE);
        int *c = mk<int>(pages);
        rleEncodePages<<<pages, PAGE>>>(r, v, l, c, n);
        show("rleEncodePages", l, (size_t)pages * PAGE * 2);
    }
    {
        int ns = 300000;
        std::vector<u32> w((size_t)ns * 16);
        for (auto &x : w) x = lcg() ^ (lcg() << 11);
        std::vector<uint16_t> lut(256);
        for (int i = 0; i < 256; i++) {
            int lead = 0;
            while (lead < 4 && (i & (0x80 >> lead))) lead++;
            lut[i] = lead < 4 ? (uint16_t)((('a' + lead) << 8) | (lead + 1)) : (uint16_t)(((i & 15) + 'A') << 8 | 8);
        }
        u32 *dw = to_device(w);
        uint16_t *dl = to_device(lut);
        u8 *o = mk<u8>((size_t)ns * HUF_SYMS);
        huffmanDecodeLut<192><<<(ns + 191) / 192, 192>>>(dw, dl, o, ns);
        show("huffmanDecodeLut", o, (size_t)ns * HUF_SYMS);
    }
    {
        int n = 16000000;
        std::vector<u8> k(n);
        for (auto &x : k) x = lcg() % GROUPS;
        u8 *dk = to_device(k);
        int *v = mk<int>(n);
        std::vector<Agg> z(GROUPS, Agg{0, 0, INT32_MIN});
        Agg *r = to_device(z);
        groupBySumCountMax<<<792, 384>>>(dk, v, r, n);
        show("groupBySumCountMax", r, GROUPS * sizeof(Agg));
    }
    {
        int nb = 40000;
        std::vector<u32> h((size_t)nb * 256);
        for (size_t i = 0; i < h.size(); i++) h[i] = (u32)(1000000 + i * 3) + (lcg() & ((2u << ((i >> 8) % 25)) - 1));
        u32 *c = to_device(h), *p = mk<u32>((size_t)nb * 258);
        forBitpack256<<<nb, 256>>>(c, p, nb);
        show("forBitpack256", p, (size_t)nb * 258 * 4);
    }
    {
        int rows = 300, cols = 90001;
        float *s = mk<float>((size_t)rows * cols), *t = mk<float>((size_t)TOPK * cols);
        columnTopKHeap<<<(cols + 63) / 64, 64>>>(s, t, rows, cols);
        show("columnTopKHeap", t, (size_t)TOPK * cols * 4);
    }
    return 0;
}
