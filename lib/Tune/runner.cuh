// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a kernel and its rewritten form side by side: the same arguments, every
// word of every buffer compared, medians of launches that take turns. Written
// beside the programs that `rcache-rewrite --tune-emit` makes.
//
// Prints the members of one JSON object, without its braces.

#ifndef RCACHE_TUNE_RUNNER_CUH
#define RCACHE_TUNE_RUNNER_CUH

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>
#ifdef __linux__
#include <unistd.h>
#endif

namespace rcache_tune {

/// What a buffer is filled with: values that any kernel can compute with.
enum Fill { Floats, Doubles, Halves, Bfloats, Integers };

/// One parameter of the kernel.
struct Parameter {
  bool pointer;
  Fill fill;       ///< pointer
  unsigned bytes;  ///< pointer: of an element
  unsigned unit;   ///< pointer: of its smallest part, 1 for uchar4
  bool written;    ///< pointer: the kernel may write through it
  long long value; ///< integer
};

struct Launch {
  dim3 grid, block;
  size_t shared;
};

inline dim3 dims(dim3 d) { return d; }
inline dim3 dims(long long n) { return dim3(unsigned(n)); }
inline dim3 dims(unsigned long long n) { return dim3(unsigned(n)); }
inline dim3 dims(unsigned long n) { return dim3(unsigned(n)); }
inline dim3 dims(long n) { return dim3(unsigned(n)); }
inline dim3 dims(unsigned n) { return dim3(n); }
inline dim3 dims(int n) { return dim3(unsigned(n)); }

/// What is known before anything has run; printed with the result.
inline std::string &header() {
  static std::string text;
  return text;
}

/// Ends the program: there is no time.
inline void fail(const std::string &why) {
  std::string text;
  for (char c : why)
    text +=
        c == '"' || c == '\\' || static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  std::printf("%s\"failed\": \"%s\"\n", header().c_str(), text.c_str());
  std::exit(0);
}
inline void check(cudaError_t error, const char *what) {
  if (error != cudaSuccess)
    fail(std::string(what) + ": " + cudaGetErrorString(error));
}

__host__ __device__ inline unsigned long long mix(unsigned long long x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ull;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

static __global__ void fill_words(unsigned *p, size_t words, Fill fill,
                                  unsigned seed) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < words;
       i += size_t(gridDim.x) * blockDim.x) {
    const unsigned r = unsigned(mix(i + (size_t(seed) << 40)) >> 32);
    unsigned v = 0;
    switch (fill) {
    case Floats: // in [0.5, 1)
      v = 0x3f000000u | (r & 0x7fffffu);
      break;
    case Doubles:
      v = i % 2 ? 0x3fe00000u | (r & 0xfffffu) : r;
      break;
    case Halves:
      v = 0x38003800u | (r & 0x03ff03ffu);
      break;
    case Bfloats:
      v = 0x3f003f00u | (r & 0x007f007fu);
      break;
    case Integers: // small, in case they are places; every byte of bytes
                   // differs
      v = r & 0x0f0f0f0fu;
      break;
    }
    p[i] = v;
  }
}

static __global__ void count_different(const unsigned *a, const unsigned *b,
                                       size_t words, unsigned long long *n) {
  unsigned long long mine = 0;
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < words;
       i += size_t(gridDim.x) * blockDim.x)
    mine += a[i] != b[i];
  if (mine)
    atomicAdd(n, mine);
}

/// Integers of more than a byte that may be places stay small.
static __global__ void keep_low(unsigned *p, size_t words, unsigned bytes) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < words;
       i += size_t(gridDim.x) * blockDim.x)
    p[i] &= bytes == 2 ? 0x000f000fu : bytes == 4 ? 0xfu : i % 2 ? 0u : 0xfu;
}

/// Two copies of what a pointer points into; one, when it is only read.
struct Buffer {
  char *mine[2] = {nullptr, nullptr};
  size_t bytes = 0, front = 0;
  Parameter p;
  unsigned seed = 0;

  void reset(int copy) {
    const size_t words = bytes / 4;
    unsigned *data = reinterpret_cast<unsigned *>(mine[copy]);
    fill_words<<<1024, 256>>>(data, words, p.fill, seed);
    if (p.fill == Integers && p.unit > 1)
      keep_low<<<1024, 256>>>(data, words, p.unit);
    check(cudaGetLastError(), "filling a buffer");
  }
};

