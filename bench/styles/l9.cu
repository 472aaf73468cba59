// l9 -- pieces of a query engine: compaction, splits, grouped scans, sorts, joins, fingerprints.
#include "shown.h"
#include <cstdint>
#include <climits>

template <class T>
T *column(std::size_t rows, uint64_t modulus, uint64_t seed)
{
    T *h = static_cast<T *>(std::malloc(rows * sizeof(T)));
    for (std::size_t i = 0; i < rows; ++i) {
        uint64_t z = (seed += 0x9E3779B97F4A7C15ull);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
        z ^= z >> 31;
        h[i] = static_cast<T>(z % modulus);
    }
    T *d;
    cudaMalloc(&d, rows * sizeof(T));
    cudaMemcpy(d, h, rows * sizeof(T), cudaMemcpyHostToDevice);
    std::free(h);
    return d;
}

struct GreaterThan {
    int bound;
    __device__ bool operator()(int v) const { return v > bound; }
};

// class 3: selection of rows; the flags' scan gives the places
template <int TB, class Pred>
__global__ void select_if(const int *__restrict__ in, int *__restrict__ out, int *__restrict__ counts, int n, Pred pred)
{
    __shared__ int places[TB];
    const int gid = blockIdx.x * TB + threadIdx.x;
    const int v = gid < n ? in[gid] : 0;
    const int keep = gid < n && pred(v) ? 1 : 0;
    places[threadIdx.x] = keep;
    __syncthreads();
#pragma unroll
    for (int d = 1; d < TB; d <<= 1) {
        const int left = threadIdx.x >= d ? places[threadIdx.x - d] : 0;
        __syncthreads();
        places[threadIdx.x] += left;
        __syncthreads();
    }
    if (keep) out[blockIdx.x * TB + places[threadIdx.x] - 1] = v;
    if (threadIdx.x == TB - 1) counts[blockIdx.x] = places[TB - 1];
}

// class 7: radix sort of a tile, a split per bit, keys moved to scanned places
template <int BITS>
__global__ void radix_tile(uint32_t *keys)
{
    __shared__ uint32_t k_s[512];
    __shared__ uint32_t scan_s[512];
    const uint32_t t = threadIdx.x;
    uint32_t key = keys[blockIdx.x * 512 + t];
    for (int b = 0; b < BITS; ++b) {
        const uint32_t zero = (key >> b & 1u) ^ 1u;
        scan_s[t] = zero;
        __syncthreads();
        for (uint32_t d = 1; d < 512; d <<= 1) {
            uint32_t x = t >= d ? scan_s[t - d] : 0u;
            __syncthreads();
            scan_s[t] += x;
            __syncthreads();
        }
        const uint32_t zeros = scan_s[511];
        const uint32_t before = scan_s[t] - zero;
        k_s[zero ? before : zeros + t - before] = key;
        __syncthreads();
        key = k_s[t];
        __syncthreads();
    }
    keys[blockIdx.x * 512 + t] = key;
}

// class 3: segmented inclusive scan, heads flagged, values and flags in two arrays
__global__ void segmented_scan(const int *values, const unsigned char *heads, int *out)
{
    __shared__ int val[128];
    __shared__ int flg[128];
    const unsigned lane = threadIdx.x;
    const size_t g = (size_t)blockIdx.x * 128 + lane;
    val[lane] = values[g];
    flg[lane] = heads[g] == 0;
    for (unsigned d = 1; d < 128; d *= 2) {
        __syncthreads();
        int v = val[lane], f = flg[lane];
        if (lane >= d) {
            if (!f) v += val[lane - d];
            f |= flg[lane - d];
        }
        __syncthreads();
        val[lane] = v;
        flg[lane] = f;
    }
    out[g] = val[lane];
}

