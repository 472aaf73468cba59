// before
__device__ float sum(const float *s, int first) {
  if (first < 0)
    return 0;
  float sum = 0;
  for (int i = 0; i <= 8; ++i)
    sum += s[first + i];
  return sum;
}

__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[128 + 8];
  int g = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x] = in[g];
  if (threadIdx.x < 8)
    s[threadIdx.x + 128] = in[g + 128];
  __syncthreads();
  out[g] = n > 0 ? sum(s, threadIdx.x) : 0;
}

void run(const float *in, float *out, int n) { k<<<n / 128, 128>>>(in, out, n); }
// after
__device__ float sum(const float *s, int first) {
  float sum = 0;
  for (int i = 0; i <= 8; ++i)
    sum += s[first + i];
  return sum;
}

__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[128 + 8];
  int g = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x] = in[g];
  if (threadIdx.x < 8)
    s[threadIdx.x + 128] = in[g + 128];
  __syncthreads();
  float all = sum(s, threadIdx.x);
  out[g] = n > 0 ? all : 0;
}

void run(const float *in, float *out, int n) { k<<<n / 128, 128>>>(in, out, n); }
