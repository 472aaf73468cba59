// Pieces of neural-network inference and training: normalisation, attention, pooling, gating, losses.
#include <cmath>
#include <cfloat>
#include <cuda_fp16.h>
#include <cooperative_groups.h>
#include "shown.h"
namespace cg = cooperative_groups;

// 1. Row softmax, online maximum and sum, merged over the warps of a block --------------------------
struct MaxSum { float m, s; };
__device__ __forceinline__ MaxSum merge(MaxSum a, MaxSum b)
{
    bool big = a.m > b.m;
    MaxSum hi = big ? a : b, lo = big ? b : a;
    hi.s += lo.s * __expf(lo.m - hi.m);
    return hi;
}

__global__ void softmaxOnline(const float *__restrict__ logits, float *__restrict__ prob, int cols)
{
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    __shared__ MaxSum part[32];
    const float *x = logits + (size_t)blockIdx.x * cols;
    float *y = prob + (size_t)blockIdx.x * cols;

    MaxSum v = {-FLT_MAX, 0.f};
    for (int c = block.thread_rank(); c < cols; c += block.size()) v = merge(v, MaxSum{x[c], 1.f});
    for (int o = warp.size() / 2; o > 0; o >>= 1) {
        MaxSum w;
        w.m = warp.shfl_xor(v.m, o);
        w.s = warp.shfl_xor(v.s, o);
        v = merge(v, w);
    }
    if (warp.thread_rank() == 0) part[warp.meta_group_rank()] = v;
    block.sync();
    MaxSum all = part[0];
    for (unsigned k = 1; k < warp.meta_group_size(); k++) all = merge(all, part[k]);
    const float inv = 1.f / all.s;
    for (int c = block.thread_rank(); c < cols; c += block.size()) y[c] = __expf(x[c] - all.m) * inv;
}

// 2. LayerNorm on half2 rows with Welford merging in a shared tree -----------------------------------
struct Welford {
    float mean, m2, n;
    __device__ void push(float v) { n += 1.f; float d = v - mean; mean += d / n; m2 += d * (v - mean); }
    __device__ void join(const Welford &o) {
        float t = n + o.n;
        if (t == 0.f) return;
        float d = o.mean - mean;
        mean += d * o.n / t;
        m2 += o.m2 + d * d * n * o.n / t;
        n = t;
    }
};

template <int THREADS>
__global__ void layerNormHalf(const __half2 *x, const float *gamma, const float *beta, __half2 *y, int pairs, float eps)
{
    __shared__ Welford w[THREADS];
    const __half2 *row = x + (size_t)blockIdx.x * pairs;
    Welford a = {0.f, 0.f, 0.f};
    for (int i = threadIdx.x; i < pairs; i += THREADS) {
        float2 v = __half22float2(row[i]);
        a.push(v.x);
        a.push(v.y);
    }
    w[threadIdx.x] = a;
    __syncthreads();
    for (int s = THREADS / 2; s > 0; s /= 2) {
        if (threadIdx.x < s) w[threadIdx.x].join(w[threadIdx.x + s]);
        __syncthreads();
    }
    float mu = w[0].mean, rs = rsqrtf(w[0].m2 / w[0].n + eps);
    for (int i = threadIdx.x; i < pairs; i += THREADS) {
        float2 v = __half22float2(row[i]);
        v.x = (v.x - mu) * rs * gamma[2 * i] + beta[2 * i];
        v.y = (v.y - mu) * rs * gamma[2 * i + 1] + beta[2 * i + 1];
        y[(size_t)blockIdx.x * pairs + i] = __float22half2_rn(v);
    }
}

