// Layers of small networks, forward only
#include "shown.h"
#include <cuda_fp16.h>
#include <cfloat>
#include <vector>

static half *mk_half(size_t n)
{
    std::vector<half> h(n);
    for (size_t i = 0; i < n; ++i) h[i] = __float2half((float)((i * 2654435761u) % 67) / 16.f - 2.f);
    half *d;
    cudaMalloc(&d, n * sizeof(half));
    cudaMemcpy(d, h.data(), n * sizeof(half), cudaMemcpyHostToDevice);
    return d;
}
static signed char *mk_s8(size_t n, unsigned mul)
{
    std::vector<signed char> h(n);
    for (size_t i = 0; i < n; ++i) h[i] = (signed char)((int)((i * mul) % 255) - 127);
    signed char *d;
    cudaMalloc(&d, n);
    cudaMemcpy(d, h.data(), n, cudaMemcpyHostToDevice);
    return d;
}

// ---------------------------------------------------------------------------
// softmax over rows, row kept in shared memory
__global__ void softmax_rows_cached(const float* __restrict__ inp, float* __restrict__ out, int C) {
    extern __shared__ float smem[];
    float* row = smem;              // C
    float* red = smem + C;          // blockDim.x
    const float* x = inp + (size_t)blockIdx.x * C;
    float* y = out + (size_t)blockIdx.x * C;
    int tid = threadIdx.x;

    float maxval = -FLT_MAX;
    for (int i = tid; i < C; i += blockDim.x) {
        float v = x[i];
        row[i] = v;
        maxval = fmaxf(maxval, v);
    }
    red[tid] = maxval;
    for (int stride = blockDim.x / 2; stride >= 1; stride /= 2) {
        __syncthreads();
        if (tid < stride) red[tid] = fmaxf(red[tid], red[tid + stride]);
    }
    __syncthreads();
    float offset = red[0];
    __syncthreads();
    float sumval = 0.0f;
    for (int i = tid; i < C; i += blockDim.x) {
        float e = expf(row[i] - offset);
        row[i] = e;
        sumval += e;
    }
    red[tid] = sumval;
    for (int stride = blockDim.x / 2; stride >= 1; stride /= 2) {
        __syncthreads();
        if (tid < stride) red[tid] += red[tid + stride];
    }
    __syncthreads();
    float norm = 1.0f / red[0];
    for (int i = tid; i < C; i += blockDim.x) y[i] = row[i] * norm;
}

// ---------------------------------------------------------------------------
// layernorm, half2, hidden size fixed at compile time
template <int HIDDEN, int THREADS>
__global__ void layernorm_half2(const half2 *x, half2 *y, const half2 *gamma, const half2 *beta, float eps)
{
    constexpr int H2 = HIDDEN / 2;
    __shared__ half2 cache[H2];
    __shared__ float warpSum[THREADS / 32];
    __shared__ float s_mean, s_rstd;
    const half2 *xr = x + (size_t)blockIdx.x * H2;
    float sum = 0.f;
    for (int i = threadIdx.x; i < H2; i += THREADS) {
        half2 v = xr[i];
        cache[i] = v;
        float2 f = __half22float2(v);
        sum += f.x + f.y;
    }
    for (int o = 16; o; o >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, o);
    if ((threadIdx.x & 31) == 0) warpSum[threadIdx.x >> 5] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        float t = 0.f;
        for (int w = 0; w < THREADS / 32; ++w) t += warpSum[w];
        s_mean = t / HIDDEN;
    }
    __syncthreads();
    const float mean = s_mean;
    float var = 0.f;
    for (int i = threadIdx.x; i < H2; i += THREADS) {
        float2 f = __half22float2(cache[i]);
        var += (f.x - mean) * (f.x - mean) + (f.y - mean) * (f.y - mean);
    }
    for (int o = 16; o; o >>= 1) var += __shfl_xor_sync(0xffffffffu, var, o);
    if ((threadIdx.x & 31) == 0) warpSum[threadIdx.x >> 5] = var;
    __syncthreads();
    if (threadIdx.x == 0) {
        float t = 0.f;
        for (int w = 0; w < THREADS / 32; ++w) t += warpSum[w];
        s_rstd = rsqrtf(t / HIDDEN + eps);
    }
    __syncthreads();
    const float rstd = s_rstd;
    for (int i = threadIdx.x; i < H2; i += THREADS) {
        float2 f = __half22float2(cache[i]), g = __half22float2(gamma[i]), b = __half22float2(beta[i]);
        y[(size_t)blockIdx.x * H2 + i] = __floats2half2_rn((f.x - mean) * rstd * g.x + b.x, (f.y - mean) * rstd * g.y + b.y);
    }
}

