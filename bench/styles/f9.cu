// image filters and 2-D stencils on tiles
#include "shown.h"
typedef unsigned char uchar;
typedef unsigned char Pixel;

// ---------------- Sobel: 16x16 outputs, apron of one, threads on the rim fetch extra pixels, clamped ----------------
#define TILE_W 16
#define TILE_H 16
#define R 1
#define BLOCK_W (TILE_W + 2 * R)
#define BLOCK_H (TILE_H + 2 * R)

__global__ void sobelShared(Pixel *out, const Pixel *in, int pitch, int w, int h, float fScale)
{
    __shared__ Pixel smem[BLOCK_W * BLOCK_H];
    // block is as large as the input tile; only the inside writes
    int x = blockIdx.x * TILE_W + threadIdx.x - R;
    int y = blockIdx.y * TILE_H + threadIdx.y - R;

    x = max(0, x); x = min(x, w - 1);
    y = max(y, 0); y = min(y, h - 1);

    unsigned int index  = y * pitch + x;
    unsigned int bindex = threadIdx.y * blockDim.y + threadIdx.x;
    smem[bindex] = in[index];
    __syncthreads();

    if (threadIdx.x >= R && threadIdx.x < BLOCK_W - R && threadIdx.y >= R && threadIdx.y < BLOCK_H - R) {
        Pixel ul = smem[bindex - BLOCK_W - 1], um = smem[bindex - BLOCK_W], ur = smem[bindex - BLOCK_W + 1];
        Pixel ml = smem[bindex - 1], mr = smem[bindex + 1];
        Pixel ll = smem[bindex + BLOCK_W - 1], lm = smem[bindex + BLOCK_W], lr = smem[bindex + BLOCK_W + 1];
        short Horz = ur + 2 * mr + lr - ul - 2 * ml - ll;
        short Vert = ul + 2 * um + ur - ll - 2 * lm - lr;
        short Sum = (short)(fScale * (abs((int)Horz) + abs((int)Vert)));
        if (Sum < 0) Sum = 0; else if (Sum > 0xff) Sum = 0xff;
        int ox = blockIdx.x * TILE_W + threadIdx.x - R, oy = blockIdx.y * TILE_H + threadIdx.y - R;
        if (ox < w && oy < h) out[oy * pitch + ox] = (Pixel)Sum;
    }
}

// ---------------- median of 3x3: load loop over the tile, exchange network in registers ----------------
__device__ __forceinline__ void s2(float &a, float &b) { float t = a; a = fminf(a, b); b = fmaxf(t, b); }
#define mn3(a,b,c)       s2(a,b); s2(a,c);
#define mx3(a,b,c)       s2(b,c); s2(a,c);
#define mnmx3(a,b,c)     mx3(a,b,c); s2(a,b);
#define mnmx4(a,b,c,d)   s2(a,b); s2(c,d); s2(a,c); s2(b,d);
#define mnmx5(a,b,c,d,e) s2(a,b); s2(c,d); mn3(a,c,e); mx3(b,d,e);
#define mnmx6(a,b,c,d,e,f) s2(a,d); s2(b,e); s2(c,f); mn3(a,b,c); mx3(d,e,f);

