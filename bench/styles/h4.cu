/*
 * h4: PolyBench-GPU and textbook (PMPP) kernels
 */
#include "shown.h"
#include <vector>
#include <algorithm>

typedef float DATA_TYPE;

/* ---- PMPP: 2D convolution, input tile loaded by a block as large as the input tile ---- */
#define FILTER_RADIUS 2
#define IN_TILE_DIM 32
#define OUT_TILE_DIM ((IN_TILE_DIM) - 2*(FILTER_RADIUS))
__constant__ float F_c[2*FILTER_RADIUS+1][2*FILTER_RADIUS+1];
__global__ void convolution_tiled_2D_const_mem_kernel(float *N, float *P, int width, int height) {
  int col = blockIdx.x*OUT_TILE_DIM + threadIdx.x - FILTER_RADIUS;
  int row = blockIdx.y*OUT_TILE_DIM + threadIdx.y - FILTER_RADIUS;
  //loading input tile
  __shared__ float N_s[IN_TILE_DIM][IN_TILE_DIM];
  if(row>=0 && row<height && col>=0 && col<width) {
    N_s[threadIdx.y][threadIdx.x] = N[row*width + col];
  } else {
    N_s[threadIdx.y][threadIdx.x] = 0.0;
  }
  __syncthreads();
  // Calculating output elements
  int tileCol = threadIdx.x - FILTER_RADIUS;
  int tileRow = threadIdx.y - FILTER_RADIUS;
  // turning off the threads at the edges of the block
  if(col >= 0 && col < width && row >=0 && row < height) {
    if(tileCol>=0 && tileCol<OUT_TILE_DIM && tileRow>=0
                && tileRow<OUT_TILE_DIM){
      float Pvalue = 0.0f;
      for(int fRow = 0; fRow < 2*FILTER_RADIUS+1; fRow++) {
        for(int fCol = 0; fCol < 2*FILTER_RADIUS+1; fCol++) {
          Pvalue += F_c[fRow][fCol]*N_s[tileRow+fRow][tileCol+fCol];
        }
      }
      P[row*width+col] = Pvalue;
    }
  }
}

/* ---- PMPP: 3D seven point stencil, thread coarsening + register tiling ---- */
#define ST_IN 32
#define ST_OUT (ST_IN-2)
__global__ void stencil_kernel_coarsen(const float* in, float* out, unsigned int N, float c0, float c1, float c2) {
  int iStart = blockIdx.z*ST_OUT;
  int j = blockIdx.y*ST_OUT + threadIdx.y - 1;
  int k = blockIdx.x*ST_OUT + threadIdx.x - 1;
  float inPrev = 0.f;
  __shared__ float inCurr_s[ST_IN][ST_IN];
  float inCurr = 0.f;
  float inNext = 0.f;
  if(iStart-1 >= 0 && iStart-1 < (int)N && j >= 0 && j < (int)N && k >= 0 && k < (int)N) {
    inPrev = in[(iStart - 1)*N*N + j*N + k];
  }
  if(iStart >= 0 && iStart < (int)N && j >= 0 && j < (int)N && k >= 0 && k < (int)N) {
    inCurr = in[iStart*N*N + j*N + k];
    inCurr_s[threadIdx.y][threadIdx.x] = inCurr;
  }
  for(int i = iStart; i < iStart + ST_OUT; ++i) {
    if(i + 1 >= 0 && i + 1 < (int)N && j >= 0 && j < (int)N && k >= 0 && k < (int)N) {
      inNext = in[(i + 1)*N*N + j*N + k];
    }
    __syncthreads();
    if(i >= 1 && i < (int)N - 1 && j >= 1 && j < (int)N - 1 && k >= 1 && k < (int)N - 1) {
      if(threadIdx.y >= 1 && threadIdx.y < ST_IN - 1 && threadIdx.x >= 1 && threadIdx.x < ST_IN - 1) {
        out[i*N*N + j*N + k] = c0*inCurr
                             + c1*(inCurr_s[threadIdx.y][threadIdx.x-1] + inCurr_s[threadIdx.y][threadIdx.x+1])
                             + c1*(inCurr_s[threadIdx.y+1][threadIdx.x] + inCurr_s[threadIdx.y-1][threadIdx.x])
                             + c2*(inPrev + inNext);
      }
    }
    __syncthreads();
    inPrev = inCurr;
    inCurr = inNext;
    inCurr_s[threadIdx.y][threadIdx.x] = inNext;
  }
}