// class 2: exclusive scan of 2048 long longs by 1024 threads, up-sweep and down-sweep
__global__ void __launch_bounds__(1024) offsets_scan(const long long *len, long long *off, long long *total)
{
    __shared__ long long t[2048];
    const int th = threadIdx.x;
    const size_t base = (size_t)blockIdx.x * 2048;
    t[2 * th] = len[base + 2 * th];
    t[2 * th + 1] = len[base + 2 * th + 1];
    int step = 1;
    for (int d = 1024; d > 0; d >>= 1) {
        __syncthreads();
        if (th < d) {
            const int a = step * (2 * th + 1) - 1;
            const int b = step * (2 * th + 2) - 1;
            t[b] += t[a];
        }
        step <<= 1;
    }
    __syncthreads();
    if (th == 0) {
        total[blockIdx.x] = t[2047];
        t[2047] = 0;
    }
    for (int d = 1; d < 2048; d <<= 1) {
        step >>= 1;
        __syncthreads();
        if (th < d) {
            const int a = step * (2 * th + 1) - 1;
            const int b = step * (2 * th + 2) - 1;
            const long long x = t[a];
            t[a] = t[b];
            t[b] += x;
        }
    }
    __syncthreads();
    off[base + 2 * th] = t[2 * th];
    off[base + 2 * th + 1] = t[2 * th + 1];
}

// class 4: bitonic sort of keys, xor partners, each thread keeps its own place
template <unsigned N>
__global__ void bitonic_keys(unsigned *keys)
{
    __shared__ unsigned s[N];
    const unsigned tid = threadIdx.x;
    s[tid] = keys[blockIdx.x * N + tid];
    __syncthreads();
    for (unsigned k = 2; k <= N; k *= 2) {
        for (unsigned j = k / 2; j > 0; j /= 2) {
            const unsigned ixj = tid ^ j;
            if (ixj > tid) {
                if ((tid & k) == 0) {
                    if (s[tid] > s[ixj]) {
                        unsigned tmp = s[tid];
                        s[tid] = s[ixj];
                        s[ixj] = tmp;
                    }
                } else {
                    if (s[tid] < s[ixj]) {
                        unsigned tmp = s[tid];
                        s[tid] = s[ixj];
                        s[ixj] = tmp;
                    }
                }
            }
            __syncthreads();
        }
    }
    keys[blockIdx.x * N + tid] = s[tid];
}

struct Record {
    int key;
    int rowid;
};
__device__ inline bool before(const Record &a, const Record &b) { return a.key < b.key || (a.key == b.key && a.rowid < b.rowid); }

// class 4: records of two words, mirrored first step of each merge, two records a thread
__global__ void sort_records(const int *keys, Record *out)
{
    __shared__ Record rec[256];
    const int t = threadIdx.x;
    for (int k = 0; k < 2; ++k) {
        const int i = t + k * 128;
        rec[i].key = keys[blockIdx.x * 256 + i];
        rec[i].rowid = i;
    }
    __syncthreads();
    for (int size = 2; size <= 256; size <<= 1) {
        {
            const int half = size >> 1;
            const int q = t & (half - 1);
            const int lo = (t - q) * 2 + q;
            const int hi = (t - q) * 2 + size - 1 - q;
            const Record a = rec[lo], b = rec[hi];
            if (before(b, a)) {
                rec[lo] = b;
                rec[hi] = a;
            }
            __syncthreads();
        }
        for (int half = size >> 2; half > 0; half >>= 1) {
            const int q = t & (half - 1);
            const int lo = (t - q) * 2 + q;
            const Record a = rec[lo], b = rec[lo + half];
            if (before(b, a)) {
                rec[lo] = b;
                rec[lo + half] = a;
            }
            __syncthreads();
        }
    }
    out[blockIdx.x * 256 + t] = rec[t];
    out[blockIdx.x * 256 + t + 128] = rec[t + 128];
}

__device__ __forceinline__ uint32_t times_x(uint32_t v, uint32_t poly) { return (v << 1) ^ ((v >> 31) * poly); }
__device__ uint32_t polymod_mul(uint32_t a, uint32_t b)
{
    uint32_t r = 0;
    for (int i = 31; i >= 0; --i) {
        r = times_x(r, 0x04C11DB7u);
        if (a >> i & 1u) r ^= b;
    }
    return r;
}

