// sorting, sparse matrices, graphs and databases
#include "shown.h"
#include <vector>
#include <climits>

typedef unsigned int uint;

static uint lcg_state = 12345u;
static uint lcg()
{
    lcg_state = lcg_state * 1664525u + 1013904223u;
    return lcg_state >> 4;
}
template <class T> static T *upload(const std::vector<T> &v)
{
    T *d;
    cudaMalloc(&d, v.size() * sizeof(T));
    cudaMemcpy(d, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice);
    return d;
}

// ------------------------------------------------------------ bitonic sort, keys and values
#define BITONIC_N 512
__global__ void bitonic_sort_key_value(uint *keys, uint *vals, int ascending)
{
    __shared__ uint s_key[BITONIC_N];
    __shared__ uint s_val[BITONIC_N];
    const uint tid = threadIdx.x;
    const size_t g = (size_t)blockIdx.x * BITONIC_N + tid;
    s_key[tid] = keys[g];
    s_val[tid] = vals[g];
    __syncthreads();
    for (uint k = 2; k <= BITONIC_N; k <<= 1) {
        for (uint j = k >> 1; j > 0; j >>= 1) {
            uint ixj = tid ^ j;
            if (ixj > tid) {
                bool up = ((tid & k) == 0) == (ascending != 0);
                if ((s_key[tid] > s_key[ixj]) == up && s_key[tid] != s_key[ixj]) {
                    uint t = s_key[tid]; s_key[tid] = s_key[ixj]; s_key[ixj] = t;
                    t = s_val[tid]; s_val[tid] = s_val[ixj]; s_val[ixj] = t;
                }
            }
            __syncthreads();
        }
    }
    keys[g] = s_key[tid];
    vals[g] = s_val[tid];
}

// ------------------------------------------------------------ odd-even merge sort
#define SHARED_SIZE_LIMIT 1024U
__device__ inline void Comparator(float &keyA, float &keyB, uint arrowDir)
{
    if ((keyA > keyB) == arrowDir) {
        float t = keyA;
        keyA = keyB;
        keyB = t;
    }
}
__global__ void oddEvenMergeSortShared(float *d_DstKey, const float *d_SrcKey, uint arrayLength, uint dir)
{
    __shared__ float s_key[SHARED_SIZE_LIMIT];
    d_SrcKey += blockIdx.x * SHARED_SIZE_LIMIT + threadIdx.x;
    d_DstKey += blockIdx.x * SHARED_SIZE_LIMIT + threadIdx.x;
    s_key[threadIdx.x + 0] = d_SrcKey[0];
    s_key[threadIdx.x + (SHARED_SIZE_LIMIT / 2)] = d_SrcKey[(SHARED_SIZE_LIMIT / 2)];

    for (uint size = 2; size <= arrayLength; size <<= 1) {
        uint stride = size / 2;
        uint offset = threadIdx.x & (stride - 1);
        {
            __syncthreads();
            uint pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
            Comparator(s_key[pos + 0], s_key[pos + stride], dir);
            stride >>= 1;
        }
        for (; stride > 0; stride >>= 1) {
            __syncthreads();
            uint pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
            if (offset >= stride)
                Comparator(s_key[pos - stride], s_key[pos + 0], dir);
        }
    }
    __syncthreads();
    d_DstKey[0] = s_key[threadIdx.x + 0];
    d_DstKey[(SHARED_SIZE_LIMIT / 2)] = s_key[threadIdx.x + (SHARED_SIZE_LIMIT / 2)];
}

