// derivatives pricing
#include "shown.h"
#include <cmath>
#include <vector>

typedef double real;

template <class T, class F> T *fillDev(size_t n, F f)
{
    std::vector<T> h(n);
    for (size_t i = 0; i < n; i++) h[i] = (T)f(i);
    T *d;
    cudaMalloc(&d, n * sizeof(T));
    cudaMemcpy(d, h.data(), n * sizeof(T), cudaMemcpyHostToDevice);
    return d;
}

#define NUM_STEPS 511
#define MAX_OPTIONS 1024
struct OptionData { float S, X, vDt, puByDf, pdByDf; };
static __constant__ OptionData d_OptionData[MAX_OPTIONS];

__device__ inline float expiryCallValue(float S, float X, float vDt, int i)
{
    float d = S * __expf(vDt * (2.0f * i - NUM_STEPS)) - X;
    return (d > 0.0F) ? d : 0.0F;
}

// one option per block, all the tree in shared memory
__global__ void binomialOptionsKernel(float *d_CallValue)
{
    __shared__ float callA[NUM_STEPS + 1];
    __shared__ float callB[NUM_STEPS + 1];
    const int tid = threadIdx.x;
    const float S = d_OptionData[blockIdx.x].S;
    const float X = d_OptionData[blockIdx.x].X;
    const float vDt = d_OptionData[blockIdx.x].vDt;
    const float puByDf = d_OptionData[blockIdx.x].puByDf;
    const float pdByDf = d_OptionData[blockIdx.x].pdByDf;

    for (int i = tid; i <= NUM_STEPS; i += blockDim.x) callA[i] = expiryCallValue(S, X, vDt, i);
    if (tid == 0) callB[NUM_STEPS] = 0.f;

    // two steps of the backward walk per turn: A -> B -> A
    int k = NUM_STEPS;
    while (k > 1) {
        __syncthreads();
        for (int i = tid; i < k; i += blockDim.x) callB[i] = puByDf * callA[i + 1] + pdByDf * callA[i];
        k--;
        __syncthreads();
        for (int i = tid; i < k; i += blockDim.x) callA[i] = puByDf * callB[i + 1] + pdByDf * callB[i];
        k--;
    }
    __syncthreads();
    if (tid == 0) d_CallValue[blockIdx.x] = puByDf * callA[1] + pdByDf * callA[0];
}

#define MC_THREADS 256
template <class T, unsigned int blockSize>
__device__ void sumReduceSharedMem(volatile T *sum, volatile T *sum2, int tid)
{
    if (blockSize >= 512) { if (tid < 256) { sum[tid] += sum[tid + 256]; sum2[tid] += sum2[tid + 256]; } __syncthreads(); }
    if (blockSize >= 256) { if (tid < 128) { sum[tid] += sum[tid + 128]; sum2[tid] += sum2[tid + 128]; } __syncthreads(); }
    if (blockSize >= 128) { if (tid < 64) { sum[tid] += sum[tid + 64]; sum2[tid] += sum2[tid + 64]; } __syncthreads(); }
    if (tid < 32) {
        sum[tid] += sum[tid + 32]; sum2[tid] += sum2[tid + 32]; __syncwarp();
        if (tid < 16) { sum[tid] += sum[tid + 16]; sum2[tid] += sum2[tid + 16]; } __syncwarp();
        if (tid < 8) { sum[tid] += sum[tid + 8]; sum2[tid] += sum2[tid + 8]; } __syncwarp();
        if (tid < 4) { sum[tid] += sum[tid + 4]; sum2[tid] += sum2[tid + 4]; } __syncwarp();
        if (tid < 2) { sum[tid] += sum[tid + 2]; sum2[tid] += sum2[tid + 2]; } __syncwarp();
        if (tid < 1) { sum[tid] += sum[tid + 1]; sum2[tid] += sum2[tid + 1]; } __syncwarp();
    }
}
__global__ void MonteCarloOneBlockPerOption(const float *__restrict__ d_Samples, float2 *d_Result, int pathN)
{
    __shared__ real s_SumCall[MC_THREADS];
    __shared__ real s_Sum2Call[MC_THREADS];
    const float S = d_OptionData[blockIdx.x].S;
    const float X = d_OptionData[blockIdx.x].X;
    const float MuByT = 0.01f;
    const float VBySqrtT = 5.f * d_OptionData[blockIdx.x].vDt;
    real sumCall = 0, sum2Call = 0;
    for (int i = threadIdx.x; i < pathN; i += blockDim.x) {
        float r = d_Samples[i];
        float endStock = S * __expf(MuByT + VBySqrtT * r);
        float callValue = fmaxf(endStock - X, 0.f);
        sumCall += callValue;
        sum2Call += callValue * callValue;
    }
    s_SumCall[threadIdx.x] = sumCall;
    s_Sum2Call[threadIdx.x] = sum2Call;
    __syncthreads();
    sumReduceSharedMem<real, MC_THREADS>(s_SumCall, s_Sum2Call, threadIdx.x);
    if (threadIdx.x == 0) d_Result[blockIdx.x] = make_float2((float)(s_SumCall[0] / pathN), (float)(s_Sum2Call[0] / pathN));
}

