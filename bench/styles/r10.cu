// odds and ends: morphology, line buffers, procedural textures, clustering, checksums
#include "shown.h"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
using std::size_t;
typedef unsigned char  u8;
typedef unsigned short u16;
typedef unsigned int   u32;

// --------------------------------------------------------------------------------------------------
// van Herk / Gil-Werman dilation along rows, window W, one block handles SEGS windows of a row
template <int W, int SEGS>
__global__ void vanherk_dilate_rows(const u8 *src, u8 *dst, int width, int height)
{
    constexpr int LEN = W * (SEGS + 1);          // covered input pixels
    __shared__ u8 in[LEN], fwd[LEN], bwd[LEN];
    const int y = blockIdx.y;
    const int x0 = blockIdx.x * (W * SEGS) - W / 2;
    for (int i = threadIdx.x; i < LEN; i += blockDim.x) {
        int x = x0 + i;
        in[i] = (x >= 0 && x < width) ? src[(size_t)y * width + x] : 0;
    }
    __syncthreads();
    const int s = threadIdx.x >> 1;
    if (s < SEGS + 1) {
        if (threadIdx.x & 1) {
            int i = s * W + W - 1;
            u8 m = in[i];
            bwd[i] = m;
            while (--i >= s * W) {
                if (in[i] > m) m = in[i];
                bwd[i] = m;
            }
        } else {
            u8 m = 0;
            for (int i = s * W; i < s * W + W; ++i) {
                m = in[i] > m ? in[i] : m;
                fwd[i] = m;
            }
        }
    }
    __syncthreads();
    for (int o = threadIdx.x; o < W * SEGS; o += blockDim.x) {
        int x = blockIdx.x * (W * SEGS) + o;
        if (x >= width) break;
        u8 a = bwd[o], b = fwd[o + W - 1];
        dst[(size_t)y * width + x] = a > b ? a : b;
    }
}

// --------------------------------------------------------------------------------------------------
// 5x5 binomial, a ring of five horizontally filtered lines
#define LB_W 192
#define LB_LINES 5
__global__ void binomial5_linebuffer(const short *src, short *dst, int pitch, int w, int h, int strip)
{
    __shared__ int ring[LB_LINES][LB_W];
    __shared__ short raw[LB_W + 4];
    const int x0 = blockIdx.x * LB_W;
    const int x = x0 + threadIdx.x;
    const int yTop = blockIdx.y * strip;
    const int yBot = yTop + strip < h ? yTop + strip : h;
    int slot = 0;
    for (int y = yTop - 2; y < yBot + 2; ++y) {
        int ys = y < 0 ? 0 : y >= h ? h - 1 : y;
        const short *line = src + (size_t)ys * pitch;
        for (int i = threadIdx.x; i < LB_W + 4; i += LB_W) {
            int xs = x0 + i - 2;
            if (xs < 0) xs = 0;
            if (xs > w - 1) xs = w - 1;
            raw[i] = line[xs];
        }
        __syncthreads();
        const short *p = raw + threadIdx.x;
        ring[slot][threadIdx.x] = p[0] + 4 * p[1] + 6 * p[2] + 4 * p[3] + p[4];
        slot = (slot + 1) % LB_LINES;
        if (y >= yTop + 2) {                  // slot is the oldest line now
            int acc = 0;
            for (int k = 0; k < LB_LINES; ++k) {
                int wgt = k == 2 ? 6 : (k & 1 ? 4 : 1);
                acc += wgt * ring[(slot + k) % LB_LINES][threadIdx.x];
            }
            if (x < w) dst[(size_t)(y - 2) * pitch + x] = (short)((acc + 128) >> 8);
        }
        __syncthreads();
    }
}

// --------------------------------------------------------------------------------------------------
// tile object with its own loader and accessor
enum Border { CLAMP, WRAP, MIRROR };

template <typename T, int BW, int BH, int R, Border MODE>
struct ImageTile {
    T data[BH + 2 * R][BW + 2 * R];

