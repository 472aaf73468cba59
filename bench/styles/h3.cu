// Parboil / SHOC style kernels
#include "shown.h"
#include <cmath>
#include <vector>
#include <algorithm>

// ---------------------------------------------------------------- sgemm (register tile)
#define TILE_N 16
#define TILE_TB_HEIGHT 8
#define TILE_M (TILE_N*TILE_TB_HEIGHT)

__global__ void mysgemmNT( const float *A, int lda, const float *B, int ldb, float* C, int ldc, int k, float alpha, float beta )
{
    // Partial results
    float c[TILE_N];
    for (int i=0; i < TILE_N; i++)
	c[i] = 0.0f;
    int mid = threadIdx.y * blockDim.x + threadIdx.x;
    int m = blockIdx.x * TILE_M + mid;
    int n = blockIdx.y * TILE_N + threadIdx.x;
    __shared__ float b_s[TILE_TB_HEIGHT][TILE_N];
    for (int i = 0; i < k; i+=TILE_TB_HEIGHT) {
	float a;
	b_s[threadIdx.y][threadIdx.x]=B[n + (i+threadIdx.y)*ldb];
	__syncthreads();
	for (int j = 0; j < TILE_TB_HEIGHT; j++) {
	    a = A[m + (i+j)*lda];
	    for (int kk = 0; kk < TILE_N; kk++)
		c[kk] += a * b_s[j][kk];
	}
	__syncthreads();
    }
    int t = ldc*blockIdx.y * TILE_N + m;
    for (int i = 0; i < TILE_N; i++) {
	C[t+i*ldc] = C[t+i*ldc] * beta + alpha * c[i];
    }
}

// ---------------------------------------------------------------- stencil 7pt, block2D hybrid coarsen
#define Index3D(_nx,_ny,_i,_j,_k) ((_i)+_nx*((_j)+_ny*(_k)))
__global__ void block2D_hybrid_coarsen_x(float c0,float c1,float *A0,float *Anext, int nx, int ny, int nz)
{
	//thread coarsening along x direction
	const int i = blockIdx.x*blockDim.x*2+threadIdx.x;
	const int i2= blockIdx.x*blockDim.x*2+threadIdx.x+blockDim.x;
	const int j = blockIdx.y*blockDim.y+threadIdx.y;
	const int sh_id=threadIdx.x + threadIdx.y*blockDim.x*2;
	const int sh_id2=threadIdx.x +blockDim.x+ threadIdx.y*blockDim.x*2;

	//shared memeory
	extern __shared__ float sh_A0[];

	sh_A0[sh_id]=0.0f;
	sh_A0[sh_id2]=0.0f;
	__syncthreads();

	//get available region for load and store
	const bool w_region =  i>0 && j>0 &&(i<(nx-1)) &&(j<(ny-1)) ;
	const bool w_region2 =  j>0 &&(i2<nx-1) &&(j<(ny-1)) ;
	const bool x_l_bound = (threadIdx.x==0);
	const bool x_h_bound = ((threadIdx.x+blockDim.x)==(blockDim.x*2-1));
	const bool y_l_bound = (threadIdx.y==0);
	const bool y_h_bound = (threadIdx.y==(blockDim.y-1));

	//register for bottom and top planes
	//because of thread coarsening, we need to doulbe registers
	float bottom=0.0f,bottom2=0.0f,top=0.0f,top2=0.0f;

	//load data for bottom and current
	if((i<nx) &&(j<ny))
	{
		bottom=A0[Index3D (nx, ny, i, j, 0)];
		sh_A0[sh_id]=A0[Index3D (nx, ny, i, j, 1)];
	}
	if((i2<nx) &&(j<ny))
	{
		bottom2=A0[Index3D (nx, ny, i2, j, 0)];
		sh_A0[sh_id2]=A0[Index3D (nx, ny, i2, j, 1)];
	}
	__syncthreads();

	for(int k=1;k<nz-1;k++)
	{
		float a_left_right,a_up,a_down;

		//load required data on xy planes
		//if it on shared memory, load from shared memory
		//if not, load from global memory
		if((i<nx) &&(j<ny))
			top=A0[Index3D (nx, ny, i, j, k+1)];

		if(w_region)
		{
			a_up        =y_h_bound?A0[Index3D (nx, ny, i, j+1, k )]:sh_A0[sh_id+2*blockDim.x];
			a_down      =y_l_bound?A0[Index3D (nx, ny, i, j-1, k )]:sh_A0[sh_id-2*blockDim.x];
			a_left_right=x_l_bound?A0[Index3D (nx, ny, i-1, j, k )]:sh_A0[sh_id-1];

			Anext[Index3D (nx, ny, i, j, k)] = (top + bottom + a_up + a_down + sh_A0[sh_id+1] +a_left_right)*c1
			                                   -  sh_A0[sh_id]*c0;
		}

		//load another block
		if((i2<nx) &&(j<ny))
			top2=A0[Index3D (nx, ny, i2, j, k+1)];

		if(w_region2)
		{
			a_up        =y_h_bound?A0[Index3D (nx, ny, i2, j+1, k )]:sh_A0[sh_id2+2*blockDim.x];
			a_down      =y_l_bound?A0[Index3D (nx, ny, i2, j-1, k )]:sh_A0[sh_id2-2*blockDim.x];
			a_left_right=x_h_bound?A0[Index3D (nx, ny, i2+1, j, k )]:sh_A0[sh_id2+1];

			Anext[Index3D (nx, ny, i2, j, k)] = (top2 + bottom2 + a_up + a_down + a_left_right +sh_A0[sh_id2-1])*c1
			                                    -  sh_A0[sh_id2]*c0;
		}

		//swap data
		__syncthreads();
		bottom=sh_A0[sh_id];
		sh_A0[sh_id]=top;
		bottom2=sh_A0[sh_id2];
		sh_A0[sh_id2]=top2;
		__syncthreads();
	}
}

