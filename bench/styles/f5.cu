// dynamic programming and several time steps inside a tile
#include "shown.h"

/* ------------------------------------------------ grid path, after the well known benchmark suite */
#define BLOCK_SIZE 256
#define HALO 1
#define IN_RANGE(x, min, max)   ((x)>=(min) && (x)<=(max))
#define MIN(a, b) ((a)<=(b) ? (a) : (b))

__global__ void dynproc_kernel(
                int iteration,
                int *gpuWall,
                int *gpuSrc,
                int *gpuResults,
                int cols,
                int startStep,
                int border)
{
        __shared__ int prev[BLOCK_SIZE];
        __shared__ int result[BLOCK_SIZE];

        int bx = blockIdx.x;
        int tx = threadIdx.x;

        // each block finally computes result for a small block after N iterations
        int small_block_cols = BLOCK_SIZE - iteration*HALO*2;
        int blkX = small_block_cols*bx - border;
        int blkXmax = blkX + BLOCK_SIZE - 1;
        int xidx = blkX + tx;

        int validXmin = (blkX < 0) ? -blkX : 0;
        int validXmax = (blkXmax > cols-1) ? BLOCK_SIZE-1-(blkXmax-cols+1) : BLOCK_SIZE-1;

        int W = tx-1;
        int E = tx+1;
        W = (W < validXmin) ? validXmin : W;
        E = (E > validXmax) ? validXmax : E;

        bool isValid = IN_RANGE(tx, validXmin, validXmax);

        if (IN_RANGE(xidx, 0, cols-1)) {
            prev[tx] = gpuSrc[xidx];
        }
        __syncthreads();
        bool computed = false;
        for (int i = 0; i < iteration; i++) {
            computed = false;
            if (IN_RANGE(tx, i+1, BLOCK_SIZE-i-2) && isValid) {
                computed = true;
                int left = prev[W];
                int up = prev[tx];
                int right = prev[E];
                int shortest = MIN(left, up);
                shortest = MIN(shortest, right);
                int index = cols*(startStep+i) + xidx;
                result[tx] = shortest + gpuWall[index];
            }
            __syncthreads();
            if (i == iteration-1)
                break;
            if (computed)
                prev[tx] = result[tx];
            __syncthreads();
        }
        if (computed) {
            gpuResults[xidx] = result[tx];
        }
}

