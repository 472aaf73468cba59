// Reductions: the usual course of idioms
#include "shown.h"

// sequential addressing with a grid stride prefix
__global__ void sum_seq(const float *in, float *partial, int n)
{
    extern __shared__ float sdata[];
    unsigned tid = threadIdx.x;
    float mine = 0.f;
    for (int i = blockIdx.x * blockDim.x + tid; i < n; i += gridDim.x * blockDim.x)
        mine += in[i];
    sdata[tid] = mine;
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) sdata[tid] += sdata[tid + s];
        __syncthreads();
    }
    if (tid == 0) partial[blockIdx.x] = sdata[0];
}

// interleaved addressing with the modulo test
__global__ void sum_interleaved(const int *g_in, int *g_out)
{
    __shared__ int cache[512];
    int t = threadIdx.x;
    cache[t] = g_in[blockIdx.x * 512 + t];
    __syncthreads();
    for (int step = 1; step < 512; step *= 2) {
        if (t % (2 * step) == 0)
            cache[t] += cache[t + step];
        __syncthreads();
    }
    if (t == 0) g_out[blockIdx.x] = cache[0];
}

// interleaved addressing without divergence: thread index is stretched
__global__ void max_strided(const float *v, float *m, int n)
{
    __shared__ float sm[256];
    int g = blockIdx.x * 512 + threadIdx.x;
    float a = g < n ? v[g] : -1e30f;
    float b = g + 256 < n ? v[g + 256] : -1e30f;
    sm[threadIdx.x] = fmaxf(a, b) - 0.001f * (float)threadIdx.x;
    __syncthreads();
    for (int s = 1; s < blockDim.x; s <<= 1) {
        int idx = 2 * s * threadIdx.x;
        if (idx + s < blockDim.x)
            sm[idx] = fmaxf(sm[idx], sm[idx + s]);
        __syncthreads();
    }
    if (threadIdx.x == 0) m[blockIdx.x] = sm[0];
}

// dot product, block size as a template argument, last warp unrolled with __syncwarp
template <unsigned int BS>
__device__ void warpSum(volatile double *s, unsigned tid)
{
    if (BS >= 64) { s[tid] += s[tid + 32]; __syncwarp(); }
    double v = s[tid];
    v += s[tid + 16]; __syncwarp(); s[tid] = v; __syncwarp();
    v += s[tid + 8];  __syncwarp(); s[tid] = v; __syncwarp();
    v += s[tid + 4];  __syncwarp(); s[tid] = v; __syncwarp();
    v += s[tid + 2];  __syncwarp(); s[tid] = v; __syncwarp();
    v += s[tid + 1];  __syncwarp(); s[tid] = v; __syncwarp();
}

template <unsigned int BS>
__global__ void dot_unrolled(const double *x, const double *y, double *out, size_t n)
{
    __shared__ double s[BS + 32];
    unsigned tid = threadIdx.x;
    double acc = 0.0;
    size_t i = (size_t)blockIdx.x * BS * 2 + tid;
    while (i < n) {
        acc += x[i] * y[i];
        if (i + BS < n) acc += x[i + BS] * y[i + BS];
        i += (size_t)BS * 2 * gridDim.x;
    }
    s[tid] = acc;
    if (tid < 32) s[BS + tid] = 0.0;
    __syncthreads();
    if (BS >= 1024) { if (tid < 512) s[tid] += s[tid + 512]; __syncthreads(); }
    if (BS >= 512) { if (tid < 256) s[tid] += s[tid + 256]; __syncthreads(); }
    if (BS >= 256) { if (tid < 128) s[tid] += s[tid + 128]; __syncthreads(); }
    if (BS >= 128) { if (tid < 64) s[tid] += s[tid + 64]; __syncthreads(); }
    if (tid < 32) warpSum<BS>(s, tid);
    if (tid == 0) out[blockIdx.x] = s[0];
}

