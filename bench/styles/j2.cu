// j2 -- grids in two dimensions: relaxation, cellular automata, waves, fluids.
#include "shown.h"

#define CEIL(a, b) (((a) + (b) - 1) / (b))

/* ---- Jacobi sweep with right hand side, double ---- */
namespace jac {
constexpr int B = 16;
constexpr int R = 1;
constexpr int OUT_TILE = B - 2 * R;

__global__ void jacobi(const double *__restrict__ u, const double *__restrict__ f, double *__restrict__ un, int n, int m, double h2)
{
    __shared__ double s[B][B];
    int row = blockIdx.y * OUT_TILE + threadIdx.y - R;
    int col = blockIdx.x * OUT_TILE + threadIdx.x - R;
    bool inside = row >= 0 && row < n && col >= 0 && col < m;
    s[threadIdx.y][threadIdx.x] = inside ? u[(long)row * m + col] : 0.0;
    __syncthreads();
    if (inside && threadIdx.y >= R && threadIdx.y < B - R && threadIdx.x >= R && threadIdx.x < B - R) {
        double nb = s[threadIdx.y - 1][threadIdx.x] + s[threadIdx.y + 1][threadIdx.x]
                  + s[threadIdx.y][threadIdx.x - 1] + s[threadIdx.y][threadIdx.x + 1];
        un[(long)row * m + col] = 0.25 * (nb - h2 * f[(long)row * m + col]);
    }
}
}

/* ---- Conway on a torus; the block is 32x32, it writes 30x30 ---- */
__global__ void life_step(const int *cells, int *next, int W, int H) {
    __shared__ int tile[32 * 32];
    int x = blockIdx.x * 30 + threadIdx.x - 1;
    int y = blockIdx.y * 30 + threadIdx.y - 1;
    int id = threadIdx.y * 32 + threadIdx.x;
    int wx = (x + W) % W, wy = (y + H) % H;
    tile[id] = cells[wy * W + wx] & 1;
    __syncthreads();
    if (x < W && y < H)
    if (threadIdx.x != 0 && threadIdx.x != 31)
    if (threadIdx.y != 0 && threadIdx.y != 31) {
        int alive = tile[id - 33] + tile[id - 32] + tile[id - 31] + tile[id - 1] + tile[id + 1] + tile[id + 31] + tile[id + 32] + tile[id + 33];
        next[y * W + x] = (alive == 3 || (alive == 2 && tile[id])) ? 1 : 0;
    }
}

