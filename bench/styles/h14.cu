// h14: heavily templated "library" style
#include "shown.h"
#include <cstdint>
#include <climits>
#include <type_traits>
#include <vector>

namespace lib {

using index_t = std::ptrdiff_t;

template <typename T> struct view2d {
  T *ptr;
  index_t rows, cols, stride;
  __host__ __device__ T &operator()(index_t r, index_t c) const { return ptr[r * stride + c]; }
  __host__ __device__ bool contains(index_t r, index_t c) const { return r >= 0 && c >= 0 && r < rows && c < cols; }
};

// ---------------------------------------------------------------- border policies
struct border_clamp {
  template <typename T> __device__ static T get(const view2d<T> &v, index_t r, index_t c) {
    r = r < 0 ? 0 : (r >= v.rows ? v.rows - 1 : r);
    c = c < 0 ? 0 : (c >= v.cols ? v.cols - 1 : c);
    return v(r, c);
  }
};
struct border_wrap {
  template <typename T> __device__ static T get(const view2d<T> &v, index_t r, index_t c) {
    if (r < 0) r += v.rows; else if (r >= v.rows) r -= v.rows;
    if (c < 0) c += v.cols; else if (c >= v.cols) c -= v.cols;
    return v(r, c);
  }
};
template <int VAL> struct border_const {
  template <typename T> __device__ static T get(const view2d<T> &v, index_t r, index_t c) { return v.contains(r, c) ? v(r, c) : T(VAL); }
};

// ---------------------------------------------------------------- tile with halo as an object
template <typename T, int H, int W, int R> struct halo_tile {
  T data[H + 2 * R][W + 2 * R];
  template <class Border> __device__ void load(const view2d<T> &v, index_t r0, index_t c0) {
    for (int r = threadIdx.y; r < H + 2 * R; r += blockDim.y)
      for (int c = threadIdx.x; c < W + 2 * R; c += blockDim.x) data[r][c] = Border::get(v, r0 + r - R, c0 + c - R);
  }
  __device__ T at(int dr, int dc) const { return data[threadIdx.y + R + dr][threadIdx.x + R + dc]; }
};

struct op_laplace9 {
  static constexpr int radius = 1;
  template <class Tile> __device__ float operator()(const Tile &t) const {
    return 0.5f * (t.at(-1, 0) + t.at(1, 0) + t.at(0, -1) + t.at(0, 1)) + 0.25f * (t.at(-1, -1) + t.at(-1, 1) + t.at(1, -1) + t.at(1, 1)) - 3.f * t.at(0, 0);
  }
};
struct op_range {
  static constexpr int radius = 3;
  template <class Tile> __device__ int operator()(const Tile &t) const {
    int lo = INT_MAX, hi = INT_MIN;
    for (int r = -radius; r <= radius; ++r)
      for (int c = -radius; c <= radius; ++c) {
        int v = t.at(r, c);
        lo = v < lo ? v : lo;
        hi = v > hi ? v : hi;
      }
    return hi - lo;
  }
};
struct op_star_biharmonic {
  static constexpr int radius = 2;
  template <class Tile> __device__ double operator()(const Tile &t) const {
    return 20 * t.at(0, 0) - 8 * (t.at(1, 0) + t.at(-1, 0) + t.at(0, 1) + t.at(0, -1)) + 2 * (t.at(1, 1) + t.at(1, -1) + t.at(-1, 1) + t.at(-1, -1)) + t.at(2, 0) + t.at(-2, 0) + t.at(0, 2) + t.at(0, -2);
  }
};

template <class Op, class Border, typename T, int H, int W>
__global__ void apply_stencil(view2d<T> in, view2d<T> out, Op op) {
  __shared__ halo_tile<T, H, W, Op::radius> tile;
  const index_t r0 = blockIdx.y * (index_t)H, c0 = blockIdx.x * (index_t)W;
  tile.template load<Border>(in, r0, c0);
  __syncthreads();
  const index_t r = r0 + threadIdx.y, c = c0 + threadIdx.x;
  if (out.contains(r, c)) out(r, c) = op(tile);
}

// ---------------------------------------------------------------- block scan class
template <typename T, class Op, int THREADS> class block_scan {
public:
  struct storage { T v[2][THREADS]; };
  __device__ explicit block_scan(storage &s) : s_(s) {}
  __device__ T inclusive(T x, Op op) {
    int b = 0;
    s_.v[0][threadIdx.x] = x;
    __syncthreads();
#pragma unroll
    for (int o = 1; o < THREADS; o <<= 1) {
      T y = s_.v[b][threadIdx.x];
      if (threadIdx.x >= o) y = op(s_.v[b][threadIdx.x - o], y);
      s_.v[b ^ 1][threadIdx.x] = y;
      b ^= 1;
      __syncthreads();
    }
    T r = s_.v[b][threadIdx.x];
    __syncthreads();
    return r;
  }
private:
  storage &s_;
};
struct plus_op { template <class T> __device__ T operator()(const T &a, const T &b) const { return a + b; } };
struct seg { int flag; float v; };
struct seg_op { __device__ seg operator()(const seg &a, const seg &b) const { return seg{a.flag | b.flag, b.flag ? b.v : a.v + b.v}; } };

template <int THREADS, int ITEMS>
__global__ void scan_chunks(const uint32_t *in, uint32_t *out, size_t n) {
  using scan_t = block_scan<uint32_t, plus_op, THREADS>;
  __shared__ typename scan_t::storage st;
  __shared__ uint32_t stage[THREADS * ITEMS];
  const size_t base = (size_t)blockIdx.x * THREADS * ITEMS;
  for (int i = threadIdx.x; i < THREADS * ITEMS; i += THREADS) stage[i] = base + i < n ? in[base + i] : 0;
  __syncthreads();
  uint32_t loc[ITEMS], sum = 0;
#pragma unroll
  for (int k = 0; k < ITEMS; ++k) { loc[k] = sum; sum += stage[threadIdx.x * ITEMS + k]; }
  uint32_t inc = scan_t(st).inclusive(sum, plus_op{});
#pragma unroll
  for (int k = 0; k < ITEMS; ++k) stage[threadIdx.x * ITEMS + k] = inc - sum + loc[k];
  __syncthreads();
  for (int i = threadIdx.x; i < THREADS * ITEMS; i += THREADS)
    if (base + i < n) out[base + i] = stage[i];
}

template <int THREADS>
__global__ void segmented_scan(const float *v, const uint8_t *heads, float *out, unsigned n) {
  using scan_t = block_scan<seg, seg_op, THREADS>;
  __shared__ typename scan_t::storage st;
  unsigned i = blockIdx.x * THREADS + threadIdx.x;
  seg s{0, 0.f};
  if (i < n) s = seg{heads[i] == 3, v[i]};
  scan_t sc(st);
  seg r = sc.inclusive(s, seg_op{});
  if (i < n) out[i] = r.v;
}

// ---------------------------------------------------------------- reduction with functor pairs (mean / variance, Welford merge)
template <typename A> struct moments {
  A n, mean, m2;
  __device__ void push(A x) { n += 1; A d = x - mean; mean += d / n; m2 += d * (x - mean); }
  __device__ void merge(const moments &o) {
    A t = n + o.n;
    if (t == A(0)) return;
    A d = o.mean - mean;
    mean += d * (o.n / t);
    m2 += o.m2 + d * d * (n * o.n / t);
    n = t;
  }
};
template <typename T, typename A>
__global__ void row_moments(view2d<const T> in, A *mean, A *var) {
  __shared__ moments<A> sh[128];
  moments<A> m{0, 0, 0};
  for (index_t c = threadIdx.x; c < in.cols; c += blockDim.x) m.push(A(in(blockIdx.x, c)));
  sh[threadIdx.x] = m;
  __syncthreads();
  for (unsigned s = blockDim.x >> 1; s; s >>= 1) {
    if (threadIdx.x < s) sh[threadIdx.x].merge(sh[threadIdx.x + s]);
    __syncthreads();
  }
  if (threadIdx.x == 0) { mean[blockIdx.x] = sh[0].mean; var[blockIdx.x] = sh[0].m2 / sh[0].n; }
}

// ---------------------------------------------------------------- fixed-capacity containers per thread
template <typename T, int CAP> struct small_queue {
  T buf[CAP];
  int head = 0, count = 0;
  __device__ bool push(T v) { if (count == CAP) return false; buf[(head + count++) % CAP] = v; return true; }
  __device__ T pop() { T v = buf[head]; head = (head + 1) % CAP; --count; return v; }
  __device__ bool empty() const { return count == 0; }
};
// flood fill of one 8x8 cell: label count and the largest component
__global__ void component_cells(const uint8_t *img, int W, int H, uint16_t *out, int cw) {
  int cell = blockIdx.x * blockDim.x + threadIdx.x;
  int ncell = cw * (H / 8);
  if (cell >= ncell) return;
  const int x0 = cell % cw * 8, y0 = cell / cw * 8;
  uint8_t a[64];
  for (int k = 0; k < 64; ++k) a[k] = img[(size_t)(y0 + k / 8) * W + x0 + k % 8] > 5;
  small_queue<uint8_t, 64> q;
  int comps = 0, biggest = 0;
  for (int k = 0; k < 64; ++k) {
    if (!a[k]) continue;
    ++comps;
    int size = 0;
    a[k] = 0;
    q.push((uint8_t)k);
    while (!q.empty()) {
      int p = q.pop();
      ++size;
      const int px = p & 7, py = p >> 3;
      if (px > 0 && a[p - 1]) { a[p - 1] = 0; q.push(p - 1); }
      if (px < 7 && a[p + 1]) { a[p + 1] = 0; q.push(p + 1); }
      if (py > 0 && a[p - 8]) { a[p - 8] = 0; q.push(p - 8); }
      if (py < 7 && a[p + 8]) { a[p + 8] = 0; q.push(p + 8); }
    }
    if (size > biggest) biggest = size;
  }
  out[cell] = (uint16_t)(comps * 256 + biggest);
}

// ---------------------------------------------------------------- separable filter, both passes in one kernel
template <typename In, typename Acc, int R> struct taps { Acc w[2 * R + 1]; };
template <typename In, typename Acc, int R, int TX, int TY, class Border>
__global__ void separable_filter(view2d<In> in, view2d<In> out, taps<In, Acc, R> kx, taps<In, Acc, R> ky) {
  __shared__ In src[TY + 2 * R][TX + 2 * R];
  __shared__ Acc mid[TY + 2 * R][TX];
  const index_t r0 = blockIdx.y * (index_t)TY - R, c0 = blockIdx.x * (index_t)TX - R;
  for (int i = threadIdx.x; i < (TY + 2 * R) * (TX + 2 * R); i += TX) {
    const int r = i / (TX + 2 * R), c = i % (TX + 2 * R);
    src[r][c] = Border::get(in, r0 + r, c0 + c);
  }
  __syncthreads();
  for (int r = 0; r < TY + 2 * R; ++r) {
    Acc a = 0;
#pragma unroll
    for (int k = 0; k <= 2 * R; ++k) a += kx.w[k] * Acc(src[r][threadIdx.x + k]);
    mid[r][threadIdx.x] = a;
  }
  // each thread only re-reads its own column
  for (int r = 0; r < TY; ++r) {
    Acc a = 0;
#pragma unroll
    for (int k = 0; k <= 2 * R; ++k) a += ky.w[k] * mid[r + k][threadIdx.x];
    if (out.contains(r0 + R + r, c0 + R + threadIdx.x)) out(r0 + R + r, c0 + R + threadIdx.x) = In(a);
  }
}

// ---------------------------------------------------------------- implicit GEMM 3x3 convolution, 32 filters x 64 pixels per block
template <int BO, int BP, int BKK>
__global__ void implicit_gemm_conv3(const float *in, const float *w, float *out, int C, int H, int W, int OC) {
  static_assert(BO == 32 && BP == 64, "thread mapping");
  __shared__ float ws[BKK][BO + 1];
  __shared__ float xs[BKK][BP];
  const int K = C * 9, P = H * W;
  const int p0 = blockIdx.x * BP, o0 = blockIdx.y * BO;
  const int tp = threadIdx.x % 32, to = threadIdx.x / 32;  // 256 threads: 8 x 32, micro tile 4 x 2
  float acc[4][2] = {{0.f}};
  for (int k0 = 0; k0 < K; k0 += BKK) {
    for (int e = threadIdx.x; e < BO * BKK; e += 256) {
      const int o = e / BKK, k = e % BKK;
      ws[k][o] = (o0 + o < OC && k0 + k < K) ? w[(size_t)(o0 + o) * K + k0 + k] : 0.f;
    }
    for (int e = threadIdx.x; e < BP * BKK; e += 256) {
      const int k = e / BP, p = e % BP, kk = k0 + k, pix = p0 + p;
      float v = 0.f;
      if (kk < K && pix < P) {
        const int c = kk / 9, dy = kk % 9 / 3 - 1, dx = kk % 3 - 1;
        const int y = pix / W + dy, x = pix % W + dx;
        if (y >= 0 && y < H && x >= 0 && x < W) v = in[((size_t)c * H + y) * W + x];
      }
      xs[k][p] = v;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BKK; ++k)
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 2; ++j) acc[i][j] += ws[k][to * 4 + i] * xs[k][tp + 32 * j];
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 2; ++j) {
      const int o = o0 + to * 4 + i, p = p0 + tp + 32 * j;
      if (o < OC && p < P) out[(size_t)o * P + p] = acc[i][j];
    }
}

