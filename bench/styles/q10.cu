// geospatial, audio, clustering; modern C++ style
#include "shown.h"
#include <cstdint>
#include <cfloat>

// ---------------------------------------------------------------------------------------------
// a tile with a halo that every block loads cooperatively
struct ClampBorder {
    template <class T> static __device__ T get(const T *p, int x, int y, int w, int h)
    {
        x = x < 0 ? 0 : (x >= w ? w - 1 : x);
        y = y < 0 ? 0 : (y >= h ? h - 1 : y);
        return p[(size_t)y * w + x];
    }
};
struct WrapBorder {
    template <class T> static __device__ T get(const T *p, int x, int y, int w, int h)
    {
        x = (x % w + w) % w;
        y = (y % h + h) % h;
        return p[(size_t)y * w + x];
    }
};

template <class T, int BX, int BY, int R>
struct HaloTile {
    T cell[BY + 2 * R][BX + 2 * R];

    template <class Border>
    __device__ void load(const T *src, int w, int h)
    {
        const int ox = static_cast<int>(blockIdx.x) * BX - R;
        const int oy = static_cast<int>(blockIdx.y) * BY - R;
        for (int y = threadIdx.y; y < BY + 2 * R; y += BY)
            for (int x = threadIdx.x; x < BX + 2 * R; x += BX)
                cell[y][x] = Border::get(src, ox + x, oy + y, w, h);
        __syncthreads();
    }
    __device__ T operator()(int dx, int dy) const { return cell[threadIdx.y + R + dy][threadIdx.x + R + dx]; }
};

struct Sun {
    float sinAlt, cosAlt, azimuth;
};

template <int BX, int BY>
__global__ void hillshade_horn(const float *dem, float *shade, int w, int h, float cellsize, Sun sun)
{
    __shared__ HaloTile<float, BX, BY, 1> t;
    t.template load<ClampBorder>(dem, w, h);
    const int x = blockIdx.x * BX + threadIdx.x;
    const int y = blockIdx.y * BY + threadIdx.y;
    if (x >= w || y >= h) return;
    const float dzdx = ((t(1, -1) + 2 * t(1, 0) + t(1, 1)) - (t(-1, -1) + 2 * t(-1, 0) + t(-1, 1))) / (8 * cellsize);
    const float dzdy = ((t(-1, 1) + 2 * t(0, 1) + t(1, 1)) - (t(-1, -1) + 2 * t(0, -1) + t(1, -1))) / (8 * cellsize);
    const float slope = atanf(sqrtf(dzdx * dzdx + dzdy * dzdy));
    const float aspect = atan2f(dzdy, -dzdx);
    const float v = sun.sinAlt * cosf(slope) + sun.cosAlt * sinf(slope) * cosf(sun.azimuth - aspect);
    shade[(size_t)y * w + x] = 255.0f * fmaxf(v, 0.0f);
}

// ---------------------------------------------------------------------------------------------
// D8 flow direction; cells on the border of the map drain outwards (0)
__global__ void flow_direction_d8(const float *dem, uint8_t *dir, int w, int h)
{
    constexpr int B = 16;
    __shared__ float z[B][B];       // the block is the input tile
    const int x = blockIdx.x * (B - 2) + threadIdx.x - 1;
    const int y = blockIdx.y * (B - 2) + threadIdx.y - 1;
    const bool inside = x >= 0 && y >= 0 && x < w && y < h;
    z[threadIdx.y][threadIdx.x] = inside ? dem[(size_t)y * w + x] : 0.0f;
    __syncthreads();
    if (!inside || threadIdx.x == 0 || threadIdx.x == B - 1 || threadIdx.y == 0 || threadIdx.y == B - 1) return;

    const int dx[8] = {1, 1, 0, -1, -1, -1, 0, 1};
    const int dy[8] = {0, 1, 1, 1, 0, -1, -1, -1};
    uint8_t code = 0;
    if (x > 0 && y > 0 && x < w - 1 && y < h - 1) {
        float steepest = 0.0f;
        for (int k = 0; k < 8; ++k) {
            float drop = z[threadIdx.y][threadIdx.x] - z[threadIdx.y + dy[k]][threadIdx.x + dx[k]];
            if (k & 1) drop *= 0.70710678f;
            if (drop > steepest) {
                steepest = drop;
                code = static_cast<uint8_t>(1u << k);
            }
        }
    }
    dir[(size_t)y * w + x] = code;
}

