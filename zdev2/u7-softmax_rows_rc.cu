#include "h.h"
#include <cstring>
#include <cfloat>
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
static void show(const char *name, const void *dev, size_t bytes) {
  cudaError_t e = cudaDeviceSynchronize();
  unsigned char *h = (unsigned char *)malloc(bytes);
  cudaMemcpy(h, dev, bytes, cudaMemcpyDeviceToHost);
  unsigned long long f = 1469598103934665603ull;
  size_t i = 0;
  for (; i + 8 <= bytes; i += 8) {
    unsigned long long w;
    memcpy(&w, h + i, 8);
    f = (f ^ w) * 1099511628211ull;
  }
  for (; i < bytes; ++i) f = (f ^ h[i]) * 1099511628211ull;
  printf("%s %016llx%s%s\n", name, f, e ? " " : "", e ? cudaGetErrorString(e) : "");
  free(h);
}
// one block a row; two shared reductions
__global__ void softmax_rows(const float *__restrict__ logits, float *__restrict__ probs, int V, float invTemp) {
  extern __shared__ float red[];
  const int tid = threadIdx.x;
  const float *x = logits + (size_t)blockIdx.x * V;
  float *y = probs + (size_t)blockIdx.x * V;

  float mx = -FLT_MAX;
  for (int i = tid; i < V; i += blockDim.x) mx = fmaxf(mx, x[i] * invTemp);
  red[tid] = mx;
  __syncthreads();
  for (int s = blockDim.x >> 1; s > 0; s >>= 1) {
    if (tid < s) red[tid] = fmaxf(red[tid], red[tid + s]);
    __syncthreads();
  }
  mx = red[0];
  __syncthreads();

  float sum = 0.f;
  for (int i = tid; i < V; i += blockDim.x) sum += expf(x[i] * invTemp - mx);
  red[tid] = sum;
  __syncthreads();
  for (int s = blockDim.x >> 1; s > 0; s >>= 1) {
    if (tid < s) red[tid] += red[tid + s];
    __syncthreads();
  }
  float inv = 1.0f / red[0];
  for (int i = tid; i < V; i += blockDim.x) y[i] = expf(x[i] * invTemp - mx) * inv;
}

static __global__ void softmax_rows_rc(const float *__restrict__ logits,
                                       float *__restrict__ probs, int V,
                                       float invTemp) {
  // Register cache: a thread stands for 1 thread of softmax_rows.
  //   red: stays in shared memory.
  //   Barriers stay: 'red' stays in shared memory.
  //   The first warp has rounds for itself in which no other one does anything;
  //   the others wait behind the loop.
  extern __shared__ float red[];
  const int tid = threadIdx.x;
  const float *x = logits + (size_t)blockIdx.x * V;
  float *y = probs + (size_t)blockIdx.x * V;

  float mx = -FLT_MAX;
  for (int i = tid; i < V; i += blockDim.x)
    mx = fmaxf(mx, x[i] * invTemp);
  red[tid] = mx;
  __syncthreads();
  for (int s = blockDim.x >> 1; s > 32; s >>= 1) {
    if (tid < s)
      red[tid] = fmaxf(red[tid], red[tid + s]);
    __syncthreads();
  }
  if (threadIdx.x < 32) {
#pragma unroll
    for (int s = 32; s > 0; s >>= 1) {
      if (tid < s)
        red[tid] = fmaxf(red[tid], red[tid + s]);
      __syncwarp();
    }
  }
  __syncthreads();
  mx = red[0];
  __syncthreads();

  float sum = 0.f;
  for (int i = tid; i < V; i += blockDim.x)
    sum += expf(x[i] * invTemp - mx);
  red[tid] = sum;
  __syncthreads();
  for (int s = blockDim.x >> 1; s > 32; s >>= 1) {
    if (tid < s)
      red[tid] += red[tid + s];
    __syncthreads();
  }
  if (threadIdx.x < 32) {
#pragma unroll
    for (int s = 32; s > 0; s >>= 1) {
      if (tid < s)
        red[tid] += red[tid + s];
      __syncwarp();
    }
  }
  __syncthreads();
  float inv = 1.0f / red[0];
  for (int i = tid; i < V; i += blockDim.x)
    y[i] = expf(x[i] * invTemp - mx) * inv;
}

// Launches the register-cache form of softmax_rows where it applies, else
// softmax_rows itself.
static inline void
softmax_rows_rc_launch(dim3 rc_grid, dim3 rc_block, size_t rc_shared,
                       cudaStream_t rc_stream, const float *__restrict__ logits,
                       float *__restrict__ probs, int V, float invTemp) {
#ifdef RCACHE_VERIFY
  ::rcache::device::verification rc_verification(
      "softmax_rows", "logits, probs, V, invTemp", rc_grid, rc_block, rc_shared,
      rc_stream, logits, probs, V, invTemp);
#endif
  if ((rc_block.x == 512 && rc_block.y == 1 && rc_block.z == 1) &&
      (rc_grid.x != 0 && rc_grid.y != 0 && rc_grid.z != 0) &&
      (rc_grid.x <= 0x7fffffffu / 512) &&
      (V >= 0 && (double)V * rc_grid.x <= 4611686018427387904.0) &&
      (V >= 0 && (double)V <= 2147418112.0) &&
      ::rcache::device::launches<256>(softmax_rows, rc_grid, rc_block,
                                      rc_shared) &&
      ::rcache::device::holds(softmax_rows_rc, rc_shared)
#ifdef RCACHE_VERIFY
      && rc_verification.save()
#endif
  ) {
    softmax_rows_rc<<<rc_grid, dim3(512u, 1u, 1u), rc_shared, rc_stream>>>(
        logits, probs, V, invTemp);

#ifdef RCACHE_VERIFY
    rc_verification.original();
#else
    return;
#endif
  }

  softmax_rows<<<rc_grid, rc_block, rc_shared, rc_stream>>>(logits, probs, V,
                                                            invTemp);
}

