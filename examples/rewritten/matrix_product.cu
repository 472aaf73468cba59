// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tiled matrix product of the textbooks, any size: tiles at the edges are
// filled up with zeros.

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
/// p[i] = v[i] for those i with on[i]; in accesses of Bytes bytes where all are
/// on and p is aligned for them.
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
      reinterpret_cast<word_t *>(p)[i] = pack<Bytes>(&v[i * PerWord]);
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
#ifndef RCACHE_DEVICE_FILLS
#define RCACHE_DEVICE_FILLS
namespace rcache {
namespace device {
/// Whether a grid of blocks of `threads` threads has `least` threads or more.
/// With fewer, most of the device would be idle, and the original, with more of
/// them, is over sooner. -DRCACHE_ANY_LAUNCH takes any: for tests at small
/// sizes.
static inline bool fills(dim3 grid, unsigned threads, double least) {
#if defined(RCACHE_ANY_LAUNCH) || defined(RCACHE_VERIFY)
  (void)grid, (void)threads, (void)least;
  return true;
#else
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

#define TILE 16

// C (m x n) = A (m x k) * B (k x n), row by row.
__global__ void product(const float *A, const float *B, float *C, int m, int n,
                        int k) {
  __shared__ float As[TILE][TILE];
  __shared__ float Bs[TILE][TILE];
  const int row = blockIdx.y * TILE + threadIdx.y;
  const int col = blockIdx.x * TILE + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < (k + TILE - 1) / TILE; ++t) {
    const int ac = t * TILE + threadIdx.x, br = t * TILE + threadIdx.y;
    As[threadIdx.y][threadIdx.x] = row < m && ac < k ? A[row * k + ac] : 0.0f;
    Bs[threadIdx.y][threadIdx.x] = br < k && col < n ? B[br * n + col] : 0.0f;
    __syncthreads();
    for (int i = 0; i < TILE; ++i)
      sum += As[threadIdx.y][i] * Bs[i][threadIdx.x];
    __syncthreads();
  }
  if (row < m && col < n)
    C[row * n + col] = sum;
}

static __global__ void product_rc(const float *A, const float *B, float *C,
                                  int m, int n, int k,
                                  const unsigned int rc_grid_x) {
  // Register cache: a thread stands for 16 threads of product, neighbours in x.
  //   As: window of 4 x 16 registers, loaded by each thread.
  //   Bs: window of 16 x 4 registers, loaded by each thread, one row at a time.
  //   Barriers stay: 'C' is written and may be 'A', which is read.
  const unsigned int rc_block_x =
      blockIdx.x * (blockDim.x / 4u) + threadIdx.x / 4u; // logical block
  if (rc_block_x >= rc_grid_x)
    return; // all threads of this logical block
  const int rc_tx = (int)(threadIdx.x % 4u) * 4; // first logical thread
  const int rc_ty = threadIdx.y * 4;             // first logical thread
  float sum[4][4];
#pragma unroll
  for (int rc_sy = 0; rc_sy < 4; ++rc_sy)
#pragma unroll
    for (int rc_s = 0; rc_s < 4; ++rc_s) {
      sum[rc_sy][rc_s] = 0;
    }
  for (int t = 0; t < (k + TILE - 1) / TILE; ++t) {
    // As[rc_e0][rc_e1] as the original stages it.
    const auto rc_As_at = [=](const int rc_e0, const int rc_e1) -> float {
      if (0 <= t && rc_e1 + 16 * t < k && 16 * (int)blockIdx.y + rc_e0 < m)
        return A[rc_e1 + 16 * t + (rc_e0 * k) + 16 * (int)(blockIdx.y * k)];
      return 0.0f;
    };
    // Phase: the elements of As that this thread's outputs need.
    float rc_As_w[4][16];
    bool rc_As_w_inside, rc_As_w_words;
    {
      const int rc_e0 = rc_ty;
      const int rc_e1 = 0;
      rc_As_w_inside =
          0 <= t && 16 * t < k - 15 && 16 * (int)blockIdx.y + rc_e0 < m - 3;
      // In words when all rows are aligned.
      rc_As_w_words =
          rc_As_w_inside &&
          ::rcache::device::on_word<16>(A + (rc_e1 + 16 * t + (rc_e0 * k) +
                                             16 * (int)(blockIdx.y * k))) &&
          ::rcache::device::on_word<16>(A +
                                        (rc_e1 + 16 * t + ((rc_e0 + 1) * k) +
                                         16 * (int)(blockIdx.y * k)));
    }
    if (rc_As_w_words) {
#pragma unroll
      for (int rc_r0 = 0; rc_r0 < 4; ++rc_r0) {
        const int rc_e0 = rc_ty + rc_r0;
        const int rc_e1 = 0;
        ::rcache::device::load_words<16, 0>(
            rc_As_w[rc_r0],
            A + (rc_e1 + 16 * t + (rc_e0 * k) + 16 * (int)(blockIdx.y * k)));
      }
    } else if (rc_As_w_inside) {
#pragma unroll
      for (int rc_r0 = 0; rc_r0 < 4; ++rc_r0) {
        const int rc_e0 = rc_ty + rc_r0;
        const int rc_e1 = 0;
        ::rcache::device::load_words<4, 0>(
            rc_As_w[rc_r0],
            A + (rc_e1 + 16 * t + (rc_e0 * k) + 16 * (int)(blockIdx.y * k)));
      }
    } else {
#pragma unroll
      for (int rc_r0 = 0; rc_r0 < 4; ++rc_r0) {
        const int rc_e0 = rc_ty + rc_r0;
        const int rc_e1 = 0;
#pragma unroll
        for (int rc_m = 0; rc_m < 16; ++rc_m)
          rc_As_w[rc_r0][rc_m] = rc_As_at(rc_e0, rc_e1 + rc_m);
      }
    }
    // Bs[rc_e0][rc_e1] as the original stages it.
    const auto rc_Bs_at = [=](const int rc_e0, const int rc_e1) -> float {
      if (0 <= t && rc_e0 + 16 * t < k && 16 * (int)rc_block_x + rc_e1 < n)
        return B[rc_e1 + 16 * (int)rc_block_x + (rc_e0 * n) +
                 16 * (int)(n * t)];
      return 0.0f;
    };
    // Phase: the rows of Bs that this thread's outputs need, one at a time.
    const auto rc_Bs_w_row = [=](float (&rc_v)[4], const int rc_row) {
      const int rc_e0 = 0 + rc_row;
      const int rc_e1 = rc_tx;
      ::rcache::device::load_words<16, 0>(
          rc_v,
          B + (rc_e1 + 16 * (int)rc_block_x + (rc_e0 * n) + 16 * (int)(n * t)));
    };
    const auto rc_Bs_w_unaligned_row = [=](float (&rc_v)[4], const int rc_row) {
      const int rc_e0 = 0 + rc_row;
      const int rc_e1 = rc_tx;
      ::rcache::device::load_words<4, 0>(
          rc_v,
          B + (rc_e1 + 16 * (int)rc_block_x + (rc_e0 * n) + 16 * (int)(n * t)));
    };
    const auto rc_Bs_w_border_row = [=](float (&rc_v)[4], const int rc_row) {
      const int rc_e0 = 0 + rc_row;
      const int rc_e1 = rc_tx;
#pragma unroll
      for (int rc_m = 0; rc_m < 4; ++rc_m)
        rc_v[rc_m] = rc_Bs_at(rc_e0, rc_e1 + rc_m);
    };
    bool rc_Bs_w_inside, rc_Bs_w_words;
    {
      const int rc_e0 = 0;
      const int rc_e1 = rc_tx;
      rc_Bs_w_inside =
          0 <= t && 16 * t < k - 15 && 16 * (int)rc_block_x + rc_e1 < n - 3;
      // In words when all rows are aligned.
      rc_Bs_w_words = rc_Bs_w_inside &&
                      ::rcache::device::on_word<16>(
                          B + (rc_e1 + 16 * (int)rc_block_x + (rc_e0 * n) +
                               16 * (int)(n * t))) &&
                      ::rcache::device::on_word<16>(
                          B + (rc_e1 + 16 * (int)rc_block_x +
                               ((rc_e0 + 1) * n) + 16 * (int)(n * t)));
    }
    if (rc_Bs_w_words) {
#pragma unroll
      for (int rc_row = 0; rc_row < 16; ++rc_row) {
        float rc_Bs_w[4];
        rc_Bs_w_row(rc_Bs_w, rc_row);
        const int rc_round = rc_row;
        if (rc_round < 0 || rc_round > 15)
          continue;
        const int i = rc_round;
#pragma unroll
        for (int rc_sy = 0; rc_sy < 4; ++rc_sy)
#pragma unroll
          for (int rc_s = 0; rc_s < 4; ++rc_s) {
            sum[rc_sy][rc_s] += rc_As_w[rc_sy][i] * rc_Bs_w[rc_s];
          }
      }
    } else if (rc_Bs_w_inside) {
#pragma unroll
      for (int rc_row = 0; rc_row < 16; ++rc_row) {
        float rc_Bs_w[4];
        rc_Bs_w_unaligned_row(rc_Bs_w, rc_row);
        const int rc_round = rc_row;
        if (rc_round < 0 || rc_round > 15)
          continue;
        const int i = rc_round;
#pragma unroll
        for (int rc_sy = 0; rc_sy < 4; ++rc_sy)
#pragma unroll
          for (int rc_s = 0; rc_s < 4; ++rc_s) {
            sum[rc_sy][rc_s] += rc_As_w[rc_sy][i] * rc_Bs_w[rc_s];
          }
      }
    } else { // at a border
#pragma unroll
      for (int rc_row = 0; rc_row < 16; ++rc_row) {
        float rc_Bs_w[4];
        rc_Bs_w_border_row(rc_Bs_w, rc_row);
        const int rc_round = rc_row;
        if (rc_round < 0 || rc_round > 15)
          continue;
        const int i = rc_round;
#pragma unroll
        for (int rc_sy = 0; rc_sy < 4; ++rc_sy)
#pragma unroll
          for (int rc_s = 0; rc_s < 4; ++rc_s) {
            sum[rc_sy][rc_s] += rc_As_w[rc_sy][i] * rc_Bs_w[rc_s];
          }
      }
    }
    __syncthreads();
    __syncthreads();
  }
  float rc_C_v[4][4];
  bool rc_C_v_on[4][4] = {};
#pragma unroll
  for (int rc_sy = 0; rc_sy < 4; ++rc_sy)
#pragma unroll
    for (int rc_s = 0; rc_s < 4; ++rc_s) {
      rc_C_v[rc_sy][rc_s] = sum[rc_sy][rc_s];
    }
#pragma unroll
  for (int rc_sy = 0; rc_sy < 4; ++rc_sy)
#pragma unroll
    for (int rc_s = 0; rc_s < 4; ++rc_s) {
      const unsigned int rc_thread_y = rc_ty + rc_sy;
      const unsigned int rc_thread_x = rc_tx + rc_s;
      const int row = blockIdx.y * TILE + rc_thread_y;
      const int col = rc_block_x * TILE + rc_thread_x;
      rc_C_v_on[rc_sy][rc_s] = row < m && col < n;
    }
#pragma unroll
  for (int rc_sy = 0; rc_sy < 4; ++rc_sy)
    ::rcache::device::store_run<16>(C + (rc_tx + 16 * (int)rc_block_x +
                                         (int)(n * (rc_ty + rc_sy)) +
                                         16 * (int)(blockIdx.y * n)),
                                    rc_C_v[rc_sy], rc_C_v_on[rc_sy]);
}

static __global__ void product_rc_unaligned(const float *__restrict__ A,
                                            const float *__restrict__ B,
                                            float *C, int m, int n, int k,
                                            const unsigned int rc_grid_x) {
  // Register cache: a thread stands for 8 threads of product.
  //   As: stays in shared memory.
  //   Bs: stays in shared memory.
  //   __syncwarp() for __syncthreads() where no other warp writes or reads the
  //   same elements.
  const unsigned int rc_block_x = blockIdx.x;
  const int rc_ty = threadIdx.y * 8; // first logical thread
  __shared__ float As[TILE][TILE];
  __shared__ float Bs[TILE][TILE];
  float sum[8];
#pragma unroll
  for (int rc_sy = 0; rc_sy < 8; ++rc_sy) {
    sum[rc_sy] = 0;
  }
  for (int t = 0; t < (k + TILE - 1) / TILE; ++t) {
#pragma unroll
    for (int rc_sy = 0; rc_sy < 8; ++rc_sy) {
      const unsigned int rc_thread_y = rc_ty + rc_sy;
      const int row = blockIdx.y * TILE + rc_thread_y;
      const int col = rc_block_x * TILE + threadIdx.x;
      const int ac = t * TILE + threadIdx.x, br = t * TILE + rc_thread_y;
      As[rc_thread_y][threadIdx.x] = row < m && ac < k ? A[row * k + ac] : 0.0f;
      Bs[rc_thread_y][threadIdx.x] = br < k && col < n ? B[br * n + col] : 0.0f;
    }
    __syncwarp();

#pragma unroll
    for (int i = 0; i < TILE; ++i) {
#pragma unroll
      for (int rc_sy = 0; rc_sy < 8; ++rc_sy) {
        const unsigned int rc_thread_y = rc_ty + rc_sy;
        sum[rc_sy] += As[rc_thread_y][i] * Bs[i][threadIdx.x];
      }
    }
    __syncwarp();
  }
#pragma unroll
  for (int rc_sy = 0; rc_sy < 8; ++rc_sy) {
    const unsigned int rc_thread_y = rc_ty + rc_sy;
    const int row = blockIdx.y * TILE + rc_thread_y;
    const int col = rc_block_x * TILE + threadIdx.x;
    if (row < m && col < n)
      C[row * n + col] = sum[rc_sy];
  }
}

// Launches the register-cache form of product where it applies, else product
// itself.
static inline void product_rc_launch(dim3 rc_grid, dim3 rc_block,
                                     size_t rc_shared, cudaStream_t rc_stream,
                                     const float *A, const float *B, float *C,
                                     int m, int n, int k) {
#ifdef RCACHE_VERIFY
  ::rcache::device::verification rc_verification("product", "A, B, C, m, n, k",
                                                 rc_grid, rc_block, rc_shared,
                                                 rc_stream, A, B, C, m, n, k);
#endif
  if (::rcache::device::fills(rc_grid, 16u, 33792) &&
      (rc_block.x == 16 && rc_block.y == 16 && rc_block.z == 1) &&
      (rc_grid.x != 0 && rc_grid.y != 0 && rc_grid.z != 0) &&
      (rc_grid.x <= 0x7fffffffu / 16) && ((double)rc_grid.x <= 134152192.0) &&
      (k >= -2147483633) && (m >= -2147483645) && (n >= -2147483645) &&
      reinterpret_cast<size_t>(A) % 16 == 0 &&
      reinterpret_cast<size_t>(B) % 16 == 0 &&
      reinterpret_cast<size_t>(C) % 16 == 0 && n % 4 == 0 &&
      ::rcache::device::launches<256>(product, rc_grid, rc_block, rc_shared)
#ifdef RCACHE_VERIFY
      && rc_verification.save()
#endif
  ) {
    // Merge logical blocks side by side: rows of a warp or more.
    const unsigned int rc_merged = 8u;
    const dim3 rc_blocks((rc_grid.x - 1u) / rc_merged + 1u, rc_grid.y,
                         rc_grid.z);
    const dim3 rc_threads_of_block(4u * rc_merged, 4u, 1u);
    product_rc<<<rc_blocks, rc_threads_of_block, 0, rc_stream>>>(A, B, C, m, n,
                                                                 k, rc_grid.x);

#ifdef RCACHE_VERIFY
    rc_verification.original();
#else
    return;
#endif
  } else if (::rcache::device::fills(rc_grid, 32u, 33792) &&
             (rc_block.x == 16 && rc_block.y == 16 && rc_block.z == 1) &&
             (rc_grid.x != 0 && rc_grid.y != 0 && rc_grid.z != 0) &&
             (rc_grid.x <= 0x7fffffffu / 16) &&
             ((double)rc_grid.x <= 134152192.0) &&
             (::rcache::device::separate(A, C)) &&
             (::rcache::device::separate(B, C)) && (k >= 0) && (m >= 0) &&
             (n >= 0) &&
             ::rcache::device::launches<256>(product, rc_grid, rc_block,
                                             rc_shared) &&
             ::rcache::device::holds(product_rc_unaligned, rc_shared)
#ifdef RCACHE_VERIFY
             && rc_verification.save()
#endif
  ) {
    product_rc_unaligned<<<rc_grid, dim3(16u, 2u, 1u), rc_shared, rc_stream>>>(
        A, B, C, m, n, k, rc_grid.x);

#ifdef RCACHE_VERIFY
    rc_verification.original();
#else
    return;
#endif
  }

  product<<<rc_grid, rc_block, rc_shared, rc_stream>>>(A, B, C, m, n, k);
}

int main(int argc, char **argv) {
  const int m = example::argument(argc, argv, 70), n = 83, k = 45;
  const auto a = example::numbers<float>(size_t(m) * k, 1);
  const auto b = example::numbers<float>(size_t(k) * n, 2);
  example::Buffer<float> A(a), B(b),
      C(std::vector<float>(size_t(m) * n, -1.0f));

  const dim3 block(TILE, TILE);
  const dim3 grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);
  product_rc_launch(grid, block, 0, 0, A.data(), B.data(), C.data(), m, n, k);
  EXAMPLE_CHECK(cudaGetLastError());
  EXAMPLE_CHECK(cudaDeviceSynchronize());

  std::vector<float> want(size_t(m) * n);
  for (int y = 0; y < m; ++y)
    for (int x = 0; x < n; ++x) {
      float sum = 0;
      for (int i = 0; i < k; ++i)
        sum += a[y * k + i] * b[i * n + x];
      want[y * n + x] = sum;
    }
  return example::report("matrix_product", C.host(), want);
}
