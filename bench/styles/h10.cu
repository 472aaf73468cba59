// h10: sorting, searching, graphs
#include "shown.h"
#include <vector>
#include <climits>
typedef unsigned int uint;
typedef unsigned long long ull;
static uint lcg_state = 42;
static uint lcg() { lcg_state = lcg_state * 1664525u + 1013904223u; return lcg_state ^ (lcg_state >> 16); }

#define SHARED_SIZE_LIMIT 1024U

__device__ inline void Comparator(uint &keyA, uint &valA, uint &keyB, uint &valB, uint dir)
{
    uint t;
    if ((keyA > keyB) == dir) {
        t = keyA; keyA = keyB; keyB = t;
        t = valA; valA = valB; valB = t;
    }
}

// bitonic sort of 1024 pairs per block
__global__ void bitonicSortShared(uint *d_DstKey, uint *d_DstVal, const uint *d_SrcKey, const uint *d_SrcVal, uint arrayLength, uint dir)
{
    __shared__ uint s_key[SHARED_SIZE_LIMIT];
    __shared__ uint s_val[SHARED_SIZE_LIMIT];

    d_SrcKey += blockIdx.x * SHARED_SIZE_LIMIT + threadIdx.x;
    d_SrcVal += blockIdx.x * SHARED_SIZE_LIMIT + threadIdx.x;
    d_DstKey += blockIdx.x * SHARED_SIZE_LIMIT + threadIdx.x;
    d_DstVal += blockIdx.x * SHARED_SIZE_LIMIT + threadIdx.x;
    s_key[threadIdx.x + 0] = d_SrcKey[0];
    s_val[threadIdx.x + 0] = d_SrcVal[0];
    s_key[threadIdx.x + (SHARED_SIZE_LIMIT / 2)] = d_SrcKey[(SHARED_SIZE_LIMIT / 2)];
    s_val[threadIdx.x + (SHARED_SIZE_LIMIT / 2)] = d_SrcVal[(SHARED_SIZE_LIMIT / 2)];

    for (uint size = 2; size < arrayLength; size <<= 1) {
        uint ddd = dir ^ ((threadIdx.x & (size / 2)) != 0);
        for (uint stride = size / 2; stride > 0; stride >>= 1) {
            __syncthreads();
            uint pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
            Comparator(s_key[pos + 0], s_val[pos + 0], s_key[pos + stride], s_val[pos + stride], ddd);
        }
    }
    for (uint stride = arrayLength / 2; stride > 0; stride >>= 1) {
        __syncthreads();
        uint pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
        Comparator(s_key[pos + 0], s_val[pos + 0], s_key[pos + stride], s_val[pos + stride], dir);
    }
    __syncthreads();
    d_DstKey[0] = s_key[threadIdx.x + 0];
    d_DstVal[0] = s_val[threadIdx.x + 0];
    d_DstKey[(SHARED_SIZE_LIMIT / 2)] = s_key[threadIdx.x + (SHARED_SIZE_LIMIT / 2)];
    d_DstVal[(SHARED_SIZE_LIMIT / 2)] = s_val[threadIdx.x + (SHARED_SIZE_LIMIT / 2)];
}

// one radix pass of 4 bits inside a block: per-thread digit counters in shared, scanned
#define RB 128
#define RK 8
__global__ void radix_local_sort(const uint *in, uint *out, uint *blockHist, int shift, int n)
{
    __shared__ unsigned short cnt[16][RB];
    __shared__ uint keys[RB * RK];
    __shared__ uint total[16];
    const int t = threadIdx.x;
    const int base = blockIdx.x * RB * RK;
    uint mine[RK];
    unsigned short rank[RK];
    for (int d = 0; d < 16; d++) cnt[d][t] = 0;
    for (int k = 0; k < RK; k++) {
        int g = base + t * RK + k;
        mine[k] = g < n ? in[g] : 0xffffffffu;
        int d = (mine[k] >> shift) & 15;
        rank[k] = cnt[d][t]++;
    }
    __syncthreads();
    if (t < 16) {
        uint run = 0;
        for (int i = 0; i < RB; i++) { uint c = cnt[t][i]; cnt[t][i] = run; run += c; }
        total[t] = run;
    }
    __syncthreads();
    if (t == 0) {
        uint run = 0;
        for (int d = 0; d < 16; d++) { uint c = total[d]; blockHist[d * gridDim.x + blockIdx.x] = c; total[d] = run; run += c; }
    }
    __syncthreads();
    for (int k = 0; k < RK; k++) {
        int d = (mine[k] >> shift) & 15;
        keys[total[d] + cnt[d][t] + rank[k]] = mine[k];
    }
    __syncthreads();
    for (int i = t; i < RB * RK; i += RB)
        if (base + i < n) out[base + i] = keys[i];
}