template <class Op, class Border, typename T, int H = 8, int W = 32>
void run_stencil(const char *name, int rows, int cols, int stride) {
  T *a = mk<T>((size_t)rows * stride), *b = mk<T>((size_t)rows * stride);
  view2d<T> in{a, rows, cols, stride}, out{b, rows, cols, stride};
  apply_stencil<Op, Border, T, H, W><<<dim3((cols + W - 1) / W, (rows + H - 1) / H), dim3(W, H)>>>(in, out, Op{});
  show(name, b, sizeof(T) * rows * stride);
  cudaFree(a);
  cudaFree(b);
}
}  // namespace lib

int main() {
  using namespace lib;
  run_stencil<op_laplace9, border_wrap, float>("stencil_laplace9_wrap", 3001, 3333, 3340);
  run_stencil<op_range, border_clamp, int, 16, 16>("stencil_range_clamp", 1999, 2111, 2111);
  run_stencil<op_star_biharmonic, border_const<1>, double, 4, 64>("stencil_biharm_const", 2050, 2001, 2016);
  {
    size_t n = (1u << 24) + 12345;
    uint32_t *a = mk<uint32_t>(n), *b = mk<uint32_t>(n);
    scan_chunks<128, 7><<<(n + 895) / 896, 128>>>(a, b, n);
    show("scan_chunks", b, 4 * n);
  }
  {
    unsigned n = (1u << 23) + 5;
    float *v = mk<float>(n), *o = mk<float>(n);
    uint8_t *h = mk<uint8_t>(n);
    segmented_scan<256><<<(n + 255) / 256, 256>>>(v, h, o, n);
    show("segmented_scan", o, 4ull * n);
  }
  {
    int r = 4001, c = 2999;
    float *a = mk<float>((size_t)r * 3000), *m = mk<float>(r), *s = mk<float>(r);
    row_moments<float, float><<<r, 128>>>(view2d<const float>{a, r, c, 3000}, m, s);
    show("row_mean", m, 4 * r);
    show("row_var", s, 4 * r);
  }
  {
    int W = 2403, H = 2050, cw = W / 8;
    std::vector<uint8_t> h((size_t)W * H);
    unsigned s = 31;
    for (auto &p : h) { s = s * 1664525u + 1013904223u; p = (s >> 24) % 12; }
    uint8_t *d = mk<uint8_t>(h.size());
    cudaMemcpy(d, h.data(), h.size(), cudaMemcpyHostToDevice);
    int nc = cw * (H / 8);
    uint16_t *o = mk<uint16_t>(nc);
    component_cells<<<(nc + 63) / 64, 64>>>(d, W, H, o, cw);
    show("component_cells", o, 2ull * nc);
  }
  {
    int r = 2222, c = 3100;
    short *a = mk<short>((size_t)r * c), *b = mk<short>((size_t)r * c);
    taps<short, float, 4> kx, ky;
    for (int i = 0; i < 9; i++) { kx.w[i] = (5 - abs(i - 4)) / 5.f; ky.w[i] = (i + 1) / 9.f; }
    separable_filter<short, float, 4, 64, 16, border_clamp><<<dim3((c + 63) / 64, (r + 15) / 16), 64>>>(view2d<short>{a, r, c, c}, view2d<short>{b, r, c, c}, kx, ky);
    show("separable_filter", b, 2ull * r * c);
  }
  {
    int C = 30, H = 113, W = 150, OC = 72;
    float *a = mk<float>((size_t)C * H * W), *w = mk<float>((size_t)OC * C * 9), *o = mk<float>((size_t)OC * H * W);
    implicit_gemm_conv3<32, 64, 16><<<dim3((H * W + 63) / 64, (OC + 31) / 32), 256>>>(a, w, o, C, H, W, OC);
    show("implicit_gemm_conv3", o, 4ull * OC * H * W);
  }
}
