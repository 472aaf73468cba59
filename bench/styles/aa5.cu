// DSP blocks for a software radio
#include "shown.h"
#include <math_constants.h>

using cfloat = float2;
static __device__ __forceinline__ cfloat cmul(cfloat a, cfloat b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
static __device__ __forceinline__ cfloat operator+(cfloat a, cfloat b) { return make_float2(a.x + b.x, a.y + b.y); }
static __device__ __forceinline__ cfloat operator-(cfloat a, cfloat b) { return make_float2(a.x - b.x, a.y - b.y); }

// --- 1024-point radix-2 DIT FFT in shared memory, one transform per block
template <int LOGN>
__global__ void fft_radix2_shared(const cfloat *in, cfloat *out)
{
    constexpr int N = 1 << LOGN;
    __shared__ cfloat s[N];
    __shared__ cfloat tw[N / 2];
    const size_t off = (size_t)blockIdx.x * N;
    const int t = threadIdx.x;                       // N/2 threads
    float sn, cs;
    sincosf(-2.0f * CUDART_PI_F * t / N, &sn, &cs);
    tw[t] = make_float2(cs, sn);
    s[__brev(t) >> (32 - LOGN)] = in[off + t];
    s[__brev(t + N / 2) >> (32 - LOGN)] = in[off + t + N / 2];
    __syncthreads();
    for (int st = 0; st < LOGN; ++st) {
        int half = 1 << st;
        int k = t & (half - 1);
        int i = ((t >> st) << (st + 1)) + k;
        cfloat a = s[i], b = cmul(s[i + half], tw[k << (LOGN - 1 - st)]);
        s[i] = a + b;
        s[i + half] = a - b;
        __syncthreads();
    }
    out[off + t] = s[t];
    out[off + t + N / 2] = s[t + N / 2];
}

// --- decimating FIR
#define NTAPS 65
#define DECIM 5
#define DEC_BLK 128
__global__ void fir_decimate(const float *x, const float *taps, float *y, int nout, int nin)
{
    __shared__ float xs[DEC_BLK * DECIM + NTAPS - 1];
    __shared__ float h[NTAPS];
    int first = blockIdx.x * DEC_BLK * DECIM;
    if (threadIdx.x < NTAPS) h[threadIdx.x] = taps[threadIdx.x];
    for (int i = threadIdx.x; i < DEC_BLK * DECIM + NTAPS - 1; i += DEC_BLK)
        xs[i] = (first + i < nin) ? x[first + i] : 0.0f;
    __syncthreads();
    int o = blockIdx.x * DEC_BLK + threadIdx.x;
    if (o >= nout) return;
    float acc = 0.0f;
    int p = threadIdx.x * DECIM;
    for (int k = 0; k < NTAPS; ++k) acc += h[NTAPS - 1 - k] * xs[p + k];
    y[o] = acc;
}

// --- biquad cascade, one channel per thread, samples staged through a padded tile so that global accesses stay coalesced
template <int CH, int CHUNK, int SECTIONS>
__global__ void biquad_cascade_channels(const float *x, float *y, const float *sos, int nsamples)
{
    __shared__ float tile[CH][CHUNK + 1];
    __shared__ float coef[SECTIONS * 5];
    const int c0 = blockIdx.x * CH;
    for (int i = threadIdx.x; i < SECTIONS * 5; i += CH) coef[i] = (sos[i] - 6.0f) * 0.03f;
    float z1[SECTIONS], z2[SECTIONS];
    for (int s = 0; s < SECTIONS; ++s) z1[s] = z2[s] = 0.f;
    for (int n0 = 0; n0 < nsamples; n0 += CHUNK) {
        const int len = min(CHUNK, nsamples - n0);
        for (int r = 0; r < CH; ++r)
            for (int k = threadIdx.x; k < len; k += CH) tile[r][k] = x[(size_t)(c0 + r) * nsamples + n0 + k];
        __syncthreads();
        for (int k = 0; k < len; ++k) {
            float v = tile[threadIdx.x][k];
#pragma unroll
            for (int s = 0; s < SECTIONS; ++s) {
                float o = coef[5 * s] * v + z1[s];
                z1[s] = coef[5 * s + 1] * v - coef[5 * s + 3] * o + z2[s];
                z2[s] = coef[5 * s + 2] * v - coef[5 * s + 4] * o;
                v = o;
            }
            tile[threadIdx.x][k] = v;
        }
        __syncthreads();
        for (int r = 0; r < CH; ++r)
            for (int k = threadIdx.x; k < len; k += CH) y[(size_t)(c0 + r) * nsamples + n0 + k] = tile[r][k];
        __syncthreads();
    }
}

// --- cell averaging CFAR along range
__global__ void cfar_ca_range(const float *pw, unsigned char *det, int ncell, int guard, int train, float alpha)
{
    extern __shared__ float seg[];
    const int pad = guard + train;
    const int lo = blockIdx.x * blockDim.x - pad;
    const float *line = pw + (size_t)blockIdx.y * ncell;
    for (int i = threadIdx.x; i < (int)blockDim.x + 2 * pad; i += blockDim.x) {
        int c = lo + i;
        c = c < 0 ? c + ncell : (c >= ncell ? c - ncell : c);
        c = min(max(c, 0), ncell - 1);
        seg[i] = line[c] * line[c];
    }
    __syncthreads();
    int cell = blockIdx.x * blockDim.x + threadIdx.x;
    if (cell < ncell) {
        float noise = 0.f;
        for (int i = 0; i < train; i++) noise += seg[threadIdx.x + i] + seg[threadIdx.x + pad + guard + 1 + i];
        det[(size_t)blockIdx.y * ncell + cell] = seg[threadIdx.x + pad] > alpha * noise / (2 * train);
    }
}

// --- one level of CDF 9/7 lifting on line segments
#define L97 512
#define L97_G 8
__global__ void dwt97_lifting_lines(const float *src, float *low, float *high, int n)
{
    __shared__ float v[L97 + 2 * L97_G];
    const float A = -1.586134342f, B = -0.05298011854f, C = 0.8829110762f, D = 0.4435068522f, S = 1.149604398f;
    const int base = blockIdx.x * L97 - L97_G;
    const float *ln = src + (size_t)blockIdx.y * n;
    for (int i = threadIdx.x; i < L97 + 2 * L97_G; i += blockDim.x) {
        int g = base + i;
        if (g < 0) g = -g;
        if (g >= n) g = 2 * (n - 1) - g;
        v[i] = ln[g < 0 ? 0 : g];
    }
    __syncthreads();
    const int last = L97 + 2 * L97_G - 1;
    for (int step = 0; step < 4; ++step) {
        float w = step == 0 ? A : step == 1 ? B : step == 2 ? C : D;
        // odd samples in steps 0, 2; even samples in steps 1, 3
        for (int i = 2 * threadIdx.x + ((step & 1) ? 0 : 1); i <= last; i += 2 * blockDim.x)
            if (i > 0 && i < last) v[i] += w * (v[i - 1] + v[i + 1]);
        __syncthreads();
    }
    for (int i = threadIdx.x; i < L97 / 2; i += blockDim.x) {
        int o = blockIdx.x * (L97 / 2) + i;
        if (o < n / 2) {
            low[(size_t)blockIdx.y * (n / 2) + o] = v[L97_G + 2 * i] / S;
            high[(size_t)blockIdx.y * (n / 2) + o] = v[L97_G + 2 * i + 1] * S;
        }
    }
}

// --- autocorrelation of frames (LPC front end), lags 0..31
__global__ void lpc_autocorr_frames(const short *pcm, float *r, int frame, int hop)
{
    __shared__ float w[400];
    __shared__ float part[8][33];
    const short *p = pcm + (size_t)blockIdx.x * hop;
    int t = threadIdx.x + threadIdx.y * 32;
    for (int i = t; i < frame; i += 256) w[i] = (p[i] - 6) * (0.54f - 0.46f * cosf(2.f * CUDART_PI_F * i / (frame - 1)));
    __syncthreads();
    int lag = threadIdx.x;
    float a = 0;
    for (int i = lag + threadIdx.y; i < frame; i += 8) a += w[i] * w[i - lag];
    part[threadIdx.y][lag] = a;
    __syncthreads();
    if (threadIdx.y == 0) {
        for (int k = 1; k < 8; ++k) a += part[k][lag];
        r[blockIdx.x * 32 + lag] = a;
    }
}

// --- Viterbi, K=7 rate 1/2, one frame per block of 64 threads, soft bits, traceback by thread 0
#define VIT_LEN 192
__global__ void viterbi_k7_soft(const signed char *soft, unsigned char *bits)
{
    __shared__ int metric[2][64];
    __shared__ unsigned int dec[VIT_LEN][2];
    __shared__ signed char rx[2 * VIT_LEN];
    const int st = threadIdx.x;
    const signed char *f = soft + (size_t)blockIdx.x * 2 * VIT_LEN;
    for (int i = st; i < 2 * VIT_LEN; i += 64) rx[i] = f[i] - 6;
    metric[0][st] = st == 0 ? 0 : -1000;
    __syncthreads();
    const int p0 = (st << 1) & 63, p1 = p0 | 1, in = st >> 5;
    int cur = 0;
    for (int n = 0; n < VIT_LEN; ++n) {
        int r0 = (in << 6) | p0, r1 = (in << 6) | p1;
        int a0 = (__popc(r0 & 0171) & 1) ? rx[2 * n] : -rx[2 * n];
        int b0 = (__popc(r0 & 0133) & 1) ? rx[2 * n + 1] : -rx[2 * n + 1];
        int a1 = (__popc(r1 & 0171) & 1) ? rx[2 * n] : -rx[2 * n];
        int b1 = (__popc(r1 & 0133) & 1) ? rx[2 * n + 1] : -rx[2 * n + 1];
        int m0 = metric[cur][p0] + a0 + b0, m1 = metric[cur][p1] + a1 + b1;
        int d = m1 > m0;
        metric[cur ^ 1][st] = d ? m1 : m0;
        unsigned int word = __ballot_sync(0xffffffffu, d);
        if ((st & 31) == 0) dec[n][st >> 5] = word;
        cur ^= 1;
        __syncthreads();
    }
    if (st == 0) {
        int best = 0;
        for (int i = 1; i < 64; ++i)
            if (metric[cur][i] > metric[cur][best]) best = i;
        for (int n = VIT_LEN - 1; n >= 0; --n) {
            bits[(size_t)blockIdx.x * VIT_LEN + n] = best >> 5;
            int d = (dec[n][best >> 5] >> (best & 31)) & 1;
            best = ((best << 1) & 63) | d;
        }
    }
}

// --- channeliser: polyphase sums for 64 channels followed by a direct 64-point DFT
#define PFB_M 64
#define PFB_P 8
__global__ void polyphase_channelizer64(const cfloat *x, const float *proto, cfloat *y, int nframes)
{
    __shared__ cfloat branch[4][PFB_M];
    __shared__ cfloat rot[PFB_M];
    const int ch = threadIdx.x, fr = blockIdx.x * 4 + threadIdx.y;
    if (threadIdx.y == 0) {
        float s, c;
        sincospif(2.f * ch / PFB_M, &s, &c);
        rot[ch] = {c, s};
    }
    cfloat acc = {0.f, 0.f};
    if (fr < nframes)
        for (int p = 0; p < PFB_P; p++) {
            cfloat v = x[(size_t)(fr + p) * PFB_M + ch];
            float h = proto[p * PFB_M + (PFB_M - 1 - ch)];
            acc.x += h * v.x;
            acc.y += h * v.y;
        }
    branch[threadIdx.y][ch] = acc;
    __syncthreads();
    cfloat sum = {0.f, 0.f};
    for (int m = 0; m < PFB_M; m++) sum = sum + cmul(branch[threadIdx.y][m], rot[(m * ch) % PFB_M]);
    if (fr < nframes) y[(size_t)fr * PFB_M + ch] = sum;
}

int main()
{
    {
        int batch = 6000;
        size_t n = (size_t)batch * 1024;
        cfloat *a = (cfloat *)mk<float>(2 * n), *b = (cfloat *)mk<float>(2 * n);
        fft_radix2_shared<10><<<batch, 512>>>(a, b);
        show("fft_radix2_shared", b, n * 8);
        cudaFree(a); cudaFree(b);
    }
    {
        int nin = 20000000, nout = nin / DECIM;
        float *x = mk<float>(nin), *h = mk<float>(NTAPS), *y = mk<float>(nout);
        fir_decimate<<<(nout + DEC_BLK - 1) / DEC_BLK, DEC_BLK>>>(x, h, y, nout, nin);
        show("fir_decimate", y, (size_t)nout * 4);
        cudaFree(x);
    }
    {
        int ch = 32 * 400, ns = 1000;
        float *x = mk<float>((size_t)ch * ns), *y = mk<float>((size_t)ch * ns), *s = mk<float>(20);
        biquad_cascade_channels<32, 64, 4><<<ch / 32, 32>>>(x, y, s, ns);
        show("biquad_cascade_channels", y, (size_t)ch * ns * 4);
        cudaFree(x); cudaFree(y);
    }
    {
        int nc = 3000, lines = 4000, g = 2, t = 12;
        float *p = mk<float>((size_t)nc * lines);
        unsigned char *d = mk<unsigned char>((size_t)nc * lines);
        cfar_ca_range<<<dim3((nc + 255) / 256, lines), 256, (256 + 2 * (g + t)) * sizeof(float)>>>(p, d, nc, g, t, 1.8f);
        show("cfar_ca_range", d, (size_t)nc * lines);
        cudaFree(p);
    }
    {
        int n = 5000, lines = 2500;
        float *s = mk<float>((size_t)n * lines), *lo = mk<float>((size_t)n / 2 * lines), *hi = mk<float>((size_t)n / 2 * lines);
        dwt97_lifting_lines<<<dim3((n + L97 - 1) / L97, lines), 160>>>(s, lo, hi, n);
        show("dwt97_lifting_lines", hi, (size_t)n / 2 * lines * 4);
        cudaFree(s);
    }
    {
        int frames = 25000, frame = 400, hop = 160;
        short *p = mk<short>((size_t)frames * hop + frame);
        float *r = mk<float>(frames * 32);
        lpc_autocorr_frames<<<frames, dim3(32, 8)>>>(p, r, frame, hop);
        show("lpc_autocorr_frames", r, (size_t)frames * 32 * 4);
    }
    {
        int frames = 20000;
        signed char *s = mk<signed char>((size_t)frames * 2 * VIT_LEN);
        unsigned char *b = mk<unsigned char>((size_t)frames * VIT_LEN);
        viterbi_k7_soft<<<frames, 64>>>(s, b);
        show("viterbi_k7_soft", b, (size_t)frames * VIT_LEN);
    }
    {
        int frames = 100003;
        cfloat *x = (cfloat *)mk<float>((size_t)(frames + PFB_P) * PFB_M * 2), *y = (cfloat *)mk<float>((size_t)frames * PFB_M * 2);
        float *h = mk<float>(PFB_M * PFB_P);
        polyphase_channelizer64<<<(frames + 3) / 4, dim3(PFB_M, 4)>>>(x, h, y, frames);
        show("polyphase_channelizer64", y, (size_t)frames * PFB_M * 8);
    }
    return 0;
}
