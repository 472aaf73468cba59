// Image processing: smoothing, rank filters, summed-area tables, morphology, scaling, colour, equalisation.
#include <cmath>
#include "shown.h"

static unsigned scramble(unsigned x) { x ^= x >> 16; x *= 0x7feb352du; x ^= x >> 15; x *= 0x846ca68bu; return x ^ (x >> 16); }

static unsigned char *makeImage(size_t n, size_t w, unsigned seed) {
    unsigned char *h = (unsigned char *)malloc(n), *d;
    for (size_t i = 0; i < n; i++) {
        unsigned x = (unsigned)(i % w), y = (unsigned)(i / w);
        h[i] = (unsigned char)(((x * 3 + y * 5) >> 3) + (scramble((unsigned)i + seed) & 63));
    }
    cudaMalloc(&d, n);
    cudaMemcpy(d, h, n, cudaMemcpyHostToDevice);
    free(h);
    return d;
}

// ---- 1: separable Gaussian, both passes fused in one tile -----------------------------------
namespace smooth {
constexpr int TW = 32, TH = 24;

__device__ __forceinline__ int clampi(int v, int lo, int hi) { return v < lo ? lo : (v > hi ? hi : v); }

template <int R>
__global__ void __launch_bounds__(256) gaussSeparable(const unsigned char *__restrict__ src, unsigned char *__restrict__ dst,
                                                      int w, int h, size_t stride, float sigma)
{
    __shared__ float wt[2 * R + 1];
    __shared__ unsigned char in[TH + 2 * R][TW + 2 * R];
    __shared__ float mid[TH + 2 * R][TW + 1];

    const int x0 = blockIdx.x * TW, y0 = blockIdx.y * TH;
    const int lin = threadIdx.y * TW + threadIdx.x;
    if (lin < 2 * R + 1) {
        float d = (float)(lin - R);
        wt[lin] = expf(-d * d / (2.f * sigma * sigma));
    }
    for (int y = threadIdx.y; y < TH + 2 * R; y += blockDim.y) {
        const unsigned char *line = src + (size_t)clampi(y0 + y - R, 0, h - 1) * stride;
        for (int x = threadIdx.x; x < TW + 2 * R; x += TW)
            in[y][x] = line[clampi(x0 + x - R, 0, w - 1)];
    }
    __syncthreads();

    float norm = 0.f;
#pragma unroll
    for (int k = 0; k <= 2 * R; k++) norm += wt[k];
    norm = 1.f / (norm * norm);

    for (int y = threadIdx.y; y < TH + 2 * R; y += blockDim.y) {
        float s = 0.f;
#pragma unroll
        for (int k = 0; k <= 2 * R; k++) s += wt[k] * in[y][threadIdx.x + k];
        mid[y][threadIdx.x] = s;
    }
    __syncthreads();

    const int gx = x0 + threadIdx.x;
    if (gx >= w) return;
    for (int y = threadIdx.y; y < TH && y0 + y < h; y += blockDim.y) {
        float s = 0.f;
#pragma unroll
        for (int k = 0; k <= 2 * R; k++) s += wt[k] * mid[y + k][threadIdx.x];
        dst[(y0 + y) * stride + gx] = (unsigned char)fminf(s * norm + 0.5f, 255.f);
    }
}
} // namespace smooth

// ---- 2: running median by a private histogram, each thread slides along a piece of a row -------
#define MED_R 3
#define MED_SEG 48

__global__ void medianRunning(const unsigned char *img, unsigned char *out, int width, int height)
{
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int xb = (blockIdx.x * blockDim.x + threadIdx.x) * MED_SEG;
    if (y >= height || xb >= width) return;

    unsigned char hist[64];
    for (int i = 0; i < 64; i++) hist[i] = 0;
    for (int dy = -MED_R; dy <= MED_R; dy++) {
        int yy = min(max(y + dy, 0), height - 1);
        for (int dx = -MED_R; dx <= MED_R; dx++) {
            int xx = min(max(xb + dx, 0), width - 1);
            hist[img[(size_t)yy * width + xx] >> 2]++;
        }
    }
    int med = 0, below = 0;            // below: how many samples lie under bin med
    const int half = (2 * MED_R + 1) * (2 * MED_R + 1) / 2;
    int xe = min(xb + MED_SEG, width);
    for (int x = xb; x < xe; x++) {
        while (below > half) below -= hist[--med];
        while (below + hist[med] <= half) below += hist[med++];
        out[(size_t)y * width + x] = (unsigned char)(med * 4 + 2);
        if (x + 1 == xe) break;
        int xo = max(x - MED_R, 0), xn = min(x + 1 + MED_R, width - 1);
        for (int dy = -MED_R; dy <= MED_R; dy++) {
            size_t row = (size_t)min(max(y + dy, 0), height - 1) * width;
            int o = img[row + xo] >> 2, n = img[row + xn] >> 2;
            hist[o]--;
            if (o < med) below--;
            hist[n]++;
            if (n < med) below++;
        }
    }
}

