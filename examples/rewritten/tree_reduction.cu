// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums by a tree in shared memory, one sum a block: an array that is written
// again and again between barriers.

#include "example.h"
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
#ifndef RCACHE_DEVICE_FILLS
#define RCACHE_DEVICE_FILLS
namespace rcache {
namespace device {
/// Whether a grid of blocks of `threads` threads has `least` threads or more.
/// With fewer, most of the device would be idle, and the original, with more of
/// them, is over sooner. -DRCACHE_ANY_LAUNCH takes any: for tests at small
/// sizes; where there is an `other` form for smaller grids, that one has the
/// odd numbers of blocks, so that tests run both.
static inline bool fills(dim3 grid, unsigned threads, double least,
                         bool other = false) {
#if defined(RCACHE_ANY_LAUNCH) || defined(RCACHE_VERIFY)
  (void)threads, (void)least;
  return !other || (grid.x & grid.y & grid.z & 1u) == 0;
#else
  (void)other;
  return double(grid.x) * grid.y * grid.z * threads >= least;
#endif
}
} // namespace device
} // namespace rcache
#endif
#ifndef RCACHE_DEVICE_SEPARATE
#define RCACHE_DEVICE_SEPARATE
namespace rcache {
namespace device {
/// Where the allocation around an address begins; 0 if the driver does not know
/// of one. The driver is asked for its function at run time: nothing to link.
static inline unsigned long long allocation(unsigned long long at) {
  using query = int (*)(unsigned long long *, size_t *, unsigned long long);
  static const query range = [] {
    void *f = nullptr;
    auto found = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
    auto e = cudaGetDriverEntryPointByVersion("cuMemGetAddressRange", &f, 12000,
                                              cudaEnableDefault, &found);
#else
    auto e = cudaGetDriverEntryPoint("cuMemGetAddressRange", &f,
                                     cudaEnableDefault, &found);
#endif
    if (e != cudaSuccess)
      (void)cudaGetLastError();
    return reinterpret_cast<query>(
        e == cudaSuccess && found == cudaDriverEntryPointSuccess ? f : nullptr);
  }();
  unsigned long long base = 0;
  size_t size = 0;
  return range && range(&base, &size, at) == 0 ? base : 0;
}
/// Whether two pointers lead to different allocations. End: they may stand just
/// behind what they lead to. False when in doubt.
static inline bool separate(const volatile void *a, const volatile void *b,
                            bool end = false) {
  const auto at = reinterpret_cast<unsigned long long>(a);
  const auto other = reinterpret_cast<unsigned long long>(b);
  const auto x = allocation(at), y = allocation(other);
  if (!end)
    return x && y && x != y;
  const auto v = allocation(at - 1), w = allocation(other - 1);
  return (x || v) && (y || w) && !(x && (x == y || x == w)) &&
         !(v && (v == y || v == w));
}
} // namespace device
} // namespace rcache
#endif
#ifndef RCACHE_DEVICE_SHUFFLE
#define RCACHE_DEVICE_SHUFFLE
namespace rcache {
namespace device {
/// The value that lane `lane` (0..31) publishes. All 32 lanes of the warp must
/// call it. Element: trivially copyable, of any size; exchanged word by word.
/// Taken by value: `c ? a[i] : b[j]` bound to a reference would choose between
/// addresses and keep both arrays in local memory.
template <typename Element>
__device__ __forceinline__ Element shuffle(Element value, int lane) {
  constexpr int Words = (static_cast<int>(sizeof(Element)) + 3) / 4;
  unsigned int words[Words] = {};
  memcpy(words, &value, sizeof(Element));
#pragma unroll
  for (int i = 0; i < Words; ++i)
    words[i] = __shfl_sync(0xffffffffu, words[i], lane);
  Element result;
  memcpy(&result, words, sizeof(Element));
  return result;
}
} // namespace device
} // namespace rcache
#endif
#ifndef RCACHE_DEVICE_ELEMENTS_AHEAD
#define RCACHE_DEVICE_ELEMENTS_AHEAD
namespace rcache {
namespace device {
/// Of elements that lie 32 apart in the registers of a lane: the one that is
/// `ahead` (or, below 0, behind) of element lane + 32 * slot.
template <int Registers, typename Element>
__device__ __forceinline__ Element
elements_ahead(const Element (&own)[Registers], int slot, int ahead) {
  const int lanes = ahead & 31, from = slot + (ahead - lanes) / 32;
  const Element low = own[from >= 0 && from < Registers ? from : 0];
  if (lanes == 0)
    return low;
  const Element high = own[from >= -1 && from + 1 < Registers ? from + 1 : 0];
  const int lane = static_cast<int>(threadIdx.x) & 31;
  return shuffle(lane >= lanes ? low : high, (lane + lanes) & 31);
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

#define BLOCK 128

__global__ void blockSums(const float *in, float *sums, int n) {
  __shared__ float s[BLOCK];
  const int l = threadIdx.x;
  const int g = blockIdx.x * BLOCK + l;
  s[l] = g < n ? in[g] : 0.0f;
  __syncthreads();
  for (int step = BLOCK / 2; step > 0; step /= 2) {
    if (l < step)
      s[l] += s[l + step];
    __syncthreads();
  }
  if (l == 0)
    sums[blockIdx.x] = s[0];
}

static __global__ void __launch_bounds__(256, 3)
    blockSums_rc(const float *__restrict__ in, float *sums, int n,
                 const unsigned int rc_grid_x) {
  // Register cache: a thread stands for 4 threads of blockSums, 32 apart.
  //   s: in registers of the warp that is the block: element e in the slot
  //   of thread e; others' elements arrive by shuffles.
  //   No barrier is left: nothing is shared between warps.
  const unsigned int rc_block_x =
      blockIdx.x * blockDim.y + threadIdx.y; // logical block
  if (rc_block_x >= rc_grid_x)
    return;                           // all threads of this logical block
  const int rc_tx = threadIdx.x % 32; // first logical thread
  float rc_s_own[4] = {};
  if (128 * (int)rc_block_x < n - 127) {
#pragma unroll
    for (int rc_s = 0; rc_s < 4; ++rc_s) {
      const unsigned int rc_thread_x = rc_tx + rc_s * 32;
      const int l = rc_thread_x;

      const int g = rc_block_x * BLOCK + l;
      rc_s_own[rc_s] = in[g];
    }
  } else {
#pragma unroll
    for (int rc_s = 0; rc_s < 4; ++rc_s) {
      const unsigned int rc_thread_x = rc_tx + rc_s * 32;
      const int l = rc_thread_x;

      const int g = rc_block_x * BLOCK + l;
      rc_s_own[rc_s] = g < n ? in[g] : 0.0f;
    }
  }

#pragma unroll
  for (int step = BLOCK / 2; step > 0; step /= 2) {
    float rc_s_from[4];
#pragma unroll
    for (int rc_s = 0; rc_s < 4; ++rc_s)
      if (32 * rc_s < (step))
        rc_s_from[rc_s] =
            ::rcache::device::elements_ahead(rc_s_own, rc_s, (step));
#pragma unroll
    for (int rc_s = 0; rc_s < 4; ++rc_s) {
      const unsigned int rc_thread_x = rc_tx + rc_s * 32;
      const int l = rc_thread_x;
      if (l < step)
        rc_s_own[rc_s] += rc_s_from[rc_s];
    }
  }
#pragma unroll
  for (int rc_s = 0; rc_s < 4; ++rc_s) {
    const unsigned int rc_thread_x = rc_tx + rc_s * 32;
    const int l = rc_thread_x;
    if (l == 0)
      sums[rc_block_x] = rc_s_own[rc_s];
  }
}

// Launches the register-cache form of blockSums where it applies, else
// blockSums itself.
static inline void blockSums_rc_launch(dim3 rc_grid, dim3 rc_block,
                                       size_t rc_shared, cudaStream_t rc_stream,
                                       const float *in, float *sums, int n) {
#ifdef RCACHE_VERIFY
  ::rcache::device::verification rc_verification("blockSums", "in, sums, n",
                                                 rc_grid, rc_block, rc_shared,
                                                 rc_stream, in, sums, n);
#endif
  if (::rcache::device::fills(rc_grid, 32u, 33792) &&
      (rc_block.x == 128 && rc_block.y == 1 && rc_block.z == 1) &&
      (rc_grid.x != 0 && rc_grid.y != 0 && rc_grid.z != 0) &&
      (rc_grid.x <= 0x7fffffffu / 128) && ((double)rc_grid.x <= 16769024.0) &&
      (::rcache::device::separate(in, sums)) && (n >= -2147483521) &&
      ::rcache::device::launches<256>(blockSums, rc_grid, rc_block, rc_shared)
#ifdef RCACHE_VERIFY
      && rc_verification.save()
#endif
  ) {
    // Merge logical blocks until a physical block has 256 threads or more.
    const unsigned int rc_threads = 32u;
    const unsigned int rc_merged = rc_threads < 256u ? 256u / rc_threads : 1u;
    const dim3 rc_blocks((rc_grid.x - 1u) / rc_merged + 1u, rc_grid.y,
                         rc_grid.z);
    const dim3 rc_threads_of_block(32u, rc_merged, 1);
    blockSums_rc<<<rc_blocks, rc_threads_of_block, 0, rc_stream>>>(in, sums, n,
                                                                   rc_grid.x);

#ifdef RCACHE_VERIFY
    rc_verification.original();
#else
    return;
#endif
  }

  blockSums<<<rc_grid, rc_block, rc_shared, rc_stream>>>(in, sums, n);
}

int main(int argc, char **argv) {
  const int n = example::argument(argc, argv, 10000);
  const int blocks = (n + BLOCK - 1) / BLOCK;
  const auto in = example::numbers<float>(n);
  example::Buffer<float> In(in), Sums(std::vector<float>(blocks, -1.0f));

  blockSums_rc_launch(blocks, BLOCK, 0, 0, In.data(), Sums.data(), n);
  EXAMPLE_CHECK(cudaGetLastError());
  EXAMPLE_CHECK(cudaDeviceSynchronize());

  std::vector<float> want(blocks, 0.0f);
  for (int g = 0; g < n; ++g)
    want[g / BLOCK] += in[g];
  return example::report("tree_reduction", Sums.host(), want);
}
