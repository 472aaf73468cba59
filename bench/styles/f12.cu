// tables in shared memory: gamma, splines, interpolation, S-boxes, CRC
#include "shown.h"
#include <cstdint>
typedef unsigned char uchar;

/* ---------- per channel 8 bit LUT, table loaded by all 256 threads ---------- */
__global__ void applyLut(const uchar4 *in, uchar4 *out, const uchar *lut, int n)
{
    __shared__ uchar lutR[256], lutG[256], lutB[256];
    lutR[threadIdx.x] = lut[threadIdx.x];
    lutG[threadIdx.x] = lut[256 + threadIdx.x];
    lutB[threadIdx.x] = lut[512 + threadIdx.x];
    __syncthreads();
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        uchar4 p = in[i];
        p.x = lutR[p.x];
        p.y = lutG[p.y];
        p.z = lutB[p.z];
        out[i] = p;
    }
}

/* ---------- gamma with a table computed by the block itself, 12 bit depth ---------- */
template <int BITS>
__global__ void gammaCorrect(unsigned short* __restrict__ img, float gamma, int w, int h, size_t pitch)
{
  constexpr int SIZE = 1 << BITS;
  __shared__ unsigned short table[SIZE];
  const int t = threadIdx.y * blockDim.x + threadIdx.x;
  for (int v = t; v < SIZE; v += blockDim.x * blockDim.y)
    table[v] = (unsigned short)(powf((float)v / (SIZE - 1), gamma) * (SIZE - 1) + 0.5f);
  __syncthreads();
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= w) return;
  for (int y = blockIdx.y * blockDim.y + threadIdx.y; y < h; y += gridDim.y * blockDim.y) {
    unsigned short* p = img + y * pitch + x;
    *p = table[*p & (SIZE - 1)];
  }
}

/* ---------- tabulated function, linear between the nodes, value and slope stored as pairs ---------- */
__global__ void interp_table(const double *x, double *y, double *dy, const double2 *tab, int npts, double x0, double dx, int n)
{
	extern __shared__ double2 node[];
	const double rdx = 1.0 / dx;
	for (int k = threadIdx.x; k < npts; k += blockDim.x)
		node[k] = tab[k];
	__syncthreads();
	int i = threadIdx.x + blockIdx.x * blockDim.x;
	while (i < n) {
		double s = (x[i] - x0) * rdx;
		int    k = (int)s;
		if (k < 0) k = 0;
		if (k > npts - 2) k = npts - 2;
		double f = s - k;
		double2 a = node[k], b = node[k + 1];
		// cubic Hermite
		double h00 = (1 + 2 * f) * (1 - f) * (1 - f), h10 = f * (1 - f) * (1 - f);
		double h01 = f * f * (3 - 2 * f), h11 = f * f * (f - 1);
		y[i]  = h00 * a.x + h10 * dx * a.y + h01 * b.x + h11 * dx * b.y;
		dy[i] = a.y + f * (b.y - a.y);
		i += blockDim.x * gridDim.x;
	}
}

/* ---------- piecewise polynomials on irregular knots: binary search, then Horner ---------- */
#define MAX_KNOTS 128
#define ORDER 4
struct SplineTable { float knots[MAX_KNOTS]; float coef[MAX_KNOTS][ORDER + 1]; };

__device__ int findSpan(const float *knots, int count, float x)
{
    int lo = 0, hi = count - 1;
    while (hi - lo > 1) {
        int mid = (lo + hi) >> 1;
        if (knots[mid] <= x) lo = mid; else hi = mid;
    }
    return lo;
}

__global__ void evalSpline(const SplineTable *spline, int count, const float *__restrict__ xs, float *__restrict__ ys, int n)
{
    __shared__ SplineTable local;
    const float *from = reinterpret_cast<const float *>(spline);
    float *to = reinterpret_cast<float *>(&local);
    for (unsigned i = threadIdx.x; i < sizeof(SplineTable) / sizeof(float); i += blockDim.x)
        to[i] = from[i];
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const float x = xs[i];
        const int span = findSpan(local.knots, count, x);
        const float t = x - local.knots[span];
        float r = local.coef[span][ORDER];
#pragma unroll
        for (int k = ORDER - 1; k >= 0; --k) r = r * t + local.coef[span][k];
        ys[i] = r;
    }
}

/* ---------- block cipher with T tables (one rotated three ways) and an S-box for the last round ---------- */
#define ROUNDS 6
__constant__ uint32_t roundKey[4 * (ROUNDS + 1)];
__device__ __forceinline__ uint32_t rot(uint32_t v, int n) { return (v << n) | (v >> (32 - n)); }
#define BYTE(v, k) (((v) >> (8 * (k))) & 0xffu)

