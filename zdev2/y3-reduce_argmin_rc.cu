// Parallel reductions, several flavours
#include "cuda_runtime.h"
#include "device_launch_parameters.h"
#include <stdio.h>
#include <stdlib.h>
#include <float.h>
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

#define THREADS 256
#define checkCudaErrors(val) check((val), #val, __FILE__, __LINE__)
template <typename T> void check(T err, const char *const func, const char *const file, const int line) {
  if (err != cudaSuccess) {
    fprintf(stderr, "CUDA error at %s:%d %s %s\n", file, line, cudaGetErrorString(err), func);
    exit(1);
  }
}

// volatile tail on the last warp
__device__ void warpTail(volatile float *sd, int tid) {
  float v = sd[tid];
  v += sd[tid + 32]; __syncwarp(); sd[tid] = v; __syncwarp();
  v += sd[tid + 16]; __syncwarp(); sd[tid] = v; __syncwarp();
  v += sd[tid + 8];  __syncwarp(); sd[tid] = v; __syncwarp();
  v += sd[tid + 4];  __syncwarp(); sd[tid] = v; __syncwarp();
  v += sd[tid + 2];  __syncwarp(); sd[tid] = v; __syncwarp();
  v += sd[tid + 1];  __syncwarp(); sd[tid] = v;
}

__global__ void reduce_sum_tail(const float *g_in, float *g_out, unsigned int n) {
  __shared__ float sd[THREADS];
  unsigned int tid = threadIdx.x;
  unsigned int i = blockIdx.x * (THREADS * 2) + tid;
  float acc = i < n ? g_in[i] : 0.0f;
  if (i + THREADS < n) acc += g_in[i + THREADS];
  sd[tid] = acc;
  __syncthreads();
  for (unsigned int s = THREADS / 2; s > 32; s >>= 1) {
    if (tid < s) sd[tid] += sd[tid + s];
    __syncthreads();
  }
  if (tid < 32) warpTail(sd, tid);
  if (tid == 0) g_out[blockIdx.x] = sd[0];
}

// interleaved addressing, grid-stride accumulation
__global__ void reduce_max_int(const int *data, int *blockMax, int n) {
  extern __shared__ int smax[];
  int m = INT_MIN;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) m = max(m, data[i]);
  smax[threadIdx.x] = m;
  __syncthreads();
  for (int stride = 1; stride < blockDim.x; stride *= 2) {
    int index = 2 * stride * threadIdx.x;
    if (index + stride < blockDim.x) smax[index] = max(smax[index], smax[index + stride]);
    __syncthreads();
  }
  if (threadIdx.x == 0) blockMax[blockIdx.x] = smax[0];
}

// value and position
__global__ void reduce_argmin(const float *x, float *outv, int *outi, int n) {
  __shared__ float val[THREADS];
  __shared__ int pos[THREADS];
  int tid = threadIdx.x;
  float best = FLT_MAX;
  int at = -1;
  for (int i = blockIdx.x * THREADS + tid; i < n; i += THREADS * gridDim.x)
    if (x[i] < best) { best = x[i]; at = i; }
  val[tid] = best;
  pos[tid] = at;
  __syncthreads();
  for (int s = THREADS / 2; s > 0; s /= 2) {
    if (tid < s) {
      if (val[tid + s] < val[tid] || (val[tid + s] == val[tid] && pos[tid + s] < pos[tid])) {
        val[tid] = val[tid + s];
        pos[tid] = pos[tid + s];
      }
    }
    __syncthreads();
  }
  if (tid == 0) { outv[blockIdx.x] = val[0]; outi[blockIdx.x] = pos[0]; }
}

