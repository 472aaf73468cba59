// neural network layers
#include "shown.h"
#include <cuda_fp16.h>
#include <cooperative_groups.h>
#include <cfloat>
#include <cstdint>

#define WARP_SIZE 32

static __half *mk_half(size_t n, unsigned mul)
{
    __half *h = (__half *)malloc(n * sizeof(__half)), *d;
    for (size_t i = 0; i < n; ++i) h[i] = __float2half(((i * mul) % 127) / 32.0f - 2.0f);
    cudaMalloc(&d, n * sizeof(__half));
    cudaMemcpy(d, h, n * sizeof(__half), cudaMemcpyHostToDevice);
    free(h);
    return d;
}

// ---------------------------------------------------------------- softmax over rows
__global__ void softmax_forward_rows(float *out, const float *inp, int N, int C)
{
    extern __shared__ float shared[];
    int idx = blockIdx.x;
    int tid = threadIdx.x;
    int block_size = blockDim.x;
    const float *x = inp + (size_t)idx * C;
    // thread coarsening
    float maxval = -INFINITY;
    for (int i = tid; i < C; i += block_size) {
        maxval = fmaxf(maxval, x[i]);
    }
    shared[tid] = maxval;
    __syncthreads();
    for (int stride = block_size / 2; stride >= 1; stride /= 2) {
        if (tid < stride) {
            shared[tid] = fmaxf(shared[tid], shared[tid + stride]);
        }
        __syncthreads();
    }
    float offset = shared[0];
    __syncthreads();
    float sumval = 0.0f;
    for (int i = tid; i < C; i += block_size) {
        float e = expf(x[i] - offset);
        out[(size_t)idx * C + i] = e;
        sumval += e;
    }
    shared[tid] = sumval;
    __syncthreads();
    for (int stride = block_size / 2; stride >= 1; stride /= 2) {
        if (tid < stride) {
            shared[tid] += shared[tid + stride];
        }
        __syncthreads();
    }
    float sum = shared[0];
    for (int i = tid; i < C; i += block_size) {
        out[(size_t)idx * C + i] /= sum;
    }
}

// ---------------------------------------------------------------- layernorm, the row cached in shared memory, a warp a row
__global__ void layernorm_forward_cached(float *out, float *mean, float *rstd, const float *inp,
                                         const float *weight, const float *bias, int N, int C)
{
    namespace cg = cooperative_groups;
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    extern __shared__ float rows[];
    float *cache = rows + warp.meta_group_rank() * C;
    int idx = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
    if (idx >= N) return;
    const float *x = inp + (size_t)idx * C;
    float sum = 0.0f;
    for (int i = warp.thread_rank(); i < C; i += warp.size()) {
        float v = x[i];
        cache[i] = v;
        sum += v;
    }
    for (int o = 16; o > 0; o >>= 1) sum += warp.shfl_xor(sum, o);
    float m = sum / C;
    float sq = 0.0f;
    for (int i = warp.thread_rank(); i < C; i += warp.size()) {
        float d = cache[i] - m;
        sq += d * d;
    }
    for (int o = 16; o > 0; o >>= 1) sq += warp.shfl_xor(sq, o);
    float s = rsqrtf(sq / C + 1e-5f);
    if (warp.thread_rank() == 0) {
        mean[idx] = m;
        rstd[idx] = s;
    }
    for (int i = warp.thread_rank(); i < C; i += warp.size())
        out[(size_t)idx * C + i] = (cache[i] - m) * s * weight[i] + bias[i];
}

