// k6 -- operators as in deep-learning repositories, and lattice physics.
#include "shown.h"
#include <cuda_fp16.h>
#include <cstdint>
#include <cfloat>

#define THREADS_PER_BLOCK 256
#define DIVUP(m, n) ((m) / (n) + ((m) % (n) > 0))

__global__ void f2h(const float *a, __half *b, size_t n)
{
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i < n) b[i] = __float2half(a[i] * 0.25f - 1.f);
}

// Attention, one block per (batch*head, query tile); K and V tiles in SRAM.
template <int D, int Br, int Bc>
__global__ void flash_attn_fwd(const float *Q, const float *K, const float *V, float *O, float *L, const int N, const float softmax_scale)
{
  extern __shared__ float sram[];
  float *Kj = sram;
  float *Vj = Kj + Bc * D;
  float *S = Vj + Bc * D;
  const int tx = threadIdx.x;
  const size_t qkv_offset = (size_t)blockIdx.y * N * D;
  const int qrow = blockIdx.x * Br + tx;
  float q[D], o[D];
  for (int x = 0; x < D; x++) {
    q[x] = qrow < N ? 0.1f * Q[qkv_offset + (size_t)qrow * D + x] : 0.f;
    o[x] = 0.f;
  }
  float m = -INFINITY, l = 0.f;
  for (int j = 0; j < N; j += Bc) {
    for (int e = tx; e < Bc * D; e += Br) {
      const bool ok = j + e / D < N;
      Kj[e] = ok ? K[qkv_offset + (size_t)j * D + e] : 0.f;
      Vj[e] = ok ? V[qkv_offset + (size_t)j * D + e] : 0.f;
    }
    __syncthreads();
    float row_m = m;
    for (int y = 0; y < Bc; y++) {
      float sum = 0;
#pragma unroll
      for (int x = 0; x < D; x++) sum += q[x] * Kj[y * D + x];
      sum *= softmax_scale;
      if (j + y >= N) sum = -INFINITY;
      S[y * Br + tx] = sum;
      row_m = fmaxf(row_m, sum);
    }
    const float corr = __expf(m - row_m);
    l *= corr;
#pragma unroll
    for (int x = 0; x < D; x++) o[x] *= corr;
    for (int y = 0; y < Bc; y++) {
      const float p = __expf(S[y * Br + tx] - row_m);
      l += p;
#pragma unroll
      for (int x = 0; x < D; x++) o[x] += p * Vj[y * D + x];
    }
    m = row_m;
    __syncthreads();
  }
  if (qrow < N) {
    for (int x = 0; x < D; x++) O[qkv_offset + (size_t)qrow * D + x] = o[x] / l;
    L[(size_t)blockIdx.y * N + qrow] = m + __logf(l);
  }
}

// RWKV-5 recurrence: a block per (batch, head), a column of the state a thread.
#define _N_ 64
template <typename F>
__global__ void kernel_forward_wkv5(const int T, const int C, const int H, const F *__restrict__ const _r, const F *__restrict__ const _k,
                                    const F *__restrict__ const _v, const float *__restrict__ _w, const F *__restrict__ _u, F *__restrict__ const _y)
{
  const int b = blockIdx.x / H;
  const int h = blockIdx.x % H;
  const int i = threadIdx.x;
  _w += h * _N_;
  _u += h * _N_;
  __shared__ float r[_N_], k[_N_], u[_N_], w[_N_];
  float state[_N_] = {0};
  __syncthreads();
  w[i] = 0.9f + 0.005f * _w[i];
  u[i] = float(_u[i]);
  __syncthreads();
  for (int t = b * T * C + h * _N_ + i; t < (b + 1) * T * C + h * _N_ + i; t += C) {
    __syncthreads();
    r[i] = float(_r[t]);
    k[i] = float(_k[t]);
    __syncthreads();
    const float v = float(_v[t]);
    float y = 0;
#pragma unroll
    for (int j = 0; j < _N_; j++) {
      const float x = k[j] * v;
      y += r[j] * (u[j] * x + state[j]);
      state[j] = state[j] * w[j] + x;
    }
    _y[t] = F(y * 0.001f);
  }
}

