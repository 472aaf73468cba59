// Rodinia-like kernels
#include "shown.h"
#include <vector>
#include <math.h>

#define BLOCK_SIZE 16
#define IN_RANGE(x, min, max)   ((x)>=(min) && (x)<=(max))
#define CLAMP_RANGE(x, min, max) x = (x<(min)) ? min : ((x>(max)) ? max : x )
#define MIN(a, b) ((a)<=(b) ? (a) : (b))
#define max_pd  (3.0e6)

/* ---------------- hotspot ---------------- */
__global__ void calculate_temp(int iteration,  //number of iteration
                               float *power,   //power input
                               float *temp_src,    //temperature input/output
                               float *temp_dst,    //temperature input/output
                               int grid_cols,  //Col of grid
                               int grid_rows,  //Row of grid
                               int border_cols,  // border offset
                               int border_rows,  // border offset
                               float Cap,      //Capacitance
                               float Rx, float Ry, float Rz,
                               float step)
{
        __shared__ float temp_on_cuda[BLOCK_SIZE][BLOCK_SIZE];
        __shared__ float power_on_cuda[BLOCK_SIZE][BLOCK_SIZE];
        __shared__ float temp_t[BLOCK_SIZE][BLOCK_SIZE]; // saving temparary temperature result

        float amb_temp = 80.0;
        float step_div_Cap;
        float Rx_1,Ry_1,Rz_1;

        int bx = blockIdx.x;
        int by = blockIdx.y;
        int tx=threadIdx.x;
        int ty=threadIdx.y;

        step_div_Cap=step/Cap;
        Rx_1=1/Rx;
        Ry_1=1/Ry;
        Rz_1=1/Rz;

        // calculate the small block size
        int small_block_rows = BLOCK_SIZE-iteration*2;
        int small_block_cols = BLOCK_SIZE-iteration*2;

        int blkY = small_block_rows*by-border_rows;
        int blkX = small_block_cols*bx-border_cols;
        int blkYmax = blkY+BLOCK_SIZE-1;
        int blkXmax = blkX+BLOCK_SIZE-1;

        int yidx = blkY+ty;
        int xidx = blkX+tx;

        int loadYidx=yidx, loadXidx=xidx;
        int index = grid_cols*loadYidx+loadXidx;

        if(IN_RANGE(loadYidx, 0, grid_rows-1) && IN_RANGE(loadXidx, 0, grid_cols-1)){
            temp_on_cuda[ty][tx] = temp_src[index];
            power_on_cuda[ty][tx] = power[index];
        }
        __syncthreads();

        int validYmin = (blkY < 0) ? -blkY : 0;
        int validYmax = (blkYmax > grid_rows-1) ? BLOCK_SIZE-1-(blkYmax-grid_rows+1) : BLOCK_SIZE-1;
        int validXmin = (blkX < 0) ? -blkX : 0;
        int validXmax = (blkXmax > grid_cols-1) ? BLOCK_SIZE-1-(blkXmax-grid_cols+1) : BLOCK_SIZE-1;

        int N = ty-1;
        int S = ty+1;
        int W = tx-1;
        int E = tx+1;

        N = (N < validYmin) ? validYmin : N;
        S = (S > validYmax) ? validYmax : S;
        W = (W < validXmin) ? validXmin : W;
        E = (E > validXmax) ? validXmax : E;

        bool computed = false;
        for (int i=0; i<iteration ; i++){
            computed = false;
            if( IN_RANGE(tx, i+1, BLOCK_SIZE-i-2) &&
                  IN_RANGE(ty, i+1, BLOCK_SIZE-i-2) &&
                  IN_RANGE(tx, validXmin, validXmax) &&
                  IN_RANGE(ty, validYmin, validYmax) ) {
                  computed = true;
                  temp_t[ty][tx] =   temp_on_cuda[ty][tx] + step_div_Cap * (power_on_cuda[ty][tx] +
                     (temp_on_cuda[S][tx] + temp_on_cuda[N][tx] - 2.0*temp_on_cuda[ty][tx]) * Ry_1 +
                     (temp_on_cuda[ty][E] + temp_on_cuda[ty][W] - 2.0*temp_on_cuda[ty][tx]) * Rx_1 +
                     (amb_temp - temp_on_cuda[ty][tx]) * Rz_1);
            }
            __syncthreads();
            if(i==iteration-1)
                break;
            if(computed)     //Assign the computation range
                temp_on_cuda[ty][tx]= temp_t[ty][tx];
            __syncthreads();
        }

        if (computed){
            temp_dst[index]= temp_t[ty][tx];
        }
}

