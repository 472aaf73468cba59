// Private arrays in local memory that stay there: used by their address, through
// references or lambdas, declared as no statement could be, with products, counted up
// where nvcc knows no wrapping, or more than a block's shared memory. Kernels whose arrays can be in registers are none of
// this technique's business.
//
// RUN: rcache-rewrite %s --list -- %mock | FileCheck %s
// RUN: rcache-rewrite %s --list --only=staging -- %mock | FileCheck --check-prefix=OFF %s
//
// CHECK: declined handed_on; private-use ('v' is used whole, by its address or by a reference)
// CHECK: declined element_address; private-use ('v' is used whole
// CHECK: declined row; private-use ('v' is used whole
// CHECK: declined together; private-use ('v' is declared together with others)
// CHECK: declined aligned; private-use ('v' has attributes)
// CHECK: declined wide; private-use (elements of 'v' have 24 bytes)
// CHECK: declined changing; private-use ('v' is volatile)
// CHECK: declined product; private-products ('v')
// CHECK: declined through_variables; private-products ('v')
// CHECK: declined sum_beside; private-products ('v')
// CHECK: declined hidden; unknown-call ('outside')
// CHECK: declined large; private-too-large ('v' has 1024 bytes in each of 256 threads)
// CHECK: not-shared in_registers
// CHECK: rewritten table
// CHECK: not-shared chosen
// CHECK: declined counted_up; private-use (nvcc takes '++' of a signed char or short never to wrap
// CHECK: rewritten fine
// OFF-NOT: private-use
// OFF: not-shared fine

__device__ int total(const int *v) { return v[0] + v[5]; }

__global__ void handed_on(const int *in, int *out) {
  int v[8];
  for (int i = 0; i < 8; ++i)
    v[in[i] & 7] = in[threadIdx.x];
  out[threadIdx.x] = total(v);
}
__global__ void element_address(const int *in, int *out) {
  int v[8];
  for (int i = 0; i < 8; ++i)
    v[in[i] & 7] = in[threadIdx.x];
  const int *p = &v[in[0] & 7];
  out[threadIdx.x] = *p;
}
__global__ void row(const int *in, int *out) {
  int v[4][8] = {};
  const int *r = v[in[threadIdx.x] & 3];
  v[in[0] & 3][1] = 5;
  out[threadIdx.x] = r[in[1] & 7];
}
__global__ void together(const int *in, int *out) {
  int n = in[1], v[8] = {n};
  n += ++v[in[threadIdx.x] & 7];
  out[threadIdx.x] = n + v[in[0] & 7];
}
__global__ void aligned(const int *in, int *out) {
  alignas(16) int v[8] = {};
  ++v[in[threadIdx.x] & 7];
  out[threadIdx.x] = v[in[0] & 7];
}
struct Wide {
  int a[6];
};
__global__ void wide(const int *in, int *out) {
  Wide v[8];
  v[in[threadIdx.x] & 7].a[0] = 1;
  out[threadIdx.x] = v[in[0] & 7].a[0];
}
__global__ void changing(const int *in, int *out) {
  volatile int v[8] = {};
  v[in[threadIdx.x] & 7] = 1;
  out[threadIdx.x] = v[in[0] & 7];
}
__global__ void product(const float *in, const int *at, float *out) {
  float v[8] = {};
  v[at[threadIdx.x] & 7] = in[0] * in[1];
  out[threadIdx.x] = v[at[0] & 7] + 1;
}
__global__ void through_variables(const float *in, const int *at, float *out) {
  float v[8] = {};
  float a = in[0], b = a;
  if (at[1])
    a = -(in[2] / b);
  const float c = at[2] ? a : b;
  v[at[threadIdx.x] & 7] = c;
  out[threadIdx.x] = v[at[0] & 7] + b;
}
// Neither sums that compilers may fuse nor calls make it a kernel without arrays.
__global__ void sum_beside(const float *in, const int *at, float *out, int n) {
  float v[8] = {};
  float h = 1;
  for (int i = 0; i < n; ++i) {
    float sum = 0;
    for (int k = 0; k < n; ++k)
      sum += in[k] * h;
    v[at[i] & 7] = 0.5f * (v[0] + h * sum);
    h *= 0.5f;
  }
  out[threadIdx.x] = v[at[0] & 7];
}
__device__ int outside(int);
__global__ void hidden(const int *in, int *out) {
  int v[8] = {};
  ++v[in[threadIdx.x] & 7];
  out[threadIdx.x] = outside(v[in[0] & 7]);
}
__global__ void large(const int *in, int *out) {
  int v[256];
  for (int i = 0; i < 256; ++i)
    v[in[i] & 255] = in[threadIdx.x];
  out[threadIdx.x] = v[in[0] & 255];
}
__global__ void in_registers(const float *in, float *out) {
  float v[8];
  for (int i = 0; i < 8; ++i)
    v[i] = in[i] * in[i + 1];
  float sum = 0;
  for (int i = 0; i < 8; ++i)
    sum += v[7 - i];
  out[threadIdx.x] = sum;
}
__global__ void table(const int *in, int *out) {
  const int v[8] = {3, 1, 4, 1, 5, 9, 2, 6};
  out[threadIdx.x] = v[in[threadIdx.x] & 7];
}
// Of four words ptxas makes selects.
__global__ void chosen(const int *in, int *out) {
  int v[4] = {};
  v[in[threadIdx.x] & 3] = 5;
  out[threadIdx.x] = v[in[threadIdx.x + 1] & 3];
}
__global__ void counted_up(const int *in, int *out) {
  signed char v[8] = {};
  v[in[threadIdx.x] & 7]++;
  out[threadIdx.x] = v[in[threadIdx.x + 1] & 7];
}
// Sums and copies end rounded, or were none.
__global__ void fine(const float *in, const int *at, float *out) {
  float v[8] = {1, 2};
  float a = in[0];
  for (int i = 0; i < 9; ++i) {
    const float x = v[at[i] & 7];
    v[at[i] & 7] = v[at[i + 1] & 7] + a;
    v[at[i + 1] & 7] = fminf(x, in[i]);
    a = x;
  }
  out[threadIdx.x] = v[at[0] & 7] * v[at[1] & 7];
}

void run(const int *in, const float *f, int *out, float *o) {
  handed_on<<<9, 128>>>(in, out);
  element_address<<<9, 128>>>(in, out);
  row<<<9, 128>>>(in, out);
  together<<<9, 128>>>(in, out);
  aligned<<<9, 128>>>(in, out);
  wide<<<9, 128>>>(in, out);
  changing<<<9, 128>>>(in, out);
  product<<<9, 128>>>(f, in, o);
  through_variables<<<9, 128>>>(f, in, o);
  sum_beside<<<9, 128>>>(f, in, o, 8);
  hidden<<<9, 128>>>(in, out);
  large<<<9, 256>>>(in, out);
  in_registers<<<9, 128>>>(f, o);
  chosen<<<9, 128>>>(in, out);
  table<<<9, 128>>>(in, out);
  counted_up<<<9, 128>>>(in, out);
  fine<<<9, 128>>>(f, in, o);
}
