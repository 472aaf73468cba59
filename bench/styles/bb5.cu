// CS 475 Parallel Programming -- collection of the homework kernels
#include <algorithm>
#include <vector>
#include "shown.h"

// HW1: work-efficient exclusive scan (GPU Gems 3), two elements per thread
#define LOG_NUM_BANKS 5
#define CONFLICT_FREE_OFFSET(n) ((n) >> LOG_NUM_BANKS)
__global__ void prescanGems(float *g_odata, const float *g_idata, float *sums, int n)
{
    extern __shared__ float temp[];
    int thid = threadIdx.x;
    int base = blockIdx.x * n;
    int offset = 1;
    int ai = thid;
    int bi = thid + (n / 2);
    int bankOffsetA = CONFLICT_FREE_OFFSET(ai);
    int bankOffsetB = CONFLICT_FREE_OFFSET(bi);
    temp[ai + bankOffsetA] = g_idata[base + ai];
    temp[bi + bankOffsetB] = g_idata[base + bi];
    for (int d = n >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (thid < d) {
            int ai = offset * (2 * thid + 1) - 1;
            int bi = offset * (2 * thid + 2) - 1;
            ai += CONFLICT_FREE_OFFSET(ai);
            bi += CONFLICT_FREE_OFFSET(bi);
            temp[bi] += temp[ai];
        }
        offset *= 2;
    }
    if (thid == 0) {
        sums[blockIdx.x] = temp[n - 1 + CONFLICT_FREE_OFFSET(n - 1)];
        temp[n - 1 + CONFLICT_FREE_OFFSET(n - 1)] = 0;
    }
    for (int d = 1; d < n; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (thid < d) {
            int ai = offset * (2 * thid + 1) - 1;
            int bi = offset * (2 * thid + 2) - 1;
            ai += CONFLICT_FREE_OFFSET(ai);
            bi += CONFLICT_FREE_OFFSET(bi);
            float t = temp[ai];
            temp[ai] = temp[bi];
            temp[bi] += t;
        }
    }
    __syncthreads();
    g_odata[base + ai] = temp[ai + bankOffsetA];
    g_odata[base + bi] = temp[bi + bankOffsetB];
}

// HW2: Kogge-Stone inclusive scan, double buffered, 64-bit
template <int SECTION>
__global__ void koggeStoneDouble(const long long *X, long long *Y, int N) {
  __shared__ long long buf[2 * SECTION];
  int i = blockIdx.x * SECTION + threadIdx.x;
  int src = 0, dst = SECTION;
  buf[src + threadIdx.x] = (i < N) ? X[i] : 0LL;
  for (unsigned stride = 1; stride < SECTION; stride *= 2) {
    __syncthreads();
    long long v = buf[src + threadIdx.x];
    if (threadIdx.x >= stride) v += buf[src + threadIdx.x - stride];
    buf[dst + threadIdx.x] = v;
    int tmp = src; src = dst; dst = tmp;
  }
  if (i < N) Y[i] = buf[src + threadIdx.x];
}

