// fused normalisation ops, extension kernels
#include "h.h"
#include <cstdint>
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

namespace ext {

constexpr int kThreads = 256;

template <typename scalar_t>
__global__ void softmax_rows_fwd(scalar_t *__restrict__ out, const scalar_t *__restrict__ in, const int dim) {
  extern __shared__ float smem[];
  const int64_t row = blockIdx.x;
  const scalar_t *src = in + row * dim;
  scalar_t *dst = out + row * dim;
  const int tid = threadIdx.x;

  float m = -INFINITY;
  for (int i = tid; i < dim; i += blockDim.x) m = fmaxf(m, static_cast<float>(src[i]));
  smem[tid] = m;
  __syncthreads();
  for (int s = blockDim.x >> 1; s > 0; s >>= 1) {
    if (tid < s) smem[tid] = fmaxf(smem[tid], smem[tid + s]);
    __syncthreads();
  }
  m = smem[0];
  __syncthreads();

  float z = 0.f;
  for (int i = tid; i < dim; i += blockDim.x) z += expf(static_cast<float>(src[i]) - m);
  smem[tid] = z;
  __syncthreads();
  for (int s = blockDim.x >> 1; s > 0; s >>= 1) {
    if (tid < s) smem[tid] += smem[tid + s];
    __syncthreads();
  }
  const float inv = 1.f / smem[0];
  for (int i = tid; i < dim; i += blockDim.x)
    dst[i] = static_cast<scalar_t>(expf(static_cast<float>(src[i]) - m) * inv);
}

template <typename scalar_t>
static __global__ void softmax_rows_fwd_rc(scalar_t *__restrict__ out,
                                           const scalar_t *__restrict__ in,
                                           const int dim) {
  // Register cache: a thread stands for 1 thread of softmax_rows_fwd.
  //   smem: stays in shared memory.
  //   Barriers stay: 'smem' stays in shared memory.
  //   The first warp has rounds for itself in which no other one does anything;
  //   the others wait behind the loop.
  extern __shared__ float smem[];
  const int64_t row = blockIdx.x;
  const scalar_t *src = in + row * dim;
  scalar_t *dst = out + row * dim;
  const int tid = threadIdx.x;

  float m = -INFINITY;
  for (int i = tid; i < dim; i += blockDim.x)
    m = fmaxf(m, static_cast<float>(src[i]));
  smem[tid] = m;
  __syncthreads();
  for (int s = blockDim.x >> 1; s > 32; s >>= 1) {
    if (tid < s)
      smem[tid] = fmaxf(smem[tid], smem[tid + s]);
    __syncthreads();
  }
  if (threadIdx.x < 32) {
#pragma unroll
    for (int s = 32; s > 0; s >>= 1) {
      if (tid < s)
        smem[tid] = fmaxf(smem[tid], smem[tid + s]);
      __syncwarp();
    }
  }
  __syncthreads();
  m = smem[0];
  __syncthreads();

  float z = 0.f;
  for (int i = tid; i < dim; i += blockDim.x)
    z += expf(static_cast<float>(src[i]) - m);
  smem[tid] = z;
  __syncthreads();
  for (int s = blockDim.x >> 1; s > 32; s >>= 1) {
    if (tid < s)
      smem[tid] += smem[tid + s];
    __syncthreads();
  }
  if (threadIdx.x < 32) {
#pragma unroll
    for (int s = 32; s > 0; s >>= 1) {
      if (tid < s)
        smem[tid] += smem[tid + s];
      __syncwarp();
    }
  }
  __syncthreads();
  const float inv = 1.f / smem[0];
  for (int i = tid; i < dim; i += blockDim.x)
    dst[i] = static_cast<scalar_t>(expf(static_cast<float>(src[i]) - m) * inv);
}

// Launches the register-cache form of softmax_rows_fwd where it applies, else
// softmax_rows_fwd itself.
template <typename scalar_t>
static inline void
softmax_rows_fwd_rc_launch(dim3 rc_grid, dim3 rc_block, size_t rc_shared,
                           cudaStream_t rc_stream, scalar_t *__restrict__ out,
                           const scalar_t *__restrict__ in, const int dim) {
#ifdef RCACHE_VERIFY
  ::rcache::device::verification rc_verification(
      "softmax_rows_fwd", "out, in, dim", rc_grid, rc_block, rc_shared,
      rc_stream, out, in, dim);
#endif
  if ((rc_block.x == 256 && rc_block.y == 1 && rc_block.z == 1) &&
      (rc_grid.x != 0 && rc_grid.y != 0 && rc_grid.z != 0) &&
      (rc_grid.x <= 0x7fffffffu / 256) &&
      (dim >= 0 && (double)dim <= 2147418112.0) &&
      ::rcache::device::launches<256>(softmax_rows_fwd<scalar_t>, rc_grid,
                                      rc_block, rc_shared) &&
      ::rcache::device::holds(softmax_rows_fwd_rc<scalar_t>, rc_shared)
#ifdef RCACHE_VERIFY
      && rc_verification.save()
#endif
  ) {
    softmax_rows_fwd_rc<scalar_t>
        <<<rc_grid, dim3(256u, 1u, 1u), rc_shared, rc_stream>>>(out, in, dim);

#ifdef RCACHE_VERIFY
    rc_verification.original();
#else
    return;
#endif
  }

  softmax_rows_fwd<scalar_t>
      <<<rc_grid, rc_block, rc_shared, rc_stream>>>(out, in, dim);
}

template <typename scalar_t, int NT>
__global__ void layer_norm_fwd(const scalar_t *x, const float *gamma, const float *beta, scalar_t *y, float *mean,
                               float *rstd, int hidden, float eps) {
  __shared__ float s_sum[NT];
  __shared__ float s_sq[NT];
  x += (int64_t)blockIdx.x * hidden;
  y += (int64_t)blockIdx.x * hidden;
  float sum = 0.f, sq = 0.f;
  for (int j = threadIdx.x; j < hidden; j += NT) {
    float v = (float)x[j];
    sum += v;
    sq += v * v;
  }
  s_sum[threadIdx.x] = sum;
  s_sq[threadIdx.x] = sq;
  __syncthreads();
#pragma unroll
  for (int off = NT / 2; off > 0; off /= 2) {
    if (threadIdx.x < off) {
      s_sum[threadIdx.x] += s_sum[threadIdx.x + off];
      s_sq[threadIdx.x] += s_sq[threadIdx.x + off];
    }
    __syncthreads();
  }
  float mu = s_sum[0] / hidden;
  float var = s_sq[0] / hidden - mu * mu;
  float rs = rsqrtf(fmaxf(var, 0.f) + eps);
  for (int j = threadIdx.x; j < hidden; j += NT) y[j] = (scalar_t)(((float)x[j] - mu) * rs * gamma[j] + beta[j]);
  if (threadIdx.x == 0) {
    mean[blockIdx.x] = mu;
    rstd[blockIdx.x] = rs;
  }
}

// one row by a 64 thread block, 4 values a thread
__global__ void rms_norm_small(const float4 *__restrict__ x, float4 *__restrict__ y, float eps) {
  __shared__ float red[64];
  const unsigned at = blockIdx.x * 64u + threadIdx.x;
  const float4 v = x[at];
  red[threadIdx.x] = v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
  __syncthreads();
  for (unsigned s = 32; s >= 1; s >>= 1) {
    if (threadIdx.x < s) red[threadIdx.x] += red[threadIdx.x + s];
    __syncthreads();
  }
  const float k = rsqrtf(red[0] * (1.f / 256) + eps);
  y[at] = make_float4(v.x * k, v.y * k, v.z * k, v.w * k);
}
} // namespace ext

