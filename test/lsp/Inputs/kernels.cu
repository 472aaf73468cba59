// Kernels of all three kinds: one that can be rewritten, one that is declined,
// one without shared memory. The comment before the kernel's name has characters
// of two, three and four bytes, and of two UTF-16 units.
#define RADIUS 3

/* µ € 😀 */ __global__ void smooth(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float tile[256 + 2 * RADIUS];
  int l = threadIdx.x;
  int g = blockIdx.x * blockDim.x + l;
  if (g < n)
    tile[l] = in[g];
  if (l < 2 * RADIUS && g + 256 < n)
    tile[l + 256] = in[g + 256];
  __syncthreads();
  if (g + 2 * RADIUS < n) {
    float sum = 0.0f;
    for (int i = 0; i <= 2 * RADIUS; ++i)
      sum += tile[l + i];
    out[g] = sum / (2 * RADIUS + 1);
  }
}

__global__ void gather(const float *__restrict__ in, float *__restrict__ out) {
  __shared__ float tile[256];
  int g = blockIdx.x * 256 + threadIdx.x;
  tile[threadIdx.x] = in[g];
  asm volatile("bar.sync 0;");
  out[g] = tile[255 - threadIdx.x];
}

__global__ void scale(float *a, int n) {
  int g = blockIdx.x * 256 + threadIdx.x;
  if (g < n)
    a[g] *= 2.0f;
}

void run(const float *in, float *out, int n) {
  smooth<<<(n + 255) / 256, 256>>>(in, out, n);
  gather<<<n / 256, 256>>>(in, out);
  scale<<<(n + 255) / 256, 256>>>(out, n);
}