// ------------------------------------------------------------ block radix sort by single bit splits
template <int N>
__device__ int block_exclusive_count(int flag, int *scratch, int &total)
{
    scratch[threadIdx.x] = flag;
    __syncthreads();
    for (int d = 1; d < N; d <<= 1) {
        int v = threadIdx.x >= d ? scratch[threadIdx.x - d] : 0;
        __syncthreads();
        scratch[threadIdx.x] += v;
        __syncthreads();
    }
    total = scratch[N - 1];
    int r = scratch[threadIdx.x] - flag;
    __syncthreads();
    return r;
}
template <int N>
__global__ void radix_sort_block_split(const uint *in, uint *out, int n, int bits)
{
    __shared__ uint keys[N];
    __shared__ int scratch[N];
    int g = blockIdx.x * N + threadIdx.x;
    uint key = g < n ? in[g] : 0xffffffffu;
    for (int b = 0; b < bits; b++) {
        int zero = ((key >> b) & 1u) == 0u;
        int zeros;
        int before = block_exclusive_count<N>(zero, scratch, zeros);
        int dst = zero ? before : zeros + (int)threadIdx.x - before;
        keys[dst] = key;
        __syncthreads();
        key = keys[threadIdx.x];
        __syncthreads();
    }
    if (g < n) out[g] = key;
}

// ------------------------------------------------------------ CSR stream: products staged, then rows reduced
#define NNZ_PER_BLOCK 1024
#define SPMV_THREADS 256
__global__ void spmv_csr_stream(const int *rowBlocks, const int *rowPtr, const int *colIdx, const float *val, const float *x, float *y)
{
    __shared__ float lds[NNZ_PER_BLOCK];
    int rowBegin = rowBlocks[blockIdx.x];
    int rowEnd = rowBlocks[blockIdx.x + 1];
    int first = rowPtr[rowBegin];
    int nnz = rowPtr[rowEnd] - first;
    for (int i = threadIdx.x; i < nnz; i += SPMV_THREADS)
        lds[i] = val[first + i] * x[colIdx[first + i]];
    __syncthreads();
    for (int row = rowBegin + threadIdx.x; row < rowEnd; row += SPMV_THREADS) {
        float sum = 0.f;
        for (int j = rowPtr[row] - first; j < rowPtr[row + 1] - first; j++) sum += lds[j];
        y[row] = sum;
    }
}

// ------------------------------------------------------------ SELECT ... WHERE lo <= v <= hi, compaction within a segment
#define SEL_T 128
#define SEL_ITEMS 4
__global__ void select_between_compact(const int *col, int *selected, int *counts, int n, int lo, int hi)
{
    __shared__ int scan[SEL_T];
    __shared__ int staged[SEL_T * SEL_ITEMS];
    const int segment = blockIdx.x * SEL_T * SEL_ITEMS;
    const int first = segment + threadIdx.x * SEL_ITEMS;
    int items[SEL_ITEMS], keep[SEL_ITEMS];
    int mine = 0;
    for (int k = 0; k < SEL_ITEMS; k++) {
        items[k] = first + k < n ? col[first + k] : INT_MIN;
        keep[k] = first + k < n && items[k] >= lo && items[k] <= hi;
        mine += keep[k];
    }
    scan[threadIdx.x] = mine;
    __syncthreads();
    for (int off = 1; off < SEL_T; off *= 2) {
        int v = scan[threadIdx.x];
        if (threadIdx.x >= off) v += scan[threadIdx.x - off];
        __syncthreads();
        scan[threadIdx.x] = v;
        __syncthreads();
    }
    int pos = scan[threadIdx.x] - mine;
    for (int k = 0; k < SEL_ITEMS; k++)
        if (keep[k]) staged[pos++] = first + k;         // row numbers
    __syncthreads();
    const int total = scan[SEL_T - 1];
    for (int i = threadIdx.x; i < total; i += SEL_T) selected[segment + i] = staged[i];
    if (threadIdx.x == 0) counts[blockIdx.x] = total;
}

// ------------------------------------------------------------ GROUP BY small key: count, sum and maximum
constexpr int GROUPS = 96;
struct GroupAcc {
    uint count[GROUPS];
    int sum[GROUPS];
    int top[GROUPS];
};
__global__ void group_by_aggregate(const unsigned char *key, const int *value, int n, GroupAcc *partial)
{
    __shared__ GroupAcc acc;
    for (int g = threadIdx.x; g < GROUPS; g += blockDim.x) {
        acc.count[g] = 0;
        acc.sum[g] = 0;
        acc.top[g] = INT_MIN;
    }
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int g = key[i] % GROUPS;
        atomicAdd(&acc.count[g], 1u);
        atomicAdd(&acc.sum[g], value[i]);
        atomicMax(&acc.top[g], value[i]);
    }
    __syncthreads();
    for (int g = threadIdx.x; g < GROUPS; g += blockDim.x) {
        partial[blockIdx.x].count[g] = acc.count[g];
        partial[blockIdx.x].sum[g] = acc.sum[g];
        partial[blockIdx.x].top[g] = acc.top[g];
    }
}

