// Reads that have no window: evaluated where they stand, or at the barrier when the
// source may have been stored to by then; several arrays, several groups.
//
// RUN: %plan %s source -- --kernel=partner
// RUN: %plan %s early -- --kernel=inPlace
// RUN: %plan %s groups -- --kernel=twice --coarsen=4 --exchange=reload
// RUN: %plan %s unread -- --kernel=unread --coarsen=2 --exchange=reload
__global__ void partner(const float *__restrict__ in, float *__restrict__ out) {
  __shared__ float s[256];
  int l = threadIdx.x, b = blockIdx.x * 256;
  s[l] = in[b + l];
  __syncthreads();
  out[b + l] = s[l] + s[l ^ 1] + s[l / 4];
}

__global__ void inPlace(float *data) {
  __shared__ float s[256];
  int l = threadIdx.x, b = blockIdx.x * 256;
  s[l] = data[b + l];
  __syncthreads();
  data[b + l] = s[l] + s[l / 4];
}

__global__ void twice(const float *__restrict__ in, const float *__restrict__ other,
                      float *__restrict__ out) {
  __shared__ float s[258];
  int l = threadIdx.x, b = blockIdx.x * 256;
  for (int i = l; i < 258; i += 256)
    s[i] = in[b + i];
  __syncthreads();
  float a = s[l] + s[l + 2];
  __syncthreads();
  for (int i = l; i < 258; i += 256)
    s[i] = other[b + i];
  __syncthreads();
  out[b + l] = a * s[l + 1];
}

__global__ void unread(const float *__restrict__ in, float *__restrict__ out) {
  __shared__ float s[256], t[256];
  int l = threadIdx.x, b = blockIdx.x * 256;
  s[l] = in[b + l];
  t[l] = in[b + l] * 2;
  __syncthreads();
  out[b + l] = s[l];
}

void run(const float *in, const float *other, float *out, int n) {
  partner<<<n / 256, 256>>>(in, out);
  inPlace<<<n / 256, 256>>>(out);
  twice<<<n / 256, 256>>>(in, other, out);
  unread<<<n / 256, 256>>>(in, out);
}
