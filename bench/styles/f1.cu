// tree reductions in shared memory, many idioms
#include "shown.h"

// ---- lecture slide version: interleaved addressing with modulo ----
__global__ void reduce0(int *g_idata, int *g_odata, unsigned int n)
{
    extern __shared__ int sdata[];

    // each thread loads one element from global to shared mem
    unsigned int tid = threadIdx.x;
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    sdata[tid] = (i < n) ? g_idata[i] : 0;
    __syncthreads();

    // do reduction in shared mem
    for (unsigned int s = 1; s < blockDim.x; s *= 2) {
        if (tid % (2 * s) == 0) {
            sdata[tid] += sdata[tid + s];
        }
        __syncthreads();
    }

    // write result for this block to global mem
    if (tid == 0) g_odata[blockIdx.x] = sdata[0];
}

// ---- sequential addressing, first add during load, any element type ----
template <typename real_t>
__global__ void partialSum(const real_t *in, real_t *out, const int N) {
  __shared__ real_t cache[512];
  int cacheIndex = threadIdx.x;
  int pos = 2 * blockIdx.x * blockDim.x + threadIdx.x;
  real_t temp = 0;
  if (pos < N)
    temp = in[pos];
  if (pos + (int)blockDim.x < N)
    temp += in[pos + blockDim.x];
  cache[cacheIndex] = temp;
  __syncthreads();
  int i = blockDim.x / 2;
  while (i != 0) {
    if (cacheIndex < i)
      cache[cacheIndex] += cache[cacheIndex + i];
    __syncthreads();
    i /= 2;
  }
  if (cacheIndex == 0)
    out[blockIdx.x] = cache[0];
}

// ---- completely unrolled through the block size, last warp without barriers ----
template <unsigned int blockSize>
__global__ void reduce6(const float *__restrict__ x, float *__restrict__ y, unsigned int n)
{
    __shared__ float sm[blockSize];
    const unsigned int tid = threadIdx.x;
    const unsigned int gridSize = blockSize * 2 * gridDim.x;
    float mySum = 0.f;
    for (unsigned int i = blockIdx.x * blockSize * 2 + tid; i < n; i += gridSize) {
        mySum += x[i];
        if (i + blockSize < n) mySum += x[i + blockSize];
    }
    sm[tid] = mySum;
    __syncthreads();

    if (blockSize >= 512) { if (tid < 256) { sm[tid] = mySum = mySum + sm[tid + 256]; } __syncthreads(); }
    if (blockSize >= 256) { if (tid < 128) { sm[tid] = mySum = mySum + sm[tid + 128]; } __syncthreads(); }
    if (blockSize >= 128) { if (tid <  64) { sm[tid] = mySum = mySum + sm[tid +  64]; } __syncthreads(); }

    if (tid < 32) {
        mySum += sm[tid + 32];
        for (int offset = 16; offset > 0; offset >>= 1)
            mySum += __shfl_down_sync(0xffffffffu, mySum, offset);
    }
    if (tid == 0) y[blockIdx.x] = mySum;
}

// ---- arg min: value and index side by side ----
#define BLK 256
__global__ void blockArgMin(const float* cost, float* bestCost, int* bestIdx, int len, int perBlock)
{
  __shared__ float  sVal[BLK];
  __shared__ int    sIdx[BLK];

  int begin = blockIdx.x * perBlock;
  int end   = begin + perBlock;
  if (end > len) end = len;

  float v = 3.0e38f;
  int   k = -1;
  for (int j = begin + threadIdx.x; j < end; j += BLK)
  {
    float c = cost[j];
    if (c < v) { v = c; k = j; }
  }
  sVal[threadIdx.x] = v;
  sIdx[threadIdx.x] = k;

  for (int half = BLK / 2; half >= 1; half = half / 2)
  {
    __syncthreads();
    if (threadIdx.x < half)
    {
      float other = sVal[threadIdx.x + half];
      int   oi    = sIdx[threadIdx.x + half];
      if (other < sVal[threadIdx.x] || (other == sVal[threadIdx.x] && oi >= 0 && oi < sIdx[threadIdx.x]))
      {
        sVal[threadIdx.x] = other;
        sIdx[threadIdx.x] = oi;
      }
    }
  }
  if (threadIdx.x == 0)
  {
    bestCost[blockIdx.x] = sVal[0];
    bestIdx[blockIdx.x]  = sIdx[0];
  }
}

