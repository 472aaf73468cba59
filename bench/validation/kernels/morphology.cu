// Erosion by a row of 11 and dilation by a column of 11.
#include "validation.cuh"

typedef unsigned char byte;
struct Geometry {
  int width, height, stride;
};

__global__ void erode_row(const byte *in, byte *out, Geometry g) {
  __shared__ byte line[256 + 10];
  int x = blockIdx.x * 256 + threadIdx.x, y = blockIdx.y;
  const byte *row = in + y * g.stride;
  line[threadIdx.x + 5] = x < g.width ? row[x] : 255;
  if (threadIdx.x < 5)
    line[threadIdx.x] = x >= 5 && x - 5 < g.width ? row[x - 5] : 255;
  if (threadIdx.x >= 251)
    line[threadIdx.x + 10] = x + 5 < g.width ? row[x + 5] : 255;
  __syncthreads();
  if (x < g.width) {
    byte m = 255;
    for (int k = 0; k < 11; ++k)
      m = min(m, line[threadIdx.x + k]);
    out[y * g.stride + x] = m;
  }
}

__global__ void dilate_column(const byte *in, byte *out, Geometry g) {
  __shared__ byte tile[16 + 10][32];
  int x = blockIdx.x * 32 + threadIdx.x;
  int y0 = blockIdx.y * 16;
  for (int r = threadIdx.y; r < 26; r += 16) {
    int y = y0 + r - 5;
    tile[r][threadIdx.x] =
        (x < g.width && y >= 0 && y < g.height) ? in[y * g.stride + x] : 0;
  }
  __syncthreads();
  int y = y0 + threadIdx.y;
  if (x < g.width && y < g.height) {
    byte m = 0;
    for (int k = 0; k < 11; ++k)
      m = max(m, tile[threadIdx.y + k][threadIdx.x]);
    out[y * g.stride + x] = m;
  }
}

void erode(const byte *in, byte *out, const Geometry &g) {
  erode_row<<<dim3((g.width + 255) / 256, g.height), 256>>>(in, out, g);
}
void dilate(const byte *in, byte *out, const Geometry &g) {
  dilate_column<<<dim3((g.width + 31) / 32, (g.height + 15) / 16),
                  dim3(32, 16)>>>(in, out, g);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (Extent e : extents({{1920, 1080, 1}, {8192, 8192, 1}}, {300, 20, 1})) {
    Geometry g = {e.x, e.y, e.x + 64};
    size_t n = (size_t)g.stride * e.y;
    byte *in = filled<byte>(n, 49, 0, 256), *out = zeros<byte>(n);
    measure("erode_row", text(e), [&] { erode(in, out, g); }, {result(out, n)});
    measure("dilate_column", text(e), [&] { dilate(in, out, g); },
            {result(out, n)});
    release(in, out);
  }
}