// ---------------------------------------------------------------- RMS norm of half rows
static __device__ __forceinline__ float warp_reduce_sum(float x)
{
#pragma unroll
    for (int mask = 16; mask > 0; mask >>= 1) x += __shfl_xor_sync(0xffffffff, x, mask, 32);
    return x;
}
template <int block_size>
static __global__ void rms_norm_f16(const half *x, half *dst, const int ncols, const float eps)
{
    const int row = blockIdx.x;
    const int tid = threadIdx.x;
    float tmp = 0.0f;
    for (int col = tid; col < ncols; col += block_size) {
        const float xi = __half2float(x[(size_t)row * ncols + col]);
        tmp += xi * xi;
    }
    tmp = warp_reduce_sum(tmp);
    if (block_size > WARP_SIZE) {
        __shared__ float s_sum[32];
        int warp_id = threadIdx.x / WARP_SIZE;
        int lane_id = threadIdx.x % WARP_SIZE;
        if (lane_id == 0) s_sum[warp_id] = tmp;
        __syncthreads();
        tmp = lane_id < block_size / WARP_SIZE ? s_sum[lane_id] : 0.0f;
        tmp = warp_reduce_sum(tmp);
    }
    const float mean = tmp / ncols;
    const float scale = rsqrtf(mean + eps);
    for (int col = tid; col < ncols; col += block_size)
        dst[(size_t)row * ncols + col] = __float2half(scale * __half2float(x[(size_t)row * ncols + col]));
}

// ---------------------------------------------------------------- attention scores, one head of one batch in a z slice
#define QT 16
template <int HEAD_DIM>
__global__ void attention_scores_causal(const float *q, const float *k, float *att, int T, float scale)
{
    __shared__ float qs[QT][HEAD_DIM];
    __shared__ float ks[QT][HEAD_DIM + 1];
    const float *qh = q + (size_t)blockIdx.z * T * HEAD_DIM;
    const float *kh = k + (size_t)blockIdx.z * T * HEAD_DIM;
    const int q0 = blockIdx.y * QT, k0 = blockIdx.x * QT;
    for (int d = threadIdx.x; d < HEAD_DIM; d += QT) {
        qs[threadIdx.y][d] = q0 + threadIdx.y < T ? qh[(q0 + threadIdx.y) * HEAD_DIM + d] : 0.f;
        ks[threadIdx.y][d] = k0 + threadIdx.y < T ? kh[(k0 + threadIdx.y) * HEAD_DIM + d] : 0.f;
    }
    __syncthreads();
    const int i = q0 + threadIdx.y, j = k0 + threadIdx.x;
    if (i < T && j < T) {
        float s = -10000.0f;
        if (j <= i) {
            s = 0.f;
            for (int d = 0; d < HEAD_DIM; ++d) s += qs[threadIdx.y][d] * ks[threadIdx.x][d];
            s *= scale;
        }
        att[((size_t)blockIdx.z * T + i) * T + j] = s;
    }
}

// ---------------------------------------------------------------- overlapping max pooling 3x3, stride 2, pad 1
#define PO 16
#define PI (2 * PO + 1)
__global__ void maxpool3x3s2_forward(const float *X, float *Y, int *arg, int H, int W, int OH, int OW)
{
    __shared__ float in_tile[PI][PI];
    const float *img = X + (size_t)blockIdx.z * H * W;
    int oy0 = blockIdx.y * PO, ox0 = blockIdx.x * PO;
    int tid = threadIdx.y * blockDim.x + threadIdx.x;
    for (int p = tid; p < PI * PI; p += PO * PO) {
        int r = p / PI, c = p - r * PI;
        int y = oy0 * 2 - 1 + r, x = ox0 * 2 - 1 + c;
        in_tile[r][c] = (y < 0 || x < 0 || y >= H || x >= W) ? -FLT_MAX : img[y * W + x];
    }
    __syncthreads();
    int oy = oy0 + threadIdx.y, ox = ox0 + threadIdx.x;
    if (oy >= OH || ox >= OW) return;
    float best = -FLT_MAX;
    int besti = 0;
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c) {
            float v = in_tile[2 * threadIdx.y + r][2 * threadIdx.x + c];
            if (v > best) {
                best = v;
                besti = (oy * 2 - 1 + r) * W + ox * 2 - 1 + c;
            }
        }
    size_t o = ((size_t)blockIdx.z * OH + oy) * OW + ox;
    Y[o] = best;
    arg[o] = besti;
}

