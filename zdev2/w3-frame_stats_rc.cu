/* photometry: statistics of stamps and frames */
#include "h.h"
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

typedef unsigned long long u64;
typedef double real_t;

struct Moments { real_t m0, mx, my; };

enum { STAT_NT = 128, STAMP = 32 };

__global__ void frame_stats(const real_t *frame, long npix, real_t *lo, real_t *hi, real_t *tot)
{
    __shared__ real_t s_lo[STAT_NT], s_hi[STAT_NT], s_tot[STAT_NT];
    const int t = threadIdx.x;
    long p = (long)blockIdx.x * (STAT_NT * 4) + t;
    real_t l = 1e300, h = -1e300, s = 0.0;
    for (int k = 0; k < 4; k++, p += STAT_NT)
        if (p < npix) {
            real_t v = frame[p];
            l = fmin(l, v);
            h = fmax(h, v);
            s += v;
        }
    s_lo[t] = l; s_hi[t] = h; s_tot[t] = s;
    __syncthreads();
    for (int w = STAT_NT >> 1; w; w >>= 1) {
        if (t < w) {
            s_lo[t] = fmin(s_lo[t], s_lo[t + w]);
            s_hi[t] = fmax(s_hi[t], s_hi[t + w]);
            s_tot[t] = s_tot[t] + s_tot[t + w];
        }
        __syncthreads();
    }
    if (t == 0) {
        lo[blockIdx.x] = s_lo[0];
        hi[blockIdx.x] = s_hi[0];
        tot[blockIdx.x] = s_tot[0];
    }
}

static __global__ void frame_stats_rc(const real_t *frame, long npix,
                                      real_t *lo, real_t *hi, real_t *tot) {
  // Register cache: a thread stands for 1 thread of frame_stats.
  //   s_lo: stays in shared memory.
  //   s_hi: stays in shared memory.
  //   s_tot: stays in shared memory.
  //   Barriers stay: 'lo' is written and may be 'frame', which is read.
  //   The first warp has rounds for itself in which no other one does anything;
  //   the others wait behind the loop.
  __shared__ real_t s_lo[STAT_NT], s_hi[STAT_NT], s_tot[STAT_NT];
  const int t = threadIdx.x;
  long p = (long)blockIdx.x * (STAT_NT * 4) + t;
  real_t l = 1e300, h = -1e300, s = 0.0;
  for (int k = 0; k < 4; k++, p += STAT_NT)
    if (p < npix) {
      real_t v = frame[p];
      l = fmin(l, v);
      h = fmax(h, v);
      s += v;
    }
  s_lo[t] = l;
  s_hi[t] = h;
  s_tot[t] = s;
  __syncthreads();
  for (int w = STAT_NT >> 1; w > 32; w >>= 1) {
    if (t < w) {
      s_lo[t] = fmin(s_lo[t], s_lo[t + w]);
      s_hi[t] = fmax(s_hi[t], s_hi[t + w]);
      s_tot[t] = s_tot[t] + s_tot[t + w];
    }
    __syncthreads();
  }
  if (threadIdx.x < 32) {
#pragma unroll
    for (int w = 32; w; w >>= 1) {
      if (t < w) {
        s_lo[t] = fmin(s_lo[t], s_lo[t + w]);
        s_hi[t] = fmax(s_hi[t], s_hi[t + w]);
        s_tot[t] = s_tot[t] + s_tot[t + w];
      }
      __syncwarp();
    }
  }
  __syncthreads();
  if (t == 0) {
    lo[blockIdx.x] = s_lo[0];
    hi[blockIdx.x] = s_hi[0];
    tot[blockIdx.x] = s_tot[0];
  }
}

// Launches the register-cache form of frame_stats where it applies, else
// frame_stats itself.
static inline void frame_stats_rc_launch(dim3 rc_grid, dim3 rc_block,
                                         size_t rc_shared,
                                         cudaStream_t rc_stream,
                                         const real_t *frame, long npix,
                                         real_t *lo, real_t *hi, real_t *tot) {
#ifdef RCACHE_VERIFY
  ::rcache::device::verification rc_verification(
      "frame_stats", "frame, npix, lo, hi, tot", rc_grid, rc_block, rc_shared,
      rc_stream, frame, npix, lo, hi, tot);
#endif
  if ((rc_block.x == 128 && rc_block.y == 1 && rc_block.z == 1) &&
      (rc_grid.x != 0 && rc_grid.y != 0 && rc_grid.z != 0) &&
      (rc_grid.x <= 0x7fffffffu / 128) &&
      ::rcache::device::launches<256>(frame_stats, rc_grid, rc_block,
                                      rc_shared) &&
      ::rcache::device::holds(frame_stats_rc, rc_shared)
#ifdef RCACHE_VERIFY
      && rc_verification.save()
#endif
  ) {
    frame_stats_rc<<<rc_grid, dim3(128u, 1u, 1u), rc_shared, rc_stream>>>(
        frame, npix, lo, hi, tot);

#ifdef RCACHE_VERIFY
    rc_verification.original();
#else
    return;
#endif
  }

  frame_stats<<<rc_grid, rc_block, rc_shared, rc_stream>>>(frame, npix, lo, hi,
                                                           tot);
}