// Causal depthwise conv1d with SiLU, a channel a block, chunks with a tail carried.
template <int kNThreads, int kNElts, int kWidth>
__global__ void causal_conv1d_fwd_kernel(const float *x, const float *weight, const float *bias, float *out, int dim, int seqlen)
{
  __shared__ float4 smem_exchange[kNThreads];
  __shared__ float smem_tail[kWidth - 1];
  const int tidx = threadIdx.x, batch_id = blockIdx.x, channel_id = blockIdx.y;
  const float *xp = x + ((size_t)batch_id * dim + channel_id) * seqlen;
  float *op = out + ((size_t)batch_id * dim + channel_id) * seqlen;
  if (tidx < kWidth - 1) smem_tail[tidx] = 0.f;
  float wv[kWidth];
#pragma unroll
  for (int i = 0; i < kWidth; ++i) wv[i] = weight[channel_id * kWidth + i] * 0.1f;
  const float bv = bias[channel_id] * 0.01f;
  constexpr int kChunk = kNThreads * kNElts;
  for (int c0 = 0; c0 < seqlen; c0 += kChunk) {
    float vals[2 * kNElts];
#pragma unroll
    for (int i = 0; i < kNElts; ++i) {
      const int p = c0 + tidx * kNElts + i;
      vals[kNElts + i] = p < seqlen ? xp[p] : 0.f;
    }
    smem_exchange[tidx] = make_float4(vals[kNElts], vals[kNElts + 1], vals[kNElts + 2], vals[kNElts + 3]);
    __syncthreads();
    if (tidx > 0) {
      const float4 pv = smem_exchange[tidx - 1];
      vals[0] = pv.x; vals[1] = pv.y; vals[2] = pv.z; vals[3] = pv.w;
    } else {
      vals[0] = 0.f; vals[1] = smem_tail[0]; vals[2] = smem_tail[1]; vals[3] = smem_tail[2];
    }
    __syncthreads();
    if (tidx == kNThreads - 1) {
      smem_tail[0] = vals[kNElts + 1]; smem_tail[1] = vals[kNElts + 2]; smem_tail[2] = vals[kNElts + 3];
    }
#pragma unroll
    for (int i = 0; i < kNElts; ++i) {
      float a = bv;
#pragma unroll
      for (int w = 0; w < kWidth; ++w) a += wv[w] * vals[kNElts + i - (kWidth - w - 1)];
      const int p = c0 + tidx * kNElts + i;
      if (p < seqlen) op[p] = a / (1.f + __expf(-a));
    }
    __syncthreads();
  }
}

