#include "h.h"
#include <cstring>
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
// ---- SDK reduction, version with completely unrolled tail, two elements a thread
template <class T, unsigned int blockSize>
__global__ void reduceSum(const T *g_idata, T *g_odata, unsigned int n) {
  extern __shared__ __align__(16) unsigned char s_raw[];
  T *sdata = reinterpret_cast<T *>(s_raw);
  unsigned int tid = threadIdx.x;
  unsigned int i = blockIdx.x * (blockSize * 2) + tid;
  unsigned int gridSize = blockSize * 2 * gridDim.x;
  T mySum = 0;
  while (i < n) {
    mySum += g_idata[i];
    if (i + blockSize < n) mySum += g_idata[i + blockSize];
    i += gridSize;
  }
  sdata[tid] = mySum;
  __syncthreads();
  if (blockSize >= 512) { if (tid < 256) sdata[tid] = mySum = mySum + sdata[tid + 256]; __syncthreads(); }
  if (blockSize >= 256) { if (tid < 128) sdata[tid] = mySum = mySum + sdata[tid + 128]; __syncthreads(); }
  if (blockSize >= 128) { if (tid < 64) sdata[tid] = mySum = mySum + sdata[tid + 64]; __syncthreads(); }
  if (blockSize >= 64) { if (tid < 32) sdata[tid] = mySum = mySum + sdata[tid + 32]; __syncthreads(); }
  if (blockSize >= 32) { if (tid < 16) sdata[tid] = mySum = mySum + sdata[tid + 16]; __syncthreads(); }
  if (tid < 8) sdata[tid] = mySum = mySum + sdata[tid + 8];
  __syncthreads();
  if (tid < 4) sdata[tid] = mySum = mySum + sdata[tid + 4];
  __syncthreads();
  if (tid < 2) sdata[tid] = mySum = mySum + sdata[tid + 2];
  __syncthreads();
  if (tid == 0) g_odata[blockIdx.x] = mySum + sdata[1];
}

// ---- dot product from the book
const int threadsPerBlock = 256;
__global__ void dot(float *a, float *b, float *c, int N) {
  __shared__ float cache[threadsPerBlock];
  int tid = threadIdx.x + blockIdx.x * blockDim.x;
  int cacheIndex = threadIdx.x;
  float temp = 0;
  while (tid < N) {
    temp += a[tid] * b[tid];
    tid += blockDim.x * gridDim.x;
  }
  cache[cacheIndex] = temp;
  __syncthreads();
  int i = blockDim.x / 2;
  while (i != 0) {
    if (cacheIndex < i) cache[cacheIndex] += cache[cacheIndex + i];
    __syncthreads();
    i /= 2;
  }
  if (cacheIndex == 0) c[blockIdx.x] = cache[0];
}

// ---- argmax of every row, ties to the smaller index
__global__ void row_argmax(const float *m, int *where, float *what, int cols) {
  __shared__ float v[128];
  __shared__ int ix[128];
  const float *r = m + (size_t)blockIdx.x * cols;
  float best = -1e30f; int bi = 0;
  for (int c = threadIdx.x; c < cols; c += 128)
    if (r[c] > best) { best = r[c]; bi = c; }
  v[threadIdx.x] = best; ix[threadIdx.x] = bi;
  for (int s = 64; s > 0; s >>= 1) {
    __syncthreads();
    if (threadIdx.x < s) {
      float o = v[threadIdx.x + s]; int oi = ix[threadIdx.x + s];
      if (o > v[threadIdx.x] || (o == v[threadIdx.x] && oi < ix[threadIdx.x])) { v[threadIdx.x] = o; ix[threadIdx.x] = oi; }
    }
  }
  if (threadIdx.x == 0) { where[blockIdx.x] = ix[0]; what[blockIdx.x] = v[0]; }
}

