// before with --coarsen=1 --distribution=cyclic
__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[160];
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = in[g];
  if (threadIdx.x < 32)
    s[threadIdx.x + 128] = in[g + 128];
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < 32; ++i)
    sum += s[threadIdx.x + i];
  out[g] = sum;
}

void run(const float *in, float *out, int n) { k<<<(n + 127) / 128, 128>>>(in, out, n); }
// after with --coarsen=1 --distribution=cyclic --force
__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[160];
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = in[g];
  if (threadIdx.x < 32)
    s[threadIdx.x + 128] = in[g + 128];
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < 32; ++i)
    sum += s[threadIdx.x + i];
  out[g] = sum;
}

void run(const float *in, float *out, int n) { k<<<(n + 127) / 128, 128>>>(in, out, n); }
