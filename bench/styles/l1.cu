// l1 -- in the manner of the vendor's samples: reductions, scans, sorting networks, fast Walsh transform.
#include "shown.h"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

typedef unsigned int uint;

template <class T> static T *randomArray(size_t n, uint range, uint seed)
{
    T *h = (T *)malloc(n * sizeof(T)), *d;
    uint s = seed * 2654435761u + 97u;
    for (size_t i = 0; i < n; i++) {
        s = s * 1664525u + 1013904223u;
        h[i] = (T)((s >> 8) % range);
    }
    cudaMalloc(&d, n * sizeof(T));
    cudaMemcpy(d, h, n * sizeof(T), cudaMemcpyHostToDevice);
    free(h);
    return d;
}

// Avoids a linker clash between dynamic arrays of several types
template <class T> struct SharedMemory {
    __device__ inline operator T *()
    {
        extern __shared__ int __smem[];
        return (T *)__smem;
    }
};
template <> struct SharedMemory<double> {
    __device__ inline operator double *()
    {
        extern __shared__ double __smem_d[];
        return (double *)__smem_d;
    }
};

// class 1: modulo addressing, dynamic array
template <class T> __global__ void reduce0(T *g_idata, T *g_odata, unsigned int n)
{
    cg::thread_block cta = cg::this_thread_block();
    T *sdata = SharedMemory<T>();

    unsigned int tid = threadIdx.x;
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    sdata[tid] = (i < n) ? g_idata[i] : 0;
    cg::sync(cta);

    for (unsigned int s = 1; s < blockDim.x; s *= 2) {
        // modulo arithmetic is slow!
        if ((tid % (2 * s)) == 0) {
            sdata[tid] += sdata[tid + s];
        }
        cg::sync(cta);
    }
    if (tid == 0) g_odata[blockIdx.x] = sdata[0];
}

// class 1: strided index, contiguous threads
template <class T> __global__ void reduce1(T *g_idata, T *g_odata, unsigned int n)
{
    T *sdata = SharedMemory<T>();
    unsigned int tid = threadIdx.x;
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    sdata[tid] = (i < n) ? g_idata[i] : 0;
    __syncthreads();

    for (unsigned int s = 1; s < blockDim.x; s *= 2) {
        int index = 2 * s * tid;
        if (index < blockDim.x) {
            sdata[index] += sdata[index + s];
        }
        __syncthreads();
    }
    if (tid == 0) g_odata[blockIdx.x] = sdata[0];
}

// class 1: ladder of block sizes, volatile tail, grid-stride loading
template <class T, unsigned int blockSize, bool nIsPow2>
__global__ void reduce6(T *g_idata, T *g_odata, unsigned int n)
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

    if (blockSize >= 512) { if (tid < 256) { sdata[tid] = mySum = mySum + sdata[tid + 256]; } __syncthreads(); }
    if (blockSize >= 256) { if (tid < 128) { sdata[tid] = mySum = mySum + sdata[tid + 128]; } __syncthreads(); }
    if (blockSize >= 128) { if (tid < 64) { sdata[tid] = mySum = mySum + sdata[tid + 64]; } __syncthreads(); }

    if (tid < 32) {
        volatile T *smem = sdata;
        if (blockSize >= 64) { mySum += smem[tid + 32]; __syncwarp(); smem[tid] = mySum; __syncwarp(); }
        if (blockSize >= 32) { mySum += smem[tid + 16]; __syncwarp(); smem[tid] = mySum; __syncwarp(); }
        if (blockSize >= 16) { mySum += smem[tid + 8]; __syncwarp(); smem[tid] = mySum; __syncwarp(); }
        if (blockSize >= 8) { mySum += smem[tid + 4]; __syncwarp(); smem[tid] = mySum; __syncwarp(); }
        if (blockSize >= 4) { mySum += smem[tid + 2]; __syncwarp(); smem[tid] = mySum; __syncwarp(); }
        if (blockSize >= 2) { mySum += smem[tid + 1]; __syncwarp(); smem[tid] = mySum; __syncwarp(); }
    }
    if (tid == 0) g_odata[blockIdx.x] = sdata[0];
}

