// Benchmark kernels of the heterogeneous computing kind (thermal, grid path, SRAD, NW, LUD, NN, particles)
#include "shown.h"
#include <cmath>

#define BLOCK_SIZE 16
#define EXPAND_RATE 2
#define IN_RANGE(x, min, max) ((x) >= (min) && (x) <= (max))
#define MIN(a, b) ((a) <= (b) ? (a) : (b))

__global__ void calculate_temp(int iteration, const float *power, const float *temp_src, float *temp_dst,
                               int grid_cols, int grid_rows, int border_cols, int border_rows,
                               float Cap, float Rx, float Ry, float Rz, float step)
{
    __shared__ float temp_on_cuda[BLOCK_SIZE][BLOCK_SIZE];
    __shared__ float power_on_cuda[BLOCK_SIZE][BLOCK_SIZE];
    __shared__ float temp_t[BLOCK_SIZE][BLOCK_SIZE]; // saving temporary temperature result

    float amb_temp = 80.0f;
    float step_div_Cap;
    float Rx_1, Ry_1, Rz_1;

    int bx = blockIdx.x;
    int by = blockIdx.y;
    int tx = threadIdx.x;
    int ty = threadIdx.y;

    step_div_Cap = step / Cap;
    Rx_1 = 1 / Rx;
    Ry_1 = 1 / Ry;
    Rz_1 = 1 / Rz;

    int small_block_rows = BLOCK_SIZE - iteration * 2;
    int small_block_cols = BLOCK_SIZE - iteration * 2;

    int blkY = small_block_rows * by - border_rows;
    int blkX = small_block_cols * bx - border_cols;
    int blkYmax = blkY + BLOCK_SIZE - 1;
    int blkXmax = blkX + BLOCK_SIZE - 1;

    int yidx = blkY + ty;
    int xidx = blkX + tx;
    int index = grid_cols * yidx + xidx;

    if (IN_RANGE(yidx, 0, grid_rows - 1) && IN_RANGE(xidx, 0, grid_cols - 1)) {
        temp_on_cuda[ty][tx] = temp_src[index];
        power_on_cuda[ty][tx] = power[index];
    }
    __syncthreads();

    int validYmin = (blkY < 0) ? -blkY : 0;
    int validYmax = (blkYmax > grid_rows - 1) ? BLOCK_SIZE - 1 - (blkYmax - grid_rows + 1) : BLOCK_SIZE - 1;
    int validXmin = (blkX < 0) ? -blkX : 0;
    int validXmax = (blkXmax > grid_cols - 1) ? BLOCK_SIZE - 1 - (blkXmax - grid_cols + 1) : BLOCK_SIZE - 1;

    int N = ty - 1;
    int S = ty + 1;
    int W = tx - 1;
    int E = tx + 1;
    N = (N < validYmin) ? validYmin : N;
    S = (S > validYmax) ? validYmax : S;
    W = (W < validXmin) ? validXmin : W;
    E = (E > validXmax) ? validXmax : E;

    bool computed;
    for (int i = 0; i < iteration; i++) {
        computed = false;
        if (IN_RANGE(tx, i + 1, BLOCK_SIZE - i - 2) &&
            IN_RANGE(ty, i + 1, BLOCK_SIZE - i - 2) &&
            IN_RANGE(tx, validXmin, validXmax) &&
            IN_RANGE(ty, validYmin, validYmax)) {
            computed = true;
            temp_t[ty][tx] = temp_on_cuda[ty][tx] + step_div_Cap * (power_on_cuda[ty][tx] +
                (temp_on_cuda[S][tx] + temp_on_cuda[N][tx] - 2.0f * temp_on_cuda[ty][tx]) * Ry_1 +
                (temp_on_cuda[ty][E] + temp_on_cuda[ty][W] - 2.0f * temp_on_cuda[ty][tx]) * Rx_1 +
                (amb_temp - temp_on_cuda[ty][tx]) * Rz_1);
        }
        __syncthreads();
        if (i == iteration - 1)
            break;
        if (computed) // assign the computation range
            temp_on_cuda[ty][tx] = temp_t[ty][tx];
        __syncthreads();
    }
    if (computed)
        temp_dst[index] = temp_t[ty][tx];
}

