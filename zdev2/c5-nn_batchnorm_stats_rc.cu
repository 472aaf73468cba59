// tiny NN runtime: forward kernels
#include "shown.h"
#include <cfloat>
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

namespace nn {

// one block per row, the row is staged in dynamic shared memory
__global__ void softmax_rows(const float* __restrict__ x, float* __restrict__ y, int cols) {
  extern __shared__ float smem[];
  float* row = smem;
  float* red = smem + cols;
  const float* xr = x + (size_t)blockIdx.x * cols;
  const int tid = threadIdx.x;
  float m = -FLT_MAX;
  for (int c = tid; c < cols; c += blockDim.x) {
    float v = xr[c];
    row[c] = v;
    m = fmaxf(m, v);
  }
  red[tid] = m;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (tid < s) red[tid] = fmaxf(red[tid], red[tid + s]);
    __syncthreads();
  }
  m = red[0];
  __syncthreads();
  float sum = 0.f;
  for (int c = tid; c < cols; c += blockDim.x) {
    float e = expf(row[c] - m);
    row[c] = e;
    sum += e;
  }
  red[tid] = sum;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (tid < s) red[tid] += red[tid + s];
    __syncthreads();
  }
  const float inv = 1.f / red[0];
  for (int c = tid; c < cols; c += blockDim.x) y[(size_t)blockIdx.x * cols + c] = row[c] * inv;
}

__inline__ __device__ float warpReduceSum(float val) {
#pragma unroll
  for (int mask = 16; mask > 0; mask >>= 1) val += __shfl_xor_sync(0xffffffff, val, mask, 32);
  return val;
}

__inline__ __device__ float blockReduceSum(float val) {
  static __shared__ float shared[32];
  int lane = threadIdx.x & 0x1f;
  int wid = threadIdx.x >> 5;
  val = warpReduceSum(val);
  __syncthreads();
  if (lane == 0) shared[wid] = val;
  __syncthreads();
  val = (threadIdx.x < (blockDim.x >> 5)) ? shared[lane] : 0.0f;
  val = warpReduceSum(val);
  return val;
}

template <typename T>
__global__ void layer_norm(const T* in, const T* gamma, const T* beta, T* out, int hidden) {
  __shared__ float s_mean, s_var;
  const T* p = in + (size_t)blockIdx.x * hidden;
  float s = 0.f;
  for (int i = threadIdx.x; i < hidden; i += blockDim.x) s += (float)p[i];
  s = blockReduceSum(s);
  if (threadIdx.x == 0) s_mean = s / hidden;
  __syncthreads();
  float v = 0.f;
  for (int i = threadIdx.x; i < hidden; i += blockDim.x) {
    float d = (float)p[i] - s_mean;
    v += d * d;
  }
  v = blockReduceSum(v);
  if (threadIdx.x == 0) s_var = rsqrtf(v / hidden + 1e-5f);
  __syncthreads();
  for (int i = threadIdx.x; i < hidden; i += blockDim.x)
    out[(size_t)blockIdx.x * hidden + i] = (T)(((float)p[i] - s_mean) * s_var * (float)gamma[i] + (float)beta[i]);
}

// S[b] = scale * Q[b] K[b]^T with causal mask; head dim 64
#define HD 64
#define TQ 16
__global__ void attn_scores(const float* Q, const float* K, float* S, int L, float scale) {
  __shared__ float q[TQ][HD + 1];
  __shared__ float k[TQ][HD + 1];
  const size_t head = blockIdx.z;
  const int qi0 = blockIdx.y * TQ, kj0 = blockIdx.x * TQ;
  const int tid = threadIdx.y * TQ + threadIdx.x;
  for (int e = tid; e < TQ * HD; e += TQ * TQ) {
    int r = e / HD, c = e % HD;
    q[r][c] = qi0 + r < L ? Q[(head * L + qi0 + r) * HD + c] : 0.f;
    k[r][c] = kj0 + r < L ? K[(head * L + kj0 + r) * HD + c] : 0.f;
  }
  __syncthreads();
  int i = qi0 + threadIdx.y, j = kj0 + threadIdx.x;
  if (i >= L || j >= L) return;
  float acc = 0.f;
#pragma unroll 16
  for (int d = 0; d < HD; ++d) acc += q[threadIdx.y][d] * k[threadIdx.x][d];
  S[(head * L + i) * L + j] = j <= i ? acc * scale : -10000.0f;
}

