// layers of a neural network
#include "shown.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_fp16.h>
#include <cfloat>
#include <vector>
namespace cg = cooperative_groups;

#define CEIL_DIV(M, N) (((M) + (N)-1) / (N))
#define WARP_SIZE 32
#define FULL_MASK 0xffffffff

struct MaxOp { template <class T> __device__ T operator()(T a, T b) const { return a > b ? a : b; } };
struct SumOp { template <class T> __device__ T operator()(T a, T b) const { return a + b; } };

template <class Op, class T> __device__ __forceinline__ T warpReduce(T val, Op op)
{
#pragma unroll
    for (int mask = 16; mask > 0; mask >>= 1) val = op(val, __shfl_xor_sync(FULL_MASK, val, mask, 32));
    return val;
}

template <class Op, class T> __device__ __forceinline__ T blockReduce(T val, Op op, T init)
{
    static __shared__ T shared[32];
    int lane = threadIdx.x & 0x1f;
    int wid = threadIdx.x >> 5;
    val = warpReduce(val, op);
    if (lane == 0) shared[wid] = val;
    __syncthreads();
    val = (threadIdx.x < (blockDim.x >> 5)) ? shared[lane] : init;
    val = warpReduce(val, op);
    return val;
}

// one row per block
__global__ void softmax_forward_kernel(float *out, const float *inp, int N, int C)
{
    __shared__ float s_max, s_sum;
    const float *x = inp + (size_t)blockIdx.x * C;
    float *y = out + (size_t)blockIdx.x * C;
    float maxval = -FLT_MAX;
    for (int i = threadIdx.x; i < C; i += blockDim.x) maxval = fmaxf(maxval, x[i]);
    maxval = blockReduce(maxval, MaxOp(), -FLT_MAX);
    if (threadIdx.x == 0) s_max = maxval;
    __syncthreads();
    float sum = 0.f;
    for (int i = threadIdx.x; i < C; i += blockDim.x) {
        float e = expf(x[i] - s_max);
        y[i] = e;
        sum += e;
    }
    sum = blockReduce(sum, SumOp(), 0.f);
    if (threadIdx.x == 0) s_sum = sum;
    __syncthreads();
    for (int i = threadIdx.x; i < C; i += blockDim.x) y[i] /= s_sum;
}

// the row is kept in shared memory between the passes
__global__ void layernorm_forward_shared(float *__restrict__ out, float *__restrict__ mean, float *__restrict__ rstd,
                                         const float *__restrict__ inp, const float *__restrict__ weight, const float *__restrict__ bias, int C)
{
    extern __shared__ float sdata[];
    float *row = sdata;
    float *red = sdata + C;
    int tid = threadIdx.x;
    const float *x = inp + (size_t)blockIdx.x * C;
    float acc = 0.0f;
    for (int i = tid; i < C; i += blockDim.x) {
        float v = x[i];
        row[i] = v;
        acc += v;
    }
    red[tid] = acc;
    __syncthreads();
    for (int stride = blockDim.x / 2; stride >= 1; stride /= 2) {
        if (tid < stride) red[tid] += red[tid + stride];
        __syncthreads();
    }
    float m = red[0] / C;
    __syncthreads();
    acc = 0.f;
    for (int i = tid; i < C; i += blockDim.x) {
        float d = row[i] - m;
        acc += d * d;
    }
    red[tid] = acc;
    __syncthreads();
    for (int stride = blockDim.x / 2; stride >= 1; stride /= 2) {
        if (tid < stride) red[tid] += red[tid + stride];
        __syncthreads();
    }
    float s = rsqrtf(red[0] / C + 1e-5f);
    for (int i = tid; i < C; i += blockDim.x)
        out[(size_t)blockIdx.x * C + i] = (row[i] - m) * s * weight[i] + bias[i];
    if (tid == 0) {
        mean[blockIdx.x] = m;
        rstd[blockIdx.x] = s;
    }
}

