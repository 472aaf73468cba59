// layers of convolutional networks
#include "shown.h"
#include <cfloat>

// ================= conv2d NCHW, "same" padding, tile per input channel, filters of the block's map in shared =================
#define TILE 16
#define KS 3
__global__ void conv_forward_shared(const float *x, const float *k, const float *bias, float *y,
                                    const int C, const int M, const int H, const int W)
{
    __shared__ float x_s[TILE + KS - 1][TILE + KS - 1];
    __shared__ float k_s[KS * KS];
#define x4d(i3, i2, i1, i0) x[(((i3) * C + (i2)) * H + (i1)) * W + (i0)]
#define y4d(i3, i2, i1, i0) y[(((i3) * M + (i2)) * H + (i1)) * W + (i0)]
#define k4d(i3, i2, i1, i0) k[(((i3) * C + (i2)) * KS + (i1)) * KS + (i0)]
    const int W_grid = (W + TILE - 1) / TILE;
    int n = blockIdx.x, m = blockIdx.y;
    int h0 = threadIdx.y, w0 = threadIdx.x;
    int h_base = (blockIdx.z / W_grid) * TILE;
    int w_base = (blockIdx.z % W_grid) * TILE;
    int h = h_base + h0, w = w_base + w0;

    float acc = 0.0f;
    for (int c = 0; c < C; c++) {
        if (h0 < KS && w0 < KS)
            k_s[h0 * KS + w0] = k4d(m, c, h0, w0);
        for (int i = h; i < h_base + TILE + KS - 1; i += TILE)
            for (int j = w; j < w_base + TILE + KS - 1; j += TILE) {
                int yy = i - KS / 2, xx = j - KS / 2;
                x_s[i - h_base][j - w_base] = (yy >= 0 && yy < H && xx >= 0 && xx < W) ? x4d(n, c, yy, xx) : 0.0f;
            }
        __syncthreads();
        for (int p = 0; p < KS; p++)
            for (int q = 0; q < KS; q++)
                acc += x_s[h0 + p][w0 + q] * k_s[p * KS + q];
        __syncthreads();
    }
    if (h < H && w < W)
        y4d(n, m, h, w) = acc + bias[m];
}

// ================= depthwise, stride and kernel as template arguments, ReLU6 =================
template <int K, int STRIDE, int TW, int TH>
__global__ void depthwise_conv(const float* __restrict__ input, const float* __restrict__ filter, float* __restrict__ output,
                               int channels, int in_h, int in_w, int out_h, int out_w) {
  constexpr int IW = (TW - 1) * STRIDE + K;
  constexpr int IH = (TH - 1) * STRIDE + K;
  __shared__ float in_tile[IH][IW];
  __shared__ float w[K * K];
  const int nc = blockIdx.z;
  const int tid = threadIdx.y * TW + threadIdx.x;
  if (tid < K * K) w[tid] = filter[(nc % channels) * K * K + tid];
  const int iy0 = blockIdx.y * TH * STRIDE - K / 2;
  const int ix0 = blockIdx.x * TW * STRIDE - K / 2;
  const float* in = input + (size_t)nc * in_h * in_w;
  for (int e = tid; e < IH * IW; e += TW * TH) {
    const int y = iy0 + e / IW, x = ix0 + e % IW;
    in_tile[e / IW][e % IW] = (y >= 0 && x >= 0 && y < in_h && x < in_w) ? __ldg(in + y * in_w + x) : 0.f;
  }
  __syncthreads();
  const int oy = blockIdx.y * TH + threadIdx.y, ox = blockIdx.x * TW + threadIdx.x;
  if (oy >= out_h || ox >= out_w) return;
  float sum = 0.f;
#pragma unroll
  for (int i = 0; i < K; ++i)
#pragma unroll
    for (int j = 0; j < K; ++j)
      sum = fmaf(in_tile[threadIdx.y * STRIDE + i][threadIdx.x * STRIDE + j], w[i * K + j], sum);
  output[((size_t)nc * out_h + oy) * out_w + ox] = fminf(fmaxf(sum, 0.f), 6.f);
}

