// operators of a small tensor library
#include "shown.h"
#include <cuda_fp16.h>
#include <cfloat>

namespace mini {

template <typename T>
__device__ __forceinline__ T warp_sum(T v)
{
#pragma unroll
    for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffffu, v, o);
    return v;
}

template <typename T, int BLOCK>
__device__ T block_sum(T v, T *scratch)
{
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    v = warp_sum(v);
    __syncthreads();
    if (lane == 0) scratch[warp] = v;
    __syncthreads();
    T r = T(0);
    for (int i = 0; i < BLOCK / 32; ++i) r += scratch[i];
    return r;
}

// ---- LayerNorm, one row per block, the row is kept in shared memory
template <typename T, int BLOCK>
__global__ void layer_norm_forward(const T *__restrict__ x, const T *__restrict__ gamma, const T *__restrict__ beta,
                                   T *__restrict__ y, int hidden, T eps)
{
    extern __shared__ __align__(16) unsigned char smem_raw[];
    T *row = reinterpret_cast<T *>(smem_raw);
    __shared__ T scratch[BLOCK / 32];

    const T *src = x + static_cast<size_t>(blockIdx.x) * hidden;
    T *dst = y + static_cast<size_t>(blockIdx.x) * hidden;

    T partial = T(0);
    for (int i = threadIdx.x; i < hidden; i += BLOCK) {
        T v = src[i];
        row[i] = v;
        partial += v;
    }
    const T mean = block_sum<T, BLOCK>(partial, scratch) / T(hidden);

    partial = T(0);
    for (int i = threadIdx.x; i < hidden; i += BLOCK) {
        T d = row[i] - mean;
        partial += d * d;
    }
    const T var = block_sum<T, BLOCK>(partial, scratch) / T(hidden);
    const T rstd = T(1) / sqrt(var + eps);
    for (int i = threadIdx.x; i < hidden; i += BLOCK) dst[i] = (row[i] - mean) * rstd * gamma[i] + beta[i];
}

// ---- softmax + cross entropy, gradient wrt logits
__global__ void softmax_xent_backward_rows(const float *logits, const int *labels, float *dlogits, int rows, int classes, float scale)
{
    __shared__ float red[128];
    int tid = threadIdx.x;
    for (int r = blockIdx.x; r < rows; r += gridDim.x) {
        const float *in = logits + (size_t)r * classes;
        float m = -FLT_MAX;
        for (int c = tid; c < classes; c += blockDim.x) m = fmaxf(m, in[c]);
        red[tid] = m;
        __syncthreads();
        for (int s = blockDim.x / 2; s > 0; s >>= 1) {
            if (tid < s) red[tid] = fmaxf(red[tid], red[tid + s]);
            __syncthreads();
        }
        m = red[0];
        __syncthreads();
        float sum = 0.f;
        for (int c = tid; c < classes; c += blockDim.x) sum += expf(in[c] - m);
        red[tid] = sum;
        __syncthreads();
        for (int s = blockDim.x / 2; s > 0; s >>= 1) {
            if (tid < s) red[tid] += red[tid + s];
            __syncthreads();
        }
        float inv = 1.f / red[0];
        int lab = labels[r];
        for (int c = tid; c < classes; c += blockDim.x) {
            float p = expf(in[c] - m) * inv;
            dlogits[(size_t)r * classes + c] = (p - (c == lab ? 1.f : 0.f)) * scale;
        }
        __syncthreads();
    }
}

