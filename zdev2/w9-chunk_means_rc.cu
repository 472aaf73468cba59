// clustering & neighbour search
#include "h.h"
#include <cstdint>
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

enum { T_SIDE = 16, KM_K = 64, KM_D = 8 };

// D[i][j] = |p_i - q_j|^2, points stored dimension-last, any dim
__global__ void pairwise_sqdist(const float *P, const float *Q, float *D, size_t np, size_t nq, int dim)
{
  __shared__ float tp[T_SIDE * T_SIDE];
  __shared__ float tq[T_SIDE * T_SIDE];
  size_t i = (size_t)blockIdx.y * T_SIDE + threadIdx.y;
  size_t j = (size_t)blockIdx.x * T_SIDE + threadIdx.x;
  size_t jl = (size_t)blockIdx.x * T_SIDE + threadIdx.y;
  const int me = threadIdx.y * T_SIDE + threadIdx.x;
  float s = 0;
  for (int d0 = 0; d0 < dim; d0 += T_SIDE)
  {
    int d = d0 + threadIdx.x;
    tp[me] = (i < np && d < dim) ? P[i * dim + d] : 0.f;
    tq[me] = (jl < nq && d < dim) ? Q[jl * dim + d] : 0.f;
    __syncthreads();
    for (int k = 0; k < T_SIDE; k++)
    {
      float df = tp[threadIdx.y * T_SIDE + k] - tq[threadIdx.x * T_SIDE + k];
      s += df * df;
    }
    __syncthreads();
  }
  if (i < np && j < nq)
    D[i * nq + j] = s;
}

// nearest centroid; centroids staged once
__global__ void kmeans_assign(const float *pts, const float *cent, int *label, float *dmin, int n)
{
  __shared__ float c[KM_K * KM_D];
  for (int t = threadIdx.x; t < KM_K * KM_D; t += blockDim.x)
    c[t] = cent[t];
  __syncthreads();
  const int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= n)
    return;
  float x[KM_D];
#pragma unroll
  for (int d = 0; d < KM_D; d++)
    x[d] = pts[d * n + p];
  float best = FLT_MAX;
  int bi = 0;
  for (int k = 0; k < KM_K; k++)
  {
    float s = 0;
#pragma unroll
    for (int d = 0; d < KM_D; d++)
    {
      float e = x[d] - c[k * KM_D + d];
      s += e * e;
    }
    if (s < best)
    {
      best = s;
      bi = k;
    }
  }
  label[p] = bi;
  dmin[p] = best;
}

// mean of the points of one block, per dimension: blockDim (8, 32)
__global__ void chunk_means(const float *pts, float *means, int n, int chunk)
{
  __shared__ float acc[32][KM_D];
  const int d = threadIdx.x;
  float s = 0.f;
  int lo = blockIdx.x * chunk, hi = min(lo + chunk, n);
  for (int p = lo + threadIdx.y; p < hi; p += 32)
    s += pts[p * KM_D + d];
  acc[threadIdx.y][d] = s;
  __syncthreads();
  for (int h = 16; h > 0; h >>= 1)
  {
    if (threadIdx.y < h)
      acc[threadIdx.y][d] += acc[threadIdx.y + h][d];
    __syncthreads();
  }
  if (threadIdx.y == 0)
    means[blockIdx.x * KM_D + d] = acc[0][d] / (hi - lo);
}

