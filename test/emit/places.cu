// What the head of a kernel says of the threads that one stands for: how many along
// each axis, and where they lie.
// RUN: %rewrite %s -q --force --coarsen=4 --kernel=blur -o %t.cu -- %mock
// RUN: FileCheck %s < %t.cu
// CHECK: a thread stands for 2 x 2 threads of blur, neighbours in x and y.
// RUN: %rewrite %s -q --force --kernel=line --coarsen=4 -o %t.line.cu -- %mock
// RUN: FileCheck --check-prefix=LINE %s < %t.line.cu
// LINE: a thread stands for 4 threads of line, neighbours in x.

__global__ void blur(const float *in, float *out, int w, int h) {
  __shared__ float s[18][18];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  for (int j = threadIdx.y; j < 18; j += 16)
    for (int i = threadIdx.x; i < 18; i += 16) {
      int sx = blockIdx.x * 16 + i - 1, sy = blockIdx.y * 16 + j - 1;
      s[j][i] = sx >= 0 && sx < w && sy >= 0 && sy < h ? in[sy * w + sx] : 0.0f;
    }
  __syncthreads();
  if (x >= w || y >= h)
    return;
  float sum = 0;
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < 3; ++i)
      sum += s[threadIdx.y + j][threadIdx.x + i];
  out[y * w + x] = sum;
}

__global__ void line(const float *in, float *out, int n) {
  __shared__ float s[258];
  int x = blockIdx.x * 256 + threadIdx.x;
  s[threadIdx.x] = x < n ? in[x] : 0.0f;
  if (threadIdx.x < 2)
    s[threadIdx.x + 256] = x + 256 < n ? in[x + 256] : 0.0f;
  __syncthreads();
  if (x < n)
    out[x] = s[threadIdx.x] + s[threadIdx.x + 1] + s[threadIdx.x + 2];
}

void run(const float *in, float *out, int w, int h) {
  blur<<<dim3(w / 16, h / 16), dim3(16, 16)>>>(in, out, w, h);
  line<<<w / 256, 256>>>(in, out, w);
}
