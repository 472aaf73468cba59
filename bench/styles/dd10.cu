// Finance, statistics, genomics, medical imaging.
#include <cmath>
#include <cfloat>
#include <cstdint>
#include "shown.h"

static uint32_t hashHost(uint32_t x) { x ^= x >> 16; x *= 0x85ebca6bu; x ^= x >> 13; x *= 0xc2b2ae35u; return x ^ (x >> 16); }

template <class T, class F> static T *from(size_t n, F f) {
    T *h = (T *)malloc(n * sizeof(T)), *d;
    for (size_t i = 0; i < n; i++) h[i] = f(i);
    cudaMalloc(&d, n * sizeof(T));
    cudaMemcpy(d, h, n * sizeof(T), cudaMemcpyHostToDevice);
    free(h);
    return d;
}

// ----------------------------------------------------------------------------------------------
// American put on a binomial lattice. One option a block, the lattice level lives in two shared rows.
// ----------------------------------------------------------------------------------------------
struct OptionData { double spot, strike, years, rate, vol; };

template <int MAXSTEPS>
__global__ void binomialAmerican(const OptionData *opts, double *price, double *delta, int steps)
{
    __shared__ double v[2][MAXSTEPS + 1];
    __shared__ double pay[2 * MAXSTEPS + 1];             // exercise value on the 2 steps + 1 distinct prices
    const OptionData o = opts[blockIdx.x];
    const double dt = o.years / steps, up = exp(o.vol * sqrt(dt));
    const double grow = exp(o.rate * dt), disc = 1.0 / grow;
    const double pu = (grow - 1.0 / up) / (up - 1.0 / up) * disc, pd = disc - pu;
    for (int k = threadIdx.x; k <= 2 * steps; k += blockDim.x) {
        double s = o.spot * exp(o.vol * sqrt(dt) * (k - steps));
        pay[k] = fmax(o.strike - s, 0.0);
    }
    __syncthreads();
    for (int j = threadIdx.x; j <= steps; j += blockDim.x) v[steps & 1][j] = pay[2 * j];
    for (int n = steps - 1; n >= 0; n--) {
        __syncthreads();
        const double *src = v[(n + 1) & 1];
        double *dst = v[n & 1];
        for (int j = threadIdx.x; j <= n; j += blockDim.x) {
            double hold = pu * src[j + 1] + pd * src[j];
            dst[j] = fmax(hold, pay[steps - n + 2 * j]);
        }
    }
    if (threadIdx.x == 0) {
        price[blockIdx.x] = v[0][0];
        delta[blockIdx.x] = (v[1][1] - v[1][0]) / (o.spot * (up - 1.0 / up));
    }
}

// ----------------------------------------------------------------------------------------------
// LIBOR market model, forward rates of a path in a private array
// ----------------------------------------------------------------------------------------------
#define LM_N 40
#define LM_MAT 15
__constant__ float lm_lambda[LM_N];
__constant__ float lm_swap[8];
__constant__ int lm_expiry[8];

__device__ float gauss(uint32_t &a, uint32_t &b)
{
    a = a * 1664525u + 1013904223u;
    b ^= b << 13; b ^= b >> 17; b ^= b << 5;
    float u = ((a ^ b) >> 8) * (1.f / 16777216.f) + 3e-8f;
    return normcdfinvf(u < 0.9999999f ? u : 0.9999999f);
}

