#include "shown.h"
#include <cuda_fp16.h>
#ifndef RCACHE_DEVICE_LAUNCHES
#define RCACHE_DEVICE_LAUNCHES
namespace rcache {
namespace device {
/// Whether a launch of `original` would be made: what fails has to fail as it
/// did. Blocks of up to Sure threads need not be asked about: the compiler has
/// seen to it. Others, and dynamic shared memory, take a question to the
/// driver, so that what cudaFuncSetAttribute was given counts.
template <unsigned Sure, class Original>
static inline bool launches(Original *original, dim3 grid, dim3 block,
                            size_t shared) {
  const auto within = [](unsigned n, unsigned most) {
    return n != 0 && n <= most;
  };
  if (!within(grid.x, 0x7fffffffu) || !within(grid.y, 65535) ||
      !within(grid.z, 65535) || !within(block.x, 1024) ||
      !within(block.y, 1024) || !within(block.z, 64))
    return false;
  const unsigned threads = block.x * block.y * block.z;
  if (threads <= Sure && shared == 0)
    return true;
  cudaFuncAttributes a;
  if (cudaFuncGetAttributes(&a, original) != cudaSuccess) {
    (void)cudaGetLastError();
    return false;
  }
#if CUDART_VERSION >= 12000
  if (a.clusterDimMustBeSet || a.requiredClusterWidth > 0)
    return false;
#endif
  return threads <= unsigned(a.maxThreadsPerBlock) &&
         shared <= size_t(a.maxDynamicSharedSizeBytes);
}
} // namespace device
} // namespace rcache
#endif
#ifndef RCACHE_DEVICE_HOLDS
#define RCACHE_DEVICE_HOLDS
namespace rcache {
namespace device {
/// Whether blocks of `form` may have `shared` bytes of dynamic shared memory,
/// as the original's may; if more than is usual, `form` is given the same
/// right.
template <class Form> static inline bool holds(Form *form, size_t shared) {
  if (shared == 0)
    return true;
  cudaFuncAttributes a;
  if (cudaFuncGetAttributes(&a, form) == cudaSuccess &&
      (shared <= size_t(a.maxDynamicSharedSizeBytes) ||
       cudaFuncSetAttribute(form, cudaFuncAttributeMaxDynamicSharedMemorySize,
                            int(shared)) == cudaSuccess))
    return true;
  (void)cudaGetLastError();
  return false;
}
} // namespace device
} // namespace rcache
#endif
#if defined(RCACHE_VERIFY) && !defined(RCACHE_DEVICE_VERIFY)
#define RCACHE_DEVICE_VERIFY
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>
#include <type_traits>
#include <vector>
namespace rcache {
namespace device {
/// A __device__ variable that the kernel writes.
struct verify_variable {
  void *at = nullptr;
  template <typename Element> explicit verify_variable(const Element &v) {
    if (cudaGetSymbolAddress(&at, v) != cudaSuccess)
      (void)cudaGetLastError();
  }
};

/// One launch: save() copies every allocation that an argument points into; the
/// rewritten form runs; original() keeps its results and puts the old contents
/// back; the original runs; the destructor compares.
class verification {
  struct totals {
    std::mutex lock; // held while both forms of a kernel run
    unsigned long long launches = 0, different = 0, skipped = 0;
  };
  static totals &count() {
    static totals *t = new totals; // outlives the last launch
    static struct at_end {
      ~at_end() {
        fprintf(stderr,
                "rcache: verified %llu launches: %llu differ, %llu skipped\n",
                t->launches, t->different, t->skipped);
      }
    } line;
    (void)line;
    return *t;
  }
  struct pointer {
    std::string name;
    const char *at;
    long long size; // of an element, bytes
    bool reads;     // points to const
    std::string (*text)(const char *);
  };
  struct region {
    char *base;
    std::vector<char> before, after; // contents, of the rewritten form
  };
  std::string names, title;
  cudaStream_t stream;
  std::vector<pointer> pointers;
  std::vector<region> regions;
  std::unique_lock<std::mutex> lock;
  bool compares = false;

