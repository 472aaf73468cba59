// l2 -- course work: dot products, stencils, sorts and scans as handed in by students.
#include "shown.h"
#include <cmath>

#define imin(a, b) ((a) < (b) ? (a) : (b))

template <typename T>
static T* make_random(size_t count, int modulus, unsigned seed)
{
	T* host = (T*)malloc(count * sizeof(T));
	unsigned x = seed | 1u;
	for (size_t i = 0; i < count; i++) {
		x ^= x << 13; x ^= x >> 17; x ^= x << 5;
		host[i] = (T)(x % (unsigned)modulus);
	}
	T* dev;
	cudaMalloc((void**)&dev, count * sizeof(T));
	cudaMemcpy(dev, host, count * sizeof(T), cudaMemcpyHostToDevice);
	free(host);
	return dev;
}

const int threadsPerBlock = 256;

// class 1: dot product, while loop
__global__ void dot(int size, float *a, float *b, float *c)
{
	__shared__ float cache[threadsPerBlock];
	int tid = threadIdx.x + blockIdx.x * blockDim.x;
	int cacheIndex = threadIdx.x;

	float temp = 0;
	while (tid < size) {
		temp += a[tid] * b[tid];
		tid += blockDim.x * gridDim.x;
	}
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
		c[blockIdx.x] = cache[0];
}

// class 1: sums of columns, tree along y of a 32x16 block
#define BX 32
#define BY 16
__global__ void columnSums(const int* mat, int* sums, int rows, int cols, int rowsPerBlock)
{
	__shared__ int part[BY][BX];
	int col = blockIdx.x * BX + threadIdx.x;
	int r0 = blockIdx.y * rowsPerBlock;
	int acc = 0;
	if (col < cols)
		for (int r = threadIdx.y; r < rowsPerBlock && r0 + r < rows; r += BY)
			acc += mat[(r0 + r) * cols + col];
	part[threadIdx.y][threadIdx.x] = acc;
	__syncthreads();
	for (int half = BY / 2; half > 0; half /= 2) {
		if (threadIdx.y < half)
			part[threadIdx.y][threadIdx.x] += part[threadIdx.y + half][threadIdx.x];
		__syncthreads();
	}
	if (threadIdx.y == 0 && col < cols)
		sums[blockIdx.y * cols + col] = part[0][threadIdx.x];
}

// class 5: 1-D heat equation, eight steps a launch, in place between two barriers
#define HEAT_STEPS 8
#define HEAT_BS 256
__global__ void heat1D(const float* u, float* unew, int n, float r)
{
	__shared__ float t[HEAT_BS];
	int tx = threadIdx.x;
	int gi = blockIdx.x * (HEAT_BS - 2 * HEAT_STEPS) + tx - HEAT_STEPS;
	t[tx] = (gi >= 0 && gi < n) ? u[gi] : 0.0f;
	__syncthreads();
	for (int s = 0; s < HEAT_STEPS; s++) {
		float v = t[tx];
		if (tx > 0 && tx < HEAT_BS - 1 && gi > 0 && gi < n - 1)
			v = t[tx] + r * (t[tx - 1] - 2.0f * t[tx] + t[tx + 1]);
		__syncthreads();
		t[tx] = v;
		__syncthreads();
	}
	if (tx >= HEAT_STEPS && tx < HEAT_BS - HEAT_STEPS && gi < n)
		unew[gi] = t[tx];
}

// class 5: game of life, 16x16 tile, four generations, two arrays
__global__ void lifeTile(const int* world, int* next, int width, int height)
{
	__shared__ int cells[16][16];
	__shared__ int fresh[16][16];
	int tx = threadIdx.x, ty = threadIdx.y;
	int x = blockIdx.x * 8 + tx - 4;
	int y = blockIdx.y * 8 + ty - 4;
	int wx = (x + width) % width, wy = (y + height) % height;
	cells[ty][tx] = world[wy * width + wx];
	__syncthreads();
	for (int gen = 0; gen < 4; gen++) {
		int alive = 0;
		if (tx > 0 && tx < 15 && ty > 0 && ty < 15) {
			int count = cells[ty - 1][tx - 1] + cells[ty - 1][tx] + cells[ty - 1][tx + 1]
				+ cells[ty][tx - 1] + cells[ty][tx + 1]
				+ cells[ty + 1][tx - 1] + cells[ty + 1][tx] + cells[ty + 1][tx + 1];
			alive = (count == 3) || (count == 2 && cells[ty][tx]);
		}
		fresh[ty][tx] = alive;
		__syncthreads();
		cells[ty][tx] = fresh[ty][tx];
		__syncthreads();
	}
	if (tx >= 4 && tx < 12 && ty >= 4 && ty < 12)
		next[y * width + x] = cells[ty][tx];
}

