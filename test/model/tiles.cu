// Tile loops in two dimensions: cooperative staging, products as symbols.
// RUN: %rewrite %s --print-after=model -o %t.cu -- %mock 2>&1 | FileCheck %s
#define T 16
#define R 2

__global__ void blur(const float *in, float *out, int w, int h) {
  __shared__ float tile[T + 2 * R][T + 2 * R + 1];
  int x0 = blockIdx.x * T - R, y0 = blockIdx.y * T - R;
  for (int y = threadIdx.y; y < T + 2 * R; y += blockDim.y)
    for (int x = threadIdx.x; x < T + 2 * R; x += blockDim.x)
      tile[y][x] = in[min(max(y0 + y, 0), h - 1) * w + min(max(x0 + x, 0), w - 1)];
  __syncthreads();
  float sum = 0;
  for (int dy = 0; dy <= 2 * R; ++dy)
    for (int dx = 0; dx <= 2 * R; ++dx)
      sum += tile[threadIdx.y + dy][threadIdx.x + dx];
  int x = x0 + R + threadIdx.x, y = y0 + R + threadIdx.y;
  if (x < w && y < h)
    out[y * w + x] = sum;
}

__global__ void sums(const float *in, float *out, int n) {
  __shared__ float s[128];
  float v = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    v += in[i];
  s[threadIdx.x] = v;
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d /= 2) {
    if (threadIdx.x < d)
      s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    out[blockIdx.x] = s[0];
}

void run(const float *in, float *out, int w, int h) {
  dim3 block(T, T), grid((w + T - 1) / T, (h + T - 1) / T);
  blur<<<grid, block>>>(in, out, w, h);
  sums<<<64, 128>>>(in, out, w * h);
}

// CHECK-LABEL: kernel blur
// CHECK:         geometry block 16x16x1
// CHECK:         shared tile: float[20][21] bytes 4
// CHECK:         symbol tyw opaque `threadIdx.y * w` int depends ty anywhere
// CHECK:         iterator y in [y] -> {  : 0 <= y <= 19 } step 16 cooperative ty
// CHECK:         iterator x in [x] -> {  : 0 <= x <= 19 } step 16 cooperative tx
// CHECK:         shared write `tile[y][x]` in #[[#]] {{\[\[}}y] -> { [(y)] }, [x] -> { [(x)] }]
// CHECK:         shared read `tile[threadIdx.y + dy][threadIdx.x + dx]` in #[[#]] {{\[\[}}dy, ty] -> { [(dy + ty)] }, [dx, tx] -> { [(dx + tx)] }]

// CHECK-LABEL: kernel sums
// CHECK:         symbol i iterator `(i - threadIdx.x)` int depends bx
// CHECK:         for `for (int d = blockDim.x / 2; d > 0; d /= 2)` factor -2 from { [(64)] } while [d] -> {  : d > 0 }
// CHECK:         shared read-write `s[threadIdx.x]`
// CHECK:         shared read `s[threadIdx.x + d]` in #[[#]] {{\[\[}}d, tx] -> { [(d + tx)] }] when [tx, d] -> {  : d > tx and d > 0 }
