// What is measured has the extents that the kernel's data has: a clamped row
// (`(h - 1) * w`) makes no volume of an image, a loop over planes does, though
// the grid has two dimensions.
// RUN: rm -rf %t && rcache-rewrite %s -o /dev/null --cuda-path=%cuda -q --tune-emit=%t
// RUN: find %t -path "*/edges-*/c*.cu" -exec cat {} + | FileCheck %s --check-prefix=IMAGE
// RUN: find %t -path "*/planes-*/c*.cu" -exec cat {} + | FileCheck %s --check-prefix=VOLUME
// REQUIRES: cuda-toolkit
//
// IMAGE: int w = 8192;
// IMAGE: int h = 8192;
// IMAGE: }, 2, true);
// VOLUME: int nx = 384;
// VOLUME: int ny = 384;
// VOLUME: int nz = 384;
// VOLUME: }, 3, true);

__global__ void edges(const unsigned char *in, unsigned char *out, int w,
                      int h) {
  __shared__ unsigned char s[18][18];
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  for (int j = threadIdx.y; j < 18; j += 16)
    for (int i = threadIdx.x; i < 18; i += 16) {
      const int sy = min(max(int(blockIdx.y * 16) + j - 1, 0), h - 1);
      const int sx = min(max(int(blockIdx.x * 16) + i - 1, 0), w - 1);
      s[j][i] = in[sy * w + sx];
    }
  __syncthreads();
  if (x < w && y < h)
    out[y * w + x] = abs(s[threadIdx.y][threadIdx.x] -
                         s[threadIdx.y + 2][threadIdx.x + 2]);
}

__global__ void planes(const float *__restrict__ in, float *__restrict__ out,
                       int nx, int ny, int nz) {
  __shared__ float s[10][34];
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  const bool inside = x < nx && y < ny;
  for (int z = 0; z < nz; ++z) {
    for (int j = threadIdx.y; j < 10; j += 8)
      for (int i = threadIdx.x; i < 34; i += 32) {
        const int gx = blockIdx.x * 32 + i - 1, gy = blockIdx.y * 8 + j - 1;
        s[j][i] = gx >= 0 && gx < nx && gy >= 0 && gy < ny
                      ? in[(z * ny + gy) * nx + gx]
                      : 0.0f;
      }
    __syncthreads();
    if (inside)
      out[(z * ny + y) * nx + x] = s[ty][tx - 1] + s[ty][tx + 1] +
                                   s[ty - 1][tx] + s[ty + 1][tx] - s[ty][tx];
    __syncthreads();
  }
}

void launches(const unsigned char *a, unsigned char *b, int w, int h,
              const float *in, float *out, int nx, int ny, int nz) {
  edges<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(a, b, w, h);
  planes<<<dim3((nx + 31) / 32, (ny + 7) / 8), dim3(32, 8)>>>(in, out, nx, ny,
                                                              nz);
}
