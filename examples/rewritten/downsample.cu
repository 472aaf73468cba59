// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Halves the rate of a signal: each output weighs five inputs around every
// second one, so neighbouring threads read elements two apart.

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
#ifndef RCACHE_DEVICE_APART
#define RCACHE_DEVICE_APART
namespace rcache {
namespace device {
/// x, but no product with it is shared with another slot's, or computed where x
/// is loaded: sums are fused as they were when each thread had one output. No
/// instruction.
__device__ __forceinline__ float apart(float x, int slot) {
#ifdef __CUDA_ARCH__
  asm("" : "+f"(x) : "r"(slot));
#endif
  return x;
}
__device__ __forceinline__ double apart(double x, int slot) {
#ifdef __CUDA_ARCH__
  asm("" : "+d"(x) : "r"(slot));
#endif
  return x;
}
/// Integers, vectors and structs, word by word.
template <typename Element>
__device__ __forceinline__ Element apart(Element x, int slot) {
#ifdef __CUDA_ARCH__
  if (sizeof(Element) == 2) {
    unsigned short half;
    memcpy(&half, &x, sizeof(Element) < 2 ? sizeof(Element) : 2);
    asm("" : "+h"(half) : "r"(slot));
    memcpy(&x, &half, sizeof(Element) < 2 ? sizeof(Element) : 2);
    return x;
  }
  constexpr int Words = (static_cast<int>(sizeof(Element)) + 3) / 4;
  unsigned int words[Words] = {};
  memcpy(words, &x, sizeof(Element));
#pragma unroll
  for (int i = 0; i < Words; ++i)
    asm("" : "+r"(words[i]) : "r"(slot));
  memcpy(&x, words, sizeof(Element));
#endif
  return x;
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

constexpr int Block = 128;

// in holds 2 * n + 3 samples, out holds n.
__global__ void downsample(const float *in, float *out, int n) {
  __shared__ float s[2 * Block + 3];
  const int first = 2 * Block * blockIdx.x;
  for (int i = threadIdx.x; i < 2 * Block + 3; i += Block)
    if (first + i < 2 * n + 3)
      s[i] = in[first + i];
  __syncthreads();

  const int g = blockIdx.x * Block + threadIdx.x;
  if (g < n) {
    const int l = 2 * threadIdx.x;
    out[g] = 0.0625f * (s[l] + s[l + 4]) + 0.25f * (s[l + 1] + s[l + 3]) +
             0.375f * s[l + 2];
  }
}

static __global__ void downsample_rc(const float *in, float *out, int n,
                                     const unsigned int rc_grid_x) {
  // Register cache: a thread stands for 4 threads of downsample, neighbours in
  // x.
  //   s: window of 11 registers, loaded by each thread.
  //   Barriers stay: 'out' is written and may be 'in', which is read.
  const unsigned int rc_block_x =
      blockIdx.x * blockDim.y + threadIdx.y; // logical block
  if (rc_block_x >= rc_grid_x)
    return;                          // all threads of this logical block
  const int rc_tx = threadIdx.x * 4; // first logical thread
  // s[rc_e0] as the original stages it.
  const auto rc_s_at = [=](const int rc_e0) -> float {
    if (256 * (int)rc_block_x + rc_e0 - 2 <= 2 * n)
      return in[256 * (int)rc_block_x + rc_e0];
    return {}; // never used
  };
  // Phase: the elements of s that this thread's outputs need.
  float rc_s_w[11];
  {
    const int rc_e0 = 2 * rc_tx;
    if (256 * (int)rc_block_x + rc_e0 < 2 * n - 7) {
      ::rcache::device::load_run<16, 0>(rc_s_w,
                                        in + (256 * (int)rc_block_x + rc_e0));
    } else {
#pragma unroll
      for (int rc_m = 0; rc_m < 11; ++rc_m)
        rc_s_w[rc_m] = rc_s_at(rc_e0 + rc_m);
      ::rcache::device::own_branch();
    }
  }
  // What each output sees of it: no product is another output's.
  float rc_s_w_of[4][11];
#pragma unroll
  for (int rc_s = 0; rc_s < 4; ++rc_s)
#pragma unroll
    for (int rc_m0 = 0; rc_m0 < 11; ++rc_m0)
      rc_s_w_of[rc_s][rc_m0] = ::rcache::device::apart(rc_s_w[rc_m0], rc_s);
  __syncthreads();
  {
    float rc_out_v[4];
    bool rc_out_v_on[4] = {};
#pragma unroll
    for (int rc_s = 0; rc_s < 4; ++rc_s) {
      rc_out_v[rc_s] =
          0.0625f *
              (rc_s_w_of[rc_s][2 * rc_s] + rc_s_w_of[rc_s][2 * rc_s + 4]) +
          0.25f *
              (rc_s_w_of[rc_s][2 * rc_s + 1] + rc_s_w_of[rc_s][2 * rc_s + 3]) +
          0.375f * rc_s_w_of[rc_s][2 * rc_s + 2];
    }
#pragma unroll
    for (int rc_s = 0; rc_s < 4; ++rc_s) {
      const unsigned int rc_thread_x = rc_tx + rc_s;
      const int g = rc_block_x * Block + rc_thread_x;
      rc_out_v_on[rc_s] = g < n;
    }
    ::rcache::device::store_run<16>(out + (rc_tx + 128 * (int)rc_block_x),
                                    rc_out_v, rc_out_v_on);
  }
}

// Launches the register-cache form of downsample where it applies, else
// downsample itself.
static inline void downsample_rc_launch(dim3 rc_grid, dim3 rc_block,
                                        size_t rc_shared,
                                        cudaStream_t rc_stream, const float *in,
                                        float *out, int n) {
#ifdef RCACHE_VERIFY
  ::rcache::device::verification rc_verification("downsample", "in, out, n",
                                                 rc_grid, rc_block, rc_shared,
                                                 rc_stream, in, out, n);
#endif
  if (::rcache::device::fills(rc_grid, 32u, 84480) &&
      (rc_block.x == 128 && rc_block.y == 1 && rc_block.z == 1) &&
      (rc_grid.x != 0 && rc_grid.y != 0 && rc_grid.z != 0) &&
      (rc_grid.x <= 0x7fffffffu / 128) && ((double)rc_grid.x <= 8384512.0) &&
      (2.0 * (double)n - 7.0 <= 2147483647.0) &&
      (2.0 * (double)n - 7.0 >= -2147483648.0) &&
      (2.0 * (double)n <= 2147483647.0) && (2.0 * (double)n >= -2147483648.0) &&
      ::rcache::device::launches<256>(downsample, rc_grid, rc_block, rc_shared)
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
    downsample_rc<<<rc_blocks, rc_threads_of_block, 0, rc_stream>>>(in, out, n,
                                                                    rc_grid.x);

#ifdef RCACHE_VERIFY
    rc_verification.original();
#else
    return;
#endif
  }

  downsample<<<rc_grid, rc_block, rc_shared, rc_stream>>>(in, out, n);
}

int main(int argc, char **argv) {
  const int n = example::argument(argc, argv, 5000);
  const auto in = example::numbers<float>(2 * n + 3);
  example::Buffer<float> In(in), Out(std::vector<float>(n, -1.0f));

  downsample_rc_launch((n + Block - 1) / Block, Block, 0, 0, In.data(), Out.data(), n);
  EXAMPLE_CHECK(cudaGetLastError());
  EXAMPLE_CHECK(cudaDeviceSynchronize());

  std::vector<float> want(n);
  for (int g = 0; g < n; ++g) {
    const float *s = &in[2 * g];
    want[g] = 0.0625f * (s[0] + s[4]) + 0.25f * (s[1] + s[3]) + 0.375f * s[2];
  }
  return example::report("downsample", Out.host(), want);
}