// ---------------------------------------------------------------------------
// depthwise convolution, NCHW
template <typename T, int K, int STRIDE, int OT_W, int OT_H>
__global__ void depthwise_conv2d_nchw(const T *input, const T *weight, const T *bias, T *output,
                                      int C, int H, int W, int OH, int OW)
{
    constexpr int IT_W = (OT_W - 1) * STRIDE + K;
    constexpr int IT_H = (OT_H - 1) * STRIDE + K;
    constexpr int PAD = K / 2;
    __shared__ T s_in[IT_H][IT_W];
    __shared__ T s_w[K * K];

    const int nc = blockIdx.z;
    const int c = nc % C;
    const T *in = input + (size_t)nc * H * W;
    const int ow0 = blockIdx.x * OT_W, oh0 = blockIdx.y * OT_H;
    const int tid = threadIdx.y * OT_W + threadIdx.x;

    if (tid < K * K) s_w[tid] = weight[c * K * K + tid];
    for (int i = tid; i < IT_H * IT_W; i += OT_W * OT_H) {
        const int r = i / IT_W, q = i % IT_W;
        const int ih = oh0 * STRIDE + r - PAD;
        const int iw = ow0 * STRIDE + q - PAD;
        s_in[r][q] = (ih >= 0 && ih < H && iw >= 0 && iw < W) ? in[ih * W + iw] : T(0);
    }
    __syncthreads();

    const int ow = ow0 + threadIdx.x, oh = oh0 + threadIdx.y;
    if (ow >= OW || oh >= OH) return;
    T sum = bias ? bias[c] : T(0);
#pragma unroll
    for (int kh = 0; kh < K; ++kh)
#pragma unroll
        for (int kw = 0; kw < K; ++kw)
            sum += s_in[threadIdx.y * STRIDE + kh][threadIdx.x * STRIDE + kw] * s_w[kh * K + kw];
    output[((size_t)nc * OH + oh) * OW + ow] = sum > T(0) ? sum : T(0);
}