// HW3: bitonic sort of key-value pairs in shared memory
#define SHARED_SIZE_LIMIT 1024U
typedef unsigned int uint;
__device__ inline void Comparator(uint &keyA, uint &valA, uint &keyB, uint &valB, uint dir) {
  uint t;
  if ((keyA > keyB) == dir) {
    t = keyA; keyA = keyB; keyB = t;
    t = valA; valA = valB; valB = t;
  }
}
__global__ void bitonicPairs(uint *d_DstKey, uint *d_DstVal, const uint *d_SrcKey, const uint *d_SrcVal, uint arrayLength, uint dir) {
  __shared__ uint s_key[SHARED_SIZE_LIMIT];
  __shared__ uint s_val[SHARED_SIZE_LIMIT];
  d_SrcKey += blockIdx.x * SHARED_SIZE_LIMIT + threadIdx.x;
  d_SrcVal += blockIdx.x * SHARED_SIZE_LIMIT + threadIdx.x;
  d_DstKey += blockIdx.x * SHARED_SIZE_LIMIT + threadIdx.x;
  d_DstVal += blockIdx.x * SHARED_SIZE_LIMIT + threadIdx.x;
  s_key[threadIdx.x] = d_SrcKey[0];
  s_val[threadIdx.x] = d_SrcVal[0];
  s_key[threadIdx.x + SHARED_SIZE_LIMIT / 2] = d_SrcKey[SHARED_SIZE_LIMIT / 2];
  s_val[threadIdx.x + SHARED_SIZE_LIMIT / 2] = d_SrcVal[SHARED_SIZE_LIMIT / 2];
  for (uint size = 2; size < arrayLength; size <<= 1) {
    uint ddd = dir ^ ((threadIdx.x & (size / 2)) != 0);
    for (uint stride = size / 2; stride > 0; stride >>= 1) {
      __syncthreads();
      uint pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
      Comparator(s_key[pos], s_val[pos], s_key[pos + stride], s_val[pos + stride], ddd);
    }
  }
  for (uint stride = arrayLength / 2; stride > 0; stride >>= 1) {
    __syncthreads();
    uint pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
    Comparator(s_key[pos], s_val[pos], s_key[pos + stride], s_val[pos + stride], dir);
  }
  __syncthreads();
  d_DstKey[0] = s_key[threadIdx.x];
  d_DstVal[0] = s_val[threadIdx.x];
  d_DstKey[SHARED_SIZE_LIMIT / 2] = s_key[threadIdx.x + SHARED_SIZE_LIMIT / 2];
  d_DstVal[SHARED_SIZE_LIMIT / 2] = s_val[threadIdx.x + SHARED_SIZE_LIMIT / 2];
}

// HW4: stream compaction, each block packs its own segment
struct Above {
  int limit;
  __device__ bool operator()(int v) const { return v > limit; }
};
template <class Pred, int NT>
__global__ void compactSegments(const int *in, int *out, int *count, int n, Pred keep)
{
  __shared__ int flags[NT + 1];
  __shared__ int packed[NT];
  const int t = threadIdx.x;
  const int g = blockIdx.x * NT + t;
  const int v = g < n ? in[g] : 0;
  const int f = (g < n && keep(v)) ? 1 : 0;
  if (t == 0) flags[0] = 0;
  flags[t + 1] = f;
  packed[t] = -1;
  __syncthreads();
  for (int d = 1; d < NT; d <<= 1) {
    int add = 0;
    if (t >= d) add = flags[t + 1 - d];
    __syncthreads();
    flags[t + 1] += add;
    __syncthreads();
  }
  if (f) packed[flags[t]] = v;
  __syncthreads();
  if (g < n) out[g] = packed[t];
  if (t == NT - 1) count[blockIdx.x] = flags[NT];
}

// HW5: radix sort, local step: four 1-bit splits of 512 keys
__device__ unsigned scanBits512(unsigned bit, unsigned *ws) {
  unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  unsigned b = __ballot_sync(0xFFFFFFFF, bit);
  unsigned before = __popc(b & ((1u << lane) - 1));
  if (lane == 0) ws[warp] = __popc(b);
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned s = 0;
    for (int i = 0; i < 16; i++) { unsigned c = ws[i]; ws[i] = s; s += c; }
    ws[16] = s;
  }
  __syncthreads();
  return before + ws[warp];
}
__global__ void radixSplitLocal(const unsigned *keys, unsigned *sorted, int shift) {
  __shared__ unsigned skey[512];
  __shared__ unsigned ws[17];
  unsigned t = threadIdx.x;
  unsigned k = keys[blockIdx.x * 512 + t];
  for (int b = shift; b < shift + 4; ++b) {
    unsigned zero = !((k >> b) & 1);
    unsigned rankZero = scanBits512(zero, ws);
    unsigned totalZeros = ws[16];
    unsigned pos = zero ? rankZero : totalZeros + t - rankZero;
    skey[pos] = k;
    __syncthreads();
    k = skey[t];
    __syncthreads();
  }
  sorted[blockIdx.x * 512 + t] = k;
}

