// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What rewritten kernels call: loads and stores of runs of elements as vectors,
// and a shuffle for elements of any size. Usable by hand as well. Compiles with
// nvcc and clang, from C++14 on. No name is a single capital: those are users'
// macros.
//
// `rcache-rewrite --runtime=include` includes this file; `--runtime=embed`
// copies the blocks between the markers that a rewritten file uses.

#ifndef RCACHE_DEVICE_REWRITE_CUH
#define RCACHE_DEVICE_REWRITE_CUH

#include "verify.cuh"

// rcache-begin: same
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
// rcache-end: same

// rcache-begin: word
#ifndef RCACHE_DEVICE_WORD
#define RCACHE_DEVICE_WORD
namespace rcache {
namespace device {
/// The type of one memory access of Bytes bytes.
template <int Bytes> struct word;
template <> struct word<1> { using type = unsigned char; };
template <> struct word<2> { using type = unsigned short; };
template <> struct word<4> { using type = unsigned int; };
template <> struct word<8> { using type = uint2; };
template <> struct word<16> { using type = uint4; };
} // namespace device
} // namespace rcache
#endif
// rcache-end: word

// rcache-begin: on_word
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
// rcache-end: on_word

// rcache-begin: load_words (needs: word)
#ifndef RCACHE_DEVICE_LOAD_WORDS
#define RCACHE_DEVICE_LOAD_WORDS
namespace rcache {
namespace device {
/// w[i] = p[i] for Low <= i < High (-1: Count), in accesses of Bytes bytes, for
/// which p + Head is aligned (sizeof(Element): one element at a time). Reads nothing
/// outside the part.
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
// rcache-end: load_words

// rcache-begin: load_run (needs: load_words, on_word)
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
// rcache-end: load_run

// rcache-begin: at_most
#ifndef RCACHE_DEVICE_AT_MOST
#define RCACHE_DEVICE_AT_MOST
namespace rcache {
namespace device {
/// The smaller one.
__device__ __forceinline__ unsigned int at_most(unsigned int n,
                                                unsigned int most) {
  return n < most ? n : most;
}
} // namespace device
} // namespace rcache
#endif
// rcache-end: at_most

// rcache-begin: copy_ahead (needs: word)
#ifndef RCACHE_DEVICE_COPY_AHEAD
#define RCACHE_DEVICE_COPY_AHEAD
namespace rcache {
namespace device {
/// Copies Bytes (4, 8 or 16) bytes from global to shared memory, both aligned; they
/// are there when copies_arrive() returns.
template <int Bytes>
__device__ __forceinline__ void copy_ahead(void *to, const void *from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  const unsigned int at =
      static_cast<unsigned int>(__cvta_generic_to_shared(to));
  if (Bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at),
                 "l"(from)
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(at),
                 "l"(from), "n"(Bytes)
                 : "memory");
#else
  using word = typename ::rcache::device::word<Bytes>::type;
  *static_cast<word *>(to) = *static_cast<const word *>(from);
#endif
}
/// The same, and zeros where from is null.
template <int Bytes>
__device__ __forceinline__ void copy_ahead_or_zero(void *to, const void *from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  const unsigned int at =
      static_cast<unsigned int>(__cvta_generic_to_shared(to));
  if (Bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at),
                 "l"(from), "r"(from ? 16 : 0)
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(at),
                 "l"(from), "n"(Bytes), "r"(from ? Bytes : 0)
                 : "memory");
#else
  using word = typename ::rcache::device::word<Bytes>::type;
  *static_cast<word *>(to) = from ? *static_cast<const word *>(from) : word();
#endif
}
/// Waits for the thread's own copies.
__device__ __forceinline__ void copies_arrive() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}
} // namespace device
} // namespace rcache
#endif
// rcache-end: copy_ahead