static __global__ void reduce_argmin_rc(const float *x, float *outv, int *outi,
                                        int n) {
  // Register cache: a thread stands for 1 thread of reduce_argmin.
  //   val: stays in shared memory.
  //   pos: stays in shared memory.
  //   Barriers stay: 'outv' is written and may be 'x', which is read.
  //   The first warp has rounds for itself in which no other one does anything;
  //   the others wait behind the loop.
  __shared__ float val[THREADS];
  __shared__ int pos[THREADS];
  int tid = threadIdx.x;
  float best = FLT_MAX;
  int at = -1;
  for (int i = blockIdx.x * THREADS + tid; i < n; i += THREADS * gridDim.x)
    if (x[i] < best) {
      best = x[i];
      at = i;
    }
  val[tid] = best;
  pos[tid] = at;
  __syncthreads();
  for (int s = THREADS / 2; s > 32; s /= 2) {
    if (tid < s) {
      if (val[tid + s] < val[tid] ||
          (val[tid + s] == val[tid] && pos[tid + s] < pos[tid])) {
        val[tid] = val[tid + s];
        pos[tid] = pos[tid + s];
      }
    }
    __syncthreads();
  }
  if (threadIdx.x < 32) {
#pragma unroll
    for (int s = 32; s > 0; s /= 2) {
      if (tid < s) {
        if (val[tid + s] < val[tid] ||
            (val[tid + s] == val[tid] && pos[tid + s] < pos[tid])) {
          val[tid] = val[tid + s];
          pos[tid] = pos[tid + s];
        }
      }
      __syncwarp();
    }
  }
  __syncthreads();
  if (tid == 0) {
    outv[blockIdx.x] = val[0];
    outi[blockIdx.x] = pos[0];
  }
}

// Launches the register-cache form of reduce_argmin where it applies, else
// reduce_argmin itself.
static inline void reduce_argmin_rc_launch(dim3 rc_grid, dim3 rc_block,
                                           size_t rc_shared,
                                           cudaStream_t rc_stream,
                                           const float *x, float *outv,
                                           int *outi, int n) {
#ifdef RCACHE_VERIFY
  ::rcache::device::verification rc_verification(
      "reduce_argmin", "x, outv, outi, n", rc_grid, rc_block, rc_shared,
      rc_stream, x, outv, outi, n);
#endif
  if ((rc_block.x == 256 && rc_block.y == 1 && rc_block.z == 1) &&
      (rc_grid.x != 0 && rc_grid.y != 0 && rc_grid.z != 0) &&
      (rc_grid.x <= 0x7fffffffu / 256) && ((double)rc_grid.x <= 8384512.0) &&
      ::rcache::device::launches<256>(reduce_argmin, rc_grid, rc_block,
                                      rc_shared) &&
      ::rcache::device::holds(reduce_argmin_rc, rc_shared)
#ifdef RCACHE_VERIFY
      && rc_verification.save()
#endif
  ) {
    reduce_argmin_rc<<<rc_grid, dim3(256u, 1u, 1u), rc_shared, rc_stream>>>(
        x, outv, outi, n);

#ifdef RCACHE_VERIFY
    rc_verification.original();
#else
    return;
#endif
  }

  reduce_argmin<<<rc_grid, rc_block, rc_shared, rc_stream>>>(x, outv, outi, n);
}