// PointNet++: furthest point sampling, a block per cloud.
__device__ void __update(float *__restrict__ dists, int *__restrict__ dists_i, int idx1, int idx2)
{
  const float v1 = dists[idx1], v2 = dists[idx2];
  const int i1 = dists_i[idx1], i2 = dists_i[idx2];
  dists[idx1] = max(v1, v2);
  dists_i[idx1] = v2 > v1 ? i2 : (v2 == v1 ? min(i1, i2) : i1);
}
template <unsigned int block_size>
__global__ void furthest_point_sampling_kernel(int n, int m, const float *__restrict__ dataset, float *__restrict__ temp, int *__restrict__ idxs)
{
  __shared__ float dists[block_size];
  __shared__ int dists_i[block_size];
  dataset += (size_t)blockIdx.x * n * 3;
  temp += (size_t)blockIdx.x * n;
  idxs += blockIdx.x * m;
  const int tid = threadIdx.x;
  const int stride = block_size;
  int old = 0;
  if (threadIdx.x == 0) idxs[0] = old;
  for (int k = tid; k < n; k += stride) temp[k] = 1e10f;
  __syncthreads();
  for (int j = 1; j < m; j++) {
    int besti = 0;
    float best = -1;
    const float x1 = dataset[old * 3 + 0], y1 = dataset[old * 3 + 1], z1 = dataset[old * 3 + 2];
    for (int k = tid; k < n; k += stride) {
      const float dx = dataset[k * 3 + 0] - x1, dy = dataset[k * 3 + 1] - y1, dz = dataset[k * 3 + 2] - z1;
      const float d = dx * dx + dy * dy + dz * dz;
      const float d2 = min(d, temp[k]);
      temp[k] = d2;
      besti = d2 > best ? k : besti;
      best = d2 > best ? d2 : best;
    }
    dists[tid] = best;
    dists_i[tid] = besti;
    __syncthreads();
#pragma unroll
    for (unsigned int s = block_size / 2; s >= 1; s >>= 1) {
      if (tid < s) __update(dists, dists_i, tid, tid + s);
      __syncthreads();
    }
    old = dists_i[0];
    if (tid == 0) idxs[j] = old;
    __syncthreads();
  }
}

// Chamfer: nearest neighbour of xyz1 in xyz2, batches of 512 points staged.
__global__ void NmDistanceKernel(int b, int n, const float *xyz, int m, const float *xyz2, float *result, int *result_i)
{
  const int batch = 512;
  __shared__ float buf[batch * 3];
  for (int i = blockIdx.x; i < b; i += gridDim.x) {
    for (int j0 = blockIdx.y * blockDim.x; j0 < n; j0 += blockDim.x * gridDim.y) {
      const int j = j0 + threadIdx.x;
      float x1 = 0, y1 = 0, z1 = 0, best = FLT_MAX;
      int best_i = 0;
      if (j < n) {
        x1 = xyz[(i * n + j) * 3 + 0];
        y1 = xyz[(i * n + j) * 3 + 1];
        z1 = xyz[(i * n + j) * 3 + 2];
      }
      for (int k2 = 0; k2 < m; k2 += batch) {
        const int end_k = min(m, k2 + batch) - k2;
        for (int t = threadIdx.x; t < end_k * 3; t += blockDim.x) buf[t] = 1.01f * xyz2[(i * m + k2) * 3 + t];
        __syncthreads();
        for (int k = 0; k < end_k; k++) {
          const float dx = buf[k * 3 + 0] - x1, dy = buf[k * 3 + 1] - y1, dz = buf[k * 3 + 2] - z1;
          const float d = dx * dx + dy * dy + dz * dz;
          if (d < best) { best = d; best_i = k + k2; }
        }
        __syncthreads();
      }
      if (j < n) {
        result[i * n + j] = best;
        result_i[i * n + j] = best_i;
      }
    }
  }
}