    static __device__ int fix(int i, int n)
    {
        if (MODE == CLAMP) return i < 0 ? 0 : (i >= n ? n - 1 : i);
        if (MODE == WRAP) return (i % n + n) % n;
        i = i < 0 ? -1 - i : i;
        i %= 2 * n;
        return i < n ? i : 2 * n - 1 - i;
    }
    __device__ void load(const T *p, int w, int h)
    {
        for (int j = threadIdx.y; j < BH + 2 * R; j += BH)
            for (int i = threadIdx.x; i < BW + 2 * R; i += BW)
                data[j][i] = p[(size_t)fix(blockIdx.y * BH + j - R, h) * w + fix(blockIdx.x * BW + i - R, w)];
        __syncthreads();
    }
    __device__ T operator()(int dx, int dy) const { return data[threadIdx.y + R + dy][threadIdx.x + R + dx]; }
};

template <Border MODE>
__global__ void structure_tensor(const float *img, float4 *out, int w, int h)
{
    __shared__ ImageTile<float, 32, 8, 2, MODE> tile;
    tile.load(img, w, h);
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    float xx = 0, xy = 0, yy = 0;
    for (int v = -1; v <= 1; ++v)
        for (int u = -1; u <= 1; ++u) {
            float gx = 0.5f * (tile(u + 1, v) - tile(u - 1, v));
            float gy = 0.5f * (tile(u, v + 1) - tile(u, v - 1));
            xx += gx * gx;
            xy += gx * gy;
            yy += gy * gy;
        }
    if (x < w && y < h) out[(size_t)y * w + x] = make_float4(xx, xy, yy, xx * yy - xy * xy);
}

// --------------------------------------------------------------------------------------------------
// each 16-lane tile standardises one short record; records padded in shared memory
#define REC 45
__global__ void standardise_records(const float *in, float *out, int nrec)
{
    __shared__ float buf[8][REC + 3];
    auto g = cg::tiled_partition<16>(cg::this_thread_block());
    const int slot = threadIdx.x / 16;
    float *mine = buf[slot];
    for (int r = blockIdx.x * 8 + slot; r < nrec; r += gridDim.x * 8) {
        for (int i = g.thread_rank(); i < REC; i += 16) mine[i] = in[(size_t)r * REC + i];
        g.sync();
        float s = 0.f;
        for (int i = g.thread_rank(); i < REC; i += 16) s += mine[i];
        for (int d = 8; d > 0; d >>= 1) s += g.shfl_xor(s, d);
        const float mu = s / REC;
        float q = 0.f;
        for (int i = g.thread_rank(); i < REC; i += 16) q += (mine[i] - mu) * (mine[i] - mu);
        for (int d = 8; d > 0; d >>= 1) q += g.shfl_xor(q, d);
        const float inv = rsqrtf(q / REC + 1e-6f);
        // write out reversed in time
        for (int i = g.thread_rank(); i < REC; i += 16) out[(size_t)r * REC + i] = (mine[REC - 1 - i] - mu) * inv;
        g.sync();
    }
}

// --------------------------------------------------------------------------------------------------
// CRC-32 of 64-byte packets, slicing by 4, tables built by the block
__global__ void crc32_packets(const u32 *data, u32 *crc, int npackets)
{
    __shared__ u32 tab[4][256];
    {
        u32 c = threadIdx.x;
        int k = 8;
        do { c = (c & 1) ? (c >> 1) ^ 0xEDB88320u : c >> 1; } while (--k);
        tab[0][threadIdx.x] = c;
    }
    __syncthreads();
    for (int s = 1; s < 4; ++s) {
        u32 prev = tab[s - 1][threadIdx.x];
        tab[s][threadIdx.x] = (prev >> 8) ^ tab[0][prev & 0xff];
    }
    __syncthreads();
    for (int p = blockIdx.x * blockDim.x + threadIdx.x; p < npackets; p += gridDim.x * blockDim.x) {
        u32 c = 0xffffffffu;
        for (int w = 0; w < 16; ++w) {
            c ^= data[(size_t)w * npackets + p];
            c = tab[3][c & 0xff] ^ tab[2][(c >> 8) & 0xff] ^ tab[1][(c >> 16) & 0xff] ^ tab[0][c >> 24];
        }
        crc[p] = ~c;
    }
}

// --------------------------------------------------------------------------------------------------
// Gray-Scott, u and v as float2, two steps per launch
#define GSX 32
#define GSY 16
__device__ __forceinline__ float2 gs_react(float2 c, float2 n, float2 s, float2 e, float2 w, float F, float k)
{
    float lu = n.x + s.x + e.x + w.x - 4.f * c.x;
    float lv = n.y + s.y + e.y + w.y - 4.f * c.y;
    float uvv = c.x * c.y * c.y;
    return make_float2(c.x + 0.16f * lu - uvv + F * (1.f - c.x), c.y + 0.08f * lv + uvv - (F + k) * c.y);
}