template <int BX, int BY>
__global__ void median3x3(const float* __restrict__ src, float* __restrict__ dst, int cols, int rows)
{
  __shared__ float t[BY + 2][BX + 2];
  const int x0 = blockIdx.x * BX - 1, y0 = blockIdx.y * BY - 1;
  for (int k = threadIdx.y * BX + threadIdx.x; k < (BX + 2) * (BY + 2); k += BX * BY) {
    const int ty = k / (BX + 2), tx = k - ty * (BX + 2);
    const int gx = x0 + tx, gy = y0 + ty;
    t[ty][tx] = (gx >= 0 && gx < cols && gy >= 0 && gy < rows) ? src[gy * cols + gx] : 0.0f;
  }
  __syncthreads();
  const int x = threadIdx.x, y = threadIdx.y;
  float v[6];
  v[0] = t[y][x]; v[1] = t[y][x + 1]; v[2] = t[y][x + 2];
  v[3] = t[y + 1][x]; v[4] = t[y + 1][x + 1]; v[5] = t[y + 1][x + 2];
  mnmx6(v[0], v[1], v[2], v[3], v[4], v[5]);
  v[5] = t[y + 2][x];
  mnmx5(v[1], v[2], v[3], v[4], v[5]);
  v[5] = t[y + 2][x + 1];
  mnmx4(v[2], v[3], v[4], v[5]);
  v[5] = t[y + 2][x + 2];
  mnmx3(v[3], v[4], v[5]);
  const int gx = x0 + 1 + x, gy = y0 + 1 + y;
  if (gx < cols && gy < rows) dst[gy * cols + gx] = v[4];
}

// ---------------- bilateral on uchar4, radius at run time, table of distances next to the tile, periodic ----------------
__global__ void bilateral_rgba(const uchar4 *img, uchar4 *res, int W, int H, int rad, float inv2s, float inv2r)
{
    extern __shared__ char pool[];
    const int tw = blockDim.x + 2 * rad, th = blockDim.y + 2 * rad;
    uchar4 *tile = (uchar4 *)pool;
    float *gauss = (float *)(tile + tw * th);
    const int tid = threadIdx.y * blockDim.x + threadIdx.x, nt = blockDim.x * blockDim.y;
    const int bx = blockIdx.x * blockDim.x, by = blockIdx.y * blockDim.y;

    for (int k = tid; k < tw * th; k += nt) {
        int sx = (bx + k % tw - rad + W) % W;
        int sy = (by + k / tw - rad + H) % H;
        tile[k] = img[sy * W + sx];
    }
    for (int k = tid; k <= rad; k += nt)
        gauss[k] = expf(-(float)(k * k) * inv2s);
    __syncthreads();

    const int x = bx + threadIdx.x, y = by + threadIdx.y;
    if (x < W && y < H) {
        uchar4 c = tile[(threadIdx.y + rad) * tw + threadIdx.x + rad];
        float3 acc = make_float3(0.f, 0.f, 0.f);
        float wsum = 0.f;
        for (int dy = -rad; dy <= rad; dy++) {
            for (int dx = -rad; dx <= rad; dx++) {
                uchar4 p = tile[(threadIdx.y + rad + dy) * tw + threadIdx.x + rad + dx];
                float dr = (float)p.x - c.x, dg = (float)p.y - c.y, db = (float)p.z - c.z;
                float wgt = gauss[abs(dx)] * gauss[abs(dy)] * __expf(-(dr * dr + dg * dg + db * db) * inv2r);
                acc.x += wgt * p.x; acc.y += wgt * p.y; acc.z += wgt * p.z;
                wsum += wgt;
            }
        }
        res[y * W + x] = make_uchar4((uchar)(acc.x / wsum + 0.5f), (uchar)(acc.y / wsum + 0.5f), (uchar)(acc.z / wsum + 0.5f), c.w);
    }
}

// ---------------- separable convolution, rows and columns with several results per thread ----------------
#define KERNEL_RADIUS 8
#define KERNEL_LENGTH (2 * KERNEL_RADIUS + 1)
__constant__ float c_Kernel[KERNEL_LENGTH];

