// small header-library style: tiles, views, ring buffers, lambdas
#include "shown.h"
#include <cstdint>
#include <vector>

// ------------------------------------------------------------------ tile with halo
template <typename T, int W, int H, int R>
struct HaloTile {
    static constexpr int PW = W + 2 * R, PH = H + 2 * R;
    T data[PH * PW];

    __device__ T &operator()(int x, int y) { return data[(y + R) * PW + x + R]; }
    __device__ const T &operator()(int x, int y) const { return data[(y + R) * PW + x + R]; }

    template <typename Border>
    __device__ void load(const T *src, int width, int height, int x0, int y0, Border border)
    {
        const int nthr = blockDim.x * blockDim.y;
        for (int k = threadIdx.y * blockDim.x + threadIdx.x; k < PW * PH; k += nthr) {
            int x = x0 + k % PW - R, y = y0 + k / PW - R;
            data[k] = border(src, x, y, width, height);
        }
        __syncthreads();
    }
};
struct ClampBorder {
    template <typename T> __device__ T operator()(const T *s, int x, int y, int w, int h) const
    {
        x = x < 0 ? 0 : x >= w ? w - 1 : x;
        y = y < 0 ? 0 : y >= h ? h - 1 : y;
        return s[(size_t)y * w + x];
    }
};
struct ZeroBorder {
    template <typename T> __device__ T operator()(const T *s, int x, int y, int w, int h) const
    {
        return x >= 0 && y >= 0 && x < w && y < h ? s[(size_t)y * w + x] : T(0);
    }
};

template <class Border>
__global__ void log_filter(const float *src, float *dst, int w, int h)
{
    __shared__ HaloTile<float, 32, 8, 2> tile;
    const int x0 = blockIdx.x * 32, y0 = blockIdx.y * 8;
    tile.load(src, w, h, x0, y0, Border());
    const int x = threadIdx.x, y = threadIdx.y;
    float r = 16.f * tile(x, y);
    r -= 2.f * (tile(x - 1, y) + tile(x + 1, y) + tile(x, y - 1) + tile(x, y + 1));
    r -= tile(x - 1, y - 1) + tile(x + 1, y - 1) + tile(x - 1, y + 1) + tile(x + 1, y + 1);
    r -= tile(x - 2, y) + tile(x + 2, y) + tile(x, y - 2) + tile(x, y + 2);
    if (x0 + x < w && y0 + y < h) dst[(size_t)(y0 + y) * w + x0 + x] = r;
}

// ------------------------------------------------------------------ anisotropic diffusion with lambdas
__global__ void perona_malik(const float *__restrict__ img, float *__restrict__ out, int nx, int ny, float kappa, float lambda)
{
    constexpr int B = 16;
    __shared__ float sh[B + 2][B + 2];
    const int gx = blockIdx.x * B + threadIdx.x, gy = blockIdx.y * B + threadIdx.y;
    auto pixel = [=](int x, int y) {
        x = min(max(x, 0), nx - 1);
        y = min(max(y, 0), ny - 1);
        return img[y * nx + x];
    };
    auto at = [&](int dx, int dy) -> float & { return sh[threadIdx.y + 1 + dy][threadIdx.x + 1 + dx]; };
    at(0, 0) = pixel(gx, gy);
    if (threadIdx.x == 0) at(-1, 0) = pixel(gx - 1, gy);
    if (threadIdx.x == B - 1) at(1, 0) = pixel(gx + 1, gy);
    if (threadIdx.y == 0) at(0, -1) = pixel(gx, gy - 1);
    if (threadIdx.y == B - 1) at(0, 1) = pixel(gx, gy + 1);
    __syncthreads();
    if (gx >= nx || gy >= ny) return;
    auto flux = [&](int dx, int dy) {
        float g = at(dx, dy) - at(0, 0);
        return g / (1.f + (g * g) / (kappa * kappa));
    };
    out[gy * nx + gx] = at(0, 0) + lambda * (flux(-1, 0) + flux(1, 0) + flux(0, -1) + flux(0, 1));
}

