// Summed-area tables: prefix sums along the rows and down the columns of an
// image with a carry from tile to tile, and tables of separate tiles.
#include "validation.cuh"

// a block walks along eight rows
__global__ void prefixRows(const unsigned char *in, unsigned *out, int width,
                           int height) {
  __shared__ unsigned s[8][33];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int y = blockIdx.x * 8 + ty;
  unsigned carry = 0;
  for (int x0 = 0; x0 < width; x0 += 32) {
    int x = x0 + tx;
    s[ty][tx] = y < height && x < width ? in[(size_t)y * width + x] : 0u;
    __syncthreads();
    for (int d = 1; d < 32; d *= 2) {
      unsigned left = tx >= d ? s[ty][tx - d] : 0u;
      __syncthreads();
      s[ty][tx] += left;
      __syncthreads();
    }
    if (y < height && x < width)
      out[(size_t)y * width + x] = carry + s[ty][tx];
    carry += s[ty][31];
    __syncthreads();
  }
}

// sixteen columns, top to bottom
__global__ void prefixColumns(unsigned *table, int width, int height) {
  __shared__ unsigned s[16][17];
  int tx = threadIdx.x, ty = threadIdx.y;
  int x = blockIdx.x * 16 + tx;
  unsigned carry = 0;
  for (int y0 = 0; y0 < height; y0 += 16) {
    int y = y0 + ty;
    bool inside = x < width && y < height;
    s[ty][tx] = inside ? table[(size_t)y * width + x] : 0u;
    __syncthreads();
    for (int d = 1; d < 16; d <<= 1) {
      unsigned above = 0;
      if (ty >= d)
        above = s[ty - d][tx];
      __syncthreads();
      s[ty][tx] += above;
      __syncthreads();
    }
    if (inside)
      table[(size_t)y * width + x] = s[ty][tx] + carry;
    carry += s[15][tx];
    __syncthreads();
  }
}

// a table for each tile of 32 x 8, two buffers
__global__ void tileTables(const float *in, float *out, int width, int height) {
  __shared__ float buf[2][8][32];
  int tx = threadIdx.x, ty = threadIdx.y, cur = 0;
  int x = blockIdx.x * 32 + tx, y = blockIdx.y * 8 + ty;
  buf[0][ty][tx] = x < width && y < height ? in[(size_t)y * width + x] : 0.f;
  __syncthreads();
  for (int d = 1; d < 32; d <<= 1) {
    float v = buf[cur][ty][tx];
    if (tx >= d)
      v += buf[cur][ty][tx - d];
    buf[1 - cur][ty][tx] = v;
    cur = 1 - cur;
    __syncthreads();
  }
  for (int d = 1; d < 8; d <<= 1) {
    float v = buf[cur][ty][tx];
    if (ty >= d)
      v += buf[cur][ty - d][tx];
    buf[1 - cur][ty][tx] = v;
    cur = 1 - cur;
    __syncthreads();
  }
  if (x < width && y < height)
    out[(size_t)y * width + x] = buf[cur][ty][tx];
}

void rows(const unsigned char *in, unsigned *out, int w, int h) {
  prefixRows<<<(h + 7) / 8, dim3(32, 8)>>>(in, out, w, h);
}
void columns(unsigned *table, int w, int h) {
  prefixColumns<<<(w + 15) / 16, dim3(16, 16)>>>(table, w, h);
}
void tiles(const float *in, float *out, int w, int h) {
  dim3 threads(32, 8, 1);
  dim3 blocks((w + threads.x - 1) / threads.x, (h + threads.y - 1) / threads.y);
  tileTables<<<blocks, threads>>>(in, out, w, h);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (Extent e : extents({{8192, 4096, 1}, {3840, 2160, 1}, {1280, 960, 1}},
                          {70, 21, 1})) {
    size_t n = (size_t)e.x * e.y;
    unsigned char *img = filled<unsigned char>(n, 541, 0, 256);
    unsigned *table = zeros<unsigned>(n);
    float *f = filled<float>(n, 542, 0, 1), *o = zeros<float>(n);
    measure("prefixRows", text(e), [&] { rows(img, table, e.x, e.y); },
            {result(table, n)});
    measure("prefixColumns", text(e), [&] { columns(table, e.x, e.y); },
            {result(table, n)});
    measure("tileTables", text(e), [&] { tiles(f, o, e.x, e.y); },
            {result(o, n)});
    release(img, table, f, o);
  }
}