// class 6: rolling fingerprints of all prefixes, a scan with the operator l*x^(32 s) + r in GF(2)[x]
__global__ void rabin_prefixes(const uint32_t *words, uint32_t *prints)
{
    __shared__ uint32_t fp[256];
    const int t = threadIdx.x;
    fp[t] = words[blockIdx.x * 256 + t];
    uint32_t power = 0x04C11DB7u;
    __syncthreads();
    for (int s = 1; s < 256; s <<= 1) {
        uint32_t add = 0;
        if (t >= s) add = polymod_mul(power, fp[t - s]);
        __syncthreads();
        fp[t] ^= add;
        power = polymod_mul(power, power);
        __syncthreads();
    }
    prints[blockIdx.x * 256 + t] = fp[t];
}

#define EMPTY 0xffffffffu
// class 7: hash table in shared memory, built with compare-and-swap, then probed
__global__ void hash_group_probe(const uint32_t *build, const int *payload, const uint32_t *probe, int *answer)
{
    __shared__ uint32_t slot[1024];
    __shared__ int sum[1024];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) {
        slot[i] = EMPTY;
        sum[i] = 0;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 512; i += blockDim.x) {
        const uint32_t key = build[blockIdx.x * 512 + i];
        uint32_t h = (key * 2654435761u) >> 22;
        while (true) {
            const uint32_t old = atomicCAS(&slot[h], EMPTY, key);
            if (old == EMPTY || old == key) {
                atomicAdd(&sum[h], payload[blockIdx.x * 512 + i]);
                break;
            }
            h = (h + 1) & 1023u;
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 512; i += blockDim.x) {
        const uint32_t key = probe[blockIdx.x * 512 + i];
        uint32_t h = (key * 2654435761u) >> 22;
        int found = -1;
        while (slot[h] != EMPTY) {
            if (slot[h] == key) {
                found = sum[h];
                break;
            }
            h = (h + 1) & 1023u;
        }
        answer[blockIdx.x * 512 + i] = found;
    }
}

struct Aggregate {
    long long sum;
    int count, smallest, largest;
};

// class 2: sum, count, least and greatest of a block's rows: four arrays of 1024
__global__ void aggregate_block(const int *col, const unsigned char *valid, Aggregate *agg, int n)
{
    __shared__ long long s_sum[1024];
    __shared__ int s_cnt[1024];
    __shared__ int s_min[1024];
    __shared__ int s_max[1024];
    const unsigned tid = threadIdx.x;
    long long sum = 0;
    int cnt = 0, mn = INT_MAX, mx = INT_MIN;
    for (int i = blockIdx.x * blockDim.x + tid; i < n; i += gridDim.x * blockDim.x) {
        if (valid[i]) {
            const int v = col[i];
            sum += v;
            cnt++;
            mn = min(mn, v);
            mx = max(mx, v);
        }
    }
    s_sum[tid] = sum;
    s_cnt[tid] = cnt;
    s_min[tid] = mn;
    s_max[tid] = mx;
    __syncthreads();
    for (unsigned off = blockDim.x >> 1; off > 0; off >>= 1) {
        if (tid < off) {
            s_sum[tid] += s_sum[tid + off];
            s_cnt[tid] += s_cnt[tid + off];
            s_min[tid] = min(s_min[tid], s_min[tid + off]);
            s_max[tid] = max(s_max[tid], s_max[tid + off]);
        }
        __syncthreads();
    }
    if (!tid) {
        agg[blockIdx.x].sum = s_sum[0];
        agg[blockIdx.x].count = s_cnt[0];
        agg[blockIdx.x].smallest = s_min[0];
        agg[blockIdx.x].largest = s_max[0];
    }
}