__global__ void liborPortfolio(float *__restrict__ value, const float *__restrict__ L0, int npath, float delta)
{
    for (int path = blockIdx.x * blockDim.x + threadIdx.x; path < npath; path += gridDim.x * blockDim.x) {
        float L[LM_N];
        for (int i = 0; i < LM_N; i++) L[i] = 0.03f + 0.002f * L0[i];
        uint32_t ra = path * 2891336453u + 1u, rb = path * 747796405u | 1u;
        for (int n = 0; n < LM_MAT; n++) {
            float sq = sqrtf(delta) * gauss(ra, rb), v = 0.f;
            for (int i = n + 1; i < LM_N; i++) {
                float lam = lm_lambda[i - n - 1];
                float con = delta * lam;
                v += con * L[i] / (1.f + delta * L[i]);
                L[i] *= __expf(con * v + lam * (sq - 0.5f * con));
            }
        }
        float swapSum = 0.f, S[LM_N], B[LM_N], b = 1.f, s = 0.f;
        for (int i = LM_MAT; i < LM_N; i++) {
            b /= 1.f + delta * L[i];
            s += delta * b;
            B[i] = b;
            S[i] = s;
        }
        for (int k = 0; k < 8; k++) {
            int m = LM_MAT + lm_expiry[k] - 1;
            float pv = B[m] + lm_swap[k] * S[m] - 1.f;
            if (pv < 0.f) swapSum -= 100.f * pv;
        }
        for (int n = 0; n < LM_MAT; n++) swapSum /= 1.f + delta * L[n];
        value[path] = swapSum;
    }
}

// ----------------------------------------------------------------------------------------------
// bootstrap of a trimmed mean and median: data in shared, the resample sorted privately (shell sort)
// ----------------------------------------------------------------------------------------------
template <int N>
__global__ void bootstrapTrimmed(const float *__restrict__ data, int nsets, float2 *__restrict__ stat, int reps, int trim)
{
    __shared__ float pop[N];
    for (int set = blockIdx.y; set < nsets; set += gridDim.y) {
        for (int i = threadIdx.x; i < N; i += blockDim.x) pop[i] = data[(size_t)set * N + i];
        __syncthreads();
        const int rep = blockIdx.x * blockDim.x + threadIdx.x;
        if (rep < reps) {
            float x[N];
            uint64_t st = ((uint64_t)set << 32 | rep) * 0x9E3779B97F4A7C15ull + 1;
            for (int i = 0; i < N; i++) {
                st = st * 6364136223846793005ull + 1442695040888963407ull;
                x[i] = pop[(uint32_t)(((st >> 32) * N) >> 32)];
            }
            for (int gap = N / 2; gap > 0; gap = gap == 2 ? 1 : gap * 5 / 11)
                for (int i = gap; i < N; i++) {
                    float v = x[i];
                    int j = i;
                    for (; j >= gap && x[j - gap] > v; j -= gap) x[j] = x[j - gap];
                    x[j] = v;
                }
            float s = 0.f;
            for (int i = trim; i < N - trim; i++) s += x[i];
            stat[(size_t)set * reps + rep] = make_float2(s / (N - 2 * trim), N & 1 ? x[N / 2] : 0.5f * (x[N / 2] + x[N / 2 - 1]));
        }
        __syncthreads();
    }
}

// ----------------------------------------------------------------------------------------------
// minimizers of a 2-bit packed genome: canonical k-mer hashes of a tile, sliding minimum over w
// ----------------------------------------------------------------------------------------------
static __device__ uint32_t mix32(uint32_t h) { h ^= h >> 16; h *= 0x85ebca6bu; h ^= h >> 13; h *= 0xc2b2ae35u; return h ^ (h >> 16); }

