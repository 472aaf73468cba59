// Lab 4: reductions
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

#define BLOCK_SIZE 256

static void show(const char *name, const void *dev, size_t bytes) {
  unsigned char *p = (unsigned char *)malloc(bytes);
  cudaMemcpy(p, dev, bytes, cudaMemcpyDeviceToHost);
  uint64_t h = 1469598103934665603ull;
  for (size_t i = 0; i < bytes; ++i) h = (h ^ p[i]) * 1099511628211ull;
  printf("%s %016llx\n", name, (unsigned long long)h);
  free(p);
}

__global__ void dotPartialLab(const float *x, const float *y, float *part, int n) {
  __shared__ float cache[BLOCK_SIZE];
  int tid = threadIdx.x + blockIdx.x * blockDim.x;
  int cacheIndex = threadIdx.x;
  float temp = 0;
  while (tid < n) {
    temp += x[tid] * y[tid];
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
  if (cacheIndex == 0) part[blockIdx.x] = cache[0];
}

__global__ void argMinLab(const float *v, float *minVal, int *minIdx, int n) {
  __shared__ float sVal[BLOCK_SIZE];
  __shared__ int sIdx[BLOCK_SIZE];
  unsigned int t = threadIdx.x;
  unsigned int g = blockIdx.x * (BLOCK_SIZE * 2) + t;
  float a = FLT_MAX;
  int ia = -1;
  if (g < n) { a = v[g]; ia = g; }
  if (g + BLOCK_SIZE < n && v[g + BLOCK_SIZE] < a) { a = v[g + BLOCK_SIZE]; ia = g + BLOCK_SIZE; }
  sVal[t] = a;
  sIdx[t] = ia;
  __syncthreads();
  for (unsigned int s = BLOCK_SIZE / 2; s > 0; s >>= 1) {
    if (t < s) {
      if (sVal[t + s] < sVal[t]) {
        sVal[t] = sVal[t + s];
        sIdx[t] = sIdx[t + s];
      }
    }
    __syncthreads();
  }
  if (t == 0) {
    minVal[blockIdx.x] = sVal[0];
    minIdx[blockIdx.x] = sIdx[0];
  }
}

static __global__ void argMinLab_rc(const float *v, float *minVal, int *minIdx,
                                    int n) {
  // Register cache: a thread stands for 1 thread of argMinLab.
  //   sVal: stays in shared memory.
  //   sIdx: stays in shared memory.
  //   Barriers stay: 'minVal' is written and may be 'v', which is read.
  //   The first warp has rounds for itself in which no other one does anything;
  //   the others wait behind the loop.
  __shared__ float sVal[BLOCK_SIZE];
  __shared__ int sIdx[BLOCK_SIZE];
  unsigned int t = threadIdx.x;
  unsigned int g = blockIdx.x * (BLOCK_SIZE * 2) + t;
  float a = FLT_MAX;
  int ia = -1;
  if (g < n) {
    a = v[g];
    ia = g;
  }
  if (g + BLOCK_SIZE < n && v[g + BLOCK_SIZE] < a) {
    a = v[g + BLOCK_SIZE];
    ia = g + BLOCK_SIZE;
  }
  sVal[t] = a;
  sIdx[t] = ia;
  __syncthreads();
  for (unsigned int s = BLOCK_SIZE / 2; s > 32; s >>= 1) {
    if (t < s) {
      if (sVal[t + s] < sVal[t]) {
        sVal[t] = sVal[t + s];
        sIdx[t] = sIdx[t + s];
      }
    }
    __syncthreads();
  }
  if (threadIdx.x < 32) {
#pragma unroll
    for (unsigned int s = 32; s > 0; s >>= 1) {
      if (t < s) {
        if (sVal[t + s] < sVal[t]) {
          sVal[t] = sVal[t + s];
          sIdx[t] = sIdx[t + s];
        }
      }
      __syncwarp();
    }
  }
  __syncthreads();
  if (t == 0) {
    minVal[blockIdx.x] = sVal[0];
    minIdx[blockIdx.x] = sIdx[0];
  }
}

// Launches the register-cache form of argMinLab where it applies, else
// argMinLab itself.
static inline void argMinLab_rc_launch(dim3 rc_grid, dim3 rc_block,
                                       size_t rc_shared, cudaStream_t rc_stream,
                                       const float *v, float *minVal,
                                       int *minIdx, int n) {
#ifdef RCACHE_VERIFY
  ::rcache::device::verification rc_verification(
      "argMinLab", "v, minVal, minIdx, n", rc_grid, rc_block, rc_shared,
      rc_stream, v, minVal, minIdx, n);
#endif
  if ((rc_block.x == 256 && rc_block.y == 1 && rc_block.z == 1) &&
      (rc_grid.x != 0 && rc_grid.y != 0 && rc_grid.z != 0) &&
      (rc_grid.x <= 0x7fffffffu / 256) && ((double)rc_grid.x <= 8384512.0) &&
      (n >= 0) &&
      ::rcache::device::launches<256>(argMinLab, rc_grid, rc_block,
                                      rc_shared) &&
      ::rcache::device::holds(argMinLab_rc, rc_shared)
#ifdef RCACHE_VERIFY
      && rc_verification.save()
#endif
  ) {
    argMinLab_rc<<<rc_grid, dim3(256u, 1u, 1u), rc_shared, rc_stream>>>(
        v, minVal, minIdx, n);

#ifdef RCACHE_VERIFY
    rc_verification.original();
#else
    return;
#endif
  }

  argMinLab<<<rc_grid, rc_block, rc_shared, rc_stream>>>(v, minVal, minIdx, n);
}

// column sums of a row major matrix: blockDim = (32, 8)
__global__ void colSumLab(const float *m, float *out, int rows, int cols) {
  __shared__ float buf[8][32];
  const int c = blockIdx.x * 32 + threadIdx.x;
  const int r0 = blockIdx.y * 64;
  float acc = 0.f;
  if (c < cols)
    for (int r = r0 + threadIdx.y; r < r0 + 64 && r < rows; r += 8) acc += m[r * cols + c];
  buf[threadIdx.y][threadIdx.x] = acc;
  __syncthreads();
  for (int s = 4; s >= 1; s /= 2) {
    if (threadIdx.y < s) buf[threadIdx.y][threadIdx.x] += buf[threadIdx.y + s][threadIdx.x];
    __syncthreads();
  }
  if (threadIdx.y == 0 && c < cols) out[blockIdx.y * cols + c] = buf[0][threadIdx.x];
}

int main() {
  const int n = 10000003;
  float *x = mk<float>(n), *y = mk<float>(n);
  float *part, *mv, *cs;
  int *mi;
  const int nb = 1024, nb2 = (n + 511) / 512;
  cudaMalloc(&part, nb * 4);
  cudaMalloc(&mv, nb2 * 4);
  cudaMalloc(&mi, nb2 * 4);
  dotPartialLab<<<nb, BLOCK_SIZE>>>(x, y, part, n);
  argMinLab_rc_launch(nb2, BLOCK_SIZE, 0, 0, x, mv, mi, n);
  const int rows = 3000, cols = 2500, gy = (rows + 63) / 64;
  cudaMalloc(&cs, gy * cols * 4);
  colSumLab<<<dim3((cols + 31) / 32, gy), dim3(32, 8)>>>(y, cs, rows, cols);
  cudaDeviceSynchronize();
  show("dot", part, nb * 4);
  show("minval", mv, nb2 * 4);
  show("minidx", mi, nb2 * 4);
  show("colsum", cs, gy * cols * 4);
  return 0;
}