template <class T> struct plain_argument {
  static T make(const Parameter &p, char *, std::true_type /*arithmetic*/) {
    return static_cast<T>(std::is_floating_point<T>::value ? 0.5
                                                           : double(p.value));
  }
  static T make(const Parameter &, char *, std::false_type) { return T(); }
};
template <class T> struct argument {
  static T make(const Parameter &p, char *at) {
    return plain_argument<T>::make(p, at, std::is_arithmetic<T>());
  }
};
template <class T> struct argument<T *> {
  static T *make(const Parameter &, char *at) { return (T *)at; }
};

class Runner {
public:
  /// \p covered: the original's results are defined everywhere.
  Runner(const Launch &l, std::vector<Parameter> parameters,
         unsigned dimensions, bool covered)
      : l_(l), covered_(covered) {
    cudaDeviceProp properties;
    int device = 0;
    check(cudaGetDevice(&device), "no device");
    check(cudaGetDeviceProperties(&properties, device), "no device");
    char text[512];
    std::snprintf(text, sizeof text,
                  "\"device\": \"%s\", \"arch\": \"sm_%d%d\", \"shape\": "
                  "\"grid %ux%ux%u, block %ux%ux%u, shared %zu\", ",
                  properties.name, properties.major, properties.minor, l.grid.x,
                  l.grid.y, l.grid.z, l.block.x, l.block.y, l.block.z,
                  l.shared);
    header() = text;
    const size_t elements = size(parameters, dimensions);
    unsigned seed = 7;
    for (const Parameter &p : parameters) {
      Buffer b;
      b.p = p;
      b.seed = seed++;
      if (p.pointer) {
        // Room in front of it and behind it: halos, rows that are padded.
        const size_t unit = std::max(1u, p.bytes);
        b.front = std::min(size_t(1) << 20, elements + 1024) * unit;
        b.bytes = (elements * unit + 2 * b.front + 255) / 256 * 256;
        for (int copy = 0; copy < (p.written ? 2 : 1); ++copy) {
          check(cudaMalloc(&b.mine[copy], b.bytes), "memory for the buffers");
          b.reset(copy);
        }
        if (!p.written)
          b.mine[1] = b.mine[0];
      }
      buffers_.push_back(b);
    }
    check(cudaDeviceSynchronize(), "filling the buffers");
  }

  /// original(grid, block, shared, arguments...) and the same for rewritten.
  template <class... P, class Original, class Rewritten>
  void run(void (*kernel)(P...), Original original, Rewritten rewritten) {
    run(kernel, original, rewritten, std::index_sequence_for<P...>());
  }

private:
  /// Elements of each buffer: as many as the launch has threads, and as the
  /// largest integers make, taken for extents.
  size_t size(const std::vector<Parameter> &parameters, unsigned dimensions) {
    const double threads = double(l_.grid.x) * l_.grid.y * l_.grid.z *
                           l_.block.x * l_.block.y * l_.block.z;
    std::vector<double> extents;
    for (const Parameter &p : parameters)
      if (!p.pointer && p.value > 0)
        extents.push_back(double(p.value));
    std::sort(extents.rbegin(), extents.rend());
    double product = 1;
    for (size_t i = 0; i < extents.size() && i < dimensions; ++i)
      product *= extents[i];
    // Integers that are no extents make products that mean nothing; a grid of
    // fewer dimensions than its data walks through the last one.
    const bool walked =
        (l_.grid.z > 1 ? 3u : l_.grid.y > 1 ? 2u : 1u) < dimensions;
    if (!walked)
      product = std::min(product, 16 * threads);
    const double elements = 1.125 * std::max(threads, product) * room();
    if (!(elements < 4e9))
      fail("the launch is too large");
    return size_t(elements);
  }

  /// How much larger the buffers are than their sizes say.
  static unsigned room() {
    const char *value = std::getenv("RCACHE_TUNE_ROOM");
    return value ? unsigned(std::max(1, std::atoi(value))) : 1u;
  }

