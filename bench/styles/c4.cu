/* Parallel primitives */
#include "shown.h"

typedef unsigned int uint32;

template <class T>
struct SharedMemory {
    __device__ inline operator T *() {
        extern __shared__ int __smem[];
        return (T *)__smem;
    }
};

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
        if (blockSize >= 64) mySum += sdata[tid + 32];
        for (int offset = 16; offset > 0; offset /= 2)
            mySum += __shfl_down_sync(0xffffffffu, mySum, offset);
    }
    if (tid == 0) g_odata[blockIdx.x] = mySum;
}

const int threadsPerBlock = 256;
__global__ void dot(float *a, float *b, float *c, int N)
{
    __shared__ float cache[threadsPerBlock];
    int tid = threadIdx.x + blockIdx.x * blockDim.x;
    int cacheIndex = threadIdx.x;
    float temp = 0;
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

__global__ void argMax(const float *__restrict__ x, uint32 n, float *bestVal, uint32 *bestIdx)
{
    __shared__ float v[512];
    __shared__ uint32 ix[512];
    float m = -1e30f;
    uint32 mi = 0xffffffffu;
    for (uint32 k = blockIdx.x * 512 + threadIdx.x; k < n; k += 512 * gridDim.x) {
        float y = x[k] * (float)(1 + k % 977);
        if (y > m) { m = y; mi = k; }
    }
    v[threadIdx.x] = m;
    ix[threadIdx.x] = mi;
    // interleaved addressing, strided index
    for (uint32 s = 1; s < 512; s *= 2) {
        __syncthreads();
        uint32 p = 2 * s * threadIdx.x;
        if (p < 512) {
            if (v[p + s] > v[p] || (v[p + s] == v[p] && ix[p + s] < ix[p])) {
                v[p] = v[p + s];
                ix[p] = ix[p + s];
            }
        }
    }
    if (threadIdx.x == 0) { bestVal[blockIdx.x] = v[0]; bestIdx[blockIdx.x] = ix[0]; }
}

#define NUM_BANKS 32
#define LOG_NUM_BANKS 5
#define CONFLICT_FREE_OFFSET(n) ((n) >> LOG_NUM_BANKS)
__global__ void prescan(int *g_odata, const int *g_idata, int *sums, int n)
{
    extern __shared__ int temp[];
    int thid = threadIdx.x;
    int base = blockIdx.x * n;
    int offset = 1;
    int ai = thid, bi = thid + (n / 2);
    int bankOffsetA = CONFLICT_FREE_OFFSET(ai), bankOffsetB = CONFLICT_FREE_OFFSET(bi);
    temp[ai + bankOffsetA] = g_idata[base + ai];
    temp[bi + bankOffsetB] = g_idata[base + bi];
    for (int d = n >> 1; d > 0; d >>= 1) {
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
        sums[blockIdx.x] = temp[n - 1 + CONFLICT_FREE_OFFSET(n - 1)];
        temp[n - 1 + CONFLICT_FREE_OFFSET(n - 1)] = 0;
    }
    for (int d = 1; d < n; d *= 2) {
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
    g_odata[base + ai] = temp[ai + bankOffsetA];
    g_odata[base + bi] = temp[bi + bankOffsetB];
}

// Hillis & Steele, double buffered
__global__ void scanHS(const float *in, float *out, int n)
{
    __shared__ float buf[2 * 1024];
    int t = threadIdx.x, g = blockIdx.x * 1024 + t;
    int pout = 0, pin = 1;
    buf[t] = g < n ? in[g] : 0.f;
    __syncthreads();
    for (int off = 1; off < 1024; off <<= 1) {
        pout = 1 - pout;
        pin = 1 - pout;
        if (t >= off) buf[pout * 1024 + t] = buf[pin * 1024 + t] + buf[pin * 1024 + t - off];
        else buf[pout * 1024 + t] = buf[pin * 1024 + t];
        __syncthreads();
    }
    if (g < n) out[g] = buf[pout * 1024 + t];
}

int main(int argc, char **argv)
{
    const int N = 1 << 24;
    int *di = mk<int>(N), *dout, *dsums;
    float *fa = mk<float>(N), *fb = mk<float>(N), *fo;
    cudaMalloc((void **)&dout, N * sizeof(int));
    cudaMalloc((void **)&dsums, (N / 1024) * sizeof(int));
    cudaMalloc((void **)&fo, N * sizeof(float));
    reduce6<int, 512, true><<<512, 512, 512 * sizeof(int)>>>(di, dout, N);
    show("reduce6<int>", dout, 512 * sizeof(int));
    reduce6<float, 128, false><<<640, 128, 128 * sizeof(float)>>>(fa, fo, N - 77);
    show("reduce6<float>", fo, 640 * sizeof(float));
    dot<<<1056, threadsPerBlock>>>(fa, fb, fo, N - 5);
    show("dot", fo, 1056 * sizeof(float));
    argMax<<<264, 512>>>(fa, N - 1234, fo, (uint32 *)dout);
    show("argMax.v", fo, 264 * sizeof(float));
    show("argMax.i", dout, 264 * sizeof(int));
    prescan<<<N / 1024, 512, (1024 + 32) * sizeof(int)>>>(dout, di, dsums, 1024);
    show("prescan", dout, N * sizeof(int));
    show("prescan.sums", dsums, N / 1024 * sizeof(int));
    scanHS<<<(N - 99 + 1023) / 1024, 1024>>>(fa, fo, N - 99);
    show("scanHS", fo, (N - 99) * sizeof(float));
    return 0;
}