// class 2: 1024 threads of double, sequential addressing, first add during load
__global__ void reduceDouble1024(const double *g_idata, double *g_odata, unsigned int n)
{
    __shared__ double sdata[1024];
    unsigned int tid = threadIdx.x;
    unsigned int i = blockIdx.x * (blockDim.x * 2) + threadIdx.x;
    double mySum = (i < n) ? g_idata[i] : 0.0;
    if (i + blockDim.x < n) mySum += g_idata[i + blockDim.x];
    sdata[tid] = mySum;
    __syncthreads();
    for (unsigned int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) sdata[tid] = mySum = mySum + sdata[tid + s];
        __syncthreads();
    }
    if (tid == 0) g_odata[blockIdx.x] = mySum;
}

#define LOG_NUM_BANKS 5
#define CONFLICT_FREE_OFFSET(index) ((index) >> LOG_NUM_BANKS)

// class 3: Blelloch, conflict padding, two elements a thread, sums of blocks stored
__global__ void prescanBest(float *g_odata, const float *g_idata, float *g_blockSums, int n)
{
    extern __shared__ float temp[];
    int thid = threadIdx.x;
    const float *src = g_idata + (size_t)blockIdx.x * n;
    float *dst = g_odata + (size_t)blockIdx.x * n;

    int ai = thid;
    int bi = thid + (n / 2);
    int bankOffsetA = CONFLICT_FREE_OFFSET(ai);
    int bankOffsetB = CONFLICT_FREE_OFFSET(bi);
    temp[ai + bankOffsetA] = src[ai];
    temp[bi + bankOffsetB] = src[bi];

    int offset = 1;
    for (int d = n / 2; d > 0; d >>= 1) {
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
        int last = n - 1;
        last += CONFLICT_FREE_OFFSET(last);
        g_blockSums[blockIdx.x] = temp[last];
        temp[last] = 0;
    }
    for (int d = 1; d < n; d *= 2) {
        offset /= 2;
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
    dst[ai] = temp[ai + bankOffsetA];
    dst[bi] = temp[bi + bankOffsetB];
}

#define SCAN_THREADS 256
inline __device__ uint scan1Inclusive(uint idata, volatile uint *s_Data, uint size, cg::thread_block cta)
{
    uint pos = 2 * threadIdx.x - (threadIdx.x & (size - 1));
    s_Data[pos] = 0;
    pos += size;
    s_Data[pos] = idata;
    for (uint offset = 1; offset < size; offset <<= 1) {
        cg::sync(cta);
        uint t = s_Data[pos] + s_Data[pos - offset];
        cg::sync(cta);
        s_Data[pos] = t;
    }
    return s_Data[pos];
}
inline __device__ uint scan1Exclusive(uint idata, volatile uint *s_Data, uint size, cg::thread_block cta)
{
    return scan1Inclusive(idata, s_Data, size, cta) - idata;
}
inline __device__ uint4 scan4Exclusive(uint4 v, volatile uint *s_Data, uint size, cg::thread_block cta)
{
    uint4 w = v;
    w.y += w.x;
    w.z += w.y;
    w.w += w.z;
    uint oval = scan1Exclusive(w.w, s_Data, size / 4, cta);
    return make_uint4(oval, oval + w.x, oval + w.y, oval + w.z);
}

// class 3: naive scan over a zero-padded array, four elements a thread, size at run time
__global__ void scanExclusiveShared(uint4 *d_Dst, const uint4 *d_Src, uint size)
{
    cg::thread_block cta = cg::this_thread_block();
    __shared__ uint s_Data[2 * SCAN_THREADS];
    uint pos = blockIdx.x * blockDim.x + threadIdx.x;
    uint4 idata4 = d_Src[pos];
    uint4 odata4 = scan4Exclusive(idata4, s_Data, size, cta);
    d_Dst[pos] = odata4;
}

#define SHARED_SIZE_LIMIT 1024U
inline __device__ void Comparator(uint &keyA, uint &valA, uint &keyB, uint &valB, uint dir)
{
    uint t;
    if ((keyA > keyB) == dir) {
        t = keyA; keyA = keyB; keyB = t;
        t = valA; valA = valB; valB = t;
    }
}

// class 4: bitonic, key and payload, two keys a thread, direction argument
__global__ void bitonicSortShared(uint *d_DstKey, uint *d_DstVal, const uint *d_SrcKey, const uint *d_SrcVal, uint arrayLength, uint dir)
{
    cg::thread_block cta = cg::this_thread_block();
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
            cg::sync(cta);
            uint pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
            Comparator(s_key[pos + 0], s_val[pos + 0], s_key[pos + stride], s_val[pos + stride], ddd);
        }
    }
    for (uint stride = arrayLength / 2; stride > 0; stride >>= 1) {
        cg::sync(cta);
        uint pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
        Comparator(s_key[pos + 0], s_val[pos + 0], s_key[pos + stride], s_val[pos + stride], dir);
    }
    cg::sync(cta);
    d_DstKey[0] = s_key[threadIdx.x + 0];
    d_DstVal[0] = s_val[threadIdx.x + 0];
    d_DstKey[(SHARED_SIZE_LIMIT / 2)] = s_key[threadIdx.x + (SHARED_SIZE_LIMIT / 2)];
    d_DstVal[(SHARED_SIZE_LIMIT / 2)] = s_val[threadIdx.x + (SHARED_SIZE_LIMIT / 2)];
}

