#if !OF_FOLDER || !OPTION || defined(NOT_HERE)
#error "flags were lost"
#endif
static_assert(sizeof(TEXT) == 4, "");
__global__ void both(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[128 + 4];
  int g = blockIdx.x * 128 + threadIdx.x;
  if (g >= n)
    return;
  s[threadIdx.x] = in[g];
  if (threadIdx.x < 4)
    s[threadIdx.x + 128] = in[g + 128];
  __syncthreads();
  float sum = 0;
  for (int i = 0; i <= 4; ++i)
    sum += s[threadIdx.x + i];
  out[g] = sum;
}
void run_both(const float *in, float *out, int n) {
  both<<<(n + 127) / 128, 128>>>(in, out, n);
}