#define PF_BLOCK 256
#define PF_HALO 1
__global__ void dynproc_kernel(int iteration, const int *gpuWall, const int *gpuSrc, int *gpuResults,
                               int cols, int startStep, int border)
{
    __shared__ int prev[PF_BLOCK];
    __shared__ int result[PF_BLOCK];

    int bx = blockIdx.x;
    int tx = threadIdx.x;
    int small_block_cols = PF_BLOCK - iteration * PF_HALO * 2;
    int blkX = small_block_cols * bx - border;
    int blkXmax = blkX + PF_BLOCK - 1;
    int xidx = blkX + tx;

    int validXmin = (blkX < 0) ? -blkX : 0;
    int validXmax = (blkXmax > cols - 1) ? PF_BLOCK - 1 - (blkXmax - cols + 1) : PF_BLOCK - 1;
    int W = tx - 1;
    int E = tx + 1;
    W = (W < validXmin) ? validXmin : W;
    E = (E > validXmax) ? validXmax : E;
    bool isValid = IN_RANGE(tx, validXmin, validXmax);

    if (IN_RANGE(xidx, 0, cols - 1))
        prev[tx] = gpuSrc[xidx];
    __syncthreads();

    bool computed;
    for (int i = 0; i < iteration; i++) {
        computed = false;
        if (IN_RANGE(tx, i + 1, PF_BLOCK - i - 2) && isValid) {
            computed = true;
            int left = prev[W];
            int up = prev[tx];
            int right = prev[E];
            int shortest = MIN(left, up);
            shortest = MIN(shortest, right);
            int index = cols * (startStep + i) + xidx;
            result[tx] = shortest + gpuWall[index];
        }
        __syncthreads();
        if (i == iteration - 1)
            break;
        if (computed)
            prev[tx] = result[tx];
        __syncthreads();
    }
    if (computed)
        gpuResults[xidx] = result[tx];
}