// ---- 3: row prefix sums of values and squares (first half of an integral image) ------------------
struct SumSq { unsigned s; unsigned long long q; };

__device__ inline SumSq shfl_up(SumSq v, int d) {
    SumSq r;
    r.s = __shfl_up_sync(0xffffffffu, v.s, d);
    r.q = __shfl_up_sync(0xffffffffu, v.q, d);
    return r;
}

template <int WARPS>
__global__ void integralRows(const unsigned char *__restrict__ src, unsigned *__restrict__ sum, unsigned long long *__restrict__ sq, unsigned w)
{
    __shared__ SumSq tot[WARPS];
    const unsigned lane = threadIdx.x & 31u, wid = threadIdx.x >> 5;
    const size_t row = (size_t)blockIdx.x * w;
    SumSq carry = {0u, 0ull};
    for (unsigned base = 0; base < w; base += WARPS * 32) {
        unsigned i = base + threadIdx.x;
        unsigned p = i < w ? src[row + i] : 0u;
        SumSq v = {p, (unsigned long long)(p * p)};
        for (int d = 1; d < 32; d <<= 1) {
            SumSq o = shfl_up(v, d);
            if (lane >= d) { v.s += o.s; v.q += o.q; }
        }
        if (lane == 31) tot[wid] = v;
        __syncthreads();
        SumSq before = carry;
        for (unsigned k = 0; k < WARPS; ++k) {
            if (k < wid) { before.s += tot[k].s; before.q += tot[k].q; }
            carry.s += tot[k].s;
            carry.q += tot[k].q;
        }
        if (i < w) {
            sum[row + i] = before.s + v.s;
            sq[row + i] = before.q + v.q;
        }
        __syncthreads();
    }
}

// ---- 4: horizontal dilation, van Herk / Gil-Werman with a run-time window ---------------------------
__global__ void dilateVanHerk(const unsigned char *in, unsigned char *out, int w, int radius, int nseg)
{
    extern __shared__ unsigned char vh[];
    const int k = 2 * radius + 1;
    const int len = (nseg + 1) * k;
    unsigned char *pre = vh, *suf = vh + len;
    const int x0 = blockIdx.x * nseg * k;
    in += (size_t)blockIdx.y * w;
    out += (size_t)blockIdx.y * w;
    for (int i = threadIdx.x; i < len; i += blockDim.x) {
        int x = x0 - radius + i;
        unsigned char v = (x < 0 || x >= w) ? 0 : in[x];
        pre[i] = v;
        suf[i] = v;
    }
    __syncthreads();
    const int hb = blockDim.x / 2;
    if ((int)threadIdx.x < hb) {
        for (int s = threadIdx.x; s <= nseg; s += hb)
            for (int j = s * k + 1; j < s * k + k; j++)
                if (pre[j] < pre[j - 1]) pre[j] = pre[j - 1];
    } else {
        for (int s = threadIdx.x - hb; s <= nseg; s += hb)
            for (int j = s * k + k - 2; j >= s * k; j--)
                if (suf[j] < suf[j + 1]) suf[j] = suf[j + 1];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < nseg * k; i += blockDim.x) {
        int x = x0 + i;
        if (x < w) out[x] = max(suf[i], pre[i + k - 1]);
    }
}

// ---- 5: Lanczos-3 horizontal resize, filter weights once for each column of the block -----------------
static __device__ float lanczos3(float x)
{
    if (fabsf(x) < 1e-5f) return 1.f;
    if (fabsf(x) >= 3.f) return 0.f;
    float p = 3.14159265f * x;
    return 3.f * sinf(p) * sinf(p / 3.f) / (p * p);
}