__global__ void gray_scott_two_steps(const float2 *in, float2 *out, int nx, int ny, float F, float k)
{
    __shared__ float2 a[GSY][GSX];       // block covers its outputs plus 2 cells on each side
    __shared__ float2 b[GSY][GSX];
    const int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * (GSX - 4) + tx - 2;
    int y = blockIdx.y * (GSY - 4) + ty - 2;
    int xw = (x + nx) % nx, yw = (y + ny) % ny;
    float2 c = in[(size_t)yw * nx + xw];
    c.x *= 0.08f;
    c.y *= 0.04f;
    a[ty][tx] = c;
    __syncthreads();
    if (tx >= 1 && tx < GSX - 1 && ty >= 1 && ty < GSY - 1)
        b[ty][tx] = gs_react(c, a[ty - 1][tx], a[ty + 1][tx], a[ty][tx + 1], a[ty][tx - 1], F, k);
    __syncthreads();
    if (tx < 2 || tx >= GSX - 2 || ty < 2 || ty >= GSY - 2 || x >= nx || y >= ny) return;
    out[(size_t)y * nx + x] = gs_react(b[ty][tx], b[ty - 1][tx], b[ty + 1][tx], b[ty][tx + 1], b[ty][tx - 1], F, k);
}

// --------------------------------------------------------------------------------------------------
// gradient noise, permutation table in shared memory
__device__ __forceinline__ float grad2(int h, float x, float y)
{
    switch (h & 7) {
    case 0: return x + y;
    case 1: return x - y;
    case 2: return -x + y;
    case 3: return -x - y;
    case 4: return x;
    case 5: return -x;
    case 6: return y;
    default: return -y;
    }
}

__global__ void perlin_fbm(float *img, int w, int h, const u8 *permTable, int octaves, float freq)
{
    __shared__ u8 perm[512];
    for (int t = threadIdx.y * blockDim.x + threadIdx.x; t < 512; t += blockDim.x * blockDim.y) perm[t] = permTable[t & 255];
    __syncthreads();
    int px = blockIdx.x * blockDim.x + threadIdx.x;
    int py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= w || py >= h) return;
    float sum = 0.f, amp = 0.5f;
    while (octaves-- > 0) {
        float x = px * freq, y = py * freq;
        float flx = floorf(x), fly = floorf(y);
        int X = (int)flx & 255, Y = (int)fly & 255;
        float fx = x - flx, fy = y - fly;
        float u = fx * fx * fx * (fx * (fx * 6.f - 15.f) + 10.f);
        float v = fy * fy * fy * (fy * (fy * 6.f - 15.f) + 10.f);
        int A = perm[X] + Y, B = perm[X + 1] + Y;
        float n00 = grad2(perm[A], fx, fy), n10 = grad2(perm[B], fx - 1.f, fy);
        float n01 = grad2(perm[A + 1], fx, fy - 1.f), n11 = grad2(perm[B + 1], fx - 1.f, fy - 1.f);
        float top = n00 + u * (n10 - n00), bot = n01 + u * (n11 - n01);
        sum += amp * (top + v * (bot - top));
        amp *= 0.5f;
        freq *= 2.03f;
    }
    img[(size_t)py * w + px] = sum;
}

// --------------------------------------------------------------------------------------------------
// k-means: assign, plus integer per-block sums of quantised features
#define KM_K 17
#define KM_D 6
__global__ void kmeans_assign_accumulate(const float *feat, const float *cent, int *label, int *partial, int n)
{
    __shared__ float sc[KM_K][KM_D];
    __shared__ int sums[KM_K][KM_D + 1];
    for (int i = threadIdx.x; i < KM_K * KM_D; i += blockDim.x) sc[i / KM_D][i % KM_D] = cent[i];
    for (int i = threadIdx.x; i < KM_K * (KM_D + 1); i += blockDim.x) sums[i / (KM_D + 1)][i % (KM_D + 1)] = 0;
    __syncthreads();
    const int stride = gridDim.x * blockDim.x;
    for (int p = blockIdx.x * blockDim.x + threadIdx.x; p < n; p += stride) {
        float f[KM_D];
        for (int d = 0; d < KM_D; ++d) f[d] = feat[(size_t)d * n + p];
        int best = 0;
        float bd = 3.0e38f;
        for (int c = 0; c < KM_K; ++c) {
            float dist = 0.f;
            int d = 0;
            for (; d < KM_D; ++d) {
                float t = f[d] - sc[c][d];
                dist += t * t;
                if (dist >= bd) break;
            }
            if (d == KM_D) {
                bd = dist;
                best = c;
            }
        }
        label[p] = best;
        for (int d = 0; d < KM_D; ++d) atomicAdd(&sums[best][d], (int)(f[d] * 8.f));
        atomicAdd(&sums[best][KM_D], 1);
    }
    __syncthreads();
    int *dst = partial + (size_t)blockIdx.x * KM_K * (KM_D + 1);
    for (int i = threadIdx.x; i < KM_K * (KM_D + 1); i += blockDim.x) dst[i] = sums[i / (KM_D + 1)][i % (KM_D + 1)];
}

