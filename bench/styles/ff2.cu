// block-wide scans
#include "shown.h"

// 1. GPU Gems naive scan, double buffered
__global__ void scan_naive(float *g_odata, const float *g_idata, int n) {
  extern __shared__ float temp[];
  int thid = threadIdx.x;
  int bs = blockDim.x;
  long base = (long)blockIdx.x * bs;
  int pout = 0, pin = 1;
  temp[thid] = (base + thid < n) ? g_idata[base + thid] : 0.0f;
  __syncthreads();
  for (int offset = 1; offset < bs; offset *= 2) {
    pout = 1 - pout;
    pin = 1 - pout;
    if (thid >= offset)
      temp[pout * bs + thid] = temp[pin * bs + thid] + temp[pin * bs + thid - offset];
    else
      temp[pout * bs + thid] = temp[pin * bs + thid];
    __syncthreads();
  }
  if (base + thid < n) g_odata[base + thid] = temp[pout * bs + thid];
}

// 2. in-place Hillis-Steele with max, templated
template <typename T, int NT>
__global__ void runningMaxInPlace(const T *__restrict__ in, T *__restrict__ out, size_t n) {
  __shared__ T buf[NT];
  const size_t gid = (size_t)blockIdx.x * NT + threadIdx.x;
  T x = T(-1);
  if (gid < n) x = (T)((in[gid] * 17 + (T)(gid * 37 % 1013)) % 4099);
  buf[threadIdx.x] = x;
  __syncthreads();
#pragma unroll
  for (int d = 1; d < NT; d <<= 1) {
    T y = x;
    if (threadIdx.x >= d) y = buf[threadIdx.x - d];
    __syncthreads();
    x = max(x, y);
    buf[threadIdx.x] = x;
    __syncthreads();
  }
  if (gid < n) out[gid] = x;
}

// 3. Blelloch with conflict-free padding
#define NUM_BANKS 32
#define LOG_NUM_BANKS 5
#define CONFLICT_FREE_OFFSET(n) ((n) >> LOG_NUM_BANKS)
#define SCAN_N 1024
__global__ void prescanPadded(int *g_odata, int *blockSums, const int *g_idata, unsigned n) {
  __shared__ int temp[SCAN_N + CONFLICT_FREE_OFFSET(SCAN_N)];
  int thid = threadIdx.x;
  unsigned blk = blockIdx.x * SCAN_N;
  int ai = thid, bi = thid + SCAN_N / 2;
  int bankOffsetA = CONFLICT_FREE_OFFSET(ai), bankOffsetB = CONFLICT_FREE_OFFSET(bi);
  temp[ai + bankOffsetA] = blk + ai < n ? g_idata[blk + ai] : 0;
  temp[bi + bankOffsetB] = blk + bi < n ? g_idata[blk + bi] : 0;
  int offset = 1;
  for (int d = SCAN_N >> 1; d > 0; d >>= 1) {
    __syncthreads();
    if (thid < d) {
      int a = offset * (2 * thid + 1) - 1;
      int b = offset * (2 * thid + 2) - 1;
      a += CONFLICT_FREE_OFFSET(a);
      b += CONFLICT_FREE_OFFSET(b);
      temp[b] += temp[a];
    }
    offset *= 2;
  }
  if (thid == 0) {
    int last = SCAN_N - 1 + CONFLICT_FREE_OFFSET(SCAN_N - 1);
    blockSums[blockIdx.x] = temp[last];
    temp[last] = 0;
  }
  for (int d = 1; d < SCAN_N; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (thid < d) {
      int a = offset * (2 * thid + 1) - 1;
      int b = offset * (2 * thid + 2) - 1;
      a += CONFLICT_FREE_OFFSET(a);
      b += CONFLICT_FREE_OFFSET(b);
      int t = temp[a];
      temp[a] = temp[b];
      temp[b] += t;
    }
  }
  __syncthreads();
  if (blk + ai < n) g_odata[blk + ai] = temp[ai + bankOffsetA];
  if (blk + bi < n) g_odata[blk + bi] = temp[bi + bankOffsetB];
}

// 4. segmented scan, flags in a second array
__global__ void segscan_kernel(const float *vals, const unsigned char *keys, float *res, unsigned int len) {
  __shared__ float sv[2][384];
  __shared__ unsigned char sf[2][384];
  const unsigned int tx = threadIdx.x;
  const unsigned int g = blockIdx.x * 384u + tx;
  unsigned char flag = 1;
  float v = 0.f;
  if (g < len) {
    v = vals[g];
    flag = (tx == 0) ? 1 : (keys[g] == 3);
  }
  int cur = 0;
  sv[0][tx] = v;
  sf[0][tx] = flag;
  __syncthreads();
  for (unsigned int d = 1; d < 384u; d <<= 1) {
    float a = sv[cur][tx];
    unsigned char f = sf[cur][tx];
    if (tx >= d) {
      if (!f) a += sv[cur][tx - d];
      f |= sf[cur][tx - d];
    }
    cur ^= 1;
    sv[cur][tx] = a;
    sf[cur][tx] = f;
    __syncthreads();
  }
  if (g >= len) return;
  res[g] = sv[cur][tx];
}

