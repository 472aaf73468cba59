// Layers of neural nets: normalisation, convolution, pooling, attention, recurrences, routing.
#include <cmath>
#include "shown.h"

// ====== 1. residual add + layer norm, row kept in dynamic shared memory =====================
template <typename T>
__device__ T blockSum(T v, T *scratch) {
  const int t = threadIdx.x;
  scratch[t] = v;
  __syncthreads();
  for (int s = blockDim.x >> 1; s > 0; s >>= 1) {
    if (t < s) scratch[t] += scratch[t + s];
    __syncthreads();
  }
  T r = scratch[0];
  __syncthreads();
  return r;
}

__global__ void addLayerNorm(const float *__restrict__ x, const float *__restrict__ res, const float *__restrict__ gamma,
                             const float *__restrict__ beta, float *__restrict__ y, int hidden, float eps)
{
  extern __shared__ float smem[];
  float *row = smem;
  float *red = smem + hidden;
  const size_t off = (size_t)blockIdx.x * hidden;
  float s = 0.f;
  for (int c = threadIdx.x; c < hidden; c += blockDim.x) {
    float v = x[off + c] + res[off + c];
    row[c] = v;
    s += v;
  }
  float mean = blockSum(s, red) / hidden;
  float q = 0.f;
  for (int c = threadIdx.x; c < hidden; c += blockDim.x) {
    float d = row[c] - mean;
    q += d * d;
  }
  float rstd = rsqrtf(blockSum(q, red) / hidden + eps);
  for (int c = threadIdx.x; c < hidden; c += blockDim.x) y[off + c] = (row[c] - mean) * rstd * gamma[c] + beta[c];
}

// ====== 2. depthwise 5x5 convolution, NCHW, zero padding, a channel per z =====================
#define DW_K 5
#define DW_P 2
template <int TW, int TH>
__global__ void depthwise5x5(const float *in, const float *wgt, const float *bias, float *out, int C, int H, int W)
{
  __shared__ float tile[TH + DW_K - 1][TW + DW_K - 1];
  __shared__ float k[DW_K * DW_K];
  int nc = blockIdx.z, c = nc % C;
  const float *ip = in + (size_t)nc * H * W;
  int tid = threadIdx.y * TW + threadIdx.x;
  if (tid < DW_K * DW_K) k[tid] = wgt[c * DW_K * DW_K + tid];
  for (int i = tid; i < (TH + 4) * (TW + 4); i += TW * TH) {
    int r = i / (TW + 4), q = i % (TW + 4);
    int y = blockIdx.y * TH + r - DW_P, x = blockIdx.x * TW + q - DW_P;
    tile[r][q] = (unsigned)y < (unsigned)H && (unsigned)x < (unsigned)W ? ip[y * W + x] : 0.f;
  }
  __syncthreads();
  int x = blockIdx.x * TW + threadIdx.x, y = blockIdx.y * TH + threadIdx.y;
  if (x >= W || y >= H) return;
  float a = bias[c];
#pragma unroll
  for (int r = 0; r < DW_K; r++)
#pragma unroll
    for (int q = 0; q < DW_K; q++) a = fmaf(k[r * DW_K + q], tile[threadIdx.y + r][threadIdx.x + q], a);
  out[(size_t)nc * H * W + y * W + x] = a > 0.f ? fminf(a, 600.f) : 0.f;
}

// ====== 3. max pool 3x3 stride 2 with argument, half of the tile is overlap-free =================
__global__ void maxpool3s2(const float *__restrict__ src, float *__restrict__ dst, unsigned char *__restrict__ arg,
                           int H, int W, int OH, int OW) {
  __shared__ float s[17][65];
  const size_t plane = blockIdx.z;
  const int ox = blockIdx.x * 32 + threadIdx.x, oy = blockIdx.y * 8 + threadIdx.y;
  const int ix0 = blockIdx.x * 64, iy0 = blockIdx.y * 16;
  for (int r = threadIdx.y; r < 17; r += 8)
    for (int c = threadIdx.x; c < 65; c += 32) {
      int y = iy0 + r, x = ix0 + c;
      s[r][c] = (y < H && x < W) ? src[plane * H * W + (size_t)y * W + x] - 0.01f * ((x * 3 + y * 5) % 64) : -3.0e38f;
    }
  __syncthreads();
  if (ox < OW && oy < OH) {
    int r = threadIdx.y * 2, c = threadIdx.x * 2;
    float m = s[r][c];
    int w = 0;
    for (int k = 1; k < 9; k++) {
      float v = s[r + k / 3][c + k % 3];
      if (v > m) { m = v; w = k; }
    }
    size_t o = (plane * OH + oy) * OW + ox;
    dst[o] = m;
    arg[o] = (unsigned char)w;
  }
}

