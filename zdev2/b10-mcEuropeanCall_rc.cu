#include "shown.h"
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

typedef struct { float S, X, vDt, puByDf, pdByDf; } OptionData;

#define TIME_STEPS 1024
#define CACHE_DELTA 32
#define CACHE_SIZE 256
// old SDK binomialOptions, shared pyramid with global call buffer
__global__ void binomialOptionsKernel(float *d_CallBuffer, float *d_CallValue, const OptionData *od, int NUM_STEPS, int bufStride) {
  __shared__ float callA[CACHE_SIZE + 1];
  __shared__ float callB[CACHE_SIZE + 1];
  float *const d_Call = &d_CallBuffer[blockIdx.x * bufStride];
  const int tid = threadIdx.x;
  const float S = od[blockIdx.x].S;
  const float X = od[blockIdx.x].X;
  const float vDt = od[blockIdx.x].vDt;
  const float pu = od[blockIdx.x].puByDf;
  const float pd = od[blockIdx.x].pdByDf;
  for (int i = tid; i <= NUM_STEPS; i += CACHE_SIZE) {
    float d = S * expf(vDt * (2.0f * i - NUM_STEPS)) - X;
    d_Call[i] = d > 0 ? d : 0;
  }
  if (tid == 0) { callA[CACHE_SIZE] = 0; callB[CACHE_SIZE] = 0; }
  const int CACHE_STEP = CACHE_SIZE - CACHE_DELTA;
  for (int i = NUM_STEPS; i > 0; i -= CACHE_DELTA)
    for (int c_base = 0; c_base < i; c_base += CACHE_STEP) {
      int c_start = min(CACHE_SIZE - 1, i - c_base);
      int c_end = c_start - CACHE_DELTA;
      __syncthreads();
      if (tid <= c_start) callA[tid] = d_Call[c_base + tid];
      else callA[tid] = 0;
      for (int k = c_start - 1; k >= c_end;) {
        __syncthreads();
        callB[tid] = pu * callA[tid + 1] + pd * callA[tid];
        k--;
        __syncthreads();
        callA[tid] = pu * callB[tid + 1] + pd * callB[tid];
        k--;
      }
      __syncthreads();
      if (tid <= c_end) d_Call[c_base + tid] = callA[tid];
    }
  if (tid == 0) d_CallValue[blockIdx.x] = callA[0];
}

// one block per American put, entire lattice row in shared
__global__ void americanPutTree(const double *strike, double *price, double S0, double r, double sigma, double T, int n) {
  extern __shared__ double V[];
  double dt = T / n;
  double u = exp(sigma * sqrt(dt)), d = 1.0 / u;
  double p = (exp(r * dt) - d) / (u - d), disc = exp(-r * dt);
  double K = strike[blockIdx.x] + 90.0;
  for (int j = threadIdx.x; j <= n; j += blockDim.x) {
    double st = S0 * pow(u, 2.0 * j - n);
    V[j] = fmax(K - st, 0.0);
  }
  __syncthreads();
  for (int step = n - 1; step >= 0; --step) {
    for (int base = 0; base <= step; base += blockDim.x) {
      int j = base + threadIdx.x;
      double nv = 0;
      if (j <= step) {
        double cont = disc * (p * V[j + 1] + (1 - p) * V[j]);
        double ex = K - S0 * exp(sigma * sqrt(dt) * (2.0 * j - step));
        nv = cont > ex ? cont : ex;
      }
      __syncthreads();
      if (j <= step) V[j] = nv;
      __syncthreads();
    }
  }
  if (threadIdx.x == 0) price[blockIdx.x] = V[0];
}