// ================= temporal convolution, causal, dilated, all channels of a time tile in dynamic memory =================
__global__ void tcn_layer(const float *seq, const float *wgt, float *out, int cin, int cout, int T, int ksz, int dil)
{
	extern __shared__ float smem[];
	int span = (ksz - 1) * dil;
	int ld = blockDim.x + span;
	float *xs = smem;                 /* cin x ld */
	float *ws = smem + cin * ld;      /* cin x ksz, one output channel at a time */
	int t0 = blockIdx.x * blockDim.x;
	const float *s = seq + (size_t)blockIdx.y * cin * T;
	float *o = out + (size_t)blockIdx.y * cout * T;

	for (int c = 0; c < cin; c++)
		for (int i = threadIdx.x; i < ld; i += blockDim.x) {
			int t = t0 + i - span;
			xs[c * ld + i] = (t >= 0 && t < T) ? s[(size_t)c * T + t] : 0.0f;
		}
	for (int m = 0; m < cout; m++) {
		__syncthreads();
		for (int i = threadIdx.x; i < cin * ksz; i += blockDim.x)
			ws[i] = wgt[m * cin * ksz + i];
		__syncthreads();
		float a = 0.0f;
		for (int c = 0; c < cin; c++)
			for (int k = 0; k < ksz; k++)
				a += ws[c * ksz + k] * xs[c * ld + threadIdx.x + k * dil];
		if (t0 + threadIdx.x < T)
			o[(size_t)m * T + t0 + threadIdx.x] = tanhf(a);
	}
}

// ================= max pooling 3x3 stride 2 with argmax; also global average of the plane =================
struct PoolShape { int H, W, OH, OW; };
__global__ void MaxPool3x3s2(const float* X, float* Y, int* Arg, PoolShape s)
{
    __shared__ float Patch[2 * 8 + 1][2 * 32 + 1];
    const int plane = blockIdx.z;
    const int by = blockIdx.y * 8, bx = blockIdx.x * 32;
    const float* P = X + (size_t)plane * s.H * s.W;
    for (int r = threadIdx.y; r < 17; r += blockDim.y)
        for (int c = threadIdx.x; c < 65; c += blockDim.x)
        {
            int iy = 2 * by + r - 1, ix = 2 * bx + c - 1;
            bool ok = iy >= 0 && iy < s.H && ix >= 0 && ix < s.W;
            Patch[r][c] = ok ? P[(size_t)iy * s.W + ix] : -FLT_MAX;
        }
    __syncthreads();
    const int oy = by + threadIdx.y, ox = bx + threadIdx.x;
    if (oy < s.OH && ox < s.OW)
    {
        float best = -FLT_MAX;
        int where = -1;
        for (int i = 0; i < 9; ++i)
        {
            float v = Patch[2 * threadIdx.y + i / 3][2 * threadIdx.x + i % 3];
            if (v > best) { best = v; where = (2 * oy - 1 + i / 3) * s.W + 2 * ox - 1 + i % 3; }
        }
        size_t at = ((size_t)plane * s.OH + oy) * s.OW + ox;
        Y[at] = best;
        Arg[at] = where;
    }
}