/* ---- PMPP: Kogge-Stone double buffered & Brent-Kung section scans ---- */
#define SECTION_SIZE 512
__global__ void Kogge_Stone_double_buffer(float *X, float *Y, unsigned int N) {
  __shared__ float buffer1_s[SECTION_SIZE];
  __shared__ float buffer2_s[SECTION_SIZE];
  float *inBuffer_s = buffer1_s;
  float *outBuffer_s = buffer2_s;
  unsigned int i = blockIdx.x*blockDim.x + threadIdx.x;
  inBuffer_s[threadIdx.x] = (i < N) ? X[i] : 0.0f;
  __syncthreads();
  for(unsigned int stride = 1; stride < blockDim.x; stride *= 2) {
    if(threadIdx.x >= stride)
      outBuffer_s[threadIdx.x] = inBuffer_s[threadIdx.x] + inBuffer_s[threadIdx.x - stride];
    else
      outBuffer_s[threadIdx.x] = inBuffer_s[threadIdx.x];
    __syncthreads();
    float *tmp = inBuffer_s; inBuffer_s = outBuffer_s; outBuffer_s = tmp;
  }
  if(i < N) Y[i] = inBuffer_s[threadIdx.x];
}

__global__ void Brent_Kung_scan_kernel(float *X, float *Y, unsigned int N) {
  __shared__ float XY[SECTION_SIZE];
  unsigned int i = 2*blockIdx.x*blockDim.x + threadIdx.x;
  XY[threadIdx.x] = i < N ? X[i] : 0.f;
  XY[threadIdx.x + blockDim.x] = i + blockDim.x < N ? X[i + blockDim.x] : 0.f;
  for(unsigned int stride = 1; stride <= blockDim.x; stride *= 2) {
    __syncthreads();
    unsigned int index = (threadIdx.x + 1)*2*stride - 1;
    if(index < SECTION_SIZE) {
      XY[index] += XY[index - stride];
    }
  }
  for (int stride = SECTION_SIZE/4; stride > 0; stride /= 2) {
    __syncthreads();
    unsigned int index = (threadIdx.x + 1)*stride*2 - 1;
    if(index + stride < SECTION_SIZE) {
      XY[index + stride] += XY[index];
    }
  }
  __syncthreads();
  if (i < N) Y[i] = XY[threadIdx.x];
  if (i + blockDim.x < N) Y[i + blockDim.x] = XY[threadIdx.x + blockDim.x];
}

/* ---- PMPP: tiled merge ---- */
__device__ int co_rank(int k, const int* A, int m, const int* B, int n) {
  int i = k < m ? k : m;
  int j = k - i;
  int i_low = 0 > (k-n) ? 0 : k-n;
  int j_low = 0 > (k-m) ? 0 : k-m;
  int delta;
  bool active = true;
  while(active) {
    if (i > 0 && j < n && A[i-1] > B[j]) {
      delta = ((i - i_low + 1) >> 1);
      j_low = j;
      j = j + delta;
      i = i - delta;
    } else if (j > 0 && i < m && B[j-1] >= A[i]) {
      delta = ((j - j_low + 1) >> 1);
      i_low = i;
      i = i + delta;
      j = j - delta;
    } else {
      active = false;
    }
  }
  return i;
}
__device__ void merge_sequential(const int *A, int m, const int *B, int n, int *C) {
  int i = 0, j = 0, k = 0;
  while ((i < m) && (j < n)) {
    if (A[i] <= B[j]) C[k++] = A[i++];
    else C[k++] = B[j++];
  }
  while (i < m) C[k++] = A[i++];
  while (j < n) C[k++] = B[j++];
}
__global__ void merge_tiled_kernel(const int* A, int m, const int* B, int n, int* C, int tile_size) {
  extern __shared__ int shareAB[];
  int * A_S = &shareAB[0];
  int * B_S = &shareAB[tile_size];
  int C_curr = blockIdx.x * ((m + n + gridDim.x - 1) / gridDim.x);
  int C_next = min((int)((blockIdx.x + 1) * ((m + n + gridDim.x - 1) / gridDim.x)), m + n);
  if (C_curr >= C_next) return;
  if (threadIdx.x == 0) {
    A_S[0] = co_rank(C_curr, A, m, B, n);
    A_S[1] = co_rank(C_next, A, m, B, n);
  }
  __syncthreads();
  int A_curr = A_S[0];
  int A_next = A_S[1];
  int B_curr = C_curr - A_curr;
  int B_next = C_next - A_next;
  __syncthreads();
  int C_length = C_next - C_curr;
  int A_length = A_next - A_curr;
  int B_length = B_next - B_curr;
  int total_iteration = (C_length + tile_size - 1) / tile_size;
  int C_completed = 0, A_consumed = 0, B_consumed = 0;
  for (int counter = 0; counter < total_iteration; ++counter) {
    for (int i = threadIdx.x; i < tile_size; i += blockDim.x) {
      if (i < A_length - A_consumed) A_S[i] = A[A_curr + A_consumed + i];
      if (i < B_length - B_consumed) B_S[i] = B[B_curr + B_consumed + i];
    }
    __syncthreads();
    int per = tile_size / blockDim.x;
    int c_curr = min((int)threadIdx.x * per, C_length - C_completed);
    int c_next = min((int)(threadIdx.x + 1) * per, C_length - C_completed);
    int am = min(tile_size, A_length - A_consumed), bn = min(tile_size, B_length - B_consumed);
    int a_curr = co_rank(c_curr, A_S, am, B_S, bn);
    int b_curr = c_curr - a_curr;
    int a_next = co_rank(c_next, A_S, am, B_S, bn);
    int b_next = c_next - a_next;
    merge_sequential(A_S + a_curr, a_next - a_curr, B_S + b_curr, b_next - b_curr, C + C_curr + C_completed + c_curr);
    int done = min(tile_size, C_length - C_completed);
    A_consumed += co_rank(done, A_S, am, B_S, bn);
    C_completed += done;
    B_consumed = C_completed - A_consumed;
    __syncthreads();
  }
}