// ---------------------------------------------------------------------------------------------
template <int DIM>
__device__ float squared_distance(const float (&p)[DIM], const float *c)
{
    float s = 0.0f;
    for (int d = 0; d < DIM; ++d) {
        const float t = p[d] - c[d];
        s += t * t;
    }
    return s;
}

template <int DIM>
__global__ void kmeans_assign(const float *points, const float *centroids, int *label, float *dist, int n, int k)
{
    extern __shared__ float sc[];
    for (int i = threadIdx.x; i < k * DIM; i += blockDim.x) sc[i] = centroids[i];
    __syncthreads();
    const int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= n) return;
    float p[DIM];
    for (int d = 0; d < DIM; ++d) p[d] = points[(size_t)d * n + id];
    float best = FLT_MAX;
    int arg = 0;
    for (int c = 0; c < k; ++c) {
        const float s = squared_distance<DIM>(p, sc + c * DIM);
        if (s < best) {
            best = s;
            arg = c;
        }
    }
    label[id] = arg;
    dist[id] = best;
}

// ---------------------------------------------------------------------------------------------
// points against one polygon, its vertices staged in chunks
constexpr int CHUNK = 128;
__device__ inline bool crosses(float2 a, float2 b, float2 p)
{
    if ((a.y > p.y) == (b.y > p.y)) return false;
    return p.x < (b.x - a.x) * (p.y - a.y) / (b.y - a.y) + a.x;
}
__global__ void point_in_polygon_staged(const float2 *pts, const float2 *poly, unsigned char *in, int npts, int nvert)
{
    __shared__ float2 v[CHUNK + 1];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float2 p = i < npts ? pts[i] : make_float2(0.f, 0.f);
    bool odd = false;
    for (int first = 0; first < nvert; first += CHUNK) {
        const int m = min(CHUNK, nvert - first);
        __syncthreads();
        for (int j = threadIdx.x; j <= m; j += blockDim.x) v[j] = poly[(first + j) % nvert];
        __syncthreads();
        for (int j = 0; j < m; ++j) odd ^= crosses(v[j], v[j + 1], p);
    }
    if (i < npts) in[i] = odd ? 1 : 0;
}

// ---------------------------------------------------------------------------------------------
struct Station {
    float x, y, value;
};
constexpr int IDW_X = 16, IDW_Y = 16;
__global__ void idw_interpolate_grid(const Station *st, int nst, float *grid, int w, int h, float cell)
{
    __shared__ float sx[IDW_X * IDW_Y], sy[IDW_X * IDW_Y], sv[IDW_X * IDW_Y];
    const int lin = threadIdx.y * IDW_X + threadIdx.x;
    const int cx = blockIdx.x * IDW_X + threadIdx.x, cy = blockIdx.y * IDW_Y + threadIdx.y;
    const float px = (cx + 0.5f) * cell, py = (cy + 0.5f) * cell;
    float num = 0.f, den = 0.f;
    for (int t = 0; t < nst; t += IDW_X * IDW_Y) {
        if (t + lin < nst) {
            const Station s = st[t + lin];
            sx[lin] = s.x;
            sy[lin] = s.y;
            sv[lin] = s.value;
        }
        __syncthreads();
        const int lim = min(IDW_X * IDW_Y, nst - t);
        for (int j = 0; j < lim; ++j) {
            const float dx = px - sx[j], dy = py - sy[j];
            const float wgt = 1.0f / (dx * dx + dy * dy + 1e-3f);
            num += wgt * sv[j];
            den += wgt;
        }
        __syncthreads();
    }
    if (cx < w && cy < h) grid[(size_t)cy * w + cx] = num / den;
}

