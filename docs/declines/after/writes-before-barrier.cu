// before
__global__ void k(float *in, float *out, int n) {
  __shared__ float s[128 + 8];
  int g = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x] = in[g];
  if (threadIdx.x < 8)
    s[threadIdx.x + 128] = in[g + 128];
  in[g] = 0;
  __syncthreads();
  float sum = 0;
  for (int i = 0; i <= 8; ++i)
    sum += s[threadIdx.x + i];
  out[g] = sum;
}

void run(float *in, float *out, int n) { k<<<n / 128, 128>>>(in, out, n); }
// after
__global__ void k(const float *in, float *out, float *zeros, int n) {
  __shared__ float s[128 + 8];
  int g = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x] = in[g];
  if (threadIdx.x < 8)
    s[threadIdx.x + 128] = in[g + 128];
  __syncthreads();
  float sum = 0;
  for (int i = 0; i <= 8; ++i)
    sum += s[threadIdx.x + i];
  out[g] = sum;
  zeros[g] = 0;
}

void run(float *in, float *out, float *zeros, int n) { k<<<n / 128, 128>>>(in, out, zeros, n); }
