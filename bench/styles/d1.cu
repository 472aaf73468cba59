// Block reductions: SHOC-like sum, arg-max of structs, row softmax, row layer norm, tile variance in 2-D blocks
#include "shown.h"
#include <cfloat>

// ---------------------------------------------------------------- SHOC style
template <class T, int blockSize>
__global__ void shocReduce(const T* __restrict__ g_idata, T* __restrict__ g_odata,
                           const unsigned int n)
{
    const unsigned int tid = threadIdx.x;
    unsigned int i = (blockIdx.x * (blockDim.x * 2)) + tid;
    const unsigned int gridSize = blockDim.x * 2 * gridDim.x;

    __shared__ volatile T sdata[blockSize];
    T sum = 0;

    // Reduce multiple elements per thread, strided by grid size
    while (i < n)
    {
        sum += g_idata[i];
        if (i + blockSize < n)
            sum += g_idata[i + blockSize];
        i += gridSize;
    }
    sdata[tid] = sum;
    __syncthreads();

    // do reduction in shared mem
    for (unsigned int s = blockDim.x / 2; s > 32; s >>= 1)
    {
        if (tid < s)
        {
            sdata[tid] += sdata[tid + s];
        }
        __syncthreads();
    }

    if (tid < 32)
    {
        T v = sdata[tid] + sdata[tid + 32];
        for (int off = 16; off > 0; off >>= 1)
            v += __shfl_down_sync(0xffffffffu, v, off);
        if (tid == 0)
            g_odata[blockIdx.x] = v;
    }
}

// ---------------------------------------------------------------- arg max
struct ValIdx {
    float val;
    int   idx;
};

__device__ __forceinline__ ValIdx better(ValIdx a, ValIdx b)
{
    if (b.val > a.val || (b.val == a.val && b.idx < a.idx))
        return b;
    return a;
}

#define ARGMAX_THREADS 256

__global__ void blockArgMax(const float *scores, ValIdx *best, int cols)
{
    __shared__ ValIdx cand[ARGMAX_THREADS];

    const float *row = scores + (size_t)blockIdx.x * cols;
    ValIdx mine;
    mine.val = -FLT_MAX;
    mine.idx = -1;
    for (int c = threadIdx.x; c < cols; c += ARGMAX_THREADS) {
        ValIdx t;
        t.val = row[c] * (1.0f + 0.0001f * (float)(c % 37));
        t.idx = c;
        mine = better(mine, t);
    }
    cand[threadIdx.x] = mine;
    __syncthreads();

    for (int s = ARGMAX_THREADS / 2; s > 0; s /= 2) {
        if (threadIdx.x < s)
            cand[threadIdx.x] = better(cand[threadIdx.x], cand[threadIdx.x + s]);
        __syncthreads();
    }
    if (threadIdx.x == 0)
        best[blockIdx.x] = cand[0];
}

// ---------------------------------------------------------------- softmax (llm.c / transformer homework)
__global__ void softmax_rows_kernel(float *out, const float *inp, int N, int C)
{
    extern __shared__ float shared[];
    int idx = blockIdx.x;
    int tid = threadIdx.x;
    int block_size = blockDim.x;
    const float *x = inp + (size_t)idx * C;
    // thread coarsening
    float maxval = -INFINITY;
    for (int i = tid; i < C; i += block_size) {
        maxval = fmaxf(maxval, x[i]);
    }
    shared[tid] = maxval;
    // reductions
    for (int stride = block_size / 2; stride >= 1; stride /= 2) {
        __syncthreads();
        if (tid < stride) {
            shared[tid] = fmaxf(shared[tid], shared[tid + stride]);
        }
    }
    __syncthreads();
    float offset = shared[0];
    // compute expf and write the result to global memory
    for (int i = tid; i < C; i += block_size) {
        out[(size_t)idx * C + i] = expf(x[i] - offset);
    }
    __syncthreads();
    // thread coarsening again, for the sum
    float sumval = 0.0f;
    for (int i = tid; i < C; i += block_size) {
        sumval += out[(size_t)idx * C + i];
    }
    shared[tid] = sumval;
    for (int stride = block_size / 2; stride >= 1; stride /= 2) {
        __syncthreads();
        if (tid < stride) {
            shared[tid] += shared[tid + stride];
        }
    }
    __syncthreads();
    float sum = shared[0];
    for (int i = tid; i < C; i += block_size) {
        out[(size_t)idx * C + i] /= sum;
    }
}

// ---------------------------------------------------------------- layer norm with Welford merge
struct WelfordData {
    float mean, m2, count;
};

__device__ inline WelfordData welford_combine(const WelfordData &a, const WelfordData &b)
{
    WelfordData r;
    r.count = a.count + b.count;
    if (r.count == 0.f) { r.mean = 0.f; r.m2 = 0.f; return r; }
    float delta = b.mean - a.mean;
    float nb = b.count / r.count;
    r.mean = a.mean + delta * nb;
    r.m2 = a.m2 + b.m2 + delta * delta * a.count * nb;
    return r;
}

