// block-wide reductions
#include "shown.h"
#include <cooperative_groups.h>
#include <cfloat>
namespace cg = cooperative_groups;

/* ---------- 1: classic SDK style ---------- */
#define REDUCE_THREADS 256
__global__ void reduceInterleaved(const int *g_idata, long long *g_odata, unsigned int n) {
  extern __shared__ long long sdata[];
  unsigned int tid = threadIdx.x;
  unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  sdata[tid] = (i < n) ? (long long)g_idata[i] * (i & 7u) : 0;
  __syncthreads();
  for (unsigned int s = 1; s < blockDim.x; s *= 2) {
    unsigned int index = 2 * s * tid;
    if (index < blockDim.x) sdata[index] += sdata[index + s];
    __syncthreads();
  }
  if (tid == 0) g_odata[blockIdx.x] = sdata[0];
}

/* ---------- 2: argmax of rows, struct in shared ---------- */
struct ValIdx {
  float v;
  int i;
};
static __device__ __forceinline__ ValIdx better(const ValIdx &a, const ValIdx &b) {
  if (b.v > a.v || (b.v == a.v && b.i < a.i)) return b;
  return a;
}
template <int BLOCK>
__global__ void row_argmax(const float *__restrict__ logits, int *__restrict__ out, int rows, int cols) {
  __shared__ ValIdx best[BLOCK];
  const int row = blockIdx.x;
  const float *p = logits + (size_t)row * cols;
  ValIdx mine = {-FLT_MAX, cols};
  for (int c = threadIdx.x; c < cols; c += BLOCK) {
    ValIdx cand = {p[c] * __sinf((float)(c ^ row)), c};
    mine = better(mine, cand);
  }
  best[threadIdx.x] = mine;
  __syncthreads();
#pragma unroll
  for (int half = BLOCK / 2; half > 0; half >>= 1) {
    if (threadIdx.x < half) best[threadIdx.x] = better(best[threadIdx.x], best[threadIdx.x + half]);
    __syncthreads();
  }
  if (threadIdx.x == 0) out[row] = best[0].i;
}

/* ---------- 3: softmax of rows ---------- */
__global__ void softmax_kernel(float *out, const float *inp, int N, int C) {
  extern __shared__ float shared[];
  int idx = blockIdx.x;
  int tid = threadIdx.x;
  int block_size = blockDim.x;
  const float *x = inp + (size_t)idx * C;
  float maxval = -INFINITY;
  for (int i = tid; i < C; i += block_size) maxval = fmaxf(maxval, x[i]);
  shared[tid] = maxval;
  __syncthreads();
  for (int stride = block_size / 2; stride >= 1; stride /= 2) {
    if (tid < stride) shared[tid] = fmaxf(shared[tid], shared[tid + stride]);
    __syncthreads();
  }
  float offset = shared[0];
  __syncthreads();
  float *y = out + (size_t)idx * C;
  float sumval = 0.f;
  for (int i = tid; i < C; i += block_size) {
    float e = expf(x[i] - offset);
    y[i] = e;
    sumval += e;
  }
  shared[tid] = sumval;
  __syncthreads();
  for (int stride = block_size / 2; stride >= 1; stride /= 2) {
    if (tid < stride) shared[tid] += shared[tid + stride];
    __syncthreads();
  }
  float sum = shared[0];
  for (int i = tid; i < C; i += block_size) y[i] = y[i] / sum;
}

/* ---------- 4: min and max, two arrays, grid stride ---------- */
__global__ void MinMaxKernel(const short *src, size_t count, short2 *partial) {
  const int kThreads = 512;
  __shared__ short smin[kThreads];
  __shared__ short smax[kThreads];
  short lo = 32767, hi = -32768;
  for (size_t k = blockIdx.x * (size_t)kThreads + threadIdx.x; k < count; k += (size_t)kThreads * gridDim.x) {
    short v = (short)(src[k] * 31 - (short)(k % 977));
    lo = v < lo ? v : lo;
    hi = v > hi ? v : hi;
  }
  smin[threadIdx.x] = lo;
  smax[threadIdx.x] = hi;
  __syncthreads();
  for (int offset = kThreads >> 1; offset; offset >>= 1) {
    if (threadIdx.x < offset) {
      smin[threadIdx.x] = min(smin[threadIdx.x], smin[threadIdx.x + offset]);
      smax[threadIdx.x] = max(smax[threadIdx.x], smax[threadIdx.x + offset]);
    }
    __syncthreads();
  }
  if (!threadIdx.x) partial[blockIdx.x] = make_short2(smin[0], smax[0]);
}