  static bool ok(cudaError_t e) {
    if (e != cudaSuccess)
      (void)cudaGetLastError();
    return e == cudaSuccess;
  }
  static void *driver(const char *name) {
    void *f = nullptr;
    auto found = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
    ok(cudaGetDriverEntryPointByVersion(name, &f, 12000, cudaEnableDefault,
                                        &found));
#else
    ok(cudaGetDriverEntryPoint(name, &f, cudaEnableDefault, &found));
#endif
    return found == cudaDriverEntryPointSuccess ? f : nullptr;
  }
  /// The allocation around an address, if CUDA knows it.
  static bool find(const void *p, char *&base, size_t &size) {
    using word = unsigned long long;
    static const auto range = reinterpret_cast<int (*)(word *, size_t *, word)>(
        driver("cuMemGetAddressRange"));
    static const auto attribute = reinterpret_cast<int (*)(void *, int, word)>(
        driver("cuPointerGetAttribute"));
    const word at = reinterpret_cast<word>(p);
    word from = 0; // attributes 11 and 12: start and size of the range
    if (!(range && range(&from, &size, at) == 0) &&
        !(attribute && attribute(&from, 11, at) == 0 &&
          attribute(&size, 12, at) == 0))
      return false;
    base = reinterpret_cast<char *>(from);
    return from != 0 && size != 0;
  }
  static bool copy(void *to, const void *from, size_t n) {
    return ok(cudaMemcpy(to, from, n, cudaMemcpyDefault));
  }

  template <typename Element>
  static std::string number(Element v, std::true_type) {
    char out[32];
    snprintf(out, sizeof(out), "%.9g", static_cast<double>(v));
    return std::is_floating_point<Element>::value ? out : std::to_string(v);
  }
  template <typename Element>
  static std::string number(const Element &, std::false_type) {
    return "";
  }
  template <typename Element> static std::string text(const char *at) {
    Element v;
    memcpy(&v, at, sizeof(Element));
    std::string hex = number(v, std::is_arithmetic<Element>());
    char digits[8];
    for (size_t i = sizeof(Element); i-- > 0; hex += digits)
      snprintf(digits, sizeof(digits), "%s%02x",
               i + 1 == sizeof(Element) ? " 0x" : "", at[i] & 0xff);
    return hex;
  }
  std::string next() { // name of the next argument
    const size_t comma = names.find(", ");
    const std::string name = names.substr(0, comma);
    names.erase(0, comma == std::string::npos ? comma : comma + 2);
    return name;
  }
  template <typename Element> void argument(Element *const &p) {
    using value =
        typename std::conditional<std::is_object<Element>::value,
                                  typename std::remove_cv<Element>::type,
                                  char>::type;
    const char *at;
    memcpy(&at, &p, sizeof(at));
    pointers.push_back({next(), at, sizeof(value),
                        std::is_const<Element>::value, text<value>});
  }
  void argument(const verify_variable &v) {
    argument(static_cast<unsigned *>(v.at));
  }
  /// Others: whatever in them is the address of an allocation.
  template <typename Element> void argument(const Element &v) {
    const std::string name = next();
    char *at, *base;
    size_t size;
    for (size_t i = 0; i + sizeof(at) <= sizeof(Element); i += sizeof(at)) {
      memcpy(&at, reinterpret_cast<const char *>(&v) + i, sizeof(at));
      if (at && find(at, base, size))
        pointers.push_back(
            {name + " + " + std::to_string(i), at, 4, false, text<unsigned>});
    }
  }
  void say(const std::string &what, unsigned long long nth) const {
    if (nth <= 20)
      fprintf(stderr, "rcache: %s: %s\n", title.c_str(), what.c_str());
  }
  bool skip(const std::string &why) {
    say("not verified, only the original runs: " + why, ++count().skipped);
    return false;
  }

public:
  /// arguments: the names of the values, separated by ", ".
  template <typename... Values>
  verification(const char *kernel, const char *arguments, dim3 grid, dim3 block,
               size_t shared, cudaStream_t stream, Values... values)
      : names(arguments), stream(stream) {
    char shape[128];
    snprintf(shape, sizeof(shape), "<<<(%u,%u,%u), (%u,%u,%u), %zu>>>", grid.x,
             grid.y, grid.z, block.x, block.y, block.z, shared);
    title = kernel + std::string(shape);
    const int each[] = {0, (argument(values), 0)...};
    (void)each;
  }
  verification(const verification &) = delete;

