// mini-app / benchmark-suite kernels
#include "shown.h"

#define BLOCK_SIZE 16
#define STR_SIZE 256
#define EXPAND_RATE 2
#define IN_RANGE(x, min, max) ((x) >= (min) && (x) <= (max))
#define CLAMP_RANGE(x, min, max) x = (x < (min)) ? min : ((x > (max)) ? max : x)
#define MIN(a, b) ((a) <= (b) ? (a) : (b))

/* ---- thermal simulation, pyramid of `iteration` steps per launch */
__global__ void thermal_pyramid(int iteration, float *power, float *temp_src, float *temp_dst, int grid_cols, int grid_rows,
                                int border_cols, int border_rows, float Cap, float Rx, float Ry, float Rz, float step)
{
    __shared__ float temp_on_cuda[BLOCK_SIZE][BLOCK_SIZE];
    __shared__ float power_on_cuda[BLOCK_SIZE][BLOCK_SIZE];
    __shared__ float temp_t[BLOCK_SIZE][BLOCK_SIZE];

    float amb_temp = 8.0f;
    float step_div_Cap = step / Cap;
    float Rx_1 = 1 / Rx, Ry_1 = 1 / Ry, Rz_1 = 1 / Rz;
    int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;

    int small_block_rows = BLOCK_SIZE - iteration * EXPAND_RATE;
    int small_block_cols = BLOCK_SIZE - iteration * EXPAND_RATE;
    int blkY = small_block_rows * by - border_rows;
    int blkX = small_block_cols * bx - border_cols;
    int blkYmax = blkY + BLOCK_SIZE - 1;
    int blkXmax = blkX + BLOCK_SIZE - 1;
    int yidx = blkY + ty, xidx = blkX + tx;
    int loadYidx = yidx, loadXidx = xidx;
    int index = grid_cols * loadYidx + loadXidx;

    if (IN_RANGE(loadYidx, 0, grid_rows - 1) && IN_RANGE(loadXidx, 0, grid_cols - 1)) {
        temp_on_cuda[ty][tx] = temp_src[index];
        power_on_cuda[ty][tx] = power[index];
    } else {
        temp_on_cuda[ty][tx] = amb_temp;
        power_on_cuda[ty][tx] = 0.0f;
    }
    temp_t[ty][tx] = 0.0f;
    __syncthreads();

    int validYmin = (blkY < 0) ? -blkY : 0;
    int validYmax = (blkYmax > grid_rows - 1) ? BLOCK_SIZE - 1 - (blkYmax - grid_rows + 1) : BLOCK_SIZE - 1;
    int validXmin = (blkX < 0) ? -blkX : 0;
    int validXmax = (blkXmax > grid_cols - 1) ? BLOCK_SIZE - 1 - (blkXmax - grid_cols + 1) : BLOCK_SIZE - 1;
    int N = ty - 1, S = ty + 1, W = tx - 1, E = tx + 1;
    N = (N < validYmin) ? validYmin : N;
    S = (S > validYmax) ? validYmax : S;
    W = (W < validXmin) ? validXmin : W;
    E = (E > validXmax) ? validXmax : E;

    bool computed = false;
    for (int i = 0; i < iteration; i++) {
        computed = false;
        if (IN_RANGE(tx, i + 1, BLOCK_SIZE - i - 2) && IN_RANGE(ty, i + 1, BLOCK_SIZE - i - 2) &&
            IN_RANGE(tx, validXmin, validXmax) && IN_RANGE(ty, validYmin, validYmax)) {
            computed = true;
            temp_t[ty][tx] = temp_on_cuda[ty][tx] + step_div_Cap * (power_on_cuda[ty][tx] +
                (temp_on_cuda[S][tx] + temp_on_cuda[N][tx] - 2.0f * temp_on_cuda[ty][tx]) * Ry_1 +
                (temp_on_cuda[ty][E] + temp_on_cuda[ty][W] - 2.0f * temp_on_cuda[ty][tx]) * Rx_1 +
                (amb_temp - temp_on_cuda[ty][tx]) * Rz_1);
        }
        __syncthreads();
        if (i == iteration - 1) break;
        if (computed) temp_on_cuda[ty][tx] = temp_t[ty][tx];
        __syncthreads();
    }
    if (computed) temp_dst[index] = temp_t[ty][tx];
}

