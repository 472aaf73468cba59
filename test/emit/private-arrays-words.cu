// Private arrays in uncommon words: macros that name them, subscripts turned round,
// names that mean other things elsewhere, declarations in switches, loops and behind
// labels, indices with effects, elements of elements, members that are arrays, enums,
// instantiations that leave text out.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force --only=private --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
// RUN: %if slow %{ %nvcc -std=c++17 -Werror all-warnings -I%S/Inputs -ptx %t.cu -o %t.ptx %}
// RUN: %clang-cuda -I%S/Inputs -fsyntax-only %t.cu
//
// CHECK-DAG: rewrote 'macros'
// CHECK-DAG: rewrote 'turned_round'
// CHECK-DAG: rewrote 'other_names'
// CHECK-DAG: rewrote 'in_switches'
// CHECK-DAG: 'behind_labels' left as it is{{.*}} is declared behind a label
// CHECK-DAG: rewrote 'effects_in_indices'
// CHECK-DAG: rewrote 'members'
// CHECK-DAG: rewrote 'enums'
// CHECK-DAG: rewrote 'uses_warps'
// CHECK-DAG: rewrote 'ns::spaced'
// CHECK-DAG: rewrote 'takes_branches<true>'
// CHECK-DAG: 'leaves_text<false>' left as it is{{.*}}private-use
// CHECK-DAG: rewrote 'beside_dynamic'
#include "program.h"

#define AT(a, i) a[(i) & 7]
#define COUNT(i) ++AT(v, data[(t + (i)) % n])
#define ID (blockIdx.x * blockDim.x + threadIdx.x)
#define DECLARE(name) int name[8] = {0, 1, 2, 3, 4, 5, 6, 7}
__global__ void macros(const int *__restrict__ data, int *__restrict__ out, int n) {
  const int t = ID;
  DECLARE(v);
  for (int i = 0; i < 9; ++i)
    COUNT(i);
  out[t] = AT(v, t) + AT(v, AT(v, t + 1));
}

__global__ void turned_round(const int *__restrict__ data, int *__restrict__ out, int n) {
  const int t = ID;
  int v[8] = {}, m[3][4] = {};
  for (int i = 0; i < 9; ++i) {
    (data[(t + i) % n] & 7)[v] += i;
    ((m)[i % 3])[data[i] & 3] ^= (v)[i & 7];
  }
  out[t] = (t & 7)[v] + ((t & 3)[(t % 3)[m]]);
}

__global__ void other_names(const int *__restrict__ data, int *__restrict__ out, int n) {
  const int t = ID;
  int v[8] = {};
  struct Of {
    int v[2];
  } o = {{1, 2}};
  {
    int v = data[t % n] & 7; // another one
    o.v[1] += v;
  }
  for (int i = 0; i < 9; ++i) {
    ++v[data[(t + i) % n] & 7];
    int v[4] = {i, i + 1, i + 2, i + 3}; // and another
    o.v[0] += v[data[i] & 3];
  }
  out[t] = v[t & 7] + o.v[0] + o.v[1]; // v[ in a comment
}

__global__ void in_switches(const int *__restrict__ data, int *__restrict__ out, int n) {
  const int t = ID;
  int sum = 0;
  switch (data[t % n] & 3) {
  case 0:
    int v[4];
    for (int i = 0; i < 4; ++i)
      v[(i + t) & 3] = i;
    sum = v[t & 3];
    break;
  case 1: {
    int w[4] = {1, 2, 3, 4};
    w[t & 3] *= 3;
    sum = w[data[t % n] & 3];
    break;
  }
  default:
    do {
      int u[5] = {sum};
      u[data[(t + sum) % n] % 5] += 2;
      sum += u[0] + u[t % 5];
    } while (sum < 20 + (t & 7) && sum % 7);
  }
  out[t] = sum;
}

__global__ void behind_labels(const int *__restrict__ data, int *__restrict__ out, int n) {
  const int t = ID;
  int k = 0, sum = 0;
again:
  int v[6] = {};
  v[data[(t + k) % n] % 6] = k + 1;
  sum += v[t % 6] + v[k];
  if (++k < 6)
    goto again;
  out[t] = sum;
}

__global__ void effects_in_indices(const int *__restrict__ data, int *__restrict__ out, int n) {
  const int t = ID;
  int v[16] = {}, i = 0, j = 15;
  while (i < 12)
    v[i++] = data[(t + i) % n] & 15;
  for (int k = 0; k < 10; ++k)
    v[(++i) & 15] += (v[v[k] & 15]++, v[j--] -= k, v[k & 7] ? v[k + 1] : v[k + 2]);
  out[t] = v[t & 15] * 3 + v[v[t & 7] & 15] + i * 100 + j;
}

