// The median and the greatest of each 3x3 neighbourhood of a byte picture of
// odd width, borders repeated or left alone.
#include "validation.cuh"

#define BW 16
#define BH 16

__device__ __forceinline__ void cswap(unsigned char &a, unsigned char &b) {
  unsigned char lo = min(a, b);
  b = max(a, b);
  a = lo;
}

__global__ void medianFilter3x3(const unsigned char *inputImage,
                                unsigned char *outputImage, int imageWidth,
                                int imageHeight) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ unsigned char sharedmem[BH + 2][BW + 2];

  // fill the tile with its apron, the nearest pixel outside of the picture
  for (int i = threadIdx.y * BW + threadIdx.x; i < (BH + 2) * (BW + 2);
       i += BW * BH) {
    int r = (int)(blockIdx.y * BH) + i / (BW + 2) - 1;
    int c = (int)(blockIdx.x * BW) + i % (BW + 2) - 1;
    r = max(0, min(r, imageHeight - 1));
    c = max(0, min(c, imageWidth - 1));
    sharedmem[i / (BW + 2)][i % (BW + 2)] = inputImage[r * imageWidth + c];
  }
  __syncthreads();

  if (row >= imageHeight || col >= imageWidth)
    return;

  unsigned char v[9];
  for (int y = 0; y < 3; y++)
    for (int x = 0; x < 3; x++)
      v[y * 3 + x] = sharedmem[threadIdx.y + y][threadIdx.x + x];
  // partial bubble sort, the median is the fifth
  for (int i = 0; i < 5; i++)
    for (int j = i + 1; j < 9; j++)
      cswap(v[i], v[j]);
  outputImage[row * imageWidth + col] = v[4];
}

// Output only where the whole window is inside: (w - 2) x (h - 2), packed.
__global__ void dilate3x3(const unsigned char *src, unsigned char *dst, int w,
                          int h) {
  __shared__ unsigned char t[8 + 2][64 + 2];
  const int x = blockIdx.x * 64 + threadIdx.x;
  const int y = blockIdx.y * 8 + threadIdx.y;
  for (int dy = 0; threadIdx.y + dy < 10; dy += 8)
    for (int dx = 0; threadIdx.x + dx < 66; dx += 64)
      if (x + dx < w && y + dy < h)
        t[threadIdx.y + dy][threadIdx.x + dx] = src[(y + dy) * w + x + dx];
  __syncthreads();
  if (x < w - 2 && y < h - 2) {
    unsigned char m = 0;
#pragma unroll
    for (int j = 0; j < 3; ++j)
#pragma unroll
      for (int i = 0; i < 3; ++i)
        m = max(m, t[threadIdx.y + j][threadIdx.x + i]);
    dst[y * (w - 2) + x] = m;
  }
}

void median(const unsigned char *in, unsigned char *out, int w, int h) {
  dim3 dimBlock(BW, BH);
  dim3 dimGrid((w + BW - 1) / BW, (h + BH - 1) / BH);
  medianFilter3x3<<<dimGrid, dimBlock>>>(in, out, w, h);
}
void dilate(const unsigned char *in, unsigned char *out, int w, int h) {
  dilate3x3<<<dim3((w - 2 + 63) / 64, (h - 2 + 7) / 8), dim3(64, 8)>>>(in, out,
                                                                      w, h);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (Extent e :
       extents({{4999, 4999, 1}, {1919, 1081, 1}, {321, 241, 1}}, {75, 19, 1})) {
    size_t n = (size_t)e.x * e.y, m = (size_t)(e.x - 2) * (e.y - 2);
    unsigned char *in = filled<unsigned char>(n, 411, 0, 256),
                  *a = zeros<unsigned char>(n), *b = zeros<unsigned char>(m);
    measure("medianFilter3x3", text(e), [&] { median(in, a, e.x, e.y); },
            {result(a, n)});
    measure("dilate3x3", text(e), [&] { dilate(in, b, e.x, e.y); },
            {result(b, m)});
    release(in, a, b);
  }
}
