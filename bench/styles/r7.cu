// reductions, scans, sorts
#include "shown.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

static unsigned *mk_keys(size_t n, unsigned seed)
{
    unsigned *h = (unsigned *)malloc(n * sizeof(unsigned)), *d;
    for (size_t i = 0; i < n; ++i) {
        seed = seed * 69069u + 362437u;
        h[i] = seed ^ (seed >> 15);
    }
    cudaMalloc(&d, n * sizeof(unsigned));
    cudaMemcpy(d, h, n * sizeof(unsigned), cudaMemcpyHostToDevice);
    free(h);
    return d;
}

/*
    Reduction with multiple elements per thread, block size is a template parameter.
    (dynamic shared memory through the usual struct so that types do not collide)
*/
template <class T> struct SharedMemory {
    __device__ inline operator T *() { extern __shared__ int __smem[]; return (T *)__smem; }
    __device__ inline operator const T *() const { extern __shared__ int __smem[]; return (T *)__smem; }
};

template <class T, unsigned int blockSize, bool nIsPow2>
__global__ void reduceMulti(T *g_idata, T *g_odata, unsigned int n)
{
    T *sdata = SharedMemory<T>();
    unsigned int tid = threadIdx.x;
    unsigned int i = blockIdx.x * blockSize * 2 + threadIdx.x;
    unsigned int gridSize = blockSize * 2 * gridDim.x;
    T mySum = 0;
    while (i < n) {
        mySum += g_idata[i];
        if (nIsPow2 || i + blockSize < n) mySum += g_idata[i + blockSize];
        i += gridSize;
    }
    sdata[tid] = mySum;
    __syncthreads();
    if ((blockSize >= 512) && (tid < 256)) sdata[tid] = mySum = mySum + sdata[tid + 256];
    __syncthreads();
    if ((blockSize >= 256) && (tid < 128)) sdata[tid] = mySum = mySum + sdata[tid + 128];
    __syncthreads();
    if ((blockSize >= 128) && (tid < 64)) sdata[tid] = mySum = mySum + sdata[tid + 64];
    __syncthreads();
    cg::thread_block_tile<32> tile32 = cg::tiled_partition<32>(cg::this_thread_block());
    if (tid < 32) {
        if (blockSize >= 64) mySum += sdata[tid + 32];
        for (int offset = tile32.size() / 2; offset > 0; offset /= 2) mySum += tile32.shfl_down(mySum, offset);
    }
    if (tid == 0) g_odata[blockIdx.x] = mySum;
}

/* work-efficient exclusive scan with padding against bank conflicts */
#define LOG_NUM_BANKS 5
#define CONFLICT_FREE_OFFSET(n) ((n) >> LOG_NUM_BANKS)

__global__ void prescan(int *g_odata, const int *g_idata, int *blockSums, int n)
{
    extern __shared__ int temp[];
    int thid = threadIdx.x;
    int offset = 1;
    const size_t blk = (size_t)blockIdx.x * n;

    int ai = thid;
    int bi = thid + (n / 2);
    int bankOffsetA = CONFLICT_FREE_OFFSET(ai);
    int bankOffsetB = CONFLICT_FREE_OFFSET(bi);
    temp[ai + bankOffsetA] = g_idata[blk + ai];
    temp[bi + bankOffsetB] = g_idata[blk + bi];

    for (int d = n >> 1; d > 0; d >>= 1) {      // build sum in place up the tree
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
        blockSums[blockIdx.x] = temp[n - 1 + CONFLICT_FREE_OFFSET(n - 1)];
        temp[n - 1 + CONFLICT_FREE_OFFSET(n - 1)] = 0;
    }
    for (int d = 1; d < n; d *= 2) {            // traverse down tree & build scan
        offset >>= 1;
        __syncthreads();
        if (thid < d) {
            int ai = offset * (2 * thid + 1) - 1;
            int bi = offset * (2 * thid + 2) - 1;
            ai += CONFLICT_FREE_OFFSET(ai);
            bi += CONFLICT_FREE_OFFSET(bi);
            int t = temp[ai];
            temp[ai] = temp[bi];
            temp[bi] += t;
        }
    }
    __syncthreads();
    g_odata[blk + ai] = temp[ai + bankOffsetA];
    g_odata[blk + bi] = temp[bi + bankOffsetB];
}