__device__ inline void addMoments(volatile float *a, int i, int j) { a[i] += a[j]; }

/* one block of 16x16 a stamp of 32x32: centroid by first moments */
__global__ void stamp_centroid(const float *stamps, float sky, float *cx, float *cy)
{
    __shared__ float f0[256];
    __shared__ float fx[256];
    __shared__ float fy[256];
    int id = threadIdx.y * 16 + threadIdx.x;
    const float *st = stamps + (size_t)blockIdx.x * STAMP * STAMP;
    float a = 0, b = 0, c = 0;
    for (int y = threadIdx.y; y < STAMP; y += 16)
        for (int x = threadIdx.x; x < STAMP; x += 16) {
            float v = st[y * STAMP + x] - sky;
            a += v; b += v * x; c += v * y;
        }
    f0[id] = a; fx[id] = b; fy[id] = c;
    __syncthreads();
    for (int d = 128; d > 0; d /= 2) {
        if (id < d) {
            f0[id] += f0[id + d];
            fx[id] += fx[id + d];
            fy[id] += fy[id + d];
        }
        __syncthreads();
    }
    if (id == 0) {
        cx[blockIdx.x] = fx[0] / f0[0];
        cy[blockIdx.x] = fy[0] / f0[0];
    }
}

/* interleaved addressing, as in the first slides */
__global__ void peak_of_block(const int *adu, int *peak, unsigned n)
{
    extern __shared__ int sh_peak[];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    sh_peak[threadIdx.x] = i < n ? adu[i] : -2147483647;
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        if (threadIdx.x % (2 * s) == 0) {
            int o = sh_peak[threadIdx.x + s];
            if (o > sh_peak[threadIdx.x]) sh_peak[threadIdx.x] = o;
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) peak[blockIdx.x] = sh_peak[0];
}

static void digest(const char *n, const void *d, size_t b)
{
    unsigned char *h = (unsigned char *)malloc(b);
    u64 k = 14695981039346656037ULL;
    cudaMemcpy(h, d, b, cudaMemcpyDeviceToHost);
    for (size_t i = 0; i < b; i++) { k ^= h[i]; k *= 1099511628211ULL; }
    printf("%-10s %016llx\n", n, k);
    free(h);
}

int main(void)
{
    const long npix = 2048L * 4100;
    const int nb = (int)((npix + STAT_NT * 4 - 1) / (STAT_NT * 4));
    real_t *fr = mk<real_t>(npix), *lo, *hi, *tot;
    cudaMalloc(&lo, nb * sizeof(real_t));
    cudaMalloc(&hi, nb * sizeof(real_t));
    cudaMalloc(&tot, nb * sizeof(real_t));
    frame_stats_rc_launch(nb, STAT_NT, 0, 0, fr, npix, lo, hi, tot);

    const int ns = 9000;
    float *st = mk<float>((size_t)ns * STAMP * STAMP), *cx, *cy;
    cudaMalloc(&cx, ns * 4);
    cudaMalloc(&cy, ns * 4);
    stamp_centroid<<<ns, dim3(16, 16)>>>(st, 1.5f, cx, cy);

    const unsigned n = 6000000;
    int *adu = mk<int>(n), *pk;
    cudaMalloc(&pk, (n + 511) / 512 * 4);
    peak_of_block<<<(n + 511) / 512, 512, 512 * sizeof(int)>>>(adu, pk, n);
    cudaDeviceSynchronize();
    digest("lo", lo, nb * sizeof(real_t));
    digest("hi", hi, nb * sizeof(real_t));
    digest("tot", tot, nb * sizeof(real_t));
    digest("cx", cx, ns * 4);
    digest("cy", cy, ns * 4);
    digest("peak", pk, (n + 511) / 512 * 4);
    return 0;
}