// 3. Causal attention, one query a thread, keys and values streamed through shared memory -------------
template <int HD, int KT>
__global__ void __launch_bounds__(64) causalAttention(const float *__restrict__ Q, const float *__restrict__ K, const float *__restrict__ V,
                                                      float *__restrict__ O, int T, float scale)
{
    __shared__ float4 ks[KT][HD / 4];
    __shared__ float4 vs[KT][HD / 4];
    const size_t head = (size_t)blockIdx.y * T * HD;
    const int q0 = blockIdx.x * 64;
    const int qi = q0 + threadIdx.x;
    float4 q[HD / 4], acc[HD / 4];
#pragma unroll
    for (int d = 0; d < HD / 4; d++) {
        q[d] = qi < T ? reinterpret_cast<const float4 *>(Q + head + (size_t)qi * HD)[d] : make_float4(0.f, 0.f, 0.f, 0.f);
        acc[d] = make_float4(0.f, 0.f, 0.f, 0.f);
    }
    float m = -FLT_MAX, l = 0.f;
    const int last = min(q0 + 63, T - 1);
    for (int k0 = 0; k0 <= last; k0 += KT) {
        for (int e = threadIdx.x; e < KT * HD / 4; e += 64) {
            int r = e / (HD / 4), c = e % (HD / 4);
            bool in = k0 + r < T;
            size_t g = (head + (size_t)(k0 + r) * HD) / 4 + c;
            ks[r][c] = in ? reinterpret_cast<const float4 *>(K)[g] : make_float4(0, 0, 0, 0);
            vs[r][c] = in ? reinterpret_cast<const float4 *>(V)[g] : make_float4(0, 0, 0, 0);
        }
        __syncthreads();
        const int lim = min(KT, min(qi, T - 1) - k0 + 1);
        for (int r = 0; r < lim; r++) {
            float s = 0.f;
#pragma unroll
            for (int d = 0; d < HD / 4; d++) {
                float4 k = ks[r][d];
                s += q[d].x * k.x + q[d].y * k.y + q[d].z * k.z + q[d].w * k.w;
            }
            s *= scale;
            if (s > m) {
                float f = __expf(m - s);
                l *= f;
#pragma unroll
                for (int d = 0; d < HD / 4; d++) { acc[d].x *= f; acc[d].y *= f; acc[d].z *= f; acc[d].w *= f; }
                m = s;
            }
            float p = __expf(s - m);
            l += p;
#pragma unroll
            for (int d = 0; d < HD / 4; d++) {
                float4 v = vs[r][d];
                acc[d].x += p * v.x; acc[d].y += p * v.y; acc[d].z += p * v.z; acc[d].w += p * v.w;
            }
        }
        __syncthreads();
    }
    if (qi < T) {
        float inv = 1.f / l;
#pragma unroll
        for (int d = 0; d < HD / 4; d++)
            reinterpret_cast<float4 *>(O + head + (size_t)qi * HD)[d] = make_float4(acc[d].x * inv, acc[d].y * inv, acc[d].z * inv, acc[d].w * inv);
    }
}

// 4. Mixture-of-experts gate: top-k of a token's scores, chosen experts marked in a private table --------
#define MOE_MAX_K 8
__global__ void moeGate(const float *scores, const float *bias, int *expert, float *weight, long ntok, int nexp, int k)
{
    long tok = blockIdx.x * (long)blockDim.x + threadIdx.x;
    if (tok >= ntok) return;
    float best[MOE_MAX_K];
    int who[MOE_MAX_K];
    for (int j = 0; j < k; j++) { best[j] = -1e30f; who[j] = -1; }
    for (int e = 0; e < nexp; e++) {
        float s = scores[tok * nexp + e] + bias[e];
        if (s <= best[k - 1]) continue;
        int j = k - 1;
        for (; j > 0 && best[j - 1] < s; --j) {
            best[j] = best[j - 1];
            who[j] = who[j - 1];
        }
        best[j] = s;
        who[j] = e;
    }
    float sum = 0.f;
    for (int j = 0; j < k; j++) sum += expf(best[j] - best[0]);
    for (int j = 0; j < k; j++) {
        expert[tok * k + j] = who[j];
        weight[tok * k + j] = expf(best[j] - best[0]) / sum;
    }
}

