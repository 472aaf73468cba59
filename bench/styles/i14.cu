/* PolyBench-like loops, hand-mapped */
#include "shown.h"

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#define DIM_X 32
#define DIM_Y 8
#define A2(p, ld, i, j) (p)[(size_t)(i) * (ld) + (j)]

/* y = A^T (A x): first half, block per row with reduction */
__global__ void atax_k1(int nx, int ny, const DATA_TYPE *A, const DATA_TYPE *x, DATA_TYPE *tmp)
{
	__shared__ DATA_TYPE acc[128];
	DATA_TYPE s = 0;
	int i = blockIdx.x;
	for (int j = threadIdx.x; j < ny; j += 128) s += A2(A, ny, i, j) * x[j];
	acc[threadIdx.x] = s;
	__syncthreads();
	for (int h = 64; h >= 1; h /= 2)
	{
		if (threadIdx.x < h) acc[threadIdx.x] += acc[threadIdx.x + h];
		__syncthreads();
	}
	if (threadIdx.x == 0) tmp[i] = acc[0];
}

/* second half: column sums, 32 columns by 8 row-lanes */
__global__ void atax_k2(int nx, int ny, const DATA_TYPE *A, const DATA_TYPE *tmp, DATA_TYPE *y)
{
	__shared__ DATA_TYPE part[DIM_Y][DIM_X];
	int j = blockIdx.x * DIM_X + threadIdx.x;
	DATA_TYPE s = 0;
	if (j < ny)
		for (int i = threadIdx.y; i < nx; i += DIM_Y) s += A2(A, ny, i, j) * tmp[i];
	part[threadIdx.y][threadIdx.x] = s;
	__syncthreads();
	if (threadIdx.y == 0 && j < ny)
	{
		for (int k = 1; k < DIM_Y; k++) s += part[k][threadIdx.x];
		y[j] = s;
	}
}

/* correlation: centre & scale, then upper triangle of X^T X by tiles */
__global__ void corr_stats(int m, int n, const DATA_TYPE *data, DATA_TYPE *mean, DATA_TYPE *stddev)
{
	__shared__ DATA_TYPE s1[DIM_Y][DIM_X + 1], s2[DIM_Y][DIM_X + 1];
	int j = blockIdx.x * DIM_X + threadIdx.x;
	DATA_TYPE a = 0, b = 0;
	for (int i = threadIdx.y; i < n && j < m; i += DIM_Y)
	{
		DATA_TYPE v = A2(data, m, i, j);
		a += v;
		b += v * v;
	}
	s1[threadIdx.y][threadIdx.x] = a;
	s2[threadIdx.y][threadIdx.x] = b;
	for (int h = DIM_Y / 2; h > 0; h >>= 1)
	{
		__syncthreads();
		if (threadIdx.y < h)
		{
			s1[threadIdx.y][threadIdx.x] += s1[threadIdx.y + h][threadIdx.x];
			s2[threadIdx.y][threadIdx.x] += s2[threadIdx.y + h][threadIdx.x];
		}
	}
	if (threadIdx.y == 0 && j < m)
	{
		DATA_TYPE mu = s1[0][threadIdx.x] / n, sd = sqrt(fmax(s2[0][threadIdx.x] / n - mu * mu, 0.0));
		mean[j] = mu;
		stddev[j] = sd <= 0.005 ? 1.0 : sd;
	}
}

__global__ void corr_matrix(int m, int n, const DATA_TYPE *data, const DATA_TYPE *mean, const DATA_TYPE *sd, DATA_TYPE *corr)
{
	__shared__ DATA_TYPE L[16][16], R[16][16];
	if (blockIdx.y > blockIdx.x) return;
	int c1 = blockIdx.y * 16 + threadIdx.x, c2 = blockIdx.x * 16 + threadIdx.x;
	DATA_TYPE s = 0;
	for (int i0 = 0; i0 < n; i0 += 16)
	{
		int i = i0 + threadIdx.y;
		L[threadIdx.y][threadIdx.x] = (i < n && c1 < m) ? (A2(data, m, i, c1) - mean[c1]) / sd[c1] : 0.0;
		R[threadIdx.y][threadIdx.x] = (i < n && c2 < m) ? (A2(data, m, i, c2) - mean[c2]) / sd[c2] : 0.0;
		__syncthreads();
		for (int k = 0; k < 16; k++) s += L[k][threadIdx.y] * R[k][threadIdx.x];
		__syncthreads();
	}
	int r = blockIdx.y * 16 + threadIdx.y;
	if (r < m && c2 < m && r <= c2) A2(corr, m, r, c2) = A2(corr, m, c2, r) = s / n;
}

/* doitgen: A[r][q][*] = A[r][q][*] * C4, the vector is kept in shared so the update can be in place */
__global__ void doitgen(int np, DATA_TYPE *A, const DATA_TYPE *C4)
{
	extern __shared__ DATA_TYPE vec[];
	DATA_TYPE *row = A + (size_t)(blockIdx.y * gridDim.x + blockIdx.x) * np;
	for (int p = threadIdx.x; p < np; p += blockDim.x) vec[p] = row[p];
	__syncthreads();
	for (int p = threadIdx.x; p < np; p += blockDim.x)
	{
		DATA_TYPE s = 0;
		for (int k = 0; k < np; k++) s += vec[k] * A2(C4, np, k, p);
		row[p] = s;
	}
}