__global__ void srad_cuda_1(float *E_C, float *W_C, float *N_C, float *S_C, const float *J_cuda, float *C_cuda,
                            int cols, int rows, float q0sqr)
{
    int bx = blockIdx.x;
    int by = blockIdx.y;
    int tx = threadIdx.x;
    int ty = threadIdx.y;

    int index = cols * BLOCK_SIZE * by + BLOCK_SIZE * bx + cols * ty + tx;
    int index_n = cols * BLOCK_SIZE * by + BLOCK_SIZE * bx + tx - cols;
    int index_s = cols * BLOCK_SIZE * by + BLOCK_SIZE * bx + cols * BLOCK_SIZE + tx;
    int index_w = cols * BLOCK_SIZE * by + BLOCK_SIZE * bx + cols * ty - 1;
    int index_e = cols * BLOCK_SIZE * by + BLOCK_SIZE * bx + cols * ty + BLOCK_SIZE;

    float n, w, e, s, jc, g2, l, num, den, qsqr, c;

    __shared__ float temp[BLOCK_SIZE][BLOCK_SIZE];
    __shared__ float temp_result[BLOCK_SIZE][BLOCK_SIZE];
    __shared__ float north[BLOCK_SIZE][BLOCK_SIZE];
    __shared__ float south[BLOCK_SIZE][BLOCK_SIZE];
    __shared__ float east[BLOCK_SIZE][BLOCK_SIZE];
    __shared__ float west[BLOCK_SIZE][BLOCK_SIZE];

    if (by == 0) north[ty][tx] = J_cuda[BLOCK_SIZE * bx + tx];
    else north[ty][tx] = J_cuda[index_n];
    if (by == gridDim.y - 1) south[ty][tx] = J_cuda[cols * BLOCK_SIZE * (gridDim.y - 1) + BLOCK_SIZE * bx + cols * (BLOCK_SIZE - 1) + tx];
    else south[ty][tx] = J_cuda[index_s];
    if (bx == 0) west[ty][tx] = J_cuda[cols * BLOCK_SIZE * by + cols * ty];
    else west[ty][tx] = J_cuda[index_w];
    if (bx == gridDim.x - 1) east[ty][tx] = J_cuda[cols * BLOCK_SIZE * by + BLOCK_SIZE * (gridDim.x - 1) + cols * ty + BLOCK_SIZE - 1];
    else east[ty][tx] = J_cuda[index_e];
    __syncthreads();

    temp[ty][tx] = J_cuda[index];
    __syncthreads();

    jc = temp[ty][tx];
    n = (ty == 0 ? north[ty][tx] : temp[ty - 1][tx]) - jc;
    s = (ty == BLOCK_SIZE - 1 ? south[ty][tx] : temp[ty + 1][tx]) - jc;
    w = (tx == 0 ? west[ty][tx] : temp[ty][tx - 1]) - jc;
    e = (tx == BLOCK_SIZE - 1 ? east[ty][tx] : temp[ty][tx + 1]) - jc;

    g2 = (n * n + s * s + w * w + e * e) / (jc * jc + 0.01f);
    l = (n + s + w + e) / (jc + 0.1f);
    num = (0.5f * g2) - ((1.0f / 16.0f) * (l * l));
    den = 1 + (.25f * l);
    qsqr = num / (den * den + 0.01f);
    den = (qsqr - q0sqr) / (q0sqr * (1 + q0sqr));
    c = 1.0f / (1.0f + fabsf(den));

    if (c < 0) temp_result[ty][tx] = 0;
    else if (c > 1) temp_result[ty][tx] = 1;
    else temp_result[ty][tx] = c;
    __syncthreads();

    C_cuda[index] = temp_result[ty][tx];
    E_C[index] = e;
    W_C[index] = w;
    S_C[index] = s;
    N_C[index] = n;
}

__device__ __host__ inline int maximum(int a, int b, int c)
{
    int k = a <= b ? b : a;
    return k <= c ? c : k;
}

// one independent tile per block: borders come from two strips
__global__ void needle_tile(const int *referrence, const int *top, const int *left, int *matrix_cuda,
                            int cols, int penalty)
{
    int bx = blockIdx.x, by = blockIdx.y;
    int tx = threadIdx.x;
    __shared__ int temp[BLOCK_SIZE * 2 + 1][BLOCK_SIZE * 2 + 1];
    __shared__ int ref[BLOCK_SIZE * 2][BLOCK_SIZE * 2];
    const int B = BLOCK_SIZE * 2;
    int base = cols * B * by + B * bx;

    if (tx == 0)
        temp[0][0] = top[by * cols + bx * B];
    for (int ty = 0; ty < B; ty++)
        ref[ty][tx] = referrence[base + cols * ty + tx];
    temp[tx + 1][0] = left[base / B + tx] - penalty * (tx + 1);
    temp[0][tx + 1] = top[by * cols + bx * B + tx] - penalty * (tx + 1);
    __syncthreads();

    for (int m = 0; m < B; m++) {
        if (tx <= m) {
            int t_index_x = tx + 1;
            int t_index_y = m - tx + 1;
            temp[t_index_y][t_index_x] = maximum(temp[t_index_y - 1][t_index_x - 1] + ref[t_index_y - 1][t_index_x - 1],
                                                 temp[t_index_y][t_index_x - 1] - penalty,
                                                 temp[t_index_y - 1][t_index_x] - penalty);
        }
        __syncthreads();
    }
    for (int m = B - 2; m >= 0; m--) {
        if (tx <= m) {
            int t_index_x = tx + B - m;
            int t_index_y = B - tx;
            temp[t_index_y][t_index_x] = maximum(temp[t_index_y - 1][t_index_x - 1] + ref[t_index_y - 1][t_index_x - 1],
                                                 temp[t_index_y][t_index_x - 1] - penalty,
                                                 temp[t_index_y - 1][t_index_x] - penalty);
        }
        __syncthreads();
    }
    for (int ty = 0; ty < B; ty++)
        matrix_cuda[base + ty * cols + tx] = temp[ty + 1][tx + 1];
}