__global__ void rmsnorm_half2(const half2 *__restrict__ x, const half2 *__restrict__ w, half2 *__restrict__ y, int C2, float eps)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    __shared__ float warp_sums[32];
    const half2 *row = x + (size_t)blockIdx.x * C2;
    float ss = 0.f;
    for (int i = block.thread_rank(); i < C2; i += block.size()) {
        float2 f = __half22float2(row[i]);
        ss += f.x * f.x + f.y * f.y;
    }
    ss = cg::reduce(warp, ss, cg::plus<float>{});
    if (warp.thread_rank() == 0) warp_sums[warp.meta_group_rank()] = ss;
    block.sync();
    float v = warp.thread_rank() < warp.meta_group_size() ? warp_sums[warp.thread_rank()] : 0.f;
    ss = cg::reduce(warp, v, cg::plus<float>{});
    float scale = rsqrtf(ss / (2 * C2) + eps);
    for (int i = block.thread_rank(); i < C2; i += block.size()) {
        float2 f = __half22float2(row[i]);
        float2 g = __half22float2(w[i]);
        y[(size_t)blockIdx.x * C2 + i] = __floats2half2_rn(f.x * scale * g.x, f.y * scale * g.y);
    }
}

// attention forward, streaming softmax; one query row per thread
template <int Br, int Bc, int D>
__global__ void flash_attention_fwd(const float *Q, const float *K, const float *V, float *O, int N, float softmax_scale)
{
    extern __shared__ float sram[];
    float *Kj = sram;
    float *Vj = &sram[Bc * D];
    float *S = &sram[Bc * D * 2]; // Br x (Bc + 1)
    const int tx = threadIdx.x;
    const size_t head = (size_t)blockIdx.y * N * D;
    const int qrow = blockIdx.x * Br + tx;
    float q[D], o[D];
    float m = -INFINITY, l = 0.f;
#pragma unroll
    for (int d = 0; d < D; d++) {
        q[d] = qrow < N ? Q[head + (size_t)qrow * D + d] : 0.f;
        o[d] = 0.f;
    }
    for (int j = 0; j < N; j += Bc) {
        for (int t = tx; t < Bc * D; t += Br) {
            bool ok = j + t / D < N;
            Kj[t] = ok ? K[head + (size_t)j * D + t] : 0.f;
            Vj[t] = ok ? V[head + (size_t)j * D + t] : 0.f;
        }
        __syncthreads();
        const int lim = min(Bc, N - j);
        float row_m = -INFINITY;
        for (int y = 0; y < lim; y++) {
            float sum = 0;
#pragma unroll
            for (int d = 0; d < D; d++) sum += q[d] * Kj[y * D + d];
            sum *= softmax_scale;
            S[tx * (Bc + 1) + y] = sum;
            row_m = fmaxf(row_m, sum);
        }
        float m_new = fmaxf(m, row_m);
        float corr = __expf(m - m_new);
        l *= corr;
#pragma unroll
        for (int d = 0; d < D; d++) o[d] *= corr;
        for (int y = 0; y < lim; y++) {
            float p = __expf(S[tx * (Bc + 1) + y] - m_new);
            l += p;
#pragma unroll
            for (int d = 0; d < D; d++) o[d] += p * Vj[y * D + d];
        }
        m = m_new;
        __syncthreads();
    }
    if (qrow < N)
#pragma unroll
        for (int d = 0; d < D; d++) O[head + (size_t)qrow * D + d] = o[d] / l;
}

// 3x3 window, stride 2, pad 1
#define MP_TILE 16
#define MP_IN (MP_TILE * 2 + 1)
__global__ void maxpool3x3s2_nchw(const float *bottom, float *top, int channels, int height, int width, int pooled_height, int pooled_width)
{
    __shared__ float win[MP_IN][MP_IN + 1];
    const int plane = blockIdx.z;
    const float *src = bottom + (size_t)plane * height * width;
    const int hs = blockIdx.y * MP_TILE * 2 - 1;
    const int ws = blockIdx.x * MP_TILE * 2 - 1;
    for (int r = threadIdx.y; r < MP_IN; r += blockDim.y)
        for (int c = threadIdx.x; c < MP_IN; c += blockDim.x) {
            int h = hs + r, w = ws + c;
            win[r][c] = (h < 0 || w < 0 || h >= height || w >= width) ? -FLT_MAX : src[h * width + w];
        }
    __syncthreads();
    const int ph = blockIdx.y * MP_TILE + threadIdx.y;
    const int pw = blockIdx.x * MP_TILE + threadIdx.x;
    if (ph < pooled_height && pw < pooled_width) {
        float maxval = -FLT_MAX;
        for (int h = 2 * threadIdx.y; h < 2 * threadIdx.y + 3; ++h)
            for (int w = 2 * threadIdx.x; w < 2 * threadIdx.x + 3; ++w)
                if (win[h][w] > maxval) maxval = win[h][w];
        top[((size_t)plane * pooled_height + ph) * pooled_width + pw] = maxval;
    }
}

