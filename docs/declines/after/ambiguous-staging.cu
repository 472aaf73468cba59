// before
__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[256];
  int g = blockIdx.x * 128 + threadIdx.x;
  for (int i = threadIdx.x; i < 256; i += blockDim.x)
    s[i] = in[i + threadIdx.x];
  __syncthreads();
  out[g] = s[threadIdx.x] + s[threadIdx.x + 1] + s[threadIdx.x + 2];
}

void run(const float *in, float *out, int n) { k<<<n / 128, 128>>>(in, out, n); }
// after: What is staged is said by the element's number, not by the thread's.
__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[256];
  int g = blockIdx.x * 128 + threadIdx.x;
  for (int i = threadIdx.x; i < 256; i += blockDim.x)
    s[i] = in[i + i % 128];
  __syncthreads();
  out[g] = s[threadIdx.x] + s[threadIdx.x + 1] + s[threadIdx.x + 2];
}

void run(const float *in, float *out, int n) { k<<<n / 128, 128>>>(in, out, n); }