  /// False: this launch cannot be verified.
  bool save() {
    lock = std::unique_lock<std::mutex>(count().lock);
    auto capture = cudaStreamCaptureStatusNone;
    if (const cudaError_t e = cudaPeekAtLastError())
      return skip(std::string("an error is pending: ") + cudaGetErrorString(e));
    if (!ok(cudaStreamIsCapturing(stream, &capture)) ||
        capture != cudaStreamCaptureStatusNone)
      return skip("the stream is being captured");
    if (cudaDeviceSynchronize() != cudaSuccess)
      return skip("an earlier launch has failed");
    for (const pointer &p : pointers) {
      char *base = nullptr;
      size_t size = 0;
      const bool found = find(p.at, base, size);
      if (!found && p.at && !p.reads)
        return skip("'" + p.name +
                    "' points to memory that CUDA did not allocate");
      for (const region &r : regions)
        if (r.base == base)
          size = 0;
      if (!found || !size)
        continue;
      regions.push_back({base, std::vector<char>(size), {}});
      if (!copy(regions.back().before.data(), base, size))
        return skip("the memory that '" + p.name +
                    "' points into cannot be copied");
    }
    return true;
  }

  /// The rewritten form has been launched, the original comes next.
  void original() {
    ++count().launches;
    cudaError_t e = cudaGetLastError();
    if (e == cudaSuccess)
      e = cudaDeviceSynchronize();
    compares = e == cudaSuccess;
    if (!compares)
      say(std::string("the rewritten kernel fails: ") + cudaGetErrorString(e),
          ++count().different);
    for (region &r : regions) {
      r.after.resize(r.before.size());
      copy(r.after.data(), r.base, r.after.size());
      copy(r.base, r.before.data(), r.before.size());
    }
  }

  ~verification() {
    if (!compares || cudaPeekAtLastError() != cudaSuccess ||
        cudaDeviceSynchronize() != cudaSuccess)
      return;
    std::string first;
    unsigned long long bytes = 0;
    for (region &r : regions) {
      copy(r.before.data(), r.base,
           r.before.size()); // now the original's results
      for (size_t i = 0; i < r.after.size(); ++i)
        if (r.before[i] != r.after[i] && ++bytes == 1)
          first = describe(r, i);
    }
    if (bytes)
      say(first + "; " + std::to_string(bytes) + " bytes differ",
          ++count().different);
  }

private:
  /// A difference, as seen from the argument next in front of it.
  std::string describe(const region &r, size_t offset) const {
    const char *at = r.base + offset;
    const pointer *best = nullptr;
    for (const pointer &p : pointers)
      if (p.at >= r.base && p.at <= at && at < r.base + r.after.size() &&
          (!best || (best->reads && !p.reads) ||
           (best->reads == p.reads && p.at > best->at)))
        best = &p;
    if (!best)
      return "difference in front of all arguments, byte " +
             std::to_string(offset);
    const long long index = (at - best->at) / best->size;
    const size_t e =
        static_cast<size_t>(best->at - r.base + index * best->size);
    std::string out = "argument '" + best->name + "', element " +
                      std::to_string(index) + " (byte " +
                      std::to_string(at - best->at) + ")";
    if (e + static_cast<size_t>(best->size) <= r.after.size())
      out += ": original " + best->text(&r.before[e]) + ", rewritten " +
             best->text(&r.after[e]);
    return out;
  }
};
} // namespace device
} // namespace rcache
#endif

