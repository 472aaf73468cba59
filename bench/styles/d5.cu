// Iterated stencils inside a tile: hotspot, Jacobi, game of life, 1-D heat, red-black relaxation
#include "shown.h"

#define BLOCK_SIZE 16
#define STR_SIZE 256
#define EXPAND_RATE 2 // add one iteration will extend the pyramid base by 2 per each borderline
#define IN_RANGE(x, min, max) ((x) >= (min) && (x) <= (max))

// Rodinia hotspot
__global__ void calculate_temp(int iteration,  // number of iteration
                               float *power,   // power input
                               float *temp_src, // temperature input/output
                               float *temp_dst, // temperature input/output
                               int grid_cols,  // Col of grid
                               int grid_rows,  // Row of grid
                               int border_cols, // border offset
                               int border_rows, // border offset
                               float Cap,      // Capacitance
                               float Rx, float Ry, float Rz, float step, float time_elapsed)
{
    __shared__ float temp_on_cuda[BLOCK_SIZE][BLOCK_SIZE];
    __shared__ float power_on_cuda[BLOCK_SIZE][BLOCK_SIZE];
    __shared__ float temp_t[BLOCK_SIZE][BLOCK_SIZE]; // saving temporary temperature result

    float amb_temp = 80.0;
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

    // calculate the small block size
    int small_block_rows = BLOCK_SIZE - iteration * 2; // EXPAND_RATE
    int small_block_cols = BLOCK_SIZE - iteration * 2; // EXPAND_RATE

    // calculate the boundary for the block according to the boundary of its small block
    int blkY = small_block_rows * by - border_rows;
    int blkX = small_block_cols * bx - border_cols;
    int blkYmax = blkY + BLOCK_SIZE - 1;
    int blkXmax = blkX + BLOCK_SIZE - 1;

    // calculate the global thread coordination
    int yidx = blkY + ty;
    int xidx = blkX + tx;

    // load data if it is within the valid input range
    int loadYidx = yidx, loadXidx = xidx;
    int index = grid_cols * loadYidx + loadXidx;

    if (IN_RANGE(loadYidx, 0, grid_rows - 1) && IN_RANGE(loadXidx, 0, grid_cols - 1)) {
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
        if (computed) // Assign the computation range
            temp_on_cuda[ty][tx] = temp_t[ty][tx];
        __syncthreads();
    }

    // update the global memory, only threads coordinated within the "small block"
    if (computed) {
        temp_dst[index] = temp_t[ty][tx];
    }
}

// Block-Jacobi: every block relaxes its own 32x32 patch several sweeps with frozen boundary
#define TW 32
template <int SWEEPS>
__global__ void jacobiPatch(const double *__restrict__ u, const double *__restrict__ f, double *__restrict__ unew,
                            int nx, int ny, double h2)
{
    __shared__ double a[2][TW][TW + 1];
    const int tx = threadIdx.x;
    const int gx = blockIdx.x * (TW - 2) + tx;
    int cur = 0;
    // block is 32 x 8: four rows a thread
    for (int ty = threadIdx.y; ty < TW; ty += 8) {
        int gy = blockIdx.y * (TW - 2) + ty;
        double v = 0.0;
        if (gx < nx && gy < ny) v = u[gy * nx + gx];
        a[0][ty][tx] = v;
        a[1][ty][tx] = v;
    }
    __syncthreads();
    for (int s = 0; s < SWEEPS; ++s) {
        for (int ty = threadIdx.y; ty < TW; ty += 8) {
            int gy = blockIdx.y * (TW - 2) + ty;
            if (tx > 0 && tx < TW - 1 && ty > 0 && ty < TW - 1 && gx < nx - 1 && gy < ny - 1)
                a[1 - cur][ty][tx] = 0.25 * (a[cur][ty][tx - 1] + a[cur][ty][tx + 1] +
                                             a[cur][ty - 1][tx] + a[cur][ty + 1][tx] - h2 * f[gy * nx + gx]);
        }
        cur = 1 - cur;
        __syncthreads();
    }
    for (int ty = threadIdx.y; ty < TW; ty += 8) {
        int gy = blockIdx.y * (TW - 2) + ty;
        if (tx > 0 && tx < TW - 1 && ty > 0 && ty < TW - 1 && gx < nx - 1 && gy < ny - 1)
            unew[gy * nx + gx] = a[cur][ty][tx];
    }
}

// Conway's life: 4 generations per launch, 32x32 threads, 24x24 useful
__global__ void lifeMultiStep(const unsigned char *world, unsigned char *out, int W, int H)
{
    const int GEN = 4;
    __shared__ unsigned char cell[32][32];
    int lx = threadIdx.x, ly = threadIdx.y;
    int useful = 32 - 2 * GEN;
    int x = blockIdx.x * useful + lx - GEN;
    int y = blockIdx.y * useful + ly - GEN;
    int wx = (x + W) % W;   // torus
    int wy = (y + H) % H;

    cell[ly][lx] = world[wy * W + wx] > 7 ? 1 : 0;
    __syncthreads();
    for (int g = 0; g < GEN; g++) {
        int alive = 0;
        if (lx > 0 && lx < 31 && ly > 0 && ly < 31) {
            int nb = 0;
            for (int dy = -1; dy <= 1; dy++)
                for (int dx = -1; dx <= 1; dx++)
                    if (dx || dy)
                        nb += cell[ly + dy][lx + dx];
            alive = (nb == 3) || (nb == 2 && cell[ly][lx]);
        }
        __syncthreads();
        cell[ly][lx] = alive;
        __syncthreads();
    }
    if (lx >= GEN && lx < 32 - GEN && ly >= GEN && ly < 32 - GEN && x < W && y < H)
        out[y * W + x] = cell[ly][lx];
}