// quicksort of small segments, explicit stack in a local array
__device__ int partition_(int *v, int lo, int hi)
{
    int p = v[(lo + hi) >> 1], i = lo - 1, j = hi + 1;
    for (;;) {
        do i++; while (v[i] < p);
        do j--; while (v[j] > p);
        if (i >= j) return j;
        int t = v[i]; v[i] = v[j]; v[j] = t;
    }
}
__global__ void segment_quicksort(int *data, const int *seg, int nseg)
{
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= nseg) return;
    int buf[64], stk[32];
    int b = seg[s], len = seg[s + 1] - b;
    for (int i = 0; i < len; i++) buf[i] = data[b + i];
    int top = 0;
    stk[top++] = 0;
    stk[top++] = len - 1;
    while (top > 0) {
        int hi = stk[--top], lo = stk[--top];
        while (lo < hi) {
            int m = partition_(buf, lo, hi);
            if (m - lo < hi - m - 1) { stk[top++] = m + 1; stk[top++] = hi; hi = m; }
            else { stk[top++] = lo; stk[top++] = m; lo = m + 1; }
        }
    }
    for (int i = 0; i < len; i++) data[b + i] = buf[i];
}

// blocked Floyd-Warshall, phase 3 (all independent tiles against row / column of the pivot)
#define FW_B 32
__global__ void fw_phase3(const int *__restrict__ din, int *__restrict__ dout, int n, int pivot)
{
    __shared__ int rowT[FW_B][FW_B];
    __shared__ int colT[FW_B][FW_B + 1];
    int bi = blockIdx.y, bj = blockIdx.x;
    int i = bi * FW_B + threadIdx.y, j = bj * FW_B + threadIdx.x;
    const int INF = 1 << 28;
    for (int r = 0; r < FW_B; r += blockDim.y) {
        int pr = pivot * FW_B + threadIdx.y + r, pc = pivot * FW_B + threadIdx.x;
        rowT[threadIdx.y + r][threadIdx.x] = (pr < n && j < n) ? din[pr * n + j] : INF;
        colT[threadIdx.y + r][threadIdx.x] = (i + r < n && pc < n) ? din[(i + r) * n + pc] : INF;
    }
    __syncthreads();
    for (int r = 0; r < FW_B; r += blockDim.y) {
        if (i + r < n && j < n) {
            int best = din[(i + r) * n + j];
#pragma unroll 8
            for (int k = 0; k < FW_B; k++) best = min(best, colT[threadIdx.y + r][k] + rowT[k][threadIdx.x]);
            dout[(i + r) * n + j] = best;
        }
    }
}

// BFS expansion, block-level queue with scan compaction, one output segment per block
__global__ void bfs_expand(const int *row, const int *col, const int *level, int cur, int *queue, int *qcount, int n)
{
    __shared__ int scan[256];
    const int t = threadIdx.x, v = blockIdx.x * 256 + t;
    int cnt = 0;
    if (v < n && level[v] == cur)
        for (int e = row[v]; e < row[v + 1]; e++) cnt += level[col[e]] > cur;
    scan[t] = cnt;
    __syncthreads();
    for (int d = 1; d < 256; d <<= 1) {
        int x = 0;
        if (t >= d) x = scan[t - d];
        __syncthreads();
        scan[t] += x;
        __syncthreads();
    }
    int w = row[min(blockIdx.x * 256, n)] + scan[t] - cnt;
    if (cnt)
        for (int e = row[v]; e < row[v + 1]; e++) {
            int u = col[e];
            if (level[u] > cur) queue[w++] = u;
        }
    if (t == 255) qcount[blockIdx.x] = scan[255];
}

// argmin + index block reduction, struct with operator
struct MinLoc {
    float v;
    uint i;
    __device__ MinLoc() {}
    __device__ MinLoc(float v_, uint i_) : v(v_), i(i_) {}
    __device__ bool operator<(const MinLoc &o) const { return v < o.v || (v == o.v && i < o.i); }
};
__global__ void argmin_blocks(const float *x, float *ov, uint *oi, uint n)
{
    __shared__ float sv[512];
    __shared__ uint si[512];
    MinLoc best(3.4e38f, UINT_MAX);
    for (uint i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        MinLoc c(x[i] - (float)(i % 8191) * 0.001f, i);
        if (c < best) best = c;
    }
    sv[threadIdx.x] = best.v;
    si[threadIdx.x] = best.i;
    __syncthreads();
    for (uint s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) {
            MinLoc o(sv[threadIdx.x + s], si[threadIdx.x + s]);
            if (o < best) {
                best = o;
                sv[threadIdx.x] = o.v;
                si[threadIdx.x] = o.i;
            }
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) { ov[blockIdx.x] = best.v; oi[blockIdx.x] = best.i; }
}

