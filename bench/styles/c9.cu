// option pricing and friends
#include "shown.h"
#include <math.h>

struct OptionData { float S, X, T, R, V; };

#define NUM_STEPS 512
__global__ void binomialOptionsKernel(const float *S0, const float *X0, float *price)
{
    __shared__ float call[NUM_STEPS + 1];
    const int tid = threadIdx.x;
    const float S = 5.f + S0[blockIdx.x], X = 5.f + X0[blockIdx.x];
    const float T = 1.f, R = 0.06f, V = 0.1f;
    const float dt = T / (float)NUM_STEPS;
    const float vDt = V * sqrtf(dt), rDt = R * dt;
    const float If = expf(rDt), Df = expf(-rDt);
    const float u = expf(vDt), d = expf(-vDt);
    const float pu = (If - d) / (u - d), pd = 1.0f - pu;
    const float puDf = pu * Df, pdDf = pd * Df;
    for (int i = tid; i <= NUM_STEPS; i += blockDim.x) {
        float v = S * expf(vDt * (2.0f * i - NUM_STEPS)) - X;
        call[i] = (v > 0) ? v : 0;
    }
    __syncthreads();
    for (int i = NUM_STEPS; i > 0; i--) {
        float a = 0, b = 0;
        if (tid < i) a = puDf * call[tid + 1] + pdDf * call[tid];
        if (tid + 256 < i) b = puDf * call[tid + 257] + pdDf * call[tid + 256];
        __syncthreads();
        if (tid < i) call[tid] = a;
        if (tid + 256 < i) call[tid + 256] = b;
        __syncthreads();
    }
    if (tid == 0) price[blockIdx.x] = call[0];
}

__device__ inline float cndGPU(float d)
{
    const float A1 = 0.31938153f, A2 = -0.356563782f, A3 = 1.781477937f, A4 = -1.821255978f, A5 = 1.330274429f;
    const float RSQRT2PI = 0.39894228040143267793994605993438f;
    float K = __fdividef(1.0f, (1.0f + 0.2316419f * fabsf(d)));
    float cnd = RSQRT2PI * __expf(-0.5f * d * d) * (K * (A1 + K * (A2 + K * (A3 + K * (A4 + K * A5)))));
    if (d > 0) cnd = 1.0f - cnd;
    return cnd;
}

// prices and three greeks, all in registers
__launch_bounds__(128)
__global__ void BlackScholesGreeks(float2 *__restrict__ d_CallPut, float2 *__restrict__ d_Greeks, const float2 *__restrict__ d_SX, float Riskfree, float Volatility, int optN)
{
    const int opt = blockDim.x * blockIdx.x + threadIdx.x;
    if (opt < optN) {
        float2 sx = d_SX[opt];
        float S = sx.x + 4.0f, X = sx.y + 4.0f, T = 0.25f + (opt & 63) * 0.05f;
        float sqrtT = sqrtf(T);
        float d1 = __fdividef(__logf(S / X) + (Riskfree + 0.5f * Volatility * Volatility) * T, Volatility * sqrtT);
        float d2 = d1 - Volatility * sqrtT;
        float C1 = cndGPU(d1), C2 = cndGPU(d2);
        float expRT = __expf(-Riskfree * T);
        float2 cp, gk;
        cp.x = S * C1 - X * expRT * C2;
        cp.y = X * expRT * (1.0f - C2) - S * (1.0f - C1);
        float pdf = 0.3989423f * __expf(-0.5f * d1 * d1);
        gk.x = C1;
        gk.y = S * pdf * sqrtT + 0.5f * pdf / (S * Volatility * sqrtT);
        d_CallPut[opt] = cp;
        d_Greeks[opt] = gk;
    }
}