#define OEM_LIMIT 256U
// class 4: odd-even merge sort, key and payload, two keys a thread
__global__ void oddEvenMergeSortShared(uint *d_DstKey, uint *d_DstVal, const uint *d_SrcKey, const uint *d_SrcVal, uint arrayLength, uint dir)
{
    __shared__ uint s_key[OEM_LIMIT];
    __shared__ uint s_val[OEM_LIMIT];
    const uint base = blockIdx.x * OEM_LIMIT + threadIdx.x;
    s_key[threadIdx.x] = d_SrcKey[base];
    s_val[threadIdx.x] = d_SrcVal[base];
    s_key[threadIdx.x + OEM_LIMIT / 2] = d_SrcKey[base + OEM_LIMIT / 2];
    s_val[threadIdx.x + OEM_LIMIT / 2] = d_SrcVal[base + OEM_LIMIT / 2];

    for (uint size = 2; size <= arrayLength; size <<= 1) {
        uint stride = size / 2;
        uint offset = threadIdx.x & (stride - 1);
        {
            __syncthreads();
            uint pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
            Comparator(s_key[pos + 0], s_val[pos + 0], s_key[pos + stride], s_val[pos + stride], dir);
            stride >>= 1;
        }
        for (; stride > 0; stride >>= 1) {
            __syncthreads();
            uint pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
            if (offset >= stride)
                Comparator(s_key[pos - stride], s_val[pos - stride], s_key[pos + 0], s_val[pos + 0], dir);
        }
    }
    __syncthreads();
    d_DstKey[base] = s_key[threadIdx.x];
    d_DstVal[base] = s_val[threadIdx.x];
    d_DstKey[base + OEM_LIMIT / 2] = s_key[threadIdx.x + OEM_LIMIT / 2];
    d_DstVal[base + OEM_LIMIT / 2] = s_val[threadIdx.x + OEM_LIMIT / 2];
}

// class 4: fast Walsh transform, radix 4 with a radix-2 end, four elements a thread
__global__ void fwtBatch1Kernel(float *d_Output, const float *d_Input, int log2N)
{
    const int N = 1 << log2N;
    const int base = blockIdx.x << log2N;
    extern __shared__ float s_data[];
    const float *d_Src = d_Input + base;
    float *d_Dst = d_Output + base;

    for (int pos = threadIdx.x; pos < N; pos += blockDim.x) s_data[pos] = d_Src[pos];

    const int pos = threadIdx.x;
    for (int stride = N >> 2; stride > 0; stride >>= 2) {
        int lo = pos & (stride - 1);
        int i0 = ((pos - lo) << 2) + lo;
        int i1 = i0 + stride;
        int i2 = i1 + stride;
        int i3 = i2 + stride;

        __syncthreads();
        float D0 = s_data[i0];
        float D1 = s_data[i1];
        float D2 = s_data[i2];
        float D3 = s_data[i3];
        float T;
        T = D0; D0 = D0 + D2; D2 = T - D2;
        T = D1; D1 = D1 + D3; D3 = T - D3;
        T = D0; s_data[i0] = D0 + D1; s_data[i1] = T - D1;
        T = D2; s_data[i2] = D2 + D3; s_data[i3] = T - D3;
    }
    if (log2N & 1) {
        __syncthreads();
        for (int pos = threadIdx.x; pos < N / 2; pos += blockDim.x) {
            int i0 = pos << 1;
            int i1 = i0 + 1;
            float D0 = s_data[i0];
            float D1 = s_data[i1];
            s_data[i0] = D0 + D1;
            s_data[i1] = D0 - D1;
        }
    }
    __syncthreads();
    for (int pos = threadIdx.x; pos < N; pos += blockDim.x) d_Dst[pos] = s_data[pos];
}