template <class Pixel, int MAXTAP>
__global__ void lanczosColumns(const Pixel *__restrict__ src, float *__restrict__ dst, int sw, int dw, int rows, float scale)
{
    __shared__ float coef[MAXTAP][33];
    __shared__ int start[32];
    const int dx = blockIdx.x * 32 + threadIdx.x;
    const float support = 3.f * fmaxf(scale, 1.f);
    const float centre = (dx + 0.5f) * scale - 0.5f;
    const int first = (int)ceilf(centre - support);
    int taps = (int)floorf(2.f * support) + 1;
    if (taps > MAXTAP) taps = MAXTAP;
    if (threadIdx.y == 0) start[threadIdx.x] = first;
    for (int k = threadIdx.y; k < taps; k += blockDim.y)
        coef[k][threadIdx.x] = lanczos3((first + k - centre) / fmaxf(scale, 1.f));
    __syncthreads();
    float sum = 0.f;
    for (int k = 0; k < taps; k++) sum += coef[k][threadIdx.x];
    const float inv = 1.f / sum;
    for (int y = blockIdx.y * blockDim.y + threadIdx.y; y < rows; y += gridDim.y * blockDim.y) {
        if (dx < dw) {
            const Pixel *line = src + (size_t)y * sw;
            float acc = 0.f;
            for (int k = 0; k < taps; k++) {
                int sx = start[threadIdx.x] + k;
                sx = sx < 0 ? 0 : sx >= sw ? sw - 1 : sx;
                acc += coef[k][threadIdx.x] * (float)line[sx];
            }
            dst[(size_t)y * dw + dx] = acc * inv;
        }
    }
}

// ---- 6: packed BGR to planar YUV 4:2:0; bytes come in as words ------------------------------------------
#define YUV_PAIRS 4
__global__ void bgrToI420(const unsigned int *__restrict__ bgrWords, unsigned char *Y, unsigned char *U, unsigned char *V, int w, int h)
{
    __shared__ unsigned int raw[2 * YUV_PAIRS][48];          // 64 pixels a row
    const int wordsPerRow = w * 3 / 4;
    const int y0 = blockIdx.y * 2 * YUV_PAIRS;
    const int word0 = blockIdx.x * 48;
    const int t = threadIdx.x + 32 * threadIdx.y;
    for (int i = t; i < 2 * YUV_PAIRS * 48; i += 32 * YUV_PAIRS) {
        int r = i / 48, c = i - r * 48;
        if (y0 + r < h && word0 + c < wordsPerRow)
            raw[r][c] = bgrWords[(size_t)(y0 + r) * wordsPerRow + word0 + c];
    }
    __syncthreads();
    const int px = blockIdx.x * 64 + 2 * threadIdx.x;
    const int py = y0 + 2 * threadIdx.y;
    if (px >= w || py >= h) return;
    int cb = 0, cr = 0;
    for (int dy = 0; dy < 2; ++dy) {
        const uchar3 *p = reinterpret_cast<const uchar3 *>(raw[2 * threadIdx.y + dy]) + 2 * threadIdx.x;
        unsigned char two[2];
        for (int dx = 0; dx < 2; ++dx) {
            int b = p[dx].x, g = p[dx].y, r = p[dx].z;
            two[dx] = (unsigned char)(((66 * r + 129 * g + 25 * b + 128) >> 8) + 16);
            cb += -38 * r - 74 * g + 112 * b;
            cr += 112 * r - 94 * g - 18 * b;
        }
        *reinterpret_cast<uchar2 *>(Y + (size_t)(py + dy) * w + px) = make_uchar2(two[0], two[1]);
    }
    size_t c = (size_t)(py / 2) * (w / 2) + px / 2;
    U[c] = (unsigned char)(((cb / 4 + 128) >> 8) + 128);
    V[c] = (unsigned char)(((cr / 4 + 128) >> 8) + 128);
}