// class 4: odd-even transposition sort, one key a thread
__global__ void oddEvenSort(int* data, int n)
{
	__shared__ int s[256];
	int i = threadIdx.x;
	s[i] = data[blockIdx.x * n + i];
	__syncthreads();
	for (int phase = 0; phase < n; phase++) {
		if ((i % 2) == (phase % 2) && i + 1 < n) {
			if (s[i] > s[i + 1]) {
				int tmp = s[i];
				s[i] = s[i + 1];
				s[i + 1] = tmp;
			}
		}
		__syncthreads();
	}
	data[blockIdx.x * n + i] = s[i];
}

// class 3: Hillis-Steele, exclusive, double buffer in one dynamic array
__global__ void scanNaive(float *g_odata, float *g_idata, int n)
{
	extern __shared__ float temp[];
	int thid = threadIdx.x;
	int pout = 0, pin = 1;
	g_idata += (size_t)blockIdx.x * n;
	g_odata += (size_t)blockIdx.x * n;
	temp[pout * n + thid] = (thid > 0) ? g_idata[thid - 1] : 0;
	__syncthreads();
	for (int offset = 1; offset < n; offset *= 2) {
		pout = 1 - pout;
		pin = 1 - pout;
		if (thid >= offset)
			temp[pout * n + thid] = temp[pin * n + thid] + temp[pin * n + thid - offset];
		else
			temp[pout * n + thid] = temp[pin * n + thid];
		__syncthreads();
	}
	g_odata[thid] = temp[pout * n + thid];
}

__device__ void reverseRange(int* s, int first, int last)
{
	int len = last - first;
	int t = threadIdx.x;
	if (t < len / 2) {
		int a = s[first + t];
		s[first + t] = s[last - 1 - t];
		s[last - 1 - t] = a;
	}
	__syncthreads();
}

// class 4: rotation by three reversals
__global__ void rotateByReversal(int* d, int n, int k)
{
	extern __shared__ int sr[];
	size_t base = (size_t)blockIdx.x * n;
	int t = threadIdx.x;
	sr[t] = d[base + t];
	__syncthreads();
	reverseRange(sr, 0, k);
	reverseRange(sr, k, n);
	reverseRange(sr, 0, n);
	d[base + t] = sr[t];
}

// class 6: long polynomial times a short one, operands staged in tiles of 128
#define PT 128
__global__ void polyMul(const int* p, int np, const int* q, int nq, int* r)
{
	__shared__ int ps[2 * PT];
	__shared__ int qs[PT];
	int k0 = blockIdx.x * PT;
	int t = threadIdx.x;
	int sum = 0;
	for (int j0 = 0; j0 < nq; j0 += PT) {
		int lo = k0 - j0 - PT;
		int i1 = lo + t, i2 = lo + PT + t;
		ps[t] = (i1 >= 0 && i1 < np) ? p[i1] : 0;
		ps[t + PT] = (i2 >= 0 && i2 < np) ? p[i2] : 0;
		qs[t] = (j0 + t < nq) ? q[j0 + t] : 0;
		__syncthreads();
		for (int j = 0; j < PT; j++)
			sum += qs[j] * ps[PT + t - j];
		__syncthreads();
	}
	if (k0 + t < np + nq - 1)
		r[k0 + t] = sum;
}

// class 2: mean and variance of a block, two arrays of 1024 doubles
__global__ void meanVariance(const float* x, double* mean, double* var, int n)
{
	__shared__ double s1[1024];
	__shared__ double s2[1024];
	int t = threadIdx.x;
	double a = 0.0, b = 0.0;
	for (int i = blockIdx.x * 4096 + t; i < (blockIdx.x + 1) * 4096 && i < n; i += 1024) {
		a += x[i];
		b += (double)x[i] * x[i];
	}
	s1[t] = a;
	s2[t] = b;
	__syncthreads();
	for (int s = 512; s > 0; s >>= 1) {
		if (t < s) {
			s1[t] += s1[t + s];
			s2[t] += s2[t + s];
		}
		__syncthreads();
	}
	if (t == 0) {
		double m = s1[0] / 4096.0;
		mean[blockIdx.x] = m;
		var[blockIdx.x] = s2[0] / 4096.0 - m * m;
	}
}