// NMS: overlap bits of 64 x 64 boxes.
constexpr int threadsPerBlock = sizeof(unsigned long long) * 8;
__device__ inline bool devIoU(float const *const a, float const *const b, const float threshold)
{
  float left = max(a[0], b[0]), right = min(a[2], b[2]);
  float top = max(a[1], b[1]), bottom = min(a[3], b[3]);
  float width = max(right - left, 0.f), height = max(bottom - top, 0.f);
  float interS = width * height;
  float Sa = (a[2] - a[0]) * (a[3] - a[1]);
  float Sb = (b[2] - b[0]) * (b[3] - b[1]);
  return interS > threshold * (Sa + Sb - interS);
}
__global__ void nms_kernel_impl(int n_boxes, double iou_threshold, const float *dev_boxes, unsigned long long *dev_mask)
{
  const int row_start = blockIdx.y;
  const int col_start = blockIdx.x;
  const int row_size = min(n_boxes - row_start * threadsPerBlock, threadsPerBlock);
  const int col_size = min(n_boxes - col_start * threadsPerBlock, threadsPerBlock);
  __shared__ float block_boxes[threadsPerBlock * 4];
  if (threadIdx.x < col_size) {
    const float *s = dev_boxes + (threadsPerBlock * col_start + threadIdx.x) * 4;
    block_boxes[threadIdx.x * 4 + 0] = s[0];
    block_boxes[threadIdx.x * 4 + 1] = s[1];
    block_boxes[threadIdx.x * 4 + 2] = s[0] + 1.f + s[2];
    block_boxes[threadIdx.x * 4 + 3] = s[1] + 1.f + s[3];
  }
  __syncthreads();
  if (threadIdx.x < row_size) {
    const int cur_box_idx = threadsPerBlock * row_start + threadIdx.x;
    const float *c = dev_boxes + cur_box_idx * 4;
    const float cur_box[4] = {c[0], c[1], c[0] + 1.f + c[2], c[1] + 1.f + c[3]};
    unsigned long long t = 0;
    int start = 0;
    if (row_start == col_start) start = threadIdx.x + 1;
    for (int i = start; i < col_size; i++)
      if (devIoU(cur_box, block_boxes + i * 4, iou_threshold)) t |= 1ULL << i;
    const int col_blocks = DIVUP(n_boxes, threadsPerBlock);
    dev_mask[(size_t)cur_box_idx * col_blocks + col_start] = t;
  }
}

// Group norm of NCHW, Welford-free: two passes over the group.
__global__ void group_norm_kernel(const float *X, const float *gamma, const float *beta, float *Y, int C, int HxW, int G, float eps)
{
  __shared__ float warp_sum[32];
  __shared__ float s_mean, s_rstd;
  const int g = blockIdx.x % G, Dg = C / G;
  const size_t base = (size_t)blockIdx.x * Dg * HxW;
  const int len = Dg * HxW, lane = threadIdx.x & 31, wid = threadIdx.x >> 5, nw = blockDim.x >> 5;
  for (int pass = 0; pass < 2; ++pass) {
    const float shift = pass ? s_mean : 0.f;
    float a = 0.f;
    for (int i = threadIdx.x; i < len; i += blockDim.x) {
      const float v = X[base + i] - shift;
      a += pass ? v * v : v;
    }
#pragma unroll
    for (int o = 16; o > 0; o >>= 1) a += __shfl_down_sync(0xffffffff, a, o);
    if (lane == 0) warp_sum[wid] = a;
    __syncthreads();
    if (wid == 0) {
      a = lane < nw ? warp_sum[lane] : 0.f;
#pragma unroll
      for (int o = 16; o > 0; o >>= 1) a += __shfl_down_sync(0xffffffff, a, o);
      if (lane == 0) {
        if (pass == 0) s_mean = a / len;
        else s_rstd = rsqrtf(a / len + eps);
      }
    }
    __syncthreads();
  }
  for (int i = threadIdx.x; i < len; i += blockDim.x) {
    const int c = g * Dg + i / HxW;
    Y[base + i] = (X[base + i] - s_mean) * s_rstd * gamma[c] + beta[c];
  }
}

// Int8 quantisation with a scale for each group of 128 values.
__global__ void quantize_group_int8(const __half *in, int8_t *q, float *scales, int n_groups)
{
  __shared__ float smax[2][128];
  const int grp = blockIdx.x * 2 + threadIdx.y;
  const size_t idx = (size_t)grp * 128 + threadIdx.x;
  const float v = grp < n_groups ? __half2float(in[idx]) * (1 + grp % 5) : 0.f;
  float *mine = smax[threadIdx.y];
  mine[threadIdx.x] = fabsf(v);
  __syncthreads();
  for (int s = 64; s > 0; s >>= 1) {
    if (threadIdx.x < s) mine[threadIdx.x] = fmaxf(mine[threadIdx.x], mine[threadIdx.x + s]);
    __syncthreads();
  }
  if (grp >= n_groups) return;
  const float scale = fmaxf(mine[0], 1e-6f) / 127.f;
  q[idx] = (int8_t)min(127, max(-127, __float2int_rn(v / scale)));
  if (threadIdx.x == 0) scales[grp] = scale;
}

