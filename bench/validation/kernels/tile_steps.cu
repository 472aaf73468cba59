// Tiles that stay in shared memory for several steps: Jacobi with a fixed mask,
// generations of Life on a torus, distances that shrink towards seeds.
#include "validation.cuh"

#define TILE 16
#define STEPS 3

// 16 x 16 threads give 10 x 10 results after three steps
__global__ void jacobiSteps(const float *u, const float *f, float *out,
                            int width, int height) {
  __shared__ float t[TILE][TILE];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int inner = TILE - 2 * STEPS;
  const int x = (int)blockIdx.x * inner + tx - STEPS;
  const int y = (int)blockIdx.y * inner + ty - STEPS;
  const int cx = min(max(x, 0), width - 1), cy = min(max(y, 0), height - 1);
  t[ty][tx] = u[(size_t)cy * width + cx];
  const float rhs = f[(size_t)cy * width + cx];
  const bool edge = x <= 0 || y <= 0 || x >= width - 1 || y >= height - 1;
  __syncthreads();
  for (int k = 0; k < STEPS; k++) {
    float v = t[ty][tx];
    if (!edge && tx > k && tx < TILE - 1 - k && ty > k && ty < TILE - 1 - k)
      v = 0.25f *
          (t[ty][tx - 1] + t[ty][tx + 1] + t[ty - 1][tx] + t[ty + 1][tx] + rhs);
    __syncthreads();
    t[ty][tx] = v;
    __syncthreads();
  }
  if (tx >= STEPS && tx < TILE - STEPS && ty >= STEPS && ty < TILE - STEPS &&
      x < width && y < height)
    out[(size_t)y * width + x] = t[ty][tx];
}

// the sizes of the world are multiples of what a block gives: 28 x 12
__global__ void lifeGenerations(const unsigned char *world, unsigned char *next,
                                int w, int h) {
  __shared__ unsigned char a[16][32], b[16][32];
  int tx = threadIdx.x, ty = threadIdx.y;
  int x = (blockIdx.x * 28 + tx + w - 2) % w;
  int y = (blockIdx.y * 12 + ty + h - 2) % h;
  a[ty][tx] = world[(size_t)y * w + x];
  __syncthreads();
  if (tx >= 1 && tx < 31 && ty >= 1 && ty < 15) {
    int alive = a[ty - 1][tx - 1] + a[ty - 1][tx] + a[ty - 1][tx + 1] +
                a[ty][tx - 1] + a[ty][tx + 1] + a[ty + 1][tx - 1] +
                a[ty + 1][tx] + a[ty + 1][tx + 1];
    b[ty][tx] = alive == 3 || (alive == 2 && a[ty][tx]) ? 1 : 0;
  }
  __syncthreads();
  if (tx >= 2 && tx < 30 && ty >= 2 && ty < 14) {
    int alive = b[ty - 1][tx - 1] + b[ty - 1][tx] + b[ty - 1][tx + 1] +
                b[ty][tx - 1] + b[ty][tx + 1] + b[ty + 1][tx - 1] +
                b[ty + 1][tx] + b[ty + 1][tx + 1];
    next[(size_t)y * w + x] = alive == 3 || (alive == 2 && b[ty][tx]) ? 1 : 0;
  }
}

// city-block distances within each 32 x 8 tile, `rounds` sweeps; neighbours
// outside the tile are clamped to it
__global__ void distanceSweeps(const int *seed, int *dist, int width, int height,
                               int rounds) {
  __shared__ int d[8][33];
  int tx = threadIdx.x, ty = threadIdx.y;
  int x = blockIdx.x * 32 + tx, y = blockIdx.y * 8 + ty;
  bool in = x < width && y < height;
  d[ty][tx] = in ? seed[(size_t)y * width + x] : 1 << 20;
  __syncthreads();
  int xl = max(tx - 1, 0), xr = min(tx + 1, 31);
  int yu = max(ty - 1, 0), yd = min(ty + 1, 7);
  for (int r = 0; r < rounds; ++r) {
    int m = min(min(d[ty][xl], d[ty][xr]), min(d[yu][tx], d[yd][tx])) + 1;
    m = min(m, d[ty][tx]);
    __syncthreads();
    d[ty][tx] = m;
    __syncthreads();
  }
  if (in)
    dist[(size_t)y * width + x] = d[ty][tx];
}

void jacobi(const float *u, const float *f, float *o, int w, int h) {
  const int inner = TILE - 2 * STEPS;
  dim3 block(TILE, TILE);
  dim3 grid((w + inner - 1) / inner, (h + inner - 1) / inner);
  jacobiSteps<<<grid, block>>>(u, f, o, w, h);
}
void life(const unsigned char *a, unsigned char *b, int w, int h) {
  lifeGenerations<<<dim3(w / 28, h / 12), dim3(32, 16)>>>(a, b, w, h);
}
void distances(const int *s, int *d, int w, int h, int rounds) {
  dim3 block(32, 8), grid((w + 31) / 32, (h + 7) / 8);
  distanceSweeps<<<grid, block>>>(s, d, w, h, rounds);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (Extent e : extents({{4096, 4096, 1}, {1500, 1001, 1}}, {33, 25, 1})) {
    size_t n = (size_t)e.x * e.y;
    float *u = filled<float>(n, 561), *f = filled<float>(n, 562, -.1, .1),
          *o = zeros<float>(n);
    int *s = filled<int>(n, 563, 0, 1000), *d = zeros<int>(n);
    measure("jacobiSteps", text(e), [&] { jacobi(u, f, o, e.x, e.y); },
            {result(o, n)});
    measure("distanceSweeps", text(e), [&] { distances(s, d, e.x, e.y, 10); },
            {result(d, n)});
    release(u, f, o, s, d);
  }
  for (Extent e : extents({{28 * 290, 12 * 680, 1}, {28 * 40, 12 * 90, 1}},
                          {56, 24, 1})) {
    size_t n = (size_t)e.x * e.y;
    unsigned char *a = filled<unsigned char>(n, 564, 0, 2),
                  *b = zeros<unsigned char>(n);
    measure("lifeGenerations", text(e), [&] { life(a, b, e.x, e.y); },
            {result(b, n)});
    release(a, b);
  }
}