#define ROWS_BLOCKDIM_X 16
#define ROWS_BLOCKDIM_Y 4
#define ROWS_RESULT_STEPS 8
#define ROWS_HALO_STEPS 1
__global__ void convolutionRowsKernel(float *d_Dst, float *d_Src, int imageW, int imageH, int pitch)
{
    __shared__ float s_Data[ROWS_BLOCKDIM_Y][(ROWS_RESULT_STEPS + 2 * ROWS_HALO_STEPS) * ROWS_BLOCKDIM_X];

    //Offset to the left halo edge
    const int baseX = (blockIdx.x * ROWS_RESULT_STEPS - ROWS_HALO_STEPS) * ROWS_BLOCKDIM_X + threadIdx.x;
    const int baseY = blockIdx.y * ROWS_BLOCKDIM_Y + threadIdx.y;

    d_Src += baseY * pitch + baseX;
    d_Dst += baseY * pitch + baseX;

    //Load main data
#pragma unroll
    for (int i = ROWS_HALO_STEPS; i < ROWS_HALO_STEPS + ROWS_RESULT_STEPS; i++)
        s_Data[threadIdx.y][threadIdx.x + i * ROWS_BLOCKDIM_X] = d_Src[i * ROWS_BLOCKDIM_X];

    //Load left halo
#pragma unroll
    for (int i = 0; i < ROWS_HALO_STEPS; i++)
        s_Data[threadIdx.y][threadIdx.x + i * ROWS_BLOCKDIM_X] = (baseX >= -i * ROWS_BLOCKDIM_X) ? d_Src[i * ROWS_BLOCKDIM_X] : 0;

    //Load right halo
#pragma unroll
    for (int i = ROWS_HALO_STEPS + ROWS_RESULT_STEPS; i < ROWS_HALO_STEPS + ROWS_RESULT_STEPS + ROWS_HALO_STEPS; i++)
        s_Data[threadIdx.y][threadIdx.x + i * ROWS_BLOCKDIM_X] = (imageW - baseX > i * ROWS_BLOCKDIM_X) ? d_Src[i * ROWS_BLOCKDIM_X] : 0;

    __syncthreads();
#pragma unroll
    for (int i = ROWS_HALO_STEPS; i < ROWS_HALO_STEPS + ROWS_RESULT_STEPS; i++) {
        float sum = 0;
#pragma unroll
        for (int j = -KERNEL_RADIUS; j <= KERNEL_RADIUS; j++)
            sum += c_Kernel[KERNEL_RADIUS - j] * s_Data[threadIdx.y][threadIdx.x + i * ROWS_BLOCKDIM_X + j];
        d_Dst[i * ROWS_BLOCKDIM_X] = sum;
    }
}

template <typename T, int R_>
__global__ void columnPass(const T *src, T *dst, int w, int h, int ystep)
{
    // 32 columns wide, blockDim.y threads tall, ystep rows of output
    extern __shared__ __align__(8) unsigned char colmem[];
    T (*col)[32] = reinterpret_cast<T (*)[32]>(colmem);
    const int x = blockIdx.x * 32 + threadIdx.x;
    const int ybeg = blockIdx.y * ystep;
    for (int r = threadIdx.y; r < ystep + 2 * R_; r += blockDim.y) {
        int y = ybeg + r - R_;
        y = y < 0 ? -y : (y >= h ? 2 * h - 2 - y : y);   // mirror
        y = min(max(y, 0), h - 1);
        col[r][threadIdx.x] = x < w ? src[(size_t)y * w + x] : T(0);
    }
    __syncthreads();
    if (x < w)
        for (int r = threadIdx.y; r < ystep && ybeg + r < h; r += blockDim.y) {
            T s = T(0);
#pragma unroll
            for (int k = 0; k <= 2 * R_; k++) s += (T)c_Kernel[k] * col[r + k][threadIdx.x];
            dst[(size_t)(ybeg + r) * w + x] = s;
        }
}

// ---------------- grey morphology with a functor, tile rows padded, structuring element is a disc ----------------
struct Erode  { static __device__ int neutral() { return 255; } __device__ int operator()(int a, int b) const { return a < b ? a : b; } };
struct Dilate { static __device__ int neutral() { return 0; }   __device__ int operator()(int a, int b) const { return a > b ? a : b; } };