// depthwise 3x3, NCHW, one block = tile of one channel
template <typename scalar_t, int K>
__global__ void depthwise_conv2d_fwd(const scalar_t *__restrict__ input, const scalar_t *__restrict__ weight, const scalar_t *__restrict__ bias,
                                     scalar_t *__restrict__ output, int C, int H, int W) {
  constexpr int P = K / 2;
  __shared__ scalar_t tile[8 + K - 1][32 + K - 1];
  __shared__ scalar_t w[K * K];
  const int nc = blockIdx.z;
  const int c = nc % C;
  const int tid = threadIdx.y * 32 + threadIdx.x;
  if (tid < K * K) w[tid] = weight[c * K * K + tid];
  const scalar_t *in = input + (size_t)nc * H * W;
  for (int y = threadIdx.y; y < 8 + K - 1; y += 8) {
    for (int x = threadIdx.x; x < 32 + K - 1; x += 32) {
      const int gy = blockIdx.y * 8 + y - P, gx = blockIdx.x * 32 + x - P;
      tile[y][x] = (gy >= 0 && gy < H && gx >= 0 && gx < W) ? in[gy * W + gx] : scalar_t(0);
    }
  }
  __syncthreads();
  const int oy = blockIdx.y * 8 + threadIdx.y, ox = blockIdx.x * 32 + threadIdx.x;
  if (oy < H && ox < W) {
    scalar_t v = bias[c];
#pragma unroll
    for (int i = 0; i < K; ++i)
#pragma unroll
      for (int j = 0; j < K; ++j) v += tile[threadIdx.y + i][threadIdx.x + j] * w[i * K + j];
    output[(size_t)nc * H * W + oy * W + ox] = v;
  }
}

// LeNet style forward conv with dynamic shared (ECE408)
__global__ void ConvLayerForward_Kernel(int C, int M, int W_grid, int K, int H, int Wd, const float *X, const float *Wt, float *Y, int TILE) {
  int n, m, h0, w0, h_base, w_base, h, w;
  int X_tile_width = TILE + K - 1;
  int H_out = H - K + 1, W_out = Wd - K + 1;
  extern __shared__ float shmem[];
  float *X_shared = &shmem[0];
  float *W_shared = &shmem[X_tile_width * X_tile_width];
  n = blockIdx.x;
  m = blockIdx.y;
  h0 = threadIdx.y;
  w0 = threadIdx.x;
  h_base = (blockIdx.z / W_grid) * TILE;
  w_base = (blockIdx.z % W_grid) * TILE;
  h = h_base + h0;
  w = w_base + w0;
  float acc = 0.;
  for (int c = 0; c < C; c++) {
    if ((h0 < K) && (w0 < K)) W_shared[h0 * K + w0] = Wt[((m * C + c) * K + h0) * K + w0];
    for (int i = h; i < h_base + X_tile_width; i += TILE)
      for (int j = w; j < w_base + X_tile_width; j += TILE)
        X_shared[(i - h_base) * X_tile_width + (j - w_base)] = (i < H && j < Wd) ? X[((n * C + c) * H + i) * Wd + j] : 0.f;
    __syncthreads();
    for (int p = 0; p < K; p++)
      for (int q = 0; q < K; q++) acc += X_shared[(h0 + p) * X_tile_width + w0 + q] * W_shared[p * K + q];
    __syncthreads();
  }
  if (h < H_out && w < W_out) Y[((n * M + m) * H_out + h) * W_out + w] = acc;
}

// layernorm, shared tree for mean & rstd
__global__ void layernorm_forward_block(float *out, float *mean, float *rstd, const float *inp, const float *weight, const float *bias, int N, int C) {
  extern __shared__ float sh2[];
  float *s1 = sh2, *s2 = sh2 + blockDim.x;
  int idx = blockIdx.x, tid = threadIdx.x;
  const float *x = inp + (size_t)idx * C;
  float sum = 0.0f, sq = 0.0f;
  for (int i = tid; i < C; i += blockDim.x) { float v = x[i]; sum += v; sq += v * v; }
  s1[tid] = sum;
  s2[tid] = sq;
  __syncthreads();
  for (int stride = blockDim.x / 2; stride >= 1; stride /= 2) {
    if (tid < stride) { s1[tid] += s1[tid + stride]; s2[tid] += s2[tid + stride]; }
    __syncthreads();
  }
  float m = s1[0] / C;
  float rs = rsqrtf(s2[0] / C - m * m + 1e-5f);
  if (tid == 0) { mean[idx] = m; rstd[idx] = rs; }
  for (int i = tid; i < C; i += blockDim.x) out[(size_t)idx * C + i] = (x[i] - m) * rs * weight[i] + bias[i];
}

