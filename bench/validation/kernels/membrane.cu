// Wave equation on a membrane with two levels of time; the older one is
// overwritten.
#include "validation.cuh"

template <typename real, int NX, int NY>
__global__ void wave(const real *__restrict__ now, real *__restrict__ older,
                     int nx, int ny, real c2) {
  __shared__ real sh[(NX + 2) * (NY + 2)];
#define SH(a, b) sh[((b) + 1) * (NX + 2) + (a) + 1]
  const int lx = threadIdx.x, ly = threadIdx.y;
  const int gx = blockIdx.x * NX + lx, gy = blockIdx.y * NY + ly;
  const int id = gy * nx + gx;
  const bool valid = gx < nx && gy < ny;
  SH(lx, ly) = valid ? now[id] : real(0);
  if (lx == 0)
    SH(-1, ly) = valid && gx > 0 ? now[id - 1] : real(0);
  if (lx == NX - 1)
    SH(NX, ly) = gy < ny && gx + 1 < nx ? now[id + 1] : real(0);
  if (ly == 0)
    SH(lx, -1) = valid && gy > 0 ? now[id - nx] : real(0);
  if (ly == NY - 1)
    SH(lx, NY) = gx < nx && gy + 1 < ny ? now[id + nx] : real(0);
  __syncthreads();
  if (valid)
    older[id] = real(2) * SH(lx, ly) - older[id] +
                c2 * (SH(lx - 1, ly) + SH(lx + 1, ly) + SH(lx, ly - 1) +
                      SH(lx, ly + 1) - real(4) * SH(lx, ly));
#undef SH
}

void vibrate(double *a, double *b, int nx, int ny, int steps) {
  dim3 threads(32, 16), blocks((nx + 31) / 32, (ny + 15) / 16);
  for (int i = 0; i < steps; i += 2) {
    wave<double, 32, 16><<<blocks, threads>>>(a, b, nx, ny, 0.01);
    wave<double, 32, 16><<<blocks, threads>>>(b, a, nx, ny, 0.01);
  }
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (Extent e : extents({{1000, 1000, 1}, {3000, 3000, 1}}, {50, 40, 1})) {
    size_t n = (size_t)e.x * e.y;
    double *a = filled<double>(n, 53), *b = filled<double>(n, 54);
    measure("wave<double,32,16>", text(e),
            [&] { vibrate(a, b, e.x, e.y, small_only ? 2 : 20); },
            {result(a, n), result(b, n)});
    release(a, b);
  }
}