template <unsigned BLOCK, unsigned MAXW>
__global__ void minimizers(const uint32_t *packed, size_t nbases, unsigned k, unsigned w, uint32_t *outHash, unsigned char *outOff)
{
    __shared__ uint32_t hash[BLOCK + MAXW];
    __shared__ uint32_t seq[(BLOCK + MAXW + 32) / 16 + 2];
    const size_t first = (size_t)blockIdx.x * BLOCK;            // BLOCK is a multiple of 16
    const unsigned words = (BLOCK + w + k) / 16 + 2;
    const size_t nwords = (nbases + 15) / 16;
    for (unsigned i = threadIdx.x; i < words; i += BLOCK) {
        size_t g = first / 16 + i;
        seq[i] = g < nwords ? packed[g] : 0u;
    }
    __syncthreads();
    const uint32_t mask = (k == 16) ? ~0u : (1u << (2 * k)) - 1u;
    for (unsigned p = threadIdx.x; p < BLOCK + w - 1; p += BLOCK) {
        uint32_t fwd = __funnelshift_r(seq[p / 16], seq[p / 16 + 1], 2 * (p % 16)) & mask;
        uint32_t rc = __brev(~fwd);                             // reverse bits, then swap within pairs
        rc = ((rc >> 1) & 0x55555555u) | ((rc & 0x55555555u) << 1);
        rc = k == 16 ? rc : rc >> (32 - 2 * k);
        uint32_t h = mix32(fwd < rc ? fwd : rc);
        hash[p] = first + p + k <= nbases ? h : 0xffffffffu;
    }
    __syncthreads();
    const size_t pos = first + threadIdx.x;
    if (pos + w + k - 1 > nbases) return;
    const uint32_t *win = hash + threadIdx.x;
    uint32_t best = win[0];
    unsigned at = 0;
    for (unsigned i = 1; i < w; i++)
        if (win[i] <= best) { best = win[i]; at = i; }
    outHash[pos] = best;
    outOff[pos] = (unsigned char)at;
}

// ----------------------------------------------------------------------------------------------
// pileup to diploid genotype likelihoods; private counters and likelihoods indexed by the base read
// ----------------------------------------------------------------------------------------------
__global__ void genotypeLikelihood(const unsigned char *__restrict__ pile, const int *__restrict__ depthStart, unsigned char *__restrict__ call,
                                   float *__restrict__ qual, ushort4 *__restrict__ counts, int sites)
{
    __shared__ float lnErr[64], lnHalf[64], lnOk[64];
    if (threadIdx.x < 64) {
        float e = exp10f(-0.1f * (threadIdx.x + 2));
        lnErr[threadIdx.x] = logf(e / 3.f);
        lnOk[threadIdx.x] = logf(1.f - e);
        lnHalf[threadIdx.x] = logf(0.5f - e / 3.f);
    }
    __syncthreads();
    const int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= sites) return;
    float gl[4][4];
    unsigned short cnt[4] = {0, 0, 0, 0};
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++) gl[a][b] = a == b ? -0.001f : -6.9f;
    for (int i = depthStart[s]; i < depthStart[s + 1]; i++) {
        const int base = pile[i] & 3, q = pile[i] >> 2;
        cnt[base]++;
        for (int a = 0; a < 4; a++)
            for (int b = a + 1; b < 4; b++) gl[a][b] += lnErr[q];
        for (int a = 0; a < 4; a++) {
            gl[a][a] += a == base ? lnOk[q] : lnErr[q];
            if (a != base) gl[min(a, base)][max(a, base)] += lnHalf[q] - lnErr[q];
        }
    }
    int b1 = 0;
    float v1 = -FLT_MAX, v2 = -FLT_MAX;
    for (int g = 0; g < 16; g++) {
        if ((g >> 2) > (g & 3)) continue;
        float v = gl[g >> 2][g & 3];
        if (v > v1) { v2 = v1; v1 = v; b1 = g; }
        else if (v > v2) v2 = v;
    }
    call[s] = (unsigned char)b1;
    qual[s] = fminf(99.f, 4.3429448f * (v1 - v2));
    counts[s] = make_ushort4(cnt[0], cnt[1], cnt[2], cnt[3]);
}