// class 7: letters counted with shared atomics
#define LETTERS 26
__global__ void letterHistogram(const unsigned char* text, unsigned int* hist, int len)
{
	__shared__ unsigned int h[LETTERS + 1];
	if (threadIdx.x <= LETTERS)
		h[threadIdx.x] = 0;
	__syncthreads();
	int stride = blockDim.x * gridDim.x;
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < len; i += stride) {
		unsigned char c = text[i];
		if (c >= 'a' && c <= 'z')
			atomicAdd(&h[c - 'a'], 1u);
		else
			atomicAdd(&h[LETTERS], 1u);
	}
	__syncthreads();
	if (threadIdx.x <= LETTERS)
		atomicAdd(&hist[threadIdx.x], h[threadIdx.x]);
}

int main(void)
{
	{
		int N = 20 * 1000 * 1000;
		int blocksPerGrid = imin(2048, (N + threadsPerBlock - 1) / threadsPerBlock);
		float *a = mk<float>(N), *b = mk<float>(N), *c = mk<float>(blocksPerGrid);
		dot<<<blocksPerGrid, threadsPerBlock>>>(N, a, b, c);
		show("dot", c, blocksPerGrid * sizeof(float));
		int blocks = N / (HEAT_BS - 2 * HEAT_STEPS) + 1;
		heat1D<<<blocks, HEAT_BS>>>(a, b, N, 0.24f);
		show("heat1D", b, (size_t)N * sizeof(float));
		int nb = N / 4096;
		double *m = mk<double>(nb), *v = mk<double>(nb);
		meanVariance<<<nb, 1024>>>(a, m, v, N);
		show("meanVariance", v, nb * sizeof(double));
	}
	{
		int rows = 4001, cols = 4100, rpb = 256;
		int* m = make_random<int>((size_t)rows * cols, 1 << 20, 3);
		int gy = (rows + rpb - 1) / rpb;
		int* s = mk<int>((size_t)gy * cols);
		columnSums<<<dim3((cols + BX - 1) / BX, gy), dim3(BX, BY)>>>(m, s, rows, cols, rpb);
		show("columnSums", s, (size_t)gy * cols * 4);
	}
	{
		int w = 2048, h = 2048;
		int *a = make_random<int>((size_t)w * h, 2, 77), *b = mk<int>((size_t)w * h);
		lifeTile<<<dim3(w / 8, h / 8), dim3(16, 16)>>>(a, b, w, h);
		show("lifeTile", b, (size_t)w * h * 4);
	}
	{
		size_t n = 1 << 21;
		int* a = make_random<int>(n, 1000003, 5);
		oddEvenSort<<<(int)(n / 256), 256>>>(a, 256);
		show("oddEvenSort", a, n * 4);
	}
	{
		size_t n = 1 << 23;
		float *a = mk<float>(n), *b = mk<float>(n);
		scanNaive<<<(int)(n / 512), 512, 2 * 512 * sizeof(float)>>>(b, a, 512);
		show("scanNaive", b, n * 4);
		int* d = make_random<int>(n, 1 << 30, 11);
		rotateByReversal<<<(int)(n / 1024), 1024, 1024 * sizeof(int)>>>(d, 1024, 301);
		show("rotateByReversal", d, n * 4);
	}
	{
		int np = 1 << 20, nq = 1000;
		int *p = make_random<int>(np, 1000, 21), *q = make_random<int>(nq, 1000, 22), *r = mk<int>(np + nq);
		polyMul<<<(np + nq - 1 + PT - 1) / PT, PT>>>(p, np, q, nq, r);
		show("polyMul", r, (size_t)(np + nq - 1) * 4);
	}
	{
		int len = 1 << 25;
		unsigned char* t = make_random<unsigned char>(len, 128, 31);
		unsigned int* h = mk<unsigned int>(32);
		letterHistogram<<<1024, 256>>>(t, h, len);
		show("letterHistogram", h, (LETTERS + 1) * 4);
	}
	return 0;
}