// ---- causal attention, one query per thread, K/V tiles in shared memory
template <int D, int QT, int KT>
__global__ void __launch_bounds__(QT) causal_attention_fwd(const float *Q, const float *K, const float *V, float *O, int seqlen, float scale)
{
    __shared__ float Ks[KT][D];
    __shared__ float Vs[KT][D];
    const size_t head = (size_t)blockIdx.y * seqlen * D;
    const int qi = blockIdx.x * QT + threadIdx.x;
    const bool live = qi < seqlen;
    float q[D], acc[D];
#pragma unroll
    for (int d = 0; d < D; ++d) {
        q[d] = live ? Q[head + (size_t)qi * D + d] * scale : 0.f;
        acc[d] = 0.f;
    }
    float m = -1e30f, l = 0.f;
    const int last = min(seqlen, (int)(blockIdx.x + 1) * QT);
    for (int k0 = 0; k0 < last; k0 += KT) {
        for (int t = threadIdx.x; t < KT * D; t += QT) {
            int kk = k0 + t / D;
            float kv = 0.f, vv = 0.f;
            if (kk < seqlen) {
                kv = K[head + (size_t)kk * D + t % D];
                vv = V[head + (size_t)kk * D + t % D];
            }
            Ks[t / D][t % D] = kv;
            Vs[t / D][t % D] = vv;
        }
        __syncthreads();
        for (int j = 0; j < KT; ++j) {
            if (k0 + j > qi || k0 + j >= seqlen) break;
            float s = 0.f;
#pragma unroll
            for (int d = 0; d < D; ++d) s += q[d] * Ks[j][d];
            float mn = fmaxf(m, s);
            float corr = __expf(m - mn), p = __expf(s - mn);
            l = l * corr + p;
#pragma unroll
            for (int d = 0; d < D; ++d) acc[d] = acc[d] * corr + p * Vs[j][d];
            m = mn;
        }
        __syncthreads();
    }
    if (live) {
        float inv = 1.f / l;
#pragma unroll
        for (int d = 0; d < D; ++d) O[head + (size_t)qi * D + d] = acc[d] * inv;
    }
}

// ---- fully connected + bias + gelu on half
constexpr int LT = 16;
__device__ inline float gelu_tanh(float v) { return 0.5f * v * (1.f + tanhf(0.79788456f * (v + 0.044715f * v * v * v))); }

__global__ void linear_bias_gelu_half(const __half *X, const __half *W, const float *bias, __half *Y, int M, int N, int K)
{
    __shared__ __half xs[LT][LT];
    __shared__ __half ws[LT][LT + 2];
    int row = blockIdx.y * LT + threadIdx.y, col = blockIdx.x * LT + threadIdx.x;
    float acc = 0.f;
    for (int k0 = 0; k0 < K; k0 += LT) {
        int kx = k0 + threadIdx.x;
        int wr = blockIdx.x * LT + threadIdx.y;          // W is N x K
        xs[threadIdx.y][threadIdx.x] = (row < M && kx < K) ? X[(size_t)row * K + kx] : __float2half(0.f);
        ws[threadIdx.y][threadIdx.x] = (wr < N && kx < K) ? W[(size_t)wr * K + kx] : __float2half(0.f);
        __syncthreads();
        for (int k = 0; k < LT; ++k) acc += __half2float(xs[threadIdx.y][k]) * __half2float(ws[threadIdx.x][k]);
        __syncthreads();
    }
    if (row < M && col < N) Y[(size_t)row * N + col] = __float2half(gelu_tanh(acc + bias[col]));
}

// ---- EmbeddingBag(mode='mean')
__global__ void embedding_bag_mean(const float *table, const int *indices, const int *offsets, float *out, int dim)
{
    __shared__ int ids[48];
    const int bag = blockIdx.x;
    const int beg = offsets[bag], end = offsets[bag + 1];
    float acc = 0.f;
    for (int base = beg; base < end; base += 48) {
        const int cnt = min(48, end - base);
        if ((int)threadIdx.x < cnt) ids[threadIdx.x] = indices[base + threadIdx.x];
        __syncthreads();
        for (int i = 0; i < cnt; ++i) acc += table[(size_t)ids[i] * dim + threadIdx.x];
        __syncthreads();
    }
    out[(size_t)bag * dim + threadIdx.x] = end > beg ? acc / (end - beg) : 0.f;
}

// ---- GroupNorm, channels last
struct Stats { float mean, m2; int n; };
__device__ Stats merge(Stats a, Stats b)
{
    if (b.n == 0) return a;
    if (a.n == 0) return b;
    Stats r;
    r.n = a.n + b.n;
    float d = b.mean - a.mean;
    r.mean = a.mean + d * b.n / r.n;
    r.m2 = a.m2 + b.m2 + d * d * (float)a.n * (float)b.n / r.n;
    return r;
}