// ----------------------------------------------------------------------------------------------
// CT: parallel-beam back projection, the piece of the sinogram seen by a pixel block is staged
// ----------------------------------------------------------------------------------------------
namespace ct {
constexpr int PB = 16, ANG = 24, SEG = 28;

__global__ void __launch_bounds__(PB *PB) backproject(const float *sino, float *img, int nx, int ny, int ndet, int nang)
{
    __shared__ float seg[ANG][SEG];
    __shared__ float cs[ANG], sn[ANG];
    __shared__ int base[ANG];
    const int t = threadIdx.y * PB + threadIdx.x;
    const float bx = blockIdx.x * PB - 0.5f * nx, by = blockIdx.y * PB - 0.5f * ny;
    float sum = 0.f;
    for (int a0 = 0; a0 < nang; a0 += ANG) {
        const int na = min(ANG, nang - a0);
        if (t < na) {
            float c, s;
            sincospif((float)(a0 + t) / nang, &s, &c);
            cs[t] = c;
            sn[t] = s;
            float lo = bx * c + by * s + fminf(0.f, (PB - 1) * c) + fminf(0.f, (PB - 1) * s);
            base[t] = (int)floorf(lo + 0.5f * ndet) - 1;
        }
        __syncthreads();
        for (int i = t; i < na * SEG; i += PB * PB) {
            int a = i / SEG, d = base[a] + i % SEG;
            seg[a][i % SEG] = d >= 0 && d < ndet ? sino[(size_t)(a0 + a) * ndet + d] : 0.f;
        }
        __syncthreads();
        for (int a = 0; a < na; a++) {
            float u = (bx + threadIdx.x) * cs[a] + (by + threadIdx.y) * sn[a] + 0.5f * ndet - base[a];
            int k = (int)u;
            k = k < 0 ? 0 : (k > SEG - 2 ? SEG - 2 : k);
            float f = u - k;
            sum += seg[a][k] + f * (seg[a][k + 1] - seg[a][k]);
        }
        __syncthreads();
    }
    int x = blockIdx.x * PB + threadIdx.x, y = blockIdx.y * PB + threadIdx.y;
    if (x < nx && y < ny) img[(size_t)y * nx + x] = sum * (3.14159265f / nang);
}
} // namespace ct

// ----------------------------------------------------------------------------------------------
// rolling percentile rank of a price series: window kept sorted, oldest found by binary search
// ----------------------------------------------------------------------------------------------
template <typename Real, int W>
__global__ void rollingRank(const Real *px, Real *rank, Real *iqr, int nseries, int len)
{
    const int id = blockDim.x * blockIdx.x + threadIdx.x;
    if (id >= nseries) return;
    Real sorted[W];
    int filled = 0;
    for (int t = 0; t < len; ++t) {
        const Real v = px[(size_t)t * nseries + id];
        if (filled == W) {                                   // take the oldest out
            const Real old = px[(size_t)(t - W) * nseries + id];
            int lo = 0, hi = W - 1;
            while (lo < hi) {
                int mid = (lo + hi) / 2;
                if (sorted[mid] < old) lo = mid + 1; else hi = mid;
            }
            for (int i = lo; i + 1 < W; i++) sorted[i] = sorted[i + 1];
            --filled;
        }
        int p = filled++;
        for (; p > 0 && sorted[p - 1] > v; p--) sorted[p] = sorted[p - 1];
        sorted[p] = v;
        rank[(size_t)t * nseries + id] = (Real)p / (Real)filled;
        iqr[(size_t)t * nseries + id] = sorted[filled * 3 / 4] - sorted[filled / 4];
    }
}

// ----------------------------------------------------------------------------------------------
// quantitative MRI: S(t) = A exp(-t R) + C by Levenberg-Marquardt, a voxel a thread
// ----------------------------------------------------------------------------------------------
template <int NE, int NP>
__global__ void lmExpFit(const float *__restrict__ echoes, const float *__restrict__ te, float *__restrict__ param, unsigned char *__restrict__ iters, size_t nvox, int maxIter)
{
    __shared__ float t[NE];
    if (threadIdx.x < NE) t[threadIdx.x] = te[threadIdx.x];
    __syncthreads();
    const size_t v = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= nvox) return;
    float y[NE];