// layer norm on half input, float statistics
__global__ void layernorm_fp16(const half *inp, const float *gamma, const float *beta, half *out, int C, float eps) {
  __shared__ float s_sum[256];
  __shared__ float s_sq[256];
  __shared__ float s_mean, s_rstd;
  const half *row = inp + (size_t)blockIdx.x * C;
  float a = 0.f, b = 0.f;
  for (int c = threadIdx.x; c < C; c += 256) {
    float v = __half2float(row[c]);
    a += v;
    b += v * v;
  }
  s_sum[threadIdx.x] = a;
  s_sq[threadIdx.x] = b;
  __syncthreads();
  for (int off = 128; off; off >>= 1) {
    if (threadIdx.x < off) {
      s_sum[threadIdx.x] += s_sum[threadIdx.x + off];
      s_sq[threadIdx.x] += s_sq[threadIdx.x + off];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    s_mean = s_sum[0] / C;
    s_rstd = rsqrtf(fmaxf(s_sq[0] / C - s_mean * s_mean, 0.f) + eps);
  }
  __syncthreads();
  float m = s_mean, r = s_rstd;
  for (int c = threadIdx.x; c < C; c += 256)
    out[(size_t)blockIdx.x * C + c] = __float2half((__half2float(row[c]) - m) * r * gamma[c] + beta[c]);
}

// rms norm, warp shuffles then one shared slot a warp
__device__ __forceinline__ float warpSum(float v) {
#pragma unroll
  for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffffu, v, o);
  return v;
}
template <int THREADS>
__global__ void rmsnorm(float4 *x, const float4 *w, int n4, float eps) {
  __shared__ float warps[THREADS / 32];
  float4 *r = x + (size_t)blockIdx.x * n4;
  float ss = 0.f;
  for (int i = threadIdx.x; i < n4; i += THREADS) {
    float4 v = r[i];
    ss += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
  }
  ss = warpSum(ss);
  if ((threadIdx.x & 31) == 0) warps[threadIdx.x >> 5] = ss;
  __syncthreads();
  float tot = 0.f;
#pragma unroll
  for (int i = 0; i < THREADS / 32; ++i) tot += warps[i];
  float sc = rsqrtf(tot / (4 * n4) + eps);
  for (int i = threadIdx.x; i < n4; i += THREADS) {
    float4 v = r[i], g = w[i];
    v.x *= sc * g.x; v.y *= sc * g.y; v.z *= sc * g.z; v.w *= sc * g.w;
    r[i] = v;
  }
}

// log-sum-exp + cross entropy, row kept in shared memory
__global__ void nll_row(const float *z, const int *target, double *loss, int V) {
  extern __shared__ double dsh[];
  float *row = (float *)(dsh + blockDim.x);
  const int t = threadIdx.x, nt = blockDim.x;
  for (int i = t; i < V; i += nt) row[i] = z[(size_t)blockIdx.x * V + i];
  __syncthreads();
  double m = -1e300;
  for (int i = t; i < V; i += nt) m = row[i] > m ? (double)row[i] : m;
  dsh[t] = m;
  __syncthreads();
  for (int s = nt / 2; s; s /= 2) { if (t < s) dsh[t] = fmax(dsh[t], dsh[t + s]); __syncthreads(); }
  m = dsh[0];
  __syncthreads();
  double e = 0;
  for (int i = t; i < V; i += nt) e += exp((double)row[i] - m);
  dsh[t] = e;
  __syncthreads();
  for (int s = nt / 2; s; s /= 2) { if (t < s) dsh[t] += dsh[t + s]; __syncthreads(); }
  if (t == 0) loss[blockIdx.x] = m + log(dsh[0]) - row[target[blockIdx.x] * 50 % V];
}

__global__ void to_half(const float *a, half *b, size_t n) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = __float2half(a[i]);
}

int main() {
  { int R = 4096, V = 5003; float *x = mk<float>((size_t)R * V), *y = mk<float>((size_t)R * V);
    softmax_rows_rc_launch(R, 512, 512 * sizeof(float), 0, x, y, V, 0.8f);
    show("softmax_rows", y, (size_t)R * V * 4); cudaFree(x); cudaFree(y); }
  { int B = 16384, C = 1000; size_t n = (size_t)B * C; float *f = mk<float>(n), *g = mk<float>(C), *b = mk<float>(C);
    half *h, *o; cudaMalloc(&h, n * 2); cudaMalloc(&o, n * 2);
    to_half<<<(n + 255) / 256, 256>>>(f, h, n);
    layernorm_fp16<<<B, 256>>>(h, g, b, o, C, 1e-5f);
    show("layernorm_fp16", o, n * 2); cudaFree(f); cudaFree(h); cudaFree(o); }
  { int B = 8000, C = 4096; float *x = mk<float>((size_t)B * C), *w = mk<float>(C);
    rmsnorm<256><<<B, 256>>>((float4 *)x, (const float4 *)w, C / 4, 1e-6f);
    show("rmsnorm", x, (size_t)B * C * 4); cudaFree(x); }
  { int B = 3000, V = 8000; float *z = mk<float>((size_t)B * V); int *t = mk<int>(B); double *l = mk<double>(B);
    nll_row<<<B, 256, 256 * 8 + V * 4>>>(z, t, l, V);
    show("nll_row", l, B * 8); }
  return 0;
}