// direct 3x3 convolution NCHW, pad 1, stride 1; block computes a 16x16 patch of 4 output maps
template <int C>
__global__ void conv3x3_direct(const float* __restrict__ in, const float* __restrict__ w, float* __restrict__ out, int H, int W, int OC) {
  __shared__ float patch[18][18];
  __shared__ float wt[4][9];
  const int groups = OC / 4;
  const int n = blockIdx.z / groups, oc0 = (blockIdx.z % groups) * 4;
  const int ox = blockIdx.x * 16 + threadIdx.x, oy = blockIdx.y * 16 + threadIdx.y;
  const int tid = threadIdx.y * 16 + threadIdx.x;
  float a0 = 0.f, a1 = 0.f, a2 = 0.f, a3 = 0.f;
  for (int c = 0; c < C; ++c) {
    for (int e = tid; e < 18 * 18; e += 256) {
      int py = (int)blockIdx.y * 16 + e / 18 - 1, px = (int)blockIdx.x * 16 + e % 18 - 1;
      patch[e / 18][e % 18] = ((unsigned)py < (unsigned)H && (unsigned)px < (unsigned)W) ? in[((size_t)(n * C + c) * H + py) * W + px] : 0.f;
    }
    if (tid < 36) wt[tid / 9][tid % 9] = w[((oc0 + tid / 9) * C + c) * 9 + tid % 9];
    __syncthreads();
#pragma unroll
    for (int ky = 0; ky < 3; ++ky)
#pragma unroll
      for (int kx = 0; kx < 3; ++kx) {
        float v = patch[threadIdx.y + ky][threadIdx.x + kx];
        a0 += v * wt[0][ky * 3 + kx];
        a1 += v * wt[1][ky * 3 + kx];
        a2 += v * wt[2][ky * 3 + kx];
        a3 += v * wt[3][ky * 3 + kx];
      }
    __syncthreads();
  }
  if (ox < W && oy < H) {
    size_t o = ((size_t)(n * OC + oc0) * H + oy) * W + ox, pl = (size_t)H * W;
    out[o] = fmaxf(a0 - 400.f, 0.f);
    out[o + pl] = fmaxf(a1 - 400.f, 0.f);
    out[o + 2 * pl] = fmaxf(a2 - 400.f, 0.f);
    out[o + 3 * pl] = fmaxf(a3 - 400.f, 0.f);
  }
}

struct MeanVar { float s, q; };
// statistics over N,H,W; block per channel
__global__ void batchnorm_stats(const float* x, float* mean, float* var, int N, int C, int HW) {
  __shared__ MeanVar sh[1024];
  int c = blockIdx.x;
  MeanVar a = {0.f, 0.f};
  for (int n = 0; n < N; ++n)
    for (int i = threadIdx.x; i < HW; i += 1024) {
      float v = x[((size_t)n * C + c) * HW + i];
      a.s += v;
      a.q += v * v;
    }
  sh[threadIdx.x] = a;
  __syncthreads();
  for (int h = 512; h >= 1; h /= 2) {
    if (threadIdx.x < h) {
      sh[threadIdx.x].s += sh[threadIdx.x + h].s;
      sh[threadIdx.x].q += sh[threadIdx.x + h].q;
    }
    __syncthreads();
  }
  if (!threadIdx.x) {
    float inv = 1.f / ((float)N * HW), mu = sh[0].s * inv;
    mean[c] = mu;
    var[c] = sh[0].q * inv - mu * mu;
  }
}