// rcache-begin: pack (needs: word)
#ifndef RCACHE_DEVICE_PACK
#define RCACHE_DEVICE_PACK
namespace rcache {
namespace device {
/// The word of the elements from v on. Elements of one or two bytes are shifted
/// into place: copied, they would lie packed from where they are computed, and
/// each would be masked into its place (Sobel on bytes took 8% longer on an H200).
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
// rcache-end: pack

// rcache-begin: store_run (needs: word, pack)
#ifndef RCACHE_DEVICE_STORE_RUN
#define RCACHE_DEVICE_STORE_RUN
namespace rcache {
namespace device {
/// The address of a word in global memory, of which the compiler knows no more: where
/// it sees how some addresses are made (in 64 bits, of thread and block numbers) nvcc
/// 13 stores the elements of a word one by one.
template <typename Word> __device__ __forceinline__ Word *whole(Word *p) {
#if defined(__CUDA_ARCH__) && !defined(__clang__)
  asm("" : "+l"(p));
  __builtin_assume(__isGlobal(p));
#endif
  return p;
}
/// p[i] = v[i] for those i with on[i], in global memory; in accesses of Bytes bytes
/// where all are on and p is aligned for them.
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
// rcache-end: store_run

// rcache-begin: own_branch
#ifndef RCACHE_DEVICE_OWN_BRANCH
#define RCACHE_DEVICE_OWN_BRANCH
namespace rcache {
namespace device {
/// Ends a branch that loads what the other one loads from elsewhere. Compilers would
/// load behind both, and every lane would compute both addresses to choose one. No
/// instruction.
__device__ __forceinline__ void own_branch() {
#ifdef __CUDA_ARCH__
  asm volatile("");
#endif
}
} // namespace device
} // namespace rcache
#endif
// rcache-end: own_branch

// rcache-begin: apart
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
// rcache-end: apart

// rcache-begin: rounded
#ifndef RCACHE_DEVICE_ROUNDED
#define RCACHE_DEVICE_ROUNDED
namespace rcache {
namespace device {
/// x, of which no product is fused with a sum that follows, as if memory had rounded
/// it. What is no number keeps its bits.
__device__ __forceinline__ float rounded(float x) {
  return x != x ? x : __fadd_rn(x, -0.0f);
}
__device__ __forceinline__ double rounded(double x) {
  return x != x ? x : __dadd_rn(x, -0.0);
}
} // namespace device
} // namespace rcache
#endif
// rcache-end: rounded

// rcache-begin: in_words
#ifndef RCACHE_DEVICE_IN_WORDS
#define RCACHE_DEVICE_IN_WORDS
namespace rcache {
namespace device {
/// `Count` elements of a byte for each of `Threads` threads. Those of a thread
/// lie in words of its own, so that whatever elements the lanes of a warp use, they are
/// in different banks: element i of thread t is [i][t].
template <typename Element, int Count, int Threads> struct in_words {
  enum { Word = 4 / sizeof(Element) };
  struct of_threads {
    Element (&words)[Threads][Word];
    unsigned int in;
    __device__ __forceinline__ Element &operator[](unsigned int thread) const {
      return words[thread][in];
    }
  };
  __device__ __forceinline__ of_threads operator[](unsigned int element) {
    return {words[element / Word], element % Word};
  }
  __align__(4) Element words[(Count + Word - 1) / Word][Threads][Word];
};
} // namespace device
} // namespace rcache
#endif
// rcache-end: in_words

// rcache-begin: value
#ifndef RCACHE_DEVICE_VALUE
#define RCACHE_DEVICE_VALUE
namespace rcache {
namespace device {
/// A parameter's type as the function's type has it: without the reference by which
/// an argument is at hand; g++ keeps __restrict__ there when a template is
/// instantiated.
template <class T> struct value { typedef T type; };
template <class T> struct value<T *__restrict__> { typedef T *type; };
template <class T> struct value<T &> { typedef typename value<T>::type type; };
} // namespace device
} // namespace rcache
#endif
// rcache-end: value

// rcache-begin: launches (host)
#ifndef RCACHE_DEVICE_LAUNCHES
#define RCACHE_DEVICE_LAUNCHES
namespace rcache {
namespace device {
/// Whether a launch of `original` would be made: what fails has to fail as it did.
/// Blocks of up to Sure threads need not be asked about: the compiler has seen to
/// it. Others, and dynamic shared memory, take a question to the driver, so that
/// what cudaFuncSetAttribute was given counts.
template <unsigned Sure, class Original>
static inline bool launches(Original *original, dim3 grid, dim3 block, size_t shared) {
  const auto within = [](unsigned n, unsigned most) { return n != 0 && n <= most; };
  if (!within(grid.x, 0x7fffffffu) || !within(grid.y, 65535) || !within(grid.z, 65535) ||
      !within(block.x, 1024) || !within(block.y, 1024) || !within(block.z, 64))
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
// rcache-end: launches

// rcache-begin: holds (host)
#ifndef RCACHE_DEVICE_HOLDS
#define RCACHE_DEVICE_HOLDS
namespace rcache {
namespace device {
/// Whether blocks of `form` may have `shared` bytes of dynamic shared memory, as the
/// original's may; if more than is usual, `form` is given the same right.
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
// rcache-end: holds

// rcache-begin: configure (host)
#ifndef RCACHE_DEVICE_CONFIGURE
#define RCACHE_DEVICE_CONFIGURE
namespace rcache {
namespace device {
/// What stands between `<<<` and `>>>`.
struct configuration {
  dim3 grid, block;
  size_t shared;
  cudaStream_t stream;
};
/// A configuration that is evaluated in front of the launch's arguments, as `<<<`
/// does: `(configure(grid, block), launch(configured(), a, b))`. Arguments may
/// launch in turn.
class configure {
  configuration made;
  configure *outer;
  bool open = true;
  static configure *&latest() {
    static thread_local configure *c = nullptr;
    return c;
  }
  friend configuration configured();

public:
  explicit configure(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = 0)
      : made{grid, block, shared, stream}, outer(latest()) {
    latest() = this;
  }
  configure(const configure &) = delete;
  ~configure() { // still open: an argument has thrown
    if (open)
      latest() = outer;
  }
};
/// The configuration that was made last, once.
inline configuration configured() {
  configure *const c = configure::latest();
  c->open = false;
  configure::latest() = c->outer;
  return c->made;
}
} // namespace device
} // namespace rcache
#endif
// rcache-end: configure

// rcache-begin: fills (host)
#ifndef RCACHE_DEVICE_FILLS
#define RCACHE_DEVICE_FILLS
namespace rcache {
namespace device {
/// Whether a grid of blocks of `threads` threads has `least` threads or more. With
/// fewer, most of the device would be idle, and the original, with more of them,
/// is over sooner. -DRCACHE_ANY_LAUNCH takes any: for tests at small sizes; where
/// there is an `other` form for smaller grids, that one has the odd numbers of
/// blocks, so that tests run both.
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
// rcache-end: fills

// rcache-begin: waves (host)
#ifndef RCACHE_DEVICE_WAVES
#define RCACHE_DEVICE_WAVES
namespace rcache {
namespace device {
/// Blocks that live as long as their launch run in waves, of as many as the device
/// holds at once. Whether those of `form` are over before the original's, when a
/// block of the form lives `life` times as long; blocks of `threads` threads for
/// each of the original's, several of them launched as one of `merged`. True if
/// the device does not tell, and with -DRCACHE_ANY_LAUNCH.
template <class Form, class Original>
static inline bool waves_pay(Form *form, unsigned threads, unsigned merged,
                             size_t form_shared, Original *original, dim3 grid,
                             dim3 block, size_t shared, double life) {
#if defined(RCACHE_ANY_LAUNCH) || defined(RCACHE_VERIFY)
  (void)form, (void)threads, (void)merged, (void)form_shared, (void)original;
  (void)grid, (void)block, (void)shared, (void)life;
  return true;
#else
  int device = 0, sms = 0, old_blocks = 0, new_blocks = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device) !=
          cudaSuccess ||
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(
          &old_blocks, original, int(block.x * block.y * block.z), shared) !=
          cudaSuccess ||
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(
          &new_blocks, form, int(merged), form_shared) != cudaSuccess ||
      sms < 1 || old_blocks < 1 || new_blocks < 1)
    return true;
  const auto waves = [&](double blocks, int resident) {
    const double all = blocks / (double(sms) * resident);
    const double whole = double((long long)all);
    return whole < all ? whole + 1 : whole;
  };
  const double blocks = double(grid.x) * grid.y * grid.z;
  return waves(blocks * threads / merged, new_blocks) * life <=
         waves(blocks, old_blocks);
#endif
}
} // namespace device
} // namespace rcache
#endif
// rcache-end: waves

// rcache-begin: shares (host)
#ifndef RCACHE_DEVICE_SHARES
#define RCACHE_DEVICE_SHARES
namespace rcache {
namespace device {
/// How many of a loop's `rounds` rounds each block takes, where `blocks` blocks of
/// `threads` threads could take all of them: `usual`, fewer where the device would
/// hold nearly all blocks at once (the last wave takes as long as a full one), and
/// `least` at least. With -DRCACHE_ANY_LAUNCH some blocks share any number of
/// rounds: for tests at small sizes.
template <class Form>
static inline unsigned rounds_of_block(Form *form, unsigned threads, size_t shared,
                                       double blocks, long long rounds,
                                       unsigned least, unsigned usual) {
  long long share = usual;
#if defined(RCACHE_ANY_LAUNCH) || defined(RCACHE_VERIFY)
  (void)form, (void)threads, (void)shared, (void)blocks;
  share = (rounds + 2) / 3;
#else
  int device = 0, sms = 0, resident = 0;
  if (cudaGetDevice(&device) == cudaSuccess &&
      cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device) ==
          cudaSuccess &&
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, form, int(threads),
                                                    shared) == cudaSuccess) {
    const double share_of_waves = blocks * double(rounds) / (6.0 * sms * resident + 1);
    if (share_of_waves < double(share))
      share = (long long)share_of_waves;
  }
  const long long fewest = 8;
  share = share < fewest ? fewest : share;
#endif
  const long long most_shares = 65535;
  const long long needed = (rounds - 1) / most_shares + 1;
  share = share < needed ? needed : share;
  // As even as can be.
  const long long shares = (rounds - 1) / share + 1;
  share = (rounds - 1) / shares + 1;
  share = share < (long long)least ? (long long)least : share;
  return unsigned(share < rounds ? share : rounds);
}
} // namespace device
} // namespace rcache
#endif
// rcache-end: shares

// rcache-begin: aligned (host)
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
// rcache-end: aligned

// rcache-begin: separate (host)
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
    auto e = cudaGetDriverEntryPoint("cuMemGetAddressRange", &f, cudaEnableDefault,
                                     &found);
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
// rcache-end: separate

// rcache-begin: shuffle
#ifndef RCACHE_DEVICE_SHUFFLE
#define RCACHE_DEVICE_SHUFFLE
namespace rcache {
namespace device {
/// The value that lane `lane` (0..31) publishes. All 32 lanes of the warp must
/// call it. Element: trivially copyable, of any size; exchanged word by word. Taken by
/// value: `c ? a[i] : b[j]` bound to a reference would choose between addresses and
/// keep both arrays in local memory.
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
// rcache-end: shuffle

// Arrays of 32 * Registers elements that belong to a warp. The arguments `slot` and
// `ahead` (or `element`) have to be the same in all lanes, and constant once loops
// are unrolled, so that registers have no addresses. An element that is not there
// has any value.

// rcache-begin: elements_ahead (needs: shuffle)
#ifndef RCACHE_DEVICE_ELEMENTS_AHEAD
#define RCACHE_DEVICE_ELEMENTS_AHEAD
namespace rcache {
namespace device {
/// Of elements that lie 32 apart in the registers of a lane: the one that is
/// `ahead` (or, below 0, behind) of element lane + 32 * slot.
template <int Registers, typename Element>
__device__ __forceinline__ Element elements_ahead(const Element (&own)[Registers],
                                                 int slot, int ahead) {
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
// rcache-end: elements_ahead

// rcache-begin: neighbours_ahead (needs: shuffle)
#ifndef RCACHE_DEVICE_NEIGHBOURS_AHEAD
#define RCACHE_DEVICE_NEIGHBOURS_AHEAD
namespace rcache {
namespace device {
/// Of neighbours in the registers of a lane: the one that is `ahead` of element
/// lane * Registers + slot.
template <int Registers, typename Element>
__device__ __forceinline__ Element neighbours_ahead(const Element (&own)[Registers],
                                                    int slot, int ahead) {
  const int place = slot + ahead;
  const int from = (place % Registers + Registers) % Registers;
  const int lanes = (place - from) / Registers;
  if (lanes == 0)
    return own[from];
  const int lane = static_cast<int>(threadIdx.x) & 31;
  return shuffle(own[from], (lane + lanes) & 31);
}
} // namespace device
} // namespace rcache
#endif
// rcache-end: neighbours_ahead

// rcache-begin: element_of_all (needs: shuffle)
#ifndef RCACHE_DEVICE_ELEMENT_OF_ALL
#define RCACHE_DEVICE_ELEMENT_OF_ALL
namespace rcache {
namespace device {
/// Element `element` of those that lie 32 apart in a lane.
template <int Registers, typename Element>
__device__ __forceinline__ Element element_of_all(const Element (&own)[Registers],
                                             int element) {
  const int slot = element / 32;
  return shuffle(own[slot >= 0 && slot < Registers ? slot : 0], element & 31);
}
} // namespace device
} // namespace rcache
#endif
// rcache-end: element_of_all

// rcache-begin: neighbour_of_all (needs: shuffle)
#ifndef RCACHE_DEVICE_NEIGHBOUR_OF_ALL
#define RCACHE_DEVICE_NEIGHBOUR_OF_ALL
namespace rcache {
namespace device {
/// Element `element` of those that are neighbours in a lane.
template <int Registers, typename Element>
__device__ __forceinline__ Element
neighbour_of_all(const Element (&own)[Registers], int element) {
  const int slot = (element % Registers + Registers) % Registers;
  return shuffle(own[slot], ((element - slot) / Registers) & 31);
}
} // namespace device
} // namespace rcache
#endif
// rcache-end: neighbour_of_all

// rcache-begin: flipped_element (needs: shuffle)
#ifndef RCACHE_DEVICE_FLIPPED_ELEMENT
#define RCACHE_DEVICE_FLIPPED_ELEMENT
namespace rcache {
namespace device {
/// Of elements that lie 32 apart in the registers of a lane: element
/// (lane + 32 * slot) ^ bits.
template <int Registers, typename Element>
__device__ __forceinline__ Element flipped_element(const Element (&own)[Registers],
                                                   int slot, int bits) {
  const int from = slot ^ (bits >> 5);
  const Element value = own[from >= 0 && from < Registers ? from : 0];
  if ((bits & 31) == 0)
    return value;
  return shuffle(value, (static_cast<int>(threadIdx.x) ^ bits) & 31);
}
} // namespace device
} // namespace rcache
#endif
// rcache-end: flipped_element

// rcache-begin: flipped_neighbour (needs: shuffle)
#ifndef RCACHE_DEVICE_FLIPPED_NEIGHBOUR
#define RCACHE_DEVICE_FLIPPED_NEIGHBOUR
namespace rcache {
namespace device {
/// Of neighbours in the registers of a lane: element
/// (lane * Registers + slot) ^ bits. Registers: a power of two.
template <int Registers, typename Element>
__device__ __forceinline__ Element
flipped_neighbour(const Element (&own)[Registers], int slot, int bits) {
  const Element value = own[slot ^ (bits & (Registers - 1))];
  const int lanes = bits / Registers;
  if (lanes == 0)
    return value;
  return shuffle(value, (static_cast<int>(threadIdx.x) ^ lanes) & 31);
}
} // namespace device
} // namespace rcache
#endif
// rcache-end: flipped_neighbour

// rcache-begin: gathered_element (needs: shuffle)
#ifndef RCACHE_DEVICE_GATHERED_ELEMENT
#define RCACHE_DEVICE_GATHERED_ELEMENT
namespace rcache {
namespace device {
/// Of elements that lie 32 apart in the registers of a lane: element `element`, another
/// one in each lane, in a register between those of elements `first` and `last`, which
/// are the same in all lanes.
template <int Registers, typename Element>
__device__ __forceinline__ Element gathered_element(const Element (&own)[Registers],
                                                    int element, int first, int last) {
  const int low = (first < last ? first : last) >> 5, high = (first < last ? last : first) >> 5;
  Element value = own[0];
#pragma unroll
  for (int from = 0; from < Registers; ++from)
    if (from >= low && from <= high) {
      const Element here = shuffle(own[from], element & 31);
      if (low == high || element >> 5 == from)
        value = here;
    }
  return value;
}
} // namespace device
} // namespace rcache
#endif
// rcache-end: gathered_element

// rcache-begin: inserted_element (needs: gathered_element)
#ifndef RCACHE_DEVICE_INSERTED_ELEMENT
#define RCACHE_DEVICE_INSERTED_ELEMENT
namespace rcache {
namespace device {
/// Of elements that lie 32 apart in the registers of a lane: that of number
/// lane + 32 * slot with a bit put in, 2^b = `bit`, which is set in the `upper` ones.
template <int Registers, typename Element>
__device__ __forceinline__ Element inserted_element(const Element (&own)[Registers],
                                                    int slot, int bit, bool upper) {
  const int set = upper ? bit : 0, front = 32 * slot, back = front + 31;
  const int first = 2 * front - front % bit + set, last = 2 * back - back % bit + set;
  if (bit >= 32) // of the same lane
    return own[first >> 5 < Registers ? first >> 5 : 0];
  const int thread = front + (static_cast<int>(threadIdx.x) & 31);
  return gathered_element(own, 2 * thread - (thread & (bit - 1)) + set, first, last);
}
} // namespace device
} // namespace rcache
#endif
// rcache-end: inserted_element

// rcache-begin: take_inserted (needs: gathered_element)
#ifndef RCACHE_DEVICE_TAKE_INSERTED
#define RCACHE_DEVICE_TAKE_INSERTED
namespace rcache {
namespace device {
/// The other way: what slots have made of the elements `inserted_element` goes to the
/// owners, which are those whose number has the bit (Upper), or has it not.
template <bool Upper, int Registers, int Slots, typename Element>
__device__ __forceinline__ void take_inserted(Element (&own)[Registers],
                                              const Element (&from)[Slots], int bit) {
  const int lane = static_cast<int>(threadIdx.x) & 31;
#pragma unroll
  for (int to = 0; to < Registers; ++to) {
    const int front = 32 * to, back = front + 31;
    const int first = front / (2 * bit) * bit + front % bit;
    const int last = back / (2 * bit) * bit + back % bit;
    if (bit >= 32) { // in the same lane
      if (((front & bit) != 0) == Upper && first >> 5 < Slots)
        own[to] = from[first >> 5 < Slots ? first >> 5 : 0];
      continue;
    }
    const int element = front + lane;
    const Element back_from =
        gathered_element(from, element / (2 * bit) * bit + element % bit, first, last);
    if (((element & bit) != 0) == Upper && element < 64 * Slots)
      own[to] = back_from;
  }
}
} // namespace device
} // namespace rcache
#endif
// rcache-end: take_inserted

// rcache-begin: strided_in
#ifndef RCACHE_DEVICE_STRIDED_IN
#define RCACHE_DEVICE_STRIDED_IN
namespace rcache {
namespace device {
/// Of elements that lie 32 apart in the registers of a lane: is any lane's in
/// register `slot` element first + step * t, t >= 0?
__device__ __forceinline__ constexpr bool strided_in(int slot, int step, int first) {
  return 32 * slot + 31 >= first &&
         (32 * slot <= first ||
          (32 * slot + 31 - first) / step != (32 * slot - 1 - first) / step);
}
} // namespace device
} // namespace rcache
#endif
// rcache-end: strided_in

// rcache-begin: strided_thread
#ifndef RCACHE_DEVICE_STRIDED_THREAD
#define RCACHE_DEVICE_STRIDED_THREAD
namespace rcache {
namespace device {
/// The thread t for which element lane + 32 * slot is first + step * t; below 0:
/// none. Where steps are parts of a warp, or warps, whether there is one hangs on the
/// lane or on the slot alone: the same question for all registers of a lane.
__device__ __forceinline__ int strided_thread(int lane, int slot, int step,
                                              int first) {
  if (first >= 0 && 32 % step == 0) {
    const unsigned int by = static_cast<unsigned int>(step);
    const unsigned int at = static_cast<unsigned int>(lane);
    return at % by == static_cast<unsigned int>(first) % by
               ? static_cast<int>(at / by) + slot * (32 / step) - first / step
               : -1;
  }
  if (first >= 0 && step % 32 == 0) {
    const int slots = slot - first / 32;
    return lane == first % 32 && slots >= 0 && slots % (step / 32) == 0
               ? slots / (step / 32)
               : -1;
  }
  const int from = lane + 32 * slot - first;
  return from >= 0 && from % step == 0 ? from / step : -1;
}
} // namespace device
} // namespace rcache
#endif
// rcache-end: strided_thread

// rcache-begin: inserted_in
#ifndef RCACHE_DEVICE_INSERTED_IN
#define RCACHE_DEVICE_INSERTED_IN
namespace rcache {
namespace device {
/// Of elements that lie 32 apart in the registers of a lane: may any lane's in
/// register `slot` be one of inserted_thread's? `first` is 0 or the bit.
__device__ __forceinline__ constexpr bool inserted_in(int slot, int bit, int first) {
  return bit < 32 || ((32 * slot) & bit) == first;
}
} // namespace device
} // namespace rcache
#endif
// rcache-end: inserted_in

// rcache-begin: inserted_thread
#ifndef RCACHE_DEVICE_INSERTED_THREAD
#define RCACHE_DEVICE_INSERTED_THREAD
namespace rcache {
namespace device {
/// The thread t whose number with a bit 0 put in at `bit`, plus first, is element
/// lane + 32 * slot; -1: none.
__device__ __forceinline__ int inserted_thread(int lane, int slot, int bit,
                                               int first) {
  const int at = lane + 32 * slot - first;
  return at >= 0 && (at & bit) == 0 ? ((at >> 1) & -bit) | (at & (bit - 1)) : -1;
}
} // namespace device
} // namespace rcache
#endif
// rcache-end: inserted_thread

// The same of lanes that have Chunk neighbours of each 32 * Chunk elements: bits of an
// element's number are bits of a register or of a lane. Chunk, steps and bits are powers
// of two. (ahead: any number.)

// rcache-begin: element_in_chunks
#ifndef RCACHE_DEVICE_ELEMENT_IN_CHUNKS
#define RCACHE_DEVICE_ELEMENT_IN_CHUNKS
namespace rcache {
namespace device {
/// The element in register `slot` of a lane.
template <int Chunk>
__device__ __forceinline__ constexpr int element_in_chunks(int lane, int slot) {
  return slot / Chunk * (32 * Chunk) + lane * Chunk + slot % Chunk;
}
} // namespace device
} // namespace rcache
#endif
// rcache-end: element_in_chunks

// rcache-begin: flipped_in_chunks (needs: shuffle)
#ifndef RCACHE_DEVICE_FLIPPED_IN_CHUNKS
#define RCACHE_DEVICE_FLIPPED_IN_CHUNKS
namespace rcache {
namespace device {
/// The element whose number differs by `bit` from that in register `slot`.
template <int Chunk, int Registers, typename Element>
__device__ __forceinline__ Element flipped_in_chunks(const Element (&own)[Registers],
                                                     int slot, int bit) {
  const int from = slot ^ (bit < Chunk ? bit : bit / (32 * Chunk) * Chunk);
  const Element value = own[from < Registers ? from : 0];
  if (bit < Chunk || bit >= 32 * Chunk)
    return value;
  return shuffle(value, (static_cast<int>(threadIdx.x) ^ (bit / Chunk)) & 31);
}
} // namespace device
} // namespace rcache
#endif
// rcache-end: flipped_in_chunks

// rcache-begin: ahead_in_chunks (needs: shuffle)
#ifndef RCACHE_DEVICE_AHEAD_IN_CHUNKS
#define RCACHE_DEVICE_AHEAD_IN_CHUNKS
namespace rcache {
namespace device {
/// The element that is `ahead` (or, below 0, behind) of that in register `slot`.
template <int Chunk, int Registers, typename Element>
__device__ __forceinline__ Element ahead_in_chunks(const Element (&own)[Registers],
                                                   int slot, int ahead) {
  const int place = slot % Chunk + ahead, from = place & (Chunk - 1);
  const int away = (place - from) / Chunk, lanes = away & 31;
  const int at = (slot / Chunk + (away - lanes) / 32) * Chunk + from;
  const Element low = own[at >= 0 && at < Registers ? at : 0];
  if (lanes == 0)
    return low;
  const int next = at + Chunk;
  const Element high = own[next >= 0 && next < Registers ? next : 0];
  const int lane = static_cast<int>(threadIdx.x) & 31;
  return shuffle(lane >= lanes ? low : high, (lane + lanes) & 31);
}
} // namespace device
} // namespace rcache
#endif
// rcache-end: ahead_in_chunks

// rcache-begin: strided_in_chunks
#ifndef RCACHE_DEVICE_STRIDED_IN_CHUNKS
#define RCACHE_DEVICE_STRIDED_IN_CHUNKS
namespace rcache {
namespace device {
/// May any lane's element in register `slot` be first + step * t, first, t >= 0?
template <int Chunk>
__device__ __forceinline__ constexpr bool strided_in_chunks(int slot, int step, int first) {
  return ((slot ^ first) & ((step < Chunk ? step : Chunk) - 1)) == 0 &&
         (step <= 32 * Chunk || (slot / Chunk - first / (32 * Chunk)) %
                                        (step / (32 * Chunk)) ==
                                    0);
}
} // namespace device
} // namespace rcache
#endif
// rcache-end: strided_in_chunks

// rcache-begin: strided_thread_in_chunks (needs: element_in_chunks)
#ifndef RCACHE_DEVICE_STRIDED_THREAD_IN_CHUNKS
#define RCACHE_DEVICE_STRIDED_THREAD_IN_CHUNKS
namespace rcache {
namespace device {
/// The thread t for which the element of `lane` in register `slot` is first + step * t;
/// below 0: none.
template <int Chunk>
__device__ __forceinline__ int strided_thread_in_chunks(int lane, int slot, int step,
                                                        int first) {
  const int from = element_in_chunks<Chunk>(lane, slot) - first;
  return (from & (step - 1)) == 0 ? from / step : -1;
}
} // namespace device
} // namespace rcache
#endif
// rcache-end: strided_thread_in_chunks

// rcache-begin: inserted_in_chunks
#ifndef RCACHE_DEVICE_INSERTED_IN_CHUNKS
#define RCACHE_DEVICE_INSERTED_IN_CHUNKS
namespace rcache {
namespace device {
/// May any lane's element in register `slot` be one of inserted_thread_in_chunks'?
/// `first` is 0 or the bit.
template <int Chunk>
__device__ __forceinline__ constexpr bool inserted_in_chunks(int slot, int bit, int first) {
  return bit < Chunk ? (slot & bit) == first
                     : bit < 32 * Chunk || ((slot / Chunk * 32 * Chunk) & bit) == first;
}
} // namespace device
} // namespace rcache
#endif
// rcache-end: inserted_in_chunks

// rcache-begin: inserted_thread_in_chunks (needs: element_in_chunks, inserted_thread)
#ifndef RCACHE_DEVICE_INSERTED_THREAD_IN_CHUNKS
#define RCACHE_DEVICE_INSERTED_THREAD_IN_CHUNKS
namespace rcache {
namespace device {
/// The thread t whose number with a bit 0 put in at `bit`, plus first, is the element of
/// `lane` in register `slot`; -1: none.
template <int Chunk>
__device__ __forceinline__ int inserted_thread_in_chunks(int lane, int slot, int bit,
                                                         int first) {
  return inserted_thread(element_in_chunks<Chunk>(lane, slot), 0, bit, first);
}
} // namespace device
} // namespace rcache
#endif
// rcache-end: inserted_thread_in_chunks

// rcache-begin: rewritten
#ifndef RCACHE_DEVICE_REWRITTEN
#define RCACHE_DEVICE_REWRITTEN
namespace rcache {
namespace device {
/// An element between two barriers: `own` as its owner left it, `copy` as another
/// thread left its copy. At most one of them has written it: the copy counts if it
/// is no more, bit by bit, what the element `was`. All by value, see shuffle.
template <typename Element>
__device__ __forceinline__ Element rewritten(Element own, Element was,
                                             Element copy) {
  constexpr int Words = (static_cast<int>(sizeof(Element)) + 3) / 4;
  unsigned int before[Words] = {}, behind[Words] = {};
  memcpy(before, &was, sizeof(Element));
  memcpy(behind, &copy, sizeof(Element));
  bool same = true;
#pragma unroll
  for (int i = 0; i < Words; ++i)
    same = same && before[i] == behind[i];
  return same ? own : copy;
}
} // namespace device
} // namespace rcache
#endif
// rcache-end: rewritten

// rcache-begin: take_inserted_if_rewritten (needs: take_inserted, rewritten)
#ifndef RCACHE_DEVICE_TAKE_INSERTED_IF_REWRITTEN
#define RCACHE_DEVICE_TAKE_INSERTED_IF_REWRITTEN
namespace rcache {
namespace device {
/// The same where not all of them may have been written: `was` is what the elements were.
template <bool Upper, int Registers, int Slots, typename Element>
__device__ __forceinline__ void
take_inserted_if_rewritten(Element (&own)[Registers], const Element (&was)[Registers],
                           const Element (&from)[Slots], int bit) {
  Element now[Registers];
#pragma unroll
  for (int to = 0; to < Registers; ++to)
    now[to] = was[to];
  take_inserted<Upper>(now, from, bit);
#pragma unroll
  for (int to = 0; to < Registers; ++to)
    own[to] = rewritten(own[to], was[to], now[to]);
}
} // namespace device
} // namespace rcache
#endif
// rcache-end: take_inserted_if_rewritten

#endif // RCACHE_DEVICE_REWRITE_CUH
