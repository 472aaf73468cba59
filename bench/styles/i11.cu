// Sparse matrix kernels in a handful of storage formats
#include "shown.h"
#include <vector>
#include <algorithm>
using std::vector;

template <typename V>
V *upload(const vector<V> &h)
{
	V *d;
	cudaMalloc(&d, h.size() * sizeof(V));
	cudaMemcpy(d, h.data(), h.size() * sizeof(V), cudaMemcpyHostToDevice);
	return d;
}

// CSR, one row per sub-warp of width VEC, partial sums through shared memory
template <typename T, int VEC, int BLOCK>
__global__ void spmv_csr_vector(int rows, const int *Ap, const int *Aj, const T *Ax, const T *x, T *y)
{
	__shared__ T sdata[BLOCK + VEC / 2];
	__shared__ int ptrs[BLOCK / VEC][2];
	const int lane = threadIdx.x % VEC, vec = threadIdx.x / VEC;
	const int nvec = gridDim.x * (BLOCK / VEC);
	const unsigned am = (unsigned)((1ull << VEC) - 1) << (threadIdx.x & 31 & ~(VEC - 1));
	for (int row = blockIdx.x * (BLOCK / VEC) + vec; row < rows; row += nvec) {
		if (lane < 2) ptrs[vec][lane] = Ap[row + lane];
		__syncwarp(am);
		const int b = ptrs[vec][0], e = ptrs[vec][1];
		T sum = 0;
		for (int k = b + lane; k < e; k += VEC) sum += Ax[k] * x[Aj[k]];
		__syncwarp(am);
		sdata[threadIdx.x] = sum;
		__syncwarp(am);
#pragma unroll
		for (int h = VEC / 2; h > 0; h >>= 1) {
			T o = lane < h ? sdata[threadIdx.x + h] : T(0);
			__syncwarp(am);
			if (lane < h) sdata[threadIdx.x] = sum = sum + o;
			__syncwarp(am);
		}
		if (lane == 0) y[row] = sdata[threadIdx.x];
	}
}

// ELLPACK, column major
__global__ void spmv_ell(int rows, int width, int pitch, const int *cols, const double *vals, const double *x, double *y)
{
	int r = blockIdx.x * blockDim.x + threadIdx.x;
	if (r >= rows) return;
	double s = 0;
	for (int k = 0; k < width; k++) {
		int c = cols[k * pitch + r];
		if (c >= 0) s += vals[k * pitch + r] * x[c];
	}
	y[r] = s;
}

// DIA: offsets and the window of x in shared memory
__global__ void spmv_dia(int n, int ndiag, const int *offsets, const float *data, const float *x, float *y, int reach)
{
	extern __shared__ float win[];          // blockDim.x + 2*reach floats, then ndiag ints
	int *off = (int *)(win + blockDim.x + 2 * reach);
	int base = blockIdx.x * blockDim.x - reach;
	for (int i = threadIdx.x; i < blockDim.x + 2 * reach; i += blockDim.x) {
		int g = base + i;
		win[i] = (g >= 0 && g < n) ? x[g] : 0.0f;
	}
	for (int i = threadIdx.x; i < ndiag; i += blockDim.x) off[i] = offsets[i];
	__syncthreads();
	int r = blockIdx.x * blockDim.x + threadIdx.x;
	if (r < n) {
		float s = 0;
		for (int d = 0; d < ndiag; d++) s += data[(size_t)d * n + r] * win[threadIdx.x + reach + off[d]];
		y[r] = s;
	}
}

// block CSR, 4x4 blocks; 16 threads hold a block, rows of blocks to half warps
__global__ void spmv_bsr4(int brows, const int *bp, const int *bj, const float *bv, const float *x, float *y)
{
	__shared__ float part[8][4][5];
	int g = threadIdx.x >> 4, t = threadIdx.x & 15, r = t >> 2, c = t & 3;
	int br = blockIdx.x * 8 + g;
	float s = 0.f;
	if (br < brows)
		for (int k = bp[br]; k < bp[br + 1]; k++) s += bv[(size_t)k * 16 + t] * x[bj[k] * 4 + c];
	part[g][r][c] = s;
	__syncthreads();
	if (threadIdx.x < 32) {
		int gg = threadIdx.x >> 2, rr = threadIdx.x & 3, b = blockIdx.x * 8 + gg;
		if (b < brows) y[b * 4 + rr] = part[gg][rr][0] + part[gg][rr][1] + part[gg][rr][2] + part[gg][rr][3];
	}
}

// COO tile: product then segmented reduction in shared, integer values so that row totals can use atomics
__global__ void spmv_coo_int(int nnz, const int *ri, const int *ci, const int *v, const int *x, int *y)
{
	__shared__ int row[256], val[256];
	int t = threadIdx.x, k = blockIdx.x * 256 + t;
	row[t] = k < nnz ? ri[k] : -1;
	val[t] = k < nnz ? v[k] * x[ci[k]] : 0;
	__syncthreads();
	for (int d = 1; d < 256; d *= 2) {
		int left = 0;
		if (t >= d && row[t] == row[t - d]) left = val[t - d];
		__syncthreads();
		val[t] += left;
		__syncthreads();
	}
	if (row[t] >= 0 && (t == 255 || row[t] != row[t + 1])) atomicAdd(&y[row[t]], val[t]);
}

