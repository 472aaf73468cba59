// row-wise reductions whose result every thread needs afterwards
#include "shown.h"
#include <cfloat>

// --- softmax, block per row, tree in shared memory, twice ---
__global__ void softmax_rows(const float *x, float *y, int cols)
{
    __shared__ float red[256];
    const float *xr = x + (size_t)blockIdx.x * cols;
    float *yr = y + (size_t)blockIdx.x * cols;

    float m = -FLT_MAX;
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        m = fmaxf(m, xr[c]);
    red[threadIdx.x] = m;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s)
            red[threadIdx.x] = fmaxf(red[threadIdx.x], red[threadIdx.x + s]);
        __syncthreads();
    }
    m = red[0];
    __syncthreads();

    float sum = 0.0f;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        float e = expf(xr[c] - m);
        yr[c] = e;
        sum += e;
    }
    red[threadIdx.x] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s)
            red[threadIdx.x] += red[threadIdx.x + s];
        __syncthreads();
    }
    float inv = 1.0f / red[0];
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        yr[c] *= inv;
}

// --- layer norm forward, mean and rstd shared by one thread, ML-framework flavour ---
#define FULL_MASK 0xffffffff
template <typename T>
__inline__ __device__ T warpReduceSum(T val) {
  #pragma unroll
  for (int mask = 16; mask > 0; mask >>= 1)
    val += __shfl_xor_sync(FULL_MASK, val, mask, 32);
  return val;
}

template <typename T>
__inline__ __device__ T blockReduceSum(T val) {
  static __shared__ T shared[32];
  int lane = threadIdx.x & 0x1f;
  int wid = threadIdx.x >> 5;

  val = warpReduceSum<T>(val);
  if (lane == 0) shared[wid] = val;
  __syncthreads();
  val = (threadIdx.x < (blockDim.x / 32)) ? shared[lane] : (T)(0.0f);
  val = warpReduceSum<T>(val);
  __syncthreads();
  return val;
}

template <typename T>
__global__ void layerNormKernel(T* out, const T* inp, const T* gamma, const T* beta, float* mean_out, int n, float eps) {
  __shared__ float s_mean;
  __shared__ float s_variance;
  const int tid = threadIdx.x;
  float mean = 0.0f;
  float variance = 0.0f;

  float local_sum = 0.0f;
  for (int i = tid; i < n; i += blockDim.x) local_sum += (float)inp[(size_t)blockIdx.x * n + i];
  mean = blockReduceSum<float>(local_sum);
  if (tid == 0) s_mean = mean / n;
  __syncthreads();

  float local_var_sum = 0.0f;
  for (int i = tid; i < n; i += blockDim.x) {
    float diff = (float)inp[(size_t)blockIdx.x * n + i] - s_mean;
    local_var_sum += diff * diff;
  }
  variance = blockReduceSum<float>(local_var_sum);
  if (tid == 0) {
    s_variance = rsqrtf(variance / n + eps);
    mean_out[blockIdx.x] = s_mean;
  }
  __syncthreads();

  for (int i = tid; i < n; i += blockDim.x) {
    size_t k = (size_t)blockIdx.x * n + i;
    out[k] = (T)(((float)inp[k] - s_mean) * s_variance * (float)gamma[i] + (float)beta[i]);
  }
}

