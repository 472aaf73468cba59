// Signal chains: filters, rate changes, detectors, wavelets.
#include <cmath>
#include "shown.h"

// (1) complex FIR with real taps, decimation by a run-time factor ---------------------
__constant__ float g_taps[64];

__global__ void firDecimate(const float2 *iq, float2 *y, int nout, int nin, int ntaps, int dec)
{
    extern __shared__ float2 buf[];
    const int first = blockIdx.x * blockDim.x * dec;
    const int need = (blockDim.x - 1) * dec + ntaps;
    for (int k = threadIdx.x; k < need; k += blockDim.x) {
        int src = first + k;
        buf[k] = src < nin ? iq[src] : make_float2(0.f, 0.f);
    }
    __syncthreads();
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n < nout) {
        float re = 0.f, im = 0.f;
        int base = threadIdx.x * dec;
        for (int k = 0; k < ntaps; ++k) {
            float2 s = buf[base + k];
            re += g_taps[k] * s.x;
            im += g_taps[k] * s.y;
        }
        y[n] = make_float2(re, im);
    }
}

// (2) rational resampler L/M = 5/3, phases picked from a shared prototype ---------------
template <int L, int M, int TAPS_PER_PHASE>
__global__ void resampleRational(const float *__restrict__ x, float *__restrict__ y,
                                 const float *__restrict__ proto, long long nx, long long ny) {
    constexpr int NT = 240;
    constexpr int SPAN = (NT * M + L - 1) / L + TAPS_PER_PHASE;
    __shared__ float h[L * TAPS_PER_PHASE];
    __shared__ float sig[SPAN];
    const long long o0 = (long long)blockIdx.x * NT;
    const long long i0 = o0 * M / L;              // NT * M is a multiple of L
    for (int k = threadIdx.x; k < L * TAPS_PER_PHASE; k += NT) h[k] = proto[k];
    for (int k = threadIdx.x; k < SPAN; k += NT) {
        long long i = i0 + k - (TAPS_PER_PHASE - 1);
        sig[k] = (i >= 0 && i < nx) ? x[i] : 0.f;
    }
    __syncthreads();
    long long o = o0 + threadIdx.x;
    if (o >= ny) return;
    int pos = threadIdx.x * M;
    int whole = pos / L, phase = pos % L;
    float acc = 0.f;
#pragma unroll
    for (int k = 0; k < TAPS_PER_PHASE; ++k) acc += h[phase + k * L] * sig[whole + TAPS_PER_PHASE - 1 - k];
    y[o] = acc * L;
}

// (3) moving RMS of a run-time half window, one value read per tap ------------------------
#define RMS_BLK 192
#define RMS_MAXHALF 40
__global__ void moving_rms(const float *in, float *out, const unsigned int n, const unsigned int half)
{
    __shared__ float sq[RMS_BLK + 2 * RMS_MAXHALF];
    unsigned int tid = threadIdx.x;
    unsigned int gid = blockIdx.x * RMS_BLK + tid;
    float v = gid < n ? in[gid] : 0.0f;
    sq[tid + half] = v * v;
    if (tid < half) {
        float a = 0.0f, b = 0.0f;
        if (gid >= half) a = in[gid - half];
        if (gid + RMS_BLK < n) b = in[gid + RMS_BLK];
        sq[tid] = a * a;
        sq[tid + half + RMS_BLK] = b * b;
    }
    __syncthreads();
    if (gid < n) {
        float s = 0.0f;
        for (unsigned int k = 0; k <= 2 * half; k++) s += sq[tid + k];
        out[gid] = sqrtf(s / (float)(2 * half + 1));
    }
}

// (4) first-order recursive filter as a scan over affine maps, one channel a block ----------
struct Affine {
    float a, b;
    __device__ Affine after(const Affine &p) const { Affine r; r.a = a * p.a; r.b = fmaf(a, p.b, b); return r; }
};
template <unsigned BLOCK>
__global__ void iir1_scan(const float *x, float *y, unsigned len, float pole) {
    __shared__ Affine ping[BLOCK], pong[BLOCK];
    const size_t ch = (size_t)blockIdx.x * len;
    float carry = 0.f;
    for (unsigned base = 0; base < len; base += BLOCK) {
        unsigned i = base + threadIdx.x;
        Affine *src = ping, *dst = pong;
        Affine m;
        m.a = pole;
        m.b = i < len ? (1.f - pole) * x[ch + i] : 0.f;
        src[threadIdx.x] = m;
        __syncthreads();
        for (unsigned d = 1; d < BLOCK; d *= 2) {
            Affine v = src[threadIdx.x];
            if (threadIdx.x >= d) v = v.after(src[threadIdx.x - d]);
            dst[threadIdx.x] = v;
            Affine *t = src; src = dst; dst = t;
            __syncthreads();
        }
        Affine all = src[BLOCK - 1], mine = src[threadIdx.x];
        if (i < len) y[ch + i] = fmaf(mine.a, carry, mine.b);
        carry = fmaf(all.a, carry, all.b);
        __syncthreads();
    }
}