static __global__ void layernorm_forward_block_rc(float *out, float *mean,
                                                  float *rstd, const float *inp,
                                                  const float *weight,
                                                  const float *bias, int N,
                                                  int C) {
  // Register cache: a thread stands for 1 thread of layernorm_forward_block.
  //   sh2: stays in shared memory.
  //   Barriers stay: 'out' is written and may be 'inp', which is read.
  //   The first warp has rounds for itself in which no other one does anything;
  //   the others wait behind the loop.
  extern __shared__ float sh2[];
  float *s1 = sh2, *s2 = sh2 + blockDim.x;
  int idx = blockIdx.x, tid = threadIdx.x;
  const float *x = inp + (size_t)idx * C;
  float sum = 0.0f, sq = 0.0f;
  for (int i = tid; i < C; i += blockDim.x) {
    float v = x[i];
    sum += v;
    sq += v * v;
  }
  s1[tid] = sum;
  s2[tid] = sq;
  __syncthreads();
  for (int stride = blockDim.x / 2; stride > 32; stride /= 2) {
    if (tid < stride) {
      s1[tid] += s1[tid + stride];
      s2[tid] += s2[tid + stride];
    }
    __syncthreads();
  }
  if (threadIdx.x < 32) {
#pragma unroll
    for (int stride = 32; stride >= 1; stride /= 2) {
      if (tid < stride) {
        s1[tid] += s1[tid + stride];
        s2[tid] += s2[tid + stride];
      }
      __syncwarp();
    }
  }
  __syncthreads();
  float m = s1[0] / C;
  float rs = rsqrtf(s2[0] / C - m * m + 1e-5f);
  if (tid == 0) {
    mean[idx] = m;
    rstd[idx] = rs;
  }
  for (int i = tid; i < C; i += blockDim.x)
    out[(size_t)idx * C + i] = (x[i] - m) * rs * weight[i] + bias[i];
}

// Launches the register-cache form of layernorm_forward_block where it applies,
// else layernorm_forward_block itself.
static inline void layernorm_forward_block_rc_launch(
    dim3 rc_grid, dim3 rc_block, size_t rc_shared, cudaStream_t rc_stream,
    float *out, float *mean, float *rstd, const float *inp, const float *weight,
    const float *bias, int N, int C) {
#ifdef RCACHE_VERIFY
  ::rcache::device::verification rc_verification(
      "layernorm_forward_block", "out, mean, rstd, inp, weight, bias, N, C",
      rc_grid, rc_block, rc_shared, rc_stream, out, mean, rstd, inp, weight,
      bias, N, C);
#endif
  if ((rc_block.x == 128 && rc_block.y == 1 && rc_block.z == 1) &&
      (rc_grid.x != 0 && rc_grid.y != 0 && rc_grid.z != 0) &&
      (rc_grid.x <= 0x7fffffffu / 128) &&
      (C >= 0 && (double)C * rc_grid.x <= 4611686018427387904.0) &&
      (C >= 0 && (double)C <= 2147418112.0) &&
      ::rcache::device::launches<256>(layernorm_forward_block, rc_grid,
                                      rc_block, rc_shared) &&
      ::rcache::device::holds(layernorm_forward_block_rc, rc_shared)
#ifdef RCACHE_VERIFY
      && rc_verification.save()
#endif
  ) {
    layernorm_forward_block_rc<<<rc_grid, dim3(128u, 1u, 1u), rc_shared,
                                 rc_stream>>>(out, mean, rstd, inp, weight,
                                              bias, N, C);

#ifdef RCACHE_VERIFY
    rc_verification.original();
#else
    return;
#endif
  }

  layernorm_forward_block<<<rc_grid, rc_block, rc_shared, rc_stream>>>(
      out, mean, rstd, inp, weight, bias, N, C);
}

// batchnorm statistics: block per channel, NCHW
__global__ void batchnorm_collect_stats(const float *x, double *mean, double *var, int N, int C, int HW) {
  __shared__ double ssum[512], ssq[512];
  const int c = blockIdx.x;
  double a = 0, b = 0;
  for (int i = threadIdx.x; i < N * HW; i += blockDim.x) {
    int n = i / HW, p = i - n * HW;
    double v = x[((size_t)n * C + c) * HW + p];
    a += v;
    b += v * v;
  }
  ssum[threadIdx.x] = a;
  ssq[threadIdx.x] = b;
  for (int s = blockDim.x >> 1; s; s >>= 1) {
    __syncthreads();
    if (threadIdx.x < s) {
      ssum[threadIdx.x] += ssum[threadIdx.x + s];
      ssq[threadIdx.x] += ssq[threadIdx.x + s];
    }
  }
  if (threadIdx.x == 0) {
    double m = ssum[0] / (N * HW);
    mean[c] = m;
    var[c] = ssq[0] / (N * HW) - m * m;
  }
}

