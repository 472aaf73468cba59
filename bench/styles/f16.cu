// odds and ends: cooperative groups, temp storage classes, lambdas, carved dynamic memory
#include "shown.h"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

/* 1. cooperative groups: a tile of 32 after a stage in shared memory */
__device__ double warp_sum(cg::thread_block_tile<32> g, double v)
{
    for (int i = g.size() / 2; i > 0; i /= 2)
        v += g.shfl_down(v, i);
    return v;
}

__global__ void cg_moments(const float *data, double *m1, double *m2, int n)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    __shared__ double part[2][256];
    const unsigned rank = block.thread_rank();
    double a = 0.0, b = 0.0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        double x = data[i];
        a += x;
        b += x * x;
    }
    part[0][rank] = a;
    part[1][rank] = b;
    cg::sync(block);
    if (warp.meta_group_rank() < 2) {
        // warp 0 does the first moment, warp 1 the second one
        const double *p = part[warp.meta_group_rank()];
        double s = 0.0;
        for (unsigned k = warp.thread_rank(); k < block.size(); k += warp.size())
            s += p[k];
        s = warp_sum(warp, s);
        if (warp.thread_rank() == 0)
            (warp.meta_group_rank() ? m2 : m1)[blockIdx.x] = s;
    }
}

/* 2. a block-wide primitive with TempStorage, blocked to striped exchange, union of two stages */
namespace mylib {
template <typename T, int BLOCK_THREADS, int ITEMS>
class BlockExchange {
 public:
  struct TempStorage { T buff[BLOCK_THREADS * ITEMS + (BLOCK_THREADS * ITEMS) / 32]; };
  __device__ __forceinline__ explicit BlockExchange(TempStorage& s) : temp(s) {}
  __device__ __forceinline__ void StripedToBlocked(T (&items)[ITEMS]) {
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) temp.buff[pad(i * BLOCK_THREADS + threadIdx.x)] = items[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) items[i] = temp.buff[pad(threadIdx.x * ITEMS + i)];
  }
  __device__ __forceinline__ void BlockedToStriped(T (&items)[ITEMS]) {
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) temp.buff[pad(threadIdx.x * ITEMS + i)] = items[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) items[i] = temp.buff[pad(i * BLOCK_THREADS + threadIdx.x)];
  }
 private:
  static __device__ __forceinline__ int pad(int k) { return k + (k >> 5); }
  TempStorage& temp;
};

template <typename T, int BLOCK_THREADS, int ITEMS, class Op>
__global__ void AdjacentTransform(const T* d_in, T* d_out, Op op) {
  typedef BlockExchange<T, BLOCK_THREADS, ITEMS> Exchange;
  __shared__ union { typename Exchange::TempStorage ex; T edge[BLOCK_THREADS]; } smem;
  const size_t base = (size_t)blockIdx.x * BLOCK_THREADS * ITEMS;
  T items[ITEMS];
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) items[i] = d_in[base + i * BLOCK_THREADS + threadIdx.x];
  Exchange(smem.ex).StripedToBlocked(items);
  __syncthreads();
  smem.edge[threadIdx.x] = items[ITEMS - 1];
  __syncthreads();
  T left = threadIdx.x ? smem.edge[threadIdx.x - 1] : items[0];
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) {
    T self = items[i];
    items[i] = op(left, self);
    left = self;
  }
  __syncthreads();
  Exchange(smem.ex).BlockedToStriped(items);
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) d_out[base + i * BLOCK_THREADS + threadIdx.x] = items[i];
}
struct Delta { template <class T> __device__ T operator()(T l, T r) const { return r - l; } };
}  // namespace mylib