int main()
{
    const int W = 4001, H = 3003;
    const size_t n = (size_t)W * H;
    {
        u8 *a = mk<u8>(n), *b = mk<u8>(n);
        const int w = 11, segs = 23;
        vanherk_dilate_rows<w, segs><<<dim3((W + w * segs - 1) / (w * segs), H), 64>>>(a, b, W, H);
        show("vanherk_dilate_rows", b, n);
    }
    {
        int pitch = 4032, strip = 50;
        short *a = mk<short>((size_t)pitch * H), *b = mk<short>((size_t)pitch * H);
        binomial5_linebuffer<<<dim3((W + LB_W - 1) / LB_W, (H + strip - 1) / strip), LB_W>>>(a, b, pitch, W, H, strip);
        show("binomial5_linebuffer", b, (size_t)pitch * H * 2);
    }
    {
        int w = 2500, h = 1777;
        float *a = mk<float>((size_t)w * h);
        float4 *o = (float4 *)mk<float>((size_t)w * h * 4);
        structure_tensor<MIRROR><<<dim3((w + 31) / 32, (h + 7) / 8), dim3(32, 8)>>>(a, o, w, h);
        show("structure_tensor", o, (size_t)w * h * 16);
    }
    {
        int nrec = 250000;
        float *a = mk<float>((size_t)nrec * REC), *o = mk<float>((size_t)nrec * REC);
        standardise_records<<<2112, 128>>>(a, o, nrec);
        show("standardise_records", o, (size_t)nrec * REC * 4);
    }
    {
        int np = 1000000;
        u32 *d = mk<u32>((size_t)np * 16), *c = mk<u32>(np);
        crc32_packets<<<1056, 256>>>(d, c, np);
        show("crc32_packets", c, (size_t)np * 4);
    }
    {
        int nx = 2600, ny = 2222;
        float2 *a = (float2 *)mk<float>((size_t)nx * ny * 2), *b = (float2 *)mk<float>((size_t)nx * ny * 2);
        gray_scott_two_steps<<<dim3((nx + GSX - 5) / (GSX - 4), (ny + GSY - 5) / (GSY - 4)), dim3(GSX, GSY)>>>(a, b, nx, ny, 0.035f, 0.06f);
        show("gray_scott_two_steps", b, (size_t)nx * ny * 8);
    }
    {
        float *img = mk<float>(n);
        u8 perm[256], *dp;
        for (int i = 0; i < 256; ++i) perm[i] = (u8)(i * 167 + 31);
        cudaMalloc(&dp, 256);
        cudaMemcpy(dp, perm, 256, cudaMemcpyHostToDevice);
        dim3 blk(24, 8), grd((W + 23) / 24, (H + 7) / 8);
        perlin_fbm<<<grd, blk>>>(img, W, H, dp, 5, 1.f / 97.f);
        show("perlin_fbm", img, n * 4);
    }
    {
        int np = 2000003, blocks = 792;
        float *f = mk<float>((size_t)np * KM_D), *c = mk<float>(KM_K * KM_D);
        int *l = mk<int>(np), *p = mk<int>((size_t)blocks * KM_K * (KM_D + 1));
        kmeans_assign_accumulate<<<blocks, 256>>>(f, c, l, p, np);
        show("kmeans_assign_accumulate l", l, (size_t)np * 4);
        show("kmeans_assign_accumulate p", p, (size_t)blocks * KM_K * (KM_D + 1) * 4);
    }
    return 0;
}