// 1-D heat equation, explicit Euler, many rods, a whole rod of blockDim.x nodes in shared memory
__global__ void heatRod(float *T, float alpha, int nsteps)
{
    extern __shared__ float sh[];
    float *now = sh;
    float *nxt = sh + blockDim.x;
    int i = threadIdx.x;
    int n = blockDim.x;
    float *rod = T + (size_t)blockIdx.x * n;
    now[i] = rod[i];
    __syncthreads();
    for (int s = 0; s < nsteps; ++s) {
        if (i == 0 || i == n - 1)
            nxt[i] = now[i];
        else
            nxt[i] = now[i] + alpha * (now[i - 1] - 2.0f * now[i] + now[i + 1]);
        __syncthreads();
        float *tmp = now;
        now = nxt;
        nxt = tmp;
    }
    rod[i] = now[i];
}

// red-black Gauss-Seidel with over-relaxation in an 16x16 tile (+ halo), fixed number of inner sweeps
#define RB 16
__global__ void redBlackSOR(const float *phi_in, float *phi_out, const float *rhs, int pitch, int rows, float omega)
{
    __shared__ float phi[RB + 2][RB + 2];
    __shared__ float b[RB][RB];
    const int i = threadIdx.x + 1, j = threadIdx.y + 1;
    const int gx = blockIdx.x * RB + threadIdx.x;
    const int gy = blockIdx.y * RB + threadIdx.y;
    const int id = gy * pitch + gx;

    phi[j][i] = phi_in[id];
    b[j - 1][i - 1] = rhs[id];
    if (threadIdx.x == 0)      phi[j][0]      = gx > 0 ? phi_in[id - 1] : 0.f;
    if (threadIdx.x == RB - 1) phi[j][RB + 1] = gx < pitch - 1 ? phi_in[id + 1] : 0.f;
    if (threadIdx.y == 0)      phi[0][i]      = gy > 0 ? phi_in[id - pitch] : 0.f;
    if (threadIdx.y == RB - 1) phi[RB + 1][i] = gy < rows - 1 ? phi_in[id + pitch] : 0.f;
    __syncthreads();

    for (int it = 0; it < 8; ++it) {
        for (int color = 0; color < 2; ++color) {
            if (((i + j) & 1) == color) {
                float r = 0.25f * (phi[j][i - 1] + phi[j][i + 1] + phi[j - 1][i] + phi[j + 1][i] - b[j - 1][i - 1]);
                phi[j][i] = (1.f - omega) * phi[j][i] + omega * r;
            }
            __syncthreads();
        }
    }
    phi_out[id] = phi[j][i];
}

int main()
{
    {
        int n = 2048, pyramid_height = 2;
        float *p = mk<float>(n * n), *t0 = mk<float>(n * n), *t1 = mk<float>(n * n);
        int small = BLOCK_SIZE - pyramid_height * EXPAND_RATE;
        int nb = n / small + ((n % small == 0) ? 0 : 1);
        dim3 dimBlock(BLOCK_SIZE, BLOCK_SIZE);
        dim3 dimGrid(nb, nb);
        calculate_temp<<<dimGrid, dimBlock>>>(pyramid_height, p, t0, t1, n, n, pyramid_height, pyramid_height,
                                              52.1f, 0.4f, 0.4f, 51.2f, 3.4f, 0.0f);
        show("calculate_temp", t1, n * n * sizeof(float));
    }
    {
        int nx = 4096, ny = 2048;
        double *u = mk<double>((size_t)nx * ny), *f = mk<double>((size_t)nx * ny), *v = mk<double>((size_t)nx * ny);
        dim3 b(32, 8), g((nx - 2 + 29) / 30, (ny - 2 + 29) / 30);
        jacobiPatch<6><<<g, b>>>(u, f, v, nx, ny, 0.01);
        show("jacobiPatch", v, (size_t)nx * ny * sizeof(double));
    }
    {
        int W = 4096, H = 4096;
        unsigned char *a = mk<unsigned char>((size_t)W * H), *b = mk<unsigned char>((size_t)W * H);
        lifeMultiStep<<<dim3((W + 23) / 24, (H + 23) / 24), dim3(32, 32)>>>(a, b, W, H);
        show("lifeMultiStep", b, (size_t)W * H);
    }
    {
        int rods = 16384, nodes = 512;
        float *t = mk<float>((size_t)rods * nodes);
        heatRod<<<rods, nodes, 2 * nodes * sizeof(float)>>>(t, 0.2f, 50);
        show("heatRod", t, (size_t)rods * nodes * sizeof(float));
        nodes = 256;
        heatRod<<<rods, nodes, 2 * nodes * sizeof(float)>>>(t, 0.1f, 51);
        show("heatRod_256", t, (size_t)rods * nodes * sizeof(float));
    }
    {
        int n = 4096;
        float *a = mk<float>((size_t)n * n), *r = mk<float>((size_t)n * n), *o = mk<float>((size_t)n * n);
        redBlackSOR<<<dim3(n / RB, n / RB), dim3(RB, RB)>>>(a, o, r, n, n, 1.5f);
        show("redBlackSOR", o, (size_t)n * n * sizeof(float));
    }
    return 0;
}