/* ---------- 5: user functor, unrolled tail with __syncwarp ---------- */
struct XorMul {
  static __device__ unsigned identity() { return 0u; }
  __device__ unsigned operator()(unsigned a, unsigned b) const { return a ^ b; }
};
struct GcdLike {
  static __device__ unsigned identity() { return 0u; }
  __device__ unsigned operator()(unsigned a, unsigned b) const { return a | b; }
};
template <unsigned int blockSize, class T, class Op>
__device__ void tailReduce(T *s, unsigned tid, Op op) {
  T v = s[tid];
  if (blockSize >= 64) { v = op(v, s[tid + 32]); __syncwarp(); s[tid] = v; __syncwarp(); }
  if (tid < 16) v = op(v, s[tid + 16]);
  __syncwarp();
  s[tid] = v;
  __syncwarp();
  if (tid < 8) v = op(v, s[tid + 8]);
  __syncwarp();
  s[tid] = v;
  __syncwarp();
  if (tid < 4) v = op(v, s[tid + 4]);
  __syncwarp();
  s[tid] = v;
  __syncwarp();
  if (tid < 2) v = op(v, s[tid + 2]);
  __syncwarp();
  s[tid] = v;
  __syncwarp();
  if (tid < 1) s[0] = op(v, s[1]);
}
template <unsigned int blockSize, class T, class Op>
__global__ void reduceUnrolled(const T *in, T *out, unsigned n, Op op) {
  __shared__ T s[blockSize];
  unsigned tid = threadIdx.x;
  unsigned i = blockIdx.x * (blockSize * 4) + tid;
  T acc = Op::identity();
#pragma unroll
  for (int k = 0; k < 4; ++k, i += blockSize)
    if (i < n) acc = op(acc, in[i] * 2654435761u + i);
  s[tid] = acc;
  __syncthreads();
  if (blockSize >= 512) { if (tid < 256) s[tid] = op(s[tid], s[tid + 256]); __syncthreads(); }
  if (blockSize >= 256) { if (tid < 128) s[tid] = op(s[tid], s[tid + 128]); __syncthreads(); }
  if (blockSize >= 128) { if (tid < 64) s[tid] = op(s[tid], s[tid + 64]); __syncthreads(); }
  if (tid < 32) tailReduce<blockSize, T, Op>(s, tid, op);
  if (tid == 0) out[blockIdx.x] = s[0];
}
template <unsigned BS, class T, class Op>
void launchReduce(const T *in, T *out, unsigned n) {
  reduceUnrolled<BS, T, Op><<<(n + BS * 4 - 1) / (BS * 4), BS>>>(in, out, n, Op());
}

/* ---------- 6: layer norm with Welford merge ---------- */
struct Welford {
  float mean, m2, count;
};
__device__ inline Welford wf_merge(Welford a, Welford b) {
  if (b.count == 0.f) return a;
  if (a.count == 0.f) return b;
  float nb = a.count + b.count;
  float delta = b.mean - a.mean;
  Welford r;
  r.mean = a.mean + delta * (b.count / nb);
  r.m2 = a.m2 + b.m2 + delta * delta * a.count * b.count / nb;
  r.count = nb;
  return r;
}
constexpr int LN_WARPS_X = 32, LN_ROWS_Y = 4;
__global__ void __launch_bounds__(LN_WARPS_X *LN_ROWS_Y) layerNormWelford(const float *__restrict__ X, const float *__restrict__ gamma, const float *__restrict__ beta, float *__restrict__ Y, int nrows, int ncols, float eps) {
  __shared__ Welford st[LN_ROWS_Y][LN_WARPS_X];
  const int r = blockIdx.x * LN_ROWS_Y + threadIdx.y;
  Welford w{0.f, 0.f, 0.f};
  if (r < nrows) {
    for (int c = threadIdx.x; c < ncols; c += LN_WARPS_X) {
      float v = X[(size_t)r * ncols + c];
      w.count += 1.f;
      float d = v - w.mean;
      w.mean += d / w.count;
      w.m2 += d * (v - w.mean);
    }
  }
  st[threadIdx.y][threadIdx.x] = w;
  __syncthreads();
  for (int s = LN_WARPS_X / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s) st[threadIdx.y][threadIdx.x] = wf_merge(st[threadIdx.y][threadIdx.x], st[threadIdx.y][threadIdx.x + s]);
    __syncthreads();
  }
  if (r >= nrows) return;
  const Welford tot = st[threadIdx.y][0];
  const float rstd = rsqrtf(tot.m2 / tot.count + eps);
  for (int c = threadIdx.x; c < ncols; c += LN_WARPS_X) {
    size_t o = (size_t)r * ncols + c;
    Y[o] = (X[o] - tot.mean) * rstd * gamma[c] + beta[c];
  }
}

/* ---------- 7: cooperative groups dot product ---------- */
__device__ double cgReduceSum(cg::thread_block &grp, double *tmp, double val) {
  int lane = grp.thread_rank();
  for (int i = grp.size() / 2; i > 0; i /= 2) {
    tmp[lane] = val;
    grp.sync();
    if (lane < i) val += tmp[lane + i];
    grp.sync();
  }
  return val;
}
__global__ void cgDotKernel(double *partial, const double *a, const double *b, int n) {
  cg::thread_block g = cg::this_thread_block();
  extern __shared__ double temp[];
  double acc = 0.0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 2; i += blockDim.x * gridDim.x) {
    double2 u = reinterpret_cast<const double2 *>(a)[i];
    double2 v = reinterpret_cast<const double2 *>(b)[i];
    acc += u.x * v.x + u.y * v.y;
  }
  double s = cgReduceSum(g, temp, acc);
  if (g.thread_rank() == 0) partial[blockIdx.x] = s;
}