// ---------------------------------------------------------------------------------------------
// log mel energies: several frames of the power spectrum in shared memory, a thread for each mel band
constexpr int BINS = 257, MELS = 80, FRAMES = 4;
__global__ void mel_filterbank_log(const float *power, const float *fb, const int2 *range, float *mel, int nframes)
{
    __shared__ float spec[FRAMES][BINS];
    const int f0 = blockIdx.x * FRAMES;
    const int nf = min(FRAMES, nframes - f0);
    for (int i = threadIdx.x; i < nf * BINS; i += MELS) spec[i / BINS][i % BINS] = power[(size_t)f0 * BINS + i];
    __syncthreads();
    const int m = threadIdx.x;
    const int2 r = range[m];
    float e[FRAMES];
    for (int f = 0; f < FRAMES; ++f) e[f] = 0.0f;
    for (int b = r.x; b < r.y; ++b) {
        const float wgt = fb[b * MELS + m];
        for (int f = 0; f < nf; ++f) e[f] += wgt * spec[f][b];
    }
    for (int f = 0; f < nf; ++f) mel[(size_t)(f0 + f) * MELS + m] = logf(e[f] + 1e-6f);
}

// ---------------------------------------------------------------------------------------------
struct SumOp {
    template <class T> __device__ T operator()(T a, T b) const { return a + b; }
    template <class T> static __device__ T identity() { return T(0); }
};
struct MaxOp {
    template <class T> __device__ T operator()(T a, T b) const { return a > b ? a : b; }
    template <class T> static __device__ T identity() { return T(-1); }
};

template <class T, class Op>
__device__ T warp_inclusive(T v, Op op)
{
    const int lane = threadIdx.x & 31;
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
        const T o = __shfl_up_sync(0xffffffffu, v, d);
        if (lane >= d) v = op(v, o);
    }
    return v;
}

template <class T, class Op, int BLOCK>
__global__ void exclusive_scan_warps(const T *in, T *out, T *aggregate, int n)
{
    static_assert(BLOCK % 32 == 0 && BLOCK <= 1024, "whole warps");
    constexpr int WARPS = BLOCK / 32;
    __shared__ T warpTotal[WARPS];
    const Op op{};
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
    const T ident = Op::template identity<T>();
    const T x = i < n ? in[i] : ident;
    const T incl = warp_inclusive(x, op);
    if (lane == 31) warpTotal[warp] = incl;
    __syncthreads();
    if (warp == 0) {
        T w = lane < WARPS ? warpTotal[lane] : ident;
        w = warp_inclusive(w, op);
        if (lane < WARPS) warpTotal[lane] = w;
    }
    __syncthreads();
    const T before = warp > 0 ? warpTotal[warp - 1] : ident;
    T excl = __shfl_up_sync(0xffffffffu, incl, 1);
    if (lane == 0) excl = ident;
    if (i < n) out[i] = op(before, excl);
    if (threadIdx.x == 0) aggregate[blockIdx.x] = warpTotal[WARPS - 1];
}

// ---------------------------------------------------------------------------------------------
__global__ void game_of_life_torus(const unsigned char *cells, unsigned char *next, int w, int h)
{
    __shared__ HaloTile<unsigned char, 32, 16, 1> world;
    world.load<WrapBorder>(cells, w, h);
    const int x = blockIdx.x * 32 + threadIdx.x;
    const int y = blockIdx.y * 16 + threadIdx.y;
    if (x < w && y < h) {
        int alive = 0;
        for (int dy = -1; dy <= 1; ++dy)
            for (int dx = -1; dx <= 1; ++dx)
                if (dx || dy) alive += world(dx, dy) & 1;
        const bool live = world(0, 0) & 1;
        next[(size_t)y * w + x] = (alive == 3 || (live && alive == 2)) ? 1 : 0;
    }
}