// ---- 7: contrast-limited equalisation of each tile ---------------------------------------------------------
__global__ void claheTile(const unsigned char *img, unsigned char *out, int w, int h, int tw, int th, unsigned clip)
{
    __shared__ unsigned int hist[256];
    __shared__ unsigned int excess;
    __shared__ unsigned char lut[256];
    int tid = threadIdx.x;
    hist[tid] = 0;
    if (tid == 0) excess = 0;
    __syncthreads();
    int x0 = blockIdx.x * tw, y0 = blockIdx.y * th;
    int cw = min(tw, w - x0), ch = min(th, h - y0);
    for (int i = tid; i < cw * ch; i += 256)
        atomicAdd(&hist[img[(size_t)(y0 + i / cw) * w + x0 + i % cw]], 1u);
    __syncthreads();
    unsigned c = hist[tid];
    if (c > clip) {
        atomicAdd(&excess, c - clip);
        c = clip;
    }
    __syncthreads();
    c += excess / 256 + (tid < (int)(excess % 256) ? 1 : 0);
    hist[tid] = c;
    __syncthreads();
    for (int off = 1; off < 256; off *= 2) {
        unsigned add = 0;
        if (tid >= off) add = hist[tid - off];
        __syncthreads();
        hist[tid] += add;
        __syncthreads();
    }
    lut[tid] = (unsigned char)((hist[tid] * 255ull + (cw * ch) / 2) / (unsigned)(cw * ch));
    __syncthreads();
    for (int i = tid; i < cw * ch; i += 256) {
        size_t p = (size_t)(y0 + i / cw) * w + x0 + i % cw;
        out[p] = lut[img[p]];
    }
}

// ---- 8: bilateral filter on RGBA with tables and tile carved out of one dynamic buffer -----------------------
__global__ void bilateralRGBA(const uchar4 *in, uchar4 *out, int w, int h, int rad, float sd, float sr)
{
    extern __shared__ __align__(16) char pool[];
    float *range = (float *)pool;                            // 766 entries: |dr|+|dg|+|db|
    float *space = range + 766;                              // (2 rad + 1)^2
    const int d = 2 * rad + 1;
    uchar4 *tile = (uchar4 *)(space + d * d);
    const int tw = blockDim.x + 2 * rad, th = blockDim.y + 2 * rad;
    const int nt = blockDim.x * blockDim.y;
    const int t = threadIdx.y * blockDim.x + threadIdx.x;
    for (int i = t; i < 766; i += nt) range[i] = __expf(-(float)(i * i) * sr);
    for (int i = t; i < d * d; i += nt) {
        int dx = i % d - rad, dy = i / d - rad;
        space[i] = __expf(-(float)(dx * dx + dy * dy) * sd);
    }
    for (int i = t; i < tw * th; i += nt) {
        int x = (int)(blockIdx.x * blockDim.x) + i % tw - rad;
        int y = (int)(blockIdx.y * blockDim.y) + i / tw - rad;
        x = abs(x); y = abs(y);                              // mirror
        if (x >= w) x = 2 * w - 2 - x;
        if (y >= h) y = 2 * h - 2 - y;
        tile[i] = in[(size_t)max(y, 0) * w + max(x, 0)];
    }
    __syncthreads();
    int gx = blockIdx.x * blockDim.x + threadIdx.x, gy = blockIdx.y * blockDim.y + threadIdx.y;
    if (gx >= w || gy >= h) return;
    const uchar4 c = tile[(threadIdx.y + rad) * tw + threadIdx.x + rad];
    float4 acc = make_float4(0.f, 0.f, 0.f, 0.f);
    const float *sp = space;
    for (int j = 0; j < d; j++) {
        const uchar4 *line = tile + (threadIdx.y + j) * tw + threadIdx.x;
        for (int i = 0; i < d; i++) {
            uchar4 q = line[i];
            int diff = abs(q.x - c.x) + abs(q.y - c.y) + abs(q.z - c.z);
            float g = *sp++ * range[diff];
            acc.x += g * q.x; acc.y += g * q.y; acc.z += g * q.z; acc.w += g;
        }
    }
    float r = 1.f / acc.w;
    out[(size_t)gy * w + gx] = make_uchar4((unsigned char)(acc.x * r + .5f), (unsigned char)(acc.y * r + .5f), (unsigned char)(acc.z * r + .5f), c.w);
}

