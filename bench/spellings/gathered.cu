// Owned elements that lanes ask of several registers (lib/Plan/placements/Gathered.cpp): wavelets,
// rotations, transposes, Stockham's steps, trees of rows.
#include "../styles/shown.h"
__global__ void haar(const float *in, float *out) {
  __shared__ float s[512];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 512 + t];
  s[t + 256] = in[blockIdx.x * 512 + t + 256];
  __syncthreads();
  for (int n = 256; n >= 1; n >>= 1) {
    float a, d;
    if (t < n) { float p = s[2 * t], q = s[2 * t + 1]; a = (p + q) * 0.70710678f; d = (p - q) * 0.70710678f; }
    __syncthreads();
    if (t < n) { s[t] = a; out[blockIdx.x * 512 + n + t] = d; }
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x * 512] = s[0];
}
__global__ void rot(const int *in, int *out, int k) {
  __shared__ int a[256];
  int t = threadIdx.x;
  a[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (int i = 0; i < 5; ++i) {
    int v = a[(t + 37) % 256] * 3 + i;
    __syncthreads();
    a[t] = v + t;
    __syncthreads();
    int w = a[255 - t];
    __syncthreads();
    a[t] = w ^ v;
    __syncthreads();
    w = a[t % 16 * 16 + t / 16];
    __syncthreads();
    a[t] = w + i;
    __syncthreads();
  }
  out[blockIdx.x * 256 + t] = a[t];
}
__global__ void stock(const float *in, float *out) {
  __shared__ float s[512];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 512 + t];
  s[t + 256] = in[blockIdx.x * 512 + t + 256];
  __syncthreads();
  for (int h = 1; h < 512; h *= 2) {
    float a = s[t], b = s[t + 256];
    __syncthreads();
    int o = (t / h) * h * 2 + t % h;
    s[o] = a + b;
    s[o + h] = a - b;
    __syncthreads();
  }
  out[blockIdx.x * 512 + t] = s[t];
  out[blockIdx.x * 512 + t + 256] = s[t + 256];
}
__global__ void ihaar(const float *in, float *out) {
  __shared__ float s[512];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 512 + t];
  s[t + 256] = in[blockIdx.x * 512 + t + 256];
  __syncthreads();
  for (int n = 1; n < 512; n *= 2) {
    float a = 0, d = 0;
    if (t < n) { a = s[t]; d = in[blockIdx.x * 512 + n + t]; }
    __syncthreads();
    if (t < n) { s[2 * t] = a + d; s[2 * t + 1] = a - d; }
    __syncthreads();
  }
  out[blockIdx.x * 512 + t] = s[t];
  out[blockIdx.x * 512 + t + 256] = s[t + 256];
}
__global__ void inplace(const int *in, int *out) {
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  s[t + 128] = in[blockIdx.x * 256 + t + 128];
  __syncthreads();
  for (int h = 128; h > 0; h >>= 1) {
    int i = 2 * t - (t & (h - 1));
    int a = s[i], b = s[i + h], c = a * 3 + b, d = a - 7 * b + t;
    __syncthreads();
    s[i] = c;
    if (d & 4) s[i + h] = d;
    __syncthreads();
  }
  out[blockIdx.x * 256 + t] = s[t];
  out[blockIdx.x * 256 + t + 128] = s[t + 128];
}

__global__ void turned(const int *in, int *out) {
  __shared__ int s[16][16];
  int tx = threadIdx.x, ty = threadIdx.y, g = blockIdx.x * 256 + ty * 16 + tx;
  s[ty][tx] = in[g];
  __syncthreads();
  for (int k = 0; k < 3; ++k) {
    int v = s[tx][ty] + k;
    __syncthreads();
    s[ty][tx] = v;
    __syncthreads();
  }
  out[g] = s[ty][tx];
}
__global__ void turnedPadded(const float *in, float *out) {
  __shared__ float s[16][17];
  int tx = threadIdx.x, ty = threadIdx.y, g = blockIdx.x * 256 + ty * 16 + tx;
  s[ty][tx] = in[g];
  __syncthreads();
  for (int k = 0; k < 4; ++k) {
    float v = s[tx][ty] * 0.5f;
    __syncthreads();
    s[ty][tx] = v;
    __syncthreads();
  }
  out[g] = s[ty][tx];
}
__global__ void everyThird(const int *in, int *out) {
  __shared__ int s[128];
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = in[g];
  __syncthreads();
  for (int k = 0; k < 6; ++k) {
    int v = s[(t * 7 + 3) % 128];
    __syncthreads();
    s[t] = v + k;
    __syncthreads();
  }
  out[g] = s[t];
}
__global__ void rows(const float *__restrict__ in, float *__restrict__ out) {
  __shared__ float s[8][32];
  int x = threadIdx.x, y = threadIdx.y, g = (blockIdx.x * 8 + y) * 32 + x;
  s[y][x] = in[g];
  __syncthreads();
  for (int d = 16; d > 0; d /= 2) {
    if (x < d)
      s[y][x] += s[y][x + d];
    __syncthreads();
  }
  out[g] = in[g] / s[y][0];
}
__global__ void rows16(const float *__restrict__ in, float *__restrict__ out) {
  __shared__ float s[16][16];
  int x = threadIdx.x, y = threadIdx.y, g = (blockIdx.x * 16 + y) * 16 + x;
  float v = in[g];
  s[y][x] = v;
  __syncthreads();
  for (int d = 8; d > 0; d /= 2) {
    if (x < d)
      s[y][x] = fmaxf(s[y][x], s[y][x + d]);
    __syncthreads();
  }
  out[g] = v - s[y][0];
}
int main() {
  int n = 1 << 24; float *a = mk<float>(n), *b = mk<float>(n), *c = mk<float>(n); int *x = mk<int>(n), *y = mk<int>(n);
  haar<<<n / 512, 256>>>(a, b); show("haar", b, n * 4);
  rot<<<n / 256, 256>>>(x, y, 4); show("rot", y, n * 4);
  stock<<<n / 512, 256>>>(a, b); show("stock", b, n * 4);
  ihaar<<<n / 512, 256>>>(b, c); show("ihaar", c, n * 4);
  inplace<<<n / 256, 128>>>(x, y); show("inplace", y, n * 4);
  turned<<<n / 256, dim3(16, 16)>>>(x, y); show("turned", y, n * 4);
  turnedPadded<<<n / 256, dim3(16, 16)>>>(a, b); show("turnedPadded", b, n * 4);
  everyThird<<<n / 128, 128>>>(x, y); show("everyThird", y, n * 4);
  rows<<<n / 256, dim3(32, 8)>>>(a, b); show("rows", b, n * 4);
  rows16<<<n / 256, dim3(16, 16)>>>(a, b); show("rows16", b, n * 4);
}