/* 3. one dynamic buffer carved in four arrays of different types */
struct Particle { double x, y; float q; int cell; };
__global__ void carve(const double *px, const double *py, const float *q, double *field, int *near_count, int n, int chunk, double cut2)
{
	extern __shared__ __align__(16) unsigned char dyn[];
	double *sx = (double *)dyn;
	double *sy = sx + chunk;
	float  *sq = (float *)(sy + chunk);
	unsigned char *flag = (unsigned char *)(sq + chunk);

	const int first = blockIdx.x * chunk;
	const int m = min(chunk, n - first);
	for (int k = threadIdx.x; k < m; k += blockDim.x) {
		sx[k] = px[first + k];
		sy[k] = py[first + k];
		sq[k] = q[first + k];
		flag[k] = sq[k] > 6.f;
	}
	__syncthreads();
	for (int k = threadIdx.x; k < m; k += blockDim.x) {
		double e = 0.0;
		int c = 0;
		for (int j = 0; j < m; j++) {
			double dx = sx[k] - sx[j], dy = sy[k] - sy[j];
			double r2 = dx * dx + dy * dy + 0.25;
			if (flag[j]) e += sq[j] / r2;
			if (r2 < cut2) c++;
		}
		field[first + k] = e;
		near_count[first + k] = c;
	}
}

/* 4. 2-D tiles handed to helper functions by pointer to row and by reference; lambdas inside the kernel */
#define N_ 16
__device__ void load_tile(float t[N_][N_ + 1], const float *g, int ld) { t[threadIdx.y][threadIdx.x] = g[threadIdx.y * ld + threadIdx.x]; }
__device__ float row_dot(const float (*a)[N_ + 1], const float (*b)[N_ + 1], int i, int j)
{
    float s = 0.f;
    for (int k = 0; k < N_; k++) s += a[i][k] * b[k][j];
    return s;
}
template <class F> __device__ void each_pass(int passes, F f)
{
    for (int p = 0; p < passes; ++p) { f(p); __syncthreads(); }
}

__global__ void tile_powers(const float *mats, float *result, int power)
{
    __shared__ float base[N_][N_ + 1];
    __shared__ float acc[2][N_][N_ + 1];
    const int i = threadIdx.y, j = threadIdx.x;
    const float *src = mats + (size_t)blockIdx.x * N_ * N_;
    load_tile(base, src, N_);
    load_tile(acc[0], src, N_);
    __syncthreads();
    auto damp = [](float v) { return v / (1.0f + fabsf(v)); };
    each_pass(power, [&](int p) {
        acc[(p + 1) & 1][i][j] = damp(row_dot(acc[p & 1], base, i, j));
    });
    result[(size_t)blockIdx.x * N_ * N_ + i * N_ + j] = acc[power & 1][i][j];
}

/* 5. double buffering with register prefetch, matrix times vector by row blocks; block walks over the columns */
template <int ROWS, int CHUNK>
__global__ void __launch_bounds__(ROWS) gemv_pipelined(const float *__restrict__ A, const float *__restrict__ x, float *__restrict__ y, int m, int n)
{
    // A is column major, so neighbouring threads read neighbouring rows; x is staged in two buffers
    __shared__ float xs[2][CHUNK];
    const int row = blockIdx.x * ROWS + threadIdx.x;
    float sum = 0.0f;
    float pre = 0.0f;
    if (threadIdx.x < CHUNK) xs[0][threadIdx.x] = threadIdx.x < n ? x[threadIdx.x] : 0.0f;
    __syncthreads();
    int buf = 0;
    for (int c = 0; c < n; c += CHUNK) {
        const bool more = c + CHUNK < n;
        if (more && threadIdx.x < CHUNK)
            pre = c + CHUNK + threadIdx.x < n ? x[c + CHUNK + threadIdx.x] : 0.0f;
        const int lim = min(CHUNK, n - c);
        if (row < m)
            for (int k = 0; k < lim; ++k)
                sum += A[(size_t)(c + k) * m + row] * xs[buf][k];
        if (more && threadIdx.x < CHUNK) xs[buf ^ 1][threadIdx.x] = pre;
        buf ^= 1;
        __syncthreads();
    }
    if (row < m) y[row] = sum;
}