int main()
{
    {
        int w = 4001, h = 3003; size_t stride = 4032;
        unsigned char *a = makeImage(stride * h, stride, 1), *b = mk<unsigned char>(stride * h);
        dim3 grid((w + smooth::TW - 1) / smooth::TW, (h + smooth::TH - 1) / smooth::TH);
        smooth::gaussSeparable<4><<<grid, dim3(32, 8)>>>(a, b, w, h, stride, 1.7f);
        show("gaussSeparable", b, stride * h);
        cudaFree(a); cudaFree(b);
    }
    {
        int w = 3850, h = 2101;
        unsigned char *a = makeImage((size_t)w * h, w, 2), *b = mk<unsigned char>((size_t)w * h);
        int segs = (w + MED_SEG - 1) / MED_SEG;
        medianRunning<<<dim3((segs + 15) / 16, (h + 7) / 8), dim3(16, 8)>>>(a, b, w, h);
        show("medianRunning", b, (size_t)w * h);
        cudaFree(a); cudaFree(b);
    }
    {
        unsigned w = 3333, h = 3000; size_t n = (size_t)w * h;
        unsigned char *a = makeImage(n, w, 3);
        unsigned *s = mk<unsigned>(n); unsigned long long *q = mk<unsigned long long>(n);
        integralRows<8><<<h, 256>>>(a, s, q, w);
        show("integralRows", s, n * 4);
        show("integralRows", q, n * 8);
        cudaFree(a); cudaFree(s); cudaFree(q);
    }
    {
        int w = 5003, h = 3500, rad = 9, nseg = 24, k = 2 * rad + 1;
        unsigned char *a = makeImage((size_t)w * h, w, 4), *b = mk<unsigned char>((size_t)w * h);
        dilateVanHerk<<<dim3((w + nseg * k - 1) / (nseg * k), h), 128, 2 * (nseg + 1) * k>>>(a, b, w, rad, nseg);
        show("dilateVanHerk", b, (size_t)w * h);
        cudaFree(a); cudaFree(b);
    }
    {
        int sw = 4100, dw = 1850, rows = 3001;
        float scale = (float)sw / dw;
        unsigned short *a = mk<unsigned short>((size_t)sw * rows);
        float *b = mk<float>((size_t)dw * rows);
        lanczosColumns<unsigned short, 16><<<dim3((dw + 31) / 32, 97), dim3(32, 8)>>>(a, b, sw, dw, rows, scale);
        show("lanczosColumns", b, (size_t)dw * rows * 4);
        cudaFree(a); cudaFree(b);
    }
    {
        int w = 3860, h = 2170; size_t n = (size_t)w * h;
        unsigned char *a = makeImage(n * 3, w * 3, 6), *Y = mk<unsigned char>(n), *U = mk<unsigned char>(n / 4), *V = mk<unsigned char>(n / 4);
        bgrToI420<<<dim3((w + 63) / 64, (h + 2 * YUV_PAIRS - 1) / (2 * YUV_PAIRS)), dim3(32, YUV_PAIRS)>>>((const unsigned *)a, Y, U, V, w, h);
        show("bgrToI420", Y, n);
        show("bgrToI420", U, n / 4);
        show("bgrToI420", V, n / 4);
        cudaFree(a); cudaFree(Y); cudaFree(U); cudaFree(V);
    }
    {
        int w = 4000, h = 2999, tw = 120, th = 90;
        unsigned char *a = makeImage((size_t)w * h, w, 7), *b = mk<unsigned char>((size_t)w * h);
        claheTile<<<dim3((w + tw - 1) / tw, (h + th - 1) / th), 256>>>(a, b, w, h, tw, th, 70);
        show("claheTile", b, (size_t)w * h);
        cudaFree(a); cudaFree(b);
    }
    {
        int w = 2501, h = 1777, rad = 4;
        unsigned char *a = makeImage((size_t)w * h * 4, w * 4, 8), *b = mk<unsigned char>((size_t)w * h * 4);
        dim3 blk(24, 10);
        size_t sm = (766 + (2 * rad + 1) * (2 * rad + 1)) * 4 + (blk.x + 2 * rad) * (blk.y + 2 * rad) * 4;
        bilateralRGBA<<<dim3((w + blk.x - 1) / blk.x, (h + blk.y - 1) / blk.y), blk, sm>>>((uchar4 *)a, (uchar4 *)b, w, h, rad, 0.06f, 0.0004f);
        show("bilateralRGBA", b, (size_t)w * h * 4);
    }
    return 0;
}