// Monte Carlo, one option a block, warp leftovers reduced by a sequential tree
__device__ unsigned xorshift(unsigned &s) { s ^= s << 13; s ^= s >> 17; s ^= s << 5; return s; }
__global__ void mcAsianCall(const float *strike, float *mean, float *stderr_, int paths, int steps)
{
    __shared__ float sum[128], sum2[128];
    unsigned st = 1234567u + blockIdx.x * 7919u + threadIdx.x * 104729u;
    for (int i = 0; i < 8; i++) xorshift(st);
    float K = 50.f + strike[blockIdx.x], a = 0.f, b = 0.f;
    for (int p = threadIdx.x; p < paths; p += 128) {
        float s = 55.f, avg = 0.f;
        for (int k = 0; k < steps; k += 2) {
            float u1 = (xorshift(st) >> 8) * (1.f / 16777216.f) + 1e-7f;
            float u2 = (xorshift(st) >> 8) * (1.f / 16777216.f);
            float r = sqrtf(-2.f * __logf(u1)), sn, cs;
            __sincosf(6.2831853f * u2, &sn, &cs);
            s *= __expf(0.001f + 0.05f * r * cs); avg += s;
            s *= __expf(0.001f + 0.05f * r * sn); avg += s;
        }
        float pay = fmaxf(avg / steps - K, 0.f);
        a += pay;
        b += pay * pay;
    }
    sum[threadIdx.x] = a;
    sum2[threadIdx.x] = b;
    __syncthreads();
    for (int k = 64; k; k >>= 1) {
        if (threadIdx.x < k) {
            sum[threadIdx.x] += sum[threadIdx.x + k];
            sum2[threadIdx.x] += sum2[threadIdx.x + k];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        float m = sum[0] / paths;
        mean[blockIdx.x] = m;
        stderr_[blockIdx.x] = sqrtf(fmaxf(sum2[0] / paths - m * m, 0.f) / paths);
    }
}

// Crank-Nicolson step, Thomas algorithm with private arrays
#define GRID_PTS 64
__global__ void thomas_cn(const float *payoff, float *value, int nsys, int steps)
{
    int sys = blockIdx.x * blockDim.x + threadIdx.x;
    if (sys >= nsys) return;
    float cp[GRID_PTS], v[GRID_PTS];
    for (int i = 0; i < GRID_PTS; ++i) v[i] = payoff[i * nsys + sys];
    float sig = 0.2f + 0.001f * (sys % 100);
    for (int s = 0; s < steps; ++s) {
        float prevOld = v[0];
        cp[0] = 0.f;
        for (int i = 1; i < GRID_PTS - 1; ++i) {
            float al = 0.25f * (sig * sig * i - 0.02f);
            float ga = 0.25f * (sig * sig * i + 0.02f);
            float be = 1.f + al + ga;
            float old = v[i];
            float rhs = al * prevOld + (1.f - al - ga) * old + ga * v[i + 1];
            float w = 1.f / (be + al * cp[i - 1]);
            cp[i] = -ga * w;
            v[i] = (rhs + al * v[i - 1]) * w;
            prevOld = old;
        }
        for (int i = GRID_PTS - 2; i > 0; --i) v[i] -= cp[i] * v[i + 1];
    }
    for (int i = 0; i < GRID_PTS; ++i) value[i * nsys + sys] = v[i];
}

// sample covariance of asset returns, R is days x assets
__global__ void covariance(const float *R, const float *mu, float *cov, int days, int assets)
{
    __shared__ float ra[16][17], rb[16][17];
    int i = blockIdx.y * 16 + threadIdx.y;
    int j = blockIdx.x * 16 + threadIdx.x;
    int ia = blockIdx.y * 16 + threadIdx.x;
    float c = 0.f;
    for (int d0 = 0; d0 < days; d0 += 16) {
        int d = d0 + threadIdx.y;
        ra[threadIdx.y][threadIdx.x] = (d < days && ia < assets) ? R[d * assets + ia] - mu[ia] : 0.f;
        rb[threadIdx.y][threadIdx.x] = (d < days && j < assets) ? R[d * assets + j] - mu[j] : 0.f;
        __syncthreads();
        for (int k = 0; k < 16; k++) c += ra[k][threadIdx.y] * rb[k][threadIdx.x];
        __syncthreads();
    }
    if (i < assets && j < assets) cov[i * assets + j] = c / (days - 1);
}

int main()
{
    const int nopt = 1 << 23;
    float *in = mk<float>(2 * nopt), *o1, *o2;
    cudaMalloc(&o1, 2 * nopt * sizeof(float));
    cudaMalloc(&o2, 2 * nopt * sizeof(float));
    binomialOptionsKernel<<<2048, 256>>>(in, in + 4000, o1);
    show("binomialOptionsKernel", o1, 2048 * sizeof(float));
    BlackScholesGreeks<<<(nopt + 127) / 128, 128>>>((float2 *)o1, (float2 *)o2, (float2 *)in, 0.02f, 0.30f, nopt);
    show("BlackScholesGreeks.p", o1, 2 * nopt * sizeof(float));
    show("BlackScholesGreeks.g", o2, 2 * nopt * sizeof(float));
    mcAsianCall<<<1000, 128>>>(in, o1, o2, 1024, 50);
    show("mcAsianCall.mean", o1, 1000 * sizeof(float));
    show("mcAsianCall.err", o2, 1000 * sizeof(float));
    thomas_cn<<<(60000 + 95) / 96, 96>>>(in, o1, 60000, 3);
    show("thomas_cn", o1, 60000 * GRID_PTS * sizeof(float));
    covariance<<<dim3((900 + 15) / 16, (900 + 15) / 16), dim3(16, 16)>>>(in, in + 77, o2, 1250, 900);
    show("covariance", o2, 900 * 900 * sizeof(float));
    return 0;
}