__global__ void group_norm_nhwc_welford(const float *x, const float *g, const float *b, float *y, int HW, int C, int groups)
{
    __shared__ Stats st[256];
    const int per = C / groups;
    const int n = blockIdx.y, grp = blockIdx.x;
    const float *xp = x + (size_t)n * HW * C + grp * per;
    float *yp = y + (size_t)n * HW * C + grp * per;
    Stats s = {0.f, 0.f, 0};
    for (int i = threadIdx.x; i < HW * per; i += 256) {
        float v = xp[(size_t)(i / per) * C + i % per];
        s.n++;
        float d = v - s.mean;
        s.mean += d / s.n;
        s.m2 += d * (v - s.mean);
    }
    st[threadIdx.x] = s;
    __syncthreads();
    for (int h = 128; h >= 1; h /= 2) {
        if (threadIdx.x < h) st[threadIdx.x] = merge(st[threadIdx.x], st[threadIdx.x + h]);
        __syncthreads();
    }
    float mu = st[0].mean, rs = rsqrtf(st[0].m2 / st[0].n + 1e-5f);
    for (int i = threadIdx.x; i < HW * per; i += 256) {
        int c = i % per;
        size_t p = (size_t)(i / per) * C + c;
        yp[p] = (xp[p] - mu) * rs * g[grp * per + c] + b[grp * per + c];
    }
}

// ---- depthwise 5x5, NCHW, same padding
#define DW_T 16
#define DW_P 2
__global__ void depthwise_conv5x5_nchw(const float *__restrict__ in, const float *__restrict__ filt, float *__restrict__ out, int C, int H, int W, int tiles_x)
{
    __shared__ float tile[DW_T + 2 * DW_P][DW_T + 2 * DW_P + 1];
    __shared__ float f[25];
    const int c = blockIdx.y, n = blockIdx.z;
    const int tx0 = (blockIdx.x % tiles_x) * DW_T, ty0 = (blockIdx.x / tiles_x) * DW_T;
    const float *plane = in + ((size_t)n * C + c) * H * W;
    const int t = threadIdx.y * DW_T + threadIdx.x;
    if (t < 25) f[t] = filt[c * 25 + t];
    for (int yy = threadIdx.y; yy < DW_T + 2 * DW_P; yy += DW_T)
        for (int xx = threadIdx.x; xx < DW_T + 2 * DW_P; xx += DW_T) {
            int gy = ty0 + yy - DW_P, gx = tx0 + xx - DW_P;
            tile[yy][xx] = ((unsigned)gy < (unsigned)H && (unsigned)gx < (unsigned)W) ? plane[gy * W + gx] : 0.f;
        }
    __syncthreads();
    int oy = ty0 + threadIdx.y, ox = tx0 + threadIdx.x;
    if (oy < H && ox < W) {
        float s = 0.f;
#pragma unroll
        for (int i = 0; i < 5; ++i)
#pragma unroll
            for (int j = 0; j < 5; ++j) s = fmaf(tile[threadIdx.y + i][threadIdx.x + j], f[i * 5 + j], s);
        out[((size_t)n * C + c) * H * W + oy * W + ox] = s;
    }
}

// ---- GRU over a whole sequence, one sample per block, recurrent weights stay on chip
template <int H>
__global__ void gru_sequence_resident(const float *xproj, const float *Wh, float *hseq, int T)
{
    __shared__ float w[H][3 * H];       // [k][gate*H+j]
    __shared__ float h[H];
    __shared__ float gate[3 * H];
    const int j = threadIdx.x;          // 0..3H-1
    for (int k = 0; k < H; ++k) w[k][j] = (Wh[k * 3 * H + j] - 6.f) * 0.02f;
    if (j < H) h[j] = 0.f;
    const float *xp = xproj + (size_t)blockIdx.x * T * 3 * H;
    float *op = hseq + (size_t)blockIdx.x * T * H;
    for (int t = 0; t < T; ++t) {
        __syncthreads();
        float a = 0.f;
        for (int k = 0; k < H; ++k) a += h[k] * w[k][j];
        gate[j] = a;
        __syncthreads();
        if (j < H) {
            float r = 1.f / (1.f + expf(-(xp[t * 3 * H + j] - 6.f + gate[j])));
            float z = 1.f / (1.f + expf(-(xp[t * 3 * H + H + j] - 6.f + gate[H + j])));
            float n = tanhf(xp[t * 3 * H + 2 * H + j] - 6.f + r * gate[2 * H + j]);
            float hn = (1.f - z) * n + z * h[j];
            h[j] = hn;
            op[t * H + j] = hn;
        }
    }
}

} // namespace mini

static __half *half_array(size_t n)
{
    __half *h = (__half *)malloc(n * sizeof(__half)), *d;
    for (size_t i = 0; i < n; i++) h[i] = __float2half((float)((i * 37) % 89) / 64.f - 0.6f);
    cudaMalloc(&d, n * sizeof(__half));
    cudaMemcpy(d, h, n * sizeof(__half), cudaMemcpyHostToDevice);
    free(h);
    return d;
}

