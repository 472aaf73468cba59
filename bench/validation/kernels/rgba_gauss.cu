// Gaussian 3 x 3 on pixels of four bytes, staged as numbers.
#include "validation.cuh"

#define BLK 16

inline __device__ float4 unpack(uchar4 c) {
  return make_float4(c.x, c.y, c.z, c.w);
}
inline __device__ void accumulate(float4 &a, float4 b, float k) {
  a.x += k * b.x;
  a.y += k * b.y;
  a.z += k * b.z;
  a.w += k * b.w;
}

__global__ void gauss_rgba(const uchar4 *in, uchar4 *out, int width,
                           int height) {
  __shared__ float4 tile[BLK + 2][BLK + 2];
  int ox = blockIdx.x * BLK, oy = blockIdx.y * BLK;
  for (int k = threadIdx.y * BLK + threadIdx.x; k < (BLK + 2) * (BLK + 2);
       k += BLK * BLK) {
    int x = ox + k % (BLK + 2) - 1, y = oy + k / (BLK + 2) - 1;
    x = x < 0 ? 0 : (x >= width ? width - 1 : x);
    y = y < 0 ? 0 : (y >= height ? height - 1 : y);
    tile[k / (BLK + 2)][k % (BLK + 2)] = unpack(in[y * width + x]);
  }
  __syncthreads();
  int x = ox + threadIdx.x, y = oy + threadIdx.y;
  if (x < width && y < height) {
    const float w[3] = {0.25f, 0.5f, 0.25f};
    float4 s = make_float4(0, 0, 0, 0);
#pragma unroll
    for (int j = 0; j < 3; ++j)
#pragma unroll
      for (int i = 0; i < 3; ++i)
        accumulate(s, tile[threadIdx.y + j][threadIdx.x + i], w[i] * w[j]);
    out[y * width + x] = make_uchar4(s.x, s.y, s.z, s.w);
  }
}

void soften(const uchar4 *in, uchar4 *out, int w, int h) {
  dim3 t(BLK, BLK), b((w + BLK - 1) / BLK, (h + BLK - 1) / BLK);
  gauss_rgba<<<b, t>>>(in, out, w, h);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (Extent e : extents({{1920, 1080, 1}, {4096, 4096, 1}}, {40, 30, 1})) {
    size_t n = (size_t)e.x * e.y;
    uchar4 *in = (uchar4 *)filled<unsigned char>(4 * n, 57, 0, 256);
    uchar4 *out = zeros<uchar4>(n);
    measure("gauss_rgba", text(e), [&] { soften(in, out, e.x, e.y); },
            {result(out, n)});
    release(in, out);
  }
}
