// h9: computational finance
#include "shown.h"
#include <cmath>
#include <vector>

typedef double real;
typedef unsigned int uint32;

//--------------------------------------------------------------------------- binomial options
#define THREADBLOCK_SIZE 128
#define ELEMS_PER_THREAD 4
#define NUM_STEPS (THREADBLOCK_SIZE * ELEMS_PER_THREAD)
struct OptionData { float S, X, vDt, puByDf, pdByDf; };

__device__ inline float expiryCallValue(float S, float X, float vDt, int i)
{
    float d = S * __expf(vDt * (2.0f * i - NUM_STEPS)) - X;
    return (d > 0.0F) ? d : 0.0F;
}

__global__ void binomialOptionsKernel(const OptionData *d_OptionData, float *d_CallValue)
{
    __shared__ float call_exchange[THREADBLOCK_SIZE + 1];

    const int tid = threadIdx.x;
    const OptionData od = d_OptionData[blockIdx.x];
    const float S = od.S, X = od.X, vDt = od.vDt, puByDf = od.puByDf, pdByDf = od.pdByDf;

    float call[ELEMS_PER_THREAD + 1];
#pragma unroll
    for (int i = 0; i < ELEMS_PER_THREAD; ++i)
        call[i] = expiryCallValue(S, X, vDt, tid * ELEMS_PER_THREAD + i);

    if (tid == 0)
        call_exchange[THREADBLOCK_SIZE] = expiryCallValue(S, X, vDt, NUM_STEPS);

    int final_it = tid * ELEMS_PER_THREAD - 1 > 0 ? tid * ELEMS_PER_THREAD - 1 : 0;

#pragma unroll 16
    for (int i = NUM_STEPS; i > 0; --i) {
        call_exchange[tid] = call[0];
        __syncthreads();
        call[ELEMS_PER_THREAD] = call_exchange[tid + 1];
        __syncthreads();

        if (i > final_it) {
#pragma unroll
            for (int j = 0; j < ELEMS_PER_THREAD; ++j)
                call[j] = puByDf * call[j + 1] + pdByDf * call[j];
        }
    }

    if (tid == 0)
        d_CallValue[blockIdx.x] = call[0];
}

//--------------------------------------------------------------------------- Monte Carlo Asian option
__device__ __forceinline__ uint32 tausStep(uint32 &z, int s1, int s2, int s3, uint32 m)
{
    uint32 b = (((z << s1) ^ z) >> s2);
    return z = (((z & m) << s3) ^ b);
}
__device__ float uniform01(uint32 (&st)[4])
{
    uint32 r = tausStep(st[0], 13, 19, 12, 4294967294u) ^ tausStep(st[1], 2, 25, 4, 4294967288u) ^
               tausStep(st[2], 3, 11, 17, 4294967280u) ^ (st[3] = 1664525u * st[3] + 1013904223u);
    return (r + 0.5f) * 2.3283064e-10f;
}
__device__ float2 boxMuller(float u1, float u2)
{
    float r = sqrtf(-2.f * logf(fminf(fmaxf(u1, 1e-7f), 1.f))), t = 6.28318531f * u2;
    return make_float2(r * cosf(t), r * sinf(t));
}

template <int BLOCK>
__global__ void asianMC(float *sums, float *sums2, float S0, float K, float mu, float sig, int steps, int pathsPerThread)
{
    __shared__ float sh[BLOCK];
    __shared__ float sh2[BLOCK];
    uint32 st[4];
    uint32 gid = blockIdx.x * BLOCK + threadIdx.x;
    for (int i = 0; i < 4; ++i) st[i] = 129u + gid * 2654435761u * (i + 1) + i * 362437u;
    float s = 0, s2 = 0;
    for (int p = 0; p < pathsPerThread; ++p) {
        float x = logf(S0), avg = 0;
        for (int t = 0; t < steps; t += 2) {
            float u1 = uniform01(st), u2 = uniform01(st);
            float2 g = boxMuller(u1, u2);
            x += mu + sig * g.x; avg += expf(x);
            x += mu + sig * g.y; avg += expf(x);
        }
        float pay = fmaxf(avg / steps - K, 0.f);
        s += pay; s2 += pay * pay;
    }
    sh[threadIdx.x] = s;
    sh2[threadIdx.x] = s2;
    for (int half = BLOCK >> 1; half; half >>= 1) {
        __syncthreads();
        if (threadIdx.x < half) {
            sh[threadIdx.x] += sh[threadIdx.x + half];
            sh2[threadIdx.x] += sh2[threadIdx.x + half];
        }
    }
    if (!threadIdx.x) { sums[blockIdx.x] = sh[0]; sums2[blockIdx.x] = sh2[0]; }
}

