// pricing and risk library, device part
#include "shown.h"

typedef double Real;

struct OptionSpec { float spot, strike, rate, vol, years; };

__device__ inline float clampf(float v, float lo, float hi) { return fminf(fmaxf(v, lo), hi); }

__device__ inline double normcdf_as(double x)
{
    const double a1 = 0.319381530, a2 = -0.356563782, a3 = 1.781477937, a4 = -1.821255978, a5 = 1.330274429;
    double l = fabs(x), k = 1.0 / (1.0 + 0.2316419 * l);
    double w = 1.0 - 0.3989422804014327 * exp(-l * l / 2) * (a1 * k + a2 * k * k + a3 * pow(k, 3.0) + a4 * pow(k, 4.0) + a5 * pow(k, 5.0));
    return x < 0 ? 1.0 - w : w;
}

// (1) American put, binomial lattice, one option per block, lattice column in shared memory
#define NSTEPS 255
__global__ void binomialAmericanPut(const OptionSpec *opts, float *price)
{
    __shared__ float v[NSTEPS + 1];
    __shared__ float s[NSTEPS + 1];
    const OptionSpec o = opts[blockIdx.x];
    const int i = threadIdx.x;                       // 256 threads
    const float spot = 50.f + 4.f * o.spot, strike = 60.f + 3.f * o.strike, vol = 0.1f + 0.02f * o.vol;
    const float dt = (0.25f + 0.1f * o.years) / NSTEPS, r = 0.001f + 0.004f * o.rate;
    const float u = __expf(vol * sqrtf(dt)), d = 1.f / u, df = __expf(-r * dt);
    const float p = clampf((1.f / df - d) / (u - d), 0.f, 1.f);
    s[i] = spot * __powf(u, 2.f * i - NSTEPS);
    v[i] = fmaxf(strike - s[i], 0.f);
    for (int n = NSTEPS; n > 0; --n) {
        __syncthreads();
        float hold = 0.f, px = 0.f;
        if (i < n) {
            hold = df * (p * v[i + 1] + (1.f - p) * v[i]);
            px = s[i] * u;
        }
        __syncthreads();
        if (i < n) {
            s[i] = px;
            v[i] = fmaxf(hold, strike - px);
        }
    }
    if (i == 0) price[blockIdx.x] = v[0];
}

// (2) batched tridiagonal systems, parallel cyclic reduction
__global__ void pcrTridiagonalBatch(const float *a, const float *b, const float *c, const float *d, float *x, int n)
{
    extern __shared__ float sm[];
    float *sa = sm, *sb = sa + n, *sc = sb + n, *sd = sc + n;
    int t = threadIdx.x;                              // n threads
    size_t g = (size_t)blockIdx.x * n + t;
    sa[t] = t > 0 ? a[g] : 0.f;
    sb[t] = b[g] + 30.f;
    sc[t] = t < n - 1 ? c[g] : 0.f;
    sd[t] = d[g];
    __syncthreads();
    for (int stride = 1; stride < n; stride <<= 1) {
        int lo = t - stride, hi = t + stride;
        float na = 0.f, nc = 0.f, nb = sb[t], nd = sd[t];
        if (lo >= 0) {
            float k = sa[t] / sb[lo];
            na = -sa[lo] * k;
            nb -= sc[lo] * k;
            nd -= sd[lo] * k;
        }
        if (hi < n) {
            float k = sc[t] / sb[hi];
            nc = -sc[hi] * k;
            nb -= sa[hi] * k;
            nd -= sd[hi] * k;
        }
        __syncthreads();
        sa[t] = na; sb[t] = nb; sc[t] = nc; sd[t] = nd;
        __syncthreads();
    }
    x[g] = sd[t] / sb[t];
}

// (3) arithmetic Asian call, path per thread, block reduction of payoff and square
__device__ inline unsigned int xorshift(unsigned int &s) { s ^= s << 13; s ^= s >> 17; s ^= s << 5; return s; }