// 5. Max pooling with argmax, window and stride fixed at compile time, padded planes ----------------------
template <int WIN, int STRIDE, int PAD, int OX = 16, int OY = 8>
__global__ void maxPoolArg(const float *__restrict__ in, float *__restrict__ out, int *__restrict__ arg, int H, int W, int OH, int OW)
{
    constexpr int TX = (OX - 1) * STRIDE + WIN, TY = (OY - 1) * STRIDE + WIN;
    __shared__ float t[TY * TX];
    const float *plane = in + (size_t)blockIdx.z * H * W;
    const int sx = blockIdx.x * OX * STRIDE - PAD, sy = blockIdx.y * OY * STRIDE - PAD;
    for (int i = threadIdx.y * OX + threadIdx.x; i < TX * TY; i += OX * OY) {
        int y = sy + i / TX, x = sx + i % TX;
        t[i] = ((unsigned)y < (unsigned)H && (unsigned)x < (unsigned)W) ? plane[(size_t)y * W + x] : -FLT_MAX;
    }
    __syncthreads();
    int ox = blockIdx.x * OX + threadIdx.x, oy = blockIdx.y * OY + threadIdx.y;
    if (ox < OW && oy < OH) {
        const float *p = t + threadIdx.y * STRIDE * TX + threadIdx.x * STRIDE;
        float b = -FLT_MAX;
        int at = 0;
        for (int j = 0; j < WIN; j++, p += TX)
            for (int i = 0; i < WIN; i++)
                if (p[i] > b) { b = p[i]; at = (sy + (int)threadIdx.y * STRIDE + j) * W + sx + (int)threadIdx.x * STRIDE + i; }
        size_t o = ((size_t)blockIdx.z * OH + oy) * OW + ox;
        out[o] = b;
        arg[o] = at;
    }
}

// 6. Embedding bag: the ids and weights of a bag are staged, then each thread owns feature columns ----------
__global__ void embeddingBag(const float2 *table, const int *ids, const int *offsets, const float *w, float2 *out, int dim2, int vocab, bool mean)
{
    constexpr int CH = 64;
    __shared__ int sid[CH];
    __shared__ float sw[CH];
    const int beg = offsets[blockIdx.x], end = offsets[blockIdx.x + 1];
    for (int c0 = 0; c0 < dim2; c0 += blockDim.x) {
        const int c = c0 + threadIdx.x;
        float2 acc = make_float2(0.f, 0.f);
        for (int b = beg; b < end; b += CH) {
            int m = end - b < CH ? end - b : CH;
            __syncthreads();
            for (int i = threadIdx.x; i < m; i += blockDim.x) {
                unsigned id = (unsigned)ids[b + i] * 2654435761u + (unsigned)(b + i);
                sid[i] = (int)(id % (unsigned)vocab);
                sw[i] = w[b + i];
            }
            __syncthreads();
            if (c < dim2)
                for (int i = 0; i < m; i++) {
                    float2 e = table[(size_t)sid[i] * dim2 + c];
                    acc.x = fmaf(sw[i], e.x, acc.x);
                    acc.y = fmaf(sw[i], e.y, acc.y);
                }
        }
        if (c < dim2) {
            float r = mean && end > beg ? 1.f / (end - beg) : 1.f;
            out[(size_t)blockIdx.x * dim2 + c] = make_float2(acc.x * r, acc.y * r);
        }
    }
}