// CSR x dense (n x 32 columns): warp row, indices broadcast from shared chunk
__global__ void spmm_csr32(int rows, const int *ap, const int *aj, const float *ax, const float *B, float *C)
{
	__shared__ int sj[4][32];
	__shared__ float sx[4][32];
	int w = threadIdx.y, lane = threadIdx.x, row = blockIdx.x * 4 + w;
	if (row >= rows) return;
	int b = ap[row], e = ap[row + 1];
	float acc = 0;
	for (int k0 = b; k0 < e; k0 += 32) {
		if (k0 + lane < e) { sj[w][lane] = aj[k0 + lane]; sx[w][lane] = ax[k0 + lane]; }
		__syncwarp();
		int m = min(32, e - k0);
		for (int q = 0; q < m; q++) acc += sx[w][q] * B[(size_t)sj[w][q] * 32 + lane];
		__syncwarp();
	}
	C[(size_t)row * 32 + lane] = acc;
}

// ILU(0)-style diagonal scaling + one weighted Jacobi relaxation fused, plus block residual norm
__global__ void jacobi_csr(int n, const int *ap, const int *aj, const float *ax, const float *b, const float *xin, float *xout, float *norm, float omega)
{
	__shared__ float r2[128];
	float acc = 0.f;
	for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128) {
		float diag = 1.f, s = b[i];
		for (int k = ap[i]; k < ap[i + 1]; ++k) {
			int j = aj[k];
			float a = ax[k];
			if (j == i) diag = a + 20.f;
			s -= (j == i ? diag : a) * xin[j];
		}
		xout[i] = xin[i] + omega * s / diag;
		acc += s * s;
	}
	r2[threadIdx.x] = acc;
	__syncthreads();
	if (threadIdx.x < 64) r2[threadIdx.x] += r2[threadIdx.x + 64];
	__syncthreads();
	if (threadIdx.x < 32) {
		float v = r2[threadIdx.x] + r2[threadIdx.x + 32];
		for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffffu, v, o);
		if (threadIdx.x == 0) norm[blockIdx.x] = v;
	}
}

int main()
{
	const int n = 400000;
	vector<int> ap(n + 1), aj;
	vector<float> ax;
	unsigned s = 17;
	for (int i = 0; i < n; i++) {
		ap[i] = (int)aj.size();
		s = s * 1664525u + 1013904223u;
		int deg = 3 + (s >> 20) % 24;
		vector<int> c(deg);
		for (int &k : c) { s = s * 1664525u + 1013904223u; k = (int)((i + (long long)(s >> 8) % 4001 - 2000 + n) % n); }
		c[0] = i;
		std::sort(c.begin(), c.end());
		c.erase(std::unique(c.begin(), c.end()), c.end());
		for (int k : c) { aj.push_back(k); ax.push_back((k % 17) * 0.125f); }
	}
	ap[n] = (int)aj.size();
	int nnz = ap[n];
	int *dp = upload(ap), *dj = upload(aj);
	float *dx = upload(ax), *x = mk<float>(n), *y = mk<float>(n);
	spmv_csr_vector<float, 8, 128><<<2000, 128>>>(n, dp, dj, dx, x, y);
	show("spmv_csr_vector", y, 4ull * n);
	{
		int width = 16, pitch = (n + 31) / 32 * 32;
		vector<int> ec((size_t)pitch * width, -1);
		for (int i = 0; i < n; i++)
			for (int k = 0; k < std::min(width, ap[i + 1] - ap[i]); k++) ec[(size_t)k * pitch + i] = aj[ap[i] + k];
		int *dc = upload(ec);
		double *v = mk<double>((size_t)pitch * width), *xx = mk<double>(n), *yy = mk<double>(n);
		spmv_ell<<<(n + 255) / 256, 256>>>(n, width, pitch, dc, v, xx, yy);
		show("spmv_ell", yy, 8ull * n);
	}
	{
		int m = 1000003, nd = 27, reach = 200;
		vector<int> off(nd);
		for (int d = 0; d < nd; d++) off[d] = (d - 13) * 15;
		int *o = upload(off);
		float *dat = mk<float>((size_t)nd * m), *xx = mk<float>(m), *yy = mk<float>(m);
		spmv_dia<<<(m + 255) / 256, 256, (256 + 2 * reach + nd) * 4>>>(m, nd, o, dat, xx, yy, reach);
		show("spmv_dia", yy, 4ull * m);
	}
	{
		int br = 60001;
		vector<int> bp(br + 1), bj;
		for (int i = 0; i < br; i++) { bp[i] = (int)bj.size(); for (int k = 0; k < 5 + i % 11; k++) bj.push_back((i * 3 + k * 97) % br); }
		bp[br] = (int)bj.size();
		int *p = upload(bp), *j = upload(bj);
		float *v = mk<float>(16 * bj.size()), *xx = mk<float>(4 * br), *yy = mk<float>(4 * br);
		spmv_bsr4<<<(br + 7) / 8, 128>>>(br, p, j, v, xx, yy);
		show("spmv_bsr4", yy, 16ull * br);
	}
	{
		vector<int> ri(nnz), vi(nnz);
		for (int i = 0; i < n; i++) for (int k = ap[i]; k < ap[i + 1]; k++) ri[k] = i, vi[k] = aj[k] % 31 - 9;
		int *r = upload(ri), *v = upload(vi), *xi = mk<int>(n), *yi = mk<int>(n);
		spmv_coo_int<<<(nnz + 255) / 256, 256>>>(nnz, r, dj, v, xi, yi);
		show("spmv_coo_int", yi, 4ull * n);
	}
	{
		float *B = mk<float>(32ull * n), *C = mk<float>(32ull * n);
		spmm_csr32<<<(n + 3) / 4, dim3(32, 4)>>>(n, dp, dj, dx, B, C);
		show("spmm_csr32", C, 128ull * n);
	}
	float *b = mk<float>(n), *nr = mk<float>(1024);
	jacobi_csr<<<1024, 128>>>(n, dp, dj, dx, b, x, y, nr, 0.6f);
	show("jacobi_csr", y, 4ull * n);
	show("jacobi_norm", nr, 4096);
	return 0;
}