template <unsigned BS>
__global__ void asianCallMonteCarlo(Real *sum, Real *sumSq, int steps, float S0, float K, float drift, float volSqrtDt)
{
    __shared__ Real acc[BS], acc2[BS];
    unsigned int seed = (blockIdx.x * BS + threadIdx.x) * 747796405u + 2891336453u;
    seed |= 1u;
    for (int i = 0; i < 8; i++) xorshift(seed);
    float lnS = 0.f, avg = 0.f;
    for (int k = 0; k < steps; k += 2) {
        float u1 = (xorshift(seed) >> 8) * 5.9604645e-8f + 2.98e-8f;
        float u2 = (xorshift(seed) >> 8) * 5.9604645e-8f;
        float m = sqrtf(-2.f * logf(u1)), sn, cs;
        sincospif(2.f * u2, &sn, &cs);
        lnS += drift + volSqrtDt * m * cs;
        avg += expf(lnS);
        lnS += drift + volSqrtDt * m * sn;
        avg += expf(lnS);
    }
    Real pay = fmax((Real)(S0 * avg / steps - K), 0.0);
    acc[threadIdx.x] = pay;
    acc2[threadIdx.x] = pay * pay;
    __syncthreads();
    for (unsigned h = BS / 2; h; h >>= 1) {
        if (threadIdx.x < h) {
            acc[threadIdx.x] += acc[threadIdx.x + h];
            acc2[threadIdx.x] += acc2[threadIdx.x + h];
        }
        __syncthreads();
    }
    if (!threadIdx.x) { sum[blockIdx.x] = acc[0]; sumSq[blockIdx.x] = acc2[0]; }
}

// (4) swap book against a discount curve; the curve sits in shared memory, binary search + linear interpolation
struct CurveNode { float t, z; };
__device__ float zeroRate(const CurveNode *cv, int n, float t)
{
    int lo = 0, hi = n - 1;
    if (t <= cv[0].t) return cv[0].z;
    if (t >= cv[hi].t) return cv[hi].z;
    while (hi - lo > 1) {
        int m = (lo + hi) >> 1;
        if (cv[m].t <= t) lo = m; else hi = m;
    }
    float w = (t - cv[lo].t) / (cv[hi].t - cv[lo].t);
    return cv[lo].z + w * (cv[hi].z - cv[lo].z);
}

__global__ void swapBookNpv(const CurveNode *curve, int nodes, const float *fixedRate, const float *maturity, float *npv, int count)
{
    extern __shared__ CurveNode cv[];
    for (int i = threadIdx.x; i < nodes; i += blockDim.x) cv[i] = curve[i];
    __syncthreads();
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < count; k += gridDim.x * blockDim.x) {
        float T = 0.5f + maturity[k], pv = 0.f, dfT = 1.f;
        for (float t = 0.5f; t <= T; t += 0.5f) {
            dfT = __expf(-zeroRate(cv, nodes, t) * t);
            pv += 0.5f * fixedRate[k] * 0.01f * dfT;
        }
        npv[k] = pv - (1.f - dfT);
    }
}

// (5) rolling mean / stdev / z-score over a window
#define RW_BLOCK 224
#define RW_MAX 64
__global__ void rollingZScore(const float *__restrict__ px, float *__restrict__ z, int n, int win)
{
    __shared__ float buf[RW_BLOCK + RW_MAX];
    const int origin = blockIdx.x * RW_BLOCK - (win - 1);
    for (int i = threadIdx.x; i < RW_BLOCK + win - 1; i += RW_BLOCK) {
        const int g = origin + i;
        buf[i] = (g >= 0 && g < n) ? px[g] : 0.f;
    }
    __syncthreads();
    const int g = blockIdx.x * RW_BLOCK + threadIdx.x;
    if (g < n) {
        float s = 0.f, q = 0.f;
        for (int k = 0; k < win; k++) s += buf[threadIdx.x + k];
        s /= win;
        for (int k = 0; k < win; k++) { float e = buf[threadIdx.x + k] - s; q += e * e; }
        z[g] = (buf[threadIdx.x + win - 1] - s) / sqrtf(q / (win - 1) + 1e-6f);
    }
}

