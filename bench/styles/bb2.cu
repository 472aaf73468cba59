/*
 * image and video kernels
 */
#include "shown.h"
typedef unsigned char uchar;
typedef unsigned int uint;

// ---- 1: Sobel magnitude -----------------------------------------------------
#define TILE_W 32
#define TILE_H 8
__global__ void sobelTile(const uchar *src, uchar *dst, int width, int height, int pitch)
{
    __shared__ uchar tile[TILE_H + 2][TILE_W + 2];
    int bx = blockIdx.x * TILE_W - 1, by = blockIdx.y * TILE_H - 1;
    for (int y = threadIdx.y; y < TILE_H + 2; y += TILE_H)
        for (int x = threadIdx.x; x < TILE_W + 2; x += TILE_W) {
            int gx = min(max(bx + x, 0), width - 1);
            int gy = min(max(by + y, 0), height - 1);
            tile[y][x] = src[gy * pitch + gx];
        }
    __syncthreads();
    int x = threadIdx.x + 1, y = threadIdx.y + 1;
    int gx = bx + x, gy = by + y;
    if (gx >= width || gy >= height) return;
#define P(dy, dx) ((int)tile[y + (dy)][x + (dx)])
    int h = P(-1, 1) + 2 * P(0, 1) + P(1, 1) - P(-1, -1) - 2 * P(0, -1) - P(1, -1);
    int v = P(1, -1) + 2 * P(1, 0) + P(1, 1) - P(-1, -1) - 2 * P(-1, 0) - P(-1, 1);
#undef P
    int m = abs(h) + abs(v);
    dst[gy * pitch + gx] = (uchar)(m > 255 ? 255 : m);
}

// ---- 2: bilateral filter, range weights looked up in shared memory ------------
template <int RADIUS, int B>
__global__ void bilateralLut(const uchar *__restrict__ in, float *__restrict__ out, int w, int h, float sr, float ss) {
  __shared__ float lut[256];
  __shared__ float spatial[2 * RADIUS + 1][2 * RADIUS + 1];
  __shared__ uchar px[B + 2 * RADIUS][B + 2 * RADIUS];
  const int tid = threadIdx.y * B + threadIdx.x;
  for (int i = tid; i < 256; i += B * B) lut[i] = __expf(-(float)(i * i) / (2.f * sr * sr));
  for (int i = tid; i < (2 * RADIUS + 1) * (2 * RADIUS + 1); i += B * B) {
    int dy = i / (2 * RADIUS + 1) - RADIUS, dx = i % (2 * RADIUS + 1) - RADIUS;
    spatial[dy + RADIUS][dx + RADIUS] = __expf(-(float)(dx * dx + dy * dy) / (2.f * ss * ss));
  }
  constexpr int S = B + 2 * RADIUS;
  for (int i = tid; i < S * S; i += B * B) {
    int yy = blockIdx.y * B + i / S - RADIUS, xx = blockIdx.x * B + i % S - RADIUS;
    yy = yy < 0 ? -yy : (yy >= h ? 2 * h - 2 - yy : yy);
    xx = xx < 0 ? -xx : (xx >= w ? 2 * w - 2 - xx : xx);
    yy = min(max(yy, 0), h - 1);
    xx = min(max(xx, 0), w - 1);
    px[i / S][i % S] = in[yy * w + xx];
  }
  __syncthreads();
  int c = px[threadIdx.y + RADIUS][threadIdx.x + RADIUS];
  float acc = 0.f, wsum = 0.f;
  for (int dy = 0; dy <= 2 * RADIUS; ++dy)
    for (int dx = 0; dx <= 2 * RADIUS; ++dx) {
      int v = px[threadIdx.y + dy][threadIdx.x + dx];
      float wt = spatial[dy][dx] * lut[abs(v - c)];
      acc += wt * v;
      wsum += wt;
    }
  int x = blockIdx.x * B + threadIdx.x, y = blockIdx.y * B + threadIdx.y;
  if (x < w && y < h) out[y * w + x] = acc / wsum;
}