__global__ void cipherBlocks(const uint4* plain, uint4* crypt, const uint32_t* T0, const uint8_t* sbox, int nBlocks)
{
  __shared__ uint32_t sT[256];
  __shared__ uint8_t  sS[256];
  if (threadIdx.x < 256)
  {
    sT[threadIdx.x] = T0[threadIdx.x];
    sS[threadIdx.x] = sbox[threadIdx.x];
  }
  __syncthreads();

  int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= nBlocks) return;
  uint4 b = plain[id];
  uint32_t s0 = b.x ^ roundKey[0], s1 = b.y ^ roundKey[1], s2 = b.z ^ roundKey[2], s3 = b.w ^ roundKey[3];
  #define RND(a,b,c,d,k) (sT[BYTE(a,0)] ^ rot(sT[BYTE(b,1)], 8) ^ rot(sT[BYTE(c,2)], 16) ^ rot(sT[BYTE(d,3)], 24) ^ roundKey[k])
  for (int r = 1; r < ROUNDS; r++)
  {
    uint32_t t0 = RND(s0, s1, s2, s3, 4 * r + 0);
    uint32_t t1 = RND(s1, s2, s3, s0, 4 * r + 1);
    uint32_t t2 = RND(s2, s3, s0, s1, 4 * r + 2);
    uint32_t t3 = RND(s3, s0, s1, s2, 4 * r + 3);
    s0 = t0; s1 = t1; s2 = t2; s3 = t3;
  }
  #define LAST(a,b,c,d,k) (((uint32_t)sS[BYTE(a,0)] | (uint32_t)sS[BYTE(b,1)] << 8 | (uint32_t)sS[BYTE(c,2)] << 16 | (uint32_t)sS[BYTE(d,3)] << 24) ^ roundKey[k])
  uint4 o;
  o.x = LAST(s0, s1, s2, s3, 4 * ROUNDS + 0);
  o.y = LAST(s1, s2, s3, s0, 4 * ROUNDS + 1);
  o.z = LAST(s2, s3, s0, s1, 4 * ROUNDS + 2);
  o.w = LAST(s3, s0, s1, s2, 4 * ROUNDS + 3);
  crypt[id] = o;
}

/* ---------- CRC-32, slicing by four, tables built on the fly in a 2-D shared array ---------- */
__global__ void crc32_messages(const uint32_t *msgs, uint32_t *crcs, int nmsg, int words)
{
    __shared__ uint32_t tbl[4][256];
    for (int b = threadIdx.x; b < 256; b += blockDim.x) {
        uint32_t c = b;
        for (int k = 0; k < 8; k++)
            c = (c & 1) ? (c >> 1) ^ 0xEDB88320u : c >> 1;
        tbl[0][b] = c;
    }
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += blockDim.x)
        for (int s = 1; s < 4; s++) {
            // each slice depends on the one before at the same index
            uint32_t p = tbl[s - 1][b];
            tbl[s][b] = (p >> 8) ^ tbl[0][p & 0xff];
        }
    __syncthreads();
    int m = blockIdx.x * blockDim.x + threadIdx.x;
    if (m < nmsg) {
        uint32_t crc = ~0u;
        for (int w = 0; w < words; w++) {
            crc ^= msgs[(size_t)w * nmsg + m];
            crc = tbl[3][crc & 0xff] ^ tbl[2][(crc >> 8) & 0xff] ^ tbl[1][(crc >> 16) & 0xff] ^ tbl[0][crc >> 24];
        }
        crcs[m] = ~crc;
    }
}

/* ---------- 3-D colour cube, trilinear, cube edge as template parameter ---------- */
namespace grade {
template <int EDGE>
struct Cube {
    float4 v[EDGE * EDGE * EDGE];
    __device__ const float4 &at(int r, int g, int b) const { return v[(b * EDGE + g) * EDGE + r]; }
};
__device__ inline float4 mix4(const float4 &a, const float4 &b, float t)
{
    return make_float4(a.x + t * (b.x - a.x), a.y + t * (b.y - a.y), a.z + t * (b.z - a.z), a.w + t * (b.w - a.w));
}
template <int EDGE>
__global__ void colour_cube(const float4 *src, float4 *dst, const float4 *cube, int count)
{
    __shared__ Cube<EDGE> c;
    for (int k = threadIdx.x; k < EDGE * EDGE * EDGE; k += blockDim.x) c.v[k] = cube[k];
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += blockDim.x * gridDim.x) {
        float4 p = src[i];
        float fr = __saturatef(p.x) * (EDGE - 1), fg = __saturatef(p.y) * (EDGE - 1), fb = __saturatef(p.z) * (EDGE - 1);
        int r = min((int)fr, EDGE - 2), g = min((int)fg, EDGE - 2), b = min((int)fb, EDGE - 2);
        fr -= r; fg -= g; fb -= b;
        float4 lo = mix4(mix4(c.at(r, g, b), c.at(r + 1, g, b), fr), mix4(c.at(r, g + 1, b), c.at(r + 1, g + 1, b), fr), fg);
        float4 hi = mix4(mix4(c.at(r, g, b + 1), c.at(r + 1, g, b + 1), fr), mix4(c.at(r, g + 1, b + 1), c.at(r + 1, g + 1, b + 1), fr), fg);
        dst[i] = mix4(lo, hi, fb);
    }
}
}