// American put on a trinomial tree; the value arrays are swapped every step
#define TRI_STEPS 200
__global__ void trinomial_american_put(float *price, float r, float dt)
{
    __shared__ float bufs[2][2 * TRI_STEPS + 2];
    float *cur = bufs[0], *nxt = bufs[1];
    const OptionData od = d_OptionData[blockIdx.x];
    const float u = __expf(od.vDt * 1.41421356f), d = 1.f / u;
    const float disc = __expf(-r * dt);
    const float pu = 0.26f, pm = 0.5f, pd = 0.24f;
    const int i = threadIdx.x;
    // node j at step s has stock S*u^(j-s)
    if (i <= 2 * TRI_STEPS) {
        float st = od.S * __powf(u, (float)(i - TRI_STEPS));
        cur[i] = fmaxf(od.X - st, 0.f);
    }
    __syncthreads();
    for (int s = TRI_STEPS - 1; s >= 0; s--) {
        if (i <= 2 * s) {
            float cont = disc * (pd * cur[i] + pm * cur[i + 1] + pu * cur[i + 2]);
            float st = od.S * __powf(i >= s ? u : d, fabsf((float)(i - s)));
            nxt[i] = fmaxf(cont, od.X - st);
        }
        __syncthreads();
        float *tmp = cur;
        cur = nxt;
        nxt = tmp;
    }
    if (i == 0) price[blockIdx.x] = cur[0];
}

// many small tridiagonal systems, one per thread, interleaved
#define SYS 48
__global__ void thomas_per_thread(const float *a, const float *b, const float *c, const float *d, float *x, int nsys)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= nsys) return;
    float cp[SYS], dp[SYS];
    cp[0] = c[t] / b[t];
    dp[0] = d[t] / b[t];
    for (int i = 1; i < SYS; i++) {
        int q = i * nsys + t;
        float w = 1.f / (b[q] - a[q] * cp[i - 1]);
        cp[i] = c[q] * w;
        dp[i] = (d[q] - a[q] * dp[i - 1]) * w;
    }
    float last = dp[SYS - 1];
    x[(SYS - 1) * nsys + t] = last;
    for (int i = SYS - 2; i >= 0; i--) {
        last = dp[i] - cp[i] * last;
        x[i * nsys + t] = last;
    }
}

