// One window a thread, loaded by itself or exchanged in chunks or round robin; and
// for blocks of which nothing is known but a multiple.
//
// RUN: %plan %s reload -- --kernel=taps --exchange=reload --coarsen=4
// RUN: %plan %s chunks -- --kernel=taps --exchange=shuffle --coarsen=4
// RUN: %plan %s cyclic -- --kernel=anyBlock --distribution=cyclic --exchange=shuffle --coarsen=2
// RUN: %plan %s reversed -- --kernel=reversed --exchange=shuffle --coarsen=2
// RUN: %plan %s any-block -- --kernel=anyBlock --exchange=reload --coarsen=4
// RUN: %plan %s strided -- --kernel=strided --exchange=reload --coarsen=2
__global__ void taps(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[262];
  int l = threadIdx.x, g = blockIdx.x * 256 + l;
  s[l] = g < n ? in[g] : 0.0f;
  if (l < 6)
    s[l + 256] = g + 256 < n ? in[g + 256] : 0.0f;
  __syncthreads();
  float sum = 0;
  for (int j = 0; j < 7; ++j)
    sum += s[l + j];
  if (g < n)
    out[g] = sum;
}

__global__ void reversed(const int *__restrict__ in, int *__restrict__ out) {
  __shared__ int s[130];
  int l = threadIdx.x, b = blockIdx.x * 128;
  for (int i = l; i < 130; i += 128)
    s[i] = in[b + i];
  __syncthreads();
  out[b + l] = s[127 - l] + s[129 - l];
}

__global__ void anyBlock(const float *__restrict__ in, float *__restrict__ out, int n) {
  extern __shared__ float s[];
  int l = threadIdx.x, g = blockIdx.x * blockDim.x + l;
  if (g < n)
    s[l] = in[g];
  if (l < 2 && g + blockDim.x < n)
    s[l + blockDim.x] = in[g + blockDim.x];
  __syncthreads();
  if (g < n - 2)
    out[g] = s[l] + s[l + 1] + s[l + 2];
}

// every second element: the slots' windows have gaps in memory, none in registers
__global__ void strided(const float *__restrict__ in, float *__restrict__ out) {
  __shared__ float s[514];
  int l = threadIdx.x, b = blockIdx.x * 256;
  for (int i = l; i < 514; i += 256)
    s[i] = in[2 * b + i];
  __syncthreads();
  out[b + l] = s[2 * l] + s[2 * l + 2];
}

void run(const float *in, float *out, const int *iin, int *iout, int n, int b) {
  taps<<<(n + 255) / 256, 256>>>(in, out, n);
  reversed<<<n / 128, 128>>>(iin, iout);
  anyBlock<<<(n + b - 1) / b, b, (b + 2) * sizeof(float)>>>(in, out, n);
  strided<<<n / 256, 256>>>(in, out);
}
