// A shared array filled through float4 or int4 and read by elements: taps along
// a signal, a reversal of whole blocks, wavelet lifting of image rows.
#include "validation.cuh"

#define QUADS 64
#define LEN (4 * QUADS)

// vectors go in, scalars come out: thread t makes t, t + 64, t + 128, t + 192
__global__ void tapsFromQuads(const float *__restrict__ x, float *__restrict__ y,
                              int n) {
  __shared__ float4 stage[QUADS + 2];
  const float4 *x4 = (const float4 *)x;
  const int last = n / 4 - 1, first = blockIdx.x * QUADS;
  const int t = threadIdx.x;
  stage[t + 1] = x4[min(first + t, last)];
  if (t < 2)
    stage[t * (QUADS + 1)] = x4[t ? min(first + QUADS, last) : max(first - 1, 0)];
  __syncthreads();
  const float *s = (const float *)stage + 4;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    int i = t + k * QUADS;
    int g = blockIdx.x * LEN + i;
    if (g < n)
      y[g] = 0.05f * (s[i - 3] + s[i + 3]) + 0.1f * (s[i - 2] + s[i + 2]) +
             0.2f * (s[i - 1] + s[i + 1]) + 0.3f * s[i];
  }
}

// n is a multiple of 1024; block b of the result is block last - b backwards
__global__ void reverseQuads(const int4 *in, int *out) {
  __shared__ int s[1024];
  ((int4 *)s)[threadIdx.x] = in[(size_t)blockIdx.x * 256 + threadIdx.x];
  __syncthreads();
  int *dst = out + (size_t)(gridDim.x - 1 - blockIdx.x) * 1024;
  for (int k = 0; k < 4; k++) {
    int at = k * 256 + threadIdx.x;
    dst[at] = s[1023 - at];
  }
}

// lane by lane in, a quad out, with the neighbours of the quad (5/3 wavelet);
// rows of `width` numbers, a multiple of 4
__global__ void liftRow(const int *__restrict__ src, int4 *__restrict__ dst,
                        int width) {
  __shared__ __align__(16) int row[512 + 8];
  const int *line = src + (size_t)blockIdx.y * width;
  const int start = blockIdx.x * 512;
  for (int i = threadIdx.x; i < 520; i += 128) {
    int g = start + i - 4;
    if (g < 0)
      g = -g;
    if (g > width - 1)
      g = max(2 * (width - 1) - g, 0);
    row[i] = line[g];
  }
  __syncthreads();
  const int q = threadIdx.x + 1;
  if (start + 4 * (int)threadIdx.x >= width)
    return;
  const int4 l = reinterpret_cast<int4 *>(row)[q - 1],
             c = reinterpret_cast<int4 *>(row)[q],
             r = reinterpret_cast<int4 *>(row)[q + 1];
  int before = l.w - ((l.z + c.x) >> 1);
  int high0 = c.y - ((c.x + c.z) >> 1);
  int high1 = c.w - ((c.z + r.x) >> 1);
  dst[((size_t)blockIdx.y * width + start) / 4 + threadIdx.x] =
      make_int4(c.x + ((before + high0 + 2) >> 2), high0,
                c.z + ((high0 + high1 + 2) >> 2), high1);
}

void taps(const float *x, float *y, int n) {
  tapsFromQuads<<<(n + LEN - 1) / LEN, QUADS>>>(x, y, n);
}
void reversed(const int *a, int *b, int n) {
  reverseQuads<<<n / 1024, 256>>>((const int4 *)a, b);
}
void lifted(const int *a, int *b, int width, int height) {
  liftRow<<<dim3((width + 511) / 512, height), 128>>>(a, (int4 *)b, width);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (int n : sizes({1 << 20, 10000000, 1 << 26}, 700)) {
    float *x = filled<float>(n, 661), *y = zeros<float>(n);
    measure("tapsFromQuads", text(n), [&] { taps(x, y, n); }, {result(y, n)});
    release(x, y);
  }
  for (int n : sizes({1 << 21, 6144000, 1 << 25}, 3072)) {
    int *a = filled<int>(n, 662, -1e6, 1e6), *b = zeros<int>(n);
    measure("reverseQuads", text(n), [&] { reversed(a, b, n); }, {result(b, n)});
    release(a, b);
  }
  for (Extent e : extents({{640, 480, 1}, {1920, 1080, 1}, {4096, 4096, 1}},
                          {532, 3, 1})) {
    size_t n = (size_t)e.x * e.y;
    int *a = filled<int>(n, 663, 0, 4096), *b = zeros<int>(n);
    measure("liftRow", text(e), [&] { lifted(a, b, e.x, e.y); }, {result(b, n)});
    release(a, b);
  }
}
