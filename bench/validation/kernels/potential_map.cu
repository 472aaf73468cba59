// Potential of charges on a lattice; the charges come in tiles of 64, each
// thread has four points a row apart.
#include "validation.cuh"

struct Atom {
  float x, y, z, q;
};
#define ATOMS 64

__global__ void potential(const Atom *atoms, int natoms, float *map, int nx,
                          float spacing, float z) {
  __shared__ Atom cache[ATOMS];
  int col = blockIdx.x * 16 + threadIdx.x;
  int row = (blockIdx.y * 4 + threadIdx.y) * 4;
  int id = threadIdx.y * 16 + threadIdx.x;
  float x = col * spacing;
  float e0 = 0, e1 = 0, e2 = 0, e3 = 0;
  for (int a = 0; a < natoms; a += ATOMS) {
    cache[id] = atoms[a + id];
    __syncthreads();
    for (int i = 0; i < ATOMS; i++) {
      float dx = x - cache[i].x, dz = z - cache[i].z;
      float r2 = dx * dx + dz * dz + 1e-4f, q = cache[i].q;
      float dy = row * spacing - cache[i].y;
      e0 += q * rsqrtf(r2 + dy * dy);
      dy += spacing;
      e1 += q * rsqrtf(r2 + dy * dy);
      dy += spacing;
      e2 += q * rsqrtf(r2 + dy * dy);
      dy += spacing;
      e3 += q * rsqrtf(r2 + dy * dy);
    }
    __syncthreads();
  }
  map[row * nx + col] = e0;
  map[(row + 1) * nx + col] = e1;
  map[(row + 2) * nx + col] = e2;
  map[(row + 3) * nx + col] = e3;
}

void lattice(const Atom *atoms, int natoms, float *map, int nx, int ny) {
  dim3 block(16, 4), grid(nx / 16, ny / 16);
  potential<<<grid, block>>>(atoms, natoms, map, nx, 0.01f, 0.5f);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (int n : sizes({512, 1024}, 32)) {
    int natoms = small_only ? 128 : 4096;
    Atom *a = (Atom *)filled<float>(4 * natoms, 82, 0, 5);
    float *m = zeros<float>((size_t)n * n);
    measure("potential", text(n), [&] { lattice(a, natoms, m, n, n); },
            {result(m, (size_t)n * n)});
    release(a, m);
  }
}