/* ---- PolyBench: fdtd2d hz update with the two e-fields staged ---- */
#define DIM_THREAD_BLOCK_X 32
#define DIM_THREAD_BLOCK_Y 8
__global__ void fdtd_step3_kernel(DATA_TYPE *ex, DATA_TYPE *ey, DATA_TYPE *hz, int NX, int NY)
{
	__shared__ DATA_TYPE s_ex[DIM_THREAD_BLOCK_Y][DIM_THREAD_BLOCK_X + 1];
	__shared__ DATA_TYPE s_ey[DIM_THREAD_BLOCK_Y + 1][DIM_THREAD_BLOCK_X];
	int j = blockIdx.x * blockDim.x + threadIdx.x;
	int i = blockIdx.y * blockDim.y + threadIdx.y;

	if ((i < NX) && (j < NY))
	{
		s_ex[threadIdx.y][threadIdx.x] = ex[i * (NY + 1) + j];
		s_ey[threadIdx.y][threadIdx.x] = ey[i * NY + j];
		if (threadIdx.x == blockDim.x - 1 || j == NY - 1)
			s_ex[threadIdx.y][threadIdx.x + 1] = ex[i * (NY + 1) + (j + 1)];
		if (threadIdx.y == blockDim.y - 1 || i == NX - 1)
			s_ey[threadIdx.y + 1][threadIdx.x] = ey[(i + 1) * NY + j];
	}
	__syncthreads();
	if ((i < NX) && (j < NY))
	{
		hz[i * NY + j] = hz[i * NY + j] - 0.7f * (s_ex[threadIdx.y][threadIdx.x + 1] - s_ex[threadIdx.y][threadIdx.x]
		                 + s_ey[threadIdx.y + 1][threadIdx.x] - s_ey[threadIdx.y][threadIdx.x]);
	}
}