// ====== 4. one query against a cache of keys and values (decode step), a head a block ===============
template <int HD>
__global__ void decodeAttention(const float *q, const float *kc, const float *vc, float *o, int ctx, float scale) {
  extern __shared__ float score[];
  __shared__ float qs[HD];
  __shared__ float red[128];
  const size_t head = blockIdx.x;
  const int t = threadIdx.x;                     // 128 threads
  for (int d = t; d < HD; d += 128) qs[d] = q[head * HD + d] * scale;
  __syncthreads();
  float m = -1e30f;
  for (int j = t; j < ctx; j += 128) {
    const float *k = kc + (head * HD) * ctx + j;  // keys transposed: [head][dim][position]
    float a = 0.f;
    for (int d = 0; d < HD; d++) a += qs[d] * (k[(size_t)d * ctx] - 6.f);
    score[j] = a;
    m = fmaxf(m, a);
  }
  red[t] = m;
  __syncthreads();
  for (int s = 64; s; s >>= 1) {
    if (t < s) red[t] = fmaxf(red[t], red[t + s]);
    __syncthreads();
  }
  m = red[0];
  __syncthreads();
  float sum = 0.f;
  for (int j = t; j < ctx; j += 128) {
    float e = expf(score[j] - m);
    score[j] = e;
    sum += e;
  }
  red[t] = sum;
  __syncthreads();
  for (int s = 64; s; s >>= 1) {
    if (t < s) red[t] += red[t + s];
    __syncthreads();
  }
  float inv = 1.f / red[0];
  for (int d = t; d < HD; d += 128) {
    float a = 0.f;
    for (int j = 0; j < ctx; j++) a += score[j] * vc[(head * ctx + j) * HD + d];
    o[head * HD + d] = a * inv;
  }
}

// ====== 5. dilated causal 1-D convolution with gate, 8 channels in and out ==============================
#define WN_C 8
#define WN_K 3
#define WN_T 128
#define WN_MAXDIL 32
__global__ void wavenetLayer(const float *x, const float *wf, const float *wg, float *y, int len, int dil)
{
  __shared__ float xs[WN_C][WN_T + (WN_K - 1) * WN_MAXDIL];
  __shared__ float f[WN_C * WN_C * WN_K], g[WN_C * WN_C * WN_K];
  const int reach = (WN_K - 1) * dil;
  const int t0 = blockIdx.x * WN_T;
  const float *xb = x + (size_t)blockIdx.y * WN_C * len;
  for (int c = 0; c < WN_C; c++)
    for (int k = threadIdx.x; k < WN_T + reach; k += WN_T) {
      int t = t0 + k - reach;
      xs[c][k] = t >= 0 && t < len ? xb[(size_t)c * len + t] : 0.f;
    }
  for (int k = threadIdx.x; k < WN_C * WN_C * WN_K; k += WN_T) { f[k] = 0.01f * wf[k] - 0.06f; g[k] = 0.05f - 0.01f * wg[k]; }
  __syncthreads();
  int t = t0 + threadIdx.x;
  if (t >= len) return;
  for (int o = 0; o < WN_C; o++) {
    float a = 0.f, b = 0.f;
    for (int c = 0; c < WN_C; c++)
      for (int k = 0; k < WN_K; k++) {
        float v = xs[c][threadIdx.x + k * dil];
        a += f[(o * WN_C + c) * WN_K + k] * v;
        b += g[(o * WN_C + c) * WN_K + k] * v;
      }
    y[((size_t)blockIdx.y * WN_C + o) * len + t] = tanhf(a) / (1.f + __expf(-b)) + xs[o][threadIdx.x + reach];
  }
}