// ---------------------------------------------------------------- tpacf: binary search of bin edges
#define NUM_BINS 20
#define HISTS_PER_BLOCK 16
#define TPACF_THREADS 256
__constant__ float dev_binb[NUM_BINS+1];

__global__ void gen_hists( unsigned int* histograms, const float* all_x_data, int NUM_ELEMENTS)
{
  const float* data_x = all_x_data;
  const float* data_y = data_x + NUM_ELEMENTS;
  const float* data_z = data_y + NUM_ELEMENTS;
  const unsigned int tid = threadIdx.x;

  __shared__ float3 data_s[TPACF_THREADS];
  __shared__ unsigned int warp_hists[NUM_BINS][HISTS_PER_BLOCK];

  for (unsigned int w = tid; w < NUM_BINS * HISTS_PER_BLOCK; w += blockDim.x)
    warp_hists[w / HISTS_PER_BLOCK][w % HISTS_PER_BLOCK] = 0;

  // Get the current "fixed" tile
  int base = blockIdx.x * TPACF_THREADS;
  if (base + (int)tid < NUM_ELEMENTS)
    data_s[tid] = make_float3(data_x[base + tid], data_y[base + tid], data_z[base + tid]);
  __syncthreads();

  int limit = min(TPACF_THREADS, NUM_ELEMENTS - base);
  for (unsigned int j = blockIdx.y * TPACF_THREADS + tid; j < NUM_ELEMENTS; j += TPACF_THREADS * gridDim.y)
  {
    float x = data_x[j], y = data_y[j], z = data_z[j];
    for (int k = 0; k < limit; k++)
    {
      float distance = data_s[k].x * x + data_s[k].y * y + data_s[k].z * z;
      // run binary search
      unsigned int min = 0;
      unsigned int max = NUM_BINS;
      while (max > min + 1)
      {
        unsigned int k2 = (min + max) / 2;
        if (distance >= dev_binb[k2])
          max = k2;
        else
          min = k2;
      }
      if (distance < dev_binb[min] && distance >= dev_binb[max])
        atomicAdd(&warp_hists[min][tid % HISTS_PER_BLOCK], 1U);
    }
  }
  __syncthreads();

  if (tid < NUM_BINS)
  {
    unsigned int s = 0;
    for (int h = 0; h < HISTS_PER_BLOCK; ++h) s += warp_hists[tid][h];
    histograms[(blockIdx.y * gridDim.x + blockIdx.x) * NUM_BINS + tid] = s;
  }
}

// ---------------------------------------------------------------- SHOC Stencil2D
#define LROWS 8
template <class T>
__device__ int ToGlobalRow( int gidRow, int lszRow, int lidRow ) { return gidRow*lszRow*LROWS + lidRow; }
template <class T>
__device__ int ToFlatHaloedIdx( int row, int col, int rowPitch ) { return (row + 1)*(rowPitch + 2) + (col + 1); }