/* bitonic sort of key/value pairs */
#define SHARED_SIZE_LIMIT 1024U
__device__ inline void Comparator(unsigned &keyA, unsigned &valA, unsigned &keyB, unsigned &valB, unsigned dir)
{
    unsigned t;
    if ((keyA > keyB) == dir) {
        t = keyA; keyA = keyB; keyB = t;
        t = valA; valA = valB; valB = t;
    }
}

__global__ void bitonicSortShared(unsigned *d_DstKey, unsigned *d_DstVal, const unsigned *d_SrcKey, unsigned arrayLength, unsigned dir)
{
    cg::thread_block cta = cg::this_thread_block();
    __shared__ unsigned s_key[SHARED_SIZE_LIMIT];
    __shared__ unsigned s_val[SHARED_SIZE_LIMIT];
    unsigned base = blockIdx.x * SHARED_SIZE_LIMIT + threadIdx.x;
    s_key[threadIdx.x] = d_SrcKey[base];
    s_val[threadIdx.x] = base;
    s_key[threadIdx.x + SHARED_SIZE_LIMIT / 2] = d_SrcKey[base + SHARED_SIZE_LIMIT / 2];
    s_val[threadIdx.x + SHARED_SIZE_LIMIT / 2] = base + SHARED_SIZE_LIMIT / 2;

    for (unsigned size = 2; size < arrayLength; size <<= 1) {
        unsigned ddd = dir ^ ((threadIdx.x & (size / 2)) != 0);
        for (unsigned stride = size / 2; stride > 0; stride >>= 1) {
            cg::sync(cta);
            unsigned pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
            Comparator(s_key[pos], s_val[pos], s_key[pos + stride], s_val[pos + stride], ddd);
        }
    }
    for (unsigned stride = arrayLength / 2; stride > 0; stride >>= 1) {
        cg::sync(cta);
        unsigned pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
        Comparator(s_key[pos], s_val[pos], s_key[pos + stride], s_val[pos + stride], dir);
    }
    cg::sync(cta);
    d_DstKey[base] = s_key[threadIdx.x];
    d_DstVal[base] = s_val[threadIdx.x];
    d_DstKey[base + SHARED_SIZE_LIMIT / 2] = s_key[threadIdx.x + SHARED_SIZE_LIMIT / 2];
    d_DstVal[base + SHARED_SIZE_LIMIT / 2] = s_val[threadIdx.x + SHARED_SIZE_LIMIT / 2];
}

/* local radix pass: sort 256 keys by one nibble through four 1-bit splits */
__device__ unsigned scanExclusive256(unsigned v, unsigned *tmp, unsigned *total)
{
    unsigned t = threadIdx.x, x = v;
    tmp[t] = x;
    __syncthreads();
    for (unsigned o = 1; o < 256; o += o) {
        unsigned add = t >= o ? tmp[t - o] : 0u;
        __syncthreads();
        x += add;
        tmp[t] = x;
        __syncthreads();
    }
    *total = tmp[255];
    __syncthreads();
    return x - v;
}

__global__ void radix_block_nibble(const unsigned *in, unsigned *out, unsigned *digitStart, int shift)
{
    __shared__ unsigned keys[256];
    __shared__ unsigned tmp[256];
    unsigned t = threadIdx.x;
    unsigned key = in[blockIdx.x * 256u + t];
    for (int b = 0; b < 4; ++b) {
        unsigned bit = (key >> (shift + b)) & 1u;
        unsigned zeros;
        unsigned before = scanExclusive256(1u - bit, tmp, &zeros);
        unsigned dst = bit ? zeros + t - before : before;
        keys[dst] = key;
        __syncthreads();
        key = keys[t];
        __syncthreads();
    }
    out[blockIdx.x * 256u + t] = key;
    // first position of each digit
    unsigned d = (key >> shift) & 15u;
    tmp[t] = d;
    if (t < 16) keys[t] = 0xffffffffu;
    __syncthreads();
    if (t == 0 || tmp[t - 1] != d) keys[d] = t;
    __syncthreads();
    if (t < 16) digitStart[blockIdx.x * 16u + t] = keys[t];
}