struct Row {
  float x[2];
  int y;
};
__global__ void members(const int *__restrict__ data, int *__restrict__ out, int n) {
  const int t = ID;
  Row r[4] = {{{1, 2}, 3}, {{4}, 5}};
  float2 f[4];
  for (int i = 0; i < 8; ++i) {
    r[data[(t + i) % n] & 3].x[i & 1] += i;
    r[i & 3].y -= data[i];
    f[(i + t) & 3].x = r[(i + t) & 3].x[t & 1];
    f[i & 3] = make_float2(1, 2);
    Row copy = r[t & 3];
    r[i & 3] = copy;
  }
  out[t] = int(r[t & 3].x[0] + r[n & 3].x[1] + f[t & 3].x) + r[(t + 1) & 3].y;
}

enum class Key : unsigned char { A, B, C };
enum Plain { P, Q, R };
__global__ void enums(const int *__restrict__ data, int *__restrict__ out, int n) {
  const int t = ID;
  Plain p[3] = {R, P};
  long long big[4] = {};
  for (unsigned char c = 0; c < 7; ++c) {
    p[data[(t + c) % n] % 3] = Plain(c % 3);
    big[p[c % 3]] += 1ll << c;
    big[(unsigned long long)Key::B + (t & 1)] -= c;
    big[true] ^= 5;
  }
  out[t] = int(big[t & 3]) + p[t % 3];
}

__global__ void uses_warps(const int *__restrict__ data, int *__restrict__ out, int n) {
  const int t = ID;
  int v[8] = {};
  for (int i = 0; i < 9; ++i)
    v[__shfl_sync(~0u, data[(t + i) % n], i) & 7] += __ballot_sync(~0u, v[i & 7] > i);
  const int all = __shfl_xor_sync(~0u, v[t & 7], 3);
  __syncthreads();
  if (t % 5 == 0)
    return;
  out[t] = all + v[n & 7];
}

namespace ns {
namespace {
using Number = unsigned;
}
__global__ void spaced(const int *__restrict__ data, int *__restrict__ out, int n) {
  const int t = ID;
  Number const v [ 2 ] [ 3 ] = { { 1u, 2u, Number(n) }, { 4u } };
  out[t] = v /* row */ [ data[t % n] & 1 ]
    [ // column
      data[0] % 3 ];
}
} // namespace ns

template <bool Twice> __global__ void takes_branches(const int *__restrict__ data, int *__restrict__ out, int n) {
  const int t = ID;
  int v[8] = {};
  for (int i = 0; i < 9; ++i)
    if constexpr (Twice)
      v[data[(t + i) % n] & 7] += 2;
  out[t] = v[t & 7];
}
template <bool Twice> __global__ void leaves_text(const int *__restrict__ data, int *__restrict__ out, int n) {
  const int t = ID;
  int v[8] = {};
  for (int i = 0; i < 9; ++i)
    if constexpr (Twice)
      v[data[(t + i) % n] & 7] += 2;
    else
      ++v[data[(t + i) % n] & 7];
  out[t] = v[t & 7];
}

__global__ void beside_dynamic(const int *__restrict__ data, int *__restrict__ out, int n) {
  extern __shared__ int other[];
  const int t = ID;
  other[threadIdx.x] = data[t % n];
  int v[8] = {};
  __syncthreads();
  for (int i = 0; i < 9; ++i)
    v[other[(threadIdx.x + i) % blockDim.x] & 7] += i;
  out[t] = v[t & 7];
}

int main() {
  for (int N : {500, 777}) {
    Buffer<int> Data(randoms<int>(N)), Out(1024);
    macros<<<6, 64>>>(Data.Data, Out.Data, N);
    Out.show("macros", N);
    turned_round<<<6, 64>>>(Data.Data, Out.Data, N);
    Out.show("turned_round", N);
    other_names<<<6, 64>>>(Data.Data, Out.Data, N);
    Out.show("other_names", N);
    in_switches<<<6, 64>>>(Data.Data, Out.Data, N);
    Out.show("in_switches", N);
    behind_labels<<<6, 64>>>(Data.Data, Out.Data, N);
    Out.show("behind_labels", N);
    effects_in_indices<<<6, 64>>>(Data.Data, Out.Data, N);
    Out.show("effects_in_indices", N);
    members<<<6, 64>>>(Data.Data, Out.Data, N);
    Out.show("members", N);
    enums<<<6, 64>>>(Data.Data, Out.Data, N);
    Out.show("enums", N);
    uses_warps<<<6, 64>>>(Data.Data, Out.Data, N);
    Out.show("uses_warps", N);
    ns::spaced<<<6, 64>>>(Data.Data, Out.Data, N);
    Out.show("ns::spaced", N);
    takes_branches<true><<<6, 64>>>(Data.Data, Out.Data, N);
    Out.show("takes_branches", N);
    leaves_text<false><<<6, 64>>>(Data.Data, Out.Data, N);
    Out.show("leaves_text", N);
    beside_dynamic<<<6, 64, 64 * sizeof(int)>>>(Data.Data, Out.Data, N);
    Out.show("beside_dynamic", N);
  }
}