// 5. first-order IIR as scan of affine maps
struct Affine {
  float a, b;
  __device__ Affine() {}
  __device__ Affine(float a_, float b_) : a(a_), b(b_) {}
};
__device__ inline Affine compose(const Affine &first, const Affine &then) { return Affine(then.a * first.a, then.a * first.b + then.b); }
constexpr int kIirThreads = 256;
__global__ void iirAffineScan(const float *__restrict__ sig, float *__restrict__ filt, int samples, float pole) {
  __shared__ Affine maps[kIirThreads];
  int channel = blockIdx.y;
  int t = blockIdx.x * kIirThreads + threadIdx.x;
  const float *s = sig + (size_t)channel * samples;
  Affine m(1.f, 0.f);
  if (t < samples) m = Affine(pole - 0.01f * (t & 3), s[t] * (1.f - pole));
  maps[threadIdx.x] = m;
  __syncthreads();
  for (int step = 1; step < kIirThreads; step += step) {
    Affine prev(1.f, 0.f);
    if ((int)threadIdx.x >= step) prev = maps[threadIdx.x - step];
    __syncthreads();
    m = compose(prev, m);
    maps[threadIdx.x] = m;
    __syncthreads();
  }
  if (t < samples) filt[(size_t)channel * samples + t] = m.b;
}

// 6. several elements a thread, exclusive
template <class T, class BinOp, int THREADS, int ITEMS>
struct ChunkScan {
  T total[THREADS];
  __device__ T exclusive(T v, T ident, BinOp op) {
    int t = threadIdx.x;
    total[t] = v;
    __syncthreads();
    for (int d = 1; d < THREADS; d *= 2) {
      T o = t >= d ? total[t - d] : ident;
      __syncthreads();
      if (t >= d) total[t] = op(o, total[t]);
      __syncthreads();
    }
    return t ? total[t - 1] : ident;
  }
};
struct AddOp {
  template <class T> __device__ T operator()(T a, T b) const { return a + b; }
};
template <class T, class BinOp, int THREADS, int ITEMS>
__global__ void chunkExclusive(const T *in, T *out, int n) {
  __shared__ ChunkScan<T, BinOp, THREADS, ITEMS> sc;
  BinOp op;
  T r[ITEMS];
  int base = (blockIdx.x * THREADS + threadIdx.x) * ITEMS;
  T sum = 0;
#pragma unroll
  for (int k = 0; k < ITEMS; k++) {
    r[k] = base + k < n ? in[base + k] : T(0);
    sum = op(sum, r[k]);
  }
  T run = sc.exclusive(sum, T(0), op);
#pragma unroll
  for (int k = 0; k < ITEMS; k++) {
    if (base + k < n) out[base + k] = run;
    run = op(run, r[k]);
  }
}
template <class T, int THREADS, int ITEMS>
static void doChunk(const T *in, T *out, int n) {
  int per = THREADS * ITEMS;
  chunkExclusive<T, AddOp, THREADS, ITEMS><<<(n + per - 1) / per, THREADS>>>(in, out, n);
}

// 7. max-plus 2x2 matrices, up/down sweep
typedef struct { int m[4]; } mp2;
#define MP_NEG (-100000000)
static __device__ mp2 mp_mul(mp2 A, mp2 B) {
  mp2 C;
  C.m[0] = max(A.m[0] + B.m[0], A.m[1] + B.m[2]);
  C.m[1] = max(A.m[0] + B.m[1], A.m[1] + B.m[3]);
  C.m[2] = max(A.m[2] + B.m[0], A.m[3] + B.m[2]);
  C.m[3] = max(A.m[2] + B.m[1], A.m[3] + B.m[3]);
  for (int i = 0; i < 4; ++i) C.m[i] = max(C.m[i], MP_NEG);
  return C;
}
__global__ void viterbi_maxplus(const int *obs, int2 *score, int n) {
  extern __shared__ mp2 tree[];
  int t = threadIdx.x, B = blockDim.x;
  int i = blockIdx.x * B + t;
  int o = i < n ? obs[i] : 0;
  mp2 M = {{o, -2 - (o & 1), -3, 5 - o}};
  mp2 I = {{0, MP_NEG, MP_NEG, 0}};
  tree[t] = M;
  __syncthreads();
  for (int s = 1; s < B; s <<= 1) {
    int k = (t + 1) * 2 * s - 1;
    if (k < B) tree[k] = mp_mul(tree[k - s], tree[k]);
    __syncthreads();
  }
  if (t == 0) tree[B - 1] = I;
  __syncthreads();
  for (int s = B >> 1; s >= 1; s >>= 1) {
    int k = (t + 1) * 2 * s - 1;
    if (k < B) {
      mp2 left = tree[k - s];
      tree[k - s] = tree[k];
      tree[k] = mp_mul(tree[k], left);
    }
    __syncthreads();
  }
  mp2 R = mp_mul(tree[t], M);
  if (i < n) score[i] = make_int2(max(R.m[0], R.m[2]), max(R.m[1], R.m[3]));
}

