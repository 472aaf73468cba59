// Median of 3 x 3 bytes by a network of least and greatest; the image has a
// frame of one pixel.
#include "validation.cuh"

#define SORT(a, b) { int lo = min(a, b), hi = max(a, b); a = lo; b = hi; }
#define DX 32
#define DY 8

__global__ void median3x3(const unsigned char *src, unsigned char *dst,
                          int pitch, int w, int h) {
  __shared__ unsigned char s[DY + 2][DX + 2];
  int bx = blockIdx.x * DX, by = blockIdx.y * DY;
  int id = threadIdx.y * DX + threadIdx.x;
  for (int k = id; k < (DX + 2) * (DY + 2); k += DX * DY) {
    int yy = k / (DX + 2), xx = k - yy * (DX + 2);
    if (by + yy < h + 2 && bx + xx < w + 2)
      s[yy][xx] = src[(by + yy) * pitch + bx + xx];
  }
  __syncthreads();
  int x = bx + threadIdx.x, y = by + threadIdx.y;
  if (x < w && y < h) {
    int a = s[threadIdx.y][threadIdx.x], b = s[threadIdx.y][threadIdx.x + 1],
        c = s[threadIdx.y][threadIdx.x + 2], d = s[threadIdx.y + 1][threadIdx.x],
        e = s[threadIdx.y + 1][threadIdx.x + 1],
        f = s[threadIdx.y + 1][threadIdx.x + 2],
        g = s[threadIdx.y + 2][threadIdx.x],
        i = s[threadIdx.y + 2][threadIdx.x + 1],
        j = s[threadIdx.y + 2][threadIdx.x + 2];
    SORT(b, c) SORT(e, f) SORT(i, j) SORT(a, b) SORT(d, e) SORT(g, i)
    SORT(b, c) SORT(e, f) SORT(i, j)
    SORT(a, d) SORT(f, j) SORT(e, i) SORT(d, g) SORT(b, e) SORT(c, f)
    SORT(e, i) SORT(e, c) SORT(g, e) SORT(e, c)
    dst[(y + 1) * pitch + x + 1] = e;
  }
}

void despeckle(const unsigned char *src, unsigned char *dst, int w, int h) {
  dim3 blk(DX, DY), grd((w + DX - 1) / DX, (h + DY - 1) / DY);
  median3x3<<<grd, blk>>>(src, dst, w + 2, w, h);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (Extent e : extents({{1920, 1080, 1}, {8192, 4096, 1}}, {50, 20, 1})) {
    size_t n = (size_t)(e.x + 2) * (e.y + 2);
    unsigned char *in = filled<unsigned char>(n, 48, 0, 256),
                  *out = zeros<unsigned char>(n);
    measure("median3x3", text(e), [&] { despeckle(in, out, e.x, e.y); },
            {result(out, n)});
    release(in, out);
  }
}