// 7. Batch-norm statistics per channel, volatile last warp --------------------------------------------------
__device__ void lastWarp(volatile double *s, int t)
{
    for (int o = 32; o > 0; o >>= 1) {
        double v = s[t] + s[t + o];
        __syncwarp();
        s[t] = v;
        __syncwarp();
    }
}
__global__ void batchNormStats(const float *x, double *mean, double *var, int N, int C, int HW)
{
    __shared__ double s1[256 + 32], s2[256 + 32];
    int c = blockIdx.x, t = threadIdx.x;
    double a = 0, b = 0;
    for (int n = 0; n < N; n++) {
        const float *p = x + ((size_t)n * C + c) * HW;
        for (int i = t; i < HW; i += 256) { double v = p[i]; a += v; b += v * v; }
    }
    s1[t] = a; s2[t] = b;
    if (t < 32) s1[256 + t] = s2[256 + t] = 0;
    __syncthreads();
    if (t < 128) { s1[t] += s1[t + 128]; s2[t] += s2[t + 128]; }
    __syncthreads();
    if (t < 64) { s1[t] += s1[t + 64]; s2[t] += s2[t + 64]; }
    __syncthreads();
    if (t < 32) {
        lastWarp(s1, t);
        lastWarp(s2, t);
        if (t == 0) {
            double m = s1[0] / ((double)N * HW);
            mean[c] = m;
            var[c] = s2[0] / ((double)N * HW) - m * m;
        }
    }
}

// 8. Label-smoothed cross entropy with its gradient and the argmax, small classes, a warp a row in y ---------
template <typename Label, unsigned ROWS>
__global__ void crossEntropyRows(const float *logits, const Label *label, float *loss, float *grad, unsigned char *correct,
                                 size_t rows, unsigned classes, float smooth)
{
    extern __shared__ float cache[];                   // ROWS x classes
    float *mine = cache + threadIdx.y * classes;
    const size_t r = (size_t)blockIdx.x * ROWS + threadIdx.y;
    if (r >= rows) return;                             // whole warps leave, no block barrier below
    const float *src = logits + r * classes;
    float mx = -FLT_MAX;
    unsigned am = 0;
    for (unsigned c = threadIdx.x; c < classes; c += 32) {
        float v = src[c];
        mine[c] = v;
        if (v > mx) { mx = v; am = c; }
    }
    for (int o = 16; o; o >>= 1) {
        float om = __shfl_xor_sync(~0u, mx, o);
        unsigned oa = __shfl_xor_sync(~0u, am, o);
        if (om > mx || (om == mx && oa < am)) { mx = om; am = oa; }
    }
    float sum = 0.f, tot = 0.f;
    for (unsigned c = threadIdx.x; c < classes; c += 32) {
        tot += mine[c];
        mine[c] -= mx;
        sum += expf(mine[c]);
    }
    for (int o = 16; o; o >>= 1) {
        sum += __shfl_xor_sync(~0u, sum, o);
        tot += __shfl_xor_sync(~0u, tot, o);
    }
    __syncwarp();
    const unsigned y = (unsigned)label[r] % classes;
    const float lse = logf(sum);
    const float uni = smooth / classes;
    if (threadIdx.x == 0) {
        loss[r] = (1.f - smooth) * (lse - mine[y]) + smooth * (lse - (tot / classes - mx));
        correct[r] = am == y;
    }
    for (unsigned c = threadIdx.x; c < classes; c += 32)
        grad[r * classes + c] = expf(mine[c] - lse) - uni - (c == y ? 1.f - smooth : 0.f);
}