__global__ void lud_internal(float *m, int matrix_dim, int offset)
{
    __shared__ float peri_row[BLOCK_SIZE][BLOCK_SIZE];
    __shared__ float peri_col[BLOCK_SIZE][BLOCK_SIZE];
    int i;
    float sum;
    int global_row_id = offset + (blockIdx.y + 1) * BLOCK_SIZE;
    int global_col_id = offset + (blockIdx.x + 1) * BLOCK_SIZE;

    peri_row[threadIdx.y][threadIdx.x] = m[(offset + threadIdx.y) * matrix_dim + global_col_id + threadIdx.x];
    peri_col[threadIdx.y][threadIdx.x] = m[(global_row_id + threadIdx.y) * matrix_dim + offset + threadIdx.x];
    __syncthreads();

    sum = 0;
    for (i = 0; i < BLOCK_SIZE; i++)
        sum += peri_col[threadIdx.y][i] * peri_row[i][threadIdx.x];
    m[(global_row_id + threadIdx.y) * matrix_dim + global_col_id + threadIdx.x] -= sum;
}

#define HEIGHT 16
#define WIDTH 16
__global__ void bpnn_layerforward_CUDA(const float *input_cuda, float *input_hidden_cuda, float *hidden_partial_sum,
                                       int in, int hid)
{
    int by = blockIdx.y;
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int index = (hid + 1) * HEIGHT * by + (hid + 1) * ty + tx + 1 + (hid + 1);
    int index_in = HEIGHT * by + ty + 1;

    __shared__ float input_node[HEIGHT];
    __shared__ float weight_matrix[HEIGHT][WIDTH];

    if (tx == 0)
        input_node[ty] = input_cuda[index_in];
    __syncthreads();
    weight_matrix[ty][tx] = input_hidden_cuda[index];
    __syncthreads();
    weight_matrix[ty][tx] = weight_matrix[ty][tx] * input_node[ty];
    __syncthreads();

    for (int i = 1; i <= 4; i++) {
        int power_two = 1 << i;
        if (ty % power_two == 0)
            weight_matrix[ty][tx] = weight_matrix[ty][tx] + weight_matrix[ty + power_two / 2][tx];
        __syncthreads();
    }
    input_hidden_cuda[index] = weight_matrix[ty][tx];
    __syncthreads();
    if (tx == 0)
        hidden_partial_sum[by * hid + ty] = weight_matrix[tx][ty];
}

