// Bilinear demosaicing of an RGGB mosaic; the mosaic has a frame of one pixel.
#include "validation.cuh"

#define TX 32
#define TY 16

__global__ void demosaic(const unsigned short *raw, uchar4 *rgb, int width,
                         int height) {
  __shared__ unsigned short m[TY + 2][TX + 2];
  const int x = blockIdx.x * TX + threadIdx.x;
  const int y = blockIdx.y * TY + threadIdx.y;
  const int pitch = width + 2;
  for (int j = threadIdx.y; j < TY + 2; j += TY)
    for (int i = threadIdx.x; i < TX + 2; i += TX) {
      int gy = min((int)blockIdx.y * TY + j, height + 1);
      int gx = min((int)blockIdx.x * TX + i, width + 1);
      m[j][i] = raw[gy * pitch + gx];
    }
  __syncthreads();
  if (x >= width || y >= height)
    return;
  const int i = threadIdx.x + 1, j = threadIdx.y + 1;
  int c = m[j][i];
  int h = (m[j][i - 1] + m[j][i + 1]) / 2;
  int v = (m[j - 1][i] + m[j + 1][i]) / 2;
  int cross = (h + v) / 2;
  int diag =
      (m[j - 1][i - 1] + m[j - 1][i + 1] + m[j + 1][i - 1] + m[j + 1][i + 1]) /
      4;
  int r, g, b;
  if ((y & 1) == 0) {
    r = (x & 1) == 0 ? c : h;
    g = (x & 1) == 0 ? cross : c;
    b = (x & 1) == 0 ? diag : v;
  } else {
    r = (x & 1) == 0 ? v : diag;
    g = (x & 1) == 0 ? c : cross;
    b = (x & 1) == 0 ? h : c;
  }
  rgb[y * width + x] = make_uchar4(r >> 4, g >> 4, b >> 4, 255);
}

void develop(const unsigned short *raw, uchar4 *rgb, int w, int h) {
  dim3 block, grid;
  block.x = TX;
  block.y = TY;
  grid.x = (w + TX - 1) / TX;
  grid.y = (h + TY - 1) / TY;
  demosaic<<<grid, block>>>(raw, rgb, w, h);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (Extent e : extents({{1920, 1080, 1}, {6000, 4000, 1}}, {50, 36, 1})) {
    size_t n = (size_t)e.x * e.y;
    unsigned short *raw = filled<unsigned short>(
        (size_t)(e.x + 2) * (e.y + 2), 50, 0, 4096);
    uchar4 *rgb = zeros<uchar4>(n);
    measure("demosaic", text(e), [&] { develop(raw, rgb, e.x, e.y); },
            {result(rgb, n)});
    release(raw, rgb);
  }
}
