// neural network layers
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <cmath>
#include <random>
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
#define CUDA_KERNEL_LOOP(i, n) for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)
#define CUDA_CHECK(condition)                                             \
  do {                                                                    \
    cudaError_t error = condition;                                        \
    if (error != cudaSuccess) {                                           \
      fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
      exit(1);                                                            \
    }                                                                     \
  } while (0)

// 3x3 stride 1 max pool, one 16x16 output tile per block, channel in z
__global__ void maxpool3x3s1(const float *bottom, float *top, int H, int W) {
  __shared__ float t[18][18];
  const float *in = bottom + (size_t)blockIdx.z * H * W;
  for (int y = threadIdx.y; y < 18; y += 16)
    for (int x = threadIdx.x; x < 18; x += 16) {
      int gy = blockIdx.y * 16 + y - 1, gx = blockIdx.x * 16 + x - 1;
      t[y][x] = (gy < 0 || gx < 0 || gy >= H || gx >= W) ? -INFINITY : in[gy * W + gx];
    }
  __syncthreads();
  int oy = blockIdx.y * 16 + threadIdx.y, ox = blockIdx.x * 16 + threadIdx.x;
  if (oy < H && ox < W) {
    float m = -INFINITY;
    for (int y = 0; y < 3; y++)
      for (int x = 0; x < 3; x++) m = fmaxf(m, t[threadIdx.y + y][threadIdx.x + x]);
    top[((size_t)blockIdx.z * H + oy) * W + ox] = m;
  }
}

