// A kernel that cannot be launched by itself keeps its prediction; a note says why.
// RUN: rm -rf %t && %rewrite %s -o /dev/null --tune-emit=%t -- %mock 2>&1 | FileCheck %s
// RUN: not ls %t
// CHECK: remark: rewrote 'withStruct'
// CHECK: predicted speed-up
// CHECK: note: not tuned: cannot be run by itself: 'by' is a '{{.*}}Scale', whose value is not known
// CHECK: 'unknownBytes'
// CHECK: note: not tuned: cannot be run by itself: the bytes of 't' at a launch do not follow from the file

struct Scale {
  float times, plus;
};

__global__ void withStruct(const float *__restrict__ in, float *__restrict__ out, Scale by, int n) {
  __shared__ float s[130];
  int g = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x] = g < n ? in[g] : 0.0f;
  if (threadIdx.x < 2)
    s[threadIdx.x + 128] = g + 128 < n ? in[g + 128] : 0.0f;
  __syncthreads();
  if (g < n)
    out[g] = (s[threadIdx.x] + s[threadIdx.x + 1] + s[threadIdx.x + 2]) * by.times + by.plus;
}

extern __shared__ float t[];

__global__ void unknownBytes(const float *__restrict__ in, float *__restrict__ out, int n) {
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  t[threadIdx.x] = g < n ? in[g] : 0.0f;
  if (threadIdx.x < 2)
    t[threadIdx.x + blockDim.x] = g + blockDim.x < n ? in[g + blockDim.x] : 0.0f;
  __syncthreads();
  if (g < n)
    out[g] = t[threadIdx.x] + t[threadIdx.x + 1] + t[threadIdx.x + 2];
}

struct Config {
  int blocks, threads, bytes;
};

void run(const float *in, float *out, Scale by, int n, Config c) {
  withStruct<<<(n + 127) / 128, 128>>>(in, out, by, n);
  unknownBytes<<<c.blocks, c.threads, c.bytes>>>(in, out, n);
}