/* fdtd-2d: three field updates */
__global__ void fdtd_e(float *ex, float *ey, const float *hz, const float *src, int t, int nx, int ny)
{
	__shared__ float h[DIM_Y + 1][DIM_X + 1];
	int j = blockIdx.x * DIM_X + threadIdx.x, i = blockIdx.y * DIM_Y + threadIdx.y;
	bool in = i < nx && j < ny;
	h[threadIdx.y + 1][threadIdx.x + 1] = in ? A2(hz, ny, i, j) : 0.f;
	if (threadIdx.x == 0) h[threadIdx.y + 1][0] = (j > 0 && i < nx) ? A2(hz, ny, i, j - 1) : 0.f;
	if (threadIdx.y == 0) h[0][threadIdx.x + 1] = (i > 0 && j < ny) ? A2(hz, ny, i - 1, j) : 0.f;
	__syncthreads();
	if (!in) return;
	float c = h[threadIdx.y + 1][threadIdx.x + 1];
	if (i == 0) A2(ey, ny, i, j) = src[t];
	else A2(ey, ny, i, j) -= 0.5f * (c - h[threadIdx.y][threadIdx.x + 1]);
	if (j > 0) A2(ex, ny, i, j) -= 0.5f * (c - h[threadIdx.y + 1][threadIdx.x]);
}
__global__ void fdtd_h(const float *ex, const float *ey, float *hz, int nx, int ny)
{
	int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
	if (i < nx - 1 && j < ny - 1)
		A2(hz, ny, i, j) -= 0.7f * (A2(ex, ny, i, j + 1) - A2(ex, ny, i, j) + A2(ey, ny, i + 1, j) - A2(ey, ny, i, j));
}

/* gemver: rank-2 update fused with x += beta A^T y over a strip of columns */
__global__ void gemver_fused(int n, DATA_TYPE *A, const DATA_TYPE *u1, const DATA_TYPE *v1, const DATA_TYPE *u2, const DATA_TYPE *v2, const DATA_TYPE *y, DATA_TYPE *x, DATA_TYPE beta)
{
	__shared__ DATA_TYPE su1[64], su2[64], sy[64];
	int j = blockIdx.x * 64 + threadIdx.x;
	DATA_TYPE a1 = j < n ? v1[j] : 0, a2 = j < n ? v2[j] : 0, s = 0;
	for (int i0 = 0; i0 < n; i0 += 64)
	{
		int i = i0 + threadIdx.x;
		su1[threadIdx.x] = i < n ? u1[i] : 0;
		su2[threadIdx.x] = i < n ? u2[i] : 0;
		sy[threadIdx.x] = i < n ? y[i] : 0;
		__syncthreads();
		if (j < n)
			for (int k = 0; k < 64 && i0 + k < n; k++)
			{
				DATA_TYPE a = A2(A, n, i0 + k, j) + su1[k] * a1 + su2[k] * a2;
				A2(A, n, i0 + k, j) = a;
				s += a * sy[k];
			}
		__syncthreads();
	}
	if (j < n) x[j] += beta * s;
}

int main()
{
	{
		int nx = 3001, ny = 2500;
		DATA_TYPE *A = mk<DATA_TYPE>((size_t)nx * ny), *x = mk<DATA_TYPE>(ny), *t = mk<DATA_TYPE>(nx), *y = mk<DATA_TYPE>(ny);
		atax_k1<<<nx, 128>>>(nx, ny, A, x, t);
		show("atax_k1", t, 8ull * nx);
		atax_k2<<<(ny + DIM_X - 1) / DIM_X, dim3(DIM_X, DIM_Y)>>>(nx, ny, A, t, y);
		show("atax_k2", y, 8ull * ny);
		int m = 800, n = 1000;
		DATA_TYPE *mu = mk<DATA_TYPE>(m), *sd = mk<DATA_TYPE>(m), *c = mk<DATA_TYPE>((size_t)m * m);
		corr_stats<<<(m + DIM_X - 1) / DIM_X, dim3(DIM_X, DIM_Y)>>>(m, n, A, mu, sd);
		show("corr_mean", mu, 8 * m);
		show("corr_stddev", sd, 8 * m);
		corr_matrix<<<dim3(m / 16, m / 16), dim3(16, 16)>>>(m, n, A, mu, sd, c);
		show("corr_matrix", c, 8ull * m * m);
	}
	{
		int nr = 120, nq = 100, np = 150;
		DATA_TYPE *A = mk<DATA_TYPE>((size_t)nr * nq * np), *c = mk<DATA_TYPE>(np * np);
		doitgen<<<dim3(nq, nr), 96, np * sizeof(DATA_TYPE)>>>(np, A, c);
		show("doitgen", A, 8ull * nr * nq * np);
	}
	{
		int nx = 3000, ny = 2900;
		size_t n = (size_t)nx * ny;
		float *ex = mk<float>(n), *ey = mk<float>(n), *hz = mk<float>(n), *s = mk<float>(8);
		dim3 g((ny + DIM_X - 1) / DIM_X, (nx + DIM_Y - 1) / DIM_Y), b(DIM_X, DIM_Y);
		for (int t = 0; t < 3; t++)
		{
			fdtd_e<<<g, b>>>(ex, ey, hz, s, t, nx, ny);
			fdtd_h<<<g, b>>>(ex, ey, hz, nx, ny);
		}
		show("fdtd_ex", ex, 4 * n);
		show("fdtd_ey", ey, 4 * n);
		show("fdtd_hz", hz, 4 * n);
	}
	{
		int n = 1900;
		DATA_TYPE *A = mk<DATA_TYPE>((size_t)n * n), *v[6];
		for (int i = 0; i < 6; i++) v[i] = mk<DATA_TYPE>(n);
		gemver_fused<<<(n + 63) / 64, 64>>>(n, A, v[0], v[1], v[2], v[3], v[4], v[5], 1.2);
		show("gemver_A", A, 8ull * n * n);
		show("gemver_x", v[5], 8ull * n);
	}
	return 0;
}