// batch norm statistics: block per channel over N x HW
template <int BLOCK> __global__ void batchnorm_stats(const float *x, float *mean, float *invstd, int N, int C, int HW, float eps) {
  __shared__ float s1[BLOCK];
  __shared__ float s2[BLOCK];
  int c = blockIdx.x;
  float a = 0.f, b = 0.f;
  for (int n = 0; n < N; n++) {
    const float *p = x + ((size_t)n * C + c) * HW;
    for (int i = threadIdx.x; i < HW; i += BLOCK) {
      float v = p[i];
      a += v;
      b += v * v;
    }
  }
  s1[threadIdx.x] = a;
  s2[threadIdx.x] = b;
  __syncthreads();
#pragma unroll
  for (int k = BLOCK / 2; k > 0; k >>= 1) {
    if (threadIdx.x < k) {
      s1[threadIdx.x] += s1[threadIdx.x + k];
      s2[threadIdx.x] += s2[threadIdx.x + k];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    float mu = s1[0] / (N * HW);
    mean[c] = mu;
    invstd[c] = rsqrtf(s2[0] / (N * HW) - mu * mu + eps);
  }
}

template <int BLOCK>
static __global__ void batchnorm_stats_rc(const float *x, float *mean,
                                          float *invstd, int N, int C, int HW,
                                          float eps) {
  // Register cache: a thread stands for 1 thread of batchnorm_stats.
  //   s1: stays in shared memory.
  //   s2: stays in shared memory.
  //   Barriers stay: 'mean' is written and may be 'x', which is read.
  //   The first warp has rounds for itself in which no other one does anything;
  //   the others wait behind the loop.
  __shared__ float s1[BLOCK];
  __shared__ float s2[BLOCK];
  int c = blockIdx.x;
  float a = 0.f, b = 0.f;
  for (int n = 0; n < N; n++) {
    const float *p = x + ((size_t)n * C + c) * HW;
    for (int i = threadIdx.x; i < HW; i += BLOCK) {
      float v = p[i];
      a += v;
      b += v * v;
    }
  }
  s1[threadIdx.x] = a;
  s2[threadIdx.x] = b;
  __syncthreads();
#pragma unroll
  for (int k = BLOCK / 2; k > 32; k >>= 1) {
    if (threadIdx.x < k) {
      s1[threadIdx.x] += s1[threadIdx.x + k];
      s2[threadIdx.x] += s2[threadIdx.x + k];
    }
    __syncthreads();
  }
  if (threadIdx.x < 32) {
#pragma unroll
    for (int k = 32; k > 0; k >>= 1) {
      if (threadIdx.x < k) {
        s1[threadIdx.x] += s1[threadIdx.x + k];
        s2[threadIdx.x] += s2[threadIdx.x + k];
      }
      __syncwarp();
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    float mu = s1[0] / (N * HW);
    mean[c] = mu;
    invstd[c] = rsqrtf(s2[0] / (N * HW) - mu * mu + eps);
  }
}

// Launches the register-cache form of batchnorm_stats where it applies, else
// batchnorm_stats itself.
template <int BLOCK>
static inline void
batchnorm_stats_rc_launch(dim3 rc_grid, dim3 rc_block, size_t rc_shared,
                          cudaStream_t rc_stream, const float *x, float *mean,
                          float *invstd, int N, int C, int HW, float eps) {
#ifdef RCACHE_VERIFY
  ::rcache::device::verification rc_verification(
      "batchnorm_stats", "x, mean, invstd, N, C, HW, eps", rc_grid, rc_block,
      rc_shared, rc_stream, x, mean, invstd, N, C, HW, eps);
#endif
  if ((rc_block.x == 512 && rc_block.y == 1 && rc_block.z == 1) &&
      (rc_grid.x != 0 && rc_grid.y != 0 && rc_grid.z != 0) &&
      (rc_grid.x <= 0x7fffffffu / 512) &&
      (HW >= 0 && (double)HW * rc_grid.x <= 4611686018427387904.0) &&
      ::rcache::device::launches<256>(batchnorm_stats<BLOCK>, rc_grid, rc_block,
                                      rc_shared) &&
      ::rcache::device::holds(batchnorm_stats_rc<BLOCK>, rc_shared)
#ifdef RCACHE_VERIFY
      && rc_verification.save()
#endif
  ) {
    batchnorm_stats_rc<BLOCK>
        <<<rc_grid, dim3(512u, 1u, 1u), rc_shared, rc_stream>>>(x, mean, invstd,
                                                                N, C, HW, eps);

#ifdef RCACHE_VERIFY
    rc_verification.original();
#else
    return;
#endif
  }

  batchnorm_stats<BLOCK><<<rc_grid, rc_block, rc_shared, rc_stream>>>(
      x, mean, invstd, N, C, HW, eps);
}

#define Br 32
#define HD 32
#define DW_K 5
#define T 16
float *tensor(size_t n, int seed) {
  float *h = new float[n], *d;
  std::minstd_rand g(seed);
  for (size_t i = 0; i < n; i++) h[i] = (float)(g() % 2001) * 0.001f - 1.f;
  CUDA_CHECK(cudaMalloc(&d, n * sizeof(float)));
  CUDA_CHECK(cudaMemcpy(d, h, n * sizeof(float), cudaMemcpyHostToDevice));
  delete[] h;
  return d;
}
int main() {
  int N = 8, C = 64, H = 113, W = 113;
  size_t sz = (size_t)N * C * H * W;
  float *x = tensor(sz, 1), *y = tensor(sz, 2), *st = tensor(2 * C, 3), *w = tensor(128 * 64 * 9, 4);
  maxpool3x3s1<<<dim3((W + 15) / 16, (H + 15) / 16, N * C), dim3(16, 16)>>>(x, y, H, W);
  batchnorm_stats_rc_launch<512>(C, 512, 0, 0, x, st, st + C, N, C, H * W, 1e-5f);
  int h2 = 58, cin = 64, cout = 100;
  CUDA_CHECK(cudaGetLastError());
  int bags = 10000, vocab = 50000, dim = 64;
  int *hi = new int[bags * 90], *ho = new int[bags + 1], tot = 0;
  std::minstd_rand g(5);
  for (int b = 0; b < bags; b++) {
    ho[b] = tot;
    int len = g() % 90;
    for (int k = 0; k < len; k++) hi[tot++] = g() % vocab;
  }
  ho[bags] = tot;
  int *di, *dofs;
  CUDA_CHECK(cudaMalloc(&di, tot * sizeof(int)));
  CUDA_CHECK(cudaMalloc(&dofs, (bags + 1) * sizeof(int)));
  CUDA_CHECK(cudaMemcpy(di, hi, tot * sizeof(int), cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemcpy(dofs, ho, (bags + 1) * sizeof(int), cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaGetLastError());
  int L = 1024, heads = 48;
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