// minimum and maximum together in two arrays
__global__ void minmax(const int *data, int2 *res, int n)
{
    __shared__ int lo[128];
    __shared__ int hi[128];
    int tid = threadIdx.x;
    int mn = 0x7fffffff, mx = -0x7fffffff;
    int begin = blockIdx.x * 2048;
    for (int k = 0; k < 2048; k += 128) {
        int i = begin + k + tid;
        if (i < n) {
            int v = data[i] * 31 - (i & 63);
            mn = min(mn, v);
            mx = max(mx, v);
        }
    }
    lo[tid] = mn;
    hi[tid] = mx;
    for (int half = 64; half >= 1; half /= 2) {
        __syncthreads();
        if (tid < half) {
            if (lo[tid + half] < lo[tid]) lo[tid] = lo[tid + half];
            if (hi[tid + half] > hi[tid]) hi[tid] = hi[tid + half];
        }
    }
    if (!tid) res[blockIdx.x] = make_int2(lo[0], hi[0]);
}

// argmax, ties broken by the lower index
__global__ void argmax_rows(const float *mat, int *where, float *value, int cols)
{
    __shared__ float val[256];
    __shared__ int idx[256];
    const float *row = mat + (size_t)blockIdx.x * cols;
    float bv = -1.0f;
    int bi = cols;
    for (int c = threadIdx.x; c < cols; c += 256) {
        float v = row[c];
        if (v > bv) { bv = v; bi = c; }
    }
    val[threadIdx.x] = bv;
    idx[threadIdx.x] = bi;
    __syncthreads();
    for (int off = 128; off; off >>= 1) {
        if (threadIdx.x < off) {
            float o = val[threadIdx.x + off];
            int oi = idx[threadIdx.x + off];
            if (o > val[threadIdx.x] || (o == val[threadIdx.x] && oi < idx[threadIdx.x])) {
                val[threadIdx.x] = o;
                idx[threadIdx.x] = oi;
            }
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        where[blockIdx.x] = idx[0];
        value[blockIdx.x] = val[0];
    }
}

int main()
{
    {
        int n = (1 << 25) - 5;
        float *a = mk<float>(n), *p = mk<float>(2048);
        sum_seq<<<2048, 256, 256 * sizeof(float)>>>(a, p, n);
        show("sum_seq/256", p, 2048 * sizeof(float));
        sum_seq<<<1024, 64, 64 * sizeof(float)>>>(a, p, n);
        show("sum_seq/64", p, 2048 * sizeof(float));
        float *m = mk<float>(n / 512 + 1);
        max_strided<<<(n + 511) / 512, 256>>>(a, m, n);
        show("max_strided", m, (n + 511) / 512 * sizeof(float));
    }
    {
        int n = 1 << 25;
        int *a = mk<int>(n), *p = mk<int>(n / 512);
        sum_interleaved<<<n / 512, 512>>>(a, p);
        show("sum_interleaved", p, n / 512 * sizeof(int));
        int2 *r = (int2 *)mk<int>(2 * (n / 2048 + 1));
        minmax<<<n / 2048, 128>>>(a, r, n - 100);
        show("minmax", r, n / 2048 * sizeof(int2));
    }
    {
        size_t n = (1 << 24) - 3;
        double *x = mk<double>(n), *y = mk<double>(n), *o = mk<double>(4096);
        dot_unrolled<512><<<4096, 512>>>(x, y, o, n);
        show("dot_unrolled<512>", o, 4096 * sizeof(double));
        dot_unrolled<128><<<1000, 128>>>(x, y, o, n);
        show("dot_unrolled<128>", o, 1000 * sizeof(double));
    }
    {
        int rows = 8192, cols = 3000;
        float *m = mk<float>((size_t)rows * cols), *v = mk<float>(rows);
        int *w = mk<int>(rows);
        argmax_rows<<<rows, 256>>>(m, w, v, cols);
        show("argmax_rows.i", w, rows * sizeof(int));
        show("argmax_rows.v", v, rows * sizeof(float));
    }
    return 0;
}