/* student odd-even transposition sort */
#define N 200
__global__ void oddEvenSort(float *a, int numArrays)
{
    __shared__ float s[N];
    int id = threadIdx.x;            // N/2 threads
    int arr = blockIdx.x;
    if (arr >= numArrays) return;
    s[2 * id] = a[arr * N + 2 * id];
    s[2 * id + 1] = a[arr * N + 2 * id + 1];
    __syncthreads();
    for (int i = 0; i < N / 2; i++) {
        //even
        if (s[2 * id] > s[2 * id + 1]) {
            float temp = s[2 * id];
            s[2 * id] = s[2 * id + 1];
            s[2 * id + 1] = temp;
        }
        __syncthreads();
        //odd
        if (2 * id + 2 < N) {
            if (s[2 * id + 1] > s[2 * id + 2]) {
                float temp = s[2 * id + 1];
                s[2 * id + 1] = s[2 * id + 2];
                s[2 * id + 2] = temp;
            }
        }
        __syncthreads();
    }
    a[arr * N + 2 * id] = s[2 * id];
    a[arr * N + 2 * id + 1] = s[2 * id + 1];
}
#undef N

/* arg-min and arg-max together */
struct MinMax { float lo, hi; int ilo, ihi; };
__device__ MinMax merge(const MinMax &a, const MinMax &b)
{
    MinMax r = a;
    if (b.lo < a.lo || (b.lo == a.lo && b.ilo < a.ilo)) { r.lo = b.lo; r.ilo = b.ilo; }
    if (b.hi > a.hi || (b.hi == a.hi && b.ihi < a.ihi)) { r.hi = b.hi; r.ihi = b.ihi; }
    return r;
}
__global__ void argminmax_partial(const float *v, MinMax *res, int n)
{
    __shared__ MinMax s[224];
    MinMax m = {v[0], v[0], 0, 0};
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        float f = v[i] - 3.5f * (float)((i >> 7) & 15);
        MinMax o = {f, f, i, i};
        m = merge(m, o);
    }
    s[threadIdx.x] = m;
    __syncthreads();
    int active = blockDim.x;
    while (active > 1) {
        int upper = active / 2, lower = active - upper;      // any block size
        if (threadIdx.x < upper) s[threadIdx.x] = merge(s[threadIdx.x], s[threadIdx.x + lower]);
        __syncthreads();
        active = lower;
    }
    if (!threadIdx.x) res[blockIdx.x] = s[0];
}

/* segmented inclusive scan, head flags packed next to the values */
__global__ void segscan_block(const float *val, const unsigned char *head, float *out, int n)
{
    volatile __shared__ float sv[512];
    volatile __shared__ unsigned char sf[512];
    const int g = blockIdx.x * 512 + threadIdx.x;
    const int t = threadIdx.x;
    float v = g < n ? val[g] : 0.f;
    unsigned char f = g < n ? (head[g] == 0) : 1;
    sv[t] = v;
    sf[t] = f;
    __syncthreads();
#pragma unroll
    for (int d = 1; d < 512; d <<= 1) {
        float pv = 0.f;
        unsigned char pf = 0;
        if (t >= d) {
            pv = sv[t - d];
            pf = sf[t - d];
        }
        __syncthreads();
        if (t >= d) {
            if (!f) v += pv;
            f |= pf;
            sv[t] = v;
            sf[t] = f;
        }
        __syncthreads();
    }
    if (g < n) out[g] = v;
}

