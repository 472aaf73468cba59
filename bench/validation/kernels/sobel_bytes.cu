// Sobel on a grey image of bytes; the frame of the result stays 0.
#include "validation.cuh"

typedef unsigned char uchar;
const int TW = 16;

__global__ void sobel(const uchar *image, uchar *edges, int width, int height) {
  __shared__ uchar t[TW + 2][TW + 2];
  int x = blockIdx.x * TW + threadIdx.x, y = blockIdx.y * TW + threadIdx.y;
  int cx = min(x, width - 1), cy = min(y, height - 1);
  t[threadIdx.y + 1][threadIdx.x + 1] = image[cy * width + cx];
  if (threadIdx.x == 0)
    t[threadIdx.y + 1][0] = image[cy * width + max(cx - 1, 0)];
  if (threadIdx.x == TW - 1)
    t[threadIdx.y + 1][TW + 1] = image[cy * width + min(cx + 1, width - 1)];
  if (threadIdx.y == 0) {
    int up = max(cy - 1, 0) * width;
    t[0][threadIdx.x + 1] = image[up + cx];
    if (threadIdx.x == 0)
      t[0][0] = image[up + max(cx - 1, 0)];
    if (threadIdx.x == TW - 1)
      t[0][TW + 1] = image[up + min(cx + 1, width - 1)];
  }
  if (threadIdx.y == TW - 1) {
    int down = min(cy + 1, height - 1) * width;
    t[TW + 1][threadIdx.x + 1] = image[down + cx];
    if (threadIdx.x == 0)
      t[TW + 1][0] = image[down + max(cx - 1, 0)];
    if (threadIdx.x == TW - 1)
      t[TW + 1][TW + 1] = image[down + min(cx + 1, width - 1)];
  }
  __syncthreads();
  if (x > 0 && y > 0 && x < width - 1 && y < height - 1) {
    int i = threadIdx.y, j = threadIdx.x;
    int gx = t[i][j + 2] + 2 * t[i + 1][j + 2] + t[i + 2][j + 2] - t[i][j] -
             2 * t[i + 1][j] - t[i + 2][j];
    int gy = t[i + 2][j] + 2 * t[i + 2][j + 1] + t[i + 2][j + 2] - t[i][j] -
             2 * t[i][j + 1] - t[i][j + 2];
    int g = (abs(gx) + abs(gy)) >> 1;
    edges[y * width + x] = g > 255 ? 255 : g;
  }
}

void detect(const uchar *image, uchar *edges, int w, int h) {
  dim3 b(TW, TW), g((w + TW - 1) / TW, (h + TW - 1) / TW);
  sobel<<<g, b>>>(image, edges, w, h);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (Extent e : extents({{640, 480, 1}, {4096, 4096, 1}}, {40, 30, 1})) {
    size_t n = (size_t)e.x * e.y;
    uchar *in = filled<uchar>(n, 43, 0, 256), *out = zeros<uchar>(n);
    measure("sobel", text(e), [&] { detect(in, out, e.x, e.y); },
            {result(out, n)});
    release(in, out);
  }
}