template <class T> void report(const char *what, T *d, size_t n) {
  T *h = new T[n];
  cudaMemcpy(h, d, n * sizeof(T), cudaMemcpyDeviceToHost);
  const uint8_t *b = reinterpret_cast<uint8_t *>(h);
  uint64_t f = 0xcbf29ce484222325ull;
  for (size_t i = 0; i < n * sizeof(T); ++i) f = (f ^ b[i]) * 0x100000001b3ull;
  printf("%s: %llx\n", what, (unsigned long long)f);
  delete[] h;
}

int main() {
  const int rows = 4096, dim = 1000, hidden = 768, tokens = 8192;
  float *logits = mk<float>((size_t)rows * dim), *probs;
  cudaMalloc(&probs, sizeof(float) * rows * dim);
  ext::softmax_rows_fwd_rc_launch<float>(rows, ext::kThreads, ext::kThreads * sizeof(float), 0, probs, logits, dim);

  float *act = mk<float>((size_t)tokens * hidden), *gm = mk<float>(hidden), *bt = mk<float>(hidden), *y, *mu, *rs;
  cudaMalloc(&y, sizeof(float) * tokens * hidden);
  cudaMalloc(&mu, sizeof(float) * tokens);
  cudaMalloc(&rs, sizeof(float) * tokens);
  ext::layer_norm_fwd<float, 128><<<tokens, 128>>>(act, gm, bt, y, mu, rs, hidden, 1e-5f);

  float *q = mk<float>(32768u * 256), *qn;
  cudaMalloc(&qn, sizeof(float) * 32768 * 256);
  ext::rms_norm_small<<<32768, 64>>>((float4 *)q, (float4 *)qn, 1e-6f);
  cudaDeviceSynchronize();
  report("softmax", probs, (size_t)rows * dim);
  report("ln.y", y, (size_t)tokens * hidden);
  report("ln.mean", mu, tokens);
  report("ln.rstd", rs, tokens);
  report("rms", qn, 32768u * 256);
}