/* ---------------- pathfinder ---------------- */
#define PF_BLOCK 256
#define HALO 1
__global__ void dynproc_kernel(int iteration, int *gpuWall, int *gpuSrc, int *gpuResults,
                int cols, int rows, int startStep, int border)
{
        __shared__ int prev[PF_BLOCK];
        __shared__ int result[PF_BLOCK];

        int bx = blockIdx.x;
        int tx=threadIdx.x;

        int small_block_cols = PF_BLOCK-iteration*HALO*2;
        int blkX = small_block_cols*bx-border;
        int blkXmax = blkX+PF_BLOCK-1;
        int xidx = blkX+tx;

        int validXmin = (blkX < 0) ? -blkX : 0;
        int validXmax = (blkXmax > cols-1) ? PF_BLOCK-1-(blkXmax-cols+1) : PF_BLOCK-1;

        int W = tx-1;
        int E = tx+1;
        W = (W < validXmin) ? validXmin : W;
        E = (E > validXmax) ? validXmax : E;

        bool isValid = IN_RANGE(tx, validXmin, validXmax);

        if(IN_RANGE(xidx, 0, cols-1)){
            prev[tx] = gpuSrc[xidx];
        }
        __syncthreads();
        bool computed = false;
        for (int i=0; i<iteration ; i++){
            computed = false;
            if( IN_RANGE(tx, i+1, PF_BLOCK-i-2) && isValid){
                  computed = true;
                  int left = prev[W];
                  int up = prev[tx];
                  int right = prev[E];
                  int shortest = MIN(left, up);
                  shortest = MIN(shortest, right);
                  int index = cols*(startStep+i)+xidx;
                  result[tx] = shortest + gpuWall[index];
            }
            __syncthreads();
            if(i==iteration-1)
                break;
            if(computed)
                prev[tx]= result[tx];
            __syncthreads();
        }
        if (computed){
            gpuResults[xidx]=result[tx];
        }
}