// HW6: merge two sorted sequences, merge-path partition then serial merge from shared
#define MP_THREADS 128
#define MP_ITEMS 7
#define MP_TILE (MP_THREADS * MP_ITEMS)
template <typename K>
__device__ int mergePath(const K *a, int na, const K *b, int nb, int diag) {
  int lo = diag > nb ? diag - nb : 0, hi = diag < na ? diag : na;
  while (lo < hi) {
    int mid = (lo + hi) >> 1;
    if (a[mid] <= b[diag - 1 - mid]) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}
__global__ void mergeTwoSorted(const int *__restrict__ A, int na, const int *__restrict__ B, int nb, int *__restrict__ C) {
  __shared__ int tile[MP_TILE];
  __shared__ int split[2];
  const int d0 = blockIdx.x * MP_TILE, d1 = min(d0 + MP_TILE, na + nb);
  if (threadIdx.x < 2) split[threadIdx.x] = mergePath(A, na, B, nb, threadIdx.x ? d1 : d0);
  __syncthreads();
  const int a0 = split[0], a1 = split[1], b0 = d0 - a0, b1 = d1 - a1;
  const int ca = a1 - a0, cb = b1 - b0;
  for (int i = threadIdx.x; i < ca + cb; i += MP_THREADS) tile[i] = i < ca ? A[a0 + i] : B[b0 + i - ca];
  __syncthreads();
  int diag = min((int)threadIdx.x * MP_ITEMS, ca + cb);
  int i = mergePath(tile, ca, tile + ca, cb, diag), j = diag - i;
  int r[MP_ITEMS];
#pragma unroll
  for (int k = 0; k < MP_ITEMS; ++k) {
    bool takeA = j >= cb || (i < ca && tile[i] <= tile[ca + j]);
    if (i + j < ca + cb) r[k] = takeA ? tile[i++] : tile[ca + j++];
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < MP_ITEMS; ++k)
    if (diag + k < ca + cb) tile[diag + k] = r[k];
  __syncthreads();
  for (int k = threadIdx.x; k < ca + cb; k += MP_THREADS) C[d0 + k] = tile[k];
}

// HW7: segmented inclusive scan with head flags
struct FlagVal {
  double val;
  int flag;
};
__device__ __host__ FlagVal segOp(const FlagVal &l, const FlagVal &r) {
  FlagVal o;
  o.flag = l.flag | r.flag;
  o.val = r.flag ? r.val : l.val + r.val;
  return o;
}
__global__ void segmentedScanBlocks(const double *v, const unsigned char *head, double *out, int n) {
  __shared__ FlagVal s[256];
  for (int b = blockIdx.x; b * 256 < n; b += gridDim.x) {
    int i = b * 256 + threadIdx.x;
    FlagVal me = {0.0, 0};
    if (i < n) { me.val = v[i]; me.flag = head[i] == 0; }
    s[threadIdx.x] = me;
    __syncthreads();
    for (int off = 1; off < 256; off *= 2) {
      if ((int)threadIdx.x >= off) me = segOp(s[threadIdx.x - off], me);
      __syncthreads();
      s[threadIdx.x] = me;
      __syncthreads();
    }
    if (i < n) out[i] = me.val;
  }
}

// HW8: digit counts, each thread keeps its own 16 counters
__global__ void digitCountPrivate(const unsigned *keys, unsigned *counts, int n, int perThread, int shift) {
  __shared__ unsigned total[16];
  unsigned short mine[16];
  for (int d = 0; d < 16; d++) mine[d] = 0;
  if (threadIdx.x < 16) total[threadIdx.x] = 0;
  __syncthreads();
  size_t start = (size_t)blockIdx.x * blockDim.x * perThread + threadIdx.x;
  for (int j = 0; j < perThread; j++) {
    size_t g = start + (size_t)j * blockDim.x;
    if (g < n) mine[(keys[g] >> shift) & 15]++;
  }
  for (int d = 0; d < 16; d++)
    if (mine[d]) atomicAdd(&total[d], (unsigned)mine[d]);
  __syncthreads();
  if (threadIdx.x < 16) counts[threadIdx.x * gridDim.x + blockIdx.x] = total[threadIdx.x];
}

template <class T>
T *upload(const std::vector<T> &v) {
  T *d;
  cudaMalloc(&d, v.size() * sizeof(T));
  cudaMemcpy(d, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice);
  return d;
}

int main() {
  const int N = 1 << 24;
  std::vector<unsigned> rnd(N);
  unsigned s = 2024;
  for (auto &r : rnd) { s ^= s << 13; s ^= s >> 17; s ^= s << 5; r = s; }
  unsigned *keys = upload(rnd);
  uint *k2 = mk<uint>(N), *v2 = mk<uint>(N), *v1 = mk<uint>(N);

  float *fa = mk<float>(N), *fb = mk<float>(N), *sums = mk<float>(N / 1024);
  prescanGems<<<N / 1024, 512, (1024 + 32) * sizeof(float)>>>(fb, fa, sums, 1024);
  show("prescanGems", fb, N * sizeof(float));
  show("prescanGems", sums, N / 1024 * sizeof(float));

  int nk = 6000007;
  long long *la = mk<long long>(nk), *lb = mk<long long>(nk);
  koggeStoneDouble<512><<<(nk + 511) / 512, 512>>>(la, lb, nk);
  show("koggeStoneDouble", lb, nk * sizeof(long long));

  bitonicPairs<<<N / 2 / SHARED_SIZE_LIMIT, SHARED_SIZE_LIMIT / 2>>>(k2, v2, keys, v1, SHARED_SIZE_LIMIT, 1);
  show("bitonicPairs", k2, N / 2 * sizeof(uint));
  show("bitonicPairs", v2, N / 2 * sizeof(uint));

  int nc = 9999999;
  int *ia = mk<int>(nc), *ib = mk<int>(nc), *cnt = mk<int>((nc + 255) / 256);
  compactSegments<Above, 256><<<(nc + 255) / 256, 256>>>(ia, ib, cnt, nc, Above{6});
  show("compactSegments", ib, nc * sizeof(int));
  show("compactSegments", cnt, (nc + 255) / 256 * sizeof(int));

  radixSplitLocal<<<N / 512, 512>>>(keys, k2, 8);
  show("radixSplitLocal", k2, N * sizeof(unsigned));

  int na = 3000001, nb = 4100003;
  std::vector<int> A(rnd.begin(), rnd.begin() + na), B(rnd.begin() + na, rnd.begin() + na + nb);
  std::sort(A.begin(), A.end());
  std::sort(B.begin(), B.end());
  int *dA = upload(A), *dB = upload(B), *dC = mk<int>(na + nb);
  mergeTwoSorted<<<(na + nb + MP_TILE - 1) / MP_TILE, MP_THREADS>>>(dA, na, dB, nb, dC);
  show("mergeTwoSorted", dC, (size_t)(na + nb) * sizeof(int));

  int ns = 5 * 1000 * 1000 + 13;
  double *da = mk<double>(ns), *db = mk<double>(ns);
  unsigned char *hd = mk<unsigned char>(ns);
  segmentedScanBlocks<<<1056, 256>>>(da, hd, db, ns);
  show("segmentedScanBlocks", db, ns * sizeof(double));

  int per = 33, nbk = (N + 192 * per - 1) / (192 * per);
  unsigned *dc = mk<unsigned>(nbk * 16);
  digitCountPrivate<<<nbk, 192>>>(keys, dc, N, per, 20);
  show("digitCountPrivate", dc, nbk * 16 * sizeof(unsigned));
  return 0;
}