// cyclic reduction, one system per block
template <class T>
__global__ void crKernel(T *d_a, T *d_b, T *d_c, T *d_d, T *d_x, int iterations)
{
    int thid = threadIdx.x;
    int bid = blockIdx.x;
    int stride = 1;
    int numThreads = blockDim.x;
    const unsigned int systemSize = blockDim.x * 2;

    extern __shared__ char array[];
    T *a = (T *)array;
    T *b = (T *)&a[systemSize];
    T *c = (T *)&b[systemSize];
    T *d = (T *)&c[systemSize];
    T *x = (T *)&d[systemSize];

    a[thid] = d_a[thid + bid * systemSize];
    a[thid + blockDim.x] = d_a[thid + blockDim.x + bid * systemSize];
    b[thid] = d_b[thid + bid * systemSize];
    b[thid + blockDim.x] = d_b[thid + blockDim.x + bid * systemSize];
    c[thid] = d_c[thid + bid * systemSize];
    c[thid + blockDim.x] = d_c[thid + blockDim.x + bid * systemSize];
    d[thid] = d_d[thid + bid * systemSize];
    d[thid + blockDim.x] = d_d[thid + blockDim.x + bid * systemSize];
    __syncthreads();

    // forward elimination
    for (int j = 0; j < iterations; j++) {
        __syncthreads();
        stride *= 2;
        int delta = stride / 2;
        if (threadIdx.x < numThreads) {
            int i = stride * threadIdx.x + stride - 1;
            int iLeft = i - delta;
            int iRight = i + delta;
            if (iRight >= systemSize) iRight = systemSize - 1;
            T tmp1 = a[i] / b[iLeft];
            T tmp2 = c[i] / b[iRight];
            b[i] = b[i] - c[iLeft] * tmp1 - a[iRight] * tmp2;
            d[i] = d[i] - d[iLeft] * tmp1 - d[iRight] * tmp2;
            a[i] = -a[iLeft] * tmp1;
            c[i] = -c[iRight] * tmp2;
        }
        numThreads /= 2;
    }
    __syncthreads();
    if (thid < 1) {
        int addr1 = stride - 1;
        int addr2 = 2 * stride - 1;
        T tmp3 = b[addr2] * b[addr1] - c[addr1] * a[addr2];
        x[addr1] = (b[addr2] * d[addr1] - c[addr1] * d[addr2]) / tmp3;
        x[addr2] = (d[addr2] * b[addr1] - d[addr1] * a[addr2]) / tmp3;
    }
    // backward substitution
    numThreads = 2;
    for (int j = 0; j < iterations; j++) {
        int delta = stride / 2;
        __syncthreads();
        if (thid < numThreads) {
            int i = stride * thid + stride / 2 - 1;
            if (i == delta - 1)
                x[i] = (d[i] - c[i] * x[i + delta]) / b[i];
            else
                x[i] = (d[i] - a[i] * x[i - delta] - c[i] * x[i + delta]) / b[i];
        }
        stride /= 2;
        numThreads *= 2;
    }
    __syncthreads();
    d_x[thid + bid * systemSize] = x[thid];
    d_x[thid + blockDim.x + bid * systemSize] = x[thid + blockDim.x];
}

// Bollinger bands of many series
#define WINDOW 20
template <int BLK>
__global__ void bollinger_bands(const float *__restrict__ close, float2 *__restrict__ bands, int len, float k)
{
    __shared__ float s[BLK + WINDOW - 1];
    const float *series = close + (size_t)blockIdx.y * len;
    int t = blockIdx.x * BLK + threadIdx.x;
    s[threadIdx.x + WINDOW - 1] = t < len ? series[t] : 0.f;
    if (threadIdx.x < WINDOW - 1) {
        int q = (int)(blockIdx.x * BLK + threadIdx.x) - (WINDOW - 1);
        s[threadIdx.x] = q >= 0 ? series[q] : series[0];
    }
    __syncthreads();
    if (t >= len) return;
    float sum = 0.f, sq = 0.f;
#pragma unroll 4
    for (int i = 0; i < WINDOW; i++) {
        float v = s[threadIdx.x + i];
        sum += v;
        sq += v * v;
    }
    float mean = sum / WINDOW;
    float sd = sqrtf(fmaxf(sq / WINDOW - mean * mean, 0.f));
    bands[(size_t)blockIdx.y * len + t] = make_float2(mean - k * sd, mean + k * sd);
}

// path kept in a local array and sorted: payoff on a quantile of the fixings
#define FIXINGS 24
__global__ void asian_quantile(float *payoff, int npath, float S0, float strike, int which)
{
    __shared__ float drift[FIXINGS];
    if (threadIdx.x < FIXINGS) drift[threadIdx.x] = 0.0005f * (threadIdx.x + 1);
    __syncthreads();
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= npath) return;
    unsigned state = id * 747796405u + 2891336453u;
    float path[FIXINGS];
    float s = S0;
    for (int i = 0; i < FIXINGS; i++) {
        state = state * 1664525u + 1013904223u;
        float u = (state >> 8) * (1.f / 16777216.f) - 0.5f;
        s *= 1.f + drift[i] + 0.1f * u;
        path[i] = s;
    }
    for (int i = 1; i < FIXINGS; i++) {
        float v = path[i];
        int j = i - 1;
        while (j >= 0 && path[j] > v) {
            path[j + 1] = path[j];
            j--;
        }
        path[j + 1] = v;
    }
    payoff[id] = fmaxf(path[which] - strike, 0.f);
}