/* ---------- 8: image tile moments, 2-D block, several sums at once ---------- */
class TileMoments {
 public:
  enum { TX = 16, TY = 16 };
  int w, h;
  TileMoments(int w_, int h_) : w(w_), h(h_) {}
  dim3 grid() const { return dim3((w + TX - 1) / TX, (h + TY - 1) / TY); }
  void run(const unsigned char *img, float4 *out);
};
__global__ void tileMomentsKernel(const unsigned char *img, float4 *out, int width, int height) {
  __shared__ float4 acc[TileMoments::TX * TileMoments::TY];
  int x = blockIdx.x * TileMoments::TX + threadIdx.x;
  int y = blockIdx.y * TileMoments::TY + threadIdx.y;
  int t = threadIdx.y * TileMoments::TX + threadIdx.x;
  float4 m = make_float4(0.f, 0.f, 0.f, 0.f);
  if (x < width && y < height) {
    float v = (float)img[y * width + x];
    m = make_float4(v, v * v, v * threadIdx.x, v * threadIdx.y);
  }
  acc[t] = m;
  for (int n = TileMoments::TX * TileMoments::TY; n > 1;) {
    n >>= 1;
    __syncthreads();
    if (t < n) {
      float4 o = acc[t + n];
      acc[t].x += o.x;
      acc[t].y += o.y;
      acc[t].z += o.z;
      acc[t].w += o.w;
    }
  }
  if (t == 0) {
    float4 r = acc[0];
    float inv = r.x > 0.f ? 1.f / r.x : 0.f;
    out[blockIdx.y * gridDim.x + blockIdx.x] = make_float4(r.x, r.y, r.z * inv, r.w * inv);
  }
}
void TileMoments::run(const unsigned char *img, float4 *out) { tileMomentsKernel<<<grid(), dim3(TX, TY)>>>(img, out, w, h); }

int main() {
  {
    unsigned n = (1u << 25) + 77;
    unsigned nb = (n + REDUCE_THREADS - 1) / REDUCE_THREADS;
    int *a = mk<int>(n);
    long long *o = mk<long long>(nb);
    reduceInterleaved<<<nb, REDUCE_THREADS, REDUCE_THREADS * sizeof(long long)>>>(a, o, n);
    show("reduceInterleaved", o, nb * sizeof(long long));
    cudaFree(a); cudaFree(o);
  }
  {
    int rows = 16411, cols = 2003;
    float *a = mk<float>((size_t)rows * cols);
    int *o = mk<int>(rows);
    row_argmax<256><<<rows, 256>>>(a, o, rows, cols);
    show("row_argmax", o, rows * sizeof(int));
    cudaFree(o);
    float *y = mk<float>((size_t)rows * cols);
    softmax_kernel<<<rows, 256, 256 * sizeof(float)>>>(y, a, rows, cols);
    show("softmax_kernel", y, (size_t)rows * cols * sizeof(float));
    cudaFree(a); cudaFree(y);
  }
  {
    size_t n = (1u << 27) - 13;
    short *a = mk<short>(n);
    short2 *o = (short2 *)mk<short>(2 * 2048);
    MinMaxKernel<<<2048, 512>>>(a, n, o);
    show("MinMaxKernel", o, 2048 * sizeof(short2));
    cudaFree(a); cudaFree(o);
  }
  {
    unsigned n = (1u << 26) + 5;
    unsigned nb = (n + 1023) / 1024;
    unsigned *a = mk<unsigned>(n), *o = mk<unsigned>(nb);
    launchReduce<256, unsigned, XorMul>(a, o, n);
    show("reduceUnrolled", o, nb * sizeof(unsigned));
    cudaFree(a); cudaFree(o);
  }
  {
    int R = 50003, C = 777;
    float *x = mk<float>((size_t)R * C), *y = mk<float>((size_t)R * C), *g = mk<float>(C), *b = mk<float>(C);
    layerNormWelford<<<(R + LN_ROWS_Y - 1) / LN_ROWS_Y, dim3(LN_WARPS_X, LN_ROWS_Y)>>>(x, g, b, y, R, C, 1e-5f);
    show("layerNormWelford", y, (size_t)R * C * sizeof(float));
    cudaFree(x); cudaFree(y);
  }
  {
    int n = (1 << 25) + 6;
    double *a = mk<double>(n), *b = mk<double>(n), *o = mk<double>(1056);
    cgDotKernel<<<1056, 256, 256 * sizeof(double)>>>(o, a, b, n);
    show("cgDotKernel", o, 1056 * sizeof(double));
    cudaFree(a); cudaFree(b);
  }
  {
    TileMoments tm(8191, 4321);
    unsigned char *im = mk<unsigned char>((size_t)tm.w * tm.h);
    size_t nt = (size_t)tm.grid().x * tm.grid().y;
    float4 *o = (float4 *)mk<float>(nt * 4);
    tm.run(im, o);
    show("tileMomentsKernel", o, nt * 16);
  }
  return 0;
}
