// before
__device__ float blurred(const float *in, float *row) {
  row[threadIdx.x] = in[blockIdx.x * 128 + threadIdx.x];
  if (threadIdx.x < 8)
    row[threadIdx.x + 128] = in[blockIdx.x * 128 + threadIdx.x + 128];
  __syncthreads();
  float sum = 0;
  for (int i = 0;; ++i) {
    if (i > 8)
      return sum;
    sum += row[threadIdx.x + i];
  }
}

__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[128 + 8];
  out[blockIdx.x * 128 + threadIdx.x] = blurred(in, s);
}

void run(const float *in, float *out, int n) { k<<<n / 128, 128>>>(in, out, n); }
// after
__device__ float blurred(const float *in, float *row) {
  row[threadIdx.x] = in[blockIdx.x * 128 + threadIdx.x];
  if (threadIdx.x < 8)
    row[threadIdx.x + 128] = in[blockIdx.x * 128 + threadIdx.x + 128];
  __syncthreads();
  float sum = 0;
  for (int i = 0; i <= 8; ++i)
    sum += row[threadIdx.x + i];
  return sum;
}

__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[128 + 8];
  out[blockIdx.x * 128 + threadIdx.x] = blurred(in, s);
}

void run(const float *in, float *out, int n) { k<<<n / 128, 128>>>(in, out, n); }
