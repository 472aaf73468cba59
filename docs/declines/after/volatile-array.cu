// before
__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  volatile __shared__ float s[128 + 4];
  int g = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x] = in[g];
  s[threadIdx.x % 4 + 128] = in[blockIdx.x * 128 + 128 + threadIdx.x % 4];
  __syncthreads();
  float sum = 0;
  for (int i = 0; i <= 4; ++i)
    sum += s[threadIdx.x + i];
  out[g] = sum;
}

void run(const float *in, float *out, int n) { k<<<(n + 127) / 128, 128>>>(in, out, n); }
// after: One thread sets each element, and the barrier orders the rest; volatile adds nothing.
__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[128 + 4];
  int g = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x] = in[g];
  if (threadIdx.x < 4)
    s[threadIdx.x + 128] = in[g + 128];
  __syncthreads();
  float sum = 0;
  for (int i = 0; i <= 4; ++i)
    sum += s[threadIdx.x + i];
  out[g] = sum;
}

void run(const float *in, float *out, int n) { k<<<(n + 127) / 128, 128>>>(in, out, n); }
