// A relief filter on bytes: the result is a signed difference along the diagonal,
// one column and one row shorter than the picture.
#include "validation.cuh"

const int TILE_W = 64, TILE_H = 4;

__global__ void emboss(const unsigned char *picture, short *relief, int width,
                       int height, int depth) {
  __shared__ short t[TILE_H + 1][TILE_W + 1];
  const int left = blockIdx.x * TILE_W, top = blockIdx.y * TILE_H;
  for (int r = threadIdx.y; r <= TILE_H; r += blockDim.y)
    for (int c = threadIdx.x; c <= TILE_W; c += blockDim.x)
      t[r][c] = left + c < width && top + r < height
                    ? picture[(top + r) * width + left + c]
                    : 0;
  __syncthreads();
  const int c = left + threadIdx.x, r = top + threadIdx.y;
  if (c < width - 1 && r < height - 1)
    relief[r * (width - 1) + c] =
        depth * (t[threadIdx.y + 1][threadIdx.x + 1] -
                 t[threadIdx.y][threadIdx.x]);
}

void raise(const unsigned char *p, short *r, int w, int h) {
  emboss<<<dim3((w + TILE_W - 2) / TILE_W, (h + TILE_H - 2) / TILE_H),
           dim3(TILE_W, TILE_H)>>>(p, r, w, h, 3);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (Extent e : extents({{1280, 720, 1}, {7000, 5000, 1}}, {131, 9, 1})) {
    size_t n = (size_t)e.x * e.y, m = (size_t)(e.x - 1) * (e.y - 1);
    unsigned char *in = filled<unsigned char>(n, 71, 0, 256);
    short *out = zeros<short>(m);
    measure("emboss", text(e), [&] { raise(in, out, e.x, e.y); },
            {result(out, m)});
    release(in, out);
  }
}