// 8. integral image of each 32 x 32 tile: rows, then columns
__global__ void TileIntegral(const unsigned char *__restrict__ image, unsigned *__restrict__ integral, int W, int H, int pitch) {
  __shared__ unsigned tile[32][33];
  int gx = blockIdx.x * 32 + threadIdx.x, gy = blockIdx.y * 32 + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = (gx < W && gy < H) ? image[(size_t)gy * pitch + gx] : 0u;
  __syncthreads();
  for (int d = 1; d < 32; d <<= 1) {
    unsigned add = threadIdx.x >= d ? tile[threadIdx.y][threadIdx.x - d] : 0u;
    __syncthreads();
    tile[threadIdx.y][threadIdx.x] += add;
    __syncthreads();
  }
  for (int d = 1; d < 32; d <<= 1) {
    unsigned add = threadIdx.y >= d ? tile[threadIdx.y - d][threadIdx.x] : 0u;
    __syncthreads();
    tile[threadIdx.y][threadIdx.x] += add;
    __syncthreads();
  }
  if (gx < W && gy < H) integral[(size_t)gy * W + gx] = tile[threadIdx.y][threadIdx.x];
}

int main(int argc, char **argv) {
  {
    int n = (1 << 25) + 333;
    float *a = mk<float>(n), *o = mk<float>(n);
    const int threads = 512;
    scan_naive<<<(n + threads - 1) / threads, threads, 2 * threads * sizeof(float)>>>(o, a, n);
    show("scan_naive", o, (size_t)n * 4);
    cudaFree(a); cudaFree(o);
  }
  {
    size_t n = (1 << 25) + 1;
    int *a = mk<int>(n), *o = mk<int>(n);
    runningMaxInPlace<int, 256><<<(n + 255) / 256, 256>>>(a, o, n);
    show("runningMaxInPlace", o, n * 4);
    int nb = (n + SCAN_N - 1) / SCAN_N;
    int *bs = mk<int>(nb);
    prescanPadded<<<nb, SCAN_N / 2>>>(o, bs, a, (unsigned)n);
    show("prescanPadded", o, n * 4);
    cudaFree(a); cudaFree(o);
  }
  {
    unsigned n = 30000001;
    float *v = mk<float>(n), *r = mk<float>(n);
    unsigned char *k = mk<unsigned char>(n);
    segscan_kernel<<<(n + 383) / 384, 384>>>(v, k, r, n);
    show("segscan_kernel", r, (size_t)n * 4);
    cudaFree(v); cudaFree(r); cudaFree(k);
  }
  {
    int samples = 480001, ch = 64;
    float *s = mk<float>((size_t)samples * ch), *f = mk<float>((size_t)samples * ch);
    dim3 grid((samples + kIirThreads - 1) / kIirThreads, ch);
    iirAffineScan<<<grid, kIirThreads>>>(s, f, samples, 0.93f);
    show("iirAffineScan", f, (size_t)samples * ch * 4);
    cudaFree(s); cudaFree(f);
  }
  {
    int n = 50000017;
    long long *a = mk<long long>(n), *o = mk<long long>(n);
    doChunk<long long, 128, 8>(a, o, n);
    show("chunkExclusive", o, (size_t)n * 8);
    cudaFree(a); cudaFree(o);
  }
  {
    int n = (1 << 24) + 99;
    int *a = mk<int>(n);
    int2 *o = (int2 *)mk<int>(2 * (size_t)n);
    viterbi_maxplus<<<(n + 127) / 128, 128, 128 * sizeof(mp2)>>>(a, o, n);
    show("viterbi_maxplus", o, (size_t)n * 8);
    cudaFree(a); cudaFree(o);
  }
  {
    int W = 7001, H = 5003, pitch = 7040;
    unsigned char *im = mk<unsigned char>((size_t)pitch * H);
    unsigned *o = mk<unsigned>((size_t)W * H);
    TileIntegral<<<dim3((W + 31) / 32, (H + 31) / 32), dim3(32, 32)>>>(im, o, W, H, pitch);
    show("TileIntegral", o, (size_t)W * H * 4);
  }
}