// ================= bilinear upsampling by an integer factor from a low resolution tile =================
template <typename scalar_t, int F>
__global__ void upsample_bilinear(const scalar_t *__restrict__ lo, scalar_t *__restrict__ hi, const int h, const int w)
{
    constexpr int OUT = 32, IN = OUT / F + 2;
    __shared__ scalar_t s[IN][IN];
    const int H = h * F, W = w * F;
    lo += (size_t)blockIdx.z * h * w;
    hi += (size_t)blockIdx.z * H * W;
    const int bx = blockIdx.x * (OUT / F) - 1, by = blockIdx.y * (OUT / F) - 1;
    const int lin = threadIdx.x + threadIdx.y * 32;
    if (lin < IN * IN) {
        int yy = min(max(by + lin / IN, 0), h - 1), xx = min(max(bx + lin % IN, 0), w - 1);
        s[lin / IN][lin % IN] = lo[yy * w + xx];
    }
    __syncthreads();
    const int X = blockIdx.x * OUT + threadIdx.x;
    const scalar_t fx = (threadIdx.x + scalar_t(0.5)) / F - scalar_t(0.5);
    const int x0 = (int)floor((double)fx);
    const scalar_t ax = fx - x0;
#pragma unroll
    for (int r = 0; r < 32; r += 8) {
        const int ly = threadIdx.y + r, Y = blockIdx.y * OUT + ly;
        const scalar_t fy = (ly + scalar_t(0.5)) / F - scalar_t(0.5);
        const int y0 = (int)floor((double)fy);
        const scalar_t ay = fy - y0;
        if (X < W && Y < H) {
            scalar_t a = s[y0 + 1][x0 + 1], b = s[y0 + 1][x0 + 2], c = s[y0 + 2][x0 + 1], d = s[y0 + 2][x0 + 2];
            hi[(size_t)Y * W + X] = (a * (1 - ax) + b * ax) * (1 - ay) + (c * (1 - ax) + d * ax) * ay;
        }
    }
}

// ================= batch norm, training mode: a block per channel, Welford merging in a tree =================
struct Welford {
  float mean, m2, n;
  __device__ static Welford merge(const Welford& a, const Welford& b) {
    Welford r;
    r.n = a.n + b.n;
    if (r.n == 0.f) { r.mean = 0.f; r.m2 = 0.f; return r; }
    float d = b.mean - a.mean;
    r.mean = a.mean + d * (b.n / r.n);
    r.m2 = a.m2 + b.m2 + d * d * (a.n * b.n / r.n);
    return r;
  }
};

__global__ void batch_norm_train(const float* x, float* y, const float* gamma, const float* beta, float* save_mean, float* save_invstd,
                                 int N, int C, int HW, float eps) {
  __shared__ Welford w[512];
  const int c = blockIdx.x;
  Welford mine = {0.f, 0.f, 0.f};
  for (int i = threadIdx.x; i < N * HW; i += blockDim.x) {
    float v = x[((size_t)(i / HW) * C + c) * HW + i % HW];
    mine.n += 1.f;
    float d = v - mine.mean;
    mine.mean += d / mine.n;
    mine.m2 += d * (v - mine.mean);
  }
  w[threadIdx.x] = mine;
  __syncthreads();
  for (int off = 256; off > 0; off >>= 1) {
    if (threadIdx.x < off) w[threadIdx.x] = Welford::merge(w[threadIdx.x], w[threadIdx.x + off]);
    __syncthreads();
  }
  const float mean = w[0].mean;
  const float invstd = rsqrtf(w[0].m2 / w[0].n + eps);
  if (threadIdx.x == 0) {
    save_mean[c] = mean;
    save_invstd[c] = invstd;
  }
  const float g = gamma[c] * invstd, b = beta[c] - mean * g;
  for (int i = threadIdx.x; i < N * HW; i += blockDim.x) {
    size_t at = ((size_t)(i / HW) * C + c) * HW + i % HW;
    y[at] = x[at] * g + b;
  }
}

static float *sym(size_t n, float amp, unsigned s)
{
    float *h = (float *)malloc(n * 4), *d;
    for (size_t i = 0; i < n; i++) { s = s * 1664525u + 1013904223u; h[i] = amp * ((float)(s >> 8) / 8388608.f - 1.f); }
    cudaMalloc(&d, n * 4);
    cudaMemcpy(d, h, n * 4, cudaMemcpyHostToDevice);
    free(h);
    return d;
}

