// before
__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[128 + 8];
  int g = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x] = in[g];
  if (threadIdx.x < 8)
    s[threadIdx.x + 128] = in[g + 128];
  __syncthreads();
  float sum = s[threadIdx.x] + s[threadIdx.x + 8];
  out[g] = sum + __shfl_down_sync(0xffffffffu, (int)s[threadIdx.x], 1);
}

void run(const float *in, float *out, int n) { k<<<n / 128, 128>>>(in, out, n); }
// after
__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[128 + 8];
  int g = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x] = in[g];
  if (threadIdx.x < 8)
    s[threadIdx.x + 128] = in[g + 128];
  __syncthreads();
  float sum = s[threadIdx.x] + s[threadIdx.x + 8];
  out[g] = sum + (int)s[threadIdx.x + 1];
}

void run(const float *in, float *out, int n) { k<<<n / 128, 128>>>(in, out, n); }