template <int NT>
__global__ void layernorm_welford(const float *__restrict__ x, const float *__restrict__ gamma,
                                  const float *__restrict__ beta, float *__restrict__ y, int dim, float eps)
{
    __shared__ WelfordData s[NT];
    const float *xr = x + (size_t)blockIdx.x * dim;
    float *yr = y + (size_t)blockIdx.x * dim;
    WelfordData w = {0.f, 0.f, 0.f};
    for (int i = threadIdx.x; i < dim; i += NT) {
        w.count += 1.f;
        float d = xr[i] - w.mean;
        w.mean += d / w.count;
        w.m2 += d * (xr[i] - w.mean);
    }
    s[threadIdx.x] = w;
    __syncthreads();
#pragma unroll
    for (int off = NT / 2; off > 0; off >>= 1) {
        if (threadIdx.x < off)
            s[threadIdx.x] = welford_combine(s[threadIdx.x], s[threadIdx.x + off]);
        __syncthreads();
    }
    float mu = s[0].mean;
    float rstd = rsqrtf(s[0].m2 / s[0].count + eps);
    for (int i = threadIdx.x; i < dim; i += NT)
        yr[i] = (xr[i] - mu) * rstd * gamma[i] + beta[i];
}

// ---------------------------------------------------------------- tile variance, 2-D block
#define TB_X 32
#define TB_Y 8
__global__ void tileVariance(const float *img, float *meanOut, float *varOut, int width, int height)
{
    __shared__ float sSum[TB_Y][TB_X];
    __shared__ float sSqr[TB_Y][TB_X];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * TB_X + tx;
    int y0 = blockIdx.y * 32 + ty;

    float a = 0.f, b = 0.f;
    for (int k = 0; k < 32; k += TB_Y) {
        int y = y0 + k;
        if (x < width && y < height) {
            float v = img[y * width + x];
            a += v;
            b += v * v;
        }
    }
    sSum[ty][tx] = a;
    sSqr[ty][tx] = b;
    __syncthreads();

    // along x
    for (int s = TB_X / 2; s > 0; s >>= 1) {
        if (tx < s) {
            sSum[ty][tx] += sSum[ty][tx + s];
            sSqr[ty][tx] += sSqr[ty][tx + s];
        }
        __syncthreads();
    }
    // along y
    for (int s = TB_Y / 2; s > 0; s >>= 1) {
        if (ty < s && tx == 0) {
            sSum[ty][0] += sSum[ty + s][0];
            sSqr[ty][0] += sSqr[ty + s][0];
        }
        __syncthreads();
    }
    if (tx == 0 && ty == 0) {
        float m = sSum[0][0] / 1024.f;
        int o = blockIdx.y * gridDim.x + blockIdx.x;
        meanOut[o] = m;
        varOut[o] = sSqr[0][0] / 1024.f - m * m;
    }
}

// ---------------------------------------------------------------- dot product with several moments (statistics homework)
__global__ void moments4(const double *v, double *partial, int n)
{
    __shared__ double cache[4][128];
    int t = threadIdx.x;
    double m1 = 0, m2 = 0, m3 = 0, m4 = 0;
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) {
        double d = v[i] - 6.25;
        m1 += d; m2 += d * d; m3 += d * d * d; m4 += d * d * d * d;
    }
    cache[0][t] = m1;
    cache[1][t] = m2;
    cache[2][t] = m3;
    cache[3][t] = m4;
    __syncthreads();
    int i = blockDim.x / 2;
    while (i != 0) {
        if (t < i)
            for (int k = 0; k < 4; k++)
                cache[k][t] += cache[k][t + i];
        __syncthreads();
        i /= 2;
    }
    if (t < 4)
        partial[blockIdx.x * 4 + t] = cache[t][0];
}

int main()
{
    {
        unsigned int n = 1u << 25;
        float *in = mk<float>(n), *out = mk<float>(1024);
        shocReduce<float, 256><<<512, 256>>>(in, out, n);
        show("shocReduce", out, 512 * sizeof(float));
        double *din = mk<double>(1 << 24), *dout = mk<double>(1024);
        shocReduce<double, 256><<<512, 256>>>(din, dout, 1 << 24);
        show("shocReduce_d", dout, 512 * sizeof(double));
        double *mo = mk<double>(4 * 1024);
        moments4<<<1024, 128>>>(din, mo, 1 << 24);
        show("moments4", mo, 4 * 1024 * sizeof(double));
        cudaFree(in); cudaFree(out); cudaFree(din); cudaFree(dout); cudaFree(mo);
    }
    {
        int rows = 8192, cols = 4096;
        float *in = mk<float>((size_t)rows * cols);
        ValIdx *best;
        cudaMalloc(&best, rows * sizeof(ValIdx));
        blockArgMax<<<rows, ARGMAX_THREADS>>>(in, best, cols);
        show("blockArgMax", best, rows * sizeof(ValIdx));
        cudaFree(in); cudaFree(best);
    }
    {
        int N = 8192, C = 2048;
        float *in = mk<float>((size_t)N * C), *out = mk<float>((size_t)N * C);
        softmax_rows_kernel<<<N, 256, 256 * sizeof(float)>>>(out, in, N, C);
        show("softmax_rows_kernel", out, (size_t)N * C * sizeof(float));
        float *g = mk<float>(C), *b = mk<float>(C);
        layernorm_welford<128><<<N, 128>>>(in, g, b, out, C, 1e-5f);
        show("layernorm_welford", out, (size_t)N * C * sizeof(float));
        cudaFree(in); cudaFree(out);
    }
    {
        int W = 8192, H = 4096;
        float *img = mk<float>((size_t)W * H);
        int nt = (W / 32) * (H / 32);
        float *mu = mk<float>(nt), *var = mk<float>(nt);
        dim3 blk(TB_X, TB_Y), grd(W / 32, H / 32);
        tileVariance<<<grd, blk>>>(img, mu, var, W, H);
        show("tileVariance", var, nt * sizeof(float));
    }
    return 0;
}
