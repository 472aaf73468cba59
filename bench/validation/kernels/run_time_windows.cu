// Windows whose radius is an argument: weights from constant memory along a
// signal, a mean over a square called with two radii, dilation and erosion in
// one kernel.
#include "validation.cuh"

__constant__ float c_window[64];

// symmetric: c_window[0] is the middle
__global__ void windowSignal(float *y, const float *x, int length, int half) {
  extern __shared__ float chunk[];
  const int first = blockIdx.x * blockDim.x;
  for (int s = threadIdx.x; s < (int)blockDim.x + 2 * half; s += blockDim.x) {
    int at = first + s - half;
    chunk[s] = at >= 0 && at < length ? x[at] : 0.0f;
  }
  __syncthreads();
  if (first + (int)threadIdx.x >= length)
    return;
  const int mid = threadIdx.x + half;
  float acc = c_window[0] * chunk[mid];
  for (int d = 1; d <= half; ++d)
    acc += c_window[d] * (chunk[mid - d] + chunk[mid + d]);
  y[first + threadIdx.x] = acc;
}

#define BW 32
#define BH 8
#define RMAX 7

// (2 r + 1)^2 pixels, borders repeated
__global__ void squareMean(const float *img, float *mean, int w, int h, int r) {
  __shared__ float tile[BH + 2 * RMAX][BW + 2 * RMAX];
  const int ox = blockIdx.x * BW - r, oy = blockIdx.y * BH - r;
  for (int j = threadIdx.y; j < BH + 2 * r; j += BH)
    for (int i = threadIdx.x; i < BW + 2 * r; i += BW) {
      int gx = min(max(ox + i, 0), w - 1);
      int gy = min(max(oy + j, 0), h - 1);
      tile[j][i] = img[(size_t)gy * w + gx];
    }
  __syncthreads();
  const int x = blockIdx.x * BW + threadIdx.x, y = blockIdx.y * BH + threadIdx.y;
  if (x < w && y < h) {
    float total = 0.f;
    for (int j = 0; j <= 2 * r; ++j)
      for (int i = 0; i <= 2 * r; ++i)
        total += tile[threadIdx.y + j][threadIdx.x + i];
    mean[(size_t)y * w + x] = total / (float)((2 * r + 1) * (2 * r + 1));
  }
}

// bytes in dynamic shared memory; the span is dilation minus erosion
__global__ void morphSpan(const unsigned char *src, unsigned char *dst, int w,
                          int h, int radius) {
  extern __shared__ unsigned char block[];
  const int pitch = blockDim.x + 2 * radius, rows = blockDim.y + 2 * radius;
  const int bx = (int)(blockIdx.x * blockDim.x) - radius,
            by = (int)(blockIdx.y * blockDim.y) - radius;
  const int tid = threadIdx.y * blockDim.x + threadIdx.x;
  for (int p = tid; p < pitch * rows; p += blockDim.x * blockDim.y) {
    int gx = bx + p % pitch, gy = by + p / pitch;
    gx = gx < 0 ? -gx : gx >= w ? max(2 * w - 2 - gx, 0) : gx;
    gy = gy < 0 ? -gy : gy >= h ? max(2 * h - 2 - gy, 0) : gy;
    block[p] = src[(size_t)gy * w + gx];
  }
  __syncthreads();
  const int x = bx + radius + threadIdx.x, y = by + radius + threadIdx.y;
  if (x >= w || y >= h)
    return;
  int lo = 255, hi = 0;
  for (int dy = -radius; dy <= radius; dy++)
    for (int dx = -radius; dx <= radius; dx++) {
      int v = block[(threadIdx.y + radius + dy) * pitch + threadIdx.x + radius +
                    dx];
      lo = min(lo, v);
      hi = max(hi, v);
    }
  dst[(size_t)y * w + x] = (unsigned char)(hi - lo);
}

void windowed(float *y, const float *x, int n, int half) {
  const int block = 192;
  windowSignal<<<validation::ceil_div(n, block), block,
                 (block + 2 * half) * sizeof(float)>>>(y, x, n, half);
}
void means(const float *a, float *b, int w, int h, int r) {
  squareMean<<<dim3((w + BW - 1) / BW, (h + BH - 1) / BH), dim3(BW, BH)>>>(
      a, b, w, h, r);
}
void spans(const unsigned char *a, unsigned char *b, int w, int h, int r) {
  dim3 threads(16, 16);
  dim3 blocks((w + 15) / 16, (h + 15) / 16);
  morphSpan<<<blocks, threads, (16 + 2 * r) * (16 + 2 * r)>>>(a, b, w, h, r);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  float c[64];
  for (int k = 0; k < 64; ++k)
    c[k] = 0.25f / (1 + k * k % 13);
  check(cudaMemcpyToSymbol(c_window, c, sizeof c));
  for (int n : sizes({1 << 20, 5000000, 1 << 26}, 500)) {
    float *x = filled<float>(n, 621), *y = zeros<float>(n);
    measure("windowSignal", text(n), [&] { windowed(y, x, n, 12); },
            {result(y, n)});
    release(x, y);
  }
  for (Extent e : extents({{640, 480, 1}, {1920, 1080, 1}, {3840, 2160, 1}},
                          {45, 19, 1})) {
    size_t n = (size_t)e.x * e.y;
    float *x = filled<float>(n, 622), *fine = zeros<float>(n),
          *coarse = zeros<float>(n);
    measure("squareMean", text(e),
            [&] {
              means(x, fine, e.x, e.y, 2);
              means(x, coarse, e.x, e.y, 5);
            },
            {result(fine, n), result(coarse, n)});
    release(x, fine, coarse);
  }
  for (Extent e : extents({{320, 240, 1}, {1280, 720, 1}, {4096, 3072, 1}},
                          {37, 21, 1})) {
    size_t n = (size_t)e.x * e.y;
    unsigned char *s = filled<unsigned char>(n, 623, 0, 256),
                  *d = zeros<unsigned char>(n);
    measure("morphSpan", text(e), [&] { spans(s, d, e.x, e.y, 3); },
            {result(d, n)});
    release(s, d);
  }
}