// ------------------------------------------------------------ hash join: the small side is built in shared memory
#define SLOTS 1024
#define EMPTY_KEY 0xffffffffu
__device__ __forceinline__ uint hash_slot(uint k) { return (k * 2654435761u) >> 22; }
__global__ void hash_join_probe(const uint *dimKey, const uint *dimPayload, int dimRows, const uint *factKey, uint *joined, int factRows)
{
    __shared__ uint tkey[SLOTS];
    __shared__ uint tval[SLOTS];
    for (int i = threadIdx.x; i < SLOTS; i += blockDim.x) tkey[i] = EMPTY_KEY;
    __syncthreads();
    for (int i = threadIdx.x; i < dimRows; i += blockDim.x) {
        uint k = dimKey[i], s = hash_slot(k);
        while (atomicCAS(&tkey[s], EMPTY_KEY, k) != EMPTY_KEY) s = (s + 1) & (SLOTS - 1);
        tval[s] = dimPayload[i];
    }
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < factRows; i += gridDim.x * blockDim.x) {
        uint k = factKey[i], s = hash_slot(k);
        while (tkey[s] != k && tkey[s] != EMPTY_KEY) s = (s + 1) & (SLOTS - 1);
        joined[i] = tkey[s] == k ? tval[s] : 0u;
    }
}

// ------------------------------------------------------------ BFS: the neighbours of a frontier gathered through a block queue
#define FR_THREADS 256
#define QUEUE_CAP 2048
__global__ void bfs_expand_frontier(const int *frontier, int frontierSize, const int *rowPtr, const int *edges,
                                    const int *blockBase, int *outQueue)
{
    __shared__ int degreeScan[2 * FR_THREADS];
    __shared__ int queue[QUEUE_CAP];
    int t = threadIdx.x;
    int i = blockIdx.x * FR_THREADS + t;
    int begin = 0, degree = 0;
    if (i < frontierSize) {
        int v = frontier[i];
        begin = rowPtr[v];
        degree = rowPtr[v + 1] - begin;
    }
    int pout = 0, pin = 1;
    degreeScan[t] = degree;
    __syncthreads();
    for (int offset = 1; offset < FR_THREADS; offset *= 2) {
        pout = 1 - pout;
        pin = 1 - pout;
        if (t >= offset) degreeScan[pout * FR_THREADS + t] = degreeScan[pin * FR_THREADS + t] + degreeScan[pin * FR_THREADS + t - offset];
        else degreeScan[pout * FR_THREADS + t] = degreeScan[pin * FR_THREADS + t];
        __syncthreads();
    }
    int where = degreeScan[pout * FR_THREADS + t] - degree;
    int total = degreeScan[pout * FR_THREADS + FR_THREADS - 1];
    int base = blockBase[blockIdx.x];
    for (int e = 0; e < degree; e++) {
        int p = where + e;
        int nb = edges[begin + e];
        if (p < QUEUE_CAP) queue[p] = nb;
        else outQueue[base + p] = nb;          // does not fit the block's queue
    }
    __syncthreads();
    for (int p = t; p < total && p < QUEUE_CAP; p += FR_THREADS) outQueue[base + p] = queue[p];
}

