// scans, softmax, layernorm: DL course / LLM style
#include <cstdio>
#include <cstdlib>
#include <cfloat>
#include <cmath>
#include <cuda_runtime.h>
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
#define cudaCheck(err) { cudaError_t e = (err); if (e != cudaSuccess) { printf("[CUDA ERROR] at %s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(e)); exit(EXIT_FAILURE); } }
#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))

// 1. llm.c-like softmax forward 2 (row per block, reduce in shared)
__global__ void softmax_forward_kernel2(float *out, const float *inp, int N, int C) {
  extern __shared__ float shared[];
  int idx = blockIdx.x;
  int tid = threadIdx.x;
  int block_size = blockDim.x;
  const float *x = inp + idx * C;
  float maxval = -INFINITY;
  for (int i = tid; i < C; i += block_size) maxval = fmaxf(maxval, x[i]);
  shared[tid] = maxval;
  for (int stride = block_size / 2; stride >= 1; stride /= 2) {
    __syncthreads();
    if (tid < stride) shared[tid] = fmaxf(shared[tid], shared[tid + stride]);
  }
  __syncthreads();
  float offset = shared[0];
  for (int i = tid; i < C; i += block_size) out[idx * C + i] = expf(x[i] - offset);
  __syncthreads();
  x = out + idx * C;
  float sumval = 0.0f;
  for (int i = tid; i < C; i += block_size) sumval += x[i];
  shared[tid] = sumval;
  for (int stride = block_size / 2; stride >= 1; stride /= 2) {
    __syncthreads();
    if (tid < stride) shared[tid] += shared[tid + stride];
  }
  __syncthreads();
  float sum = shared[0];
  for (int i = tid; i < C; i += block_size) out[idx * C + i] = x[i] / sum;
}

// 2. layernorm mean kernel as in llm.c
__global__ void mean_kernel(float *mean, const float *inp, int N, int C, int block_size) {
  extern __shared__ float shared[];
  int idx = blockIdx.x;
  int tid = threadIdx.x;
  const float *x = inp + idx * C;
  float sum = 0.0f;
  for (int i = tid; i < C; i += block_size) sum += x[i];
  shared[tid] = sum;
  __syncthreads();
  for (int stride = block_size / 2; stride >= 1; stride /= 2) {
    __syncthreads();
    if (tid < stride) shared[tid] += shared[tid + stride];
  }
  if (tid == 0) mean[idx] = shared[0] / C;
}

// 3. layernorm with one element per thread, fixed hidden size
template <int HIDDEN>
__global__ void layerNormRow(const float *x, float *y, const float *gamma, const float *beta, float eps) {
  __shared__ float red[HIDDEN];
  const int t = threadIdx.x;
  const float v = x[blockIdx.x * HIDDEN + t];
  red[t] = v;
  __syncthreads();
#pragma unroll
  for (int o = HIDDEN / 2; o > 0; o >>= 1) {
    if (t < o) red[t] += red[t + o];
    __syncthreads();
  }
  const float mu = red[0] / HIDDEN;
  __syncthreads();
  const float d = v - mu;
  red[t] = d * d;
  __syncthreads();
#pragma unroll
  for (int o = HIDDEN / 2; o > 0; o >>= 1) {
    if (t < o) red[t] += red[t + o];
    __syncthreads();
  }
  const float rstd = rsqrtf(red[0] / HIDDEN + eps);
  y[blockIdx.x * HIDDEN + t] = d * rstd * gamma[t] + beta[t];
}

// 4. softmax row of 128 with max and sum
#define SM_BLOCK 128
__global__ void softmax128(const float *logits, float *probs, int rows) {
  __shared__ float buf[SM_BLOCK];
  int row = blockIdx.x, t = threadIdx.x;
  float v = logits[row * SM_BLOCK + t];
  buf[t] = v;
  __syncthreads();
  for (int s = SM_BLOCK / 2; s > 0; s >>= 1) {
    if (t < s) buf[t] = fmaxf(buf[t], buf[t + s]);
    __syncthreads();
  }
  float m = buf[0];
  __syncthreads();
  float e = expf(v - m);
  buf[t] = e;
  __syncthreads();
  for (int s = SM_BLOCK / 2; s > 0; s >>= 1) {
    if (t < s) buf[t] += buf[t + s];
    __syncthreads();
  }
  probs[row * SM_BLOCK + t] = e / buf[0];
}

