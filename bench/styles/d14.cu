// Register heavy physics and finance: D2Q9 lattice Boltzmann, ray-triangle, stiff chemistry, FIR delay line, LIBOR paths, binomial tree
#include "shown.h"
#include <vector>

// ---------------------------------------------------------------- LBM
#define Q9 9
__constant__ int ex9[Q9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
__constant__ int ey9[Q9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};

__global__ void lbmCollideStream(const float *__restrict__ fin, float *__restrict__ fout, const unsigned char *__restrict__ solid,
                                 int nx, int ny, float omega)
{
    const float wt[Q9] = {4.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 36, 1.f / 36, 1.f / 36, 1.f / 36};
    const int opp[Q9] = {0, 3, 4, 1, 2, 7, 8, 5, 6};
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y;
    if (x >= nx) return;
    size_t N = (size_t)nx * ny;
    int site = y * nx + x;
    float f[Q9];
    float rho = 0.f, ux = 0.f, uy = 0.f;
    for (int q = 0; q < Q9; q++) {
        int xs = (x - ex9[q] + nx) % nx; // pull
        int ys = (y - ey9[q] + ny) % ny;
        f[q] = fin[q * N + ys * nx + xs] * wt[q];
        rho += f[q];
        ux += ex9[q] * f[q];
        uy += ey9[q] * f[q];
    }
    if (solid[site] == 12) { // bounce back
        for (int q = 0; q < Q9; q++)
            fout[q * N + site] = f[opp[q]];
        return;
    }
    float ir = 1.f / (rho + 1e-6f);
    ux *= ir;
    uy *= ir;
    float usq = 1.5f * (ux * ux + uy * uy);
    for (int q = 0; q < Q9; q++) {
        float eu = 3.f * (ex9[q] * ux + ey9[q] * uy);
        float feq = wt[q] * rho * (1.f + eu + 0.5f * eu * eu - usq);
        fout[q * N + site] = f[q] + omega * (feq - f[q]);
    }
}

// ---------------------------------------------------------------- Moeller-Trumbore, triangles in shared chunks
struct Vec3 {
    float x, y, z;
};
__device__ inline Vec3 sub(Vec3 a, Vec3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
__device__ inline Vec3 cross(Vec3 a, Vec3 b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
__device__ inline float dot(Vec3 a, Vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
struct Tri { Vec3 a, b, c; };

__global__ void rayTriangle(const Tri *tris, int ntri, const Vec3 *dirs, float *tOut, int *idOut)
{
    __shared__ Tri chunk[64];
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    Vec3 org = {6.f, 6.f, -4.f};
    Vec3 d = dirs[r];
    d.x -= 6.f; d.y -= 6.f; d.z += 2.f;
    float best = 1e30f;
    int hit = -1;
    for (int base = 0; base < ntri; base += 64) {
        if (threadIdx.x < 64 && base + threadIdx.x < ntri)
            chunk[threadIdx.x] = tris[base + threadIdx.x];
        __syncthreads();
        int m = min(64, ntri - base);
        for (int i = 0; i < m; i++) {
            Vec3 e1 = sub(chunk[i].b, chunk[i].a);
            Vec3 e2 = sub(chunk[i].c, chunk[i].a);
            Vec3 p = cross(d, e2);
            float det = dot(e1, p);
            if (fabsf(det) < 1e-7f) continue;
            float inv = 1.f / det;
            Vec3 s = sub(org, chunk[i].a);
            float u = dot(s, p) * inv;
            if (u < 0.f || u > 1.f) continue;
            Vec3 q = cross(s, e1);
            float v = dot(d, q) * inv;
            if (v < 0.f || u + v > 1.f) continue;
            float t = dot(e2, q) * inv;
            if (t > 1e-5f && t < best) { best = t; hit = base + i; }
        }
        __syncthreads();
    }
    tOut[r] = best;
    idOut[r] = hit;
}

// ---------------------------------------------------------------- chemistry: 9 species, 12 reactions, forward rates
#define NSPEC 9
#define NREAC 12
struct Reaction { int r1, r2, p1, p2; double A, n, Ea; };
__constant__ Reaction mech[NREAC] = {
    {0, 1, 3, 4, 1.2, 0.0, 3.1},  {3, 0, 2, 4, 0.7, 0.5, 1.9}, {2, 4, 5, 3, 2.1, -0.3, 0.4}, {5, 4, 6, 2, 0.3, 0.1, 2.2},
    {6, 3, 5, 5, 1.9, 0.0, 1.0},  {3, 1, 6, 6, 0.9, 0.7, 0.1}, {6, 4, 7, 5, 1.1, 0.2, 0.8},  {6, 6, 7, 1, 0.4, 0.0, 0.3},
    {7, 3, 6, 0, 0.8, -0.1, 1.7}, {7, 4, 6, 5, 1.4, 0.3, 1.3}, {2, 8, 3, 8, 0.2, 0.4, 0.9}, {3, 3, 0, 8, 0.6, -0.5, 0.0}};

__global__ void chemSource(double *__restrict__ Y, const double *__restrict__ Temp, int ncell, double dt, int nsub)
{
    int cell = blockIdx.x * blockDim.x + threadIdx.x;
    if (cell >= ncell) return;
    double conc[NSPEC], wdot[NSPEC], kf[NREAC];
    double T = 300.0 + 100.0 * Temp[cell];
    double lnT = log(T / 300.0);
    for (int r = 0; r < NREAC; ++r)
        kf[r] = mech[r].A * exp(mech[r].n * lnT - mech[r].Ea * 300.0 / T);
    for (int s = 0; s < NSPEC; ++s)
        conc[s] = Y[(size_t)s * ncell + cell] * 0.01;
    for (int it = 0; it < nsub; ++it) {
        for (int s = 0; s < NSPEC; ++s) wdot[s] = 0.0;
        for (int r = 0; r < NREAC; ++r) {
            double rate = kf[r] * conc[mech[r].r1] * conc[mech[r].r2];
            wdot[mech[r].r1] -= rate;
            wdot[mech[r].r2] -= rate;
            wdot[mech[r].p1] += rate;
            wdot[mech[r].p2] += rate;
        }
        for (int s = 0; s < NSPEC; ++s) {
            conc[s] += dt * wdot[s];
            if (conc[s] < 0.0) conc[s] = 0.0;
        }
    }
    for (int s = 0; s < NSPEC; ++s)
        Y[(size_t)s * ncell + cell] = conc[s] * 100.0;
}

// ---------------------------------------------------------------- FIR with a circular delay line, one channel a thread
#define TAPS 16
__global__ void firDelayLine(const float *in, const float *coef, float *out, int channels, int samples)
{
    int ch = blockIdx.x * blockDim.x + threadIdx.x;
    if (ch >= channels) return;
    float delay[TAPS];
    float cf[TAPS];
    for (int i = 0; i < TAPS; i++) {
        delay[i] = 0.0f;
        cf[i] = coef[i] * 0.01f;
    }
    int head = 0;
    for (int s = 0; s < samples; s++) {
        delay[head] = in[(size_t)s * channels + ch];
        float acc = 0.0f;
        int p = head;
        for (int t = 0; t < TAPS; t++) {
            acc += cf[t] * delay[p];
            if (--p < 0) p = TAPS - 1;
        }
        out[(size_t)s * channels + ch] = acc;
        if (++head == TAPS) head = 0;
    }
}

// ---------------------------------------------------------------- LIBOR market model path (after M. Giles)
#define NN 40
#define NMAT 20
__constant__ int maturities[8] = {4, 8, 12, 16, 20, 24, 28, 36};
__global__ void liborPortfolio(const float *z, const float *lambda, float *value, int npath)
{
    int path = blockIdx.x * blockDim.x + threadIdx.x;
    if (path >= npath) return;
    const float delta = 0.25f;
    float L[NN];
    for (int i = 0; i < NN; i++) L[i] = 0.05f;
    for (int n = 0; n < NMAT; n++) {
        float sqez = 0.5f * (z[(size_t)n * npath + path] - 6.25f) * 0.28f;
        float v = 0.0f;
        for (int i = n + 1; i < NN; i++) {
            float lam = 0.01f * lambda[i - n - 1];
            float con1 = delta * lam;
            v += con1 * L[i] / (1.0f + delta * L[i]);
            float vrat = expf(con1 * v + lam * (sqez - 0.5f * con1));
            L[i] = L[i] * vrat;
        }
    }
    float b = 1.0f, s = 0.0f, pay = 0.0f;
    float B[NN], S[NN];
    for (int n = NMAT; n < NN; n++) {
        b = b / (1.0f + delta * L[n]);
        s = s + delta * b;
        B[n] = b;
        S[n] = s;
    }
    for (int i = 0; i < 8; i++) {
        int m = maturities[i] / 2 + NMAT - 1;
        float swap = B[m] + 0.045f * S[m] - 1.0f;
        if (swap < 0.0f) pay += -100.0f * swap;
    }
    for (int n = 0; n < NMAT; n++) pay = pay / (1.0f + delta * L[n]);
    value[path] = pay;
}

// ---------------------------------------------------------------- American put, one option a block, tree layer in shared memory
#define STEPS 255
__global__ void binomialPut(const float *S0, const float *K, float *price, float up, float disc, float pu)
{
    __shared__ float v[STEPS + 1];
    int i = threadIdx.x;
    float s0 = S0[blockIdx.x] + 20.f, k = K[blockIdx.x] + 22.f;
    float lnu = logf(up);
    v[i] = fmaxf(k - s0 * expf(lnu * (2.f * i - STEPS)), 0.f);
    __syncthreads();
    for (int n = STEPS - 1; n >= 0; n--) {
        float x = 0.f;
        if (i <= n) {
            float cont = disc * (pu * v[i + 1] + (1.f - pu) * v[i]);
            float exer = k - s0 * expf(lnu * (2.f * i - n));
            x = fmaxf(cont, exer);
        }
        __syncthreads();
        if (i <= n) v[i] = x;
        __syncthreads();
    }
    if (i == 0) price[blockIdx.x] = v[0];
}

int main()
{
    {
        int nx = 2048, ny = 1024;
        size_t N = (size_t)nx * ny;
        float *a = mk<float>(N * Q9), *b = mk<float>(N * Q9);
        unsigned char *s = mk<unsigned char>(N);
        lbmCollideStream<<<dim3(nx / 128, ny), 128>>>(a, b, s, nx, ny, 1.2f);
        show("lbmCollideStream", b, N * Q9 * 4);
    }
    {
        int rays = 1 << 20, nt = 1000;
        Tri *t = (Tri *)mk<float>(9 * nt);
        Vec3 *d = (Vec3 *)mk<float>(3 * rays);
        float *o = mk<float>(rays);
        int *id = mk<int>(rays);
        rayTriangle<<<rays / 128, 128>>>(t, nt, d, o, id);
        show("rayTriangle", o, (size_t)rays * 4);
        show("rayTriangle_id", id, (size_t)rays * 4);
    }
    {
        int nc = 500000;
        double *Y = mk<double>((size_t)nc * NSPEC), *T = mk<double>(nc);
        chemSource<<<(nc + 127) / 128, 128>>>(Y, T, nc, 0.05, 20);
        show("chemSource", Y, (size_t)nc * NSPEC * 8);
    }
    {
        int ch = 1 << 17, ns = 96;
        float *in = mk<float>((size_t)ch * ns), *c = mk<float>(TAPS), *o = mk<float>((size_t)ch * ns);
        firDelayLine<<<ch / 256, 256>>>(in, c, o, ch, ns);
        show("firDelayLine", o, (size_t)ch * ns * 4);
    }
    {
        int np = 1 << 18;
        float *z = mk<float>((size_t)np * NMAT), *l = mk<float>(NN), *v = mk<float>(np);
        liborPortfolio<<<np / 64, 64>>>(z, l, v, np);
        show("liborPortfolio", v, (size_t)np * 4);
    }
    {
        int nopt = 8192;
        float *s = mk<float>(nopt), *k = mk<float>(nopt + 10), *p = mk<float>(nopt);
        binomialPut<<<nopt, STEPS + 1>>>(s, k + 7, p, 1.012f, 0.9998f, 0.507f);
        show("binomialPut", p, nopt * 4);
    }
    return 0;
}