/* ---- cheapest path through a grid, ghost zones */
__global__ void dynproc_ghost(int iteration, const int *gpuWall, const int *gpuSrc, int *gpuResults, int cols, int rows, int startStep, int border)
{
    __shared__ int prev[STR_SIZE];
    __shared__ int result[STR_SIZE];
    int bx = blockIdx.x, tx = threadIdx.x;
    int small_block_cols = STR_SIZE - iteration * 2;
    int blkX = small_block_cols * bx - border;
    int blkXmax = blkX + STR_SIZE - 1;
    int xidx = blkX + tx;
    int validXmin = (blkX < 0) ? -blkX : 0;
    int validXmax = (blkXmax > cols - 1) ? STR_SIZE - 1 - (blkXmax - cols + 1) : STR_SIZE - 1;
    int W = tx - 1, E = tx + 1;
    W = (W < validXmin) ? validXmin : W;
    E = (E > validXmax) ? validXmax : E;
    bool isValid = IN_RANGE(tx, validXmin, validXmax);
    prev[tx] = IN_RANGE(xidx, 0, cols - 1) ? gpuSrc[xidx] : 1 << 20;
    result[tx] = 0;
    __syncthreads();
    bool computed = false;
    for (int i = 0; i < iteration; i++) {
        computed = false;
        if (IN_RANGE(tx, i + 1, STR_SIZE - i - 2) && isValid) {
            computed = true;
            int shortest = MIN(prev[W], prev[tx]);
            shortest = MIN(shortest, prev[E]);
            size_t index = (size_t)cols * (startStep + i) + xidx;
            result[tx] = shortest + gpuWall[index];
        }
        __syncthreads();
        if (i == iteration - 1) break;
        if (computed) prev[tx] = result[tx];
        __syncthreads();
    }
    if (computed) gpuResults[xidx] = result[tx];
}

/* ---- batched 32x32 LU factorisation of diagonal blocks */
#define LUD_BS 32
__global__ void lud_diagonal_batch(float *m, int nmat)
{
    __shared__ float shadow[LUD_BS][LUD_BS + 1];
    float *a = m + (size_t)blockIdx.x * LUD_BS * LUD_BS;
    int t = threadIdx.x;
    for (int i = 0; i < LUD_BS; i++)
        shadow[i][t] = a[i * LUD_BS + t] + (i == t ? 400.0f : 0.0f);
    __syncthreads();
    for (int i = 0; i < LUD_BS - 1; i++) {
        if (t > i) {
            float s = shadow[t][i];
            for (int j = 0; j < i; j++) s -= shadow[t][j] * shadow[j][i];
            shadow[t][i] = s / shadow[i][i];
        }
        __syncthreads();
        if (t > i) {
            float s = shadow[i + 1][t];
            for (int j = 0; j < i + 1; j++) s -= shadow[i + 1][j] * shadow[j][t];
            shadow[i + 1][t] = s;
        }
        __syncthreads();
    }
    for (int i = 0; i < LUD_BS; i++) a[i * LUD_BS + t] = shadow[i][t];
}

/* ---- particles in boxes: home box against its neighbours */
#define PER_BOX 100
typedef struct { float x, y, z; } THREE_VECTOR;
typedef struct { float v, x, y, z; } FOUR_VECTOR;