//--------------------------------------------------------------------------- tridiagonal: PCR in shared memory
template <class T>
__global__ void pcr_small_systems_kernel(T *a_d, T *b_d, T *c_d, T *d_d, T *x_d, int system_size, int iterations)
{
    extern __shared__ char sh_raw[];
    T *shared = (T *)sh_raw;
    int thid = threadIdx.x;
    int blid = blockIdx.x;
    int delta = 1;

    T *a = shared;
    T *b = (T *)&a[system_size + 1];
    T *c = (T *)&b[system_size + 1];
    T *d = (T *)&c[system_size + 1];
    T *x = (T *)&d[system_size + 1];

    a[thid] = thid == 0 ? T(0) : a_d[thid + blid * system_size];
    b[thid] = b_d[thid + blid * system_size] + T(30);
    c[thid] = thid == system_size - 1 ? T(0) : c_d[thid + blid * system_size];
    d[thid] = d_d[thid + blid * system_size];

    T aNew, bNew, cNew, dNew;
    __syncthreads();

    for (int j = 0; j < iterations; j++) {
        int i = thid;
        if (i < delta) {
            T tmp2 = c[i] / b[i + delta];
            bNew = b[i] - a[i + delta] * tmp2;
            dNew = d[i] - d[i + delta] * tmp2;
            aNew = 0;
            cNew = -c[i + delta] * tmp2;
        }
        else if ((system_size - i - 1) < delta) {
            T tmp = a[i] / b[i - delta];
            bNew = b[i] - c[i - delta] * tmp;
            dNew = d[i] - d[i - delta] * tmp;
            aNew = -a[i - delta] * tmp;
            cNew = 0;
        }
        else {
            T tmp1 = a[i] / b[i - delta];
            T tmp2 = c[i] / b[i + delta];
            bNew = b[i] - c[i - delta] * tmp1 - a[i + delta] * tmp2;
            dNew = d[i] - d[i - delta] * tmp1 - d[i + delta] * tmp2;
            aNew = -a[i - delta] * tmp1;
            cNew = -c[i + delta] * tmp2;
        }
        __syncthreads();
        b[i] = bNew; d[i] = dNew; a[i] = aNew; c[i] = cNew;
        delta *= 2;
        __syncthreads();
    }

    if (thid < delta) {
        int addr1 = thid;
        int addr2 = thid + delta;
        T tmp3 = b[addr2] * b[addr1] - c[addr1] * a[addr2];
        x[addr1] = (b[addr2] * d[addr1] - c[addr1] * d[addr2]) / tmp3;
        x[addr2] = (d[addr2] * b[addr1] - d[addr1] * a[addr2]) / tmp3;
    }
    __syncthreads();
    x_d[thid + blid * system_size] = x[thid];
}

//--------------------------------------------------------------------------- Thomas per thread, local scratch (Crank-Nicolson)
constexpr int NS = 65;
__device__ void thomas(const real *lo, const real *di, const real *up, real *rhs, real *cp, int n)
{
    cp[0] = up[0] / di[0];
    rhs[0] /= di[0];
    for (int i = 1; i < n; i++) {
        real m = 1.0 / (di[i] - lo[i] * cp[i - 1]);
        cp[i] = up[i] * m;
        rhs[i] = (rhs[i] - lo[i] * rhs[i - 1]) * m;
    }
    for (int i = n - 2; i >= 0; i--) rhs[i] -= cp[i] * rhs[i + 1];
}
__global__ void crank_nicolson(const float *strike, const float *vol, float *price, int nopt, int nt, real r, real T)
{
    int o = threadIdx.x + blockDim.x * blockIdx.x;
    if (o >= nopt) return;
    real lo[NS], di[NS], up[NS], v[NS], cp[NS];
    const real K = 50 + strike[o], s = 0.1 + vol[o] * 0.02, dt = T / nt, dS = 4 * K / (NS - 1);
    for (int i = 0; i < NS; i++) {
        v[i] = fmax(K - i * dS, 0.0);
        real al = 0.25 * dt * (s * s * i * i - r * i), be = -0.5 * dt * (s * s * i * i + r), ga = 0.25 * dt * (s * s * i * i + r * i);
        lo[i] = -al; di[i] = 1 - be; up[i] = -ga;
    }
    for (int t = 0; t < nt; t++) {
        real prev = v[0];
        for (int i = 1; i < NS - 1; i++) {
            real cur = v[i];
            v[i] = -lo[i] * prev + (2 - di[i]) * cur - up[i] * v[i + 1];
            prev = cur;
        }
        v[0] = K * exp(-r * dt * (t + 1));
        v[NS - 1] = 0;
        v[1] -= lo[1] * v[0];
        thomas(lo + 1, di + 1, up + 1, v + 1, cp, NS - 2);
    }
    int k = min(NS - 1, max(0, (int)(K / dS)));
    price[o] = (float)v[k];
}