// ====== 6. GRU over a sequence, hidden vector in shared memory, a unit a thread ============================
__device__ __forceinline__ float sigm(float x) { return 1.f / (1.f + expf(-x)); }
template <int HID>
__global__ void gruSequence(const float *__restrict__ xproj, const float *__restrict__ U, float *__restrict__ hOut, int T) {
  __shared__ float h[2][HID];
  const int u = threadIdx.x;
  h[0][u] = 0.f;
  __syncthreads();
  int cur = 0;
  for (int t = 0; t < T; t++) {
    const float *xp = xproj + ((size_t)blockIdx.x * T + t) * 3 * HID;
    float z = 0.1f * xp[u] - 0.6f, r = 0.1f * xp[HID + u] - 0.5f, n = 0.f;
    for (int k = 0; k < HID; k++) {
      float hk = h[cur][k];
      z += (0.01f * U[k * 3 * HID + u] - 0.06f) * hk;
      r += (0.01f * U[k * 3 * HID + HID + u] - 0.05f) * hk;
      n += (0.01f * U[k * 3 * HID + 2 * HID + u] - 0.07f) * hk;
    }
    z = sigm(z);
    n = tanhf(0.2f * xp[2 * HID + u] - 1.1f + sigm(r) * n);
    h[cur ^ 1][u] = (1.f - z) * n + z * h[cur][u];
    cur ^= 1;
    __syncthreads();
  }
  hOut[(size_t)blockIdx.x * HID + u] = h[cur][u];
}

// ====== 7. expert routing: softmax of 64 logits a token, private list of the E best ============================
template <int NE, int E>
__global__ void routeTokens(const float *__restrict__ logits, int *__restrict__ expert, float *__restrict__ weight, int tokens)
{
  __shared__ float lg[64][NE + 1];
  const int tok0 = blockIdx.x * 64;
  for (int e = threadIdx.x; e < 64 * NE; e += 64) {
    int r = e / NE, c = e % NE;
    lg[r][c] = tok0 + r < tokens ? logits[(size_t)(tok0 + r) * NE + c] + 0.03f * ((r * 13 + c * c) % 71) : 0.f;
  }
  __syncthreads();
  int tok = tok0 + threadIdx.x;
  if (tok >= tokens) return;
  float bv[E];
  int bi[E];
  int cnt = 0;
#pragma unroll 1
  for (int c = 0; c < NE; c++) {
    float v = lg[threadIdx.x][c];
    int p = cnt;
    while (p > 0 && bv[p - 1] < v) p--;
    if (p < E) {
      int last = cnt < E ? cnt : E - 1;
      for (int k = last; k > p; k--) { bv[k] = bv[k - 1]; bi[k] = bi[k - 1]; }
      bv[p] = v;
      bi[p] = c;
      if (cnt < E) cnt++;
    }
  }
  float sum = 0.f;
  for (int k = 0; k < E; k++) sum += expf(bv[k] - bv[0]);
  for (int k = 0; k < E; k++) {
    expert[(size_t)tok * E + k] = bi[k];
    weight[(size_t)tok * E + k] = expf(bv[k] - bv[0]) / sum;
  }
}

// ====== 8. attention forward with running softmax, a query row a thread, 32 wide heads ============================
constexpr int FD = 32, FB = 32;
__global__ void __launch_bounds__(64) flashRows(const float *__restrict__ Q, const float *__restrict__ K, const float *__restrict__ V,
                                                float *__restrict__ O, int seq, float scale)
{
  __shared__ float ks[FB][FD];
  __shared__ float vs[FB][FD];
  const size_t base = (size_t)blockIdx.y * seq * FD;
  const int qi = blockIdx.x * 64 + threadIdx.x;
  const int row = min(qi, seq - 1);
  float q[FD], acc[FD];
#pragma unroll
  for (int d = 0; d < FD; d++) { q[d] = (Q[base + (size_t)row * FD + d] - 6.f) * scale; acc[d] = 0.f; }
  float m = -1e30f, l = 0.f;
  for (int j0 = 0; j0 < seq; j0 += FB) {
    for (int e = threadIdx.x; e < FB * FD; e += 64) {
      bool in = j0 + e / FD < seq;
      ks[e / FD][e % FD] = in ? K[base + (size_t)j0 * FD + e] : 0.f;
      vs[e / FD][e % FD] = in ? V[base + (size_t)j0 * FD + e] : 0.f;
    }
    __syncthreads();
    int lim = min(FB, seq - j0);
    for (int j = 0; j < lim; j++) {
      float s = 0.f;
#pragma unroll
      for (int d = 0; d < FD; d++) s += q[d] * ks[j][d];
      float mn = fmaxf(m, s);
      float c = __expf(m - mn), p = __expf(s - mn);
      l = l * c + p;
#pragma unroll
      for (int d = 0; d < FD; d++) acc[d] = acc[d] * c + p * vs[j][d];
      m = mn;
    }
    __syncthreads();
  }
  if (qi < seq) {
    float inv = 1.f / l;
#pragma unroll
    for (int d = 0; d < FD; d++) O[base + (size_t)qi * FD + d] = acc[d] * inv;
  }
}