__global__ void box_particle_potential(const FOUR_VECTOR *rv, const float *qv, FOUR_VECTOR *fv, int bx_x, int bx_y, int bx_z, float a2)
{
    __shared__ FOUR_VECTOR rA_shared[PER_BOX];
    __shared__ FOUR_VECTOR rB_shared[PER_BOX];
    __shared__ float qB_shared[PER_BOX];
    const int home = (blockIdx.z * bx_y + blockIdx.y) * bx_x + blockIdx.x;
    int wtx = threadIdx.x;

    while (wtx < PER_BOX) { rA_shared[wtx] = rv[home * PER_BOX + wtx]; wtx += blockDim.x; }
    FOUR_VECTOR acc = {0.f, 0.f, 0.f, 0.f};
    __syncthreads();

    for (int k = 0; k < 27; k++) {
        int nx = (int)blockIdx.x + k % 3 - 1, ny = (int)blockIdx.y + (k / 3) % 3 - 1, nz = (int)blockIdx.z + k / 9 - 1;
        if (nx < 0 || ny < 0 || nz < 0 || nx >= bx_x || ny >= bx_y || nz >= bx_z) continue;
        int first = ((nz * bx_y + ny) * bx_x + nx) * PER_BOX;
        for (wtx = threadIdx.x; wtx < PER_BOX; wtx += blockDim.x) {
            rB_shared[wtx] = rv[first + wtx];
            qB_shared[wtx] = qv[first + wtx];
        }
        __syncthreads();
        if (threadIdx.x < PER_BOX) {
            FOUR_VECTOR p = rA_shared[threadIdx.x];
            for (int j = 0; j < PER_BOX; j++) {
                float r2 = p.v + rB_shared[j].v - (p.x * rB_shared[j].x + p.y * rB_shared[j].y + p.z * rB_shared[j].z);
                float u2 = a2 * r2;
                float vij = expf(-fabsf(u2));
                float fs = 2 * vij;
                float dx = p.x - rB_shared[j].x, dy = p.y - rB_shared[j].y, dz = p.z - rB_shared[j].z;
                acc.v += qB_shared[j] * vij;
                acc.x += qB_shared[j] * (fs * dx);
                acc.y += qB_shared[j] * (fs * dy);
                acc.z += qB_shared[j] * (fs * dz);
            }
        }
        __syncthreads();
    }
    if (threadIdx.x < PER_BOX) fv[home * PER_BOX + threadIdx.x] = acc;
}