// (5) feedback echo with a short ring buffer for each channel --------------------------------
template <int D>
__global__ void echoBank(const float *__restrict__ in, float *__restrict__ out, const unsigned char *__restrict__ delay,
                         int nch, int ns, float fb)
{
    int ch = blockDim.x * blockIdx.x + threadIdx.x;
    if (ch >= nch) return;
    float ring[D];
    for (int i = 0; i < D; i++) ring[i] = 0.f;
    int d = 1 + delay[ch] % (D - 1);
    int w = 0;
    for (int s = 0; s < ns; s++) {
        int r = w - d;
        if (r < 0) r += D;
        float v = in[(size_t)s * nch + ch] + fb * ring[r];
        ring[w] = v;
        if (++w == D) w = 0;
        out[(size_t)s * nch + ch] = v;
    }
}

// (6) cell-averaging CFAR along range, guard cells left out -----------------------------------
enum { GUARD = 3, TRAIN = 12, CFAR_HALO = GUARD + TRAIN };
__device__ float power(float2 z) { return z.x * z.x + z.y * z.y; }

__global__ void cfar_ca(const float2 *rd, unsigned char *det, float *noise, int nrange, float alpha) {
    __shared__ float pw[256 + 2 * CFAR_HALO];
    const float2 *beam = rd + (size_t)nrange * blockIdx.y;
    int r0 = blockIdx.x * 256;
    for (int k = threadIdx.x; k < 256 + 2 * CFAR_HALO; k += 256) {
        int r = r0 + k - CFAR_HALO;
        r = r < 0 ? r + nrange : r;           // circular in range
        r = r >= nrange ? r - nrange : r;
        r = r >= nrange ? nrange - 1 : r;
        pw[k] = power(beam[r]);
    }
    __syncthreads();
    int r = r0 + threadIdx.x;
    if (r < nrange) {
        int c = threadIdx.x + CFAR_HALO;
        float lead = 0.f, lag = 0.f;
        for (int k = GUARD + 1; k <= CFAR_HALO; k++) {
            lag += pw[c - k];
            lead += pw[c + k];
        }
        float z = (lead + lag) * (0.5f / TRAIN);
        det[(size_t)blockIdx.y * nrange + r] = pw[c] > alpha * z ? 1 : (pw[c] > alpha * fminf(lead, lag) / TRAIN ? 2 : 0);
        noise[(size_t)blockIdx.y * nrange + r] = z;
    }
}

// (7) CDF 9/7 lifting of rows in place, symmetric extension, low and high halves separated ------
template <int LEN>
__global__ void dwt97_rows(float *data, size_t pitch) {
    __shared__ float r[LEN];
    float *row = data + blockIdx.x * pitch;
    const int t = threadIdx.x;                 // LEN / 2 threads
    r[t] = row[t];
    r[t + LEN / 2] = row[t + LEN / 2];
    __syncthreads();
    const int e = 2 * t, o = 2 * t + 1;
    const int en = o + 1 < LEN ? o + 1 : LEN - 2;   // even to the right of the odd one
    const int op = e > 0 ? e - 1 : 1;               // odd to the left of the even one
    r[o] += -1.586134342f * (r[e] + r[en]);
    __syncthreads();
    r[e] += -0.052980118f * (r[op] + r[o]);
    __syncthreads();
    r[o] += 0.882911075f * (r[e] + r[en]);
    __syncthreads();
    r[e] += 0.443506852f * (r[op] + r[o]);
    __syncthreads();
    row[t] = r[e] * 1.149604398f;
    row[t + LEN / 2] = r[o] * 0.869864452f;
}