/* ---------------- srad ---------------- */
__global__ void srad_cuda_1(float *E_C, float *W_C, float *N_C, float *S_C,
		  float * J_cuda, float * C_cuda, int cols, int rows, float q0sqr)
{
  int bx = blockIdx.x;
  int by = blockIdx.y;
  int tx = threadIdx.x;
  int ty = threadIdx.y;

  int index   = cols * BLOCK_SIZE * by + BLOCK_SIZE * bx + cols * ty + tx;
  int index_n = cols * BLOCK_SIZE * by + BLOCK_SIZE * bx + tx - cols;
  int index_s = cols * BLOCK_SIZE * by + BLOCK_SIZE * bx + cols * BLOCK_SIZE + tx;
  int index_w = cols * BLOCK_SIZE * by + BLOCK_SIZE * bx + cols * ty - 1;
  int index_e = cols * BLOCK_SIZE * by + BLOCK_SIZE * bx + cols * ty + BLOCK_SIZE;

  float n, w, e, s, jc, g2, l, num, den, qsqr, c;

  __shared__ float temp[BLOCK_SIZE][BLOCK_SIZE];
  __shared__ float temp_result[BLOCK_SIZE][BLOCK_SIZE];
  __shared__ float north[BLOCK_SIZE][BLOCK_SIZE];
  __shared__ float south[BLOCK_SIZE][BLOCK_SIZE];
  __shared__ float  east[BLOCK_SIZE][BLOCK_SIZE];
  __shared__ float  west[BLOCK_SIZE][BLOCK_SIZE];

  if ( by == 0 ) north[ty][tx] = J_cuda[BLOCK_SIZE * bx + tx];
  else north[ty][tx] = J_cuda[index_n];
  if ( by == gridDim.y - 1 ) south[ty][tx] = J_cuda[cols * BLOCK_SIZE * (gridDim.y - 1) + BLOCK_SIZE * bx + cols * ( BLOCK_SIZE - 1 ) + tx];
  else south[ty][tx] = J_cuda[index_s];
  if ( bx == 0 ) west[ty][tx] = J_cuda[cols * BLOCK_SIZE * by + cols * ty];
  else west[ty][tx] = J_cuda[index_w];
  if ( bx == gridDim.x - 1 ) east[ty][tx] = J_cuda[cols * BLOCK_SIZE * by + BLOCK_SIZE * ( gridDim.x - 1) + cols * ty + BLOCK_SIZE-1];
  else east[ty][tx] = J_cuda[index_e];

  __syncthreads();

  temp[ty][tx]      = J_cuda[index];

  __syncthreads();

  jc = temp[ty][tx];

   if ( ty == 0 && tx == 0 ){ //nw
	n  = north[ty][tx] - jc; s  = temp[ty+1][tx] - jc; w  = west[ty][tx]  - jc; e  = temp[ty][tx+1] - jc;
   }
   else if ( ty == 0 && tx == BLOCK_SIZE-1 ){ //ne
	n  = north[ty][tx] - jc; s  = temp[ty+1][tx] - jc; w  = temp[ty][tx-1] - jc; e  = east[ty][tx] - jc;
   }
   else if ( ty == BLOCK_SIZE -1 && tx == BLOCK_SIZE - 1){ //se
	n  = temp[ty-1][tx] - jc; s  = south[ty][tx] - jc; w  = temp[ty][tx-1] - jc; e  = east[ty][tx]  - jc;
   }
   else if ( ty == BLOCK_SIZE -1 && tx == 0 ){//sw
	n  = temp[ty-1][tx] - jc; s  = south[ty][tx] - jc; w  = west[ty][tx]  - jc; e  = temp[ty][tx+1] - jc;
   }
   else if ( ty == 0 ){ //n
	n  = north[ty][tx] - jc; s  = temp[ty+1][tx] - jc; w  = temp[ty][tx-1] - jc; e  = temp[ty][tx+1] - jc;
   }
   else if ( tx == BLOCK_SIZE -1 ){ //e
	n  = temp[ty-1][tx] - jc; s  = temp[ty+1][tx] - jc; w  = temp[ty][tx-1] - jc; e  = east[ty][tx] - jc;
   }
   else if ( ty == BLOCK_SIZE -1){ //s
	n  = temp[ty-1][tx] - jc; s  = south[ty][tx] - jc; w  = temp[ty][tx-1] - jc; e  = temp[ty][tx+1] - jc;
   }
   else if ( tx == 0 ){ //w
	n  = temp[ty-1][tx] - jc; s  = temp[ty+1][tx] - jc; w  = west[ty][tx] - jc; e  = temp[ty][tx+1] - jc;
   }
   else{  //the data elements which are not on the borders
	n  = temp[ty-1][tx] - jc; s  = temp[ty+1][tx] - jc; w  = temp[ty][tx-1] - jc; e  = temp[ty][tx+1] - jc;
   }

    g2 = ( n * n + s * s + w * w + e * e ) / (jc * jc);
    l = ( n + s + w + e ) / jc;
	num  = (0.5*g2) - ((1.0/16.0)*(l*l)) ;
	den  = 1 + (.25*l);
	qsqr = num/(den*den);
	den = (qsqr-q0sqr) / (q0sqr * (1+q0sqr)) ;
	c = 1.0 / (1.0+den) ;

	if (c < 0){ temp_result[ty][tx] = 0; }
	else if (c > 1) { temp_result[ty][tx] = 1; }
	else { temp_result[ty][tx] = c; }

    __syncthreads();

    C_cuda[index] = temp_result[ty][tx];
    E_C[index] = e;
    W_C[index] = w;
    S_C[index] = s;
    N_C[index] = n;
}

