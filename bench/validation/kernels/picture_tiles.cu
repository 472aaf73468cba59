// Small two-dimensional blocks over pictures: prefix sums along x within 32,
// the brightest of each 16 rows along y, a torus tile smoothed in place.
#include "validation.cuh"

// 32 x 8 threads, each row of the block scanned by itself
__global__ void segmentPrefixX(const float *img, float *acc, int w, int h) {
  __shared__ float line[8][32];
  const int lx = threadIdx.x, ly = threadIdx.y;
  const int x = (blockIdx.x << 5) + lx, y = (blockIdx.y << 3) + ly;
  const bool inside = x < w && y < h;
  line[ly][lx] = inside ? img[(size_t)y * w + x] : 0.0f;
  __syncthreads();
  for (int d = 1; d < 32; d <<= 1) {
    float add = 0.0f;
    if (lx >= d)
      add = line[ly][lx - d];
    __syncthreads();
    line[ly][lx] += add;
    __syncthreads();
  }
  if (inside)
    acc[(size_t)y * w + x] = line[ly][lx];
}

#define SIDE 16

// brightest[block row][x]
__global__ void brightestInColumns(const unsigned char *img,
                                   unsigned char *brightest, int w, int h) {
  __shared__ unsigned char px[SIDE][SIDE + 1];
  const int x = blockIdx.x * SIDE + threadIdx.x;
  const int y = blockIdx.y * SIDE + threadIdx.y;
  px[threadIdx.y][threadIdx.x] = (x < w && y < h) ? img[(size_t)y * w + x] : 0;
  __syncthreads();
  for (int half = SIDE / 2; half > 0; half /= 2) {
    if (threadIdx.y < half) {
      unsigned char other = px[threadIdx.y + half][threadIdx.x];
      if (other > px[threadIdx.y][threadIdx.x])
        px[threadIdx.y][threadIdx.x] = other;
    }
    __syncthreads();
  }
  if (threadIdx.y == 0 && x < w)
    brightest[(size_t)blockIdx.y * w + x] = px[0][threadIdx.x];
}

// each 16 x 16 cell is periodic in itself
__global__ void relaxCells(const float *in, float *out, int w, int h,
                           int sweeps) {
  __shared__ float c[SIDE][SIDE];
  const int i = threadIdx.x, j = threadIdx.y;
  const int x = blockIdx.x * SIDE + i, y = blockIdx.y * SIDE + j;
  const int gx = min(x, w - 1), gy = min(y, h - 1);
  c[j][i] = in[(size_t)gy * w + gx];
  __syncthreads();
  const int east = (i + 1) % SIDE, west = (i + SIDE - 1) % SIDE;
  const int south = (j + 1) % SIDE, north = (j + SIDE - 1) % SIDE;
  for (int s = 0; s < sweeps; ++s) {
    float next = 0.6f * c[j][i] +
                 0.1f * (c[j][east] + c[j][west] + c[south][i] + c[north][i]);
    __syncthreads();
    c[j][i] = next;
    __syncthreads();
  }
  if (x < w && y < h)
    out[(size_t)y * w + x] = c[j][i];
}

void prefixes(const float *a, float *b, int w, int h) {
  segmentPrefixX<<<dim3((w + 31) / 32, (h + 7) / 8), dim3(32, 8)>>>(a, b, w, h);
}
void brightest(const unsigned char *a, unsigned char *b, int w, int h) {
  dim3 cells((w + SIDE - 1) / SIDE, (h + SIDE - 1) / SIDE);
  brightestInColumns<<<cells, dim3(SIDE, SIDE)>>>(a, b, w, h);
}
void relaxed(const float *a, float *b, int w, int h) {
  dim3 cells((w + SIDE - 1) / SIDE, (h + SIDE - 1) / SIDE);
  relaxCells<<<cells, dim3(SIDE, SIDE)>>>(a, b, w, h, 6);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (Extent e : extents({{640, 480, 1}, {1280, 720, 1}, {8192, 8192, 1}},
                          {70, 21, 1})) {
    size_t n = (size_t)e.x * e.y;
    size_t bands = (size_t)e.x * ((e.y + SIDE - 1) / SIDE);
    float *a = filled<float>(n, 631), *b = zeros<float>(n), *r = zeros<float>(n);
    measure("segmentPrefixX", text(e), [&] { prefixes(a, b, e.x, e.y); },
            {result(b, n)});
    measure("relaxCells", text(e), [&] { relaxed(a, r, e.x, e.y); },
            {result(r, n)});
    unsigned char *p = filled<unsigned char>(n, 632, 0, 256),
                  *m = zeros<unsigned char>(bands);
    measure("brightestInColumns", text(e), [&] { brightest(p, m, e.x, e.y); },
            {result(m, bands)});
    release(a, b, r, p, m);
  }
}