/* 6. grid-stride over tiles, column sums by a shared stage and then shuffles across the transposed tile */
class ColumnSummer
{
public:
    __device__ ColumnSummer(float (*tile)[33]) : tile_(tile) {}
    __device__ void put(int r, int c, float v) { tile_[r][c] = v; }
    __device__ float columnOf(int warp, int lane) const
    {
        float v = tile_[lane][warp];
        for (int d = 16; d >= 1; d >>= 1) v += __shfl_xor_sync(0xffffffff, v, d);
        return v;
    }
private:
    float (*tile_)[33];
};

__global__ void tileColumnSums(const float *in, float *sums, int tilesX, int tilesY, int pitch)
{
    __shared__ float tile[32][33];
    ColumnSummer cs(tile);
    const int lane = threadIdx.x, w = threadIdx.y;
    for (int t = blockIdx.x; t < tilesX * tilesY; t += gridDim.x) {
        const int bx = t % tilesX, by = t / tilesX;
        for (int r = w; r < 32; r += blockDim.y)
            cs.put(r, lane, in[(size_t)(by * 32 + r) * pitch + bx * 32 + lane]);
        __syncthreads();
        for (int c = w; c < 32; c += blockDim.y) {
            float s = cs.columnOf(c, lane);
            if (lane == 0) sums[(size_t)by * pitch + bx * 32 + c] = s;
        }
        __syncthreads();
    }
}

int main()
{
    {
        int n = (1 << 25) - 3;
        float *a = mk<float>(n);
        double *m1 = mk<double>(2048), *m2 = mk<double>(2048);
        cg_moments<<<2048, 256>>>(a, m1, m2, n);
        show("cg_moments.m1", m1, 2048 * 8);
        show("cg_moments.m2", m2, 2048 * 8);
        float *o = mk<float>(n + 3);
        a = mk<float>(n + 3);
        mylib::AdjacentTransform<float, 128, 7><<<(1 << 25) / (128 * 7), 128>>>(a, o, mylib::Delta());
        show("AdjacentTransform<float,128,7>", o, (size_t)((1 << 25) / 896) * 896 * 4);
        mylib::AdjacentTransform<int, 256, 4><<<(1 << 25) / 1024, 256>>>((const int *)a, (int *)o, mylib::Delta());
        show("AdjacentTransform<int,256,4>", o, (size_t)(1 << 25) * 4);
    }
    {
        int n = 1000100, chunk = 300;
        double *x = mk<double>(n), *y = mk<double>(n + 13) + 13, *f = mk<double>(n);
        float *q = mk<float>(n);
        int *c = mk<int>(n);
        carve<<<(n + chunk - 1) / chunk, 128, chunk * (2 * sizeof(double) + sizeof(float) + 1)>>>(x, y, q, f, c, n, chunk, 9.0);
        show("carve.field", f, n * 8);
        show("carve.near", c, n * 4);
    }
    {
        int b = 30000;
        float *a = mk<float>((size_t)b * 256), *o = mk<float>((size_t)b * 256);
        tile_powers<<<b, dim3(16, 16)>>>(a, o, 5);
        show("tile_powers", o, (size_t)b * 256 * 4);
    }
    {
        int m = 20000, n = 1500;
        float *A = mk<float>((size_t)m * n), *x = mk<float>(n), *y = mk<float>(m);
        gemv_pipelined<128, 64><<<(m + 127) / 128, 128>>>(A, x, y, m, n);
        show("gemv_pipelined<128,64>", y, m * 4);
    }
    {
        int w = 4096, h = 4096;
        float *a = mk<float>((size_t)w * h), *s = mk<float>((size_t)w * (h / 32));
        tileColumnSums<<<1056, dim3(32, 8)>>>(a, s, w / 32, h / 32, w);
        show("tileColumnSums", s, (size_t)w * (h / 32) * 4);
    }
    return 0;
}
