// before
__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[128 + 8];
  int g = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x] = in[g];
  if (threadIdx.x < 8)
    s[threadIdx.x + 128] = in[g + 128];
  __syncthreads();
  float sum = 0;
  for (int tile = 1; tile <= n; ++tile) {
    for (int i = 0; i <= 8; ++i)
      sum += s[threadIdx.x + i];
    __syncthreads();
    s[threadIdx.x] = in[g + tile * 1024];
    if (threadIdx.x < 8)
      s[threadIdx.x + 128] = in[g + 128 + tile * 1024];
    __syncthreads();
  }
  out[g] = sum;
}

void run(const float *in, float *out, int n) { k<<<n / 128, 128>>>(in, out, n); }
// after
__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[128 + 8];
  int g = blockIdx.x * 128 + threadIdx.x;
  float sum = 0;
  for (int tile = 0; tile < n; ++tile) {
    s[threadIdx.x] = in[g + tile * 1024];
    if (threadIdx.x < 8)
      s[threadIdx.x + 128] = in[g + 128 + tile * 1024];
    __syncthreads();
    for (int i = 0; i <= 8; ++i)
      sum += s[threadIdx.x + i];
    __syncthreads();
  }
  out[g] = sum;
}

void run(const float *in, float *out, int n) { k<<<n / 128, 128>>>(in, out, n); }