static __global__ void batchnorm_stats_rc(const float *x, float *mean,
                                          float *var, int N, int C, int HW) {
  // Register cache: a thread stands for 1 thread of batchnorm_stats.
  //   sh_s: stays in shared memory.
  //   sh_q: stays in shared memory.
  //   Barriers stay: 'mean' is written and may be 'x', which is read.
  //   The first warp has rounds for itself in which no other one does anything;
  //   the others wait behind the loop.
  __shared__ float sh_s[1024];
  __shared__ float sh_q[1024];
  int c = blockIdx.x;
  MeanVar a = {0.f, 0.f};
  for (int n = 0; n < N; ++n)
    for (int i = threadIdx.x; i < HW; i += 1024) {
      float v = x[((size_t)n * C + c) * HW + i];
      a.s += v;
      a.q += v * v;
    }
  {
    const MeanVar value = a;
    sh_s[threadIdx.x] = value.s;
    sh_q[threadIdx.x] = value.q;
  }
  __syncthreads();
  for (int h = 512; h > 32; h /= 2) {
    if (threadIdx.x < h) {
      sh_s[threadIdx.x] += sh_s[threadIdx.x + h];
      sh_q[threadIdx.x] += sh_q[threadIdx.x + h];
    }
    __syncthreads();
  }
  if (threadIdx.x < 32) {
#pragma unroll
    for (int h = 32; h >= 1; h /= 2) {
      if (threadIdx.x < h) {
        sh_s[threadIdx.x] += sh_s[threadIdx.x + h];
        sh_q[threadIdx.x] += sh_q[threadIdx.x + h];
      }
      __syncwarp();
    }
  }
  __syncthreads();
  if (!threadIdx.x) {
    float inv = 1.f / ((float)N * HW), mu = sh_s[0] * inv;
    mean[c] = mu;
    var[c] = sh_q[0] * inv - mu * mu;
  }
}

// Launches the register-cache form of batchnorm_stats where it applies, else
// batchnorm_stats itself.
static inline void batchnorm_stats_rc_launch(dim3 rc_grid, dim3 rc_block,
                                             size_t rc_shared,
                                             cudaStream_t rc_stream,
                                             const float *x, float *mean,
                                             float *var, int N, int C, int HW) {
#ifdef RCACHE_VERIFY
  ::rcache::device::verification rc_verification(
      "batchnorm_stats", "x, mean, var, N, C, HW", rc_grid, rc_block, rc_shared,
      rc_stream, x, mean, var, N, C, HW);
#endif
  if ((rc_block.x == 1024 && rc_block.y == 1 && rc_block.z == 1) &&
      (rc_grid.x != 0 && rc_grid.y != 0 && rc_grid.z != 0) &&
      (rc_grid.x <= 0x7fffffffu / 1024) &&
      (HW >= 0 && (double)HW * rc_grid.x <= 4611686018427387904.0) &&
      ::rcache::device::launches<256>(batchnorm_stats, rc_grid, rc_block,
                                      rc_shared) &&
      ::rcache::device::holds(batchnorm_stats_rc, rc_shared)
#ifdef RCACHE_VERIFY
      && rc_verification.save()
#endif
  ) {
    batchnorm_stats_rc<<<rc_grid, dim3(1024u, 1u, 1u), rc_shared, rc_stream>>>(
        x, mean, var, N, C, HW);

#ifdef RCACHE_VERIFY
    rc_verification.original();
#else
    return;
#endif
  }

  batchnorm_stats<<<rc_grid, rc_block, rc_shared, rc_stream>>>(x, mean, var, N,
                                                               C, HW);
}
}  // namespace nn

int main() {
  const size_t big = 8192u * 2048u;
  float *x = mk<float>(big), *g = mk<float>(65536), *y;
  cudaMalloc(&y, big * sizeof(float));
  nn::softmax_rows<<<8192, 256, (2000 + 256) * sizeof(float)>>>(x, y, 2000);
  show("softmax_rows", y, 8192ull * 2000 * 4);
  nn::layer_norm<float><<<16384, 128>>>(x, g, g + 1024, y, 1024);
  show("layer_norm", y, big * 4);
  nn::attn_scores<<<dim3((500 + TQ - 1) / TQ, (500 + TQ - 1) / TQ, 48), dim3(TQ, TQ)>>>(x, x + 48 * 500 * HD, y, 500, 0.125f);
  show("attn_scores", y, 48ull * 500 * 500 * 4);
  nn::conv3x3_direct<16><<<dim3(7, 7, 8 * 32 / 4), dim3(16, 16)>>>(x, g, y, 110, 109, 32);
  show("conv3x3_direct", y, 8ull * 32 * 110 * 109 * 4);
  nn::batchnorm_stats_rc_launch(128, 1024, 0, 0, x, y, y + 128, 32, 128, 56 * 56);
  show("batchnorm_stats", y, 256 * 4);
}