/* ---------------- lud (batched diagonal blocks) ---------------- */
__global__ void lud_diagonal(float *m, int matrix_dim)
{
  int i,j;
  __shared__ float shadow[BLOCK_SIZE][BLOCK_SIZE];

  int offset = blockIdx.x * BLOCK_SIZE;
  int array_offset = offset*matrix_dim+offset;
  m += (size_t)blockIdx.y * matrix_dim * matrix_dim;
  for(i=0; i < BLOCK_SIZE; i++){
    shadow[i][threadIdx.x]=m[array_offset+threadIdx.x] + (i == threadIdx.x ? 64.f : 0.f);
    array_offset += matrix_dim;
  }
  __syncthreads();
  for(i=0; i < BLOCK_SIZE-1; i++) {

    if (threadIdx.x>i){
      for(j=0; j < i; j++)
        shadow[threadIdx.x][i] -= shadow[threadIdx.x][j]*shadow[j][i];
      shadow[threadIdx.x][i] /= shadow[i][i];
    }

    __syncthreads();
    if (threadIdx.x>i){

      for(j=0; j < i+1; j++)
        shadow[i+1][threadIdx.x] -= shadow[i+1][j]*shadow[j][threadIdx.x];
    }
    __syncthreads();
  }

  array_offset = (offset+1)*matrix_dim+offset;
  for(i=1; i < BLOCK_SIZE; i++){
    m[array_offset+threadIdx.x]=shadow[i][threadIdx.x];
    array_offset += matrix_dim;
  }
}

/* ---------------- needleman-wunsch, one tile per block ---------------- */
__device__ __host__ int maximum( int a, int b, int c)
{
	int k;
	if( a <= b ) k = b; else k = a;
	if( k <=c ) return(c); else return(k);
}

__global__ void needle_tiles(const int *referrence, int *matrix_cuda, int cols, int penalty)
{
  int bx = blockIdx.x, by = blockIdx.y;
  int tx = threadIdx.x;

  int index    = cols * BLOCK_SIZE * by + BLOCK_SIZE * bx + tx + ( cols + 1 );

  __shared__  int temp[BLOCK_SIZE+1][BLOCK_SIZE+1];
  __shared__  int ref[BLOCK_SIZE][BLOCK_SIZE];

  if (tx == 0)
	  temp[0][0] = 0;

  for ( int ty = 0 ; ty < BLOCK_SIZE ; ty++)
      ref[ty][tx] = referrence[index + cols * ty];
  __syncthreads();

  temp[tx + 1][0] = -penalty * (tx + 1);
  temp[0][tx + 1] = -penalty * (tx + 1);
  __syncthreads();

  for( int m = 0 ; m < BLOCK_SIZE ; m++){
	  if ( tx <= m ){
		  int t_index_x =  tx + 1;
		  int t_index_y =  m - tx + 1;
		  temp[t_index_y][t_index_x] = maximum( temp[t_index_y-1][t_index_x-1] + ref[t_index_y-1][t_index_x-1],
		                                        temp[t_index_y][t_index_x-1]  - penalty,
							temp[t_index_y-1][t_index_x]  - penalty);
	  }
	  __syncthreads();
  }
 for( int m = BLOCK_SIZE - 2 ; m >=0 ; m--){
	  if ( tx <= m){
		  int t_index_x =  tx + BLOCK_SIZE - m ;
		  int t_index_y =  BLOCK_SIZE - tx;
		  temp[t_index_y][t_index_x] = maximum( temp[t_index_y-1][t_index_x-1] + ref[t_index_y-1][t_index_x-1],
		                                        temp[t_index_y][t_index_x-1]  - penalty,
							temp[t_index_y-1][t_index_x]  - penalty);
	  }
	  __syncthreads();
  }
  for ( int ty = 0 ; ty < BLOCK_SIZE ; ty++)
	  matrix_cuda[index + ty * cols] = temp[ty+1][tx+1];
}

