// option pricing and friends
#include "shown.h"
#include <math.h>
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

struct OptionData { float S, X, T, R, V; };

#define NUM_STEPS 512
__global__ void binomialOptionsKernel(const float *S0, const float *X0, float *price)
{
    __shared__ float call[NUM_STEPS + 1];
    const int tid = threadIdx.x;
    const float S = 5.f + S0[blockIdx.x], X = 5.f + X0[blockIdx.x];
    const float T = 1.f, R = 0.06f, V = 0.1f;
    const float dt = T / (float)NUM_STEPS;
    const float vDt = V * sqrtf(dt), rDt = R * dt;
    const float If = expf(rDt), Df = expf(-rDt);
    const float u = expf(vDt), d = expf(-vDt);
    const float pu = (If - d) / (u - d), pd = 1.0f - pu;
    const float puDf = pu * Df, pdDf = pd * Df;
    for (int i = tid; i <= NUM_STEPS; i += blockDim.x) {
        float v = S * expf(vDt * (2.0f * i - NUM_STEPS)) - X;
        call[i] = (v > 0) ? v : 0;
    }
    __syncthreads();
    for (int i = NUM_STEPS; i > 0; i--) {
        float a = 0, b = 0;
        if (tid < i) a = puDf * call[tid + 1] + pdDf * call[tid];
        if (tid + 256 < i) b = puDf * call[tid + 257] + pdDf * call[tid + 256];
        __syncthreads();
        if (tid < i) call[tid] = a;
        if (tid + 256 < i) call[tid + 256] = b;
        __syncthreads();
    }
    if (tid == 0) price[blockIdx.x] = call[0];
}

__device__ inline float cndGPU(float d)
{
    const float A1 = 0.31938153f, A2 = -0.356563782f, A3 = 1.781477937f, A4 = -1.821255978f, A5 = 1.330274429f;
    const float RSQRT2PI = 0.39894228040143267793994605993438f;
    float K = __fdividef(1.0f, (1.0f + 0.2316419f * fabsf(d)));
    float cnd = RSQRT2PI * __expf(-0.5f * d * d) * (K * (A1 + K * (A2 + K * (A3 + K * (A4 + K * A5)))));
    if (d > 0) cnd = 1.0f - cnd;
    return cnd;
}

// prices and three greeks, all in registers
__launch_bounds__(128)
__global__ void BlackScholesGreeks(float2 *__restrict__ d_CallPut, float2 *__restrict__ d_Greeks, const float2 *__restrict__ d_SX, float Riskfree, float Volatility, int optN)
{
    const int opt = blockDim.x * blockIdx.x + threadIdx.x;
    if (opt < optN) {
        float2 sx = d_SX[opt];
        float S = sx.x + 4.0f, X = sx.y + 4.0f, T = 0.25f + (opt & 63) * 0.05f;
        float sqrtT = sqrtf(T);
        float d1 = __fdividef(__logf(S / X) + (Riskfree + 0.5f * Volatility * Volatility) * T, Volatility * sqrtT);
        float d2 = d1 - Volatility * sqrtT;
        float C1 = cndGPU(d1), C2 = cndGPU(d2);
        float expRT = __expf(-Riskfree * T);
        float2 cp, gk;
        cp.x = S * C1 - X * expRT * C2;
        cp.y = X * expRT * (1.0f - C2) - S * (1.0f - C1);
        float pdf = 0.3989423f * __expf(-0.5f * d1 * d1);
        gk.x = C1;
        gk.y = S * pdf * sqrtT + 0.5f * pdf / (S * Volatility * sqrtT);
        d_CallPut[opt] = cp;
        d_Greeks[opt] = gk;
    }
}

