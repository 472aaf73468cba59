// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the benchmark programs share: data, medians of event timings, a hash of
// a result on the device, and one JSON object a line for table.py.
//
// A program is run as `program LABEL`; LABEL names its form in the table
// (original, rewritten, ...). Every measurement carries the hashes of its
// results at several sizes; table.py compares them between forms. A hash covers
// each word together with its position, so equal hashes mean equal bits.

#ifndef RCACHE_BENCH_HARNESS_CUH
#define RCACHE_BENCH_HARNESS_CUH

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <string>
#include <type_traits>
#include <vector>

#define BENCH_CHECK(call) bench::check((call), __FILE__, __LINE__)

namespace bench {

/// With BENCH_QUICK set in the environment: one block size and fewer launches,
/// for comparing many versions of one kernel.
inline bool quick() { return std::getenv("BENCH_QUICK") != nullptr; }

inline void check(cudaError_t error, const char *file, int line) {
  if (error == cudaSuccess)
    return;
  std::fprintf(stderr, "%s:%d: %s\n", file, line, cudaGetErrorString(error));
  std::exit(1);
}

/// Median time of one launch in milliseconds, after three launches to warm up.
template <class F> float medianMs(F launch, int repeats = 15) {
  if (quick())
    repeats = repeats < 7 ? repeats : 7;
  cudaEvent_t begin, end;
  BENCH_CHECK(cudaEventCreate(&begin));
  BENCH_CHECK(cudaEventCreate(&end));
  for (int i = 0; i < 3; ++i)
    launch();
  BENCH_CHECK(cudaGetLastError());
  std::vector<float> times;
  for (int i = 0; i < repeats; ++i) {
    BENCH_CHECK(cudaEventRecord(begin));
    launch();
    BENCH_CHECK(cudaEventRecord(end));
    BENCH_CHECK(cudaEventSynchronize(end));
    float ms = 0;
    BENCH_CHECK(cudaEventElapsedTime(&ms, begin, end));
    times.push_back(ms);
  }
  BENCH_CHECK(cudaGetLastError());
  BENCH_CHECK(cudaEventDestroy(begin));
  BENCH_CHECK(cudaEventDestroy(end));
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

__host__ __device__ inline unsigned long long mix(unsigned long long x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ull;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

static __global__ void hashWords(const unsigned *words, size_t n,
                                 unsigned long long *sum) {
  unsigned long long mine = 0;
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n;
       i += size_t(gridDim.x) * blockDim.x)
    mine +=
        mix((static_cast<unsigned long long>(words[i]) << 32) ^ (i * 3 + 1));
  atomicAdd(sum, mine);
}

/// A hash of the first `bytes` bytes (a multiple of 4) at p on the device.
inline unsigned long long hash(const void *p, size_t bytes) {
  unsigned long long *sum, result = 0;
  BENCH_CHECK(cudaMalloc(&sum, sizeof *sum));
  BENCH_CHECK(cudaMemset(sum, 0, sizeof *sum));
  hashWords<<<1024, 256>>>(static_cast<const unsigned *>(p), bytes / 4, sum);
  BENCH_CHECK(cudaMemcpy(&result, sum, sizeof result, cudaMemcpyDeviceToHost));
  BENCH_CHECK(cudaFree(sum));
  return result;
}

static __global__ void fill(float *a, size_t n, unsigned seed) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n;
       i += size_t(gridDim.x) * blockDim.x)
    a[i] = float(int(unsigned(mix(i + (size_t(seed) << 40)) >> 32))) *
           (1.0f / 2147483648.0f);
}
static __global__ void fill(int *a, size_t n, unsigned seed) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n;
       i += size_t(gridDim.x) * blockDim.x)
    a[i] = int(unsigned(mix(i + (size_t(seed) << 40)) >> 32));
}
static __global__ void fill(unsigned char *a, size_t n, unsigned seed) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n;
       i += size_t(gridDim.x) * blockDim.x)
    a[i] = static_cast<unsigned char>(mix(i + (size_t(seed) << 40)) >> 56);
}
static __global__ void fill(double *a, size_t n, unsigned seed) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n;
       i += size_t(gridDim.x) * blockDim.x)
    a[i] = double(int(unsigned(mix(i + (size_t(seed) << 40)) >> 32))) *
           (1.0 / 2147483648.0);
}
inline unsigned char *parts(uchar4 *a) {
  return reinterpret_cast<unsigned char *>(a);
}
inline float *parts(float4 *a) { return reinterpret_cast<float *>(a); }
template <class T> T *parts(T *a) { return a; }

/// n elements on the device, random.
template <class T> T *random(size_t n, unsigned seed) {
  T *p;
  BENCH_CHECK(cudaMalloc(&p, n * sizeof(T)));
  auto *q = parts(p); // of a vector type: its components
  fill<<<4096, 256>>>(q, n * (sizeof(T) / sizeof *q), seed);
  BENCH_CHECK(cudaGetLastError());
  return p;
}
/// n elements on the device that no kernel has written.
template <class T> T *blank(size_t n) {
  T *p;
  BENCH_CHECK(cudaMalloc(&p, n * sizeof(T)));
  BENCH_CHECK(cudaMemset(p, 0xff, n * sizeof(T)));
  return p;
}