  /// Begins again with larger buffers: after an illegal address the device can
  /// do no more for this process. Returns where that is no way out.
  static void growAndBeginAgain() {
#ifdef __linux__
    const unsigned next = 4 * room();
    char program[] = "/proc/self/exe";
    char *arguments[] = {program, nullptr};
    if (next <= 64 &&
        setenv("RCACHE_TUNE_ROOM", std::to_string(next).c_str(), 1) == 0)
      execv(program, arguments);
#endif
  }

  unsigned long long different() {
    unsigned long long *n, result = 0;
    check(cudaMalloc(&n, sizeof *n), "memory");
    check(cudaMemset(n, 0, sizeof *n), "memory");
    for (const Buffer &b : buffers_)
      if (b.p.pointer && b.p.written)
        count_different<<<1024, 256>>>(
            reinterpret_cast<const unsigned *>(b.mine[0]),
            reinterpret_cast<const unsigned *>(b.mine[1]), b.bytes / 4, n);
    check(cudaMemcpy(&result, n, sizeof result, cudaMemcpyDeviceToHost),
          "comparing");
    check(cudaFree(n), "memory");
    return result;
  }

  /// Words that may differ: the edge of an array, which nothing stages.
  unsigned long long tolerated() const {
    size_t words = 0;
    for (const Buffer &b : buffers_)
      if (b.p.pointer && b.p.written)
        words += b.bytes / 4;
    return covered_ ? 0 : std::max<size_t>(64, words / 1000);
  }

  void reset() {
    for (Buffer &b : buffers_)
      if (b.p.pointer && b.p.written)
        for (int copy = 0; copy < 2; ++copy)
          b.reset(copy);
  }

  template <class... P, class Original, class Rewritten, size_t... I>
  void run(void (*kernel)(P...), Original original, Rewritten rewritten,
           std::index_sequence<I...>) {
    auto launch = [&](auto &form, int copy) {
      form(l_.grid, l_.block, l_.shared,
           argument<typename std::remove_const<P>::type>::make(
               buffers_[I].p, buffers_[I].mine[copy] + buffers_[I].front)...);
    };
    if (l_.shared > 48 * 1024)
      check(cudaFuncSetAttribute(reinterpret_cast<const void *>(kernel),
                                 cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 int(l_.shared)),
            "shared memory of the original");
    for (int copy = 0; copy < 2; ++copy)
      launch(original, copy);
    check(cudaGetLastError(), "launching the original");
    const cudaError_t first = cudaDeviceSynchronize();
    if (first == cudaErrorIllegalAddress)
      growAndBeginAgain(); // what it points into is larger than assumed
    check(first, "running the original");
    if (different() > tolerated())
      fail("the original's results differ from launch to launch");
    reset();
    launch(original, 0);
    launch(rewritten, 1);
    check(cudaGetLastError(), "launching the rewritten kernel");
    check(cudaDeviceSynchronize(), "running the rewritten kernel");
    const unsigned long long wrong = different();
    if (wrong > tolerated()) {
      std::printf("%s\"sameBits\": false, \"failed\": \"%llu words differ\"\n",
                  header().c_str(), wrong);
      return;
    }
    if (wrong)
      header() += "\"undefinedWords\": " + std::to_string(wrong) + ", ";
    std::vector<float> times[2];
    cudaEvent_t begin, end;
    check(cudaEventCreate(&begin), "event");
    check(cudaEventCreate(&end), "event");
    for (int round = -2; round < 15; ++round)
      for (int form = 0; form < 2; ++form) {
        check(cudaEventRecord(begin), "event");
        if (form)
          launch(rewritten, 1);
        else
          launch(original, 0);
        check(cudaEventRecord(end), "event");
        check(cudaEventSynchronize(end), "timing");
        float ms = 0;
        check(cudaEventElapsedTime(&ms, begin, end), "event");
        if (round >= 0)
          times[form].push_back(ms);
      }
    for (auto &t : times)
      std::sort(t.begin(), t.end());
    std::printf("%s\"sameBits\": true, \"originalMilliseconds\": %.5f, "
                "\"milliseconds\": %.5f\n",
                header().c_str(), times[0][times[0].size() / 2], times[1][times[1].size() / 2]);
  }

  Launch l_;
  bool covered_;
  std::vector<Buffer> buffers_;
};

} // namespace rcache_tune

#endif // RCACHE_TUNE_RUNNER_CUH