/* block merge sort with merge path, 4 keys per thread */
#define MS_T 128
#define MS_V 4
#define MS_N (MS_T * MS_V)
__global__ void merge_sort_block(const unsigned *in, unsigned *out)
{
    __shared__ unsigned buf[MS_N];
    unsigned k[MS_V];
    const unsigned *src = in + (size_t)blockIdx.x * MS_N;
    for (int i = threadIdx.x; i < MS_N; i += MS_T) buf[i] = src[i];
    __syncthreads();
    for (int i = 0; i < MS_V; ++i) k[i] = buf[threadIdx.x * MS_V + i];
    // insertion sort in registers
    for (int i = 1; i < MS_V; ++i)
        for (int j = i; j > 0 && k[j - 1] > k[j]; --j) {
            unsigned t = k[j]; k[j] = k[j - 1]; k[j - 1] = t;
        }
    for (int width = MS_V; width < MS_N; width *= 2) {
        __syncthreads();
        for (int i = 0; i < MS_V; ++i) buf[threadIdx.x * MS_V + i] = k[i];
        __syncthreads();
        int pos = threadIdx.x * MS_V;
        int start = pos & ~(2 * width - 1);
        const unsigned *A = buf + start, *B = A + width;
        int diag = pos - start;
        int lo = max(0, diag - width), hi = min(diag, width);
        while (lo < hi) {
            int mid = (lo + hi) >> 1;
            if (A[mid] <= B[diag - 1 - mid]) lo = mid + 1;
            else hi = mid;
        }
        int a = lo, b = diag - lo;
        for (int i = 0; i < MS_V; ++i) {
            bool takeA = b >= width || (a < width && A[a] <= B[b]);
            k[i] = takeA ? A[a++] : B[b++];
        }
    }
    __syncthreads();
    for (int i = 0; i < MS_V; ++i) buf[threadIdx.x * MS_V + i] = k[i];
    __syncthreads();
    for (int i = threadIdx.x; i < MS_N; i += MS_T) out[(size_t)blockIdx.x * MS_N + i] = buf[i];
}

int main()
{
    const unsigned n = 1u << 24;
    {
        int blocks = 1320;
        int *d = mk<int>(n), *o = mk<int>(blocks), *r = mk<int>(n), *bs = mk<int>(n / 1024);
        reduceMulti<int, 256, false><<<blocks, 256, 256 * sizeof(int)>>>(d, o, n - 77);
        show("reduceMulti", o, blocks * 4);
        prescan<<<n / 1024, 512, (1024 + 1024 / 32) * sizeof(int)>>>(r, d, bs, 1024);
        show("prescan", r, (size_t)n * 4);
        show("prescan sums", bs, n / 1024 * 4);
    }
    {
        unsigned *k = mk_keys(n, 17), *ko = mk_keys(n, 1), *vo = mk_keys(n, 2), *ds = mk_keys(n / 16, 3);
        bitonicSortShared<<<n / SHARED_SIZE_LIMIT, SHARED_SIZE_LIMIT / 2>>>(ko, vo, k, SHARED_SIZE_LIMIT, 1);
        show("bitonicSortShared k", ko, (size_t)n * 4);
        show("bitonicSortShared v", vo, (size_t)n * 4);
        radix_block_nibble<<<n / 256, 256>>>(k, ko, ds, 8);
        show("radix_block_nibble k", ko, (size_t)n * 4);
        show("radix_block_nibble d", ds, (size_t)n / 16 * 4);
        merge_sort_block<<<n / MS_N, MS_T>>>(k, ko);
        show("merge_sort_block", ko, (size_t)n * 4);
    }
    {
        int na = 20000;
        float *a = mk<float>((size_t)na * 200);
        oddEvenSort<<<na, 100>>>(a, na);
        show("oddEvenSort", a, (size_t)na * 200 * 4);
    }
    {
        float *v = mk<float>(n), *o = mk<float>(n);
        unsigned char *hd = mk<unsigned char>(n);
        MinMax *mm = (MinMax *)mk<float>(900 * 4);
        argminmax_partial<<<900, 224>>>(v, mm, n - 5);
        show("argminmax_partial", mm, 900 * sizeof(MinMax));
        segscan_block<<<(n - 100 + 511) / 512, 512>>>(v, hd, o, n - 100);
        show("segscan_block", o, (size_t)n * 4);
    }
    return 0;
}