// (6) explicit step of a two-factor (Heston) PDE, mixed derivative, tile with halo in double
template <int BXX, int BYY>
__global__ void hestonExplicitStep(const Real *__restrict__ U, Real *__restrict__ V, int ns, int nv, Real dt, Real rho, Real sig, Real kappa, Real theta, Real r)
{
    __shared__ Real t[BYY + 2][BXX + 2];
    const int gx = blockIdx.x * BXX + threadIdx.x, gy = blockIdx.y * BYY + threadIdx.y;
    for (int y = threadIdx.y; y < BYY + 2; y += BYY)
        for (int x = threadIdx.x; x < BXX + 2; x += BXX) {
            int xx = blockIdx.x * BXX + x - 1, yy = blockIdx.y * BYY + y - 1;
            t[y][x] = (xx >= 0 && xx < ns && yy >= 0 && yy < nv) ? U[(size_t)yy * ns + xx] : 0.0;
        }
    __syncthreads();
    if (gx >= ns || gy >= nv) return;
    const int i = threadIdx.x + 1, j = threadIdx.y + 1;
    if (gx == 0 || gy == 0 || gx == ns - 1 || gy == nv - 1) { V[(size_t)gy * ns + gx] = t[j][i]; return; }
    Real s = gx * 0.1, v = gy * 0.001;
    Real ds = 0.5 * (t[j][i + 1] - t[j][i - 1]), dss = t[j][i + 1] - 2 * t[j][i] + t[j][i - 1];
    Real dv = 0.5 * (t[j + 1][i] - t[j - 1][i]), dvv = t[j + 1][i] - 2 * t[j][i] + t[j - 1][i];
    Real dsv = 0.25 * (t[j + 1][i + 1] - t[j + 1][i - 1] - t[j - 1][i + 1] + t[j - 1][i - 1]);
    Real L = 0.5 * v * s * s * dss + rho * sig * v * s * dsv + 0.5 * sig * sig * v * dvv + r * s * ds + kappa * (theta - v) * dv - r * t[j][i];
    V[(size_t)gy * ns + gx] = t[j][i] + dt * L;
}

// (7) historical VaR: private sorted buffer of the worst K returns for each instrument
#define WORST 12
__global__ void worstReturnsVaR(const float *ret, float *var, float *es, int instruments, int days)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= instruments) return;
    float worst[WORST];
    for (int i = 0; i < WORST; i++) worst[i] = 1e30f;
    for (int d = 0; d < days; d++) {
        float v = ret[(size_t)d * instruments + k] * (1.f + 0.01f * (d % 13)) - 4.f;
        if (v >= worst[WORST - 1]) continue;
        int p = WORST - 1;
        for (; p > 0 && worst[p - 1] > v; --p) worst[p] = worst[p - 1];
        worst[p] = v;
    }
    float s = 0.f;
    for (int i = 0; i < WORST; i++) s += worst[i];
    var[k] = -worst[WORST - 1];
    es[k] = -s / WORST;
}

// (8) Black-Scholes implied volatility by Newton with bisection fallback, double precision
__global__ void impliedVolNewton(const double *__restrict__ mkt, const double *__restrict__ strike, double *__restrict__ iv, int n, double S, double r, double T)
{
    const int tid = blockDim.x * blockIdx.x + threadIdx.x;
    const int step = blockDim.x * gridDim.x;
    for (int i = tid; i < n; i += step) {
        double K = S * (0.8 + 0.03 * strike[i]);
        double target = S * 0.02 * (1.0 + mkt[i]);
        double lo = 1e-3, hi = 4.0, s = 0.3;
        for (int it = 0; it < 12; ++it) {
            double sq = s * sqrt(T);
            double d1 = (log(S / K) + (r + 0.5 * s * s) * T) / sq, d2 = d1 - sq;
            double c = S * normcdf_as(d1) - K * exp(-r * T) * normcdf_as(d2);
            double vega = S * 0.3989422804014327 * exp(-0.5 * d1 * d1) * sqrt(T);
            if (c > target) hi = s; else lo = s;
            double nx = s - (c - target) / fmax(vega, 1e-10);
            s = (nx > lo && nx < hi) ? nx : 0.5 * (lo + hi);
        }
        iv[i] = s;
    }
}