template <typename scalar_t, int KS>
__global__ void depthwise_conv2d_forward(const scalar_t *__restrict__ input, const scalar_t *__restrict__ weight, const scalar_t *__restrict__ bias,
                                         scalar_t *__restrict__ output, int C, int H, int W)
{
    constexpr int PAD = KS / 2;
    __shared__ scalar_t s_in[8 + 2 * PAD][32 + 2 * PAD];
    __shared__ scalar_t s_w[KS * KS];
    const int c = blockIdx.z % C;
    const int tid = threadIdx.y * 32 + threadIdx.x;
    if (tid < KS * KS) s_w[tid] = weight[c * KS * KS + tid];
    const scalar_t *in = input + (size_t)blockIdx.z * H * W;
    const int x0 = blockIdx.x * 32 - PAD, y0 = blockIdx.y * 8 - PAD;
    for (int i = tid; i < (8 + 2 * PAD) * (32 + 2 * PAD); i += 256) {
        const int yy = i / (32 + 2 * PAD), xx = i % (32 + 2 * PAD);
        const bool valid = (unsigned)(y0 + yy) < (unsigned)H && (unsigned)(x0 + xx) < (unsigned)W;
        s_in[yy][xx] = valid ? in[(y0 + yy) * W + x0 + xx] : scalar_t(0);
    }
    __syncthreads();
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x >= W || y >= H) return;
    scalar_t value = bias[c];
#pragma unroll
    for (int ky = 0; ky < KS; ky++)
#pragma unroll
        for (int kx = 0; kx < KS; kx++) value += s_w[ky * KS + kx] * s_in[threadIdx.y + ky][threadIdx.x + kx];
    output[(size_t)blockIdx.z * H * W + y * W + x] = value;
}

// C[b] = relu(A[b] * B[b] + bias), 4x4 outputs per thread, ragged sizes
template <const int BM, const int BN, const int BK, const int TM, const int TN>
__global__ void sgemm_bias_relu_batched(int M, int N, int K, const float *A, const float *B, const float *bias, float *C)
{
    __shared__ float As[BK][BM + 4]; // transposed
    __shared__ float Bs[BK][BN];
    const int nthreads = (BM / TM) * (BN / TN);
    A += (size_t)blockIdx.z * M * K;
    B += (size_t)blockIdx.z * K * N;
    C += (size_t)blockIdx.z * M * N;
    const int cRow = blockIdx.y * BM, cCol = blockIdx.x * BN;
    const int threadCol = threadIdx.x % (BN / TN);
    const int threadRow = threadIdx.x / (BN / TN);
    float threadResults[TM * TN] = {0.0};
    float regM[TM], regN[TN];
    for (int bkIdx = 0; bkIdx < K; bkIdx += BK) {
        for (int i = threadIdx.x; i < BM * BK; i += nthreads) {
            int r = i / BK, c = i % BK;
            As[c][r] = (cRow + r < M && bkIdx + c < K) ? A[(cRow + r) * K + bkIdx + c] : 0.f;
        }
        for (int i = threadIdx.x; i < BK * BN; i += nthreads) {
            int r = i / BN, c = i % BN;
            Bs[r][c] = (bkIdx + r < K && cCol + c < N) ? B[(bkIdx + r) * N + cCol + c] : 0.f;
        }
        __syncthreads();
#pragma unroll
        for (int dotIdx = 0; dotIdx < BK; ++dotIdx) {
#pragma unroll
            for (int i = 0; i < TM; ++i) regM[i] = As[dotIdx][threadRow * TM + i];
#pragma unroll
            for (int i = 0; i < TN; ++i) regN[i] = Bs[dotIdx][threadCol * TN + i];
#pragma unroll
            for (int m = 0; m < TM; ++m)
#pragma unroll
                for (int n = 0; n < TN; ++n) threadResults[m * TN + n] += regM[m] * regN[n];
        }
        __syncthreads();
    }
    for (int m = 0; m < TM; ++m)
        for (int n = 0; n < TN; ++n) {
            int r = cRow + threadRow * TM + m, c = cCol + threadCol * TN + n;
            if (r < M && c < N) C[r * N + c] = fmaxf(threadResults[m * TN + n] + bias[c], 0.f);
        }
}