// (8) Hampel outlier filter: sorted private copy of the window ------------------------------------
#define HK 12
__global__ void hampel(const float *src, float *dst, int n, float nsig)
{
    __shared__ float line[128 + 2 * HK];
    int i = blockIdx.x * 128 + threadIdx.x;
    int b = blockIdx.x * 128 - HK;
    for (int j = threadIdx.x; j < 128 + 2 * HK; j += 128) {
        int g = b + j;
        line[j] = src[g < 0 ? 0 : (g > n - 1 ? n - 1 : g)];
    }
    __syncthreads();
    float w[2 * HK + 1];
    int m = 0;
    for (int k = 0; k <= 2 * HK; k++) {
        float v = line[threadIdx.x + k];
        int p = m++;
        while (p > 0 && w[p - 1] > v) { w[p] = w[p - 1]; --p; }
        w[p] = v;
    }
    float med = w[HK];
    // deviations are merged from the middle outwards until half of them are seen
    int lo = HK, hi = HK + 1;
    float mad = 0.f;
    for (int k = 0; k <= HK; k++) {
        float dl = lo >= 0 ? med - w[lo] : 3e38f;
        float dh = hi <= 2 * HK ? w[hi] - med : 3e38f;
        if (dl <= dh) { mad = dl; lo--; } else { mad = dh; hi++; }
    }
    float x = line[threadIdx.x + HK];
    if (i < n) dst[i] = fabsf(x - med) > nsig * 1.4826f * mad ? med : x;
}

int main() {
    {
        float t[64];
        for (int i = 0; i < 64; i++) t[i] = 0.015f * (1 + i % 7);
        cudaMemcpyToSymbol(g_taps, t, sizeof t);
        int ntaps = 49, dec = 3, nin = 20000000, nout = (nin - ntaps) / dec + 1;
        float2 *x = (float2 *)mk<float>(2 * (size_t)nin), *y = (float2 *)mk<float>(2 * (size_t)nout);
        int blk = 160;
        firDecimate<<<(nout + blk - 1) / blk, blk, ((blk - 1) * dec + ntaps) * sizeof(float2)>>>(x, y, nout, nin, ntaps, dec);
        show("firDecimate", y, (size_t)nout * 8);
        cudaFree(x); cudaFree(y);
    }
    {
        long long nx = 9000001, ny = nx * 5 / 3;
        float *x = mk<float>(nx), *y = mk<float>(ny), *h = mk<float>(5 * 12);
        resampleRational<5, 3, 12><<<(unsigned)((ny + 239) / 240), 240>>>(x, y, h, nx, ny);
        show("resampleRational", y, ny * 4);
        cudaFree(x); cudaFree(y);
    }
    {
        unsigned n = (1u << 24) + 77;
        float *x = mk<float>(n), *y = mk<float>(n);
        moving_rms<<<(n + RMS_BLK - 1) / RMS_BLK, RMS_BLK>>>(x, y, n, 31);
        show("moving_rms", y, (size_t)n * 4);
        cudaFree(x); cudaFree(y);
    }
    {
        unsigned nch = 3000, len = 5000;
        float *x = mk<float>((size_t)nch * len), *y = mk<float>((size_t)nch * len);
        iir1_scan<256><<<nch, 256>>>(x, y, len, 0.97f);
        show("iir1_scan", y, (size_t)nch * len * 4);
        cudaFree(x); cudaFree(y);
    }
    {
        int nch = 40000, ns = 300;
        float *x = mk<float>((size_t)nch * ns), *y = mk<float>((size_t)nch * ns);
        unsigned char *d = mk<unsigned char>(nch);
        echoBank<24><<<(nch + 127) / 128, 128>>>(x, y, d, nch, ns, 0.4f);
        show("echoBank", y, (size_t)nch * ns * 4);
        cudaFree(x); cudaFree(y);
    }
    {
        int nr = 4000, nb = 3000;
        float2 *x = (float2 *)mk<float>((size_t)nr * nb * 2);
        unsigned char *det = mk<unsigned char>((size_t)nr * nb);
        float *z = mk<float>((size_t)nr * nb);
        cfar_ca<<<dim3((nr + 255) / 256, nb), 256>>>(x, det, z, nr, 1.4f);
        show("cfar_ca", det, (size_t)nr * nb);
        show("cfar_ca", z, (size_t)nr * nb * 4);
        cudaFree(x); cudaFree(det); cudaFree(z);
    }
    {
        size_t rows = 30000, pitch = 520;
        float *x = mk<float>(rows * pitch);
        dwt97_rows<512><<<rows, 256>>>(x, pitch);
        show("dwt97_rows", x, rows * pitch * 4);
        cudaFree(x);
    }
    {
        int n = 4000001;
        float *x = mk<float>(n), *y = mk<float>(n);
        hampel<<<(n + 127) / 128, 128>>>(x, y, n, 0.6f);
        show("hampel", y, (size_t)n * 4);
    }
    return 0;
}