/* ------------------------------------------------ chip temperature, pyramid of steps in a 16x16 tile */
#define BS 16
__global__ void calculate_temp(int iteration, const float *power, const float *temp_src, float *temp_dst,
                               int grid_cols, int grid_rows, int border_cols, int border_rows,
                               float Cap, float Rx, float Ry, float Rz, float step)
{
    __shared__ float temp_on_cuda[BS][BS];
    __shared__ float power_on_cuda[BS][BS];
    __shared__ float temp_t[BS][BS];

    const float amb_temp = 80.0f;
    const float step_div_Cap = step / Cap;
    const float Rx_1 = 1 / Rx, Ry_1 = 1 / Ry, Rz_1 = 1 / Rz;
    const int tx = threadIdx.x, ty = threadIdx.y;

    int small_block_rows = BS - iteration * 2;
    int small_block_cols = BS - iteration * 2;
    int blkY = small_block_rows * blockIdx.y - border_rows;
    int blkX = small_block_cols * blockIdx.x - border_cols;
    int blkYmax = blkY + BS - 1;
    int blkXmax = blkX + BS - 1;
    int yidx = blkY + ty;
    int xidx = blkX + tx;
    int index = grid_cols * yidx + xidx;

    if (IN_RANGE(yidx, 0, grid_rows - 1) && IN_RANGE(xidx, 0, grid_cols - 1)) {
        temp_on_cuda[ty][tx] = temp_src[index];
        power_on_cuda[ty][tx] = power[index];
    }
    __syncthreads();

    int validYmin = (blkY < 0) ? -blkY : 0;
    int validYmax = (blkYmax > grid_rows - 1) ? BS - 1 - (blkYmax - grid_rows + 1) : BS - 1;
    int validXmin = (blkX < 0) ? -blkX : 0;
    int validXmax = (blkXmax > grid_cols - 1) ? BS - 1 - (blkXmax - grid_cols + 1) : BS - 1;

    int N = ty - 1, S = ty + 1, W = tx - 1, E = tx + 1;
    N = (N < validYmin) ? validYmin : N;
    S = (S > validYmax) ? validYmax : S;
    W = (W < validXmin) ? validXmin : W;
    E = (E > validXmax) ? validXmax : E;

    bool computed;
    for (int i = 0; i < iteration; i++) {
        computed = false;
        if (IN_RANGE(tx, i + 1, BS - i - 2) && IN_RANGE(ty, i + 1, BS - i - 2) &&
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

// ------------------------------------------------ longest common subsequence along anti-diagonals
template <int LEN>
__global__ void lcs_wavefront(const char* __restrict__ as, const char* __restrict__ bs, int* __restrict__ length)
{
  __shared__ char b[LEN];
  __shared__ int diag[3][LEN + 1];
  const int i = threadIdx.x;
  const char mine = as[blockIdx.x * LEN + i];
  b[i] = bs[blockIdx.x * LEN + i];
  for (int k = 0; k < 3; ++k) {
    diag[k][i + 1] = 0;
    if (i == 0) diag[k][0] = 0;
  }
  __syncthreads();
  int cur = 2, p1 = 1, p2 = 0;
  for (int d = 0; d < 2 * LEN - 1; ++d) {
    const int j = d - i;
    if (j >= 0 && j < LEN) {
      int v;
      if (mine == b[j]) v = diag[p2][i] + 1;
      else v = max(diag[p1][i], diag[p1][i + 1]);
      diag[cur][i + 1] = v;
    }
    __syncthreads();
    const int t = p2;
    p2 = p1; p1 = cur; cur = t;
  }
  if (i == LEN - 1) length[blockIdx.x] = diag[p1][LEN];
}

// ------------------------------------------------ game of life, four generations per launch, torus
class LifeTile {
 public:
  static const int kDim = 32;
  static const int kGenerations = 4;
  static const int kUseful = kDim - 2 * kGenerations;
};

__global__ void life4(const unsigned char *world, unsigned char *next, int w, int h)
{
    __shared__ unsigned char cells[LifeTile::kDim][LifeTile::kDim + 4];
    const int lx = threadIdx.x, ly = threadIdx.y;
    int gx = blockIdx.x * LifeTile::kUseful + lx - LifeTile::kGenerations;
    int gy = blockIdx.y * LifeTile::kUseful + ly - LifeTile::kGenerations;
    int wx = (gx + w) % w, wy = (gy + h) % h;
    cells[ly][lx] = world[wy * w + wx] & 1;
    __syncthreads();
    for (int g = 1; g <= LifeTile::kGenerations; ++g) {
        unsigned char alive = 0;
        const bool inner = lx >= g && lx < LifeTile::kDim - g && ly >= g && ly < LifeTile::kDim - g;
        if (inner) {
            int s = cells[ly - 1][lx - 1] + cells[ly - 1][lx] + cells[ly - 1][lx + 1]
                  + cells[ly][lx - 1] + cells[ly][lx + 1]
                  + cells[ly + 1][lx - 1] + cells[ly + 1][lx] + cells[ly + 1][lx + 1];
            alive = (s == 3) || (s == 2 && cells[ly][lx]);
        }
        __syncthreads();
        if (inner) cells[ly][lx] = alive;
        __syncthreads();
    }
    const int G = LifeTile::kGenerations;
    if (lx >= G && lx < LifeTile::kDim - G && ly >= G && ly < LifeTile::kDim - G && gx < w && gy < h)
        next[gy * w + gx] = cells[ly][lx];
}

// ------------------------------------------------ rod with fixed ends, steps chosen by the caller
__global__ void rod_many_steps(const double *T0, double *T1, int n, int steps, double r)
{
	extern __shared__ double mem[];
	double *old_ = mem, *new_ = mem + blockDim.x;
	int core = blockDim.x - 2 * steps;
	int g = blockIdx.x * core - steps + (int)threadIdx.x;
	int l = threadIdx.x;
	int gc = g < 0 ? 0 : (g > n - 1 ? n - 1 : g);

	old_[l] = T0[gc];
	new_[l] = old_[l];
	__syncthreads();
	for (int s = 0; s < steps; s++) {
		if (l > 0 && l < blockDim.x - 1 && g > 0 && g < n - 1)
			new_[l] = old_[l] + r * (old_[l - 1] - 2 * old_[l] + old_[l + 1]);
		__syncthreads();
		double *tmp = old_;
		old_ = new_;
		new_ = tmp;
	}
	if (l >= steps && l < steps + core && g < n)
		T1[g] = old_[l];
}

// ------------------------------------------------ 0/1 knapsack: the whole row of capacities lives in shared memory
#define CAP 1000
__global__ void Knapsack(const int* weight, const int* value, int numItems, int* best)
{
    __shared__ int Row[2][CAP + 1];
    const int* w = weight + blockIdx.x * numItems;
    const int* v = value  + blockIdx.x * numItems;

    for (int c = threadIdx.x; c <= CAP; c += blockDim.x) Row[0][c] = 0;
    __syncthreads();

    int src = 0;
    for (int item = 0; item < numItems; ++item)
    {
        const int wi = w[item], vi = v[item];
        for (int c = threadIdx.x; c <= CAP; c += blockDim.x)
        {
            int keep = Row[src][c];
            int take = (c >= wi) ? Row[src][c - wi] + vi : 0;
            Row[1 - src][c] = keep > take ? keep : take;
        }
        src = 1 - src;
        __syncthreads();
    }
    if (threadIdx.x < 10) best[blockIdx.x * 10 + threadIdx.x] = Row[src][CAP - 100 * threadIdx.x];
}

static unsigned rnd_state = 99u;
static unsigned rnd() { rnd_state = rnd_state * 1664525u + 1013904223u; return rnd_state >> 12; }
template <class T> T *random_array(size_t n, unsigned mod, T add)
{
    T *h = new T[n], *d;
    for (size_t i = 0; i < n; i++) h[i] = (T)(rnd() % mod) + add;
    cudaMalloc(&d, n * sizeof(T));
    cudaMemcpy(d, h, n * sizeof(T), cudaMemcpyHostToDevice);
    delete[] h;
    return d;
}

int main()
{
    {
        int cols = 3000001, rows = 21, it = 20;
        int *wall = random_array<int>((size_t)cols * rows, 10, 0), *src = random_array<int>(cols, 10, 0), *res = mk<int>(cols);
        int small = BLOCK_SIZE - it * HALO * 2;
        dim3 dimBlock(BLOCK_SIZE);
        dim3 dimGrid((cols + small - 1) / small);
        dynproc_kernel<<<dimGrid, dimBlock>>>(it, wall, src, res, cols, 1, it * HALO);
        show("dynproc_kernel", res, cols * sizeof(int));
    }
    {
        int R = 2050, C = 2900, it = 3;
        float *p = mk<float>(R * C), *t = random_array<float>(R * C, 30, 320.f), *o = mk<float>(R * C);
        int small = BS - 2 * it;
        dim3 b(BS, BS), g((C + small - 1) / small, (R + small - 1) / small);
        calculate_temp<<<g, b>>>(it, p, t, o, C, R, it, it, 0.5f, 1.3f, 0.9f, 40.f, 0.05f);
        show("calculate_temp", o, R * C * 4);
    }
    {
        int pairs = 15000;
        char *a = random_array<char>(pairs * 128, 4, 'A'), *b = random_array<char>(pairs * 128, 4, 'A');
        int *l = mk<int>(pairs * 2);
        lcs_wavefront<128><<<pairs, 128>>>(a, b, l);
        show("lcs_wavefront<128>", l, pairs * 4);
        lcs_wavefront<64><<<pairs * 2, 64>>>(a, b, l);
        show("lcs_wavefront<64>", l, pairs * 2 * 4);
    }
    {
        int w = 3001, h = 2500;
        unsigned char *a = random_array<unsigned char>(w * h, 2, 0), *b = random_array<unsigned char>(w * h, 2, 0);
        dim3 g((w + LifeTile::kUseful - 1) / LifeTile::kUseful, (h + LifeTile::kUseful - 1) / LifeTile::kUseful);
        life4<<<g, dim3(LifeTile::kDim, LifeTile::kDim)>>>(a, b, w, h);
        show("life4", b, w * h);
    }
    {
        int n = 5000011;
        double *a = random_array<double>(n, 1000, 3.0), *b = mk<double>(n);
        int steps = 12, bs = 256, core = bs - 2 * steps;
        rod_many_steps<<<(n + core - 1) / core, bs, 2 * bs * sizeof(double)>>>(a, b, n, steps, 0.31);
        show("rod_many_steps 12", b, n * sizeof(double));
        steps = 5; bs = 128; core = bs - 2 * steps;
        rod_many_steps<<<(n + core - 1) / core, bs, 2 * bs * sizeof(double)>>>(a, b, n, steps, 0.31);
        show("rod_many_steps 5", b, n * sizeof(double));
    }
    {
        int prob = 4000, items = 50;
        int *w = random_array<int>(prob * items, 120, 3), *v = random_array<int>(prob * items, 500, 1), *o = mk<int>(prob * 10);
        Knapsack<<<prob, 256>>>(w, v, items, o);
        show("Knapsack", o, prob * 10 * sizeof(int));
    }
    return 0;
}