static __global__ void softmax128_rc(const float *logits, float *probs,
                                     int rows) {
  // Register cache: a thread stands for 1 thread of softmax128.
  //   buf: stays in shared memory.
  //   Barriers stay: 'probs' is written and may be 'logits', which is read.
  //   The first warp has rounds for itself in which no other one does anything;
  //   the others wait behind the loop.
  __shared__ float buf[SM_BLOCK];
  int row = blockIdx.x, t = threadIdx.x;
  float v = logits[row * SM_BLOCK + t];
  buf[t] = v;
  __syncthreads();
  for (int s = SM_BLOCK / 2; s > 32; s >>= 1) {
    if (t < s)
      buf[t] = fmaxf(buf[t], buf[t + s]);
    __syncthreads();
  }
  if (threadIdx.x < 32) {
#pragma unroll
    for (int s = 32; s > 0; s >>= 1) {
      if (t < s)
        buf[t] = fmaxf(buf[t], buf[t + s]);
      __syncwarp();
    }
  }
  __syncthreads();
  float m = buf[0];
  __syncthreads();
  float e = expf(v - m);
  buf[t] = e;
  __syncthreads();
  for (int s = SM_BLOCK / 2; s > 32; s >>= 1) {
    if (t < s)
      buf[t] += buf[t + s];
    __syncthreads();
  }
  if (threadIdx.x < 32) {
#pragma unroll
    for (int s = 32; s > 0; s >>= 1) {
      if (t < s)
        buf[t] += buf[t + s];
      __syncwarp();
    }
  }
  __syncthreads();
  probs[row * SM_BLOCK + t] = e / buf[0];
}

// Launches the register-cache form of softmax128 where it applies, else
// softmax128 itself.
static inline void softmax128_rc_launch(dim3 rc_grid, dim3 rc_block,
                                        size_t rc_shared,
                                        cudaStream_t rc_stream,
                                        const float *logits, float *probs,
                                        int rows) {
#ifdef RCACHE_VERIFY
  ::rcache::device::verification rc_verification(
      "softmax128", "logits, probs, rows", rc_grid, rc_block, rc_shared,
      rc_stream, logits, probs, rows);
#endif
  if ((rc_block.x == 128 && rc_block.y == 1 && rc_block.z == 1) &&
      (rc_grid.x != 0 && rc_grid.y != 0 && rc_grid.z != 0) &&
      (rc_grid.x <= 0x7fffffffu / 128) &&
      ::rcache::device::launches<256>(softmax128, rc_grid, rc_block,
                                      rc_shared) &&
      ::rcache::device::holds(softmax128_rc, rc_shared)
#ifdef RCACHE_VERIFY
      && rc_verification.save()
#endif
  ) {
    softmax128_rc<<<rc_grid, dim3(128u, 1u, 1u), rc_shared, rc_stream>>>(
        logits, probs, rows);

#ifdef RCACHE_VERIFY
    rc_verification.original();
#else
    return;
#endif
  }

  softmax128<<<rc_grid, rc_block, rc_shared, rc_stream>>>(logits, probs, rows);
}

// 5. Hillis-Steele, double buffer in one array (GPU Gems naive scan)
__global__ void scan_naive(float *g_odata, const float *g_idata, int n) {
  extern __shared__ float temp[];
  int thid = threadIdx.x;
  int pout = 0, pin = 1;
  temp[pout * n + thid] = (thid > 0) ? g_idata[blockIdx.x * n + thid - 1] : 0;
  __syncthreads();
  for (int offset = 1; offset < n; offset *= 2) {
    pout = 1 - pout;
    pin = 1 - pout;
    if (thid >= offset) temp[pout * n + thid] = temp[pin * n + thid] + temp[pin * n + thid - offset];
    else temp[pout * n + thid] = temp[pin * n + thid];
    __syncthreads();
  }
  g_odata[blockIdx.x * n + thid] = temp[pout * n + thid];
}

// 6. Kogge-Stone from the textbook (PMPP)
#define SECTION_SIZE 256
__global__ void Kogge_Stone_scan_kernel(int *X, int *Y, unsigned int N) {
  __shared__ int XY[SECTION_SIZE];
  unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) XY[threadIdx.x] = X[i];
  else XY[threadIdx.x] = 0;
  for (unsigned int stride = 1; stride < blockDim.x; stride *= 2) {
    __syncthreads();
    int temp;
    if (threadIdx.x >= stride) temp = XY[threadIdx.x] + XY[threadIdx.x - stride];
    __syncthreads();
    if (threadIdx.x >= stride) XY[threadIdx.x] = temp;
  }
  if (i < N) Y[i] = XY[threadIdx.x];
}

