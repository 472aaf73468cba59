// Owned elements that lanes ask of several registers: the first of each row of a block of rows, and
// one of two neighbours with a bit put in.
// RUN: %plan %s rows -- --kernel=rows
// RUN: %plan %s steps -- --kernel=steps
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

__global__ void steps(const float *__restrict__ in, float *__restrict__ out) {
  __shared__ float s[128];
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = in[g];
  s[t + 64] = in[g + 64];
  __syncthreads();
  for (int d = 1; d < 128; d *= 2) {
    float a = s[t], b = s[t + 64];
    __syncthreads();
    int o = t / d * d * 2 + t % d;
    s[o] = a + b;
    s[o + d] = a - b;
    __syncthreads();
  }
  out[g] = s[t];
  out[g + 64] = s[t + 64];
}

void run(const float *a, float *c, int n) {
  rows<<<n / 256, dim3(32, 8)>>>(a, c);
  steps<<<n / 128, 64>>>(a, c);
}
