// Grids as far as host code tells, blocks of the largest, and rounds that are
// unrolled.
// RUN: %rewrite %s --print-after=model -o %t.cu -- %mock 2>&1 | FileCheck %s

// CHECK-LABEL: kernel planes
// CHECK:         geometry block 32x8x1 seen 32x8x1 grid 576 blocks
// CHECK:         launch at [[#]]:5 {{.*}} block `dim3(32, 8)` or grid 1x1x1 or grid 12x48x1 = block 32x8x1
// CHECK:         for `for (int z = 0; z < n; ++z)` {{.*}} unroll 9
// CHECK:         for `for (int i = 0; i < 3; ++i)` {{.*}} unroll{{$}}
// CHECK:         for `for (int i = 0; i < N; ++i)` {{.*}} unroll 2{{$}}
template <int N>
__global__ void planes(const float *in, float *out, int n, int row) {
  __shared__ float tile[8][34];
  int at = (blockIdx.y * 8 + threadIdx.y) * row + blockIdx.x * 32 + threadIdx.x;
#pragma unroll 9
  for (int z = 0; z < n; ++z) {
    tile[threadIdx.y][threadIdx.x] = in[z * n + at];
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 3; ++i)
      sum += tile[threadIdx.y][threadIdx.x + i];
#pragma unroll N / 2
    for (int i = 0; i < N; ++i)
      sum *= 0.5f;
    out[z * n + at] = sum;
    __syncthreads();
  }
}

// CHECK-LABEL: kernel line
// CHECK-NEXT:    geometry block 64x1x1 seen 64x1x1 grid 8 blocks
// CHECK:         launch at [[#]]:3 {{.*}} block `64` or grid 4x1x1 or grid 8x1x1 = block 64x1x1
// CHECK:         launch at [[#]]:3 {{.*}} grid `n` block `64` = block 64x1x1
__global__ void line(const float *in, float *out) {
  __shared__ float s[64];
  s[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
}

// CHECK-LABEL: kernel unknown
// CHECK-NEXT:    geometry block 64x1x1 seen 64x1x1{{$}}
__global__ void unknown(const float *in, float *out) {
  __shared__ float s[64];
  s[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
}

// Started without arguments, the program has blocks of 128 threads; sizes are what
// arguments are for, and nothing is known of what a later assignment may set.
// CHECK-LABEL: kernel usual
// CHECK-NEXT:    geometry seen 128x1x1{{$}}
// CHECK:         launch at [[#]]:3 {{.*}} grid `parts(n, threads)` block `threads`{{$}}
// CHECK-NEXT:    launch at [[#]]:3 {{.*}} grid `parts(n, threads)` block `read`{{$}}
__global__ void usual(const float *in, float *out) {
  __shared__ float s[128];
  s[threadIdx.x] = in[blockIdx.x * 128 + threadIdx.x];
  __syncthreads();
  out[blockIdx.x * 128 + threadIdx.x] = s[127 - threadIdx.x];
}

int parts(int n, int each) { return (n + each - 1) / each; }

template <typename Work> void timed(Work work) { work(); }

void run(const float *in, float *out) {
  const int n = 384;
  const auto launch = [&](int nx, int ny) {
    planes<4><<<dim3(parts(nx, 32), (ny + 7) / 8), dim3(32, 8)>>>(in, out, n,
                                                                 nx);
  };
  launch(1, 1);
  timed([&] { launch(n, n); });
}

void runLine(const float *in, float *out, int n) {
  line<<<parts(n, 64), 64>>>(in, out);
}

void runMore(const float *in, float *out, int n) {
  runLine(in, out, 200);
  runLine(in, out, 512);
  runLine(in, out, n);
  line<<<n, 64>>>(in, out);
  unknown<<<parts(n, 64), 64>>>(in, out);
}

int number(const char *text);

int main(int argc, char **argv) {
  const int n = argc > 1 ? number(argv[1]) : 1 << 20;
  int threads = 128, read = 64;
  if (argc > 2) {
    threads = number(argv[2]);
  }
  read = number("32");
  const float *in = nullptr;
  float *out = nullptr;
  usual<<<parts(n, threads), threads>>>(in, out);
  usual<<<parts(n, threads), read>>>(in, out);
}
