#include "shown.h"
typedef unsigned char uchar;
typedef unsigned int uint;

// Sobel with shared tile, uchar
#define TW 16
#define TH 16
__global__ void sobelFilterShared(const uchar *src, uchar *dst, int width, int height, int pitch) {
  __shared__ uchar smem[TH + 2][TW + 2];
  const int x = blockIdx.x * TW + threadIdx.x;
  const int y = blockIdx.y * TH + threadIdx.y;
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  const int cx = min(x, width - 1), cy = min(y, height - 1);
  smem[ty][tx] = src[cy * pitch + cx];
  const int xl = max(x - 1, 0) < width ? max(x - 1, 0) : width - 1, xr = min(x + 1, width - 1);
  const int yu = min(max(y - 1, 0), height - 1), yd = min(y + 1, height - 1);
  if (threadIdx.x == 0) smem[ty][0] = src[cy * pitch + xl];
  if (threadIdx.x == TW - 1) smem[ty][TW + 1] = src[cy * pitch + xr];
  if (threadIdx.y == 0) {
    smem[0][tx] = src[yu * pitch + cx];
    if (threadIdx.x == 0) smem[0][0] = src[yu * pitch + xl];
    if (threadIdx.x == TW - 1) smem[0][TW + 1] = src[yu * pitch + xr];
  }
  if (threadIdx.y == TH - 1) {
    smem[TH + 1][tx] = src[yd * pitch + cx];
    if (threadIdx.x == 0) smem[TH + 1][0] = src[yd * pitch + xl];
    if (threadIdx.x == TW - 1) smem[TH + 1][TW + 1] = src[yd * pitch + xr];
  }
  __syncthreads();
  if (x < width && y < height) {
    int gx = smem[ty - 1][tx + 1] + 2 * smem[ty][tx + 1] + smem[ty + 1][tx + 1] - smem[ty - 1][tx - 1] - 2 * smem[ty][tx - 1] - smem[ty + 1][tx - 1];
    int gy = smem[ty + 1][tx - 1] + 2 * smem[ty + 1][tx] + smem[ty + 1][tx + 1] - smem[ty - 1][tx - 1] - 2 * smem[ty - 1][tx] - smem[ty - 1][tx + 1];
    int mag = abs(gx) + abs(gy);
    dst[y * pitch + x] = mag > 255 ? 255 : mag;
  }
}

// gaussian on uchar4, halo by 2-D strided loop
template <int RAD>
__global__ void gaussianRGBA(const uchar4 *in, uchar4 *out, int w, int h, const float *__restrict__ coef) {
  __shared__ uchar4 patch[8 + 2 * RAD][32 + 2 * RAD];
  __shared__ float k[2 * RAD + 1];
  int t = threadIdx.y * blockDim.x + threadIdx.x;
  if (t < 2 * RAD + 1) k[t] = coef[t];
  for (int j = threadIdx.y; j < 8 + 2 * RAD; j += blockDim.y) {
    int yy = (int)(blockIdx.y * 8) + j - RAD;
    yy = yy < 0 ? 0 : (yy >= h ? h - 1 : yy);
    for (int i = threadIdx.x; i < 32 + 2 * RAD; i += blockDim.x) {
      int xx = (int)(blockIdx.x * 32) + i - RAD;
      xx = xx < 0 ? 0 : (xx >= w ? w - 1 : xx);
      patch[j][i] = in[yy * w + xx];
    }
  }
  __syncthreads();
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= w || y >= h) return;
  float r = 0, g = 0, b = 0;
  for (int j = 0; j <= 2 * RAD; j++)
    for (int i = 0; i <= 2 * RAD; i++) {
      uchar4 p = patch[threadIdx.y + j][threadIdx.x + i];
      float c = k[i] * k[j];
      r += c * p.x; g += c * p.y; b += c * p.z;
    }
  out[y * w + x] = make_uchar4((uchar)r, (uchar)g, (uchar)b, patch[threadIdx.y + RAD][threadIdx.x + RAD].w);
}

// median 3x3 with per-thread window in shared (slow classic)
#define BLOCK_W 16
#define BLOCK_H 16
__global__ void MedianFilter3(const unsigned short *In, unsigned short *Out, int Width, int Height) {
  __shared__ unsigned short surround[BLOCK_W * BLOCK_H][9];
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const int tid = threadIdx.y * blockDim.x + threadIdx.x;
  if ((x >= (Width - 1)) || (y >= Height - 1) || (x == 0) || (y == 0)) return;
  int iterator = 0;
  for (int r = x - 1; r <= x + 1; r++) {
    for (int c = y - 1; c <= y + 1; c++) {
      surround[tid][iterator] = In[c * Width + r];
      iterator++;
    }
  }
  for (int i = 0; i < 5; ++i) {
    int minval = i;
    for (int l = i + 1; l < 9; ++l)
      if (surround[tid][l] < surround[tid][minval]) minval = l;
    unsigned short temp = surround[tid][i];
    surround[tid][i] = surround[tid][minval];
    surround[tid][minval] = temp;
  }
  Out[(y * Width) + x] = surround[tid][4];
}