int main()
{
    {
        int N = 16, C = 12, M = 16, H = 120, W = 125;
        float *x = sym((size_t)N * C * H * W, 1.f, 1), *k = sym(M * C * KS * KS, 0.3f, 2), *b = sym(M, 0.1f, 3), *y = mk<float>((size_t)N * M * H * W);
        dim3 grid(N, M, ((W + TILE - 1) / TILE) * ((H + TILE - 1) / TILE)), block(TILE, TILE);
        conv_forward_shared<<<grid, block>>>(x, k, b, y, C, M, H, W);
        show("conv_forward_shared", y, (size_t)N * M * H * W * 4);
    }
    {
        int nc = 32 * 24, h = 112, w = 112;
        float *x = sym((size_t)nc * h * w, 2.f, 4), *f = sym(24 * 25, 0.5f, 5), *y = mk<float>((size_t)nc * h * w);
        depthwise_conv<3, 1, 32, 8><<<dim3(4, 14, nc), dim3(32, 8)>>>(x, f, y, 24, h, w, h, w);
        show("depthwise_conv<3,1>", y, (size_t)nc * h * w * 4);
        depthwise_conv<5, 2, 16, 16><<<dim3(4, 4, nc), dim3(16, 16)>>>(x, f, y, 24, h, w, h / 2, w / 2);
        show("depthwise_conv<5,2>", y, (size_t)nc * h * w);
    }
    {
        int batch = 64, ci = 8, co = 12, T = 8000, ks = 3, dil = 4;
        float *s = sym((size_t)batch * ci * T, 1.f, 6), *w = sym(co * ci * ks, 0.4f, 7), *o = mk<float>((size_t)batch * co * T);
        tcn_layer<<<dim3((T + 127) / 128, batch), 128, (ci * (128 + (ks - 1) * dil) + ci * ks) * sizeof(float)>>>(s, w, o, ci, co, T, ks, dil);
        show("tcn_layer", o, (size_t)batch * co * T * 4);
    }
    {
        int planes = 400, h = 201, w = 199;
        PoolShape p = {h, w, (h + 1) / 2, (w + 1) / 2};
        float *x = sym((size_t)planes * h * w, 1.f, 8), *y = mk<float>((size_t)planes * p.OH * p.OW);
        int *a = mk<int>((size_t)planes * p.OH * p.OW);
        MaxPool3x3s2<<<dim3((p.OW + 31) / 32, (p.OH + 7) / 8, planes), dim3(32, 8)>>>(x, y, a, p);
        show("MaxPool3x3s2", y, (size_t)planes * p.OH * p.OW * 4);
        show("MaxPool3x3s2.arg", a, (size_t)planes * p.OH * p.OW * 4);
    }
    {
        int pl = 60, h = 125, w = 131;
        float *lo = sym((size_t)pl * h * w, 1.f, 9), *hi = mk<float>((size_t)pl * h * w * 16);
        upsample_bilinear<float, 4><<<dim3((w * 4 + 31) / 32, (h * 4 + 31) / 32, pl), dim3(32, 8)>>>(lo, hi, h, w);
        show("upsample_bilinear<float,4>", hi, (size_t)pl * h * w * 16 * 4);
        double *dl = mk<double>((size_t)pl * h * w), *dh = mk<double>((size_t)pl * h * w * 16);
        upsample_bilinear<double, 4><<<dim3((w * 4 + 31) / 32, (h * 4 + 31) / 32, pl), dim3(32, 8)>>>(dl, dh, h, w);
        show("upsample_bilinear<double,4>", dh, (size_t)pl * h * w * 16 * 8);
    }
    {
        int N = 24, C = 300, HW = 56 * 56;
        float *x = sym((size_t)N * C * HW, 3.f, 10), *y = mk<float>((size_t)N * C * HW), *g = sym(C, 1.f, 11), *b = sym(C, 1.f, 12);
        float *m = mk<float>(C), *v = mk<float>(C);
        batch_norm_train<<<C, 512>>>(x, y, g, b, m, v, N, C, HW, 1e-5f);
        show("batch_norm_train", y, (size_t)N * C * HW * 4);
        show("batch_norm_train.mean", m, C * 4);
        show("batch_norm_train.invstd", v, C * 4);
    }
    return 0;
}