// Monte Carlo, one option a block, warp leftovers reduced by a sequential tree
__device__ unsigned xorshift(unsigned &s) { s ^= s << 13; s ^= s >> 17; s ^= s << 5; return s; }
__global__ void mcAsianCall(const float *strike, float *mean, float *stderr_, int paths, int steps)
{
    __shared__ float sum[128], sum2[128];
    unsigned st = 1234567u + blockIdx.x * 7919u + threadIdx.x * 104729u;
    for (int i = 0; i < 8; i++) xorshift(st);
    float K = 50.f + strike[blockIdx.x], a = 0.f, b = 0.f;
    for (int p = threadIdx.x; p < paths; p += 128) {
        float s = 55.f, avg = 0.f;
        for (int k = 0; k < steps; k += 2) {
            float u1 = (xorshift(st) >> 8) * (1.f / 16777216.f) + 1e-7f;
            float u2 = (xorshift(st) >> 8) * (1.f / 16777216.f);
            float r = sqrtf(-2.f * __logf(u1)), sn, cs;
            __sincosf(6.2831853f * u2, &sn, &cs);
            s *= __expf(0.001f + 0.05f * r * cs); avg += s;
            s *= __expf(0.001f + 0.05f * r * sn); avg += s;
        }
        float pay = fmaxf(avg / steps - K, 0.f);
        a += pay;
        b += pay * pay;
    }
    sum[threadIdx.x] = a;
    sum2[threadIdx.x] = b;
    __syncthreads();
    for (int k = 64; k; k >>= 1) {
        if (threadIdx.x < k) {
            sum[threadIdx.x] += sum[threadIdx.x + k];
            sum2[threadIdx.x] += sum2[threadIdx.x + k];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        float m = sum[0] / paths;
        mean[blockIdx.x] = m;
        stderr_[blockIdx.x] = sqrtf(fmaxf(sum2[0] / paths - m * m, 0.f) / paths);
    }
}

static __global__ void mcAsianCall_rc(const float *strike, float *mean,
                                      float *stderr_, int paths, int steps) {
  // Register cache: a thread stands for 1 thread of mcAsianCall.
  //   sum: stays in shared memory.
  //   sum2: stays in shared memory.
  //   Barriers stay: memory of unknown origin is written and may be what is
  //   read through it, which is read. The first warp has rounds for itself in
  //   which no other one does anything; the others wait behind the loop.
  __shared__ float sum[128], sum2[128];
  unsigned st = 1234567u + blockIdx.x * 7919u + threadIdx.x * 104729u;
  for (int i = 0; i < 8; i++)
    xorshift(st);
  float K = 50.f + strike[blockIdx.x], a = 0.f, b = 0.f;
  for (int p = threadIdx.x; p < paths; p += 128) {
    float s = 55.f, avg = 0.f;
    for (int k = 0; k < steps; k += 2) {
      float u1 = (xorshift(st) >> 8) * (1.f / 16777216.f) + 1e-7f;
      float u2 = (xorshift(st) >> 8) * (1.f / 16777216.f);
      float r = sqrtf(-2.f * __logf(u1)), sn, cs;
      __sincosf(6.2831853f * u2, &sn, &cs);
      s *= __expf(0.001f + 0.05f * r * cs);
      avg += s;
      s *= __expf(0.001f + 0.05f * r * sn);
      avg += s;
    }
    float pay = fmaxf(avg / steps - K, 0.f);
    a += pay;
    b += pay * pay;
  }
  sum[threadIdx.x] = a;
  sum2[threadIdx.x] = b;
  __syncthreads();
  for (int k = 64; k > 32; k >>= 1) {
    if (threadIdx.x < k) {
      sum[threadIdx.x] += sum[threadIdx.x + k];
      sum2[threadIdx.x] += sum2[threadIdx.x + k];
    }
    __syncthreads();
  }
  if (threadIdx.x < 32) {
#pragma unroll
    for (int k = 32; k; k >>= 1) {
      if (threadIdx.x < k) {
        sum[threadIdx.x] += sum[threadIdx.x + k];
        sum2[threadIdx.x] += sum2[threadIdx.x + k];
      }
      __syncwarp();
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    float m = sum[0] / paths;
    mean[blockIdx.x] = m;
    stderr_[blockIdx.x] = sqrtf(fmaxf(sum2[0] / paths - m * m, 0.f) / paths);
  }
}

// Launches the register-cache form of mcAsianCall where it applies, else
// mcAsianCall itself.
static inline void mcAsianCall_rc_launch(dim3 rc_grid, dim3 rc_block,
                                         size_t rc_shared,
                                         cudaStream_t rc_stream,
                                         const float *strike, float *mean,
                                         float *stderr_, int paths, int steps) {
#ifdef RCACHE_VERIFY
  ::rcache::device::verification rc_verification(
      "mcAsianCall", "strike, mean, stderr_, paths, steps", rc_grid, rc_block,
      rc_shared, rc_stream, strike, mean, stderr_, paths, steps);
#endif
  if ((rc_block.x == 128 && rc_block.y == 1 && rc_block.z == 1) &&
      (rc_grid.x != 0 && rc_grid.y != 0 && rc_grid.z != 0) &&
      (rc_grid.x <= 0x7fffffffu / 128) && ((double)rc_grid.x <= 271048.0) &&
      ::rcache::device::launches<256>(mcAsianCall, rc_grid, rc_block,
                                      rc_shared) &&
      ::rcache::device::holds(mcAsianCall_rc, rc_shared)
#ifdef RCACHE_VERIFY
      && rc_verification.save()
#endif
  ) {
    mcAsianCall_rc<<<rc_grid, dim3(128u, 1u, 1u), rc_shared, rc_stream>>>(
        strike, mean, stderr_, paths, steps);

#ifdef RCACHE_VERIFY
    rc_verification.original();
#else
    return;
#endif
  }

  mcAsianCall<<<rc_grid, rc_block, rc_shared, rc_stream>>>(
      strike, mean, stderr_, paths, steps);
}

// Crank-Nicolson step, Thomas algorithm with private arrays
#define GRID_PTS 64
__global__ void thomas_cn(const float *payoff, float *value, int nsys, int steps)
{
    int sys = blockIdx.x * blockDim.x + threadIdx.x;
    if (sys >= nsys) return;
    float cp[GRID_PTS], v[GRID_PTS];
    for (int i = 0; i < GRID_PTS; ++i) v[i] = payoff[i * nsys + sys];
    float sig = 0.2f + 0.001f * (sys % 100);
    for (int s = 0; s < steps; ++s) {
        float prevOld = v[0];
        cp[0] = 0.f;
        for (int i = 1; i < GRID_PTS - 1; ++i) {
            float al = 0.25f * (sig * sig * i - 0.02f);
            float ga = 0.25f * (sig * sig * i + 0.02f);
            float be = 1.f + al + ga;
            float old = v[i];
            float rhs = al * prevOld + (1.f - al - ga) * old + ga * v[i + 1];
            float w = 1.f / (be + al * cp[i - 1]);
            cp[i] = -ga * w;
            v[i] = (rhs + al * v[i - 1]) * w;
            prevOld = old;
        }
        for (int i = GRID_PTS - 2; i > 0; --i) v[i] -= cp[i] * v[i + 1];
    }
    for (int i = 0; i < GRID_PTS; ++i) value[i * nsys + sys] = v[i];
}

// sample covariance of asset returns, R is days x assets
__global__ void covariance(const float *R, const float *mu, float *cov, int days, int assets)
{
    __shared__ float ra[16][17], rb[16][17];
    int i = blockIdx.y * 16 + threadIdx.y;
    int j = blockIdx.x * 16 + threadIdx.x;
    int ia = blockIdx.y * 16 + threadIdx.x;
    float c = 0.f;
    for (int d0 = 0; d0 < days; d0 += 16) {
        int d = d0 + threadIdx.y;
        ra[threadIdx.y][threadIdx.x] = (d < days && ia < assets) ? R[d * assets + ia] - mu[ia] : 0.f;
        rb[threadIdx.y][threadIdx.x] = (d < days && j < assets) ? R[d * assets + j] - mu[j] : 0.f;
        __syncthreads();
        for (int k = 0; k < 16; k++) c += ra[k][threadIdx.y] * rb[k][threadIdx.x];
        __syncthreads();
    }
    if (i < assets && j < assets) cov[i * assets + j] = c / (days - 1);
}

int main()
{
    const int nopt = 1 << 23;
    float *in = mk<float>(2 * nopt), *o1, *o2;
    cudaMalloc(&o1, 2 * nopt * sizeof(float));
    cudaMalloc(&o2, 2 * nopt * sizeof(float));
    binomialOptionsKernel<<<2048, 256>>>(in, in + 4000, o1);
    show("binomialOptionsKernel", o1, 2048 * sizeof(float));
    BlackScholesGreeks<<<(nopt + 127) / 128, 128>>>((float2 *)o1, (float2 *)o2, (float2 *)in, 0.02f, 0.30f, nopt);
    show("BlackScholesGreeks.p", o1, 2 * nopt * sizeof(float));
    show("BlackScholesGreeks.g", o2, 2 * nopt * sizeof(float));
    mcAsianCall_rc_launch(1000, 128, 0, 0, in, o1, o2, 1024, 50);
    show("mcAsianCall.mean", o1, 1000 * sizeof(float));
    show("mcAsianCall.err", o2, 1000 * sizeof(float));
    thomas_cn<<<(60000 + 95) / 96, 96>>>(in, o1, 60000, 3);
    show("thomas_cn", o1, 60000 * GRID_PTS * sizeof(float));
    covariance<<<dim3((900 + 15) / 16, (900 + 15) / 16), dim3(16, 16)>>>(in, in + 77, o2, 1250, 900);
    show("covariance", o2, 900 * 900 * sizeof(float));
    return 0;
}
