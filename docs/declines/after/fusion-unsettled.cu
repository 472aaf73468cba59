// before
__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n, float a, float b) {
  __shared__ float s[128 + 8];
  int g = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x] = in[g];
  if (threadIdx.x < 8)
    s[threadIdx.x + 128] = in[g + 128];
  __syncthreads();
  const float mid = s[threadIdx.x + 4];
  float sum = 0;
  for (int i = 0; i <= 8; ++i) {
    const float d = s[threadIdx.x + i] - mid;
    sum += (-(i * i) * a - d * d * b) * s[threadIdx.x + i];
  }
  out[g] = sum;
}

void run(const float *in, float *out, int n) { k<<<n / 128, 128>>>(in, out, n, 2, 3); }
// after
__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n, float a, float b) {
  __shared__ float s[128 + 8];
  int g = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x] = in[g];
  if (threadIdx.x < 8)
    s[threadIdx.x + 128] = in[g + 128];
  __syncthreads();
  const float mid = s[threadIdx.x + 4];
  float sum = 0;
  for (int i = 0; i <= 8; ++i) {
    const float d = s[threadIdx.x + i] - mid;
    sum += __builtin_fmaf(-d * d, b, -(i * i) * a) * s[threadIdx.x + i];
  }
  out[g] = sum;
}

void run(const float *in, float *out, int n) { k<<<n / 128, 128>>>(in, out, n, 2, 3); }