// ---- dot product and norm at once, dynamic memory shared by two arrays, strided indexing ----
__global__ void dot_and_norm(const double *a, const double *b, double *dot, double *nrm, size_t n)
{
	extern __shared__ double buf[];
	double *pd = buf;
	double *pn = buf + blockDim.x;
	size_t  gid = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
	double  va = gid < n ? a[gid] : 0.0;
	double  vb = gid < n ? b[gid] : 0.0;

	pd[threadIdx.x] = va * vb;
	pn[threadIdx.x] = va * va;
	__syncthreads();
	for (unsigned stride = 1; stride < blockDim.x; stride <<= 1) {
		unsigned index = 2 * stride * threadIdx.x;
		if (index + stride < blockDim.x) {
			pd[index] += pd[index + stride];
			pn[index] += pn[index + stride];
		}
		__syncthreads();
	}
	if (threadIdx.x == 0) {
		dot[blockIdx.x] = pd[0];
		nrm[blockIdx.x] = pn[0];
	}
}

// ---- bounding boxes of point groups: a struct with an operator ----
struct Box2 {
    float lox, loy, hix, hiy;
    __device__ void merge(const Box2 &o)
    {
        lox = fminf(lox, o.lox);
        loy = fminf(loy, o.loy);
        hix = fmaxf(hix, o.hix);
        hiy = fmaxf(hiy, o.hiy);
    }
};

namespace geo {
constexpr int kThreads = 192;   // not a power of two

__global__ void bounding_boxes(const float2 *pts, Box2 *boxes, int npts)
{
    __shared__ Box2 stage[kThreads];
    const int t = threadIdx.x;
    const int id = blockIdx.x * kThreads + t;
    const float2 p = pts[id < npts ? id : npts - 1];
    stage[t] = Box2{p.x, p.y, p.x, p.y};
    __syncthreads();
    int active = kThreads;
    while (active > 1) {
        int upper = (active + 1) >> 1;
        if (t + upper < active)
            stage[t].merge(stage[t + upper]);
        __syncthreads();
        active = upper;
    }
    if (t == 0) boxes[blockIdx.x] = stage[0];
}
}  // namespace geo

static float *noise(size_t n, unsigned seed)
{
    float *h = (float *)malloc(n * 4), *d;
    unsigned s = seed;
    for (size_t i = 0; i < n; i++) { s = s * 1664525u + 1013904223u; h[i] = (float)(s >> 9) / 8388608.0f - 0.5f; }
    cudaMalloc(&d, n * 4);
    cudaMemcpy(d, h, n * 4, cudaMemcpyHostToDevice);
    free(h);
    return d;
}

int main()
{
    {
        unsigned n = (1u << 25) - 13;
        unsigned grid = (n + 255) / 256;
        int *in = mk<int>(n), *out = mk<int>(grid);
        reduce0<<<grid, 256, 256 * sizeof(int)>>>(in, out, n);
        show("reduce0", out, grid * sizeof(int));
    }
    {
        int n = (1 << 25) - 1001;
        int grid = (n + 1023) / 1024;
        float *in = noise(n, 7), *out = mk<float>(grid);
        partialSum<float><<<grid, 512>>>(in, out, n);
        show("partialSum<float>", out, grid * sizeof(float));
        int m = 1 << 24;
        double *din = mk<double>(m), *dout = mk<double>(m / 256);
        partialSum<double><<<m / 256, 128>>>(din, dout, m);
        show("partialSum<double>", dout, (m / 256) * sizeof(double));
        reduce6<256><<<8192, 256>>>(in, out, n);
        show("reduce6<256>", out, 8192 * sizeof(float));
        reduce6<512><<<4096, 512>>>(in, out, n);
        show("reduce6<512>", out, 4096 * sizeof(float));
        int per = 1024, g = (n + per - 1) / per;
        float *bc = mk<float>(g);
        int *bi = mk<int>(g);
        blockArgMin<<<g, BLK>>>(in, bc, bi, n, per);
        show("blockArgMin.cost", bc, g * sizeof(float));
        show("blockArgMin.idx", bi, g * sizeof(int));
        int np = (n - 1) / 2, gb = (np + geo::kThreads - 1) / geo::kThreads;
        Box2 *bx = (Box2 *)mk<float>(4 * (size_t)gb);
        geo::bounding_boxes<<<gb, geo::kThreads>>>((const float2 *)in, bx, np);
        show("bounding_boxes", bx, gb * sizeof(Box2));
        size_t nd = m - 55;
        double *b2 = mk<double>(m), *o1 = mk<double>(m / 256), *o2 = mk<double>(m / 256);
        dot_and_norm<<<m / 256, 256, 2 * 256 * sizeof(double)>>>(din, b2, o1, o2, nd);
        show("dot_and_norm.dot", o1, (m / 256) * sizeof(double));
        show("dot_and_norm.nrm", o2, (m / 256) * sizeof(double));
    }
    return 0;
}