// causal 1-D conv (mamba-like), half in / half out, float math
#define CC_T 128
#define CC_W 4
__global__ void causal_conv1d_h(const __half *x, const float *w, __half *y, int D, int L) {
  __shared__ float sx[CC_T + CC_W - 1];
  int d = blockIdx.y, b = blockIdx.z;
  int l = blockIdx.x * CC_T + threadIdx.x;
  const __half *xp = x + ((size_t)b * D + d) * L;
  sx[threadIdx.x + CC_W - 1] = l < L ? __half2float(xp[l]) : 0.f;
  if (threadIdx.x < CC_W - 1) {
    int g = l - (CC_W - 1);
    sx[threadIdx.x] = g >= 0 ? __half2float(xp[g]) : 0.f;
  }
  __syncthreads();
  if (l >= L) return;
  float acc = 0;
#pragma unroll
  for (int k = 0; k < CC_W; k++) acc += w[d * CC_W + k] * sx[threadIdx.x + k];
  acc = acc / (1.f + __expf(-acc));
  y[((size_t)b * D + d) * L + l] = __float2half(acc);
}

int main() {
  {
    int N = 8, C = 96, H = 57, W = 61;
    size_t n = (size_t)N * C * H * W;
    float *x = mk<float>(n), *w = mk<float>(C * 9), *b = mk<float>(C), *y = mk<float>(n);
    depthwise_conv2d_fwd<float, 3><<<dim3((W + 31) / 32, (H + 7) / 8, N * C), dim3(32, 8)>>>(x, w, b, y, C, H, W);
    show("depthwise_conv2d_fwd", y, n * 4);
  }
  {
    int N = 64, C = 6, M = 16, H = 48, W = 48, K = 5, T = 16;
    int Ho = H - K + 1, Wo = W - K + 1, wg = (Wo + T - 1) / T, hg = (Ho + T - 1) / T;
    float *x = mk<float>(N * C * H * W), *w = mk<float>(M * C * K * K), *y = mk<float>(N * M * Ho * Wo);
    size_t sm = ((T + K - 1) * (T + K - 1) + K * K) * 4;
    ConvLayerForward_Kernel<<<dim3(N, M, wg * hg), dim3(T, T), sm>>>(C, M, wg, K, H, W, x, w, y, T);
    show("ConvLayerForward_Kernel", y, N * M * Ho * Wo * 4);
  }
  {
    int N = 8192, C = 768;
    float *x = mk<float>(N * C), *w = mk<float>(C), *b = mk<float>(C), *o = mk<float>(N * C), *m = mk<float>(N), *r = mk<float>(N);
    layernorm_forward_block_rc_launch(N, 128, 256 * 4, 0, o, m, r, x, w, b, N, C);
    show("layernorm_forward_block", o, N * C * 4);
  }
  {
    int N = 32, C = 128, HW = 28 * 28;
    float *x = mk<float>(N * C * HW);
    double *mv = mk<double>(2 * C);
    batchnorm_collect_stats<<<C, 512>>>(x, mv, mv + C, N, C, HW);
    show("batchnorm_collect_stats", mv, 2 * C * 8);
  }
  {
    int B = 4, D = 512, L = 2050;
    size_t n = (size_t)B * D * L;
    __half *h = (__half *)malloc(n * 2), *x, *y;
    for (size_t i = 0; i < n; i++) h[i] = __float2half(((i * 37) % 101) / 50.f - 1.f);
    cudaMalloc(&x, n * 2); cudaMalloc(&y, n * 2);
    cudaMemcpy(x, h, n * 2, cudaMemcpyHostToDevice);
    float *w = mk<float>(D * CC_W);
    causal_conv1d_h<<<dim3((L + CC_T - 1) / CC_T, D, B), CC_T>>>(x, w, y, D, L);
    show("causal_conv1d_h", y, n * 2);
  }
}