int main()
{
    const size_t n = 30000000;
    float *a = mk<float>(n), *o = mk<float>(n);

    int w = 4001, h = 3601;
    Sun sun{0.70710678f, 0.70710678f, 2.3561945f};
    hillshade_horn<32, 8><<<dim3((w + 31) / 32, (h + 7) / 8), dim3(32, 8)>>>(a, o, w, h, 3.0f, sun);
    show("hillshade_horn", o, (size_t)w * h * 4);

    auto *dir = mk<uint8_t>((size_t)w * h);
    flow_direction_d8<<<dim3((w + 13) / 14, (h + 13) / 14), dim3(16, 16)>>>(a, dir, w, h);
    show("flow_direction_d8", dir, (size_t)w * h);

    int np = 800003, k = 48;
    float *cen = mk<float>(k * 16), *dist = mk<float>(np);
    int *label = mk<int>(np);
    kmeans_assign<16><<<(np + 255) / 256, 256, k * 16 * sizeof(float)>>>(a, cen, label, dist, np, k);
    show("kmeans_assign label", label, (size_t)np * 4);
    show("kmeans_assign dist", dist, (size_t)np * 4);

    int nv = 301, npts = 1000001;
    float2 *hp = (float2 *)malloc(nv * sizeof(float2)), *poly;
    for (int i = 0; i < nv; i++) {
        int s = i * 4 / nv, r = i % 7;
        float t = (i * 4 % nv) / (float)nv * 10.f;
        hp[i] = s == 0 ? make_float2(1 + t, 1 + r * 0.2f) : s == 1 ? make_float2(11 - r * 0.3f, 1 + t) : s == 2 ? make_float2(11 - t, 11 - r * 0.25f) : make_float2(1 + r * 0.35f, 11 - t);
    }
    cudaMalloc(&poly, nv * sizeof(float2));
    cudaMemcpy(poly, hp, nv * sizeof(float2), cudaMemcpyHostToDevice);
    free(hp);
    auto *in = mk<unsigned char>(npts);
    point_in_polygon_staged<<<(npts + 191) / 192, 192>>>((const float2 *)a, poly, in, npts, nv);
    show("point_in_polygon_staged", in, npts);

    int gw = 1000, gh = 810, nst = 700;
    auto *st = (const Station *)mk<float>(nst * 3);
    idw_interpolate_grid<<<dim3((gw + 15) / 16, (gh + 15) / 16), dim3(IDW_X, IDW_Y)>>>(st, nst, o, gw, gh, 0.0125f);
    show("idw_interpolate_grid", o, (size_t)gw * gh * 4);

    int nfr = 100001;
    float *fb = mk<float>(BINS * MELS);
    int2 hr[MELS], *rng;
    for (int m = 0; m < MELS; m++) hr[m] = make_int2(m * 3, m * 3 + 4 + m / 5);
    cudaMalloc(&rng, sizeof(hr));
    cudaMemcpy(rng, hr, sizeof(hr), cudaMemcpyHostToDevice);
    mel_filterbank_log<<<(nfr + FRAMES - 1) / FRAMES, MELS>>>(a, fb, rng, o, nfr);
    show("mel_filterbank_log", o, (size_t)nfr * MELS * 4);

    int ns = 15000001;
    int *si = mk<int>(ns), *so = mk<int>(ns), *ag = mk<int>((ns + 639) / 640);
    exclusive_scan_warps<int, SumOp, 640><<<(ns + 639) / 640, 640>>>(si, so, ag, ns);
    show("exclusive_scan_warps sum", so, (size_t)ns * 4);
    show("exclusive_scan_warps sum aggregate", ag, (size_t)((ns + 639) / 640) * 4);
    exclusive_scan_warps<int, MaxOp, 640><<<(ns + 639) / 640, 640>>>(si, so, ag, ns);
    show("exclusive_scan_warps max", so, (size_t)ns * 4);

    int lw = 8000, lh = 5001;
    auto *c0 = mk<unsigned char>((size_t)lw * lh), *c1 = mk<unsigned char>((size_t)lw * lh);
    game_of_life_torus<<<dim3((lw + 31) / 32, (lh + 15) / 16), dim3(32, 16)>>>(c0, c1, lw, lh);
    show("game_of_life_torus", c1, (size_t)lw * lh);
    return 0;
}