// ---- 3: separable convolution, rows ------------------------------------------
#define KERNEL_RADIUS 8
#define KERNEL_LENGTH (2 * KERNEL_RADIUS + 1)
#define ROWS_BLOCKDIM_X 16
#define ROWS_BLOCKDIM_Y 4
#define ROWS_RESULT_STEPS 8
#define ROWS_HALO_STEPS 1
__constant__ float c_Kernel[KERNEL_LENGTH];

__global__ void convRowsSep(float *d_Dst, float *d_Src, int imageW, int imageH, int pitch) {
  __shared__ float s_Data[ROWS_BLOCKDIM_Y][(ROWS_RESULT_STEPS + 2 * ROWS_HALO_STEPS) * ROWS_BLOCKDIM_X];
  const int baseX = (blockIdx.x * ROWS_RESULT_STEPS - ROWS_HALO_STEPS) * ROWS_BLOCKDIM_X + threadIdx.x;
  const int baseY = blockIdx.y * ROWS_BLOCKDIM_Y + threadIdx.y;
  d_Src += baseY * pitch + baseX;
  d_Dst += baseY * pitch + baseX;
#pragma unroll
  for (int i = ROWS_HALO_STEPS; i < ROWS_HALO_STEPS + ROWS_RESULT_STEPS; i++)
    s_Data[threadIdx.y][threadIdx.x + i * ROWS_BLOCKDIM_X] = d_Src[i * ROWS_BLOCKDIM_X];
#pragma unroll
  for (int i = 0; i < ROWS_HALO_STEPS; i++)
    s_Data[threadIdx.y][threadIdx.x + i * ROWS_BLOCKDIM_X] = (baseX >= -i * ROWS_BLOCKDIM_X) ? d_Src[i * ROWS_BLOCKDIM_X] : 0;
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

// ---- 4: median in a (2r+1)^2 window, sorted in a private array ------------------
__global__ void medianPrivate(const uchar* img, uchar* res, int W, int H, int r)
{
	int x = blockIdx.x*blockDim.x + threadIdx.x;
	int y = blockIdx.y*blockDim.y + threadIdx.y;
	if (x >= W || y >= H) return;
	uchar win[49];
	int cnt = 0;
	for (int dy=-r; dy<=r; dy++)
		for (int dx=-r; dx<=r; dx++) {
			int xx = x+dx, yy = y+dy;
			if (xx<0 || yy<0 || xx>=W || yy>=H) continue;
			uchar v = img[yy*W+xx];
			int j = cnt++;
			while (j>0 && win[j-1]>v) { win[j] = win[j-1]; j--; }
			win[j] = v;
		}
	res[y*W+x] = win[cnt/2];
}

// ---- 5: CLAHE, one lookup table per 64x64 region ---------------------------------
__global__ void claheTables(const uchar *image, uchar *tables, int width, uint clip) {
  __shared__ uint hist[256];
  __shared__ uint scan[256];
  __shared__ uint excess;
  const int t = threadIdx.x;
  hist[t] = 0;
  if (t == 0) excess = 0;
  __syncthreads();
  const uchar *base = image + (size_t)blockIdx.y * 64 * width + blockIdx.x * 64;
  for (int i = t; i < 64 * 16; i += 256) {
    uchar4 q = *reinterpret_cast<const uchar4 *>(base + (size_t)(i >> 4) * width + (i & 15) * 4);
    atomicAdd(&hist[q.x], 1u);
    atomicAdd(&hist[q.y], 1u);
    atomicAdd(&hist[q.z], 1u);
    atomicAdd(&hist[q.w], 1u);
  }
  __syncthreads();
  if (hist[t] > clip) {
    atomicAdd(&excess, hist[t] - clip);
    hist[t] = clip;
  }
  __syncthreads();
  uint v = hist[t] + excess / 256 + (t < (int)(excess % 256) ? 1 : 0);
  scan[t] = v;
  __syncthreads();
  for (int o = 1; o < 256; o *= 2) {
    uint a = t >= o ? scan[t - o] : 0;
    __syncthreads();
    scan[t] += a;
    __syncthreads();
  }
  tables[(blockIdx.y * gridDim.x + blockIdx.x) * 256 + t] = (uchar)(scan[t] * 255u / 4096u);
}

// ---- 6: integral image, horizontal pass --------------------------------------------
__global__ void integralRows(const uchar *__restrict__ in, uint *__restrict__ out, int cols) {
  __shared__ uint warpTot[16];
  __shared__ uint carry;
  const int lane = threadIdx.x & 31, wid = threadIdx.x >> 5;
  const size_t row = (size_t)blockIdx.x * cols;
  if (threadIdx.x == 0) carry = 0;
  __syncthreads();
  for (int c0 = 0; c0 < cols; c0 += blockDim.x) {
    int c = c0 + threadIdx.x;
    uint v = c < cols ? in[row + c] : 0;
    for (int d = 1; d < 32; d <<= 1) {
      uint u = __shfl_up_sync(0xffffffffu, v, d);
      if (lane >= d) v += u;
    }
    if (lane == 31) warpTot[wid] = v;
    __syncthreads();
    if (threadIdx.x == 0) {
      uint s = carry;
      for (int w = 0; w < (int)blockDim.x / 32; ++w) { uint k = warpTot[w]; warpTot[w] = s; s += k; }
      carry = s;
    }
    __syncthreads();
    if (c < cols) out[row + c] = v + warpTot[wid];
    __syncthreads();
  }
}

// ---- 7: full search motion estimation, 16x16 blocks, range -8..7 -----------------------
__global__ void motionSearch16(const uchar *cur, const uchar *ref, int2 *mv, uint *best, int W, int H) {
  __shared__ uchar sc[16][16];
  __shared__ uchar sr[31][32];
  __shared__ uint key[256];
  int tid = threadIdx.y * 16 + threadIdx.x;
  int ox = blockIdx.x * 16, oy = blockIdx.y * 16;
  sc[threadIdx.y][threadIdx.x] = cur[(oy + threadIdx.y) * W + ox + threadIdx.x];
  for (int k = tid; k < 31 * 31; k += 256) {
    int yy = min(max(oy - 8 + k / 31, 0), H - 1), xx = min(max(ox - 8 + k % 31, 0), W - 1);
    sr[k / 31][k % 31] = ref[yy * W + xx];
  }
  __syncthreads();
  uint sad = 0;
  for (int y = 0; y < 16; y++)
    for (int x = 0; x < 16; x++) sad += abs((int)sc[y][x] - (int)sr[y + threadIdx.y][x + threadIdx.x]);
  key[tid] = (sad << 8) | tid;
  __syncthreads();
  for (int s = 128; s; s >>= 1) {
    if (tid < s) key[tid] = min(key[tid], key[tid + s]);
    __syncthreads();
  }
  if (tid) return;
  int b = blockIdx.y * gridDim.x + blockIdx.x;
  mv[b] = make_int2((int)(key[0] & 15) - 8, (int)((key[0] >> 4) & 15) - 8);
  best[b] = key[0] >> 8;
}

// ---- 8: JPEG style 8x8 DCT and quantisation, four blocks per CTA -------------------------
__constant__ float cosT[8][8];
__constant__ unsigned char quantT[64];
__global__ void dctQuant8x8(const uchar *img, short *coef, int stride, int nblkx) {
  __shared__ float a[4][8][9], b[4][8][9];
  const int u = threadIdx.x, v = threadIdx.y, z = threadIdx.z;
  const int blk = blockIdx.x * 4 + z;
  const bool live = blk < nblkx;
  if (live) a[z][v][u] = (float)img[(blockIdx.y * 8 + v) * stride + blk * 8 + u] - 128.f;
  __syncthreads();
  float s = 0.f;
  if (live) {
    for (int k = 0; k < 8; k++) s += a[z][v][k] * cosT[u][k];
    b[z][v][u] = s;
  }
  __syncthreads();
  if (live) {
    s = 0.f;
    for (int k = 0; k < 8; k++) s += b[z][k][u] * cosT[v][k];
    coef[((size_t)blockIdx.y * nblkx + blk) * 64 + v * 8 + u] = (short)rintf(s / quantT[v * 8 + u]);
  }
}

static uchar *noiseImage(size_t n, unsigned seed) {
  uchar *h = (uchar *)malloc(n), *d;
  unsigned s = seed;
  for (size_t i = 0; i < n; i++) { s = s * 1664525u + 1013904223u; h[i] = (uchar)((s >> 24) / 3 + (i / 37) % 170); }
  cudaMalloc(&d, n);
  cudaMemcpy(d, h, n, cudaMemcpyHostToDevice);
  free(h);
  return d;
}

int main() {
  const int W = 3840, H = 2160;
  uchar *im = noiseImage((size_t)W * H, 1), *im2 = noiseImage((size_t)W * H, 77), *o8 = mk<uchar>((size_t)W * H);
  float *fi = mk<float>((size_t)W * H), *fo = mk<float>((size_t)W * H);

  sobelTile<<<dim3((W - 5 + TILE_W - 1) / TILE_W, (H + TILE_H - 1) / TILE_H), dim3(TILE_W, TILE_H)>>>(im, o8, W - 5, H, W);
  show("sobelTile", o8, (size_t)W * H);

  int w2 = 1931, h2 = 1087;
  bilateralLut<5, 16><<<dim3((w2 + 15) / 16, (h2 + 15) / 16), dim3(16, 16)>>>(im, fo, w2, h2, 30.f, 3.f);
  show("bilateralLut", fo, (size_t)w2 * h2 * sizeof(float));

  float kern[KERNEL_LENGTH];
  for (int i = 0; i < KERNEL_LENGTH; i++) kern[i] = 1.f / (1 + abs(i - KERNEL_RADIUS));
  cudaMemcpyToSymbol(c_Kernel, kern, sizeof(kern));
  convRowsSep<<<dim3(W / (ROWS_RESULT_STEPS * ROWS_BLOCKDIM_X), H / ROWS_BLOCKDIM_Y), dim3(ROWS_BLOCKDIM_X, ROWS_BLOCKDIM_Y)>>>(fo, fi, W, H, W);
  show("convRowsSep", fo, (size_t)W * H * sizeof(float));

  medianPrivate<<<dim3((1280 + 31) / 32, (719 + 3) / 4), dim3(32, 4)>>>(im, o8, 1280, 719, 2);
  show("medianPrivate", o8, 1280 * 719);

  uchar *tab = mk<uchar>(60 * 33 * 256);
  claheTables<<<dim3(60, 33), 256>>>(im, tab, W, 40);
  show("claheTables", tab, 60 * 33 * 256);

  uint *ii = mk<uint>((size_t)W * H);
  integralRows<<<H, 512>>>(im, ii, W);
  show("integralRows", ii, (size_t)W * H * sizeof(uint));

  int2 *mv = (int2 *)mk<int>(120 * 67 * 2);
  uint *sad = mk<uint>(120 * 67);
  motionSearch16<<<dim3(120, 67), dim3(16, 16)>>>(im, im2, mv, sad, 1920, 1080);
  show("motionSearch16", mv, 120 * 67 * sizeof(int2));
  show("motionSearch16", sad, 120 * 67 * sizeof(uint));

  float ct[8][8];
  uchar qt[64];
  static const float c0[8] = {1.f, 0.98078528f, 0.92387953f, 0.83146961f, 0.70710678f, 0.55557023f, 0.38268343f, 0.19509032f};
  for (int u = 0; u < 8; u++)
    for (int k = 0; k < 8; k++) {
      int a = ((2 * k + 1) * u) % 32;                  // cos(a*pi/16)
      int b = a > 16 ? 32 - a : a;
      float c = b <= 7 ? c0[b] : (b == 8 ? 0.f : -c0[16 - b]);
      ct[u][k] = u ? 0.5f * c : 0.35355339f;
      qt[u * 8 + k] = (uchar)(6 + 3 * (u + k));
    }
  cudaMemcpyToSymbol(cosT, ct, sizeof(ct));
  cudaMemcpyToSymbol(quantT, qt, sizeof(qt));
  short *co = mk<short>((size_t)481 * 64 * 270);
  dctQuant8x8<<<dim3((479 + 3) / 4, 270), dim3(8, 8, 4)>>>(im, co, W, 479);
  show("dctQuant8x8", co, (size_t)479 * 64 * 270 * sizeof(short));
  return 0;
}