#pragma unroll
    for (int e = 0; e < NE; e++) y[e] = echoes[e * nvox + v] * 0.1f + 10.f * expf(-0.03f * t[e]);
    float p[NP] = {y[0], 0.05f, 0.1f};
    float lambda = 1e-3f, chi = FLT_MAX;
    int it = 0;
    for (; it < maxIter; it++) {
        float h[NP][NP + 1];
        for (int a = 0; a < NP; a++) for (int b = 0; b <= NP; b++) h[a][b] = 0.f;
        float c0 = 0.f;
#pragma unroll
        for (int e = 0; e < NE; e++) {
            float ex = expf(-p[1] * t[e]);
            float g[NP] = {ex, -p[0] * t[e] * ex, 1.f};
            float r = y[e] - (p[0] * ex + p[2]);
            c0 += r * r;
#pragma unroll
            for (int a = 0; a < NP; a++) {
#pragma unroll
                for (int b = 0; b < NP; b++) h[a][b] += g[a] * g[b];
                h[a][NP] += g[a] * r;
            }
        }
        if (it > 0 && fabsf(chi - c0) < 1e-6f * chi) break;
        chi = c0;
        for (int a = 0; a < NP; a++) h[a][a] *= 1.f + lambda;
        // Gauss-Jordan with the largest remaining row as the pivot
        unsigned used = 0;
        int where[NP];
        for (int c = 0; c < NP; c++) {
            int pr = -1;
            float big = -1.f;
            for (int r = 0; r < NP; r++)
                if (!(used >> r & 1) && fabsf(h[r][c]) > big) { big = fabsf(h[r][c]); pr = r; }
            if (pr < 0) { pr = 0; while (used >> pr & 1) pr++; }
            used |= 1u << pr;
            where[c] = pr;
            float inv = 1.f / (h[pr][c] + 1e-20f);
            for (int r = 0; r < NP; r++) {
                if (r == pr) continue;
                float f = h[r][c] * inv;
                for (int k = c; k <= NP; k++) h[r][k] -= f * h[pr][k];
            }
        }
        float n[NP];
        for (int c = 0; c < NP; c++) n[c] = p[c] + h[where[c]][NP] / (h[where[c]][c] + 1e-20f);
        float c1 = 0.f;
        for (int e = 0; e < NE; e++) {
            float r = y[e] - (n[0] * expf(-n[1] * t[e]) + n[2]);
            c1 += r * r;
        }
        if (c1 < c0) {
            for (int c = 0; c < NP; c++) p[c] = n[c];
            lambda *= 0.2f;
        } else {
            lambda *= 8.f;
            chi = FLT_MAX;
        }
    }
    for (int c = 0; c < NP; c++) param[c * nvox + v] = p[c];
    iters[v] = (unsigned char)it;
}