// odd-even transposition sort of columns in a wide tile
template <typename T, int ROWS>
__global__ void sort_columns(T *m, int cols)
{
    __shared__ T s[ROWS][33];
    int c = blockIdx.x * 32 + threadIdx.x;
    for (int r = threadIdx.y; r < ROWS; r += blockDim.y) s[r][threadIdx.x] = c < cols ? m[(size_t)r * cols + c] : T(0);
    __syncthreads();
    for (int phase = 0; phase < ROWS; phase++) {
        for (int p = threadIdx.y; 2 * p + (phase & 1) + 1 < ROWS; p += blockDim.y) {
            int a = 2 * p + (phase & 1);
            T u = s[a][threadIdx.x], v = s[a + 1][threadIdx.x];
            if (v < u) { s[a][threadIdx.x] = v; s[a + 1][threadIdx.x] = u; }
        }
        __syncthreads();
    }
    for (int r = threadIdx.y; r < ROWS; r += blockDim.y)
        if (c < cols) m[(size_t)r * cols + c] = s[r][threadIdx.x];
}

template <class T> static T *put(const std::vector<T> &v)
{
    T *d;
    cudaMalloc(&d, v.size() * sizeof(T));
    cudaMemcpy(d, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice);
    return d;
}

int main()
{
    const int N = 1 << 22;
    std::vector<uint> h(N);
    for (auto &x : h) x = lcg();
    uint *keys = put(h);
    {
        uint *v = mk<uint>(N), *ok = mk<uint>(N), *ov = mk<uint>(N);
        bitonicSortShared<<<N / SHARED_SIZE_LIMIT, SHARED_SIZE_LIMIT / 2>>>(ok, ov, keys, v, SHARED_SIZE_LIMIT, 1);
        show("bitonicSortShared", ok, N * 4ull);
    }
    {
        int n = N - 501, nb = (n + RB * RK - 1) / (RB * RK);
        uint *o = mk<uint>(n), *bh = mk<uint>(16 * nb);
        radix_local_sort<<<nb, RB>>>(keys, o, bh, 8, n);
        show("radix_local_sort", o, n * 4ull);
        show("radix_blockHist", bh, 64ull * nb);
    }
    {
        std::vector<int> seg(1, 0), d;
        for (int s = 0; s < 60007; s++) {
            int len = 3 + lcg() % 62;
            if (len > 64) len = 64;
            for (int i = 0; i < len; i++) d.push_back((int)(lcg() % 1000));
            seg.push_back((int)d.size());
        }
        int *dd = put(d);
        segment_quicksort<<<(60007 + 127) / 128, 128>>>(dd, put(seg), 60007);
        show("segment_quicksort", dd, d.size() * 4);
    }
    {
        int n = 3001;
        int *a = mk<int>(n * n), *b = mk<int>(n * n);
        fw_phase3<<<dim3((n + 31) / 32, (n + 31) / 32), dim3(32, 8)>>>(a, b, n, 5);
        show("fw_phase3", b, 4ull * n * n);
    }
    {
        int n = 1000001;
        std::vector<int> row(n + 1), col, lev(n);
        for (int v = 0; v < n; v++) {
            row[v] = (int)col.size();
            lev[v] = lcg() % 4;
            for (int k = lcg() % 9; k > 0; k--) col.push_back(lcg() % n);
        }
        row[n] = (int)col.size();
        int nb = (n + 255) / 256;
        int *q = mk<int>(col.size()), *qc = mk<int>(nb);
        bfs_expand<<<nb, 256>>>(put(row), put(col), put(lev), 1, q, qc, n);
        show("bfs_queue", q, col.size() * 4);
        show("bfs_qcount", qc, nb * 4);
    }
    {
        uint n = (1u << 25) - 9;
        float *x = mk<float>(n), *v = mk<float>(528);
        uint *i = mk<uint>(528);
        argmin_blocks<<<528, 512>>>(x, v, i, n);
        show("argmin_v", v, 528 * 4);
        show("argmin_i", i, 528 * 4);
    }
    {
        int cols = 30003;
        float *m = mk<float>(96ull * cols);
        sort_columns<float, 96><<<(cols + 31) / 32, dim3(32, 16)>>>(m, cols);
        show("sort_columns", m, 96ull * cols * 4);
    }
    return 0;
}