// bilateral, dynamic shared with runtime radius
__global__ void bilateralShared(const float *src, float *dst, int w, int h, int r, float sigS, float sigR) {
  extern __shared__ float sdat[];
  const int sw = blockDim.x + 2 * r, sh = blockDim.y + 2 * r;
  const int bx = blockIdx.x * blockDim.x - r, by = blockIdx.y * blockDim.y - r;
  for (int i = threadIdx.y * blockDim.x + threadIdx.x; i < sw * sh; i += blockDim.x * blockDim.y) {
    int px = bx + i % sw, py = by + i / sw;
    // mirror
    if (px < 0) px = -px;
    if (py < 0) py = -py;
    if (px >= w) px = max(2 * w - 2 - px, 0);
    if (py >= h) py = max(2 * h - 2 - py, 0);
    sdat[i] = src[py * w + px];
  }
  __syncthreads();
  const int x = bx + r + threadIdx.x, y = by + r + threadIdx.y;
  if (x < w && y < h) {
    const float c = sdat[(threadIdx.y + r) * sw + threadIdx.x + r];
    float s = 0, n = 0;
    for (int dy = -r; dy <= r; dy++)
      for (int dx = -r; dx <= r; dx++) {
        float v = sdat[(threadIdx.y + r + dy) * sw + threadIdx.x + r + dx];
        float wgt = __expf(-(dx * dx + dy * dy) * sigS - (v - c) * (v - c) * sigR);
        s += wgt * v;
        n += wgt;
      }
    dst[y * w + x] = s / n;
  }
}

// 8x8 DCT, SDK-like two-pass with shared block
#define DB 8
__constant__ float DCTm[64];
__global__ void dct8x8_kernel(float *Dst, const float *Src, size_t stride) {
  __shared__ float CurBlockLocal1[DB * DB];
  __shared__ float CurBlockLocal2[DB * DB];
  const int bx = blockIdx.x, by = blockIdx.y;
  const int tx = threadIdx.x, ty = threadIdx.y;
  size_t pos = ((size_t)by * DB + ty) * stride + bx * DB + tx;
  CurBlockLocal1[(ty << 3) + tx] = Src[pos] - 128.f;
  __syncthreads();
  float cur = 0;
  unsigned DCTv = 0 * DB + ty, CB1 = 0 * DB + tx;
#pragma unroll
  for (int i = 0; i < DB; i++) {
    cur += DCTm[DCTv] * CurBlockLocal1[CB1];
    CB1 += DB;
    DCTv += DB;
  }
  CurBlockLocal2[(ty << 3) + tx] = cur;
  __syncthreads();
  cur = 0;
  int CB2 = (ty << 3) + 0;
  DCTv = 0 * DB + tx;
#pragma unroll
  for (int i = 0; i < DB; i++) {
    cur += CurBlockLocal2[CB2] * DCTm[DCTv];
    CB2 += 1;
    DCTv += DB;
  }
  Dst[pos] = cur;
}

int main() {
  {
    int w = 1921, h = 1083, p = 2048;
    uchar *a = mk<uchar>(p * h), *b = mk<uchar>(p * h);
    sobelFilterShared<<<dim3((w + TW - 1) / TW, (h + TH - 1) / TH), dim3(TW, TH)>>>(a, b, w, h, p);
    show("sobelFilterShared", b, p * h);
  }
  {
    int w = 1283, h = 717;
    uchar4 *a = (uchar4 *)mk<uint>(w * h), *b = (uchar4 *)mk<uint>(w * h);
    uint *hp = (uint *)malloc(w * h * 4);
    for (int i = 0; i < w * h; i++) hp[i] = (i * 2654435761u) ^ (i >> 3);
    cudaMemcpy(a, hp, w * h * 4, cudaMemcpyHostToDevice);
    float hc[7] = {0.03f, 0.1f, 0.2f, 0.33f, 0.2f, 0.1f, 0.03f}, *c;
    cudaMalloc(&c, sizeof hc);
    cudaMemcpy(c, hc, sizeof hc, cudaMemcpyHostToDevice);
    gaussianRGBA<3><<<dim3((w + 31) / 32, (h + 7) / 8), dim3(32, 8)>>>(a, b, w, h, c);
    show("gaussianRGBA", b, w * h * 4);
  }
  {
    int w = 1500, h = 1500;
    unsigned short *a = mk<unsigned short>(w * h), *b = mk<unsigned short>(w * h);
    MedianFilter3<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(a, b, w, h);
    show("MedianFilter3", b, w * h * 2);
  }
  {
    int w = 801, h = 599, r = 5;
    float *a = mk<float>(w * h), *b = mk<float>(w * h);
    bilateralShared<<<dim3((w + 15) / 16, (h + 11) / 12), dim3(16, 12), (16 + 2 * r) * (12 + 2 * r) * sizeof(float)>>>(a, b, w, h, r, 0.02f, 0.05f);
    show("bilateralShared", b, w * h * 4);
  }
  {
    float m[64];
    for (int i = 0; i < 64; i++) m[i] = ((i * 29) % 17 - 8) / 20.f;
    cudaMemcpyToSymbol(DCTm, m, sizeof m);
    size_t w = 2048, h = 1024;
    float *a = mk<float>(w * h), *b = mk<float>(w * h);
    dct8x8_kernel<<<dim3(w / 8, h / 8), dim3(8, 8)>>>(b, a, w);
    show("dct8x8_kernel", b, w * h * 4);
  }
}
