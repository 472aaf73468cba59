// Bilateral filter of radius 2: weights from distance and difference.
#include "validation.cuh"

#define R 2
#define T 16

__global__ void bilateral(const float *in, float *out, int w, int h, float es,
                          float er) {
  __shared__ float px[T + 2 * R][T + 2 * R];
  int x = blockIdx.x * T + threadIdx.x, y = blockIdx.y * T + threadIdx.y;
  for (int dy = threadIdx.y; dy < T + 2 * R; dy += T)
    for (int dx = threadIdx.x; dx < T + 2 * R; dx += T) {
      int gx = min(max((int)blockIdx.x * T + dx - R, 0), w - 1);
      int gy = min(max((int)blockIdx.y * T + dy - R, 0), h - 1);
      px[dy][dx] = in[gy * w + gx];
    }
  __syncthreads();
  if (x >= w || y >= h)
    return;
  float centre = px[threadIdx.y + R][threadIdx.x + R], sum = 0, norm = 0;
  for (int i = -R; i <= R; i++)
    for (int j = -R; j <= R; j++) {
      float v = px[threadIdx.y + R + i][threadIdx.x + R + j];
      float d = v - centre;
      float k = __expf(-(i * i + j * j) * es - d * d * er);
      sum += k * v;
      norm += k;
    }
  out[y * w + x] = sum / norm;
}

void denoise(const float *in, float *out, int w, int h) {
  dim3 threads(T, T);
  dim3 blocks((w + T - 1) / T, (h + T - 1) / T);
  bilateral<<<blocks, threads>>>(in, out, w, h, 0.2f, 3.f);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (Extent e : extents({{640, 480, 1}, {4096, 4096, 1}}, {35, 30, 1})) {
    size_t n = (size_t)e.x * e.y;
    float *in = filled<float>(n, 47), *out = zeros<float>(n);
    measure("bilateral", text(e), [&] { denoise(in, out, e.x, e.y); },
            {result(out, n)});
    release(in, out);
  }
}
