// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One kernel template for several element types and radii.

#include "example.h"
#ifndef RCACHE_DEVICE_SAME
#define RCACHE_DEVICE_SAME
namespace rcache {
namespace device {
/// Whether two types are one: tells instantiations of a template apart.
template <typename One, typename Other> struct same {
  static constexpr bool value = false;
};
template <typename One> struct same<One, One> {
  static constexpr bool value = true;
};
} // namespace device
} // namespace rcache
#endif
#ifndef RCACHE_DEVICE_WORD
#define RCACHE_DEVICE_WORD
namespace rcache {
namespace device {
/// The type of one memory access of Bytes bytes.
template <int Bytes> struct word;
template <> struct word<1> {
  using type = unsigned char;
};
template <> struct word<2> {
  using type = unsigned short;
};
template <> struct word<4> {
  using type = unsigned int;
};
template <> struct word<8> {
  using type = uint2;
};
template <> struct word<16> {
  using type = uint4;
};
} // namespace device
} // namespace rcache
#endif
#ifndef RCACHE_DEVICE_ON_WORD
#define RCACHE_DEVICE_ON_WORD
namespace rcache {
namespace device {
/// Whether an access of Bytes bytes may be made at p.
template <int Bytes> __device__ __forceinline__ bool on_word(const void *p) {
  return reinterpret_cast<unsigned long long>(p) % Bytes == 0;
}
} // namespace device
} // namespace rcache
#endif
#ifndef RCACHE_DEVICE_LOAD_WORDS
#define RCACHE_DEVICE_LOAD_WORDS
namespace rcache {
namespace device {
/// w[i] = p[i] for Low <= i < High (-1: Count), in accesses of Bytes bytes, for
/// which p + Head is aligned (sizeof(Element): one element at a time). Reads
/// nothing outside the part.
template <int Bytes, int Head, int Low = 0, int High = -1, int Count,
          typename Element>
__device__ __forceinline__ void load_words(Element (&w)[Count],
                                           const Element *p) {
  constexpr int Size = static_cast<int>(sizeof(Element));
  constexpr int PerWord = Bytes > Size ? Bytes / Size : 1;
  // The first place in the part where a word may begin.
  constexpr int Last = High < 0 ? Count : High;
  constexpr int First = Low + ((Head - Low) % PerWord + PerWord) % PerWord;
  constexpr int Words =
      PerWord > 1 && Last > First ? (Last - First) / PerWord : 0;
  constexpr int Begin = Words ? First : Last, End = Begin + Words * PerWord;
  using word_t = typename word<Bytes>::type;
#pragma unroll
  for (int i = Low; i < Begin; ++i)
    w[i] = p[i];
#pragma unroll
  for (int v = 0; v < Words; ++v) {
    const word_t x = reinterpret_cast<const word_t *>(p + Begin)[v];
    memcpy(&w[Begin + v * PerWord], &x, Bytes);
  }
#pragma unroll
  for (int i = End; i < Last; ++i)
    w[i] = p[i];
}
} // namespace device
} // namespace rcache
#endif
#ifndef RCACHE_DEVICE_LOAD_RUN
#define RCACHE_DEVICE_LOAD_RUN
namespace rcache {
namespace device {
/// The same, one element at a time where p + Head is not aligned.
template <int Bytes, int Head, int Low = 0, int High = -1, int Count,
          typename Element>
__device__ __forceinline__ void load_run(Element (&w)[Count],
                                         const Element *p) {
  if (on_word<Bytes>(p + Head))
    load_words<Bytes, Head, Low, High>(w, p);
  else
    load_words<1, 0, Low, High>(w, p);
}
} // namespace device
} // namespace rcache
#endif
#ifndef RCACHE_DEVICE_PACK
#define RCACHE_DEVICE_PACK
namespace rcache {
namespace device {
/// The word of the elements from v on. Elements of one or two bytes are shifted
/// into place: copied, they would lie packed from where they are computed, and
/// each would be masked into its place (Sobel on bytes took 8% longer on an
/// H200).
template <int Bytes, typename Element>
__device__ __forceinline__ typename word<Bytes>::type pack(const Element *v) {
  constexpr int Size = static_cast<int>(sizeof(Element));
  typename word<Bytes>::type x;
  if (Size > 2 || Bytes < 4) {
    memcpy(&x, v, Bytes);
    return x;
  }
  unsigned int words[(Bytes + 3) / 4] = {};
#pragma unroll
  for (int i = 0; i < Bytes / Size; ++i) {
    typename word<(Size > 2 ? 4 : Size)>::type bits;
    memcpy(&bits, &v[i], sizeof bits);
    words[i * Size / 4] |= static_cast<unsigned int>(bits) << i * Size % 4 * 8;
  }
  memcpy(&x, words, Bytes);
  return x;
}
} // namespace device
} // namespace rcache
#endif
#ifndef RCACHE_DEVICE_STORE_RUN
#define RCACHE_DEVICE_STORE_RUN
namespace rcache {
namespace device {
/// The address of a word in global memory, of which the compiler knows no more:
/// where it sees how some addresses are made (in 64 bits, of thread and block
/// numbers) nvcc 13 stores the elements of a word one by one.
template <typename Word> __device__ __forceinline__ Word *whole(Word *p) {
#if defined(__CUDA_ARCH__) && !defined(__clang__)
  asm("" : "+l"(p));
  __builtin_assume(__isGlobal(p));
#endif
  return p;
}
/// p[i] = v[i] for those i with on[i], in global memory; in accesses of Bytes
/// bytes where all are on and p is aligned for them.
template <int Bytes, int Count, typename Element>
__device__ __forceinline__ void store_run(Element *p, const Element (&v)[Count],
                                          const bool (&on)[Count]) {
  constexpr int PerWord = Bytes / static_cast<int>(sizeof(Element));
  bool all = Count % PerWord == 0 &&
             reinterpret_cast<unsigned long long>(p) % Bytes == 0;
#pragma unroll
  for (int i = 0; i < Count; ++i)
    all = all && on[i];
  if (all) {
    using word_t = typename word<Bytes>::type;
#pragma unroll
    for (int i = 0; i < Count / PerWord; ++i) {
      *whole(reinterpret_cast<word_t *>(p) + i) = pack<Bytes>(&v[i * PerWord]);
    }
  } else {
#pragma unroll
    for (int i = 0; i < Count; ++i)
      if (on[i])
        p[i] = v[i];
  }
}
} // namespace device
} // namespace rcache
#endif
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
#ifndef RCACHE_DEVICE_ALIGNED
#define RCACHE_DEVICE_ALIGNED
namespace rcache {
namespace device {
/// Whether vectors of 16 bytes start at a pointer; without them the original is
/// as fast or faster. -DRCACHE_ANY_LAUNCH takes any: for tests.
static inline bool aligned(const volatile void *p) {
#if defined(RCACHE_ANY_LAUNCH) || defined(RCACHE_VERIFY)
  (void)p;
  return true;
#else
  return reinterpret_cast<size_t>(p) % 16 == 0;
#endif
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

namespace filters {

template <typename T, int Radius, int Block>
__global__ void box(const T *in, T *out, int n) {
  __shared__ T tile[Block + 2 * Radius];
  const int g = blockIdx.x * Block + threadIdx.x - Radius;
  const T zero = T();
  tile[threadIdx.x] = g >= 0 && g < n ? in[g] : zero;
  if (threadIdx.x < 2 * Radius)
    tile[threadIdx.x + Block] = g + Block < n ? in[g + Block] : zero;
  __syncthreads();
  if (g + Radius < n) {
    T sum = zero;
#pragma unroll
    for (int j = 0; j < 2 * Radius + 1; ++j)
      sum += tile[threadIdx.x + j];
    out[g + Radius] = sum;
  }
}

template <typename T, int Radius, int Block>
static __global__ void box_rc(const T *in, T *out, int n,
                              const unsigned int rc_grid_x) {
  // Register cache: a thread stands for 4 threads of box, neighbours in x.
  //   tile: window of 8 registers, loaded by each thread.
  //   Barriers stay: 'out' is written and may be 'in', which is read.
  const unsigned int rc_block_x =
      blockIdx.x * blockDim.y + threadIdx.y; // logical block
  if (rc_block_x >= rc_grid_x)
    return;                          // all threads of this logical block
  const int rc_tx = threadIdx.x * 4; // first logical thread
  const T zero = T();
  // tile[rc_e0] as the original stages it.
  const auto rc_tile_at = [=](const int rc_e0) -> T {
    if (2 <= 256 * (int)rc_block_x + rc_e0 &&
        256 * (int)rc_block_x + rc_e0 - 1 <= n)
      return in[rc_e0 + 256 * (int)rc_block_x - 2];
    return ((T()) != (T()) ? (T()) : __fadd_rn(T(), -0.0f));
  };
  // Phase: the elements of tile that this thread's outputs need.
  T rc_tile_w[8];
  {
    const int rc_e0 = rc_tx;
    if (4 <= 256 * (int)rc_block_x + rc_e0 &&
        256 * (int)rc_block_x + rc_e0 < n - 5) {
      ::rcache::device::load_run<16, 2>(
          rc_tile_w, in + (rc_e0 + 256 * (int)rc_block_x - 2));
    } else {
#pragma unroll
      for (int rc_m = 0; rc_m < 8; ++rc_m)
        rc_tile_w[rc_m] = rc_tile_at(rc_e0 + rc_m);
    }
  }
  __syncthreads();
  {
    float rc_out_v[4];
    bool rc_out_v_on[4] = {};
#pragma unroll
    for (int rc_s = 0; rc_s < 4; ++rc_s) {
      T sum = zero;

#pragma unroll
      for (int j = 0; j < 2 * Radius + 1; ++j)
        sum += rc_tile_w[rc_s + j];
      rc_out_v[rc_s] = sum;
    }
#pragma unroll
    for (int rc_s = 0; rc_s < 4; ++rc_s) {
      const unsigned int rc_thread_x = rc_tx + rc_s;
      const int g = rc_block_x * Block + rc_thread_x - Radius;
      rc_out_v_on[rc_s] = g + Radius < n;
    }
    ::rcache::device::store_run<16>(out + (rc_tx + 256 * (int)rc_block_x),
                                    rc_out_v, rc_out_v_on);
  }
}

template <typename T, int Radius, int Block>
static __global__ void box_rc_2(const T *in, T *out, int n,
                                const unsigned int rc_grid_x) {
  // Register cache: a thread stands for 4 threads of box, neighbours in x.
  //   tile: window of 12 registers, chunks of 4 a lane, exchanged by shuffles.
  //   Barriers stay: 'out' is written and may be 'in', which is read.
  const unsigned int rc_block_x =
      blockIdx.x * blockDim.y + threadIdx.y; // logical block
  if (rc_block_x >= rc_grid_x)
    return;                          // all threads of this logical block
  const int rc_tx = threadIdx.x * 4; // first logical thread
  const int rc_lane = threadIdx.x % 32;
  const T zero = T();
  // tile[rc_e0] as the original stages it.
  const auto rc_tile_at = [=](const int rc_e0) -> T {
    if (4 <= 128 * (int)rc_block_x + rc_e0 &&
        128 * (int)rc_block_x + rc_e0 - 3 <= n && rc_e0 < 136)
      return in[rc_e0 + 128 * (int)rc_block_x - 4];
    return ((T()) != (T()) ? (T()) : __dadd_rn(T(), -0.0));
  };
  // Phase: each lane loads its own chunk of tile; 2 lanes load what lies behind
  // the warp's last chunk.
  T rc_tile_w_own[4], rc_tile_w_next[4] = {};
  {
    const int rc_e0 = rc_tx;
    if (4 <= 128 * (int)rc_block_x + rc_e0 &&
        128 * (int)rc_block_x + rc_e0 <= n && rc_e0 < 133) {
      ::rcache::device::load_run<16, 0>(
          rc_tile_w_own, in + (rc_e0 + 128 * (int)rc_block_x - 4));
    } else {
#pragma unroll
      for (int rc_m = 0; rc_m < 4; ++rc_m)
        rc_tile_w_own[rc_m] = rc_tile_at(rc_e0 + rc_m);
    }
  }
  if (rc_lane < 2) {
    const int rc_e0 = rc_tx + 128;
    if (4 <= 128 * (int)rc_block_x + rc_e0 &&
        128 * (int)rc_block_x + rc_e0 <= n && rc_e0 < 133) {
      ::rcache::device::load_run<16, 0>(
          rc_tile_w_next, in + (rc_e0 + 128 * (int)rc_block_x - 4));
    } else {
#pragma unroll
      for (int rc_m = 0; rc_m < 4; ++rc_m)
        rc_tile_w_next[rc_m] = rc_tile_at(rc_e0 + rc_m);
    }
  }
  // Phase: the rest of the window arrives from the lanes that own it.
  T rc_tile_w[12];
#pragma unroll
  for (int rc_m = 0; rc_m < 4; ++rc_m)
    rc_tile_w[rc_m] = rc_tile_w_own[rc_m];
#pragma unroll
  for (int rc_m = 4; rc_m < 12; ++rc_m)
    rc_tile_w[rc_m] = ::rcache::device::shuffle(
        rc_lane < rc_m / 4 ? rc_tile_w_next[rc_m % 4] : rc_tile_w_own[rc_m % 4],
        (rc_lane + rc_m / 4) % 32);
  __syncthreads();
  {
    T sum[4];
#pragma unroll
    for (int rc_s = 0; rc_s < 4; ++rc_s) {
      sum[rc_s] = zero;
    }

#pragma unroll
    for (int j = 0; j < 2 * Radius + 1; ++j) {
#pragma unroll
      for (int rc_s = 0; rc_s < 4; ++rc_s) {
        sum[rc_s] += rc_tile_w[rc_s + j];
      }
    }
    double rc_out_v[4];
    bool rc_out_v_on[4] = {};
#pragma unroll
    for (int rc_s = 0; rc_s < 4; ++rc_s) {
      rc_out_v[rc_s] = sum[rc_s];
    }
#pragma unroll
    for (int rc_s = 0; rc_s < 4; ++rc_s) {
      const unsigned int rc_thread_x = rc_tx + rc_s;
      const int g = rc_block_x * Block + rc_thread_x - Radius;
      rc_out_v_on[rc_s] = g + Radius < n;
    }
    ::rcache::device::store_run<16>(out + (rc_tx + 128 * (int)rc_block_x),
                                    rc_out_v, rc_out_v_on);
  }
}

template <typename T, int Radius, int Block>
static __global__ void box_rc_3(const T *in, T *out, int n,
                                const unsigned int rc_grid_x) {
  // Register cache: a thread stands for 8 threads of box, neighbours in x.
  //   tile: window of 28 registers, chunks of 8 a lane, exchanged by shuffles.
  //   Barriers stay: 'out' is written and may be 'in', which is read.
  const unsigned int rc_block_x =
      blockIdx.x * blockDim.y + threadIdx.y; // logical block
  if (rc_block_x >= rc_grid_x)
    return;                          // all threads of this logical block
  const int rc_tx = threadIdx.x * 8; // first logical thread
  const int rc_lane = threadIdx.x % 32;
  const T zero = T();
  // tile[rc_e0] as the original stages it.
  const auto rc_tile_at = [=](const int rc_e0) -> T {
    if (10 <= 256 * (int)rc_block_x + rc_e0 &&
        256 * (int)rc_block_x + rc_e0 - 9 <= n && rc_e0 < 276)
      return in[rc_e0 + 256 * (int)rc_block_x - 10];
    return 0;
  };
  // Phase: each lane loads its own chunk of tile; 3 lanes load what lies behind
  // the warp's last chunk.
  T rc_tile_w_own[8], rc_tile_w_next[8] = {};
  {
    const int rc_e0 = rc_tx;
    if (16 <= 256 * (int)rc_block_x + rc_e0 &&
        256 * (int)rc_block_x + rc_e0 - 2 <= n && rc_e0 < 265) {
      ::rcache::device::load_run<16, 2>(
          rc_tile_w_own, in + (rc_e0 + 256 * (int)rc_block_x - 10));
    } else {
#pragma unroll
      for (int rc_m = 0; rc_m < 8; ++rc_m)
        rc_tile_w_own[rc_m] = rc_tile_at(rc_e0 + rc_m);
    }
  }
  if (rc_lane < 3) {
    const int rc_e0 = rc_tx + 256;
    if (16 <= 256 * (int)rc_block_x + rc_e0 &&
        256 * (int)rc_block_x + rc_e0 - 2 <= n && rc_e0 < 265) {
      ::rcache::device::load_run<16, 2>(
          rc_tile_w_next, in + (rc_e0 + 256 * (int)rc_block_x - 10));
    } else {
#pragma unroll
      for (int rc_m = 0; rc_m < 8; ++rc_m)
        rc_tile_w_next[rc_m] = rc_tile_at(rc_e0 + rc_m);
    }
  }
  // Phase: the rest of the window arrives from the lanes that own it.
  T rc_tile_w[28];
#pragma unroll
  for (int rc_m = 0; rc_m < 8; ++rc_m)
    rc_tile_w[rc_m] = rc_tile_w_own[rc_m];
#pragma unroll
  for (int rc_m = 8; rc_m < 28; ++rc_m)
    rc_tile_w[rc_m] = ::rcache::device::shuffle(
        rc_lane < rc_m / 8 ? rc_tile_w_next[rc_m % 8] : rc_tile_w_own[rc_m % 8],
        (rc_lane + rc_m / 8) % 32);
  __syncthreads();
  {
    T sum[8];
#pragma unroll
    for (int rc_s = 0; rc_s < 8; ++rc_s) {
      sum[rc_s] = zero;
    }

#pragma unroll
    for (int j = 0; j < 2 * Radius + 1; ++j) {
#pragma unroll
      for (int rc_s = 0; rc_s < 8; ++rc_s) {
        sum[rc_s] += rc_tile_w[rc_s + j];
      }
    }
    int rc_out_v[8];
    bool rc_out_v_on[8] = {};
#pragma unroll
    for (int rc_s = 0; rc_s < 8; ++rc_s) {
      rc_out_v[rc_s] = sum[rc_s];
    }
#pragma unroll
    for (int rc_s = 0; rc_s < 8; ++rc_s) {
      const unsigned int rc_thread_x = rc_tx + rc_s;
      const int g = rc_block_x * Block + rc_thread_x - Radius;
      rc_out_v_on[rc_s] = g + Radius < n;
    }
    ::rcache::device::store_run<16>(out + (rc_tx + 256 * (int)rc_block_x),
                                    rc_out_v, rc_out_v_on);
  }
}

// Launches the register-cache form of box where it applies, else box itself.
template <typename T, int Radius, int Block>
static inline void box_rc_launch(dim3 rc_grid, dim3 rc_block, size_t rc_shared,
                                 cudaStream_t rc_stream, const T *in, T *out,
                                 int n) {
#ifdef RCACHE_VERIFY
  ::rcache::device::verification rc_verification(
      "box", "in, out, n", rc_grid, rc_block, rc_shared, rc_stream, in, out, n);
#endif
  if constexpr (::rcache::device::same<T, float>::value && (Radius == 2) &&
                (Block == 256)) {
    if (::rcache::device::fills(rc_grid, 64u, 84480) &&
        (rc_block.x == 256 && rc_block.y == 1 && rc_block.z == 1) &&
        (rc_grid.x != 0 && rc_grid.y != 0 && rc_grid.z != 0) &&
        (rc_grid.x <= 0x7fffffffu / 256) && ((double)rc_grid.x <= 8384512.0) &&
        (n >= -2147483643) &&
        ::rcache::device::launches<256>(box<T, Radius, Block>, rc_grid,
                                        rc_block, rc_shared)
#ifdef RCACHE_VERIFY
        && rc_verification.save()
#endif
    ) {
      // Merge logical blocks until a physical block has 128 threads or more.
      const unsigned int rc_threads = 64u;
      const unsigned int rc_merged = rc_threads < 128u ? 128u / rc_threads : 1u;
      const dim3 rc_blocks((rc_grid.x - 1u) / rc_merged + 1u, rc_grid.y,
                           rc_grid.z);
      const dim3 rc_threads_of_block(64u, rc_merged, 1);
      box_rc<T, Radius, Block>
          <<<rc_blocks, rc_threads_of_block, 0, rc_stream>>>(in, out, n,
                                                             rc_grid.x);

#ifdef RCACHE_VERIFY
      rc_verification.original();
#else
      return;
#endif
    }
  } else if constexpr (::rcache::device::same<T, double>::value &&
                       (Radius == 4) && (Block == 128)) {
    if (::rcache::device::fills(rc_grid, 32u, 84480) &&
        (rc_block.x == 128 && rc_block.y == 1 && rc_block.z == 1) &&
        (rc_grid.x != 0 && rc_grid.y != 0 && rc_grid.z != 0) &&
        (rc_grid.x <= 0x7fffffffu / 128) && ((double)rc_grid.x <= 16769024.0) &&
        ::rcache::device::aligned(in) && ::rcache::device::aligned(out) &&
        ::rcache::device::launches<256>(box<T, Radius, Block>, rc_grid,
                                        rc_block, rc_shared)
#ifdef RCACHE_VERIFY
        && rc_verification.save()
#endif
    ) {
      // Merge logical blocks until a physical block has 128 threads or more.
      const unsigned int rc_threads = 32u;
      const unsigned int rc_merged = rc_threads < 128u ? 128u / rc_threads : 1u;
      const dim3 rc_blocks((rc_grid.x - 1u) / rc_merged + 1u, rc_grid.y,
                           rc_grid.z);
      const dim3 rc_threads_of_block(32u, rc_merged, 1);
      box_rc_2<T, Radius, Block>
          <<<rc_blocks, rc_threads_of_block, 0, rc_stream>>>(in, out, n,
                                                             rc_grid.x);

#ifdef RCACHE_VERIFY
      rc_verification.original();
#else
      return;
#endif
    }
  } else if constexpr (::rcache::device::same<T, int>::value &&
                       (Radius == 10) && (Block == 256)) {
    if (::rcache::device::fills(rc_grid, 32u, 84480) &&
        (rc_block.x == 256 && rc_block.y == 1 && rc_block.z == 1) &&
        (rc_grid.x != 0 && rc_grid.y != 0 && rc_grid.z != 0) &&
        (rc_grid.x <= 0x7fffffffu / 256) && ((double)rc_grid.x <= 8384512.0) &&
        ::rcache::device::aligned(in) && ::rcache::device::aligned(out) &&
        ::rcache::device::launches<256>(box<T, Radius, Block>, rc_grid,
                                        rc_block, rc_shared)
#ifdef RCACHE_VERIFY
        && rc_verification.save()
#endif
    ) {
      // Merge logical blocks until a physical block has 64 threads or more.
      const unsigned int rc_threads = 32u;
      const unsigned int rc_merged = rc_threads < 64u ? 64u / rc_threads : 1u;
      const dim3 rc_blocks((rc_grid.x - 1u) / rc_merged + 1u, rc_grid.y,
                           rc_grid.z);
      const dim3 rc_threads_of_block(32u, rc_merged, 1);
      box_rc_3<T, Radius, Block>
          <<<rc_blocks, rc_threads_of_block, 0, rc_stream>>>(in, out, n,
                                                             rc_grid.x);

#ifdef RCACHE_VERIFY
      rc_verification.original();
#else
      return;
#endif
    }
  }
  box<T, Radius, Block>
      <<<rc_grid, rc_block, rc_shared, rc_stream>>>(in, out, n);
}

} // namespace filters

template <typename T, int Radius, int Block>
static int run(const char *name, int n) {
  const auto in = example::numbers<T>(n);
  example::Buffer<T> In(in), Out(std::vector<T>(n, T(7)));
  filters::box_rc_launch<T, Radius, Block>((n + Block - 1) / Block, Block, 0, 0, In.data(), Out.data(), n);
  EXAMPLE_CHECK(cudaGetLastError());
  EXAMPLE_CHECK(cudaDeviceSynchronize());
  std::vector<T> want(n);
  for (int g = 0; g < n; ++g) {
    T sum = T();
    for (int i = g - Radius; i <= g + Radius; ++i)
      sum += i >= 0 && i < n ? in[i] : T();
    want[g] = sum;
  }
  return example::report(name, Out.host(), want);
}

int main(int argc, char **argv) {
  const int n = example::argument(argc, argv, 4097);
  return run<float, 2, 256>("templated float, radius 2", n) |
         run<double, 4, 128>("templated double, radius 4", n) |
         run<int, 10, 256>("templated int, radius 10", n);
}