template <class T>
__global__ void StencilKernel( T* data, T* newData, const int alignment, int nRows, int nCols, T wCenter, T wCardinal, T wDiagonal )
{
    extern __shared__ unsigned char smraw[];
    T *sh = (T*)smraw;
    int gidRow = blockIdx.x, gidCol = blockIdx.y;
    int lidCol = threadIdx.y;
    int lszCol = blockDim.y;
    int pitch = nCols + alignment;

    // fill local: LROWS + 2 rows, lszCol + 2 columns
    int r0 = gidRow * LROWS;
    int c = gidCol * lszCol + lidCol;
    for( int i = -1; i <= LROWS; i++ )
    {
        int r = r0 + i;
        bool okr = r >= 0 && r < nRows;
        sh[ToFlatHaloedIdx<T>( i, lidCol, lszCol )] = okr && c < nCols ? data[r*pitch + c] : T(0);
        if( lidCol == 0 )
            sh[ToFlatHaloedIdx<T>( i, -1, lszCol )] = okr && c > 0 && c - 1 < nCols ? data[r*pitch + c - 1] : T(0);
        if( lidCol == lszCol - 1 )
            sh[ToFlatHaloedIdx<T>( i, lszCol, lszCol )] = okr && c + 1 < nCols ? data[r*pitch + c + 1] : T(0);
    }
    __syncthreads();

    if( c >= nCols ) return;
    for( int i = 0; i < LROWS; i++ )
    {
        if( r0 + i >= nRows ) break;
        int cidx  = ToFlatHaloedIdx<T>( i, lidCol, lszCol );
        int nidx  = ToFlatHaloedIdx<T>( i - 1, lidCol, lszCol );
        int sidx  = ToFlatHaloedIdx<T>( i + 1, lidCol, lszCol );
        T centerValue = sh[cidx];
        T cardinalValueSum = sh[nidx] + sh[sidx] + sh[cidx + 1] + sh[cidx - 1];
        T diagonalValueSum = sh[nidx + 1] + sh[nidx - 1] + sh[sidx + 1] + sh[sidx - 1];
        newData[(r0 + i)*pitch + c] = wCenter * centerValue + wCardinal * cardinalValueSum + wDiagonal * diagonalValueSum;
    }
}

// ---------------------------------------------------------------- SHOC Scan: bottom_scan
template <class T>
__device__ T scanLocalMem(const T val, volatile T* s_data, int blockSize)
{
    int idx = threadIdx.x;
    s_data[idx] = 0;
    idx += blockSize;
    s_data[idx] = val;
    __syncthreads();
    T t;
    for (int d = 1; d < blockSize; d <<= 1) {
        t = s_data[idx - d];  __syncthreads();
        s_data[idx] += t;     __syncthreads();
    }
    return s_data[idx - 1];
}

template <class T>
__global__ void bottom_scan(const T *g_idata, T *g_odata, const T *d_block_sums, const int n)
{
    __shared__ volatile T sdata[512];
    __shared__ T s_seed;
    const int num4 = n / 4;
    const int region = (num4 / gridDim.x);
    const int block_offset = blockIdx.x * region;
    int window_end = (blockIdx.x == gridDim.x - 1) ? num4 : block_offset + region;
    const int4 *inVec = (const int4 *)g_idata;
    int4 *outVec = (int4 *)g_odata;

    if (threadIdx.x == 0) s_seed = d_block_sums[blockIdx.x];
    __syncthreads();
    T seed = s_seed;

    for (int window = block_offset; window < window_end; window += blockDim.x)
    {
        int i = window + threadIdx.x;
        int4 v = make_int4(0, 0, 0, 0);
        if (i < window_end) v = inVec[i];
        v.y += v.x; v.z += v.y; v.w += v.z;
        T res = scanLocalMem<T>(v.w, sdata, blockDim.x);
        res += seed;
        v.x += res; v.y += res; v.z += res; v.w += res;
        if (i < window_end) outVec[i] = v;
        __syncthreads();
        if (threadIdx.x == blockDim.x - 1) s_seed = v.w;
        __syncthreads();
        seed = s_seed;
    }
}

// ---------------------------------------------------------------- SHOC spmv csr vector
static const int WARP_SIZE = 32;
template <typename fpType>
__global__ void spmv_csr_vector_kernel(const fpType * __restrict__ val, const fpType * __restrict__ vec,
                                       const int * __restrict__ cols, const int * __restrict__ rowDelimiters,
                                       const int dim, fpType * __restrict__ out)
{
    int t = threadIdx.x;
    int id = t & (WARP_SIZE-1);
    int warpsPerBlock = blockDim.x / WARP_SIZE;
    int myRow = (blockIdx.x * warpsPerBlock) + (t / WARP_SIZE);
    __shared__ volatile fpType partialSums[128];

    if (myRow < dim)
    {
        int warpStart = rowDelimiters[myRow];
        int warpEnd = rowDelimiters[myRow+1];
        fpType mySum = 0;
        for (int j = warpStart + id; j < warpEnd; j += WARP_SIZE)
        {
            int col = cols[j];
            mySum += val[j] * vec[col];
        }
        partialSums[t] = mySum;
        __syncwarp();
        for (int s = 16; s > 0; s >>= 1) {
            if (id < s) partialSums[t] += partialSums[t + s];
            __syncwarp();
        }
        if (id == 0) out[myRow] = partialSums[t];
    }
}