// ---------------------------------------------------------------------------
// direct convolution, the "tiled" version from a parallel programming course
#define TILE_WIDTH 16
__global__ void forward_kernel(float *y, const float *x, const float *k, const int B, const int M, const int C, const int H, const int W, const int K)
{
#define y4d(i3, i2, i1, i0) y[(i3) * (M * H_out * W_out) + (i2) * (H_out * W_out) + (i1) * (W_out) + i0]
#define x4d(i3, i2, i1, i0) x[(i3) * (C * H * W) + (i2) * (H * W) + (i1) * (W) + i0]
#define k4d(i3, i2, i1, i0) k[(i3) * (C * K * K) + (i2) * (K * K) + (i1) * (K) + i0]
    const int H_out = H - K + 1;
    const int W_out = W - K + 1;
    const int W_grid = (W_out + TILE_WIDTH - 1) / TILE_WIDTH;
    const int X_tile_width = TILE_WIDTH + K - 1;
    extern __shared__ float shmem[];
    float *X_shared = &shmem[0];
    float *K_shared = &shmem[X_tile_width * X_tile_width];

    const int n = blockIdx.x;
    const int m = blockIdx.y;
    const int h0 = threadIdx.y;
    const int w0 = threadIdx.x;
    const int h_base = (blockIdx.z / W_grid) * TILE_WIDTH;
    const int w_base = (blockIdx.z % W_grid) * TILE_WIDTH;
    const int h = h_base + h0;
    const int w = w_base + w0;
    float acc = 0.;
    for (int c = 0; c < C; c++) {
        if (h0 < K && w0 < K)
            K_shared[h0 * K + w0] = k4d(m, c, h0, w0);
        for (int i = h; i < h_base + X_tile_width; i += TILE_WIDTH)
            for (int j = w; j < w_base + X_tile_width; j += TILE_WIDTH)
                if (i < H && j < W)
                    X_shared[(i - h_base) * X_tile_width + (j - w_base)] = x4d(n, c, i, j);
                else
                    X_shared[(i - h_base) * X_tile_width + (j - w_base)] = 0;
        __syncthreads();
        for (int p = 0; p < K; p++)
            for (int q = 0; q < K; q++)
                acc += X_shared[(h0 + p) * X_tile_width + (w0 + q)] * K_shared[p * K + q];
        __syncthreads();
    }
    if (h < H_out && w < W_out)
        y4d(n, m, h, w) = acc;
#undef y4d
#undef x4d
#undef k4d
}

// ---------------------------------------------------------------------------
// max pooling 3x3 / 2 with arg index
__global__ void maxpool3s2_with_index(const float *x, float *y, unsigned char *idx, int H, int W, int PH, int PW)
{
    __shared__ float t[17][65];
    const float *xp = x + (size_t)blockIdx.z * H * W;
    int h0 = blockIdx.y * 16, w0 = blockIdx.x * 64;     // input origin, no padding
    for (int r = threadIdx.y; r < 17; r += 8) {
        int hh = h0 + r;
        for (int c = threadIdx.x; c < 65; c += 32) {
            int ww = w0 + c;
            t[r][c] = (hh < H && ww < W) ? xp[hh * W + ww] : -FLT_MAX;
        }
    }
    __syncthreads();
    int ph = blockIdx.y * 8 + threadIdx.y, pw = blockIdx.x * 32 + threadIdx.x;
    if (ph < PH && pw < PW) {
        float best = -FLT_MAX;
        int which = 0;
        for (int k = 0; k < 9; k++) {
            float v = t[2 * threadIdx.y + k / 3][2 * threadIdx.x + k % 3];
            if (v > best) { best = v; which = k; }
        }
        size_t o = ((size_t)blockIdx.z * PH + ph) * PW + pw;
        y[o] = best;
        idx[o] = (unsigned char)which;
    }
}

// ---------------------------------------------------------------------------
// attention with an online softmax; one thread owns one query
#define HD 32
#define KT 24
__global__ void attention_forward_online(const float *Q, const float *K, const float *V, float *O, int T, float scale)
{
    __shared__ float sK[KT][HD];
    __shared__ float sV[KT][HD];
    const size_t bh = (size_t)blockIdx.y * T * HD;
    const int qi = blockIdx.x * blockDim.x + threadIdx.x;
    const bool live = qi < T;
    float q[HD], acc[HD];
    for (int d = 0; d < HD; ++d) {
        q[d] = live ? Q[bh + (size_t)qi * HD + d] * scale : 0.f;
        acc[d] = 0.f;
    }
    float m = -INFINITY, l = 0.f;
    const int lastQuery = min((int)(blockIdx.x * blockDim.x + blockDim.x), T) - 1;
    for (int k0 = 0; k0 <= lastQuery; k0 += KT) {          // causal: stop at the last query of this block
        for (int e = threadIdx.x; e < KT * HD; e += blockDim.x) {
            int row = k0 + e / HD;
            float kv = 0.f, vv = 0.f;
            if (row < T) {
                kv = K[bh + (size_t)row * HD + e % HD];
                vv = V[bh + (size_t)row * HD + e % HD];
            }
            sK[e / HD][e % HD] = kv;
            sV[e / HD][e % HD] = vv;
        }
        __syncthreads();
        for (int j = 0; j < KT; ++j) {
            if (!live || k0 + j > qi) break;
            float s = 0.f;
            for (int d = 0; d < HD; ++d) s += q[d] * sK[j][d];
            float mn = fmaxf(m, s);
            float corr = __expf(m - mn), p = __expf(s - mn);
            l = l * corr + p;
            for (int d = 0; d < HD; ++d) acc[d] = acc[d] * corr + p * sV[j][d];
            m = mn;
        }
        __syncthreads();
    }
    if (live)
        for (int d = 0; d < HD; ++d) O[bh + (size_t)qi * HD + d] = acc[d] / l;
}