/* ---- hotspot: a pyramid of steps in one launch ---- */
#define BLOCK_SIZE 16
#define PYRAMID 2
#define IN_RANGE(v, lo, hi) ((v) >= (lo) && (v) <= (hi))
__global__ void calculate_temp(int iteration, const float *power, const float *temp_src, float *temp_dst, int grid_cols, int grid_rows,
                               float Rx_1, float Ry_1, float Rz_1, float step_div_cap)
{
    __shared__ float temp_on_cuda[BLOCK_SIZE][BLOCK_SIZE];
    __shared__ float power_on_cuda[BLOCK_SIZE][BLOCK_SIZE];
    __shared__ float temp_t[BLOCK_SIZE][BLOCK_SIZE];
    const float amb_temp = 80.0f;

    int bx = blockIdx.x, by = blockIdx.y;
    int tx = threadIdx.x, ty = threadIdx.y;

    int small_block = BLOCK_SIZE - iteration * 2;
    int blkY = small_block * by - iteration;
    int blkX = small_block * bx - iteration;
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

    int N = (ty - 1 < validYmin) ? validYmin : ty - 1;
    int S = (ty + 1 > validYmax) ? validYmax : ty + 1;
    int W = (tx - 1 < validXmin) ? validXmin : tx - 1;
    int E = (tx + 1 > validXmax) ? validXmax : tx + 1;

    bool computed = false;
    for (int i = 0; i < iteration; i++) {
        computed = false;
        if (IN_RANGE(tx, i + 1, BLOCK_SIZE - i - 2) && IN_RANGE(ty, i + 1, BLOCK_SIZE - i - 2) &&
            IN_RANGE(tx, validXmin, validXmax) && IN_RANGE(ty, validYmin, validYmax)) {
            computed = true;
            temp_t[ty][tx] = temp_on_cuda[ty][tx] + step_div_cap * (power_on_cuda[ty][tx] +
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

/* ---- FDTD TMz: H on the tile, E on its inside, three tiles ---- */
template <typename real, int BX, int BY>
__global__ void fdtd_tmz(const real *ez, const real *hx, const real *hy, real *ez2, real *hx2, real *hy2, int nx, int ny, real ch, real ce)
{
    __shared__ real E[BY][BX], HX[BY][BX], HY[BY][BX];
    const int i = threadIdx.x, j = threadIdx.y;
    const int gx = blockIdx.x * (BX - 2) + i - 1;
    const int gy = blockIdx.y * (BY - 2) + j - 1;
    const bool in = gx >= 0 && gx < nx && gy >= 0 && gy < ny;
    const int g = gy * nx + gx;
    real e = 0, px = 0, py = 0;
    if (in) { e = ez[g]; px = hx[g]; py = hy[g]; }
    E[j][i] = e;
    __syncthreads();
    if (i < BX - 1 && j < BY - 1) {
        px -= ch * (E[j + 1][i] - e);
        py += ch * (E[j][i + 1] - e);
    }
    HX[j][i] = px;
    HY[j][i] = py;
    __syncthreads();
    if (in && i > 0 && j > 0 && i < BX - 1 && j < BY - 1) {
        ez2[g] = e + ce * (HY[j][i] - HY[j][i - 1] - HX[j][i] + HX[j - 1][i]);
        hx2[g] = px;
        hy2[g] = py;
    }
}

/* ---- acoustic wave of 8th order ---- */
__constant__ float c_coef[5];
#define RAD 4
__global__ void wave8(float *unew, const float *u, const float *uold, const float *vel, int nx, int ny)
{
  __shared__ float su[16][32 + 1];
  int ix = blockIdx.x * (32 - 2 * RAD) + threadIdx.x - RAD;
  int iy = blockIdx.y * (16 - 2 * RAD) + threadIdx.y - RAD;
  int tx = threadIdx.x; int ty = threadIdx.y;
  su[ty][tx] = 0.0f;
  if (ix >= 0 && ix < nx)
    if (iy >= 0 && iy < ny)
      su[ty][tx] = u[iy * nx + ix];
  __syncthreads();
  if (tx < RAD || tx >= 32 - RAD || ty < RAD || ty >= 16 - RAD) return;
  if (ix >= nx || iy >= ny) return;
  float lap = 2.0f * c_coef[0] * su[ty][tx];
#pragma unroll
  for (int r = 1; r <= RAD; r++)
    lap += c_coef[r] * (su[ty][tx - r] + su[ty][tx + r] + su[ty - r][tx] + su[ty + r][tx]);
  int idx = iy * nx + ix;
  unew[idx] = 2.0f * su[ty][tx] - uold[idx] + vel[idx] * 0.01f * lap;
}

/* ---- lattice Boltzmann like: pull equilibria of the nine neighbours ---- */
__global__ void lbm_pull(const float *rho, const float *ux, const float *uy, float *rho2, float *ux2, float *uy2, int nx, int ny)
{
    __shared__ float r_[10][34], u_[10][34], v_[10][34];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * 32 + tx - 1, y = blockIdx.y * 8 + ty - 1;
    int xc = max(0, min(x, nx - 1)), yc = max(0, min(y, ny - 1));
    size_t p = (size_t)yc * nx + xc;
    r_[ty][tx] = 1.0f + 0.01f * rho[p];
    u_[ty][tx] = 0.002f * ux[p];
    v_[ty][tx] = 0.002f * uy[p];
    __syncthreads();

    if (tx >= 1 && tx <= 32 && ty >= 1 && ty <= 8 && x < nx && y < ny) {
        float m0 = 0, mx = 0, my = 0;
#pragma unroll
        for (int ey = -1; ey <= 1; ey++) {
#pragma unroll
            for (int ex = -1; ex <= 1; ex++) {
                float w = (ex == 0 ? 2.f / 3 : 1.f / 6) * (ey == 0 ? 2.f / 3 : 1.f / 6);
                float a = u_[ty - ey][tx - ex], b = v_[ty - ey][tx - ex];
                float eu = ex * a + ey * b;
                float feq = w * r_[ty - ey][tx - ex] * (1 + 3 * eu + 4.5f * eu * eu - 1.5f * (a * a + b * b));
                m0 += feq;
                mx += ex * feq;
                my += ey * feq;
            }
        }
        size_t q = (size_t)y * nx + x;
        rho2[q] = m0;
        ux2[q] = mx / m0;
        uy2[q] = my / m0;
    }
}

/* ---- contrast: residual, a tree per block ---- */
__global__ void residual_tree(const double *a, const double *b, double *partial, size_t n)
{
    __shared__ double red[256];
    double s = 0;
    for (size_t i = blockIdx.x * 256ull + threadIdx.x; i < n; i += gridDim.x * 256ull) {
        double d = a[i] - b[i];
        s += d * d;
    }
    red[threadIdx.x] = s;
    __syncthreads();
    for (int st = 128; st > 0; st /= 2) {
        if (threadIdx.x < st) red[threadIdx.x] += red[threadIdx.x + st];
        __syncthreads();
    }
    if (threadIdx.x == 0) partial[blockIdx.x] = red[0];
}

int main()
{
    {
        int n = 2047, m = 2300;
        size_t N = (size_t)n * m;
        double *u = mk<double>(N), *f = mk<double>(N), *v = mk<double>(N), *p = mk<double>(1024);
        jac::jacobi<<<dim3(CEIL(m, jac::OUT_TILE), CEIL(n, jac::OUT_TILE)), dim3(jac::B, jac::B)>>>(u, f, v, n, m, 0.01);
        show("jacobi", v, N * 8);
        residual_tree<<<1024, 256>>>(u, v, p, N);
        show("residual_tree", p, 8192);
    }
    {
        int w = 3000, h = 2501;
        int *a = mk<int>((size_t)w * h), *b = mk<int>((size_t)w * h);
        life_step<<<dim3(CEIL(w, 30), CEIL(h, 30)), dim3(32, 32)>>>(a, b, w, h);
        show("life_step", b, 4ull * w * h);
    }
    {
        int c = 2048, r = 1900, sb = BLOCK_SIZE - 2 * PYRAMID;
        size_t N = (size_t)c * r;
        float *p = mk<float>(N), *t = mk<float>(N), *d = mk<float>(N);
        calculate_temp<<<dim3(CEIL(c, sb), CEIL(r, sb)), dim3(BLOCK_SIZE, BLOCK_SIZE)>>>(PYRAMID, p, t, d, c, r, 0.1f, 0.12f, 0.03f, 0.4f);
        show("calculate_temp", d, N * 4);
    }
    {
        int nx = 1999, ny = 2002;
        size_t N = (size_t)nx * ny;
        float *a = mk<float>(N), *b = mk<float>(N), *c = mk<float>(N), *d = mk<float>(N), *e = mk<float>(N), *f = mk<float>(N);
        fdtd_tmz<float, 32, 8><<<dim3(CEIL(nx, 30), CEIL(ny, 6)), dim3(32, 8)>>>(a, b, c, d, e, f, nx, ny, 0.4f, 0.45f);
        show("fdtd_ez", d, N * 4);
        show("fdtd_hx", e, N * 4);
        show("fdtd_hy", f, N * 4);
        lbm_pull<<<dim3(CEIL(nx, 32), CEIL(ny, 8)), dim3(34, 10)>>>(a, b, c, d, e, f, nx, ny);
        show("lbm_rho", d, N * 4);
        show("lbm_ux", e, N * 4);
        show("lbm_uy", f, N * 4);
    }
    {
        float h[5] = {-205.f / 72, 8.f / 5, -1.f / 5, 8.f / 315, -1.f / 560};
        cudaMemcpyToSymbol(c_coef, h, sizeof h);
        int nx = 2500, ny = 2100;
        size_t N = (size_t)nx * ny;
        float *a = mk<float>(N), *b = mk<float>(N), *c = mk<float>(N), *d = mk<float>(N);
        wave8<<<dim3(CEIL(nx, 24), CEIL(ny, 8)), dim3(32, 16)>>>(a, b, c, d, nx, ny);
        show("wave8", a, N * 4);
    }
    return 0;
}