// ---------------------------------------------------------------- batch norm statistics
template <typename acc_t>
struct Float2 {
    acc_t v1, v2;
    __device__ Float2() = default;
    __device__ Float2(acc_t a, acc_t b) : v1(a), v2(b) {}
    __device__ Float2 &operator+=(const Float2 &o)
    {
        v1 += o.v1;
        v2 += o.v2;
        return *this;
    }
};
template <typename acc_t>
static __device__ Float2<acc_t> warpSumPair(Float2<acc_t> v)
{
    for (int i = 1; i < 32; i <<= 1) {
        v.v1 += __shfl_xor_sync(0xffffffffu, v.v1, i);
        v.v2 += __shfl_xor_sync(0xffffffffu, v.v2, i);
    }
    return v;
}
template <typename scalar_t, typename acc_t>
__global__ void batch_norm_collect_statistics(const scalar_t *x, acc_t *mean, acc_t *invstd, int N, int C, int HW, acc_t eps)
{
    __shared__ acc_t sh1[32];
    __shared__ acc_t sh2[32];
    const int plane = blockIdx.x;
    const int tid = threadIdx.y * blockDim.x + threadIdx.x;
    Float2<acc_t> s(0, 0);
    for (int n = threadIdx.y; n < N; n += blockDim.y)
        for (int i = threadIdx.x; i < HW; i += blockDim.x) {
            acc_t v = (acc_t)x[((size_t)n * C + plane) * HW + i];
            s += Float2<acc_t>(v, v * v);
        }
    s = warpSumPair(s);
    if (tid < 32) {
        sh1[tid] = 0;
        sh2[tid] = 0;
    }
    __syncthreads();
    if (tid % 32 == 0) {
        sh1[tid / 32] = s.v1;
        sh2[tid / 32] = s.v2;
    }
    __syncthreads();
    if (tid < 32) {
        s = warpSumPair(Float2<acc_t>(sh1[tid], sh2[tid]));
        if (tid == 0) {
            acc_t cnt = (acc_t)N * HW;
            acc_t m = s.v1 / cnt;
            mean[plane] = m;
            invstd[plane] = acc_t(1) / sqrt(s.v2 / cnt - m * m + eps);
        }
    }
}

// ---------------------------------------------------------------- 8 bit block quantisation
#define QK 32
typedef struct {
    float d;
    int8_t qs[QK];
} block_q8;
__global__ void quantize_blocks_q8(const float *x, block_q8 *y, int nblocks)
{
    __shared__ float vals[8][QK];
    __shared__ float amaxs[8][QK];
    const int ib = blockIdx.x * 8 + threadIdx.y;
    const int l = threadIdx.x;
    float v = ib < nblocks ? x[(size_t)ib * QK + l] - 6.0f : 0.0f;
    vals[threadIdx.y][l] = v;
    amaxs[threadIdx.y][l] = fabsf(v);
    __syncthreads();
    for (int o = QK / 2; o > 0; o >>= 1) {
        if (l < o) amaxs[threadIdx.y][l] = fmaxf(amaxs[threadIdx.y][l], amaxs[threadIdx.y][l + o]);
        __syncthreads();
    }
    if (ib >= nblocks) return;
    const float d = amaxs[threadIdx.y][0] / 127.0f;
    const float id = d != 0.0f ? 1.0f / d : 0.0f;
    y[ib].qs[l] = (int8_t)roundf(vals[threadIdx.y][l] * id);
    if (l == 0) y[ib].d = d;
}

// ---------------------------------------------------------------- depthwise 3x3 convolution, NCHW
template <int BX, int BY>
__global__ void depthwise_conv3x3_relu6(const float *__restrict__ in, const float *__restrict__ wt, float *__restrict__ out,
                                        int C, int H, int W)
{
    __shared__ float s_in[BY + 2][BX + 2];
    __shared__ float s_w[9];
    const int c = blockIdx.z % C;
    const float *plane = in + (size_t)blockIdx.z * H * W;
    const int lin = threadIdx.x + BX * threadIdx.y;
    if (lin < 9) s_w[lin] = wt[c * 9 + lin] - 0.5f;
    for (int dy = threadIdx.y; dy < BY + 2; dy += BY) {
        for (int dx = threadIdx.x; dx < BX + 2; dx += BX) {
            const int gy = (int)blockIdx.y * BY + dy - 1;
            const int gx = (int)blockIdx.x * BX + dx - 1;
            const bool ok = (unsigned)gy < (unsigned)H && (unsigned)gx < (unsigned)W;
            s_in[dy][dx] = ok ? plane[gy * W + gx] : 0.0f;
        }
    }
    __syncthreads();
    const int oy = blockIdx.y * BY + threadIdx.y;
    const int ox = blockIdx.x * BX + threadIdx.x;
    if (oy < H && ox < W) {
        float acc = 0.0f;
#pragma unroll
        for (int r = 0; r < 3; ++r)
#pragma unroll
            for (int q = 0; q < 3; ++q)
                acc = fmaf(s_w[r * 3 + q], s_in[threadIdx.y + r][threadIdx.x + q], acc);
        out[((size_t)blockIdx.z * H + oy) * W + ox] = fminf(fmaxf(acc, 0.0f), 6.0f);
    }
}