// ------------------------------------------------------------------ game of life on a torus, index macros
#define LW 32
#define LH 16
#define S(r, c) sm[((r) + 1) * (LW + 2) + ((c) + 1)]
#define G(r, c) cells[(((r) + rows) % rows) * cols + (((c) + cols) % cols)]
__global__ void life_step(const unsigned char *cells, unsigned char *next, int rows, int cols)
{
    __shared__ int sm[(LH + 2) * (LW + 2)];
    int tr = threadIdx.y, tc = threadIdx.x;
    int r = blockIdx.y * LH + tr, c = blockIdx.x * LW + tc;
    S(tr, tc) = G(r, c) & 1;
    if (tr == 0) S(-1, tc) = G(r - 1, c) & 1;
    if (tr == LH - 1) S(LH, tc) = G(r + 1, c) & 1;
    if (tc == 0) S(tr, -1) = G(r, c - 1) & 1;
    if (tc == LW - 1) S(tr, LW) = G(r, c + 1) & 1;
    if (tr == 0 && tc == 0) S(-1, -1) = G(r - 1, c - 1) & 1;
    if (tr == 0 && tc == LW - 1) S(-1, LW) = G(r - 1, c + 1) & 1;
    if (tr == LH - 1 && tc == 0) S(LH, -1) = G(r + 1, c - 1) & 1;
    if (tr == LH - 1 && tc == LW - 1) S(LH, LW) = G(r + 1, c + 1) & 1;
    __syncthreads();
    int n = S(tr - 1, tc - 1) + S(tr - 1, tc) + S(tr - 1, tc + 1) + S(tr, tc - 1) + S(tr, tc + 1) + S(tr + 1, tc - 1) + S(tr + 1, tc) + S(tr + 1, tc + 1);
    if (r < rows && c < cols) next[r * cols + c] = n == 3 || (n == 2 && S(tr, tc));
}
#undef S
#undef G

// ------------------------------------------------------------------ weighted least squares, arrays carved from a pool
template <typename T>
__device__ T *carve(unsigned char *&p, int count)
{
    T *r = reinterpret_cast<T *>(p);
    p += (count * sizeof(T) + 15) / 16 * 16;
    return r;
}
constexpr int FEAT = 4, NORMAL = FEAT * (FEAT + 1) / 2 + FEAT;
__global__ void wls_normal_equations(const float *X, const float *y, const float *w, float *normal, int samples)
{
    extern __shared__ __align__(16) unsigned char pool_bytes[];
    unsigned char *p = pool_bytes;
    float *sX = carve<float>(p, FEAT * blockDim.x);
    float *sy = carve<float>(p, blockDim.x);
    double *part = carve<double>(p, NORMAL * (blockDim.x / 32));
    const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5, nwarps = blockDim.x / 32;
    const size_t base = (size_t)blockIdx.x * samples;
    double acc[NORMAL];
    for (int k = 0; k < NORMAL; k++) acc[k] = 0;
    for (int s0 = 0; s0 < samples; s0 += blockDim.x) {
        int cnt = min((int)blockDim.x, samples - s0);
        for (int k = tid; k < FEAT * cnt; k += blockDim.x) sX[k] = X[(base + s0) * FEAT + k];
        if (tid < cnt) sy[tid] = y[base + s0 + tid];
        __syncthreads();
        if (tid < cnt) {
            float ww = w[base + s0 + tid];
            int k = 0;
            for (int i = 0; i < FEAT; i++) {
                for (int j = i; j < FEAT; j++) acc[k++] += ww * sX[tid * FEAT + i] * sX[tid * FEAT + j];
                acc[k++] += ww * sX[tid * FEAT + i] * sy[tid];
            }
        }
        __syncthreads();
    }
    for (int k = 0; k < NORMAL; k++) {
        double v = acc[k];
        for (int o = 16; o > 0; o /= 2) v += __shfl_down_sync(0xffffffffu, v, o);
        if (lane == 0) part[warp * NORMAL + k] = v;
    }
    __syncthreads();
    if (tid < NORMAL) {
        double v = 0;
        for (int q = 0; q < nwarps; q++) v += part[q * NORMAL + tid];
        normal[blockIdx.x * NORMAL + tid] = (float)v;
    }
}