int main()
{
    {
        int m = 1024, n = 1024, k = 1000;
        float *A = mk<float>(m * k), *B = mk<float>(n * k), *C = mk<float>(m * n);
        mysgemmNT<<<dim3(m / TILE_M, n / TILE_N), dim3(TILE_N, TILE_TB_HEIGHT)>>>(A, m, B, n, C, m, k, 1.0f, 0.5f);
        show("mysgemmNT", C, sizeof(float) * m * n);
    }
    {
        int nx = 510, ny = 331, nz = 64;
        size_t n = (size_t)nx * ny * nz;
        float *a = mk<float>(n), *b = mk<float>(n);
        dim3 block(32, 4), grid((nx + 63) / 64, (ny + 3) / 4);
        block2D_hybrid_coarsen_x<<<grid, block, 64 * 4 * sizeof(float)>>>(1.0f / 6, 1.0f / 36, a, b, nx, ny, nz);
        show("block2D_hybrid_coarsen_x", b, n * sizeof(float));
    }
    {
        int n = 6053;
        std::vector<float> h(3 * n);
        for (int i = 0; i < n; i++) {
            double a = i * 0.618034 * 6.2831853, z = 1 - 2.0 * ((i * 37) % n) / n, r = sqrt(1 - z * z > 0 ? 1 - z * z : 0);
            h[i] = r * cos(a); h[n + i] = r * sin(a); h[2 * n + i] = z;
        }
        float binb[NUM_BINS + 1];
        for (int k = 0; k <= NUM_BINS; k++) binb[k] = cos(pow(10, log10(1.0) + k * 0.1) * 3.14159265 / 180 );
        cudaMemcpyToSymbol(dev_binb, binb, sizeof binb);
        float *d = mk<float>(3 * n);
        cudaMemcpy(d, h.data(), 3 * n * 4, cudaMemcpyHostToDevice);
        int gx = (n + TPACF_THREADS - 1) / TPACF_THREADS, gy = 20;
        unsigned *o = mk<unsigned>(gx * gy * NUM_BINS);
        gen_hists<<<dim3(gx, gy), TPACF_THREADS>>>(o, d, n);
        show("gen_hists", o, gx * gy * NUM_BINS * 4);
    }
    {
        int R = 2050, C = 2999, al = 9;
        double *a = mk<double>((size_t)R * (C + al)), *b = mk<double>((size_t)R * (C + al));
        dim3 g((R + LROWS - 1) / LROWS, (C + 127) / 128), t(1, 128);
        StencilKernel<double><<<g, t, (LROWS + 2) * (128 + 2) * sizeof(double)>>>(a, b, al, R, C, 0.25, 0.15, 0.05);
        show("StencilKernel", b, sizeof(double) * R * (C + al));
    }
    {
        int n = 1 << 24, nb = 509;
        int *a = mk<int>(n), *b = mk<int>(n), *s = mk<int>(nb);
        bottom_scan<int><<<nb, 256>>>(a, b, s, n);
        show("bottom_scan", b, sizeof(int) * n);
    }
    {
        int dim = 200003;
        std::vector<int> rd(dim + 1), cols;
        for (int i = 0; i < dim; i++) {
            rd[i] = (int)cols.size();
            int len = 20 + (i * 13) % 61;
            for (int j = 0; j < len; j++) cols.push_back((int)(((long long)i * 31 + j * 977) % dim));
        }
        rd[dim] = (int)cols.size();
        int *drd = mk<int>(dim + 1), *dc = mk<int>(cols.size());
        cudaMemcpy(drd, rd.data(), rd.size() * 4, cudaMemcpyHostToDevice);
        cudaMemcpy(dc, cols.data(), cols.size() * 4, cudaMemcpyHostToDevice);
        float *v = mk<float>(cols.size()), *x = mk<float>(dim), *y = mk<float>(dim);
        spmv_csr_vector_kernel<float><<<(dim + 3) / 4, 128>>>(v, x, dc, drd, dim, y);
        show("spmv_csr_vector", y, dim * 4);
    }
    return 0;
}
