// Structs in shared memory that are used by member are an array for each member.
//
// RUN: rcache-rewrite %s -o %t.cu -- -I%S/Inputs 2>&1 | FileCheck %s
// RUN: %if slow %{ %nvcc -ptx %t.cu -o %t.ptx -I%S/Inputs %}
// RUN: %if rcache-check %{ rcache-check diff %s %t.cu -- -I%S/Inputs %}
//
// REQUIRES: cuda-toolkit
#include "program.h"

// CHECK-DAG: rewrote 'members' {{.*}}; 'st_s' owned by a warp; 'st_q' owned by a warp
// CHECK-DAG: note: each member of the structs in shared memory is planned as an array of its own
struct Stat {
  float s, q;
};
__global__ void members(const float *in, float *out) {
  __shared__ Stat st[128];
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  float v = in[g];
  st[t].s = v;
  st[t].q = v * v;
  __syncthreads();
  for (int d = 64; d > 0; d >>= 1) {
    if (t < d) {
      st[t].s += st[t + d].s;
      st[t].q += st[t + d].q;
    }
    __syncthreads();
  }
  if (t == 0) {
    out[2 * blockIdx.x] = st[0].s;
    out[2 * blockIdx.x + 1] = st[0].q;
  }
}

// Elements that are copied and used whole.
// CHECK-DAG: rewrote 'argMin' {{.*}}; 's_v' owned by a warp; 's_i' owned by a warp
struct Pair {
  float v;
  int i;
};
__global__ void argMin(const float *in, Pair *out) {
  __shared__ Pair s[128];
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t].v = in[g];
  s[t].i = g;
  __syncthreads();
  for (int d = 64; d > 0; d >>= 1) {
    if (t < d && s[t + d].v < s[t].v)
      s[t] = s[t + d];
    __syncthreads();
  }
  if (t == 0)
    out[blockIdx.x] = s[0];
}

// Of the toolkit.
// CHECK-DAG: rewrote 'vectors' {{.*}}; 's_x' owned by a warp; 's_y' owned by a warp
__global__ void vectors(const float2 *in, float2 *out) {
  __shared__ float2 s[128];
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = in[g];
  __syncthreads();
  for (int d = 64; d > 0; d >>= 1) {
    if (t < d) {
      s[t].x += s[t + d].x;
      s[t].y += s[t + d].y;
    }
    __syncthreads();
  }
  if (t == 0)
    out[blockIdx.x] = s[0];
}

// One struct of arrays, an address that is taken, a member that is a struct.
// CHECK-DAG: 'ofArrays' left as it is: {{.*}} [struct-member]
__global__ void ofArrays(const float *in, float *out) {
  __shared__ struct {
    float v[128];
    int i[128];
  } s;
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s.v[t] = in[g];
  s.i[t] = g;
  __syncthreads();
  for (int d = 64; d > 0; d >>= 1) {
    if (t < d && s.v[t + d] < s.v[t]) {
      s.v[t] = s.v[t + d];
      s.i[t] = s.i[t + d];
    }
    __syncthreads();
  }
  if (t == 0)
    out[blockIdx.x] = s.v[0] + s.i[0];
}
// CHECK-DAG: 'byAddress' left as it is: {{.*}} [struct-member]
__global__ void byAddress(const float *in, float *out) {
  __shared__ Stat s[128];
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  Stat *own = &s[t];
  s[t].s = in[g];
  s[t].q = 1;
  __syncthreads();
  if (t < 64)
    own->s += s[t + 64].s;
  __syncthreads();
  out[g] = s[t].s;
}

int main(int argc, char **) {
  const int n = 1024 * argc; // no constant
  Buffer<float> F(randoms<float>(n)), G(n);
  members<<<n / 128, 128>>>(F.Data, G.Data);
  G.show("members");
  argMin<<<n / 128, 128>>>(F.Data, (Pair *)G.Data);
  G.show("argMin");
  vectors<<<n / 256, 128>>>((const float2 *)F.Data, (float2 *)G.Data);
  G.show("vectors");
  ofArrays<<<n / 128, 128>>>(F.Data, G.Data);
  G.show("ofArrays");
  byAddress<<<n / 128, 128>>>(F.Data, G.Data);
  G.show("byAddress");
}
