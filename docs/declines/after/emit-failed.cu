// before
__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[128];
  int g = blockIdx.x * 128 + threadIdx.x;
  unsigned long long m = n - (int)threadIdx.x;
  s[threadIdx.x] = m < 0xf000000000000000ull ? in[g] : 0.0f;
  __syncthreads();
  out[g] = s[127 - threadIdx.x];
}

void run(const float *in, float *out, int n) { k<<<n / 128, 128>>>(in, out, n); }
// after: The bound is a constant that 64 bits with a sign hold.
__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[128];
  int g = blockIdx.x * 128 + threadIdx.x;
  int m = n - (int)threadIdx.x;
  s[threadIdx.x] = m < 1 << 30 ? in[g] : 0.0f;
  __syncthreads();
  out[g] = s[127 - threadIdx.x];
}

void run(const float *in, float *out, int n) { k<<<n / 128, 128>>>(in, out, n); }