// 7. Brent-Kung from PMPP, two elements a thread
#define BK_SECTION 512
__global__ void Brent_Kung_scan_kernel(float *X, float *Y, unsigned int N) {
  __shared__ float XY[BK_SECTION];
  unsigned int i = 2 * blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) XY[threadIdx.x] = X[i];
  if (i + blockDim.x < N) XY[threadIdx.x + blockDim.x] = X[i + blockDim.x];
  for (unsigned int stride = 1; stride <= blockDim.x; stride *= 2) {
    __syncthreads();
    unsigned int index = (threadIdx.x + 1) * 2 * stride - 1;
    if (index < BK_SECTION) XY[index] += XY[index - stride];
  }
  for (int stride = BK_SECTION / 4; stride > 0; stride /= 2) {
    __syncthreads();
    unsigned int index = (threadIdx.x + 1) * stride * 2 - 1;
    if (index + stride < BK_SECTION) XY[index + stride] += XY[index];
  }
  __syncthreads();
  if (i < N) Y[i] = XY[threadIdx.x];
  if (i + blockDim.x < N) Y[i + blockDim.x] = XY[threadIdx.x + blockDim.x];
}

// 8. Blelloch work-efficient with bank conflict macro and block sums
#define NUM_BANKS 32
#define LOG_NUM_BANKS 5
#define CONFLICT_FREE_OFFSET(n) ((n) >> LOG_NUM_BANKS)
#define PS_BLOCK 256
__global__ void prescan(const int *in, int *out, int *sums) {
  __shared__ int temp[2 * PS_BLOCK + (2 * PS_BLOCK >> LOG_NUM_BANKS)];
  int thid = threadIdx.x;
  int base = blockIdx.x * 2 * PS_BLOCK;
  int ai = thid, bi = thid + PS_BLOCK;
  int bankOffsetA = CONFLICT_FREE_OFFSET(ai), bankOffsetB = CONFLICT_FREE_OFFSET(bi);
  temp[ai + bankOffsetA] = in[base + ai];
  temp[bi + bankOffsetB] = in[base + bi];
  int offset = 1;
  for (int d = PS_BLOCK; d > 0; d >>= 1) {
    __syncthreads();
    if (thid < d) {
      int a = offset * (2 * thid + 1) - 1, b = offset * (2 * thid + 2) - 1;
      a += CONFLICT_FREE_OFFSET(a);
      b += CONFLICT_FREE_OFFSET(b);
      temp[b] += temp[a];
    }
    offset <<= 1;
  }
  if (thid == 0) {
    int last = 2 * PS_BLOCK - 1 + CONFLICT_FREE_OFFSET(2 * PS_BLOCK - 1);
    sums[blockIdx.x] = temp[last];
    temp[last] = 0;
  }
  for (int d = 1; d < 2 * PS_BLOCK; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (thid < d) {
      int a = offset * (2 * thid + 1) - 1, b = offset * (2 * thid + 2) - 1;
      a += CONFLICT_FREE_OFFSET(a);
      b += CONFLICT_FREE_OFFSET(b);
      int t = temp[a];
      temp[a] = temp[b];
      temp[b] += t;
    }
  }
  __syncthreads();
  out[base + ai] = temp[ai + bankOffsetA];
  out[base + bi] = temp[bi + bankOffsetB];
}

template <class T> T *devArray(size_t n) {
  T *h = (T *)malloc(n * sizeof(T)), *d;
  for (size_t i = 0; i < n; ++i) h[i] = (T)((i * 7919u) % 101) / (T)8;
  cudaCheck(cudaMalloc(&d, n * sizeof(T)));
  cudaCheck(cudaMemcpy(d, h, n * sizeof(T), cudaMemcpyHostToDevice));
  free(h);
  return d;
}

int main(int argc, char **argv) {
  int N = argc > 1 ? atoi(argv[1]) : 8192;
  int C = 1024;
  float *a = devArray<float>((size_t)N * C), *o = devArray<float>((size_t)N * C), *m = devArray<float>(N + 1024), *v = devArray<float>(N + 1024);
  int *ia = devArray<int>((size_t)N * C), *io = devArray<int>((size_t)N * C), *is = devArray<int>(N * C / 512);
  int block_size = 256;
  softmax_forward_kernel2<<<N, block_size, block_size * sizeof(float)>>>(o, a, N, C);
  mean_kernel<<<N, block_size, block_size * sizeof(float)>>>(m, a, N, C, block_size);
  layerNormRow<256><<<N * C / 256, 256>>>(a, o, m, v, 1e-5f);
  softmax128_rc_launch(N * C / SM_BLOCK, SM_BLOCK, 0, 0, a, o, N);
  scan_naive<<<N * C / 256, 256, 2 * 256 * sizeof(float)>>>(o, a, 256);
  Kogge_Stone_scan_kernel<<<CEIL_DIV(N * C, SECTION_SIZE), SECTION_SIZE>>>(ia, io, N * C);
  Brent_Kung_scan_kernel<<<CEIL_DIV(N * C, BK_SECTION), BK_SECTION / 2>>>(a, o, N * C);
  prescan<<<N * C / (2 * PS_BLOCK), PS_BLOCK>>>(ia, io, is);
  cudaCheck(cudaGetLastError());
  cudaCheck(cudaDeviceSynchronize());
}