static __global__ void row_argmax_rc(const float *m, int *where, float *what,
                                     int cols) {
  // Register cache: a thread stands for 1 thread of row_argmax.
  //   v: stays in shared memory.
  //   ix: stays in shared memory.
  //   Barriers stay: 'where' is written and may be 'm', which is read.
  //   The first warp has rounds for itself in which no other one does anything;
  //   the others wait behind the loop.
  __shared__ float v[128];
  __shared__ int ix[128];
  const float *r = m + (size_t)blockIdx.x * cols;
  float best = -1e30f;
  int bi = 0;
  for (int c = threadIdx.x; c < cols; c += 128)
    if (r[c] > best) {
      best = r[c];
      bi = c;
    }
  v[threadIdx.x] = best;
  ix[threadIdx.x] = bi;
  for (int s = 64; s > 32; s >>= 1) {
    __syncthreads();
    if (threadIdx.x < s) {
      float o = v[threadIdx.x + s];
      int oi = ix[threadIdx.x + s];
      if (o > v[threadIdx.x] || (o == v[threadIdx.x] && oi < ix[threadIdx.x])) {
        v[threadIdx.x] = o;
        ix[threadIdx.x] = oi;
      }
    }
  }
  __syncthreads();
  if (threadIdx.x < 32) {
#pragma unroll
    for (int s = 32; s > 0; s >>= 1) {
      __syncwarp();
      if (threadIdx.x < s) {
        float o = v[threadIdx.x + s];
        int oi = ix[threadIdx.x + s];
        if (o > v[threadIdx.x] ||
            (o == v[threadIdx.x] && oi < ix[threadIdx.x])) {
          v[threadIdx.x] = o;
          ix[threadIdx.x] = oi;
        }
      }
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    where[blockIdx.x] = ix[0];
    what[blockIdx.x] = v[0];
  }
}

// Launches the register-cache form of row_argmax where it applies, else
// row_argmax itself.
static inline void row_argmax_rc_launch(dim3 rc_grid, dim3 rc_block,
                                        size_t rc_shared,
                                        cudaStream_t rc_stream, const float *m,
                                        int *where, float *what, int cols) {
#ifdef RCACHE_VERIFY
  ::rcache::device::verification rc_verification(
      "row_argmax", "m, where, what, cols", rc_grid, rc_block, rc_shared,
      rc_stream, m, where, what, cols);
#endif
  if ((rc_block.x == 128 && rc_block.y == 1 && rc_block.z == 1) &&
      (rc_grid.x != 0 && rc_grid.y != 0 && rc_grid.z != 0) &&
      (rc_grid.x <= 0x7fffffffu / 128) &&
      (cols >= 0 && (double)cols * rc_grid.x <= 4611686018427387904.0) &&
      ::rcache::device::launches<256>(row_argmax, rc_grid, rc_block,
                                      rc_shared) &&
      ::rcache::device::holds(row_argmax_rc, rc_shared)
#ifdef RCACHE_VERIFY
      && rc_verification.save()
#endif
  ) {
    row_argmax_rc<<<rc_grid, dim3(128u, 1u, 1u), rc_shared, rc_stream>>>(
        m, where, what, cols);

#ifdef RCACHE_VERIFY
    rc_verification.original();
#else
    return;
#endif
  }

  row_argmax<<<rc_grid, rc_block, rc_shared, rc_stream>>>(m, where, what, cols);
}

// ---- mean and variance per column block (Welford merge)
struct Stat { double mean, m2; long long n; };
__device__ Stat merge(Stat a, Stat b) {
  Stat r;
  r.n = a.n + b.n;
  if (r.n == 0) { r.mean = 0; r.m2 = 0; return r; }
  double d = b.mean - a.mean;
  r.mean = a.mean + d * b.n / r.n;
  r.m2 = a.m2 + b.m2 + d * d * ((double)a.n * b.n / r.n);
  return r;
}
__global__ void welford_blocks(const float *x, Stat *out, size_t n) {
  __shared__ Stat st[192];
  Stat s = {0.0, 0.0, 0};
  for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
    s.n++;
    double d = x[i] - s.mean;
    s.mean += d / s.n;
    s.m2 += d * (x[i] - s.mean);
  }
  st[threadIdx.x] = s;
  __syncthreads();
  // 192 = 128 + 64
  if (threadIdx.x >= 128) st[threadIdx.x - 128] = merge(st[threadIdx.x - 128], st[threadIdx.x]);
  __syncthreads();
  for (int k = 64; k >= 1; k /= 2) {
    if (threadIdx.x < k) st[threadIdx.x] = merge(st[threadIdx.x], st[threadIdx.x + k]);
    __syncthreads();
  }
  if (!threadIdx.x) out[blockIdx.x] = st[0];
}

template <class T> void reduceBoth(const char *nm, unsigned n) {
  T *in = mk<T>(n); T *part = mk<T>(1024), *res = mk<T>(1);
  reduceSum<T, 512><<<1024, 512, 512 * sizeof(T)>>>(in, part, n);
  reduceSum<T, 128><<<1, 128, 128 * sizeof(T)>>>(part, res, 1024);
  show(nm, part, 1024 * sizeof(T)); show(nm, res, sizeof(T));
  cudaFree(in);
}

int main() {
  reduceBoth<float>("reduceSum f", (1u << 26) - 77);
  reduceBoth<int>("reduceSum i", 50000000u);
  reduceBoth<double>("reduceSum d", 1u << 24);
  { int N = 33 * 1024 * 1024; int g = 2112;
    float *a = mk<float>(N), *b = mk<float>(N), *c = mk<float>(g);
    dot<<<g, threadsPerBlock>>>(a, b, c, N);
    show("dot", c, g * 4); cudaFree(a); cudaFree(b); }
  { int rows = 20000, cols = 1001;
    float *m = mk<float>((size_t)rows * cols), *w = mk<float>(rows); int *p = mk<int>(rows);
    row_argmax_rc_launch(rows, 128, 0, 0, m, p, w, cols);
    show("row_argmax ix", p, rows * 4); show("row_argmax v", w, rows * 4); cudaFree(m); }
  { size_t n = 30000001; float *x = mk<float>(n); Stat *o; cudaMalloc(&o, 1056 * sizeof(Stat));
    welford_blocks<<<1056, 192>>>(x, o, n);
    show("welford_blocks", o, 1056 * sizeof(Stat)); }
  return 0;
}