// Monte Carlo with sum and sum2 reduction
__device__ unsigned lcg(unsigned &s) { s = s * 1664525u + 1013904223u; return s; }
__device__ float gauss(unsigned &s) {
  float u1 = (lcg(s) >> 8) * (1.f / 16777216.f) + 1e-7f;
  float u2 = (lcg(s) >> 8) * (1.f / 16777216.f);
  return sqrtf(-2.f * logf(u1)) * cosf(6.2831853f * u2);
}
struct MCParams { float s0, k, mu, vol; unsigned paths; };
struct MCResult { float sum, sum2; };
template <int BLK>
__global__ void mcEuropeanCall(MCResult *res, MCParams P) {
  __shared__ float s_Sum[BLK];
  __shared__ float s_Sum2[BLK];
  unsigned seed = (blockIdx.x * BLK + threadIdx.x) * 747796405u + 12345u;
  float a = 0, b = 0;
  for (unsigned i = threadIdx.x; i < P.paths; i += BLK) {
    float st = P.s0 * expf(P.mu + P.vol * gauss(seed));
    float pay = fmaxf(st - P.k, 0.f);
    a += pay;
    b += pay * pay;
  }
  s_Sum[threadIdx.x] = a;
  s_Sum2[threadIdx.x] = b;
  __syncthreads();
#pragma unroll
  for (int half = BLK / 2; half > 0; half >>= 1) {
    if (threadIdx.x < half) {
      s_Sum[threadIdx.x] += s_Sum[threadIdx.x + half];
      s_Sum2[threadIdx.x] += s_Sum2[threadIdx.x + half];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) { res[blockIdx.x].sum = s_Sum[0]; res[blockIdx.x].sum2 = s_Sum2[0]; }
}

template <int BLK>
static __global__ void mcEuropeanCall_rc(MCResult *res, MCParams P) {
  // Register cache: a thread stands for 1 thread of mcEuropeanCall.
  //   s_Sum: stays in shared memory.
  //   s_Sum2: stays in shared memory.
  //   Barriers stay: 's_Sum' stays in shared memory.
  //   The first warp has rounds for itself in which no other one does anything;
  //   the others wait behind the loop.
  __shared__ float s_Sum[BLK];
  __shared__ float s_Sum2[BLK];
  unsigned seed = (blockIdx.x * BLK + threadIdx.x) * 747796405u + 12345u;
  float a = 0, b = 0;
  for (unsigned i = threadIdx.x; i < P.paths; i += BLK) {
    float st = P.s0 * expf(P.mu + P.vol * gauss(seed));
    float pay = fmaxf(st - P.k, 0.f);
    a += pay;
    b += pay * pay;
  }
  s_Sum[threadIdx.x] = a;
  s_Sum2[threadIdx.x] = b;
  __syncthreads();
#pragma unroll
  for (int half = BLK / 2; half > 32; half >>= 1) {
    if (threadIdx.x < half) {
      s_Sum[threadIdx.x] += s_Sum[threadIdx.x + half];
      s_Sum2[threadIdx.x] += s_Sum2[threadIdx.x + half];
    }
    __syncthreads();
  }
  if (threadIdx.x < 32) {
#pragma unroll
    for (int half = 32; half > 0; half >>= 1) {
      if (threadIdx.x < half) {
        s_Sum[threadIdx.x] += s_Sum[threadIdx.x + half];
        s_Sum2[threadIdx.x] += s_Sum2[threadIdx.x + half];
      }
      __syncwarp();
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    res[blockIdx.x].sum = s_Sum[0];
    res[blockIdx.x].sum2 = s_Sum2[0];
  }
}

// Launches the register-cache form of mcEuropeanCall where it applies, else
// mcEuropeanCall itself.
template <int BLK>
static inline void
mcEuropeanCall_rc_launch(dim3 rc_grid, dim3 rc_block, size_t rc_shared,
                         cudaStream_t rc_stream, MCResult *res, MCParams P) {
#ifdef RCACHE_VERIFY
  ::rcache::device::verification rc_verification("mcEuropeanCall", "res, P",
                                                 rc_grid, rc_block, rc_shared,
                                                 rc_stream, res, P);
#endif
  if ((rc_block.x == 256 && rc_block.y == 1 && rc_block.z == 1) &&
      (rc_grid.x != 0 && rc_grid.y != 0 && rc_grid.z != 0) &&
      (rc_grid.x <= 0x7fffffffu / 256) &&
      ::rcache::device::launches<256>(mcEuropeanCall<BLK>, rc_grid, rc_block,
                                      rc_shared) &&
      ::rcache::device::holds(mcEuropeanCall_rc<BLK>, rc_shared)
#ifdef RCACHE_VERIFY
      && rc_verification.save()
#endif
  ) {
    mcEuropeanCall_rc<BLK>
        <<<rc_grid, dim3(256u, 1u, 1u), rc_shared, rc_stream>>>(res, P);

#ifdef RCACHE_VERIFY
    rc_verification.original();
#else
    return;
#endif
  }

  mcEuropeanCall<BLK><<<rc_grid, rc_block, rc_shared, rc_stream>>>(res, P);
}

// pi estimation, odd block width reduced with generic loop
__global__ void piMonteCarlo(unsigned long long *hits, int iters) {
  extern __shared__ unsigned int cnt[];
  unsigned s = blockIdx.x * 7919u + threadIdx.x * 104729u + 1u;
  unsigned c = 0;
  for (int i = 0; i < iters; i++) {
    float x = (lcg(s) >> 8) / 16777216.f, y = (lcg(s) >> 8) / 16777216.f;
    if (x * x + y * y <= 1.f) c++;
  }
  cnt[threadIdx.x] = c;
  __syncthreads();
  for (int len = blockDim.x; len > 1;) {
    int h = (len + 1) / 2;
    if (threadIdx.x + h < len) cnt[threadIdx.x] += cnt[threadIdx.x + h];
    __syncthreads();
    len = h;
  }
  if (threadIdx.x == 0) atomicAdd(hits, (unsigned long long)cnt[0]);
}

__global__ void covarianceMatrix(const float *ret, float *cov, int assets, int days) {
  __shared__ float xs[16][17];
  __shared__ float ys[16][17];
  __shared__ float mx[16], my[16];
  int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
  int jj = blockIdx.x * 16 + threadIdx.y;
  if (threadIdx.x == 0) {
    float m = 0;
    if (i < assets) for (int d = 0; d < days; d++) m += ret[i * days + d];
    mx[threadIdx.y] = m / days;
  }
  if (threadIdx.x == 1) {
    float m = 0;
    if (jj < assets) for (int d = 0; d < days; d++) m += ret[jj * days + d];
    my[threadIdx.y] = m / days;
  }
  __syncthreads();
  float acc = 0.f;
  for (int d0 = 0; d0 < days; d0 += 16) {
    int d = d0 + threadIdx.x;
    xs[threadIdx.y][threadIdx.x] = (i < assets && d < days) ? ret[i * days + d] - mx[threadIdx.y] : 0.f;
    ys[threadIdx.y][threadIdx.x] = (jj < assets && d < days) ? ret[jj * days + d] - my[threadIdx.y] : 0.f;
    __syncthreads();
    for (int k = 0; k < 16; k++) acc += xs[threadIdx.y][k] * ys[threadIdx.x][k];
    __syncthreads();
  }
  if (i < assets && j < assets) cov[i * assets + j] = acc / (days - 1);
}

int main() {
  {
    int nopt = 512, stride = TIME_STEPS + 16;
    OptionData *h = (OptionData *)malloc(nopt * sizeof(OptionData)), *d;
    for (int i = 0; i < nopt; i++) h[i] = {20.f + i % 30, 15.f + i % 40, 0.008f, 0.5004f, 0.4995f};
    cudaMalloc(&d, nopt * sizeof(OptionData));
    cudaMemcpy(d, h, nopt * sizeof(OptionData), cudaMemcpyHostToDevice);
    float *buf = mk<float>(nopt * stride), *v = mk<float>(nopt);
    binomialOptionsKernel<<<nopt, CACHE_SIZE>>>(buf, v, d, TIME_STEPS, stride);
    show("binomialOptionsKernel", v, nopt * 4);
  }
  {
    int n = 600, m = 400;
    double *k = mk<double>(m), *p = mk<double>(m);
    americanPutTree<<<m, 192, (n + 1) * sizeof(double)>>>(k, p, 100., .03, .2, 1., n);
    show("americanPutTree", p, m * 8);
  }
  {
    int nb = 600;
    MCResult *r = (MCResult *)mk<float>(nb * 2);
    mcEuropeanCall_rc_launch<256>(nb, 256, 0, 0, r, MCParams{100.f, 105.f, 0.01f, 0.2f, 65536u});
    show("mcEuropeanCall", r, nb * 8);
  }
  {
    unsigned long long *h;
    cudaMalloc(&h, 8);
    cudaMemset(h, 0, 8);
    piMonteCarlo<<<333, 200, 200 * 4>>>(h, 2000);
    show("piMonteCarlo", h, 8);
  }
  {
    int a = 500, d = 252;
    float *r = mk<float>(a * d), *c = mk<float>(a * a);
    covarianceMatrix<<<dim3((a + 15) / 16, (a + 15) / 16), dim3(16, 16)>>>(r, c, a, d);
    show("covarianceMatrix", c, a * a * 4);
  }
}