typedef struct { float v, x, y, z; } FOUR_VECTOR;
#define NUMBER_PAR_PER_BOX 100
#define LAVA_THREADS 128
#define DOT3(A, B) ((A.x) * (B.x) + (A.y) * (B.y) + (A.z) * (B.z))
__global__ void kernel_gpu_cuda(const FOUR_VECTOR *d_rv, const float *d_qv, FOUR_VECTOR *d_fv, int boxes1d, float a2)
{
    int bx = blockIdx.x;
    int tx = threadIdx.x;
    int wtx = tx;
    __shared__ FOUR_VECTOR rA_shared[100];
    __shared__ FOUR_VECTOR rB_shared[100];
    __shared__ float qB_shared[100];

    int first_i = bx * NUMBER_PAR_PER_BOX;
    while (wtx < NUMBER_PAR_PER_BOX) {
        rA_shared[wtx] = d_rv[first_i + wtx];
        wtx = wtx + LAVA_THREADS;
    }
    wtx = tx;
    __syncthreads();

    int cz = bx / (boxes1d * boxes1d), cy = (bx / boxes1d) % boxes1d, cx = bx % boxes1d;
    FOUR_VECTOR fsum = {0, 0, 0, 0};
    for (int k = 0; k < 27; k++) {
        int nx = cx + k % 3 - 1, ny = cy + (k / 3) % 3 - 1, nz = cz + k / 9 - 1;
        if (nx < 0 || ny < 0 || nz < 0 || nx >= boxes1d || ny >= boxes1d || nz >= boxes1d)
            continue; // the same for all threads of the block
        int first_j = ((nz * boxes1d + ny) * boxes1d + nx) * NUMBER_PAR_PER_BOX;
        while (wtx < NUMBER_PAR_PER_BOX) {
            rB_shared[wtx] = d_rv[first_j + wtx];
            qB_shared[wtx] = d_qv[first_j + wtx];
            wtx = wtx + LAVA_THREADS;
        }
        wtx = tx;
        __syncthreads();
        while (wtx < NUMBER_PAR_PER_BOX) {
            for (int j = 0; j < NUMBER_PAR_PER_BOX; j++) {
                float r2 = rA_shared[wtx].v + rB_shared[j].v - DOT3(rA_shared[wtx], rB_shared[j]);
                float u2 = a2 * r2;
                float vij = expf(-u2);
                float fs = 2 * vij;
                fsum.v += qB_shared[j] * vij;
                fsum.x += qB_shared[j] * (fs * (rA_shared[wtx].x - rB_shared[j].x));
                fsum.y += qB_shared[j] * (fs * (rA_shared[wtx].y - rB_shared[j].y));
                fsum.z += qB_shared[j] * (fs * (rA_shared[wtx].z - rB_shared[j].z));
            }
            wtx = wtx + LAVA_THREADS;
        }
        wtx = tx;
        __syncthreads();
    }
    if (tx < NUMBER_PAR_PER_BOX)
        d_fv[first_i + tx] = fsum;
}

#define NUMBER_THREADS 512
__global__ void srad_reduce(long d_no, const float *d_sums, const float *d_sums2, float *out, float *out2)
{
    int bx = blockIdx.x;
    int tx = threadIdx.x;
    int ei = (bx * NUMBER_THREADS) + tx;
    int nf = NUMBER_THREADS - (gridDim.x * NUMBER_THREADS - d_no);
    int df = 0;
    int i;
    __shared__ float psum[NUMBER_THREADS];
    __shared__ float psum2[NUMBER_THREADS];

    if (ei < d_no) {
        psum[tx] = d_sums[ei];
        psum2[tx] = d_sums2[ei] * d_sums2[ei];
    }
    __syncthreads();

    if (nf == NUMBER_THREADS || bx != (gridDim.x - 1)) {
        for (i = 2; i <= NUMBER_THREADS; i = 2 * i) {
            if ((tx + 1) % i == 0) {
                psum[tx] = psum[tx] + psum[tx - i / 2];
                psum2[tx] = psum2[tx] + psum2[tx - i / 2];
            }
            __syncthreads();
        }
        if (tx == (NUMBER_THREADS - 1)) {
            out[bx] = psum[tx];
            out2[bx] = psum2[tx];
        }
    } else {
        for (i = 2; i <= NUMBER_THREADS; i = 2 * i) {
            if (nf >= i)
                df = i;
        }
        for (i = 2; i <= df; i = 2 * i) {
            if ((tx + 1) % i == 0 && tx < df) {
                psum[tx] = psum[tx] + psum[tx - i / 2];
                psum2[tx] = psum2[tx] + psum2[tx - i / 2];
            }
            __syncthreads();
        }
        if (tx == (df - 1)) {
            for (i = (bx * NUMBER_THREADS) + df; i < (bx * NUMBER_THREADS) + nf; i++) {
                psum[tx] = psum[tx] + d_sums[i];
                psum2[tx] = psum2[tx] + d_sums2[i] * d_sums2[i];
            }
            out[bx] = psum[tx];
            out2[bx] = psum2[tx];
        }
    }
}

