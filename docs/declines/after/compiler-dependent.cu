// before
#if __CUDA_ARCH__ >= 800
#define STEP 2
#else
#define STEP 1
#endif
__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[128 + 8];
  int g = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x] = in[g];
  if (threadIdx.x < 8)
    s[threadIdx.x + 128] = in[g + 128];
  __syncthreads();
  float sum = 0;
  for (int i = 0; i <= 8; i += STEP)
    sum += s[threadIdx.x + i];
  out[g] = sum;
}

void run(const float *in, float *out, int n) { k<<<n / 128, 128>>>(in, out, n); }
// after: The kernel is a template, and the host chooses (or the build does, with -DSTEP=2).
template <int Step>
__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[128 + 8];
  int g = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x] = in[g];
  if (threadIdx.x < 8)
    s[threadIdx.x + 128] = in[g + 128];
  __syncthreads();
  float sum = 0;
  for (int i = 0; i <= 8; i += Step)
    sum += s[threadIdx.x + i];
  out[g] = sum;
}

void run(const float *in, float *out, int n, int arch) {
  if (arch >= 80)
    k<2><<<n / 128, 128>>>(in, out, n);
  else
    k<1><<<n / 128, 128>>>(in, out, n);
}