__device__ void warpArgMax(volatile float *v, volatile int *idx, int tid)
{
    for (int s = 32; s > 0; s >>= 1) {
        float a = v[tid], b = v[tid + s];
        int ia = idx[tid], ib = idx[tid + s];
        bool take = b > a || (b == a && ib < ia);
        __syncwarp();
        v[tid] = take ? b : a;
        idx[tid] = take ? ib : ia;
        __syncwarp();
    }
}
__global__ void argmax_rows(const float *logits, int *labels, float *best, int C)
{
    __shared__ float sv[128 + 32];
    __shared__ int si[128 + 32];
    int tid = threadIdx.x;
    const float *p = logits + (size_t)blockIdx.x * C;
    float v = -FLT_MAX;
    int at = 0x7fffffff;
    for (int c = tid; c < C; c += 128)
        if (p[c] > v) {
            v = p[c];
            at = c;
        }
    sv[tid] = v;
    si[tid] = at;
    if (tid < 32) {
        sv[128 + tid] = -FLT_MAX;
        si[128 + tid] = 0x7fffffff;
    }
    __syncthreads();
    if (tid < 64) {
        if (sv[tid + 64] > sv[tid] || (sv[tid + 64] == sv[tid] && si[tid + 64] < si[tid])) {
            sv[tid] = sv[tid + 64];
            si[tid] = si[tid + 64];
        }
    }
    __syncthreads();
    if (tid < 32) warpArgMax(sv, si, tid);
    if (tid == 0) {
        labels[blockIdx.x] = si[0];
        best[blockIdx.x] = sv[0];
    }
}

int main()
{
    const size_t N = 1 << 24;
    float *a = mk<float>(N), *b = mk<float>(N), *c = mk<float>(N), *d = mk<float>(N);

    int C = 1000, R = 16384;
    softmax_forward_kernel<<<R, 256>>>(b, a, R, C);
    show("softmax_forward_kernel", b, (size_t)R * C * 4);

    int LC = 1536, LR = 10000;
    float *mean = mk<float>(LR), *rstd = mk<float>(LR), *w = mk<float>(LC), *bi = mk<float>(LC);
    layernorm_forward_shared<<<LR, 512, (LC + 512) * sizeof(float)>>>(b, mean, rstd, a, w, bi, LC);
    show("layernorm_forward_shared", b, (size_t)LR * LC * 4);

    std::vector<__half> hh(N);
    for (size_t i = 0; i < N; i++) hh[i] = __float2half(((i * 37) % 113) / 64.f - 0.8f);
    __half *hx, *hy;
    cudaMalloc(&hx, N * 2);
    cudaMalloc(&hy, N * 2);
    cudaMemset(hy, 0, N * 2);
    cudaMemcpy(hx, hh.data(), N * 2, cudaMemcpyHostToDevice);
    rmsnorm_half2<<<4096, 256>>>((half2 *)hx, (half2 *)hx, (half2 *)hy, 2040, 1e-6f);
    show("rmsnorm_half2", hy, 4096ull * 2040 * 4);

    const int D = 32, Br = 64, Bc = 32, SEQ = 1000, HEADS = 64;
    flash_attention_fwd<Br, Bc, D><<<dim3(CEIL_DIV(SEQ, Br), HEADS), Br, (2 * Bc * D + Br * (Bc + 1)) * sizeof(float)>>>(a, d, c, b, SEQ, 0.02f);
    show("flash_attention_fwd", b, (size_t)SEQ * HEADS * D * 4);

    int H = 113, W = 115, planes = 1024, PH = (H + 2 - 3) / 2 + 1, PW = (W + 2 - 3) / 2 + 1;
    maxpool3x3s2_nchw<<<dim3(CEIL_DIV(PW, MP_TILE), CEIL_DIV(PH, MP_TILE), planes), dim3(MP_TILE, MP_TILE)>>>(a, b, 64, H, W, PH, PW);
    show("maxpool3x3s2_nchw", b, (size_t)planes * PH * PW * 4);

    depthwise_conv2d_forward<float, 3><<<dim3(CEIL_DIV(112, 32), CEIL_DIV(110, 8), 16 * 64), dim3(32, 8)>>>(a, w, bi, b, 64, 110, 112);
    show("depthwise_conv2d_forward", b, 16ull * 64 * 110 * 112 * 4);

    int gm = 500, gn = 700, gk = 300, batch = 16;
    sgemm_bias_relu_batched<64, 64, 16, 4, 4><<<dim3(CEIL_DIV(gn, 64), CEIL_DIV(gm, 64), batch), 256>>>(gm, gn, gk, a, c, bi, b);
    show("sgemm_bias_relu_batched", b, (size_t)batch * gm * gn * 4);

    int *lab = mk<int>(R);
    float *best = mk<float>(R);
    argmax_rows<<<R, 128>>>(b, lab, best, 1001 - 1);
    show("argmax_rows", lab, R * 4);
    return 0;
}
