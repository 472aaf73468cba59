// before
__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[128 + 8];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  float own;
  s[t] = own = in[g];
  if (t < 8)
    s[128 + t] = in[g + 128];
  __syncthreads();
  float sum = own;
  for (int i = 0; i <= 8; ++i)
    sum += s[t + i];
  out[g] = sum;
}

void run(const float *in, float *out, int n) { k<<<n / 128, 128>>>(in, out, n); }
// after
__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[128 + 8];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  float own = in[g];
  s[t] = own;
  if (t < 8)
    s[128 + t] = in[g + 128];
  __syncthreads();
  float sum = own;
  for (int i = 0; i <= 8; ++i)
    sum += s[t + i];
  out[g] = sum;
}

void run(const float *in, float *out, int n) { k<<<n / 128, 128>>>(in, out, n); }