// ---------------------------------------------------------------------------
// GRU over a short sequence; one block = one sample
#define GH 64
__device__ __forceinline__ float sigmoidf_(float v) { return 1.f / (1.f + __expf(-v)); }

__global__ __launch_bounds__(GH) void gru_sequence(const float *xproj, const float *U, float *hout, int steps)
{
    __shared__ float h[GH];
    __shared__ float rh[GH];
    const int j = threadIdx.x;
    const float *Uz = U, *Ur = U + GH * GH, *Un = U + 2 * GH * GH;
    h[j] = 0.f;
    __syncthreads();
    for (int t = 0; t < steps; t++) {
        const float *xp = xproj + ((size_t)blockIdx.x * steps + t) * 3 * GH;
        float az = xp[j] - 4.f, ar = xp[GH + j] - 5.f, an = xp[2 * GH + j] * 0.1f;
        for (int i = 0; i < GH; i++) {
            az += Uz[i * GH + j] * 0.01f * h[i];
            ar += Ur[i * GH + j] * 0.01f * h[i];
        }
        float z = sigmoidf_(az), r = sigmoidf_(ar);
        rh[j] = r * h[j];
        __syncthreads();
        for (int i = 0; i < GH; i++) an += Un[i * GH + j] * 0.01f * rh[i];
        float n = tanhf(an);
        h[j] = (1.f - z) * n + z * h[j];
        __syncthreads();
    }
    hout[(size_t)blockIdx.x * GH + j] = h[j];
}

// ---------------------------------------------------------------------------
// int8 fully connected layer, requantised output
#define QM 32
#define QN 32
#define QK 64
__global__ void linear_s8_requant(const signed char *act, const signed char *wgt, const int *bias, signed char *out,
                                  int M, int N, int K, int shift)
{
    __shared__ char4 sa[QM][QK / 4];
    __shared__ char4 sb[QN][QK / 4 + 1];
    const int tx = threadIdx.x, ty = threadIdx.y;           // 16 x 16, 2x2 each
    int acc[2][2] = {{0, 0}, {0, 0}};
    for (int k0 = 0; k0 < K; k0 += QK) {
        for (int r = ty; r < QM; r += 16) {
            const int gm = blockIdx.y * QM + r, gn = blockIdx.x * QN + r, gk = k0 + 4 * tx;
            sa[r][tx] = (gm < M && gk < K) ? *(const char4 *)(act + (size_t)gm * K + gk) : make_char4(0, 0, 0, 0);
            sb[r][tx] = (gn < N && gk < K) ? *(const char4 *)(wgt + (size_t)gn * K + gk) : make_char4(0, 0, 0, 0);
        }
        __syncthreads();
        for (int k = 0; k < QK / 4; ++k)
            for (int i = 0; i < 2; ++i) {
                const char4 a = sa[ty + 16 * i][k];
                for (int j = 0; j < 2; ++j) {
                    const char4 b = sb[tx + 16 * j][k];
                    acc[i][j] += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
                }
            }
        __syncthreads();
    }
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) {
            int m = blockIdx.y * QM + ty + 16 * i, n = blockIdx.x * QN + tx + 16 * j;
            if (m >= M || n >= N) continue;
            int v = (acc[i][j] + bias[n] + (1 << (shift - 1))) >> shift;
            out[(size_t)m * N + n] = (signed char)max(-128, min(127, v));
        }
}

