// Fluxes between the cells of a tube: cells are structures of three numbers.
#include "validation.cuh"

struct Cell {
  float rho, mom, energy;
};

__device__ __forceinline__ Cell flux(const Cell &c) {
  float u = c.mom / c.rho;
  float p = 0.4f * (c.energy - 0.5f * c.mom * u);
  Cell f;
  f.rho = c.mom;
  f.mom = c.mom * u + p;
  f.energy = (c.energy + p) * u;
  return f;
}

__global__ void lax_friedrichs(const Cell *q, Cell *f, int faces, float speed) {
  __shared__ Cell s[129];
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i <= faces)
    s[threadIdx.x] = q[i];
  if (threadIdx.x == 127 && i + 1 <= faces)
    s[128] = q[i + 1];
  __syncthreads();
  if (i < faces) {
    Cell l = s[threadIdx.x], r = s[threadIdx.x + 1];
    Cell fl = flux(l), fr = flux(r);
    Cell o;
    o.rho = 0.5f * (fl.rho + fr.rho) - 0.5f * speed * (r.rho - l.rho);
    o.mom = 0.5f * (fl.mom + fr.mom) - 0.5f * speed * (r.mom - l.mom);
    o.energy =
        0.5f * (fl.energy + fr.energy) - 0.5f * speed * (r.energy - l.energy);
    f[i] = o;
  }
}

void fluxes(const Cell *q, Cell *f, int faces) {
  lax_friedrichs<<<(faces + 127) / 128, 128>>>(q, f, faces, 1.5f);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (int n : sizes({1 << 24, 500000}, 600)) {
    Cell *q = (Cell *)filled<float>(3 * (size_t)(n + 1), 34, 0.5, 2);
    Cell *f = zeros<Cell>(n);
    measure("lax_friedrichs", text(n), [&] { fluxes(q, f, n); },
            {result(f, n)});
    release(q, f);
  }
}