/* ---------------- backprop layer forward ---------------- */
#define WIDTH 16
#define HEIGHT 16
__global__ void bpnn_layerforward_CUDA(float *input_cuda, float *output_hidden_cuda,
					   float *input_hidden_cuda, float *hidden_partial_sum, int in, int hid)
{
   int by = blockIdx.y;
   int tx = threadIdx.x;
   int ty = threadIdx.y;

   int index =  ( hid + 1 ) * HEIGHT * by + ( hid + 1 ) * ty + tx + 1 + ( hid + 1 ) ;
   int index_in = HEIGHT * by + ty + 1;

   __shared__ float input_node[HEIGHT];
   __shared__ float weight_matrix[HEIGHT][WIDTH];

   if ( tx == 0 )
   input_node[ty] = input_cuda[index_in] ;
   __syncthreads();

   weight_matrix[ty][tx] = input_hidden_cuda[index];
   __syncthreads();

   weight_matrix[ty][tx] = weight_matrix[ty][tx] * input_node[ty];
   __syncthreads();

   for ( int i = 1 ; i <= 4 ; i++){
	   int power_two = 1 << i;
	   if( ty % power_two == 0 )
	   weight_matrix[ty][tx] = weight_matrix[ty][tx] + weight_matrix[ty + power_two/2][tx];
	   __syncthreads();
   }

   input_hidden_cuda[index] = weight_matrix[ty][tx];
   __syncthreads();

   if ( tx == 0 ) {
	   hidden_partial_sum[by * hid + ty] = weight_matrix[tx][ty];
   }
}

/* ---------------- lavaMD-ish: particles of a box against neighbouring boxes ---------------- */
typedef struct { float v, x, y, z; } FOUR_VECTOR;
#define PAR 100
#define DOT3(A,B) ((A.x)*(B.x)+(A.y)*(B.y)+(A.z)*(B.z))

__global__ void kernel_gpu_box(int nb1d, float a2, const FOUR_VECTOR *rv, const float *qv, FOUR_VECTOR *fv)
{
	int bx = blockIdx.x;
	int wtx = threadIdx.x;
	int cx = bx % nb1d, cy = (bx / nb1d) % nb1d, cz = bx / (nb1d * nb1d);

	__shared__ FOUR_VECTOR rA_shared[PAR];
	__shared__ FOUR_VECTOR rB_shared[PAR];
	__shared__ float qB_shared[PAR];

	int first_i = bx * PAR;
	while (wtx < PAR) { rA_shared[wtx] = rv[first_i + wtx]; wtx += blockDim.x; }
	wtx = threadIdx.x;
	FOUR_VECTOR acc; acc.v = acc.x = acc.y = acc.z = 0;
	__syncthreads();

	for (int k = 0; k < 7; k++) {
		int dx = k == 1 ? 1 : k == 2 ? -1 : 0, dy = k == 3 ? 1 : k == 4 ? -1 : 0, dz = k == 5 ? 1 : k == 6 ? -1 : 0;
		int x = cx + dx, y = cy + dy, z = cz + dz;
		if (x < 0 || y < 0 || z < 0 || x >= nb1d || y >= nb1d || z >= nb1d) continue;
		int first_j = ((z * nb1d + y) * nb1d + x) * PAR;
		while (wtx < PAR) {
			rB_shared[wtx] = rv[first_j + wtx];
			qB_shared[wtx] = qv[first_j + wtx];
			wtx += blockDim.x;
		}
		wtx = threadIdx.x;
		__syncthreads();
		if (wtx < PAR) {
			for (int j = 0; j < PAR; j++) {
				float r2 = rA_shared[wtx].v + rB_shared[j].v - DOT3(rA_shared[wtx], rB_shared[j]);
				float u2 = a2 * r2;
				float vij = expf(-u2 * u2);
				float fs = 2 * vij;
				acc.v += qB_shared[j] * vij;
				acc.x += qB_shared[j] * fs * (rA_shared[wtx].x - rB_shared[j].x);
				acc.y += qB_shared[j] * fs * (rA_shared[wtx].y - rB_shared[j].y);
				acc.z += qB_shared[j] * fs * (rA_shared[wtx].z - rB_shared[j].z);
			}
		}
		__syncthreads();
	}
	if (wtx < PAR) fv[first_i + wtx] = acc;
}