//--------------------------------------------------------------------------- rolling window VWAP + sigma with staged window
#define WIN 60
__global__ void rolling_stats(const float *px, const int *qty, float2 *out, int n)
{
    extern __shared__ unsigned char dyn[];
    float *sp = reinterpret_cast<float *>(dyn);
    int *sq = reinterpret_cast<int *>(sp + blockDim.x + WIN - 1);
    const int first = blockIdx.x * blockDim.x - (WIN - 1);
    for (int k = threadIdx.x; k < blockDim.x + WIN - 1; k += blockDim.x) {
        int g = first + k;
        g = g < 0 ? 0 : g >= n ? n - 1 : g;
        sp[k] = px[g];
        sq[k] = qty[g] + 1;
    }
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float pv = 0.f, m = 0.f, m2 = 0.f;
        int vol = 0;
        for (int k = 0; k < WIN; k++) {
            float p = sp[threadIdx.x + k];
            int q = sq[threadIdx.x + k];
            pv += p * q; vol += q;
            m += p; m2 += p * p;
        }
        m /= WIN;
        out[i] = make_float2(pv / vol, sqrtf(fmaxf(m2 / WIN - m * m, 0.f)));
    }
}

//--------------------------------------------------------------------------- correlated draws: z = L * g, L lower triangular in shared
template <int NA>
__global__ void correlate(const float *__restrict__ g, const float *__restrict__ L, float *__restrict__ z, size_t npaths)
{
    __shared__ float Ls[NA * (NA + 1) / 2];
    for (int e = threadIdx.x; e < NA * (NA + 1) / 2; e += blockDim.x) Ls[e] = L[e];
    __syncthreads();
    for (size_t p = blockIdx.x * (size_t)blockDim.x + threadIdx.x; p < npaths; p += (size_t)gridDim.x * blockDim.x) {
        float r[NA];
#pragma unroll
        for (int a = 0; a < NA; ++a) r[a] = g[a * npaths + p];
        for (int a = 0; a < NA; ++a) {
            const float *row = Ls + a * (a + 1) / 2;
            float s = 0;
            for (int b = 0; b <= a; ++b) s += row[b] * r[b];
            z[a * npaths + p] = s;
        }
    }
}

int main()
{
    {
        int n = 4096;
        std::vector<OptionData> o(n);
        for (int i = 0; i < n; i++) {
            float S = 5 + i % 26, X = 1 + (i * 7) % 100, T = 0.25f + (i % 40) * 0.25f, R = 0.06f, V = 0.10f, dt = T / NUM_STEPS;
            float vDt = V * sqrtf(dt), rDt = R * dt, If = expf(rDt), Df = expf(-rDt), u = expf(vDt), d = expf(-vDt), pu = (If - d) / (u - d);
            o[i] = {S, X, vDt, pu * Df, (1 - pu) * Df};
        }
        OptionData *d;
        cudaMalloc(&d, n * sizeof(OptionData));
        cudaMemcpy(d, o.data(), n * sizeof(OptionData), cudaMemcpyHostToDevice);
        float *c = mk<float>(n);
        binomialOptionsKernel<<<n, THREADBLOCK_SIZE>>>(d, c);
        show("binomialOptions", c, n * 4);
    }
    {
        int nb = 512;
        float *a = mk<float>(nb), *b = mk<float>(nb);
        asianMC<256><<<nb, 256>>>(a, b, 100.f, 98.f, 0.0001f, 0.012f, 64, 4);
        show("asianMC_s", a, nb * 4);
        show("asianMC_s2", b, nb * 4);
    }
    {
        int ss = 256, ns = 9000;
        size_t n = (size_t)ss * ns;
        float *a = mk<float>(n), *b = mk<float>(n), *c = mk<float>(n), *d = mk<float>(n), *x = mk<float>(n);
        pcr_small_systems_kernel<float><<<ns, ss, (ss + 1) * 5 * sizeof(float)>>>(a, b, c, d, x, ss, 7);
        show("pcr_small_systems", x, n * 4);
    }
    {
        int n = 12001;
        float *k = mk<float>(n), *v = mk<float>(n), *p = mk<float>(n);
        crank_nicolson<<<(n + 63) / 64, 64>>>(k, v, p, n, 12, 0.03, 1.0);
        show("crank_nicolson", p, n * 4);
    }
    {
        int n = (1 << 23) + 13;
        float *p = mk<float>(n);
        int *q = mk<int>(n);
        float2 *o = (float2 *)mk<float>(2ull * n);
        rolling_stats<<<(n + 191) / 192, 192, (192 + WIN - 1) * 8>>>(p, q, o, n);
        show("rolling_stats", o, 8ull * n);
    }
    {
        size_t n = 1000003;
        float *g = mk<float>(n * 20), *L = mk<float>(210), *z = mk<float>(n * 20);
        correlate<20><<<1056, 128>>>(g, L, z, n);
        show("correlate", z, n * 80);
    }
    return 0;
}
