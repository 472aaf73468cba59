// A star of radius 2 on blocks of 8 x 8, rows padded to a pitch in elements.
#include "validation.cuh"

struct Field {
  float *data;
  int pitch;
};

class Tile {
public:
  enum { W = 8, PAD = 2 };
};

__global__ void fourth_order(Field in, Field out, int nx, int ny) {
  __shared__ float t[Tile::W + 2 * Tile::PAD][Tile::W + 2 * Tile::PAD + 1];
  const int P = Tile::PAD, W = Tile::W;
  int gx = blockIdx.x * W, gy = blockIdx.y * W;
  for (int y = threadIdx.y; y < W + 2 * P; y += W)
    for (int x = threadIdx.x; x < W + 2 * P; x += W)
      if (gx + x < nx + 2 * P && gy + y < ny + 2 * P)
        t[y][x] = in.data[(gy + y) * in.pitch + gx + x];
  __syncthreads();
  int x = threadIdx.x + P, y = threadIdx.y + P;
  if (gx + threadIdx.x < nx && gy + threadIdx.y < ny) {
    float lap = -60.f * t[y][x];
    lap += 16.f * (t[y][x - 1] + t[y][x + 1] + t[y - 1][x] + t[y + 1][x]);
    lap -= t[y][x - 2] + t[y][x + 2] + t[y - 2][x] + t[y + 2][x];
    out.data[(gy + y) * out.pitch + gx + x] = lap / 12.f;
  }
}

void laplacian(Field in, Field out, int nx, int ny) {
  dim3 block(8, 8);
  dim3 grid((nx + 7) / 8, (ny + 7) / 8);
  fourth_order<<<grid, block>>>(in, out, nx, ny);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (Extent e : extents({{1000, 750, 1}, {4000, 4000, 1}}, {37, 29, 1})) {
    int pitch = e.x + 4;
    size_t n = (size_t)pitch * (e.y + 4);
    Field in = {filled<float>(n, 58), pitch}, out = {zeros<float>(n), pitch};
    measure("fourth_order", text(e), [&] { laplacian(in, out, e.x, e.y); },
            {result(out.data, n)});
    release(in.data, out.data);
  }
}