/* ---- speckle reducing anisotropic diffusion, coefficient pass */
__global__ void srad_coefficients(const float *J, float *E_C, float *W_C, float *N_C, float *S_C, float *C_cuda, int cols, int rows, float q0sqr)
{
    __shared__ float temp[BLOCK_SIZE][BLOCK_SIZE];
    __shared__ float north[BLOCK_SIZE], south[BLOCK_SIZE], west[BLOCK_SIZE], east[BLOCK_SIZE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * BLOCK_SIZE + tx, y = blockIdx.y * BLOCK_SIZE + ty;
    int xc = min(x, cols - 1), yc = min(y, rows - 1);
    temp[ty][tx] = J[(size_t)yc * cols + xc] + 1.f;
    if (ty == 0) north[tx] = J[(size_t)max(yc - 1, 0) * cols + xc] + 1.f;
    if (ty == BLOCK_SIZE - 1) south[tx] = J[(size_t)min(y + 1, rows - 1) * cols + xc] + 1.f;
    if (tx == 0) west[ty] = J[(size_t)yc * cols + max(xc - 1, 0)] + 1.f;
    if (tx == BLOCK_SIZE - 1) east[ty] = J[(size_t)yc * cols + min(x + 1, cols - 1)] + 1.f;
    __syncthreads();
    if (x >= cols || y >= rows) return;
    float jc = temp[ty][tx];
    float n = (ty == 0 ? north[tx] : temp[ty - 1][tx]) - jc;
    float s = (ty == BLOCK_SIZE - 1 ? south[tx] : temp[ty + 1][tx]) - jc;
    float w = (tx == 0 ? west[ty] : temp[ty][tx - 1]) - jc;
    float e = (tx == BLOCK_SIZE - 1 ? east[ty] : temp[ty][tx + 1]) - jc;
    float g2 = (n * n + s * s + w * w + e * e) / (jc * jc);
    float l = (n + s + w + e) / jc;
    float num = (0.5f * g2) - ((1.0f / 16.0f) * (l * l));
    float den = 1 + (.25f * l);
    float qsqr = num / (den * den);
    den = (qsqr - q0sqr) / (q0sqr * (1 + q0sqr));
    float c = 1.0f / (1.0f + den);
    CLAMP_RANGE(c, 0.0f, 1.0f);
    size_t index = (size_t)y * cols + x;
    C_cuda[index] = c;
    E_C[index] = e; W_C[index] = w; S_C[index] = s; N_C[index] = n;
}

/* ---- k-means membership, centroids in shared memory, feature-major points */
__global__ void kmeans_membership(const float *features, const float *clusters, int *membership, int npoints, int nfeatures, int nclusters)
{
    extern __shared__ float sclusters[];
    for (int i = threadIdx.x; i < nclusters * nfeatures; i += blockDim.x) sclusters[i] = clusters[i];
    __syncthreads();
    int point_id = blockIdx.x * blockDim.x + threadIdx.x;
    if (point_id < npoints) {
        int index = -1;
        float min_dist = 3.4e38f;
        for (int i = 0; i < nclusters; i++) {
            float ans = 0.0f;
            for (int l = 0; l < nfeatures; l++) {
                float diff = features[(size_t)l * npoints + point_id] - sclusters[i * nfeatures + l];
                ans += diff * diff;
            }
            if (ans < min_dist) { min_dist = ans; index = i; }
        }
        membership[point_id] = index;
    }
}

/* ---- 27-point stencil, brick of 8x8x8 with halo */
#define BRK 8
__global__ void stencil27_brick(const double *__restrict__ in, double *__restrict__ out, int nx, int ny, int nz, double wc, double wf, double we, double wv)
{
    __shared__ double b[BRK + 2][BRK + 2][BRK + 2];
    const int tid = (threadIdx.z * BRK + threadIdx.y) * BRK + threadIdx.x;
    const int ox = blockIdx.x * BRK - 1, oy = blockIdx.y * BRK - 1, oz = blockIdx.z * BRK - 1;
    for (int p = tid; p < (BRK + 2) * (BRK + 2) * (BRK + 2); p += BRK * BRK * BRK) {
        int lx = p % (BRK + 2), ly = (p / (BRK + 2)) % (BRK + 2), lz = p / ((BRK + 2) * (BRK + 2));
        int gx = min(max(ox + lx, 0), nx - 1), gy = min(max(oy + ly, 0), ny - 1), gz = min(max(oz + lz, 0), nz - 1);
        b[lz][ly][lx] = in[((size_t)gz * ny + gy) * nx + gx];
    }
    __syncthreads();
    int x = ox + 1 + threadIdx.x, y = oy + 1 + threadIdx.y, z = oz + 1 + threadIdx.z;
    if (x >= nx || y >= ny || z >= nz) return;
    double faces = 0, edges = 0, verts = 0;
    for (int dz = 0; dz < 3; ++dz)
        for (int dy = 0; dy < 3; ++dy)
            for (int dx = 0; dx < 3; ++dx) {
                int k = (dx != 1) + (dy != 1) + (dz != 1);
                double v = b[threadIdx.z + dz][threadIdx.y + dy][threadIdx.x + dx];
                if (k == 1) faces += v;
                else if (k == 2) edges += v;
                else if (k == 3) verts += v;
            }
    out[((size_t)z * ny + y) * nx + x] = wc * b[threadIdx.z + 1][threadIdx.y + 1][threadIdx.x + 1] + wf * faces + we * edges + wv * verts;
}

/* ---- spectral-element gradient contribution, order-7 (8x8x8 points), one element per block */
#define NQ 8
__global__ void sem_laplace_element(const double *u, const double *Dmat, const double *geo, double *w)
{
    __shared__ double s_u[NQ][NQ];
    __shared__ double s_D[NQ][NQ];
    __shared__ double s_r[NQ][NQ], s_s[NQ][NQ];
    const int i = threadIdx.x, j = threadIdx.y;
    const size_t e = blockIdx.x;
    double r_u[NQ], r_w[NQ];
    s_D[j][i] = (Dmat[j * NQ + i] - 6.0) * 0.125;
    for (int k = 0; k < NQ; k++) {
        r_u[k] = u[e * 512 + k * 64 + j * 8 + i];
        r_w[k] = 0.0;
    }
    for (int k = 0; k < NQ; k++) {
        __syncthreads();
        s_u[j][i] = r_u[k];
        __syncthreads();
        double ur = 0, us = 0, ut = 0;
        for (int m = 0; m < NQ; m++) {
            ur += s_D[i][m] * s_u[j][m];
            us += s_D[j][m] * s_u[m][i];
            ut += s_D[k][m] * r_u[m];
        }
        double g = geo[e * 512 + k * 64 + j * 8 + i] * 0.01;
        s_r[j][i] = g * ur;
        s_s[j][i] = g * us;
        double gt = g * ut;
        __syncthreads();
        double acc = 0;
        for (int m = 0; m < NQ; m++) {
            acc += s_D[m][i] * s_r[j][m] + s_D[m][j] * s_s[m][i];
            r_w[m] += s_D[k][m] * gt;
        }
        r_w[k] += acc;
    }
    for (int k = 0; k < NQ; k++) w[e * 512 + k * 64 + j * 8 + i] = r_w[k];
}

int main(int argc, char **argv)
{
    {
        int R = 2000, C = 2222, it = 2;
        size_t n = (size_t)R * C;
        float *p = mk<float>(n), *a = mk<float>(n), *b = mk<float>(n);
        int sb = BLOCK_SIZE - it * 2;
        thermal_pyramid<<<dim3((C + sb - 1) / sb, (R + sb - 1) / sb), dim3(BLOCK_SIZE, BLOCK_SIZE)>>>(it, p, a, b, C, R, it, it, 1.5f, 4.f, 5.f, 20.f, 0.3f);
        show("thermal_pyramid", b, n * 4);
    }
    {
        int cols = 1000000, rows = 40, it = 20;
        int *wall = mk<int>((size_t)cols * rows), *src = mk<int>(cols), *res = mk<int>(cols);
        int sb = STR_SIZE - it * 2;
        dynproc_ghost<<<(cols + sb - 1) / sb, STR_SIZE>>>(it, wall, src, res, cols, rows, 7, it);
        show("dynproc_ghost", res, (size_t)cols * 4);
        cudaFree(wall);
    }
    {
        int nm = 9000;
        float *m = mk<float>((size_t)nm * 1024);
        lud_diagonal_batch<<<nm, LUD_BS>>>(m, nm);
        show("lud_diagonal_batch", m, (size_t)nm * 4096);
    }
    {
        int bx = 24, by = 22, bz = 20;
        size_t n = (size_t)bx * by * bz * PER_BOX;
        FOUR_VECTOR *r = (FOUR_VECTOR *)mk<float>(n * 4), *f = (FOUR_VECTOR *)mk<float>(n * 4);
        float *q = mk<float>(n);
        box_particle_potential<<<dim3(bx, by, bz), 128>>>(r, q, f, bx, by, bz, 0.05f);
        show("box_particle_potential", f, n * 16);
    }
    {
        int R = 2050, C = 2500;
        size_t n = (size_t)R * C;
        float *J = mk<float>(n), *E = mk<float>(n), *W = mk<float>(n), *N = mk<float>(n), *S = mk<float>(n), *c = mk<float>(n);
        srad_coefficients<<<dim3((C + 15) / 16, (R + 15) / 16), dim3(16, 16)>>>(J, E, W, N, S, c, C, R, 0.05f);
        show("srad_coefficients", c, n * 4);
    }
    {
        int np = 494020, nf = 34, nc = 25;
        float *f = mk<float>((size_t)np * nf), *c = mk<float>(nf * nc);
        int *m = mk<int>(np);
        kmeans_membership<<<(np + 255) / 256, 256, nf * nc * sizeof(float)>>>(f, c, m, np, nf, nc);
        show("kmeans_membership", m, (size_t)np * 4);
        cudaFree(f);
    }
    {
        int nx = 250, ny = 203, nz = 190;
        size_t n = (size_t)nx * ny * nz;
        double *a = mk<double>(n), *b = mk<double>(n);
        stencil27_brick<<<dim3((nx + 7) / 8, (ny + 7) / 8, (nz + 7) / 8), dim3(8, 8, 8)>>>(a, b, nx, ny, nz, 0.4, 0.05, 0.02, 0.0075);
        show("stencil27_brick", b, n * 8);
        cudaFree(a); cudaFree(b);
    }
    {
        int elems = 15000;
        size_t n = (size_t)elems * 512;
        double *u = mk<double>(n), *g = mk<double>(n), *w = mk<double>(n), *D = mk<double>(64);
        sem_laplace_element<<<elems, dim3(NQ, NQ)>>>(u, D, g, w);
        show("sem_laplace_element", w, n * 8);
    }
    return 0;
}