static __global__ void chunk_means_rc(const float *pts, float *means, int n,
                                      int chunk) {
  // Register cache: a thread stands for 1 thread of chunk_means.
  //   acc: stays in shared memory.
  //   Barriers stay: 'means' is written and may be 'pts', which is read.
  //   The first warp has rounds for itself in which no other one does anything;
  //   the others wait behind the loop.
  __shared__ float acc[32][KM_D];
  const int d = threadIdx.x;
  float s = 0.f;
  int lo = blockIdx.x * chunk, hi = min(lo + chunk, n);
  for (int p = lo + threadIdx.y; p < hi; p += 32)
    s += pts[p * KM_D + d];
  acc[threadIdx.y][d] = s;
  __syncthreads();
  for (int h = 16; h > 4; h >>= 1) {
    if (threadIdx.y < h)
      acc[threadIdx.y][d] += acc[threadIdx.y + h][d];
    __syncthreads();
  }
  if (threadIdx.x + 8 * threadIdx.y < 32) {
#pragma unroll
    for (int h = 4; h > 0; h >>= 1) {
      if (threadIdx.y < h)
        acc[threadIdx.y][d] += acc[threadIdx.y + h][d];
      __syncwarp();
    }
  }
  __syncthreads();
  if (threadIdx.y == 0)
    means[blockIdx.x * KM_D + d] = acc[0][d] / (hi - lo);
}

// Launches the register-cache form of chunk_means where it applies, else
// chunk_means itself.
static inline void chunk_means_rc_launch(dim3 rc_grid, dim3 rc_block,
                                         size_t rc_shared,
                                         cudaStream_t rc_stream,
                                         const float *pts, float *means, int n,
                                         int chunk) {
#ifdef RCACHE_VERIFY
  ::rcache::device::verification rc_verification(
      "chunk_means", "pts, means, n, chunk", rc_grid, rc_block, rc_shared,
      rc_stream, pts, means, n, chunk);
#endif
  if ((rc_block.x == 8 && rc_block.y == 32 && rc_block.z == 1) &&
      (rc_grid.x != 0 && rc_grid.y != 0 && rc_grid.z != 0) &&
      (rc_grid.x <= 0x7fffffffu / 8) &&
      (chunk >= 0 && (double)chunk * rc_grid.x <= 1073741824.0) &&
      ((double)rc_grid.x <= 536608768.0) &&
      ::rcache::device::launches<256>(chunk_means, rc_grid, rc_block,
                                      rc_shared) &&
      ::rcache::device::holds(chunk_means_rc, rc_shared)
#ifdef RCACHE_VERIFY
      && rc_verification.save()
#endif
  ) {
    chunk_means_rc<<<rc_grid, dim3(8u, 32u, 1u), rc_shared, rc_stream>>>(
        pts, means, n, chunk);

#ifdef RCACHE_VERIFY
    rc_verification.original();
#else
    return;
#endif
  }

  chunk_means<<<rc_grid, rc_block, rc_shared, rc_stream>>>(pts, means, n,
                                                           chunk);
}

static void out(const char *nm, const void *p, size_t b)
{
  unsigned char *q = (unsigned char *)malloc(b);
  cudaMemcpy(q, p, b, cudaMemcpyDeviceToHost);
  uint64_t h = 14695981039346656037ull;
  for (size_t i = 0; i < b; i++)
    h = (h ^ q[i]) * 1099511628211ull;
  printf("%s\t%016lx\n", nm, h);
  free(q);
}

int main()
{
  const size_t np = 2000, nq = 3001;
  const int dim = 50;
  float *P = mk<float>(np * dim), *Q = mk<float>(nq * dim), *D;
  cudaMalloc(&D, np * nq * 4);
  pairwise_sqdist<<<dim3((nq + 15) / 16, (np + 15) / 16), dim3(16, 16)>>>(P, Q, D, np, nq, dim);
  const int n = 1000000;
  float *pts = mk<float>((size_t)n * KM_D), *cent = mk<float>(KM_K * KM_D), *dm, *mean;
  int *lb;
  cudaMalloc(&lb, n * 4);
  cudaMalloc(&dm, n * 4);
  kmeans_assign<<<(n + 255) / 256, 256>>>(pts, cent, lb, dm, n);
  const int chunk = 500, nc = (n + chunk - 1) / chunk;
  cudaMalloc(&mean, nc * KM_D * 4);
  chunk_means_rc_launch(nc, dim3(KM_D, 32), 0, 0, pts, mean, n, chunk);
  cudaDeviceSynchronize();
  out("dist", D, np * nq * 4);
  out("label", lb, n * 4);
  out("dmin", dm, n * 4);
  out("means", mean, nc * KM_D * 4);
  return 0;
}
