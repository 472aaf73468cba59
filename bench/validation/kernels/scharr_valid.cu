// Scharr gradients where all neighbours exist: rows of the result are two
// elements shorter.  Two results.
#include "validation.cuh"

#define W 32
#define H 4

__global__ void scharr(const unsigned char *__restrict__ src,
                       short *__restrict__ gx, short *__restrict__ gy,
                       int spitch, int dw, int dh) {
  __shared__ unsigned char p[H + 2][W + 2];
  const int ox = blockIdx.x * W, oy = blockIdx.y * H;
  for (int y = threadIdx.y; y < H + 2; y += H)
    for (int x = threadIdx.x; x < W + 2; x += W)
      if (oy + y < dh + 2 && ox + x < dw + 2)
        p[y][x] = src[(oy + y) * spitch + ox + x];
  __syncthreads();
  const int x = ox + threadIdx.x, y = oy + threadIdx.y;
  if (x >= dw || y >= dh)
    return;
  const int j = threadIdx.x, i = threadIdx.y;
  gx[y * dw + x] = 3 * (p[i][j + 2] - p[i][j]) +
                   10 * (p[i + 1][j + 2] - p[i + 1][j]) +
                   3 * (p[i + 2][j + 2] - p[i + 2][j]);
  gy[y * dw + x] = 3 * (p[i + 2][j] - p[i][j]) +
                   10 * (p[i + 2][j + 1] - p[i][j + 1]) +
                   3 * (p[i + 2][j + 2] - p[i][j + 2]);
}

void gradients(const unsigned char *src, short *gx, short *gy, int w, int h) {
  int dw = w - 2, dh = h - 2;
  scharr<<<dim3((dw + W - 1) / W, (dh + H - 1) / H), dim3(W, H)>>>(
      src, gx, gy, w, dw, dh);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (Extent e : extents({{1920, 1080, 1}, {5120, 3840, 1}}, {70, 21, 1})) {
    size_t n = (size_t)e.x * e.y, m = (size_t)(e.x - 2) * (e.y - 2);
    unsigned char *in = filled<unsigned char>(n, 44, 0, 256);
    short *gx = zeros<short>(m), *gy = zeros<short>(m);
    measure("scharr", text(e), [&] { gradients(in, gx, gy, e.x, e.y); },
            {result(gx, m), result(gy, m)});
    release(in, gx, gy);
  }
}