int main(int argc, char **argv)
{
    const size_t N = 1 << 24;
    float *f0 = mk<float>(N), *f1 = mk<float>(N), *f2 = mk<float>(N), *f3 = mk<float>(N), *f4 = mk<float>(N), *f5 = mk<float>(N), *f6 = mk<float>(N);

    int rows = 2048, cols = 2040, it = 3;
    int small = BLOCK_SIZE - it * 2, border = it * EXPAND_RATE / 2;
    dim3 hgrid((cols + small - 1) / small, (rows + small - 1) / small);
    calculate_temp<<<hgrid, dim3(BLOCK_SIZE, BLOCK_SIZE)>>>(it, f0, f1, f2, cols, rows, border, border, 0.5f, 1.3f, 1.7f, 4.5f, 0.1f);
    show("calculate_temp", f2, (size_t)rows * cols * sizeof(float));

    int pcols = 1000003, steps = 20;
    int *wall = mk<int>((size_t)pcols * steps), *src = mk<int>(pcols), *res = mk<int>(pcols);
    int psmall = PF_BLOCK - steps * PF_HALO * 2;
    dynproc_kernel<<<(pcols + psmall - 1) / psmall, PF_BLOCK>>>(steps, wall, src, res, pcols, 0, steps);
    show("dynproc_kernel", res, pcols * sizeof(int));

    srad_cuda_1<<<dim3(2048 / 16, 2048 / 16), dim3(16, 16)>>>(f2, f3, f4, f5, f0, f6, 2048, 2048, 0.05f);
    show("srad_cuda_1", f6, 2048 * 2048 * sizeof(float));

    int nw = 4096;
    int *ref = mk<int>((size_t)nw * nw), *top = mk<int>((size_t)(nw / 32) * nw), *left = mk<int>((size_t)nw * nw / 32 + 32), *mat;
    cudaMalloc(&mat, (size_t)nw * nw * sizeof(int));
    needle_tile<<<dim3(nw / 32, nw / 32), 32>>>(ref, top, left, mat, nw, 10);
    show("needle_tile", mat, (size_t)nw * nw * sizeof(int));

    lud_internal<<<dim3(255, 255), dim3(16, 16)>>>(f1, 4096, 0);
    show("lud_internal", f1, N * sizeof(float));

    int in = 65535 * 16, hid = 16;
    float *w = mk<float>((size_t)(in + 1) * (hid + 1)), *part = mk<float>((size_t)65535 * hid);
    bpnn_layerforward_CUDA<<<dim3(1, 65535), dim3(16, 16)>>>(f0, w, part, in, hid);
    show("bpnn_layerforward_CUDA", part, (size_t)65535 * hid * sizeof(float));

    int nb = 14;
    size_t np = (size_t)nb * nb * nb * NUMBER_PAR_PER_BOX;
    kernel_gpu_cuda<<<nb * nb * nb, LAVA_THREADS>>>((FOUR_VECTOR *)f0, f2, (FOUR_VECTOR *)f3, nb, 0.02f);
    show("kernel_gpu_cuda", f3, np * sizeof(FOUR_VECTOR));

    long d_no = (1 << 24) - 77;
    int blocks = (d_no + NUMBER_THREADS - 1) / NUMBER_THREADS;
    cudaMemset(f4, 0, N * sizeof(float));
    srad_reduce<<<blocks, NUMBER_THREADS>>>(d_no, f0, f5, f4, f6);
    show("srad_reduce", f4, blocks * sizeof(float));
    return 0;
}