// --- standardise in double, the row is kept in dynamic shared memory in front of the scratch ---
__global__ void zscore(const double *M, double *Z, double *var, const int ncol)
{
	extern __shared__ double sh[];
	double *row     = &sh[0];
	double *scratch = &sh[ncol];
	const size_t o = (size_t)blockIdx.x * ncol;

	double acc = 0.;
	for (int j = threadIdx.x; j < ncol; j += blockDim.x) {
		row[j] = M[o + j];
		acc += row[j];
	}
	scratch[threadIdx.x] = acc;
	__syncthreads();
	for (int k = blockDim.x >> 1; k; k >>= 1) {
		if (threadIdx.x < k) scratch[threadIdx.x] += scratch[threadIdx.x + k];
		__syncthreads();
	}
	const double mu = scratch[0] / ncol;
	__syncthreads();

	acc = 0.;
	for (int j = threadIdx.x; j < ncol; j += blockDim.x)
		acc += (row[j] - mu) * (row[j] - mu);
	scratch[threadIdx.x] = acc;
	__syncthreads();
	for (int k = blockDim.x >> 1; k; k >>= 1) {
		if (threadIdx.x < k) scratch[threadIdx.x] += scratch[threadIdx.x + k];
		__syncthreads();
	}
	const double v = scratch[0] / (ncol - 1);
	const double is = v > 0. ? 1. / sqrt(v) : 0.;
	for (int j = threadIdx.x; j < ncol; j += blockDim.x) Z[o + j] = (row[j] - mu) * is;
	if (threadIdx.x == 0) var[blockIdx.x] = v;
}

// --- L2 normalisation of short vectors, eight rows share a block (x runs along the row) ---
template <int DIM, int ROWS>
struct Normalizer {
  float part[ROWS][DIM];

  __device__ float total(int r, int c, float v) {
    part[r][c] = v;
    __syncthreads();
#pragma unroll
    for (int h = DIM / 2; h >= 1; h /= 2) {
      if (c < h) part[r][c] += part[r][c + h];
      __syncthreads();
    }
    return part[r][0];
  }
};

template <int DIM, int ROWS>
__global__ void l2_normalize(const float* emb, float* unit, float* norm, int rows) {
  __shared__ Normalizer<DIM, ROWS> nz;
  const int c = threadIdx.x, r = threadIdx.y;
  const int row = blockIdx.x * ROWS + r;
  const float v = row < rows ? emb[(size_t)row * DIM + c] : 0.f;
  const float len = sqrtf(nz.total(r, c, v * v));
  if (row < rows) {
    unit[(size_t)row * DIM + c] = v / fmaxf(len, 1e-12f);
    if (c == 0) norm[row] = len;
  }
}

// --- one pass softmax with a running maximum; pairs are merged in shared memory ---
struct MD { float m; float d; };
__device__ __forceinline__ MD merge_md(MD a, MD b)
{
    bool a_bigger = a.m > b.m;
    MD big = a_bigger ? a : b, small = a_bigger ? b : a;
    MD r;
    r.d = big.d + small.d * __expf(small.m - big.m);
    r.m = big.m;
    return r;
}

template <int THREADBLOCK_SIZE>
__global__ void online_log_softmax(const float *__restrict x, float *__restrict y, const int *target, float *loss, int V)
{
    __shared__ MD md[THREADBLOCK_SIZE];
    x += (size_t)blockIdx.x * V;
    y += (size_t)blockIdx.x * V;
    MD p;
    p.m = -FLT_MAX;
    p.d = 0.0F;
    for (int e = threadIdx.x; e < V; e += THREADBLOCK_SIZE) {
        MD q;
        q.m = x[e];
        q.d = 1.0F;
        p = merge_md(p, q);
    }
    md[threadIdx.x] = p;
    for (int gap = THREADBLOCK_SIZE / 2; gap > 0; gap /= 2) {
        __syncthreads();
        if (threadIdx.x < gap) md[threadIdx.x] = merge_md(md[threadIdx.x], md[threadIdx.x + gap]);
    }
    __syncthreads();
    MD total = md[0];
    float lse = total.m + logf(total.d);
    for (int e = threadIdx.x; e < V; e += THREADBLOCK_SIZE)
        y[e] = x[e] - lse;
    if (threadIdx.x == 0) loss[blockIdx.x] = lse - x[target[blockIdx.x]];
}

