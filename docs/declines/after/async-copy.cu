// before
__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[128 + 8];
  int g = blockIdx.x * 128 + threadIdx.x;
  __pipeline_memcpy_async(&s[threadIdx.x], &in[g], 4);
  if (threadIdx.x < 8)
    __pipeline_memcpy_async(&s[threadIdx.x + 128], &in[g + 128], 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  float sum = 0;
  for (int i = 0; i <= 8; ++i)
    sum += s[threadIdx.x + i];
  out[g] = sum;
}

void run(const float *in, float *out, int n) { k<<<n / 128, 128>>>(in, out, n); }
// after: A copy that is waited for at once hides nothing. Where the next tile is copied while this one is used, leave the kernel as it is.
__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[128 + 8];
  int g = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x] = in[g];
  if (threadIdx.x < 8)
    s[threadIdx.x + 128] = in[g + 128];
  __syncthreads();
  float sum = 0;
  for (int i = 0; i <= 8; ++i)
    sum += s[threadIdx.x + i];
  out[g] = sum;
}

void run(const float *in, float *out, int n) { k<<<n / 128, 128>>>(in, out, n); }
