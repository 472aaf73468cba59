// Blocks of two dimensions that reduce along one of them: sums of rows, maxima
// of columns, a matrix times a vector, means of square tiles.
#include "validation.cuh"

#define TX 16
#define TY 16

__global__ void rowSums(const float *A, float *sums, int rows, int cols,
                        int lda) {
  __shared__ float s[TY][TX + 1];
  int tx = threadIdx.x, ty = threadIdx.y;
  int r = blockIdx.x * TY + ty;
  float acc = 0.f;
  if (r < rows)
    for (int c = tx; c < cols; c += TX)
      acc += A[(size_t)r * lda + c];
  s[ty][tx] = acc;
  __syncthreads();
  for (int k = TX / 2; k > 0; k >>= 1) {
    if (tx < k)
      s[ty][tx] += s[ty][tx + k];
    __syncthreads();
  }
  if (tx == 0 && r < rows)
    sums[r] = s[ty][0];
}

// 32 columns and a strip of rows for each block
__global__ void colMax(const float *A, float *best, int rows, int cols,
                       int strip) {
  __shared__ float tile[8][33];
  int col = blockIdx.x * 32 + threadIdx.x;
  int from = blockIdx.y * strip, to = min(rows, from + strip);
  float m = -INFINITY;
  if (col < cols)
    for (int r = from + threadIdx.y; r < to; r += 8)
      m = fmaxf(m, A[(size_t)r * cols + col]);
  tile[threadIdx.y][threadIdx.x] = m;
  __syncthreads();
  for (int k = 4; k > 0; k /= 2) {
    if (threadIdx.y < k)
      tile[threadIdx.y][threadIdx.x] =
          fmaxf(tile[threadIdx.y][threadIdx.x],
                tile[threadIdx.y + k][threadIdx.x]);
    __syncthreads();
  }
  if (threadIdx.y == 0 && col < cols)
    best[(size_t)blockIdx.y * cols + col] = tile[0][threadIdx.x];
}

// y = A x, eight rows a block
__global__ void gemv(const double *A, const double *x, double *y, int m, int n) {
  __shared__ double part[8][32];
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  double dot = 0;
  if (row < m)
    for (int j = threadIdx.x; j < n; j += blockDim.x)
      dot += A[(size_t)row * n + j] * x[j];
  part[threadIdx.y][threadIdx.x] = dot;
  __syncthreads();
  for (int off = 16; off; off >>= 1) {
    if (threadIdx.x < off)
      part[threadIdx.y][threadIdx.x] += part[threadIdx.y][threadIdx.x + off];
    __syncthreads();
  }
  if (threadIdx.x == 0 && row < m)
    y[row] = part[threadIdx.y][0];
}

// an image shrunk by 16 in both directions
__global__ void tileMeans(const unsigned char *img, float *means, int width,
                          int height) {
  __shared__ int s[16][16];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  s[threadIdx.y][threadIdx.x] =
      x < width && y < height ? img[(size_t)y * width + x] : 0;
  __syncthreads();
  for (int d = 8; d > 0; d /= 2) {
    if (threadIdx.x < d)
      s[threadIdx.y][threadIdx.x] += s[threadIdx.y][threadIdx.x + d];
    __syncthreads();
  }
  for (int d = 8; d > 0; d /= 2) {
    if (threadIdx.x == 0 && threadIdx.y < d)
      s[threadIdx.y][0] += s[threadIdx.y + d][0];
    __syncthreads();
  }
  if (threadIdx.x == 0 && threadIdx.y == 0)
    means[blockIdx.y * gridDim.x + blockIdx.x] = s[0][0] / 256.0f;
}

void sumOfRows(const float *A, float *sums, int rows, int cols, int lda) {
  rowSums<<<(rows + TY - 1) / TY, dim3(TX, TY)>>>(A, sums, rows, cols, lda);
}
void maxOfColumns(const float *A, float *best, int rows, int cols, int strip) {
  dim3 block(32, 8);
  dim3 grid((cols + 31) / 32, (rows + strip - 1) / strip);
  colMax<<<grid, block>>>(A, best, rows, cols, strip);
}
void multiply(const double *A, const double *x, double *y, int m, int n) {
  dim3 block(32, 8);
  gemv<<<(m + 7) / 8, block>>>(A, x, y, m, n);
}
void shrink(const unsigned char *img, float *means, int w, int h) {
  dim3 block(16, 16), grid((w + 15) / 16, (h + 15) / 16);
  tileMeans<<<grid, block>>>(img, means, w, h);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  // columns, rows
  for (Extent e : extents({{4096, 8192, 1}, {1000, 20000, 1}, {64, 131072, 1}},
                          {45, 37, 1})) {
    int lda = e.x + 8, strip = 256;
    size_t n = (size_t)lda * e.y;
    size_t bests = (size_t)((e.y + strip - 1) / strip) * e.x;
    float *A = filled<float>(n, 531), *sums = zeros<float>(e.y),
          *best = zeros<float>(bests);
    measure("rowSums", text(e), [&] { sumOfRows(A, sums, e.y, e.x, lda); },
            {result(sums, e.y)});
    measure("colMax", text(e),
            [&] { maxOfColumns(A, best, e.y, e.x, strip); },
            {result(best, bests)});
    release(A, sums, best);
  }
  for (Extent e : extents({{4096, 4096, 1}, {700, 12000, 1}}, {50, 19, 1})) {
    double *A = filled<double>((size_t)e.x * e.y, 532),
           *x = filled<double>(e.x, 533), *y = zeros<double>(e.y);
    measure("gemv", text(e), [&] { multiply(A, x, y, e.y, e.x); },
            {result(y, e.y)});
    release(A, x, y);
  }
  for (Extent e : extents({{7680, 4320, 1}, {1920, 1080, 1}}, {40, 35, 1})) {
    size_t tiles = (size_t)((e.x + 15) / 16) * ((e.y + 15) / 16);
    unsigned char *img = filled<unsigned char>((size_t)e.x * e.y, 534, 0, 256);
    float *means = zeros<float>(tiles);
    measure("tileMeans", text(e), [&] { shrink(img, means, e.x, e.y); },
            {result(means, tiles)});
    release(img, means);
  }
}