// --- int8 quantisation: absolute maximum of a row gives its scale; 4 values per load ---
__global__ void quantizeRows(const float4* in, char4* out, float* scales, int vecPerRow)
{
  __shared__ float warpMax[8];
  __shared__ float rowScale;
  const float4* r = in + (size_t)blockIdx.x * vecPerRow;

  float amax = 0.f;
  for (int i = threadIdx.x; i < vecPerRow; i += blockDim.x)
  {
    const float4 q = r[i];
    amax = fmaxf(amax, fmaxf(fmaxf(fabsf(q.x), fabsf(q.y)), fmaxf(fabsf(q.z), fabsf(q.w))));
  }
  for (int o = 16; o; o >>= 1) amax = fmaxf(amax, __shfl_down_sync(~0u, amax, o));
  if (threadIdx.x % 32 == 0) warpMax[threadIdx.x / 32] = amax;
  __syncthreads();
  if (threadIdx.x == 0)
  {
    float a = 1e-6f;
    for (int w = 0; w < blockDim.x / 32; ++w) a = fmaxf(a, warpMax[w]);
    rowScale = 127.f / a;
    scales[blockIdx.x] = a / 127.f;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < vecPerRow; i += blockDim.x)
  {
    const float4 q = r[i];
    out[(size_t)blockIdx.x * vecPerRow + i] = make_char4((char)__float2int_rn(q.x * rowScale), (char)__float2int_rn(q.y * rowScale),
                                                         (char)__float2int_rn(q.z * rowScale), (char)__float2int_rn(q.w * rowScale));
  }
}

static float *bell(size_t n)
{
    float *h = (float *)malloc(n * 4), *d;
    unsigned s = 2024u;
    for (size_t i = 0; i < n; i++) {
        float a = 0;
        for (int k = 0; k < 3; k++) { s = s * 1664525u + 1013904223u; a += (float)(s >> 8) / 16777216.f; }
        h[i] = 3.f * (a - 1.5f);
    }
    cudaMalloc(&d, n * 4);
    cudaMemcpy(d, h, n * 4, cudaMemcpyHostToDevice);
    free(h);
    return d;
}

int main()
{
    const size_t n = 1 << 24;
    float *x = bell(n), *y = mk<float>(n);
    int rows = 8000, cols = 2000;
    softmax_rows<<<rows, 256>>>(x, y, cols);
    show("softmax_rows", y, (size_t)rows * cols * 4);
    softmax_rows<<<16000, 128>>>(x, y, 1000);
    show("softmax_rows 128", y, (size_t)16000 * 1000 * 4);

    float *gm = mk<float>(4096), *bt = mk<float>(4096), *mean = mk<float>(1 << 17);
    layerNormKernel<float><<<n / 1024, 256>>>(y, x, gm, bt, mean, 1024, 1e-5f);
    show("layerNormKernel<float>", y, n * 4);
    show("layerNormKernel<float>.mean", mean, n / 1024 * 4);

    int dr = 6000, dc = 1500;
    double *M = mk<double>((size_t)dr * dc), *Z = mk<double>((size_t)dr * dc), *var = mk<double>(dr);
    zscore<<<dr, 256, (dc + 256) * sizeof(double)>>>(M, Z, var, dc);
    show("zscore", Z, (size_t)dr * dc * 8);
    show("zscore.var", var, dr * 8);

    int vr = n / 128 - 3;
    l2_normalize<128, 4><<<(vr + 3) / 4, dim3(128, 4)>>>(x, y, mean, vr - 0);
    show("l2_normalize<128,4>", y, (size_t)vr * 128 * 4);
    int v2 = (1 << 17) - 5;
    l2_normalize<64, 8><<<(v2 + 7) / 8, dim3(64, 8)>>>(x, y, mean, v2);
    show("l2_normalize<64,8>", y, (size_t)v2 * 64 * 4);
    show("l2_normalize<64,8>.norm", mean, v2 * 4);

    int V = 5003, B = 3300;
    int *tg = mk<int>(B);
    float *loss = mk<float>(B);
    online_log_softmax<256><<<B, 256>>>(x, y, tg, loss, V);
    show("online_log_softmax<256>", y, (size_t)B * V * 4);
    show("online_log_softmax<256>.loss", loss, B * 4);

    char4 *qo = (char4 *)mk<char>(n);
    quantizeRows<<<n / 2048, 256>>>((const float4 *)x, qo, mean, 512);
    show("quantizeRows", qo, n);
    show("quantizeRows.scales", mean, n / 2048 * 4);
    return 0;
}
