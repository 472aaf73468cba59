// Lines with a radius that the caller gives and weights in constant memory:
// smoothing with reflected ends, a running maximum, the eighth-order derivative
// along the rows of a periodic volume.
#include "validation.cuh"

#define MAX_RADIUS 32
__constant__ float c_weights[2 * MAX_RADIUS + 1];
__constant__ float c_deriv[4];

// the result starts at `offset` in a longer buffer
__global__ void smoothReflect(const float *in, float *out, int n, int radius,
                              int offset) {
  extern __shared__ float seg[];
  int start = (int)(blockIdx.x * blockDim.x) - radius;
  int count = blockDim.x + 2 * radius;
  for (int k = threadIdx.x; k < count; k += blockDim.x) {
    int g = start + k;
    if (g < 0)
      g = -g;
    if (g >= n)
      g = max(2 * (n - 1) - g, 0);
    seg[k] = in[g];
  }
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float sum = 0.0f;
    for (int j = -radius; j <= radius; j++)
      sum += c_weights[radius + j] * seg[threadIdx.x + radius + j];
    out[i + offset] = sum;
  }
}

#define THREADS 128

__global__ void runningMax(const short *in, short *out, int n, int radius) {
  __shared__ short w[THREADS + 2 * MAX_RADIUS];
  int t = threadIdx.x, i = blockIdx.x * THREADS + t, s = t + radius;
  w[s] = in[min(i, n - 1)];
  if (t < radius) {
    w[t] = in[max(i - radius, 0)];
    w[s + THREADS] = in[min(i + THREADS, n - 1)];
  }
  __syncthreads();
  if (i >= n)
    return;
  short m = w[t];
  for (int k = 1; k <= 2 * radius; ++k)
    m = max(m, w[t + k]);
  out[i] = m;
}

// four pencils a block, wrapped around at both ends of the row
__global__ void derivativeX(const float *f, float *df, int mx) {
  __shared__ float s_f[4][64 + 8];
  int i = blockIdx.x * 64 + threadIdx.x;
  size_t row = ((size_t)blockIdx.y * 4 + threadIdx.y) * mx;
  int si = threadIdx.x + 4, sj = threadIdx.y;
  s_f[sj][si] = f[row + i];
  if (threadIdx.x < 4) {
    s_f[sj][si - 4] = f[row + (i + mx - 4) % mx];
    s_f[sj][si + 64] = f[row + (i + 64) % mx];
  }
  __syncthreads();
  df[row + i] = c_deriv[0] * (s_f[sj][si + 1] - s_f[sj][si - 1]) +
                c_deriv[1] * (s_f[sj][si + 2] - s_f[sj][si - 2]) +
                c_deriv[2] * (s_f[sj][si + 3] - s_f[sj][si - 3]) +
                c_deriv[3] * (s_f[sj][si + 4] - s_f[sj][si - 4]);
}

void smooth(const float *in, float *out, int n, int radius, int offset) {
  int threads = 256;
  size_t bytes = (threads + 2 * radius) * sizeof(float);
  smoothReflect<<<(n + threads - 1) / threads, threads, bytes>>>(
      in, out, n, radius, offset);
}
void maxima(const short *in, short *out, int n, int radius) {
  runningMax<<<(n + THREADS - 1) / THREADS, THREADS>>>(in, out, n, radius);
}
void derivative(const float *f, float *df, int mx, int rows) {
  derivativeX<<<dim3(mx / 64, rows / 4), dim3(64, 4)>>>(f, df, mx);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  float w[2 * MAX_RADIUS + 1];
  for (int k = 0; k <= 2 * MAX_RADIUS; ++k)
    w[k] = 1.0f / (3.0f + (k % 7));
  check(cudaMemcpyToSymbol(c_weights, w, sizeof w));
  const float d[4] = {0.8f, -0.2f, 4.f / 105, -1.f / 280};
  check(cudaMemcpyToSymbol(c_deriv, d, sizeof d));
  for (int n : sizes({1 << 25, 1 << 21, 3333333}, 600)) {
    const int offset = 5;
    float *in = filled<float>(n, 591), *out = zeros<float>(n + offset);
    measure("smoothReflect", text(n), [&] { smooth(in, out, n, 6, offset); },
            {result(out, n + offset)});
    short *a = filled<short>(n, 592, -30000, 30000), *b = zeros<short>(n);
    measure("runningMax", text(n), [&] { maxima(a, b, n, 10); }, {result(b, n)});
    release(in, out, a, b);
  }
  for (Extent e : extents({{256, 256, 256}, {128, 128, 128}, {512, 512, 192}},
                          {128, 4, 2})) {
    size_t n = (size_t)e.x * e.y * e.z;
    float *f = filled<float>(n, 593), *df = zeros<float>(n);
    measure("derivativeX", text(e), [&] { derivative(f, df, e.x, e.y * e.z); },
            {result(df, n)});
    release(f, df);
  }
}
