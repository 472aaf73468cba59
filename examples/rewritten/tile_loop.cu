// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A grid of fixed size walks over the array tile by tile: staging and use stand
// in a loop, between two barriers; a total lives across the tiles.

#include "example.h"
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
#ifndef RCACHE_DEVICE_OWN_BRANCH
#define RCACHE_DEVICE_OWN_BRANCH
namespace rcache {
namespace device {
/// Ends a branch that loads what the other one loads from elsewhere. Compilers
/// would load behind both, and every lane would compute both addresses to
/// choose one. No instruction.
__device__ __forceinline__ void own_branch() {
#ifdef __CUDA_ARCH__
  asm volatile("");
#endif
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

#define BLOCK 256
#define R 4

// in holds n + 2 * R elements; out holds n; totals one element a thread.
__global__ void smooth(const float *in, float *out, float *totals, int n) {
  __shared__ float tile[BLOCK + 2 * R];
  float total = 0;
  for (int base = blockIdx.x * BLOCK; base < n; base += gridDim.x * BLOCK) {
    const int g = base + threadIdx.x;
    if (g < n + 2 * R)
      tile[threadIdx.x] = in[g];
    if (threadIdx.x < 2 * R && g + BLOCK < n + 2 * R)
      tile[threadIdx.x + BLOCK] = in[g + BLOCK];
    __syncthreads();
    if (g < n) {
      float sum = 0;
      for (int j = 0; j <= 2 * R; ++j)
        sum += tile[threadIdx.x + j];
      out[g] = sum * 0.125f;
      total += sum;
    }
    __syncthreads();
  }
  totals[blockIdx.x * BLOCK + threadIdx.x] = total;
}

static __global__ void smooth_rc(const float *in, float *out, float *totals,
                                 int n, const unsigned int rc_grid_x) {
  // Register cache: a thread stands for 4 threads of smooth, neighbours in x.
  //   tile: window of 12 registers, chunks of 4 a lane, exchanged by shuffles.
  //   Barriers stay: 'out' is written and may be 'in', which is read.
  const unsigned int rc_block_x = blockIdx.x;
  const int rc_tx = threadIdx.x * 4; // first logical thread
  const int rc_lane = threadIdx.x % 32;
  float total[4];
#pragma unroll
  for (int rc_s = 0; rc_s < 4; ++rc_s) {
    total[rc_s] = 0;
  }
  for (int base = rc_block_x * BLOCK; base < n; base += rc_grid_x * BLOCK) {
    int g[4];
#pragma unroll
    for (int rc_s = 0; rc_s < 4; ++rc_s) {
      const unsigned int rc_thread_x = rc_tx + rc_s;
      g[rc_s] = base + rc_thread_x;
    }
    // tile[rc_e0] as the original stages it.
    const auto rc_tile_at = [=](const int rc_e0) -> float {
      if (rc_e0 < 264 && rc_e0 + base - 7 <= n &&
          256 * (int)rc_block_x <= base && base < n)
        return in[rc_e0 + base];
      return {}; // never used
    };
    // Phase: each lane loads its own chunk of tile; 2 lanes load what lies
    // behind the warp's last chunk.
    float rc_tile_w_own[4], rc_tile_w_next[4] = {};
    {
      const int rc_e0 = rc_tx;
      if (rc_e0 < 261 && rc_e0 + base - 4 <= n &&
          256 * (int)rc_block_x <= base && base < n) {
        ::rcache::device::load_run<16, 0>(rc_tile_w_own, in + (rc_e0 + base));
      } else {
#pragma unroll
        for (int rc_m = 0; rc_m < 4; ++rc_m)
          rc_tile_w_own[rc_m] = rc_tile_at(rc_e0 + rc_m);
        ::rcache::device::own_branch();
      }
    }
    if (rc_lane < 2) {
      const int rc_e0 = rc_tx + 128;
      if (rc_e0 < 261 && rc_e0 + base - 4 <= n &&
          256 * (int)rc_block_x <= base && base < n) {
        ::rcache::device::load_run<16, 0>(rc_tile_w_next, in + (rc_e0 + base));
      } else {
#pragma unroll
        for (int rc_m = 0; rc_m < 4; ++rc_m)
          rc_tile_w_next[rc_m] = rc_tile_at(rc_e0 + rc_m);
        ::rcache::device::own_branch();
      }
    }
    // Phase: the rest of the window arrives from the lanes that own it.
    float rc_tile_w[12];
#pragma unroll
    for (int rc_m = 0; rc_m < 4; ++rc_m)
      rc_tile_w[rc_m] = rc_tile_w_own[rc_m];
#pragma unroll
    for (int rc_m = 4; rc_m < 12; ++rc_m)
      rc_tile_w[rc_m] = ::rcache::device::shuffle(rc_lane < rc_m / 4
                                                      ? rc_tile_w_next[rc_m % 4]
                                                      : rc_tile_w_own[rc_m % 4],
                                                  (rc_lane + rc_m / 4) % 32);
    __syncthreads();
    float rc_out_v0[4];
    bool rc_out_v0_on[4] = {};
#pragma unroll
    for (int rc_s = 0; rc_s < 4; ++rc_s) {
      if (g[rc_s] < n) {
        float sum = 0;

#pragma unroll
        for (int j = 0; j <= 2 * R; ++j)
          sum += rc_tile_w[rc_s + j];
        rc_out_v0[rc_s] = sum * 0.125f;
        rc_out_v0_on[rc_s] = true;
        total[rc_s] += sum;
      }
    }
    ::rcache::device::store_run<16>(out + (rc_tx + base), rc_out_v0,
                                    rc_out_v0_on);
    __syncthreads();
  }
  float rc_totals_v1[4];
  bool rc_totals_v1_on[4] = {};
#pragma unroll
  for (int rc_s = 0; rc_s < 4; ++rc_s) {
    rc_totals_v1[rc_s] = total[rc_s];
  }
#pragma unroll
  for (int rc_s = 0; rc_s < 4; ++rc_s) {
    rc_totals_v1_on[rc_s] = true;
  }
  ::rcache::device::store_run<16>(totals + (rc_tx + 256 * (int)rc_block_x),
                                  rc_totals_v1, rc_totals_v1_on);
}

// Launches the register-cache form of smooth where it applies, else smooth
// itself.
static inline void smooth_rc_launch(dim3 rc_grid, dim3 rc_block,
                                    size_t rc_shared, cudaStream_t rc_stream,
                                    const float *in, float *out, float *totals,
                                    int n) {
#ifdef RCACHE_VERIFY
  ::rcache::device::verification rc_verification("smooth", "in, out, totals, n",
                                                 rc_grid, rc_block, rc_shared,
                                                 rc_stream, in, out, totals, n);
#endif
  if (::rcache::device::fills(rc_grid, 64u, 33792) &&
      (rc_block.x == 256 && rc_block.y == 1 && rc_block.z == 1) &&
      (rc_grid.x != 0 && rc_grid.y != 0 && rc_grid.z != 0) &&
      (rc_grid.x <= 0x7fffffffu / 256) && ((double)rc_grid.x <= 8384512.0) &&
      (n >= 0 && (double)n <= 2147418112.0) &&
      (::rcache::device::separate(out, totals)) && (n >= 0) &&
      ::rcache::device::launches<256>(smooth, rc_grid, rc_block, rc_shared)
#ifdef RCACHE_VERIFY
      && rc_verification.save()
#endif
  ) {
    smooth_rc<<<rc_grid, dim3(64u, 1u, 1u), 0, rc_stream>>>(in, out, totals, n,
                                                            rc_grid.x);

#ifdef RCACHE_VERIFY
    rc_verification.original();
#else
    return;
#endif
  }

  smooth<<<rc_grid, rc_block, rc_shared, rc_stream>>>(in, out, totals, n);
}

int main(int argc, char **argv) {
  const int n = example::argument(argc, argv, 20000), blocks = n / 1600 + 1;
  const auto in = example::numbers<float>(n + 2 * R);
  example::Buffer<float> In(in), Out(std::vector<float>(n, -1.0f)),
      Totals(std::vector<float>(blocks * BLOCK, -1.0f));

  smooth_rc_launch(blocks, BLOCK, 0, 0, In.data(), Out.data(), Totals.data(), n);
  EXAMPLE_CHECK(cudaGetLastError());
  EXAMPLE_CHECK(cudaDeviceSynchronize());

  std::vector<float> want(n), totals(blocks * BLOCK, 0.0f);
  for (int g = 0; g < n; ++g) {
    float sum = 0;
    for (int j = 0; j <= 2 * R; ++j)
      sum += in[g + j];
    want[g] = sum * 0.125f;
    totals[g % (blocks * BLOCK)] += sum;
  }
  return example::report("tile_loop", Out.host(), want) |
         example::report("tile_loop totals", Totals.host(), totals);
}