int main()
{
    {
        int n = 20000;
        OptionSpec *o = (OptionSpec *)mk<float>(n * 5);
        float *p = mk<float>(n);
        binomialAmericanPut<<<n, NSTEPS + 1>>>(o, p);
        show("binomialAmericanPut", p, n * 4);
    }
    {
        int n = 320, batch = 12000;
        size_t t = (size_t)n * batch;
        float *a = mk<float>(t + 1) + 1, *b = mk<float>(t), *c = mk<float>(t + 5) + 5, *d = mk<float>(t), *x = mk<float>(t);
        pcrTridiagonalBatch<<<batch, n, 4 * n * sizeof(float)>>>(a, b, c, d, x, n);
        show("pcrTridiagonalBatch", x, t * 4);
    }
    {
        int blocks = 8192;
        Real *s = mk<Real>(blocks), *q = mk<Real>(blocks);
        asianCallMonteCarlo<128><<<blocks, 128>>>(s, q, 252, 100.f, 102.f, 0.0001f, 0.0126f);
        show("asianCallMonteCarlo", s, blocks * sizeof(Real));
    }
    {
        int nodes = 90, count = 3000000;
        CurveNode h[90];
        for (int i = 0; i < nodes; i++) { h[i].t = 0.15f * i + 0.02f; h[i].z = 0.01f + 0.0004f * i; }
        CurveNode *c;
        cudaMalloc(&c, sizeof h);
        cudaMemcpy(c, h, sizeof h, cudaMemcpyHostToDevice);
        float *f = mk<float>(count), *m = mk<float>(count + 9) + 9, *v = mk<float>(count);
        swapBookNpv<<<2112, 192, nodes * sizeof(CurveNode)>>>(c, nodes, f, m, v, count);
        show("swapBookNpv", v, (size_t)count * 4);
    }
    {
        int n = 9000001;
        float *p = mk<float>(n), *z = mk<float>(n);
        rollingZScore<<<(n + RW_BLOCK - 1) / RW_BLOCK, RW_BLOCK>>>(p, z, n, 50);
        show("rollingZScore", z, (size_t)n * 4);
    }
    {
        int ns = 2500, nv = 1501;
        Real *u = mk<Real>((size_t)ns * nv), *v = mk<Real>((size_t)ns * nv);
        hestonExplicitStep<32, 12><<<dim3((ns + 31) / 32, (nv + 11) / 12), dim3(32, 12)>>>(u, v, ns, nv, 1e-5, -0.6, 0.4, 1.5, 0.04, 0.02);
        show("hestonExplicitStep", v, (size_t)ns * nv * 8);
    }
    {
        int inst = 65000, days = 250;
        float *r = mk<float>((size_t)inst * days), *v = mk<float>(inst), *e = mk<float>(inst);
        worstReturnsVaR<<<(inst + 95) / 96, 96>>>(r, v, e, inst, days);
        show("worstReturnsVaR", e, inst * 4);
        cudaFree(r);
    }
    {
        int n = 1500000;
        double *m = mk<double>(n), *k = mk<double>(n + 13) + 13, *iv = mk<double>(n);
        impliedVolNewton<<<1500, 256>>>(m, k, iv, n, 100.0, 0.015, 0.75);
        show("impliedVolNewton", iv, (size_t)n * 8);
    }
    return 0;
}