int main(int argc, char** argv)
{
	{
		int rows = 2011, cols = 3001, pyr = 2;
		float *p = mk<float>(rows * cols), *t0 = mk<float>(rows * cols), *t1 = mk<float>(rows * cols);
		int small = BLOCK_SIZE - pyr * 2;
		dim3 g((cols + small - 1) / small, (rows + small - 1) / small), b(BLOCK_SIZE, BLOCK_SIZE);
		calculate_temp<<<g, b>>>(pyr, p, t0, t1, cols, rows, pyr, pyr, 0.5f, 4.f, 3.f, 20.f, 0.05f);
		show("hotspot", t1, sizeof(float) * rows * cols);
	}
	{
		int cols = 1000003, rows = 21, pyr = 20;
		int *wall = mk<int>(cols * rows), *s = mk<int>(cols), *r = mk<int>(cols);
		int small = PF_BLOCK - pyr * HALO * 2;
		dynproc_kernel<<<(cols + small - 1) / small, PF_BLOCK>>>(pyr, wall, s, r, cols, rows, 0, pyr * HALO);
		show("pathfinder", r, sizeof(int) * cols);
	}
	{
		int rows = 2000, cols = 2064, n = rows * cols;
		std::vector<float> h(n);
		for (int i = 0; i < n; i++) h[i] = expf((float)((i * 131) % 255) / 255.f);
		float *J = mk<float>(n), *E = mk<float>(n), *W = mk<float>(n), *N = mk<float>(n), *S = mk<float>(n), *C = mk<float>(n);
		cudaMemcpy(J, h.data(), n * 4, cudaMemcpyHostToDevice);
		srad_cuda_1<<<dim3(cols / BLOCK_SIZE, rows / BLOCK_SIZE), dim3(BLOCK_SIZE, BLOCK_SIZE)>>>(E, W, N, S, J, C, cols, rows, 0.0533f);
		show("srad_cuda_1", C, n * 4);
	}
	{
		int dim = 512, batch = 64;
		float *m = mk<float>((size_t)dim * dim * batch);
		lud_diagonal<<<dim3(dim / BLOCK_SIZE, batch), BLOCK_SIZE>>>(m, dim);
		show("lud_diagonal", m, sizeof(float) * dim * dim * batch);
	}
	{
		int n = 2048, cols = n + 1;
		int *ref = mk<int>(cols * cols), *mat = mk<int>(cols * cols);
		needle_tiles<<<dim3(n / BLOCK_SIZE, n / BLOCK_SIZE), BLOCK_SIZE>>>(ref, mat, cols, 10);
		show("needle_tiles", mat, sizeof(int) * cols * cols);
	}
	{
		int in = 262144, hid = 16;
		float *x = mk<float>(in + 1), *o = mk<float>(hid + 1), *w = mk<float>((size_t)(in + 1) * (hid + 1)), *ps = mk<float>(in / 16 * hid);
		bpnn_layerforward_CUDA<<<dim3(1, in / 16), dim3(16, 16)>>>(x, o, w, ps, in, hid);
		show("bpnn_layerforward", ps, sizeof(float) * (in / 16) * hid);
	}
	{
		int nb = 14, n = nb * nb * nb * PAR;
		FOUR_VECTOR *rv = (FOUR_VECTOR *)mk<float>(n * 4), *fv = (FOUR_VECTOR *)mk<float>(n * 4);
		float *qv = mk<float>(n);
		kernel_gpu_box<<<nb * nb * nb, 128>>>(nb, 0.5f, rv, qv, fv);
		show("lavaMD", fv, sizeof(FOUR_VECTOR) * n);
	}
	return 0;
}