// ------------------------------------------------------------------ ring of rows, marching down the image
template <int WIDTH, int ROWS>
class RingRows {
    float (*buf)[WIDTH];
    int head;

public:
    __device__ RingRows(float (*storage)[WIDTH]) : buf(storage), head(0) {}
    __device__ float *front() { return buf[head]; }
    __device__ void advance() { head = head + 1 == ROWS ? 0 : head + 1; }
    // age 0 is the newest complete row
    __device__ float get(int age, int x) const
    {
        int r = head - 1 - age;
        r += r < 0 ? ROWS : 0;
        return buf[r][x];
    }
};
#define RING_W 128
#define RING_K 5
#define RING_ROWS 64
__global__ void smooth_marching(const float *in, float *out, int width, int height)
{
    __shared__ float storage[RING_K][RING_W + 4];
    RingRows<RING_W + 4, RING_K> ring(storage);
    const int x0 = blockIdx.x * RING_W - 2, yb = blockIdx.y * RING_ROWS;
    const float c[5] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};
    auto push = [&](int y) {
        y = min(max(y, 0), height - 1);
        for (int i = threadIdx.x; i < RING_W + 4; i += RING_W) ring.front()[i] = in[(size_t)y * width + min(max(x0 + i, 0), width - 1)];
        ring.advance();
    };
    for (int y = -2; y < 2; y++) push(yb + y);
    for (int y = 0; y < RING_ROWS && yb + y < height; y++) {
        push(yb + y + 2);
        __syncthreads();
        float acc = 0.f;
#pragma unroll
        for (int a = 0; a < RING_K; a++) {
            float h = 0.f;
#pragma unroll
            for (int k = 0; k < 5; k++) h += c[k] * ring.get(a, threadIdx.x + k);
            acc += c[a] * h;
        }
        int x = x0 + 2 + threadIdx.x;
        if (x < width) out[(size_t)(yb + y) * width + x] = acc;
        __syncthreads();
    }
}

// ------------------------------------------------------------------ batched LU on a 2-D view of dynamic memory
template <typename T>
struct View2D {
    T *ptr;
    int ld;
    __device__ __forceinline__ T &operator()(int i, int j) const { return ptr[i * ld + j]; }
};
__global__ void lu_batched_nopivot(const float *A, float *LU, int n)
{
    extern __shared__ float dyn[];
    View2D<float> a{dyn, n | 1};
    const float *src = A + (size_t)blockIdx.x * n * n;
    float *dst = LU + (size_t)blockIdx.x * n * n;
    const int tid = threadIdx.x;
    for (int k = tid; k < n * n; k += blockDim.x) {
        int i = k / n, j = k % n;
        a(i, j) = src[k] + (i == j ? 200.f : 0.f);
    }
    __syncthreads();
    for (int k = 0; k < n - 1; k++) {
        float piv = 1.f / a(k, k);
        for (int i = k + 1 + tid; i < n; i += blockDim.x) a(i, k) *= piv;
        __syncthreads();
        const int m = n - k - 1;
        for (int q = tid; q < m * m; q += blockDim.x) {
            int i = k + 1 + q / m, j = k + 1 + q % m;
            a(i, j) -= a(i, k) * a(k, j);
        }
        __syncthreads();
    }
    for (int k = tid; k < n * n; k += blockDim.x) dst[k] = a(k / n, k % n);
}

// ------------------------------------------------------------------ FIR on 16 bit audio, periodic
#define FIR_TAPS 31
#define FIR_PER 4
__constant__ int16_t fir_coef[FIR_TAPS];
__global__ void fir_int16_periodic(const int16_t *pcm, int16_t *out, int n)
{
    __shared__ int16_t win[256 * FIR_PER + FIR_TAPS - 1];
    const int start = blockIdx.x * (256 * FIR_PER);
    for (int k = threadIdx.x; k < 256 * FIR_PER + FIR_TAPS - 1; k += 256) {
        int g = start + k - FIR_TAPS / 2;
        if (g < 0) g += n;
        if (g >= n) g -= n;
        win[k] = pcm[g];
    }
    __syncthreads();
#pragma unroll
    for (int r = 0; r < FIR_PER; r++) {
        const int o = r * 256 + threadIdx.x;
        int acc = 1 << 10;
#pragma unroll
        for (int t = 0; t < FIR_TAPS; t++) acc += fir_coef[t] * win[o + t];
        acc >>= 11;
        if (start + o < n) out[start + o] = (int16_t)max(-32768, min(32767, acc));
    }
}