__device__ unsigned ccitt_mul(unsigned a, unsigned b)
{
    unsigned r = 0;
#pragma unroll
    for (int i = 15; i >= 0; --i) {
        r = (r << 1) ^ (r & 0x8000u ? 0x11021u : 0u);
        if (a >> i & 1u) r ^= b;
    }
    return r & 0xffffu;
}

// class 6: CRC-16 of 192-byte rows by folding: the upper half times a power of x onto the lower, 96 threads
__global__ void crc16_fold(const unsigned short *rows, unsigned short *crc)
{
    __shared__ unsigned short f[96];
    const int t = threadIdx.x;
    f[t] = rows[blockIdx.x * 96 + t];
    __syncthreads();
    for (int n = 48; n >= 3; n /= 2) {
        unsigned k = 0x1021u;                       // x^16
        unsigned fold = 1u;
        for (int e = n; e; e >>= 1) {
            if (e & 1) fold = ccitt_mul(fold, k);
            k = ccitt_mul(k, k);
        }
        if (t < n) f[t] = (unsigned short)(ccitt_mul(f[t], fold) ^ f[t + n]);
        __syncthreads();
    }
    if (t == 0) {
        unsigned c = ccitt_mul(f[0], 0x1021u) ^ f[1];
        c = ccitt_mul(c, 0x1021u) ^ f[2];
        crc[blockIdx.x] = (unsigned short)ccitt_mul(c, 0x1021u);
    }
}

int main()
{
    {
        int n = (1 << 24) - 100;
        int *in = column<int>(n, 1000, 1), *out = column<int>(1 << 24, 1, 2), *cnt = column<int>(1 << 17, 1, 3);
        select_if<256><<<(n + 255) / 256, 256>>>(in, out, cnt, n, GreaterThan{617});
        show("select_if", out, (size_t)n * 4);
        unsigned char *valid = column<unsigned char>(n, 4, 4);
        Aggregate *agg = (Aggregate *)column<char>(512 * sizeof(Aggregate), 1, 5);
        aggregate_block<<<512, 1024>>>(in, valid, agg, n);
        show("aggregate_block", agg, 512 * sizeof(Aggregate));
        segmented_scan<<<n / 128, 128>>>(in, valid, out);
        show("segmented_scan", out, (size_t)(n / 128) * 128 * 4);
        Record *rec = (Record *)column<int>(1 << 25, 1, 6);
        sort_records<<<n / 256, 128>>>(in, rec);
        show("sort_records", rec, (size_t)(n / 256) * 256 * sizeof(Record));
    }
    {
        size_t n = 1 << 23;
        uint32_t *k = column<uint32_t>(n, 1u << 16, 7);
        radix_tile<16><<<(int)(n / 512), 512>>>(k);
        show("radix_tile_16", k, n * 4);
        unsigned *u = column<unsigned>(n, 1ull << 32, 8);
        rabin_prefixes<<<(int)(n / 256), 256>>>(u, k);
        show("rabin_prefixes", k, n * 4);
        unsigned short *c = column<unsigned short>(1 << 18, 1, 9);
        int rows = (int)(n * 2 / 96);
        crc16_fold<<<rows, 96>>>((unsigned short *)u, c);
        show("crc16_fold", c, rows * 2);
        bitonic_keys<1024><<<(int)(n / 1024), 1024>>>(u);
        show("bitonic_keys_1024", u, n * 4);
    }
    {
        size_t n = 1 << 22;
        long long *len = column<long long>(n, 1ull << 40, 10), *off = column<long long>(n, 1, 11), *tot = column<long long>(n / 2048, 1, 12);
        offsets_scan<<<(int)(n / 2048), 1024>>>(len, off, tot);
        show("offsets_scan", off, n * 8);
        uint32_t *b = column<uint32_t>(n, 700, 13), *p = column<uint32_t>(n, 900, 14);
        int *pay = column<int>(n, 100, 15), *ans = column<int>(n, 1, 16);
        hash_group_probe<<<(int)(n / 512), 128>>>(b, pay, p, ans);
        show("hash_group_probe", ans, n * 4);
    }
    return 0;
}