template <class OP, int RADIUS>
__global__ void morph(const uchar *__restrict__ src, size_t srcStep, uchar *__restrict__ dst, size_t dstStep, int2 size)
{
	enum { BX = 32, BY = 8, TW = BX + 2 * RADIUS, TH = BY + 2 * RADIUS };
	__shared__ uchar patch[TH][TW + 1];
	OP op;
	for (int y = threadIdx.y; y < TH; y += BY)
		for (int x = threadIdx.x; x < TW; x += BX) {
			int gx = blockIdx.x * BX + x - RADIUS;
			int gy = blockIdx.y * BY + y - RADIUS;
			bool inside = (unsigned)gx < (unsigned)size.x && (unsigned)gy < (unsigned)size.y;
			patch[y][x] = inside ? src[gy * srcStep + gx] : OP::neutral();
		}
	__syncthreads();
	int gx = blockIdx.x * BX + threadIdx.x, gy = blockIdx.y * BY + threadIdx.y;
	if (gx >= size.x || gy >= size.y) return;
	int m = OP::neutral();
#pragma unroll
	for (int dy = -RADIUS; dy <= RADIUS; ++dy)
#pragma unroll
		for (int dx = -RADIUS; dx <= RADIUS; ++dx)
			if (dx * dx + dy * dy <= RADIUS * RADIUS + 1)
				m = op(m, patch[threadIdx.y + RADIUS + dy][threadIdx.x + RADIUS + dx]);
	dst[gy * dstStep + gx] = m;
}

// ---------------- vector field (float3), 9 point Laplacian, every thread does four rows, halo by edge threads ----------------
__global__ void laplace_vec(const float3 *f, float3 *lap, int nx, int ny)
{
    const int TX = 32, TY = 8, K = 4;
    __shared__ float3 s[TY * K + 2][TX + 2];
    int tx = threadIdx.x + 1;
    int gx = blockIdx.x * TX + threadIdx.x;
    int xl = (gx == 0) ? nx - 1 : gx - 1;
    int xr = (gx == nx - 1) ? 0 : gx + 1;
    for (int r = threadIdx.y; r < TY * K + 2; r += TY) {
        int gy = (blockIdx.y * TY * K + r - 1 + ny) % ny;
        s[r][tx] = f[gy * nx + gx];
        if (threadIdx.x == 0)      s[r][0] = f[gy * nx + xl];
        if (threadIdx.x == TX - 1) s[r][TX + 1] = f[gy * nx + xr];
    }
    __syncthreads();
    for (int k = 0; k < K; k++) {
        int ty = threadIdx.y + k * TY + 1;
        float3 a = make_float3(0, 0, 0);
#define ADD(w, Y, X) { float3 q = s[Y][X]; a.x += (w) * q.x; a.y += (w) * q.y; a.z += (w) * q.z; }
        ADD(-20.f, ty, tx)
        ADD(4.f, ty, tx - 1) ADD(4.f, ty, tx + 1) ADD(4.f, ty - 1, tx) ADD(4.f, ty + 1, tx)
        ADD(1.f, ty - 1, tx - 1) ADD(1.f, ty - 1, tx + 1) ADD(1.f, ty + 1, tx - 1) ADD(1.f, ty + 1, tx + 1)
#undef ADD
        int gy = blockIdx.y * TY * K + ty - 1;
        lap[gy * nx + gx] = make_float3(a.x / 6.f, a.y / 6.f, a.z / 6.f);
    }
}

template <class T> T *pic(size_t n, unsigned mod)
{
    T *h = (T *)malloc(n * sizeof(T)), *d;
    unsigned s = 5u;
    for (size_t i = 0; i < n; i++) { s = s * 1664525u + 1013904223u; h[i] = (T)((s >> 10) % mod); }
    cudaMalloc(&d, n * sizeof(T));
    cudaMemcpy(d, h, n * sizeof(T), cudaMemcpyHostToDevice);
    free(h);
    return d;
}

