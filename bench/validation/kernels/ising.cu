// Ising spins on a torus, in place: the cells of one colour of a checkerboard,
// then those of the other.
#include "validation.cuh"

#define TILE_X 32
#define TILE_Y 8

__device__ inline float hash01(unsigned s) {
  s = (s ^ 61) ^ (s >> 16);
  s *= 9;
  s ^= s >> 4;
  s *= 0x27d4eb2d;
  s ^= s >> 15;
  return (s >> 8) * (1.0f / 16777216.0f);
}

// accept[k] is the probability of a flip when spin * (sum of neighbours) is
// 2 * k - 4
__global__ void metropolis(signed char *lattice, const float *accept, int L,
                           int H, int parity, unsigned seed) {
  __shared__ int sp[TILE_Y + 2][TILE_X + 2];
  int x = blockIdx.x * TILE_X + threadIdx.x;
  int y = blockIdx.y * TILE_Y + threadIdx.y;
  int tx = threadIdx.x + 1, ty = threadIdx.y + 1;

  if (x < L && y < H) {
    sp[ty][tx] = lattice[y * L + x];
    if (threadIdx.x == 0)
      sp[ty][0] = lattice[y * L + (x + L - 1) % L];
    if (threadIdx.x == TILE_X - 1 || x == L - 1)
      sp[ty][tx + 1] = lattice[y * L + (x + 1) % L];
    if (threadIdx.y == 0)
      sp[0][tx] = lattice[((y + H - 1) % H) * L + x];
    if (threadIdx.y == TILE_Y - 1 || y == H - 1)
      sp[ty + 1][tx] = lattice[((y + 1) % H) * L + x];
  }
  __syncthreads();

  if (x >= L || y >= H || ((x + y) & 1) != parity)
    return;
  int s = sp[ty][tx];
  int nn = sp[ty][tx - 1] + sp[ty][tx + 1] + sp[ty - 1][tx] + sp[ty + 1][tx];
  if (hash01(seed + y * L + x) < accept[(s * nn + 4) / 2])
    lattice[y * L + x] = -s;
}

__global__ void toSpins(signed char *lattice, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    lattice[i] = lattice[i] < 0 ? -1 : 1;
}

void sweep(signed char *lattice, const float *accept, int L, int H) {
  dim3 threads(TILE_X, TILE_Y);
  dim3 blocks((L + TILE_X - 1) / TILE_X, (H + TILE_Y - 1) / TILE_Y);
  metropolis<<<blocks, threads>>>(lattice, accept, L, H, 0, 1234u);
  metropolis<<<blocks, threads>>>(lattice, accept, L, H, 1, 98765u);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  // sides are even, so that the colours fit around the torus
  for (Extent e :
       extents({{8192, 8192, 1}, {3002, 2998, 1}, {512, 512, 1}}, {70, 18, 1})) {
    int n = e.x * e.y;
    signed char *spins = filled<signed char>(n, 331, -100, 100);
    float *accept = filled<float>(5, 332, 0.05, 0.95);
    toSpins<<<ceil_div(n, 256), 256>>>(spins, n);
    check(cudaGetLastError());
    measure("metropolis", text(e), [&] { sweep(spins, accept, e.x, e.y); },
            {result(spins, n)});
    release(spins, accept);
  }
}