/// One measurement of the program `name` (the same for all forms of one case).
struct Line {
  std::string Name;  ///< "stencil-float-k8"
  std::string Shape; ///< block shape: "256", "32x8"
  double Ms = 0;     ///< median
  double Bytes =
      0; ///< least traffic: each input read, each output written once
  double Operations = 0; ///< floating-point operations, 0: of no interest
  /// FP32 instructions that no form can do without (a fused product and sum is
  /// one): what the FP32 units need for them is a limit. 0: of no interest.
  double Fp32 = 0;
  /// Logical threads of the original launch, for limits made from the tool's
  /// counts; 0: none are made.
  double Outputs = 0;
  std::vector<unsigned long long> Hashes;
};

/// \p more: further members of the object.
inline void print(const char *label, const Line &l,
                  const std::string &more = "") {
  std::printf("{\"name\": \"%s\", \"form\": \"%s\", \"shape\": \"%s\", \"ms\": "
              "%.5f, \"bytes\": %.0f, \"operations\": %.0f, \"fp32\": %.0f, "
              "\"outputs\": %.0f, %s\"hashes\": [",
              l.Name.c_str(), label, l.Shape.c_str(), l.Ms, l.Bytes,
              l.Operations, l.Fp32, l.Outputs, more.c_str());
  for (size_t i = 0; i < l.Hashes.size(); ++i)
    std::printf("%s\"%016llx\"", i ? ", " : "", l.Hashes[i]);
  std::printf("]}\n");
  std::fflush(stdout);
}

/// What limits are made from: SMs, their clock, FP32 lanes of each.
inline std::string properties() {
  const auto get = [](cudaDeviceAttr attribute) {
    int value = 0;
    BENCH_CHECK(cudaDeviceGetAttribute(&value, attribute, 0));
    return value;
  };
  const int major = get(cudaDevAttrComputeCapabilityMajor),
            minor = get(cudaDevAttrComputeCapabilityMinor);
  return "\"sms\": " + std::to_string(get(cudaDevAttrMultiProcessorCount)) +
         ", \"kHz\": " + std::to_string(get(cudaDevAttrClockRate)) +
         ", \"fp32Lanes\": " +
         std::to_string(major < 8 || (major == 8 && minor == 0) ? 64 : 128) +
         ", ";
}

/// Measures a 1-D kernel: launch(in, out, n, block) for each block size, at
/// 2^27 elements; hashes of the first n - tail outputs there and at small sizes
/// that are no multiple of anything.
template <class T, class F>
void measure1d(const char *label, const std::string &name, int tail, F launch,
               std::vector<int> blocks = {64, 128, 256, 512, 1024},
               double fp32PerOutput = 0) {
  if (quick())
    blocks = {256};
  const size_t big = size_t(1) << 27;
  T *in = random<T>(big, 7), *out = blank<T>(big);
  for (int block : blocks) {
    Line line;
    line.Name = name;
    line.Shape = std::to_string(block);
    line.Bytes = 2.0 * double(big) * sizeof(T);
    line.Fp32 = fp32PerOutput * double(big);
    line.Outputs = double(big);
    for (size_t n : {size_t(1), size_t(4099), size_t(1000000), big - 5, big}) {
      BENCH_CHECK(cudaMemset(out, 0xff, n * sizeof(T)));
      launch(in, out, int(n), block);
      BENCH_CHECK(cudaGetLastError());
      line.Hashes.push_back(
          hash(out, n > size_t(tail) ? (n - tail) * sizeof(T) : 0));
    }
    line.Ms = medianMs([&] { launch(in, out, int(big), block); });
    print(label, line);
  }
  BENCH_CHECK(cudaFree(in));
  BENCH_CHECK(cudaFree(out));
}

/// Measures a 2-D kernel on images of T: launch(in, out, width, height).
/// bytesPerOutput: least traffic, 0: one T read, one written. fp32PerOutput:
/// see Line::Fp32; 0: half of the operations, of floats.
template <class T, class F>
void measure2d(const char *label, const std::string &name,
               const std::string &shape, double operationsPerOutput, F launch,
               int side = 16384, double bytesPerOutput = 0,
               double fp32PerOutput = 0) {
  const size_t big = size_t(side) * side;
  T *in = random<T>(big, 3), *out = blank<T>(big);
  Line line;
  line.Name = name;
  line.Shape = shape;
  line.Bytes =
      (bytesPerOutput > 0 ? bytesPerOutput : 2.0 * sizeof(T)) * double(big);
  line.Operations = operationsPerOutput * double(big);
  line.Fp32 = fp32PerOutput * double(big);
  line.Outputs = double(big);
  if (fp32PerOutput == 0 && std::is_same<T, float>::value)
    line.Fp32 = line.Operations / 2;
  const int sizes[][2] = {{1, 1},      {516, 1},   {3, 5},
                          {1000, 999}, {1003, 77}, {side, side}};
  for (auto &s : sizes) {
    const size_t bytes = size_t(s[0]) * s[1] * sizeof(T);
    BENCH_CHECK(cudaMemset(out, 0xff, bytes));
    launch(in, out, s[0], s[1]);
    BENCH_CHECK(cudaGetLastError());
    line.Hashes.push_back(hash(out, bytes));
  }
  line.Ms = medianMs([&] { launch(in, out, side, side); }, 9);
  print(label, line);
  BENCH_CHECK(cudaFree(in));
  BENCH_CHECK(cudaFree(out));
}

inline const char *label(int argc, char **argv) {
  return argc > 1 ? argv[1] : "original";
}

} // namespace bench

#endif // RCACHE_BENCH_HARNESS_CUH
