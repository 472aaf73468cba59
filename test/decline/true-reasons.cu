// Reasons say what is so: no "undefined" that is not proved, no race where one thread
// writes, no data where a pointer moves, an exchange where there is one.
// RUN: %rewrite %s -q -o %t.cu -- %mock > %t.out 2>&1
// RUN: sh -c '%rewrite %s -- %mock 2>&1 >/dev/null' | FileCheck %s --implicit-check-not=undefined --implicit-check-not=ambiguous-staging --implicit-check-not=data-dependent

// CHECK-DAG: remark: 'shared_flag' left as it is: it is not proved that all threads of the block arrive at a barrier together (a break in the loop around it hangs on shared data) [divergent-barrier]
__global__ void shared_flag(float *u, int limit) {
  __shared__ float s[258];
  __shared__ int moving;
  int i = blockIdx.x * 256 + threadIdx.x, t = threadIdx.x + 1;
  s[t] = u[i];
  if (threadIdx.x == 0)
    s[0] = s[257] = 0.f;
  __syncthreads();
  for (int round = 0; round < limit; ++round) {
    float v = 0.5f * s[t] + 0.25f * (s[t - 1] + s[t + 1]);
    if (threadIdx.x == 128)
      moving = v - s[t] > 1e-3f;
    __syncthreads();
    s[t] = v;
    if (!moving)
      break;
    __syncthreads();
  }
  u[i] = s[t];
}

// CHECK-DAG: remark: 'turns' left as it is: {{.*}}('xy' is updated in place) [computed-exchange]
// CHECK-DAG: note: a warp could hold the array, but the statements around 'xy[threadIdx.x * 5 % 256]' in line {{[0-9]+}} use variables that a thread has for itself
__global__ void turns(const int *x, int *y) {
  __shared__ int xy[256];
  int i = blockIdx.x * 256 + threadIdx.x;
  xy[threadIdx.x] = x[i];
  for (unsigned stride = 1; stride < 256; stride *= 2) {
    __syncthreads();
    int v = threadIdx.x >= stride ? xy[threadIdx.x - stride] : 0;
    __syncthreads();
    xy[threadIdx.x * 5 % 256] += v;
  }
  y[i] = xy[threadIdx.x];
}

// CHECK-DAG: remark: 'steps' left as it is: {{.*}} [computed-exchange]
__global__ void steps(float *u, int n, float k) {
  __shared__ float now[1024], next[1024];
  int t = threadIdx.x;
  now[t] = u[t];
  __syncthreads();
  for (int s = 0; s < n; s++) {
    float l = t > 0 ? now[t - 1] : 0.f, r = t < 1023 ? now[t + 1] : 0.f;
    next[t] = now[t] + k * (l - 2.f * now[t] + r);
    __syncthreads();
    now[t] = next[t];
    __syncthreads();
  }
  u[t] = now[t];
}

// CHECK-DAG: remark: 'walking' left as it is: {{.*}}('*p': where 'p' points changes in a loop) [non-affine-index]
__global__ void walking(const int *in, int *out, int rounds) {
  __shared__ int ring[256];
  ring[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
  __syncthreads();
  const int *p = &ring[threadIdx.x];
  int sum = 0;
  for (int r = 0; r < rounds; ++r) {
    sum = 3 * sum + *p;
    p = p == &ring[255] ? &ring[0] : p + 1;
  }
  out[blockIdx.x * 256 + threadIdx.x] = sum;
}

// CHECK-DAG: remark: 'average' left as it is: no gain is predicted
// CHECK-DAG: note: the rounds of 'for (int k = 0; k <= 2 * radius; ++k)' hang on 'radius' (no launch in the file tells its value): as a constant or a template argument
__global__ void average(const float *in, float *out, int n, int radius) {
  extern __shared__ float s[];
  int base = blockIdx.x * blockDim.x - radius;
  for (int i = threadIdx.x; i < blockDim.x + 2 * radius; i += blockDim.x) {
    int g = base + i;
    s[i] = g < 0 || g >= n ? 0.f : in[g];
  }
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sum = 0;
  for (int k = 0; k <= 2 * radius; ++k)
    sum += s[threadIdx.x + k];
  out[i] = sum / (2 * radius + 1);
}

// A warp's own barrier is none of the block's, and stands in front of one step alone.
// CHECK-DAG: remark: 'warp_tail' left as it is: {{.*}}('s[threadIdx.x + 8]' is what another lane has made of it in line 101) [volatile-tail]
__global__ void warp_tail(const float *x, float *y) {
  __shared__ float s[64];
  s[threadIdx.x] = x[blockIdx.x * 64 + threadIdx.x];
  __syncthreads();
  if (threadIdx.x < 32) {
    s[threadIdx.x] += s[threadIdx.x + 32];
    __syncwarp();
    s[threadIdx.x] += s[threadIdx.x + 16];
    s[threadIdx.x] += s[threadIdx.x + 8];
  }
  if (threadIdx.x == 0)
    y[blockIdx.x] = s[0];
}

// CHECK-DAG: note: the rounds of 'for (int k = 0; k <= 2 * reach; ++k)' hang on 'reach' (launches pass 2 and 5): as a constant
__global__ void often(const float *in, float *out, int n, int reach) {
  extern __shared__ float s[];
  int base = blockIdx.x * blockDim.x - reach;
  for (int i = threadIdx.x; i < blockDim.x + 2 * reach; i += blockDim.x) {
    int g = base + i;
    s[i] = g < 0 || g >= n ? 0.f : in[g];
  }
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sum = 0;
  for (int k = 0; k <= 2 * reach; ++k)
    sum += s[threadIdx.x + k];
  out[i] = sum / (2 * reach + 1);
}

// CHECK-DAG: note: the rounds of 'for (int k = 0; k <= 2 * wide; ++k)' hang on 'wide' (launches pass 100, but it is large, or a compiler
__global__ void far(const float *in, float *out, int n, int wide) {
  extern __shared__ float s[];
  int base = blockIdx.x * blockDim.x - wide;
  for (int i = threadIdx.x; i < blockDim.x + 2 * wide; i += blockDim.x) {
    int g = base + i;
    s[i] = g < 0 || g >= n ? 0.f : in[g];
  }
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sum = 0;
  for (int k = 0; k <= 2 * wide; ++k)
    sum += s[threadIdx.x + k];
  out[i] = sum / (2 * wide + 1);
}

void run(float *u, int *i, int n) {
  shared_flag<<<n / 256, 256>>>(u, 50);
  turns<<<n / 256, 256>>>(i, i + n);
  steps<<<1, 1024>>>(u, n, 0.1f);
  walking<<<n / 256, 256>>>(i, i + n, 20);
  average<<<(n + 255) / 256, 256, (256 + 2 * n) * sizeof(float)>>>(u, u + n, n, n);
  warp_tail<<<n / 64, 64>>>(u, u + n);
  often<<<n / 256, 256, 1024 + 16>>>(u, u + n, n, 2);
  often<<<n / 256, 256, 1024 + 40>>>(u, u + n, n, 5);
  far<<<n / 256, 256, 1024 + 800>>>(u, u + n, n, 100);
}