/* ---- PolyBench: syr2k, tiled ---- */
#define TSZ 16
__global__ void syr2k_tiled(DATA_TYPE *a, DATA_TYPE *b, DATA_TYPE *c, int N, int M, DATA_TYPE alpha, DATA_TYPE beta)
{
	int j = blockIdx.x * TSZ + threadIdx.x;
	int i = blockIdx.y * TSZ + threadIdx.y;
	__shared__ DATA_TYPE ai[TSZ][TSZ], bi[TSZ][TSZ], aj[TSZ][TSZ + 1], bj[TSZ][TSZ + 1];
	DATA_TYPE acc = 0;
	for (int k0 = 0; k0 < M; k0 += TSZ)
	{
		int jr = blockIdx.x * TSZ + threadIdx.y;
		int kk = k0 + threadIdx.x;
		bool ki = kk < M;
		ai[threadIdx.y][threadIdx.x] = (i < N && ki) ? a[i * M + kk] : 0;
		bi[threadIdx.y][threadIdx.x] = (i < N && ki) ? b[i * M + kk] : 0;
		aj[threadIdx.y][threadIdx.x] = (jr < N && ki) ? a[jr * M + kk] : 0;
		bj[threadIdx.y][threadIdx.x] = (jr < N && ki) ? b[jr * M + kk] : 0;
		__syncthreads();
		for (int k = 0; k < TSZ; k++)
			acc += ai[threadIdx.y][k] * bj[threadIdx.x][k] + bi[threadIdx.y][k] * aj[threadIdx.x][k];
		__syncthreads();
	}
	if ((i < N) && (j < N))
		c[i * N + j] = beta * c[i * N + j] + alpha * acc;
}

int main()
{
	{
		int w = 3001, h = 2999;
		float f[25];
		for (int i = 0; i < 25; i++) f[i] = ((i * 11) % 9 - 4) / 16.f;
		cudaMemcpyToSymbol(F_c, f, sizeof f);
		float *N = mk<float>(w * h), *P = mk<float>(w * h);
		convolution_tiled_2D_const_mem_kernel<<<dim3((w + OUT_TILE_DIM - 1) / OUT_TILE_DIM, (h + OUT_TILE_DIM - 1) / OUT_TILE_DIM), dim3(32, 32)>>>(N, P, w, h);
		show("convolution_tiled_2D", P, sizeof(float) * w * h);
	}
	{
		unsigned N = 250;
		float *a = mk<float>(N * N * N), *b = mk<float>(N * N * N);
		unsigned g = (N + ST_OUT - 1) / ST_OUT;
		stencil_kernel_coarsen<<<dim3(g, g, g), dim3(ST_IN, ST_IN)>>>(a, b, N, 0.5f, 0.0625f, 0.125f);
		show("stencil_coarsen", b, sizeof(float) * N * N * N);
	}
	{
		unsigned n = (1u << 24) - 333;
		float *x = mk<float>(n), *y = mk<float>(n), *z = mk<float>(n);
		Kogge_Stone_double_buffer<<<(n + SECTION_SIZE - 1) / SECTION_SIZE, SECTION_SIZE>>>(x, y, n);
		show("Kogge_Stone", y, 4ull * n);
		Brent_Kung_scan_kernel<<<(n + SECTION_SIZE - 1) / SECTION_SIZE, SECTION_SIZE / 2>>>(x, z, n);
		show("Brent_Kung", z, 4ull * n);
	}
	{
		int m = 1500007, n = 1200011;
		std::vector<int> a(m), b(n);
		for (int i = 0; i < m; i++) a[i] = i * 3 + (i % 3);
		for (int i = 0; i < n; i++) b[i] = i * 4 - (i % 2);
		int *A = mk<int>(m), *B = mk<int>(n), *C = mk<int>(m + n);
		cudaMemcpy(A, a.data(), m * 4ull, cudaMemcpyHostToDevice);
		cudaMemcpy(B, b.data(), n * 4ull, cudaMemcpyHostToDevice);
		merge_tiled_kernel<<<400, 128, 2 * 1024 * sizeof(int)>>>(A, m, B, n, C, 1024);
		show("merge_tiled", C, 4ull * (m + n));
	}
	{
		int NX = 2500, NY = 3333;
		float *ex = mk<float>((size_t)NX * (NY + 1)), *ey = mk<float>((size_t)(NX + 1) * NY), *hz = mk<float>((size_t)NX * NY);
		fdtd_step3_kernel<<<dim3((NY + 31) / 32, (NX + 7) / 8), dim3(32, 8)>>>(ex, ey, hz, NX, NY);
		show("fdtd_step3", hz, sizeof(float) * NX * NY);
	}
	{
		int N = 1010, M = 500;
		float *a = mk<float>(N * M), *b = mk<float>(N * M), *c = mk<float>(N * N);
		syr2k_tiled<<<dim3((N + 15) / 16, (N + 15) / 16), dim3(16, 16)>>>(a, b, c, N, M, 0.125f, 0.5f);
		show("syr2k_tiled", c, sizeof(float) * N * N);
	}
	return 0;
}