int main()
{
    using namespace mini;
    {
        const int rows = 9000, hidden = 1000;
        float *x = mk<float>((size_t)rows * hidden), *y = mk<float>((size_t)rows * hidden), *g = mk<float>(hidden), *b = mk<float>(hidden);
        layer_norm_forward<float, 256><<<rows, 256, hidden * sizeof(float)>>>(x, g, b, y, hidden, 1e-5f);
        show("layer_norm_forward", y, (size_t)rows * hidden * 4);
        cudaFree(x); cudaFree(y);
    }
    {
        const int rows = 20011, classes = 517;
        float *x = mk<float>((size_t)rows * classes), *d = mk<float>((size_t)rows * classes);
        int *lab = mk<int>(rows);
        softmax_xent_backward_rows<<<4096, 128>>>(x, lab, d, rows, classes, 1.f / rows);
        show("softmax_xent_backward_rows", d, (size_t)rows * classes * 4);
        cudaFree(x); cudaFree(d);
    }
    {
        const int heads = 60, seq = 1000, D = 32;
        size_t n = (size_t)heads * seq * D;
        float *q = mk<float>(n), *k = mk<float>(n + 3) + 3, *v = mk<float>(n + 11) + 11, *o = mk<float>(n);
        causal_attention_fwd<32, 64, 48><<<dim3((seq + 63) / 64, heads), 64>>>(q, k, v, o, seq, 0.01f);
        show("causal_attention_fwd", o, n * 4);
    }
    {
        const int M = 2050, N = 1530, K = 300;
        __half *X = half_array((size_t)M * K), *W = half_array((size_t)N * K), *Y = half_array((size_t)M * N);
        float *bias = mk<float>(N);
        linear_bias_gelu_half<<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16)>>>(X, W, bias, Y, M, N, K);
        show("linear_bias_gelu_half", Y, (size_t)M * N * 2);
    }
    {
        const int bags = 30000, vocab = 50000, dim = 96;
        int *off = (int *)malloc((bags + 1) * sizeof(int));
        off[0] = 0;
        for (int i = 0; i < bags; i++) off[i + 1] = off[i] + (i * 31) % 73;
        int total = off[bags];
        int *idx = (int *)malloc(total * sizeof(int));
        for (int i = 0; i < total; i++) idx[i] = (int)(((unsigned)i * 2654435761u) >> 8) % vocab;
        int *doff, *didx;
        cudaMalloc(&doff, (bags + 1) * sizeof(int));
        cudaMalloc(&didx, total * sizeof(int));
        cudaMemcpy(doff, off, (bags + 1) * sizeof(int), cudaMemcpyHostToDevice);
        cudaMemcpy(didx, idx, total * sizeof(int), cudaMemcpyHostToDevice);
        float *tab = mk<float>((size_t)vocab * dim), *out = mk<float>((size_t)bags * dim);
        embedding_bag_mean<<<bags, dim>>>(tab, didx, doff, out, dim);
        show("embedding_bag_mean", out, (size_t)bags * dim * 4);
    }
    {
        const int N = 32, HW = 28 * 28, C = 320, G = 32;
        size_t n = (size_t)N * HW * C;
        float *x = mk<float>(n), *y = mk<float>(n), *g = mk<float>(C), *b = mk<float>(C);
        group_norm_nhwc_welford<<<dim3(G, N), 256>>>(x, g, b, y, HW, C, G);
        show("group_norm_nhwc_welford", y, n * 4);
        cudaFree(x); cudaFree(y);
    }
    {
        const int N = 8, C = 144, H = 112, W = 107;
        size_t n = (size_t)N * C * H * W;
        float *x = mk<float>(n), *y = mk<float>(n), *f = mk<float>(C * 25);
        int tx = (W + 15) / 16, ty = (H + 15) / 16;
        depthwise_conv5x5_nchw<<<dim3(tx * ty, C, N), dim3(16, 16)>>>(x, f, y, C, H, W, tx);
        show("depthwise_conv5x5_nchw", y, n * 4);
        cudaFree(x); cudaFree(y);
    }
    {
        const int H = 48, B = 2000, T = 60;
        float *x = mk<float>((size_t)B * T * 3 * H), *w = mk<float>(3 * H * H), *h = mk<float>((size_t)B * T * H);
        gru_sequence_resident<H><<<B, 3 * H>>>(x, w, h, T);
        show("gru_sequence_resident", h, (size_t)B * T * H * 4);
    }
    return 0;
}