int main()
{
    {
        int rows = 4003, cols = 3001; size_t n = (size_t)rows * cols;
        float *x = mk<float>(n), *y = mk<float>(n);
        softmaxOnline<<<rows, 192>>>(x, y, cols);
        show("softmaxOnline", y, n * 4);
        cudaFree(x); cudaFree(y);
    }
    {
        int rows = 9001, pairs = 387; size_t n = (size_t)rows * pairs * 2;
        __half *h = (__half *)malloc(n * 2);
        for (size_t i = 0; i < n; i++) h[i] = __float2half(((i * 7919u) % 211) * 0.03125f - 2.f);
        __half2 *x, *y;
        cudaMalloc(&x, n * 2); cudaMalloc(&y, n * 2);
        cudaMemcpy(x, h, n * 2, cudaMemcpyHostToDevice);
        free(h);
        float *g = mk<float>(2 * pairs), *b = mk<float>(2 * pairs);
        layerNormHalf<128><<<rows, 128>>>(x, g, b, y, pairs, 1e-5f);
        show("layerNormHalf", y, n * 2);
        cudaFree(x); cudaFree(y);
    }
    {
        int T = 777, heads = 160; size_t n = (size_t)T * heads * 32;
        float *q = mk<float>(n), *k = mk<float>(n), *v = mk<float>(n), *o = mk<float>(n);
        causalAttention<32, 24><<<dim3((T + 63) / 64, heads), 64>>>(q, k, v, o, T, 0.01f);
        show("causalAttention", o, n * 4);
        cudaFree(q); cudaFree(k); cudaFree(v); cudaFree(o);
    }
    {
        long ntok = 200001; int ne = 60, k = 6;
        float *s = mk<float>(ntok * ne), *b = mk<float>(ne), *w = mk<float>(ntok * k);
        int *e = mk<int>(ntok * k);
        moeGate<<<(unsigned)((ntok + 127) / 128), 128>>>(s, b, e, w, ntok, ne, k);
        show("moeGate", e, ntok * k * 4);
        show("moeGate", w, ntok * k * 4);
        cudaFree(s); cudaFree(w); cudaFree(e);
    }
    {
        int H = 113, W = 111, C = 700, OH = (H + 2 - 3) / 2 + 1, OW = (W + 2 - 3) / 2 + 1;
        float *x = mk<float>((size_t)H * W * C), *y = mk<float>((size_t)OH * OW * C);
        int *a = mk<int>((size_t)OH * OW * C);
        maxPoolArg<3, 2, 1><<<dim3((OW + 15) / 16, (OH + 7) / 8, C), dim3(16, 8)>>>(x, y, a, H, W, OH, OW);
        show("maxPoolArg", y, (size_t)OH * OW * C * 4);
        show("maxPoolArg", a, (size_t)OH * OW * C * 4);
        cudaFree(x); cudaFree(y); cudaFree(a);
    }
    {
        int bags = 6001, dim2 = 75, vocab = 20000;
        int *off = (int *)malloc((bags + 1) * 4), *doff;
        off[0] = 0;
        for (int i = 0; i < bags; i++) off[i + 1] = off[i] + (i * 37) % 90;
        int nid = off[bags];
        cudaMalloc(&doff, (bags + 1) * 4);
        cudaMemcpy(doff, off, (bags + 1) * 4, cudaMemcpyHostToDevice);
        float *t = mk<float>((size_t)vocab * dim2 * 2), *w = mk<float>(nid), *o = mk<float>((size_t)bags * dim2 * 2);
        int *ids = mk<int>(nid);
        embeddingBag<<<bags, 64>>>((const float2 *)t, ids, doff, w, (float2 *)o, dim2, vocab, true);
        show("embeddingBag", o, (size_t)bags * dim2 * 8);
        cudaFree(t); cudaFree(w); cudaFree(o); cudaFree(ids);
    }
    {
        int N = 24, C = 130, HW = 55 * 53;
        float *x = mk<float>((size_t)N * C * HW);
        double *m = mk<double>(C), *v = mk<double>(C);
        batchNormStats<<<C, 256>>>(x, m, v, N, C, HW);
        show("batchNormStats", m, C * 8);
        show("batchNormStats", v, C * 8);
        cudaFree(x);
    }
    {
        size_t rows = 50003; unsigned cls = 203;
        float *x = mk<float>(rows * cls), *g = mk<float>(rows * cls), *l = mk<float>(rows);
        unsigned short *lab = mk<unsigned short>(rows); unsigned char *ok = mk<unsigned char>(rows);
        crossEntropyRows<unsigned short, 6><<<(unsigned)((rows + 5) / 6), dim3(32, 6), 6 * cls * 4>>>(x, lab, l, g, ok, rows, cls, 0.1f);
        show("crossEntropyRows", l, rows * 4);
        show("crossEntropyRows", g, rows * cls * 4);
        show("crossEntropyRows", ok, rows);
    }
    return 0;
}