#define HIST_BINS 64
// class 7: 64 bins, shared atomics, partial histograms
__global__ void histogram64Partial(uint *d_PartialHistograms, const uint *d_Data, uint dataCount)
{
    __shared__ uint s_Hist[HIST_BINS];
    if (threadIdx.x < HIST_BINS) s_Hist[threadIdx.x] = 0;
    __syncthreads();
    for (uint pos = blockIdx.x * blockDim.x + threadIdx.x; pos < dataCount; pos += gridDim.x * blockDim.x) {
        uint data = d_Data[pos];
        atomicAdd(&s_Hist[(data >> 2) & 0x3FU], 1u);
        atomicAdd(&s_Hist[(data >> 10) & 0x3FU], 1u);
        atomicAdd(&s_Hist[(data >> 18) & 0x3FU], 1u);
    }
    __syncthreads();
    if (threadIdx.x < HIST_BINS) d_PartialHistograms[blockIdx.x * HIST_BINS + threadIdx.x] = s_Hist[threadIdx.x];
}

int main()
{
    {
        unsigned int n = (1u << 24) - 37;
        int *a = randomArray<int>(n, 100000, 1), *o = mk<int>(1 << 17);
        int blocks = (n + 255) / 256;
        reduce0<int><<<blocks, 256, 256 * sizeof(int)>>>(a, o, n);
        show("reduce0_int", o, blocks * sizeof(int));
        float *f = mk<float>(n), *fo = mk<float>(1 << 18);
        blocks = (n + 127) / 128;
        reduce1<float><<<blocks, 128, 128 * sizeof(float)>>>(f, fo, n);
        show("reduce1_float", fo, blocks * sizeof(float));
        reduce6<int, 512, false><<<2000, 512, 512 * sizeof(int)>>>(a, o, n);
        show("reduce6_int_512", o, 2000 * sizeof(int));
    }
    {
        unsigned int n = (1u << 24) - 5;
        double *a = mk<double>(n), *o = mk<double>(1 << 14);
        int blocks = (n + 2047) / 2048;
        reduceDouble1024<<<blocks, 1024>>>(a, o, n);
        show("reduceDouble1024", o, blocks * sizeof(double));
    }
    {
        int n = 512, blocks = 1 << 14;
        float *a = mk<float>((size_t)n * blocks), *b = mk<float>((size_t)n * blocks), *s = mk<float>(blocks);
        prescanBest<<<blocks, n / 2, (n + CONFLICT_FREE_OFFSET(n)) * sizeof(float)>>>(b, a, s, n);
        show("prescanBest", b, (size_t)n * blocks * 4);
    }
    {
        size_t n = 1 << 24;
        uint *a = randomArray<uint>(n, 1 << 20, 7), *b = mk<uint>(n);
        scanExclusiveShared<<<(int)(n / (4 * SCAN_THREADS)), SCAN_THREADS>>>((uint4 *)b, (const uint4 *)a, 4 * SCAN_THREADS);
        show("scanExclusiveShared", b, n * 4);
        uint *v = randomArray<uint>(n, 1 << 24, 8), *w = mk<uint>(n);
        bitonicSortShared<<<(int)(n / SHARED_SIZE_LIMIT), SHARED_SIZE_LIMIT / 2>>>(b, w, a, v, SHARED_SIZE_LIMIT, 1);
        show("bitonicSortShared", b, n * 4);
        oddEvenMergeSortShared<<<(int)(n / OEM_LIMIT), OEM_LIMIT / 2>>>(b, w, a, v, OEM_LIMIT, 0);
        show("oddEvenMergeSortShared", b, n * 4);
        histogram64Partial<<<1024, 192>>>(w, v, (uint)n);
        show("histogram64Partial", w, 1024 * HIST_BINS * 4);
    }
    {
        int log2N = 11, blocks = 1 << 13;
        size_t n = (size_t)blocks << log2N;
        float *a = randomArray<float>(n, 512, 9), *b = mk<float>(n);
        fwtBatch1Kernel<<<blocks, (1 << log2N) / 4, sizeof(float) << log2N>>>(b, a, log2N);
        show("fwtBatch1Kernel", b, n * 4);
    }
    return 0;
}
