// before
__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[128 + 8];
  int g = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x] = in[g];
  if (threadIdx.x < 8)
    s[threadIdx.x + 128] = in[g + 128];
  __syncthreads();
  int ones = 0;
  for (int i = 0; i <= 8; ++i)
    ones += reinterpret_cast<int *>(s)[threadIdx.x + i] & 1;
  out[g] = ones;
}

void run(const float *in, float *out, int n) { k<<<n / 128, 128>>>(in, out, n); }
// after
__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ int s[128 + 8];
  int g = blockIdx.x * 128 + threadIdx.x;
  const int *bits = reinterpret_cast<const int *>(in);
  s[threadIdx.x] = bits[g];
  if (threadIdx.x < 8)
    s[threadIdx.x + 128] = bits[g + 128];
  __syncthreads();
  int ones = 0;
  for (int i = 0; i <= 8; ++i)
    ones += s[threadIdx.x + i] & 1;
  out[g] = ones;
}

void run(const float *in, float *out, int n) { k<<<n / 128, 128>>>(in, out, n); }