template <class T, class F> T *gen(size_t n, F f)
{
    T *h = (T *)malloc(n * sizeof(T)), *d;
    unsigned s = 31u;
    for (size_t i = 0; i < n; i++) { s = s * 1664525u + 1013904223u; h[i] = f(s >> 8); }
    cudaMalloc(&d, n * sizeof(T));
    cudaMemcpy(d, h, n * sizeof(T), cudaMemcpyHostToDevice);
    free(h);
    return d;
}

int main()
{
    {
        int n = (1 << 24) - 9;
        uchar *lut = gen<uchar>(768, [](unsigned u) { return (uchar)u; });
        uchar4 *a = (uchar4 *)gen<uchar>(4 * (size_t)n, [](unsigned u) { return (uchar)(u >> 3); }), *b = (uchar4 *)mk<uchar>(4 * (size_t)n);
        applyLut<<<1024, 256>>>(a, b, lut, n);
        show("applyLut", b, 4 * (size_t)n);
        int w = 5000, h = 3000;
        unsigned short *im = gen<unsigned short>((size_t)h * 5056, [](unsigned u) { return (unsigned short)u; });
        gammaCorrect<12><<<dim3((w + 31) / 32, 20), dim3(32, 8)>>>(im, 0.45f, w, h, 5056);
        show("gammaCorrect<12>", im, (size_t)h * 5056 * 2);
    }
    {
        int n = 6000000, np = 500;
        double *x = gen<double>(n, [](unsigned u) { return (double)u / 16777216.0 * 10.2 - 0.1; }), *y = mk<double>(n), *dy = mk<double>(n);
        double2 *t = (double2 *)gen<double>(2 * np, [](unsigned u) { return (double)u / 16777216.0; });
        interp_table<<<1320, 256, np * sizeof(double2)>>>(x, y, dy, t, np, 0.0, 10.0 / (np - 1), n);
        show("interp_table.y", y, (size_t)n * 8);
        show("interp_table.dy", dy, (size_t)n * 8);
    }
    {
        int n = 12000000, cnt = 100;
        SplineTable *h = (SplineTable *)malloc(sizeof(SplineTable)), *d;
        for (int i = 0; i < MAX_KNOTS; i++) {
            h->knots[i] = 0.01f * i + 0.003f * (i * 7 % 3);
            for (int k = 0; k <= ORDER; k++) h->coef[i][k] = (float)((i * 31 + k * 17) % 23) - 11.f;
        }
        cudaMalloc(&d, sizeof(SplineTable));
        cudaMemcpy(d, h, sizeof(SplineTable), cudaMemcpyHostToDevice);
        float *x = gen<float>(n, [](unsigned u) { return (float)u / 16777216.f; }), *y = mk<float>(n);
        evalSpline<<<(n + 255) / 256, 256>>>(d, cnt, x, y, n);
        show("evalSpline", y, (size_t)n * 4);
    }
    {
        int nb = 4000003;
        uint32_t rk[4 * (ROUNDS + 1)];
        for (int i = 0; i < 4 * (ROUNDS + 1); i++) rk[i] = 0x9e3779b9u * (i + 1);
        cudaMemcpyToSymbol(roundKey, rk, sizeof(rk));
        uint32_t *T = gen<uint32_t>(256, [](unsigned u) { return u * 2654435761u; });
        uint8_t *S = gen<uint8_t>(256, [](unsigned u) { return (uint8_t)(u >> 5); });
        uint4 *p = (uint4 *)gen<uint32_t>(4 * (size_t)nb, [](unsigned u) { return u * 40503u; }), *c = (uint4 *)mk<uint32_t>(4 * (size_t)nb);
        cipherBlocks<<<(nb + 255) / 256, 256>>>(p, c, T, S, nb);
        show("cipherBlocks", c, 16 * (size_t)nb);
        cipherBlocks<<<(nb + 511) / 512, 512>>>(c, p, T, S, nb);
        show("cipherBlocks twice", p, 16 * (size_t)nb);
    }
    {
        int nm = 400000, w = 64;
        uint32_t *m = gen<uint32_t>((size_t)nm * w, [](unsigned u) { return u * 2246822519u; }), *c = mk<uint32_t>(nm);
        crc32_messages<<<(nm + 191) / 192, 192>>>(m, c, nm, w);
        show("crc32_messages", c, nm * 4);
    }
    {
        int n = 5000000;
        float4 *a = (float4 *)gen<float>(4 * (size_t)n, [](unsigned u) { return (float)u / 16000000.f - 0.02f; }), *b = (float4 *)mk<float>(4 * (size_t)n);
        float4 *cube = (float4 *)gen<float>(4 * 1331, [](unsigned u) { return (float)u / 16777216.f; });
        grade::colour_cube<11><<<792, 256>>>(a, b, cube, n);
        show("colour_cube<11>", b, 16 * (size_t)n);
        grade::colour_cube<5><<<1584, 128>>>(a, b, cube, n);
        show("colour_cube<5>", b, 16 * (size_t)n);
    }
    return 0;
}