// NCHW -> NHWC for halves, a slice of the batch per blockIdx.z
template <typename T, int TILE_DIM = 32, int BLOCK_ROWS = 8>
__global__ void nchw2nhwc(const T *in, T *out, int C, int HW)
{
  __shared__ T tile[TILE_DIM][TILE_DIM + 1];
  in += (size_t)blockIdx.z * C * HW;
  out += (size_t)blockIdx.z * C * HW;
  int p = blockIdx.x * TILE_DIM + threadIdx.x, c = blockIdx.y * TILE_DIM + threadIdx.y;
  for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
    if (p < HW && c + j < C) tile[threadIdx.y + j][threadIdx.x] = in[(size_t)(c + j) * HW + p];
  __syncthreads();
  c = blockIdx.y * TILE_DIM + threadIdx.x;
  p = blockIdx.x * TILE_DIM + threadIdx.y;
  for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
    if (c < C && p + j < HW) out[(size_t)(p + j) * C + c] = tile[threadIdx.x][threadIdx.y + j];
}

// Ising, one checkerboard half-sweep on a torus.
__global__ void ising_update(const signed char *spin, signed char *spin_new, int Lx, int Ly, float beta, int colour, unsigned seed)
{
  __shared__ signed char s[16 + 2][32 + 2];
  const int x0 = blockIdx.x * 32, y0 = blockIdx.y * 16;
  for (int t = threadIdx.y * 32 + threadIdx.x; t < 18 * 34; t += 512) {
    int gx = (x0 + t % 34 - 1 + Lx) % Lx, gy = (y0 + t / 34 - 1 + Ly) % Ly;
    s[t / 34][t % 34] = (spin[(size_t)gy * Lx + gx] & 1) ? 1 : -1;
  }
  __syncthreads();
  const int x = x0 + threadIdx.x, y = y0 + threadIdx.y;
  if (x >= Lx || y >= Ly) return;
  signed char me = s[threadIdx.y + 1][threadIdx.x + 1];
  if (((x ^ y) & 1) == colour) {
    int nb = s[threadIdx.y][threadIdx.x + 1] + s[threadIdx.y + 2][threadIdx.x + 1] + s[threadIdx.y + 1][threadIdx.x] + s[threadIdx.y + 1][threadIdx.x + 2];
    unsigned r = (y * Lx + x) * 2654435761u ^ seed;
    r ^= r >> 15; r *= 0x2c1b3c6du; r ^= r >> 12; r *= 0x297a2d39u; r ^= r >> 15;
    if ((r >> 8) * (1.f / 16777216.f) < __expf(-2.f * beta * me * nb)) me = -me;
  }
  spin_new[(size_t)y * Lx + x] = me;
}