int main()
{
    {
        int n = 1501, steps = 300;
        OptionData *o = from<OptionData>(n, [](size_t i) { return OptionData{80. + i % 41, 100., 0.25 + 0.01 * (i % 97), 0.03, 0.15 + 0.001 * (i % 200)}; });
        double *p = mk<double>(n), *d = mk<double>(n);
        binomialAmerican<320><<<n, 96>>>(o, p, d, steps);
        show("binomialAmerican", p, n * 8);
        show("binomialAmerican", d, n * 8);
    }
    {
        float lam[LM_N], sw[8]; int ex[8] = {4, 4, 7, 10, 13, 17, 21, 25};
        for (int i = 0; i < LM_N; i++) lam[i] = 0.2f - 0.002f * i;
        for (int i = 0; i < 8; i++) sw[i] = 0.045f + 0.001f * i;
        cudaMemcpyToSymbol(lm_lambda, lam, sizeof lam);
        cudaMemcpyToSymbol(lm_swap, sw, sizeof sw);
        cudaMemcpyToSymbol(lm_expiry, ex, sizeof ex);
        int n = 96011; float *v = mk<float>(n), *l = mk<float>(LM_N);
        liborPortfolio<<<400, 128>>>(v, l, n, 0.25f);
        show("liborPortfolio", v, n * 4);
    }
    {
        const int N = 45; int sets = 90, reps = 2003; size_t n = (size_t)sets * reps;
        float *d = from<float>((size_t)sets * N, [](size_t i) { return (hashHost((uint32_t)i) >> 8) / 65536.f; });
        float2 *s = (float2 *)mk<float>(n * 2);
        bootstrapTrimmed<N><<<dim3((reps + 95) / 96, 40), 96>>>(d, sets, s, reps, 5);
        show("bootstrapTrimmed", s, n * 8);
    }
    {
        size_t nb = 9000005, nw = (nb + 15) / 16;
        uint32_t *g = from<uint32_t>(nw, [](size_t i) { return hashHost((uint32_t)i + 1234u); });
        uint32_t *h = mk<uint32_t>(nb); unsigned char *o = mk<unsigned char>(nb);
        minimizers<192, 32><<<(unsigned)((nb + 191) / 192), 192>>>(g, nb, 13, 19, h, o);
        show("minimizers", h, nb * 4);
        show("minimizers", o, nb);
        cudaFree(g); cudaFree(h); cudaFree(o);
    }
    {
        int sites = 250007, *st = (int *)malloc((sites + 1) * 4);
        st[0] = 0;
        for (int i = 0; i < sites; i++) st[i + 1] = st[i] + 10 + (int)(hashHost(i) % 40);
        int *ds = from<int>(sites + 1, [=](size_t i) { return st[i]; });
        unsigned char *p = from<unsigned char>(st[sites], [](size_t i) { uint32_t x = hashHost((uint32_t)i); return (unsigned char)((x & 0xfc) | ((x >> 10) % 5 ? (i / 30) & 3 : (x >> 20) & 3)); });
        unsigned char *c = mk<unsigned char>(sites); float *q = mk<float>(sites); ushort4 *n = (ushort4 *)mk<unsigned short>((size_t)sites * 4);
        genotypeLikelihood<<<(sites + 127) / 128, 128>>>(p, ds, c, q, n, sites);
        show("genotypeLikelihood", c, sites);
        show("genotypeLikelihood", q, (size_t)sites * 4);
        show("genotypeLikelihood", n, (size_t)sites * 8);
    }
    {
        int nx = 601, ny = 523, nd = 850, na = 205;
        float *s = mk<float>((size_t)nd * na), *im = mk<float>((size_t)nx * ny);
        ct::backproject<<<dim3((nx + 15) / 16, (ny + 15) / 16), dim3(16, 16)>>>(s, im, nx, ny, nd, na);
        show("backproject", im, (size_t)nx * ny * 4);
    }
    {
        int ns = 20003, len = 160; size_t n = (size_t)ns * len;
        float *x = from<float>(n, [](size_t i) { return 100.f + (hashHost((uint32_t)i) >> 12) / 65536.f; }), *r = mk<float>(n), *q = mk<float>(n);
        rollingRank<float, 28><<<(ns + 63) / 64, 64>>>(x, r, q, ns, len);
        show("rollingRank", r, n * 4);
        show("rollingRank", q, n * 4);
        cudaFree(x); cudaFree(r); cudaFree(q);
    }
    {
        size_t nv = 200003; const int NE = 14;
        float *e = mk<float>(nv * NE), *p = mk<float>(nv * 3);
        float *t = from<float>(NE, [](size_t i) { return 5.f + 7.f * i; });
        unsigned char *k = mk<unsigned char>(nv);
        lmExpFit<NE, 3><<<(unsigned)((nv + 127) / 128), 128>>>(e, t, p, k, nv, 12);
        show("lmExpFit", p, nv * 12);
        show("lmExpFit", k, nv);
    }
    return 0;
}