int main()
{
    float *x = mk<float>(1 << 24), *y = mk<float>(1 << 24);
    {
        int rows = 8000, C = 1555;
        softmax_rows_cached<<<rows, 256, (C + 256) * sizeof(float)>>>(x, y, C);
        show("softmax_rows_cached", y, (size_t)rows * C * 4);
    }
    {
        half *hx = mk_half(16384 * 768), *hy = mk_half(16384 * 768), *g = mk_half(768), *b = mk_half(768);
        layernorm_half2<768, 128><<<16384, 128>>>((half2 *)hx, (half2 *)hy, (half2 *)g, (half2 *)b, 1e-5f);
        show("layernorm_half2", hy, (size_t)16384 * 768 * 2);
    }
    {
        int N = 8, C = 32, H = 225, W = 225, OH = 113, OW = 113;
        float *wt = mk<float>(C * 25), *bs = mk<float>(C);
        dim3 grid((OW + 31) / 32, (OH + 7) / 8, N * C);
        depthwise_conv2d_nchw<float, 5, 2, 32, 8><<<grid, dim3(32, 8)>>>(x, wt, bs, y, C, H, W, OH, OW);
        show("depthwise_conv2d_nchw", y, (size_t)N * C * OH * OW * 4);
    }
    {
        int B = 60, M = 12, C = 6, H = 86, W = 86, K = 7;
        int Ho = H - K + 1, Wo = W - K + 1;
        float *kw = mk<float>(M * C * K * K);
        int Z = ((Ho + TILE_WIDTH - 1) / TILE_WIDTH) * ((Wo + TILE_WIDTH - 1) / TILE_WIDTH);
        size_t sh = ((TILE_WIDTH + K - 1) * (TILE_WIDTH + K - 1) + K * K) * sizeof(float);
        forward_kernel<<<dim3(B, M, Z), dim3(TILE_WIDTH, TILE_WIDTH, 1), sh>>>(y, x, kw, B, M, C, H, W, K);
        show("forward_kernel", y, (size_t)B * M * Ho * Wo * 4);
    }
    {
        int NC = 256, H = 223, W = 223, PH = 111, PW = 111;
        unsigned char *ix = mk<unsigned char>((size_t)NC * PH * PW);
        maxpool3s2_with_index<<<dim3((PW + 31) / 32, (PH + 7) / 8, NC), dim3(32, 8)>>>(x, y, ix, H, W, PH, PW);
        show("maxpool3s2_with_index y", y, (size_t)NC * PH * PW * 4);
        show("maxpool3s2_with_index i", ix, (size_t)NC * PH * PW);
    }
    {
        int T = 1000, BH = 96;
        float *q = x, *k = mk<float>((size_t)BH * T * HD), *v = mk<float>((size_t)BH * T * HD);
        attention_forward_online<<<dim3((T + 95) / 96, BH), 96>>>(q, k, v, y, T, 0.0177f);
        show("attention_forward_online", y, (size_t)BH * T * HD * 4);
    }
    {
        int batch = 4000, steps = 20;
        float *U = mk<float>(3 * GH * GH), *ho = mk<float>(batch * GH);
        gru_sequence<<<batch, GH>>>(x, U, ho, steps);
        show("gru_sequence", ho, (size_t)batch * GH * 4);
    }
    {
        int M = 2001, N = 1030, K = 1204;
        signed char *a = mk_s8((size_t)M * K, 7919u), *w = mk_s8((size_t)N * K, 104729u), *o = mk_s8((size_t)M * N, 3u);
        int *bs = mk<int>(N);
        linear_s8_requant<<<dim3((N + QN - 1) / QN, (M + QM - 1) / QM), dim3(16, 16)>>>(a, w, bs, o, M, N, K, 13);
        show("linear_s8_requant", o, (size_t)M * N);
    }
    return 0;
}