// segmented inclusive scan of cash flows; flag starts a new deal
__global__ void segscan_cashflow(const float *flow, const int *head, float *out, int n)
{
    __shared__ float val[2][512];
    __shared__ int flg[2][512];
    int tid = threadIdx.x, gid = blockIdx.x * 512 + tid;
    int pin = 1, pout = 0;
    val[pout][tid] = gid < n ? flow[gid] : 0.f;
    flg[pout][tid] = gid < n ? (head[gid] == 0) : 1;
    __syncthreads();
    for (int off = 1; off < 512; off <<= 1) {
        pout = 1 - pout;
        pin = 1 - pout;
        if (tid >= off) {
            val[pout][tid] = flg[pin][tid] ? val[pin][tid] : val[pin][tid] + val[pin][tid - off];
            flg[pout][tid] = flg[pin][tid] | flg[pin][tid - off];
        } else {
            val[pout][tid] = val[pin][tid];
            flg[pout][tid] = flg[pin][tid];
        }
        __syncthreads();
    }
    if (gid < n) out[gid] = val[pout][tid];
}

int main()
{
    OptionData h[MAX_OPTIONS];
    for (int i = 0; i < MAX_OPTIONS; i++) {
        h[i].S = 20.f + i % 30;
        h[i].X = 15.f + i % 37;
        h[i].vDt = 0.01f + 0.0001f * (i % 50);
        h[i].puByDf = 0.499f;
        h[i].pdByDf = 0.500f;
    }
    cudaMemcpyToSymbol(d_OptionData, h, sizeof h);
    float *price = mk<float>(2 * MAX_OPTIONS);
    binomialOptionsKernel<<<MAX_OPTIONS, 128>>>(price);
    show("binomialOptionsKernel", price, MAX_OPTIONS * 4);

    const int pathN = 50000;
    float *samples = fillDev<float>(pathN, [](size_t i) { return ((i * 7919) % 2003) / 500.0 - 2.0; });
    MonteCarloOneBlockPerOption<<<MAX_OPTIONS, MC_THREADS>>>(samples, (float2 *)price, pathN);
    show("MonteCarloOneBlockPerOption", price, 2 * MAX_OPTIONS * 4);

    trinomial_american_put<<<MAX_OPTIONS, 416>>>(price, 0.03f, 0.005f);
    show("trinomial_american_put", price, MAX_OPTIONS * 4);

    const int nsys = 100003;
    const size_t N = (size_t)nsys * SYS;
    float *a = fillDev<float>(N, [](size_t i) { return (i % 13) * 0.1; });
    float *b = fillDev<float>(N, [](size_t i) { return 4.0 + (i % 7); });
    float *c = fillDev<float>(N, [](size_t i) { return (i % 11) * 0.1; });
    float *d = mk<float>(N), *x = mk<float>(N);
    thomas_per_thread<<<(nsys + 127) / 128, 128>>>(a, b, c, d, x, nsys);
    show("thomas_per_thread", x, N * 4);

    const int sys = 512, cnt = 8192;
    float *ca = fillDev<float>((size_t)sys * cnt, [](size_t i) { return i % 512 == 0 ? 0.0 : (i % 13) * 0.1; });
    float *cc = fillDev<float>((size_t)sys * cnt, [](size_t i) { return i % 512 == 511 ? 0.0 : (i % 11) * 0.1; });
    crKernel<float><<<cnt, sys / 2, 5 * sys * sizeof(float)>>>(ca, b, cc, d, x, 8);
    show("crKernel", x, (size_t)sys * cnt * 4);

    int len = 10007, series = 400;
    float2 *bands = (float2 *)mk<float>(2 * (size_t)len * series);
    bollinger_bands<256><<<dim3((len + 255) / 256, series), 256>>>(d, bands, len, 2.f);
    show("bollinger_bands", bands, (size_t)len * series * 8);

    int npath = 1500000;
    asian_quantile<<<(npath + 191) / 192, 192>>>(x, npath, 100.f, 101.f, 17);
    show("asian_quantile", x, (size_t)npath * 4);

    int nf = (1 << 22) - 333;
    int *head = mk<int>(nf);
    segscan_cashflow<<<(nf + 511) / 512, 512>>>(d, head, x, nf);
    show("segscan_cashflow", x, (size_t)nf * 4);
    return 0;
}
