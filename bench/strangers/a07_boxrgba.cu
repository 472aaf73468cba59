// 3x3 box blur of RGBA pixels, and the gradient of a volume in slices of 16x16.
#include "bench.h"

#define RADIUS 1
#define W 16
#define H 16

__global__ void boxBlurRGBA(const uchar4 *in, uchar4 *out, int width, int height, int pitch) {
  __shared__ uchar4 smem[H][W]; // includes the halo: only the inner threads write
  int x = blockIdx.x * (W - 2 * RADIUS) + threadIdx.x - RADIUS;
  int y = blockIdx.y * (H - 2 * RADIUS) + threadIdx.y - RADIUS;
  int cx = min(max(x, 0), width - 1);
  int cy = min(max(y, 0), height - 1);
  smem[threadIdx.y][threadIdx.x] = in[cy * pitch + cx];
  __syncthreads();
  if (threadIdx.x >= RADIUS && threadIdx.x < W - RADIUS && threadIdx.y >= RADIUS && threadIdx.y < H - RADIUS &&
      x < width && y < height) {
    int r = 0, g = 0, b = 0;
    for (int dy = -RADIUS; dy <= RADIUS; ++dy)
      for (int dx = -RADIUS; dx <= RADIUS; ++dx) {
        uchar4 p = smem[threadIdx.y + dy][threadIdx.x + dx];
        r += p.x;
        g += p.y;
        b += p.z;
      }
    out[y * pitch + x] = make_uchar4(r / 9, g / 9, b / 9, smem[threadIdx.y][threadIdx.x].w);
  }
}

// central difference along x, a row a block, as in NVIDIA's finite-difference article
__constant__ float c_ax, c_bx, c_cx, c_dx;
#define MX 192
#define MY 192
#define MZ 192
const int sPencils = 4;

__global__ void derivative_x(float *f, float *df) {
  __shared__ float s_f[sPencils][MX + 8]; // 4-wide halo
  int i = threadIdx.x;
  int j = blockIdx.x * blockDim.y + threadIdx.y;
  int k = blockIdx.y;
  int si = i + 4;
  int sj = threadIdx.y;
  int globalIdx = k * MX * MY + j * MX + i;
  s_f[sj][si] = f[globalIdx];
  __syncthreads();
  // fill in periodic images
  if (i < 4) {
    s_f[sj][si - 4] = s_f[sj][si + MX - 5];
    s_f[sj][si + MX] = s_f[sj][si + 1];
  }
  __syncthreads();
  df[globalIdx] = (c_ax * (s_f[sj][si + 1] - s_f[sj][si - 1]) + c_bx * (s_f[sj][si + 2] - s_f[sj][si - 2]) +
                   c_cx * (s_f[sj][si + 3] - s_f[sj][si - 3]) + c_dx * (s_f[sj][si + 4] - s_f[sj][si - 4]));
}

int main() {
  {
    const int width = 3999, height = 3001, pitch = 4000;
    std::vector<uchar4> h((size_t)pitch * height);
    Rng r(401);
    for (auto &p : h) {
      uint32_t v = r.next();
      p = make_uchar4(v, v >> 8, v >> 16, v >> 24);
    }
    uchar4 *in = toDevice(h), *out = deviceAlloc<uchar4>(h.size());
    const int ow = W - 2 * RADIUS, oh = H - 2 * RADIUS;
    dim3 block(W, H), grid((width + ow - 1) / ow, (height + oh - 1) / oh);
    printTime("boxBlurRGBA", timeMin([&] { boxBlurRGBA<<<grid, block>>>(in, out, width, height, pitch); }));
    printHash("boxBlurRGBA", out, h.size());
  }
  {
    float a = 4.f / 5, b = -1.f / 5, c = 4.f / 105, d = -1.f / 280;
    cudaMemcpyToSymbol(c_ax, &a, sizeof a);
    cudaMemcpyToSymbol(c_bx, &b, sizeof b);
    cudaMemcpyToSymbol(c_cx, &c, sizeof c);
    cudaMemcpyToSymbol(c_dx, &d, sizeof d);
    const size_t n = (size_t)MX * MY * MZ;
    float *f = toDevice(randomFloats(n, 402)), *df = deviceAlloc<float>(n);
    dim3 grid(MY / sPencils, MZ), block(MX, sPencils);
    printTime("derivative_x", timeMin([&] { derivative_x<<<grid, block>>>(f, df); }));
    printHash("derivative_x", df, n);
  }
}
