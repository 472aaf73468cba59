// Several steps of a recurrence over a row for each launch; a block loses a
// cell at both ends with every step.
#include "validation.cuh"

#define BLOCK_SIZE 256
#define MIN(a, b) ((a) <= (b) ? (a) : (b))
#define IN_RANGE(x, min, max) ((x) >= (min) && (x) <= (max))

// the cheapest seam from the top of an energy map, `steps` rows at once
__global__ void seamRows(int steps, const int *energy, const int *src, int *dst,
                         int cols, int firstRow) {
  __shared__ int prev[BLOCK_SIZE];
  __shared__ int result[BLOCK_SIZE];
  int tx = threadIdx.x;
  int small_block_cols = BLOCK_SIZE - 2 * steps;
  int xidx = small_block_cols * (int)blockIdx.x - steps + tx;
  bool isValid = IN_RANGE(xidx, 0, cols - 1);
  int W = xidx > 0 ? tx - 1 : tx;
  int E = xidx < cols - 1 ? tx + 1 : tx;
  prev[tx] = isValid ? src[xidx] : 0;
  __syncthreads();
  bool computed = false;
  for (int i = 0; i < steps; i++) {
    computed = false;
    if (IN_RANGE(tx, i + 1, BLOCK_SIZE - i - 2) && isValid) {
      computed = true;
      int left = prev[W];
      int up = prev[tx];
      int right = prev[E];
      int shortest = MIN(left, up);
      shortest = MIN(shortest, right);
      result[tx] = shortest + energy[(size_t)(firstRow + i) * cols + xidx];
    }
    __syncthreads();
    if (computed)
      prev[tx] = result[tx];
    __syncthreads();
  }
  if (computed)
    dst[xidx] = result[tx];
}

// Burgers' equation, upwind and viscous, in place between two barriers
__global__ void burgersSteps(const float *u0, float *u1, int n, float dtdx,
                             float nu, int steps) {
  __shared__ float u[BLOCK_SIZE];
  int t = threadIdx.x, inner = BLOCK_SIZE - 2 * steps;
  int i = blockIdx.x * inner + t - steps;
  int l = t > 0 ? t - 1 : 0, r = t < BLOCK_SIZE - 1 ? t + 1 : BLOCK_SIZE - 1;
  u[t] = u0[min(max(i, 0), n - 1)];
  __syncthreads();
  for (int k = 0; k < steps; ++k) {
    float c = u[t];
    float flux = c > 0 ? c * (c - u[l]) : c * (u[r] - c);
    float v = c - dtdx * flux + nu * (u[l] - 2.0f * c + u[r]);
    __syncthreads();
    u[t] = v;
    __syncthreads();
  }
  if (t >= steps && t < BLOCK_SIZE - steps && i < n)
    u1[i] = u[t];
}

// a fixed number of rounds of a three-point minimum with a penalty: lower
// envelope of the block's own cells
__global__ void lowerEnvelope(const unsigned short *cost, unsigned short *out,
                              int n, int penalty) {
  __shared__ int d[128];
  int t = threadIdx.x, i = blockIdx.x * 128 + t;
  d[t] = i < n ? cost[i] : 65535;
  __syncthreads();
#pragma unroll
  for (int round = 0; round < 6; ++round) {
    int best = min(d[t], min(d[max(t - 1, 0)], d[min(t + 1, 127)]) + penalty);
    __syncthreads();
    d[t] = best;
    __syncthreads();
  }
  if (i < n)
    out[i] = d[t];
}

void seam(const int *energy, int *a, int *b, int cols, int rows, int pyramid) {
  for (int r = 0; r < rows; r += pyramid) {
    int steps = std::min(pyramid, rows - r), inner = BLOCK_SIZE - 2 * steps;
    seamRows<<<(cols + inner - 1) / inner, BLOCK_SIZE>>>(steps, energy, a, b,
                                                         cols, r);
    std::swap(a, b);
  }
}
void burgers(const float *u0, float *u1, int n, int steps) {
  int inner = BLOCK_SIZE - 2 * steps;
  burgersSteps<<<(n + inner - 1) / inner, BLOCK_SIZE>>>(u0, u1, n, 0.2f, 0.1f,
                                                        steps);
}
void envelope(const unsigned short *c, unsigned short *o, int n) {
  lowerEnvelope<<<(n + 127) / 128, 128>>>(c, o, n, 3);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  // columns, rows
  for (Extent e : extents({{1 << 20, 64, 1}, {100000, 100, 1}, {3840, 2160, 1}},
                          {300, 7, 1})) {
    int *energy = filled<int>((size_t)e.x * e.y, 551, 0, 10),
        *a = zeros<int>(e.x), *b = zeros<int>(e.x);
    measure("seamRows", text(e), [&] { seam(energy, a, b, e.x, e.y, 20); },
            {result(a, e.x), result(b, e.x)});
    release(energy, a, b);
  }
  for (int n : sizes({1 << 25, 1 << 22, 1000000}, 700)) {
    float *u0 = filled<float>(n, 552), *u1 = zeros<float>(n);
    unsigned short *c = filled<unsigned short>(n, 553, 0, 60000),
                   *o = zeros<unsigned short>(n);
    measure("burgersSteps", text(n), [&] { burgers(u0, u1, n, 8); },
            {result(u1, n)});
    measure("lowerEnvelope", text(n), [&] { envelope(c, o, n); },
            {result(o, n)});
    release(u0, u1, c, o);
  }
}