// D2Q9 lattice Boltzmann: collide, then move along x through shared memory.
// A block holds a whole run of NT nodes of a row; rows are periodic per run.
template <int NT>
__global__ void lbm_d2q9_collide_stream(const float *f0, float *f1, int nx, int ny, float omega)
{
  __shared__ float F_E[NT], F_W[NT], F_NE[NT], F_NW[NT], F_SE[NT], F_SW[NT];
  const int tx = threadIdx.x, x = blockIdx.x * NT + tx, y = blockIdx.y;
  const size_t k = (size_t)y * nx + x, pl = (size_t)nx * ny;
  const int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
  float f[9], rho = 0, ux = 0, uy = 0;
#pragma unroll
  for (int q = 0; q < 9; q++) {
    f[q] = 1.f + 0.01f * f0[q * pl + k];
    rho += f[q];
    ux += cx[q] * f[q];
    uy += cy[q] * f[q];
  }
  ux /= rho;
  uy /= rho;
#pragma unroll
  for (int q = 0; q < 9; q++) {
    const float w = q == 0 ? 4.f / 9 : (q < 5 ? 1.f / 9 : 1.f / 36), cu = cx[q] * ux + cy[q] * uy;
    f[q] += omega * (w * rho * (1 + 3 * cu + 4.5f * cu * cu - 1.5f * (ux * ux + uy * uy)) - f[q]);
  }
  const int e = tx == NT - 1 ? 0 : tx + 1, w = tx == 0 ? NT - 1 : tx - 1;
  F_E[e] = f[1]; F_NE[e] = f[5]; F_SE[e] = f[8];
  F_W[w] = f[3]; F_NW[w] = f[6]; F_SW[w] = f[7];
  __syncthreads();
  const size_t kn = (size_t)((y + 1) % ny) * nx + x, ks = (size_t)((y + ny - 1) % ny) * nx + x;
  f1[k] = f[0];
  f1[pl + k] = F_E[tx];
  f1[2 * pl + kn] = f[2];
  f1[3 * pl + k] = F_W[tx];
  f1[4 * pl + ks] = f[4];
  f1[5 * pl + kn] = F_NE[tx];
  f1[6 * pl + kn] = F_NW[tx];
  f1[7 * pl + ks] = F_SW[tx];
  f1[8 * pl + ks] = F_SE[tx];
}

// XY model in 3-D: local field of the six neighbours, over-relaxation, 8x8x4 bricks.
__global__ void xy3d_overrelax(const double2 *phi, double2 *out, int L)
{
  __shared__ double2 s[6][10][10];
  const int bx = blockIdx.x * 8, by = blockIdx.y * 8, bz = blockIdx.z * 4;
  const int lin = threadIdx.x + 8 * (threadIdx.y + 8 * threadIdx.z);
  for (int c = lin; c < 600; c += 256) {
    const int lx = c % 10, ly = c / 10 % 10, lz = c / 100;
    const int gx = (bx + lx + L - 1) % L, gy = (by + ly + L - 1) % L, gz = (bz + lz + L - 1) % L;
    s[lz][ly][lx] = phi[((size_t)gz * L + gy) * L + gx];
  }
  __syncthreads();
  const int lx = threadIdx.x + 1, ly = threadIdx.y + 1, lz = threadIdx.z + 1;
  const double2 nb[6] = {s[lz][ly][lx - 1], s[lz][ly][lx + 1], s[lz][ly - 1][lx], s[lz][ly + 1][lx], s[lz - 1][ly][lx], s[lz + 1][ly][lx]};
  double hx = 1e-9, hy = 0;
  for (int i = 0; i < 6; i++) { hx += nb[i].x - 6.25; hy += nb[i].y - 6.25; }
  const double2 me = s[lz][ly][lx];
  const double fac = 2.0 * (me.x * hx + me.y * hy) / (hx * hx + hy * hy);
  out[((size_t)(bz + threadIdx.z) * L + by + threadIdx.y) * L + bx + threadIdx.x] = make_double2(fac * hx - me.x, fac * hy - me.y);
}