int main()
{
    // sorts
    const int nsort = 8 << 20;
    std::vector<uint> hk(nsort), hv(nsort);
    std::vector<float> hf(nsort);
    for (int i = 0; i < nsort; i++) {
        hk[i] = lcg();
        hv[i] = i;
        hf[i] = (float)(lcg() & 0xfffff) / 16.f;
    }
    uint *k = upload(hk), *v = upload(hv);
    uint *keep = upload(hk), *rs = mk<uint>(nsort);
    float *f = upload(hf), *fo = mk<float>(nsort);

    bitonic_sort_key_value<<<nsort / BITONIC_N, BITONIC_N>>>(k, v, 1);
    show("bitonic_sort_key_value keys", k, (size_t)nsort * 4);
    show("bitonic_sort_key_value vals", v, (size_t)nsort * 4);

    oddEvenMergeSortShared<<<nsort / SHARED_SIZE_LIMIT, SHARED_SIZE_LIMIT / 2>>>(fo, f, SHARED_SIZE_LIMIT, 1);
    show("oddEvenMergeSortShared", fo, (size_t)nsort * 4);

    int rn = 4000037;
    radix_sort_block_split<256><<<(rn + 255) / 256, 256>>>(keep, rs, rn, 8);
    show("radix_sort_block_split", rs, (size_t)rn * 4);

    // sparse matrix and graph
    int rows = 600000;
    std::vector<int> rp(rows + 1), ci, rb;
    std::vector<float> va;
    rp[0] = 0;
    for (int r = 0; r < rows; r++) {
        int deg = lcg() % 32;
        for (int e = 0; e < deg; e++) {
            ci.push_back((int)((r + (lcg() % 4096) * 7) % rows));
            va.push_back((float)(lcg() % 64) / 8.f);
        }
        rp[r + 1] = (int)ci.size();
    }
    rb.push_back(0);
    for (int r = 0; r < rows; r++)
        if (rp[r + 1] - rp[rb.back()] > NNZ_PER_BLOCK) rb.push_back(r);
    rb.push_back(rows);
    int *drp = upload(rp), *dci = upload(ci), *drb = upload(rb);
    float *dva = upload(va), *x = mk<float>(rows), *y = mk<float>(rows);
    spmv_csr_stream<<<(int)rb.size() - 1, SPMV_THREADS>>>(drb, drp, dci, dva, x, y);
    show("spmv_csr_stream", y, rows * 4);

    // select
    int sn = 20000011;
    int *col = mk<int>(sn), *sel = mk<int>(sn + SEL_T * SEL_ITEMS);
    int sb = (sn + SEL_T * SEL_ITEMS - 1) / (SEL_T * SEL_ITEMS);
    int *cnt = mk<int>(sb);
    select_between_compact<<<sb, SEL_T>>>(col, sel, cnt, sn, 3, 8);
    show("select_between_compact rows", sel, (size_t)sn * 4);
    show("select_between_compact counts", cnt, sb * 4);

    // group by
    std::vector<unsigned char> gk(sn);
    for (int i = 0; i < sn; i++) gk[i] = (unsigned char)lcg();
    unsigned char *dgk = upload(gk);
    GroupAcc *part;
    cudaMalloc(&part, 1056 * sizeof(GroupAcc));
    group_by_aggregate<<<1056, 256>>>(dgk, col, sn, part);
    show("group_by_aggregate", part, 1056 * sizeof(GroupAcc));

    // hash join
    int dim = 600, fact = 16000000;
    std::vector<uint> dk(dim), dp(dim), fk(fact);
    for (int i = 0; i < dim; i++) {
        dk[i] = i * 97 + 5;
        dp[i] = i * i + 1;
    }
    for (int i = 0; i < fact; i++) fk[i] = (lcg() % 900) * 97 + 5;
    uint *ddk = upload(dk), *ddp = upload(dp), *dfk = upload(fk), *joined = mk<uint>(fact);
    hash_join_probe<<<2112, 256>>>(ddk, ddp, dim, dfk, joined, fact);
    show("hash_join_probe", joined, (size_t)fact * 4);

    // frontier
    int fs = 399999;
    std::vector<int> fr(fs), bb;
    int total = 0;
    for (int i = 0; i < fs; i++) {
        fr[i] = (int)(lcg() % rows);
        if (i % FR_THREADS == 0) bb.push_back(total);
        total += rp[fr[i] + 1] - rp[fr[i]];
    }
    int *dfr = upload(fr), *dbb = upload(bb), *oq = mk<int>(total);
    bfs_expand_frontier<<<(int)bb.size(), FR_THREADS>>>(dfr, fs, drp, dci, dbb, oq);
    show("bfs_expand_frontier", oq, (size_t)total * 4);
    return 0;
}