int main()
{
    size_t n = 50000000;
    float *a = mk<float>(n), *b = mk<float>(n), *o = mk<float>(n);

    int rows = 12000, cols = 2049;
    softmax_forward_rows<<<rows, 256, 256 * sizeof(float)>>>(o, a, rows, cols);
    show("softmax_forward_rows", o, (size_t)rows * cols * 4);

    int ln = 32001, lc = 768;
    float *mean = mk<float>(ln), *rstd = mk<float>(ln);
    layernorm_forward_cached<<<(ln + 3) / 4, 128, 4 * lc * sizeof(float)>>>(o, mean, rstd, a, b, b + 1000, ln, lc);
    show("layernorm_forward_cached out", o, (size_t)ln * lc * 4);
    show("layernorm_forward_cached mean", mean, ln * 4);
    show("layernorm_forward_cached rstd", rstd, ln * 4);

    int rr = 9000, rc = 4096;
    __half *hx = mk_half((size_t)rr * rc, 29), *hy = mk_half((size_t)rr * rc, 1);
    rms_norm_f16<512><<<rr, 512>>>(hx, hy, rc, 1e-6f);
    show("rms_norm_f16", hy, (size_t)rr * rc * 2);

    int T = 1000, heads = 24;
    attention_scores_causal<64><<<dim3((T + QT - 1) / QT, (T + QT - 1) / QT, heads), dim3(QT, QT)>>>(a, b, o, T, 0.125f);
    show("attention_scores_causal", o, (size_t)heads * T * T * 4);

    int planes = 2048, H = 112, W = 112, OH = 56, OW = 56;
    int *arg = mk<int>((size_t)planes * OH * OW);
    maxpool3x3s2_forward<<<dim3((OW + PO - 1) / PO, (OH + PO - 1) / PO, planes), dim3(PO, PO)>>>(a, o, arg, H, W, OH, OW);
    show("maxpool3x3s2_forward", o, (size_t)planes * OH * OW * 4);
    show("maxpool3x3s2_forward arg", arg, (size_t)planes * OH * OW * 4);

    int bn = 64, bc = 512, hw = 28 * 28;
    double *bm = mk<double>(bc), *bi = mk<double>(bc);
    batch_norm_collect_statistics<float, double><<<bc, dim3(32, 16)>>>(a, bm, bi, bn, bc, hw, 1e-5);
    show("batch_norm_collect_statistics mean", bm, bc * 8);
    show("batch_norm_collect_statistics invstd", bi, bc * 8);

    int nb = 1000003;
    block_q8 *q;
    cudaMalloc(&q, (size_t)nb * sizeof(block_q8));
    quantize_blocks_q8<<<(nb + 7) / 8, dim3(QK, 8)>>>(a, q, nb);
    show("quantize_blocks_q8", q, (size_t)nb * sizeof(block_q8));

    int dc = 96, dn = 16, dh = 120, dw = 160;
    depthwise_conv3x3_relu6<32, 8><<<dim3((dw + 31) / 32, (dh + 7) / 8, dc * dn), dim3(32, 8)>>>(a, b, o, dc, dh, dw);
    show("depthwise_conv3x3_relu6", o, (size_t)dc * dn * dh * dw * 4);
    return 0;
}