int main()
{
  {
    const int N = 1000, BH = 48, D = 32, Br = 64, Bc = 32;
    size_t n = (size_t)N * BH * D;
    float *q = mk<float>(n), *k = mk<float>(n), *v = mk<float>(n), *o = mk<float>(n), *l = mk<float>(N * BH);
    flash_attn_fwd<D, Br, Bc><<<dim3(DIVUP(N, Br), BH), Br, (2 * Bc * D + Bc * Br) * sizeof(float)>>>(q, k, v, o, l, N, 0.17f);
    show("flash_o", o, n * 4);
    show("flash_l", l, 4ull * N * BH);
  }
  {
    int B = 8, T = 512, H = 32, C = H * _N_;
    size_t n = (size_t)B * T * C;
    float *r = mk<float>(n), *k = mk<float>(n), *v = mk<float>(n), *w = mk<float>(C), *u = mk<float>(C), *y = mk<float>(n);
    kernel_forward_wkv5<float><<<B * H, _N_>>>(T, C, H, r, k, v, w, u, y);
    show("wkv5", y, n * 4);
    causal_conv1d_fwd_kernel<128, 4, 4><<<dim3(8, 2000), 128>>>(r, v, u, y, 2000, 520);
    show("causal_conv1d", y, 4ull * 8 * 2000 * 520);
  }
  {
    int b = 32, n = 8192, m = 256;
    float *x = mk<float>((size_t)b * n * 3), *z = mk<float>((size_t)b * n * 3), *t = mk<float>(b * n);
    int *id = mk<int>(b * n);
    furthest_point_sampling_kernel<512><<<b, 512>>>(n, m, x, t, id);
    show("fps_idx", id, 4ull * b * m);
    show("fps_temp", t, 4ull * b * n);
    NmDistanceKernel<<<dim3(32, 16), 512>>>(b, n, x, 4001, z, t, id);
    show("chamfer_d", t, 4ull * b * n);
    show("chamfer_i", id, 4ull * b * n);
    int nb = 12000, cb = DIVUP(nb, threadsPerBlock);
    unsigned long long *mask = mk<unsigned long long>((size_t)nb * cb);
    nms_kernel_impl<<<dim3(cb, cb), threadsPerBlock>>>(nb, 0.3, x, mask);
    show("nms_mask", mask, 8ull * nb * cb);
  }
  {
    int N = 16, C = 320, HW = 48 * 50, G = 32;
    size_t n = (size_t)N * C * HW;
    float *x = mk<float>(n), *ga = mk<float>(C), *be = mk<float>(C), *y = mk<float>(n);
    group_norm_kernel<<<N * G, THREADS_PER_BLOCK>>>(x, ga, be, y, C, HW, G, 1e-5f);
    show("group_norm", y, n * 4);
    __half *h, *t;
    cudaMalloc(&h, n * 2);
    cudaMalloc(&t, n * 2);
    f2h<<<DIVUP(n, 256), 256>>>(x, h, n);
    nchw2nhwc<__half><<<dim3(DIVUP(HW, 32), DIVUP(C, 32), N), dim3(32, 8)>>>(h, t, C, HW);
    show("nchw2nhwc", t, n * 2);
    int groups = (int)(n / 128) - 1;
    signed char *q = mk<signed char>(n);
    float *sc = mk<float>(groups);
    quantize_group_int8<<<DIVUP(groups, 2), dim3(128, 2)>>>(h, (int8_t *)q, sc, groups);
    show("quant_q", q, (size_t)groups * 128);
    show("quant_scale", sc, 4ull * groups);
  }
  {
    int lx = 4000, ly = 3002;
    signed char *s = mk<signed char>((size_t)lx * ly), *t = mk<signed char>((size_t)lx * ly);
    ising_update<<<dim3(DIVUP(lx, 32), DIVUP(ly, 16)), dim3(32, 16)>>>(s, t, lx, ly, 0.44f, 1, 12345u);
    show("ising", t, (size_t)lx * ly);
    int nx = 2304, ny = 1501;
    size_t pl = (size_t)nx * ny;
    float *a = mk<float>(9 * pl), *b = mk<float>(9 * pl);
    lbm_d2q9_collide_stream<192><<<dim3(nx / 192, ny), 192>>>(a, b, nx, ny, 1.7f);
    show("lbm_d2q9", b, 36 * pl);
    int L = 208;
    size_t V = (size_t)L * L * L;
    double *p = mk<double>(2 * V), *o = mk<double>(2 * V);
    xy3d_overrelax<<<dim3(L / 8, L / 8, L / 4), dim3(8, 8, 4)>>>((double2 *)p, (double2 *)o, L);
    show("xy3d", o, 16 * V);
  }
  return 0;
}