// dot product as in the book
__global__ void dot_by_example(const double *a, const double *b, double *c, int N) {
  __shared__ double cache[THREADS];
  int tid = threadIdx.x + blockIdx.x * blockDim.x;
  int cacheIndex = threadIdx.x;
  double temp = 0;
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

// one block per row
template <int BS>
__global__ void row_l2norm(const float *__restrict__ A, float *__restrict__ norms, int cols) {
  __shared__ float s[BS];
  const float *row = A + (size_t)blockIdx.x * cols;
  float sum = 0.f;
  for (int c = threadIdx.x; c < cols; c += BS) sum += row[c] * row[c];
  s[threadIdx.x] = sum;
  __syncthreads();
#pragma unroll
  for (int k = BS >> 1; k >= 1; k >>= 1) {
    if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
    __syncthreads();
  }
  if (!threadIdx.x) norms[blockIdx.x] = sqrtf(s[0]);
}

struct MinMax { float lo, hi; };
// both extremes at once, struct elements
__global__ void minmax_struct(const float *in, MinMax *out, int n) {
  __shared__ MinMax mm[128];
  MinMax r = {FLT_MAX, -FLT_MAX};
  int base = blockIdx.x * 128 * 8;
  for (int k = 0; k < 8; k++) {
    int i = base + k * 128 + threadIdx.x;
    if (i < n) {
      float v = in[i];
      r.lo = fminf(r.lo, v);
      r.hi = fmaxf(r.hi, v);
    }
  }
  mm[threadIdx.x] = r;
  __syncthreads();
  for (int off = 64; off; off >>= 1) {
    if (threadIdx.x < off) {
      mm[threadIdx.x].lo = fminf(mm[threadIdx.x].lo, mm[threadIdx.x + off].lo);
      mm[threadIdx.x].hi = fmaxf(mm[threadIdx.x].hi, mm[threadIdx.x + off].hi);
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = mm[0];
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : (1 << 25) + 1001;
  float *h = (float *)malloc(n * sizeof(float));
  int *hi = (int *)malloc(n * sizeof(int));
  for (int i = 0; i < n; i++) {
    unsigned r = (unsigned)i * 2654435761u;
    h[i] = (float)(r >> 8) / 16777216.0f - 0.5f;
    hi[i] = (int)r;
  }
  float *d_x, *d_part;
  int *d_i, *d_ipart;
  int blocks = (n + THREADS * 2 - 1) / (THREADS * 2);
  checkCudaErrors(cudaMalloc(&d_x, n * sizeof(float)));
  checkCudaErrors(cudaMalloc(&d_i, n * sizeof(int)));
  checkCudaErrors(cudaMalloc(&d_part, blocks * sizeof(float)));
  checkCudaErrors(cudaMalloc(&d_ipart, blocks * sizeof(int)));
  checkCudaErrors(cudaMemcpy(d_x, h, n * sizeof(float), cudaMemcpyHostToDevice));
  checkCudaErrors(cudaMemcpy(d_i, hi, n * sizeof(int), cudaMemcpyHostToDevice));

  reduce_sum_tail<<<blocks, THREADS>>>(d_x, d_part, n);
  reduce_max_int<<<1024, 512, 512 * sizeof(int)>>>(d_i, d_ipart, n);
  reduce_argmin_rc_launch(2048, THREADS, 0, 0, d_x, d_part, d_ipart, n);
  checkCudaErrors(cudaGetLastError());

  int nd = 1 << 23;
  double *hd = (double *)malloc(nd * sizeof(double)), *da, *db, *dc;
  for (int i = 0; i < nd; i++) hd[i] = (i % 1000) * 0.001;
  checkCudaErrors(cudaMalloc(&da, nd * sizeof(double)));
  checkCudaErrors(cudaMalloc(&db, nd * sizeof(double)));
  checkCudaErrors(cudaMalloc(&dc, 1056 * sizeof(double)));
  checkCudaErrors(cudaMemcpy(da, hd, nd * sizeof(double), cudaMemcpyHostToDevice));
  checkCudaErrors(cudaMemcpy(db, hd, nd * sizeof(double), cudaMemcpyHostToDevice));
  dot_by_example<<<1056, THREADS>>>(da, db, dc, nd);
  checkCudaErrors(cudaGetLastError());

  int rows = 16000, cols = 1500;
  row_l2norm<128><<<rows, 128>>>(d_x, d_part, cols);
  MinMax *d_mm;
  int mb = (n + 1023) / 1024;
  checkCudaErrors(cudaMalloc(&d_mm, mb * sizeof(MinMax)));
  minmax_struct<<<mb, 128>>>(d_x, d_mm, n);
  checkCudaErrors(cudaGetLastError());
  checkCudaErrors(cudaDeviceSynchronize());
  cudaFree(d_x); cudaFree(d_i); cudaFree(d_part); cudaFree(d_ipart);
  cudaFree(da); cudaFree(db); cudaFree(dc); cudaFree(d_mm);
  free(h); free(hi); free(hd);
  return 0;
}