// ------------------------------------------------------------------ sharpen of planar RGB, the same tile for each channel
template <int CH>
__global__ void sharpen_planar(const float *src, float *dst, int w, int h, size_t plane)
{
    __shared__ float t[10][34];
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    const int xc = min(x, w - 1), yc = min(y, h - 1);
    const int lx = threadIdx.x + 1, ly = threadIdx.y + 1;
    for (int c = 0; c < CH; c++) {
        const float *p = src + c * plane;
        __syncthreads();
        t[ly][lx] = p[(size_t)yc * w + xc];
        if (lx == 1) t[ly][0] = p[(size_t)yc * w + max(xc - 1, 0)];
        if (lx == 32) t[ly][33] = p[(size_t)yc * w + min(xc + 1, w - 1)];
        if (ly == 1) {
            const float *up = p + (size_t)max(yc - 1, 0) * w;
            t[0][lx] = up[xc];
            if (lx == 1) t[0][0] = up[max(xc - 1, 0)];
            if (lx == 32) t[0][33] = up[min(xc + 1, w - 1)];
        }
        if (ly == 8) {
            const float *dn = p + (size_t)min(yc + 1, h - 1) * w;
            t[9][lx] = dn[xc];
            if (lx == 1) t[9][0] = dn[max(xc - 1, 0)];
            if (lx == 32) t[9][33] = dn[min(xc + 1, w - 1)];
        }
        __syncthreads();
        float sum = 0.f;
        for (int j = -1; j <= 1; j++)
            for (int i = -1; i <= 1; i++) sum += t[ly + j][lx + i];
        if (x < w && y < h) dst[c * plane + (size_t)y * w + x] = fminf(fmaxf(2.f * t[ly][lx] - sum / 9.f, 0.f), 12.5f);
    }
}

int main()
{
    const int w = 4099, h = 3001;
    const size_t n = (size_t)w * h;
    float *a = mk<float>(n), *b = mk<float>(n);
    log_filter<ClampBorder><<<dim3((w + 31) / 32, (h + 7) / 8), dim3(32, 8)>>>(a, b, w, h);
    show("log_filter", b, n * 4);

    perona_malik<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(a, b, w, h, 2.5f, 0.2f);
    show("perona_malik", b, n * 4);

    unsigned char *cells = mk<unsigned char>(n), *next = mk<unsigned char>(n);
    life_step<<<dim3((w + LW - 1) / LW, (h + LH - 1) / LH), dim3(LW, LH)>>>(cells, next, h, w);
    show("life_step", next, n);

    int samples = 1000, groups = 3000;
    float *norm = mk<float>((size_t)groups * NORMAL);
    wls_normal_equations<<<groups, 128, 128 * FEAT * 4 + 128 * 4 + NORMAL * 4 * 8 + 64>>>(a, b, a + 17, norm, samples);
    show("wls_normal_equations", norm, (size_t)groups * NORMAL * 4);

    smooth_marching<<<dim3((w + RING_W - 1) / RING_W, (h + RING_ROWS - 1) / RING_ROWS), RING_W>>>(a, b, w, h);
    show("smooth_marching", b, n * 4);

    int ln = 24, batch = 20000;
    lu_batched_nopivot<<<batch, 64, ln * (ln | 1) * sizeof(float)>>>(a, b, ln);
    show("lu_batched_nopivot", b, (size_t)batch * ln * ln * 4);

    int16_t coef[FIR_TAPS];
    for (int i = 0; i < FIR_TAPS; i++) coef[i] = (int16_t)(130 - 8 * abs(i - FIR_TAPS / 2));
    cudaMemcpyToSymbol(fir_coef, coef, sizeof coef);
    int np = (1 << 24) + 555;
    std::vector<int16_t> pcm(np);
    for (int i = 0; i < np; i++) pcm[i] = (int16_t)((i * 40503u) >> 4);
    int16_t *dp, *dq = mk<int16_t>(np);
    cudaMalloc(&dp, np * sizeof(int16_t));
    cudaMemcpy(dp, pcm.data(), np * sizeof(int16_t), cudaMemcpyHostToDevice);
    fir_int16_periodic<<<(np + 1023) / 1024, 256>>>(dp, dq, np);
    show("fir_int16_periodic", dq, (size_t)np * 2);

    int sw = 2047, shh = 1999;
    size_t plane = (size_t)sw * shh;
    sharpen_planar<3><<<dim3((sw + 31) / 32, (shh + 7) / 8), dim3(32, 8)>>>(a, b, sw, shh, plane);
    show("sharpen_planar", b, 3 * plane * 4);
    return 0;
}
