// before
__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[128 + 8];
  int g = blockIdx.x * 128 + threadIdx.x;
  for (int i = threadIdx.x; i < 128 + 8; i += 128) {
    float v = 0;
    for (int j = 0; j < 3; ++j)
      v += in[blockIdx.x * 128 + i + j];
    s[i] = v;
  }
  __syncthreads();
  out[g] = s[threadIdx.x] + s[threadIdx.x + 4] + s[threadIdx.x + 8];
}

void run(const float *in, float *out, int n) { k<<<n / 128, 128>>>(in, out, n); }
// after: The value is one formula of what is loaded.
__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[128 + 8];
  int g = blockIdx.x * 128 + threadIdx.x;
  for (int i = threadIdx.x; i < 128 + 8; i += 128) {
    const float *p = in + blockIdx.x * 128 + i;
    s[i] = p[0] + p[1] + p[2];
  }
  __syncthreads();
  out[g] = s[threadIdx.x] + s[threadIdx.x + 4] + s[threadIdx.x + 8];
}

void run(const float *in, float *out, int n) { k<<<n / 128, 128>>>(in, out, n); }