int main() {
  {
    int rows = 16000, hid = 1100, blk = 256;
    float *x = mk<float>((size_t)rows * hid + 33), *r = mk<float>((size_t)rows * hid), *g = mk<float>(hid), *b = mk<float>(hid), *y = mk<float>((size_t)rows * hid);
    addLayerNorm<<<rows, blk, (hid + blk) * sizeof(float)>>>(x + 33, r, g, b, y, hid, 1e-5f);
    show("addLayerNorm", y, (size_t)rows * hid * 4);
    cudaFree(x); cudaFree(r); cudaFree(y);
  }
  {
    int N = 4, C = 48, H = 210, W = 230;
    size_t n = (size_t)N * C * H * W;
    float *x = mk<float>(n), *w = mk<float>(C * 25), *b = mk<float>(C), *y = mk<float>(n);
    depthwise5x5<32, 8><<<dim3((W + 31) / 32, (H + 7) / 8, N * C), dim3(32, 8)>>>(x, w, b, y, C, H, W);
    show("depthwise5x5", y, n * 4);
    cudaFree(x); cudaFree(y);
  }
  {
    int P = 128, H = 301, W = 401, OH = (H - 3) / 2 + 1, OW = (W - 3) / 2 + 1;
    float *x = mk<float>((size_t)P * H * W), *y = mk<float>((size_t)P * OH * OW);
    unsigned char *a = mk<unsigned char>((size_t)P * OH * OW);
    maxpool3s2<<<dim3((OW + 31) / 32, (OH + 7) / 8, P), dim3(32, 8)>>>(x, y, a, H, W, OH, OW);
    show("maxpool3s2", y, (size_t)P * OH * OW * 4);
    show("maxpool3s2", a, (size_t)P * OH * OW);
    cudaFree(x); cudaFree(y);
  }
  {
    int heads = 800, ctx = 300;
    float *q = mk<float>(heads * 64), *k = mk<float>((size_t)heads * 64 * ctx), *v = mk<float>((size_t)heads * 64 * ctx), *o = mk<float>(heads * 64);
    decodeAttention<64><<<heads, 128, ctx * sizeof(float)>>>(q, k, v, o, ctx, 0.01f);
    show("decodeAttention", o, heads * 64 * 4);
    cudaFree(k); cudaFree(v);
  }
  {
    int batch = 16, len = 60001;
    size_t n = (size_t)batch * WN_C * len;
    float *x = mk<float>(n), *y = mk<float>(n), *f = mk<float>(WN_C * WN_C * WN_K), *g = mk<float>(WN_C * WN_C * WN_K);
    wavenetLayer<<<dim3((len + WN_T - 1) / WN_T, batch), WN_T>>>(x, f, g, y, len, 16);
    show("wavenetLayer", y, n * 4);
    cudaFree(x); cudaFree(y);
  }
  {
    int batch = 600, T = 20;
    float *x = mk<float>((size_t)batch * T * 3 * 96), *U = mk<float>(96 * 3 * 96), *h = mk<float>(batch * 96);
    gruSequence<96><<<batch, 96>>>(x, U, h, T);
    show("gruSequence", h, batch * 96 * 4);
  }
  {
    int tokens = 300001;
    float *l = mk<float>((size_t)tokens * 64), *w = mk<float>((size_t)tokens * 6);
    int *e = mk<int>((size_t)tokens * 6);
    routeTokens<64, 6><<<(tokens + 63) / 64, 64>>>(l, e, w, tokens);
    show("routeTokens", e, (size_t)tokens * 24);
    show("routeTokens", w, (size_t)tokens * 24);
    cudaFree(l);
  }
  {
    int seq = 500, bh = 128;
    size_t n = (size_t)bh * seq * FD;
    float *Q = mk<float>(n + 7), *K = mk<float>(n), *V = mk<float>(n), *O = mk<float>(n);
    flashRows<<<dim3((seq + 63) / 64, bh), 64>>>(Q + 7, K, V, O, seq, 0.03f);
    show("flashRows", O, n * 4);
  }
  return 0;
}
