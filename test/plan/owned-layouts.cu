// How the elements of an array that a warp owns lie in its lanes: partners by a bit of
// their numbers 32 apart, scans over neighbours side by side. Lanes that ask one bank for
// different words are waited for in the original.
//
// RUN: %rewrite %s -o %t.cu -q --explain-choice --report=%t.json -- %mock 2>&1 | FileCheck %s
// RUN: FileCheck --check-prefix=JSON %s < %t.json
//
// CHECK-LABEL: candidates of 'transform'
// CHECK: buf: owned, 32 apart; slot by slot <- chosen
// CHECK-LABEL: candidates of 'scan'
// CHECK: s: owned, neighbours; slot by slot <- chosen
// CHECK-LABEL: candidates of 'tree'
// CHECK: s: owned, {{.*}} <- chosen
//
// JSON: "name": "transform"
// JSON: "conflicts": 0,
// JSON: "name": "scan"
// JSON: "conflicts": {{[1-9]}}
// JSON: "name": "tree"
// JSON: "conflicts": 0,

__global__ void transform(const int *in, int *out) {
  __shared__ int buf[512];
  int k = threadIdx.x;
  buf[k] = in[blockIdx.x * 512 + k];
  __syncthreads();
  for (int h = 1; h < 512; h += h) {
    int mine = buf[k], other = buf[k ^ h];
    __syncthreads();
    buf[k] = (k & h) ? other - mine : mine + other;
    __syncthreads();
  }
  out[blockIdx.x * 512 + k] = buf[k];
}

__global__ void scan(const int *in, int *out) {
  __shared__ int s[512];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 512 + t];
  s[t + 256] = in[blockIdx.x * 512 + t + 256];
  for (unsigned stride = 1; stride <= 256; stride *= 2) {
    __syncthreads();
    unsigned at = (t + 1) * stride * 2 - 1;
    if (at < 512)
      s[at] += s[at - stride];
  }
  for (int stride = 128; stride > 0; stride /= 2) {
    __syncthreads();
    unsigned at = (t + 1) * stride * 2 - 1;
    if (at + stride < 512)
      s[at + stride] += s[at];
  }
  __syncthreads();
  out[blockIdx.x * 512 + t] = s[t];
  out[blockIdx.x * 512 + t + 256] = s[t + 256];
}

__global__ void tree(const float *in, float *out) {
  __shared__ float s[256];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (int d = 128; d > 0; d >>= 1) {
    if (t < d)
      s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0)
    out[blockIdx.x] = s[0];
}

void run(const int *a, int *b, const float *x, float *y) {
  const int n = 1 << 24;
  transform<<<n / 512, 512>>>(a, b);
  scan<<<n / 512, 256>>>(a, b);
  tree<<<n / 256, 256>>>(x, y);
}