int main()
{
    {
        int w = 4000, h = 3001, pitch = 4096;
        Pixel *a = pic<Pixel>(pitch * h, 256), *b = mk<Pixel>(pitch * h);
        dim3 block(BLOCK_W, BLOCK_H), grid((w + TILE_W - 1) / TILE_W, (h + TILE_H - 1) / TILE_H);
        sobelShared<<<grid, block>>>(b, a, pitch, w, h, 0.4f);
        show("sobelShared", b, pitch * h);
        int2 sz = make_int2(w, h);
        dim3 mb(32, 8), mg((w + 31) / 32, (h + 7) / 8);
        morph<Erode, 3><<<mg, mb>>>(a, pitch, b, pitch, sz);
        show("morph<Erode,3>", b, pitch * h);
        morph<Dilate, 2><<<mg, mb>>>(a, pitch, b, pitch, sz);
        show("morph<Dilate,2>", b, pitch * h);
    }
    {
        int w = 4095, h = 4001;
        float *a = pic<float>(w * h, 5000), *b = mk<float>(w * h);
        median3x3<32, 8><<<dim3((w + 31) / 32, (h + 7) / 8), dim3(32, 8)>>>(a, b, w, h);
        show("median3x3<32,8>", b, w * h * 4);
        median3x3<16, 16><<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(a, b, w, h);
        show("median3x3<16,16>", b, w * h * 4);
    }
    {
        int w = 1930, h = 1090, rad = 4;
        uchar4 *a = (uchar4 *)pic<uchar>(4 * w * h, 256), *b = (uchar4 *)mk<uchar>(4 * w * h);
        dim3 blk(16, 16), grd((w + 15) / 16, (h + 15) / 16);
        size_t sm = (16 + 2 * rad) * (16 + 2 * rad) * sizeof(uchar4) + (rad + 1) * sizeof(float);
        bilateral_rgba<<<grd, blk, sm>>>(a, b, w, h, rad, 1.f / 18.f, 1.f / 5000.f);
        show("bilateral_rgba", b, 4 * w * h);
    }
    {
        float k[KERNEL_LENGTH];
        for (int i = 0; i < KERNEL_LENGTH; i++) k[i] = (float)(i * 5 % 7 + 1) / 64.f;
        cudaMemcpyToSymbol(c_Kernel, k, sizeof(k));
        int w = 4096, h = 4096;
        float *a = pic<float>((size_t)w * h, 256), *b = mk<float>((size_t)w * h);
        dim3 blocks(w / (ROWS_RESULT_STEPS * ROWS_BLOCKDIM_X), h / ROWS_BLOCKDIM_Y), threads(ROWS_BLOCKDIM_X, ROWS_BLOCKDIM_Y);
        convolutionRowsKernel<<<blocks, threads>>>(b, a, w, h, w);
        show("convolutionRowsKernel", b, (size_t)w * h * 4);
        int ys = 64;
        columnPass<float, 8><<<dim3(w / 32, (h + ys - 1) / ys), dim3(32, 8), (ys + 16) * 32 * sizeof(float)>>>(a, b, w, h, ys);
        show("columnPass<float,8>", b, (size_t)w * h * 4);
        int w2 = 3001, h2 = 2500;
        ys = 40;
        double *da = pic<double>((size_t)w2 * h2, 256), *db = mk<double>((size_t)w2 * h2);
        columnPass<double, 5><<<dim3((w2 + 31) / 32, (h2 + ys - 1) / ys), dim3(32, 4), (ys + 10) * 32 * sizeof(double)>>>(da, db, w2, h2, ys);
        show("columnPass<double,5>", db, (size_t)w2 * h2 * 8);
    }
    {
        int nx = 2048, ny = 2048;
        float3 *a = (float3 *)pic<float>(3 * nx * ny, 100), *b = (float3 *)mk<float>(3 * nx * ny);
        laplace_vec<<<dim3(nx / 32, ny / 32), dim3(32, 8)>>>(a, b, nx, ny);
        show("laplace_vec", b, (size_t)nx * ny * 12);
    }
    return 0;
}
