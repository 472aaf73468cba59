// Private arrays that an index of run time keeps in local memory go to shared
// memory, with the thread as their last subscript: initialisers in loops, several
// dimensions, structs, 8- and 16-byte elements, arrays as indices of arrays, early
// returns, loops without a bound, blocks of two and three dimensions and of several
// sizes, templates, handed on, referred to. And those that stay: products, in a lambda.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
// RUN: rcache-rewrite %s -o %t.stack.cu --force --kernel=blocks_of_three --cuda-path=%cuda -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=STACK %s
// RUN: rcache-check diff %s %t.stack.cu -- -I%S/Inputs
// RUN: rcache-rewrite %s -o %t.small.cu --force --kernel=in_a_loop --kernel=bytes --cuda-path=%cuda -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=SMALL %s
// RUN: FileCheck --check-prefix=SMALLTEXT %s < %t.small.cu
// RUN: %if slow %{ rcache-check diff %s %t.small.cu -- -I%S/Inputs %}
//
// CHECK-DAG: rewrote 'histogram' {{.*}}'bins' of each thread in shared memory
// CHECK-DAG: rewrote 'sorted' {{.*}}'v' of each thread in shared memory
// SMALL-DAG: rewrote 'in_a_loop' {{.*}}'table' of each thread in shared memory
// CHECK-DAG: rewrote 'in_a_loop'
// CHECK-DAG: rewrote 'nested' {{.*}}'order' of each thread {{.*}}'value' of each thread
// CHECK-DAG: rewrote 'two_dims' {{.*}}'m' of each thread
// CHECK-DAG: rewrote 'structs' {{.*}}'p' of each thread
// CHECK-DAG: rewrote 'vectors' {{.*}}'q' of each thread
// Lanes push and pop together: nothing is gained, and rewritten on request.
// CHECK-DAG: 'blocks_of_three' left as it is: no gain is predicted
// STACK: rewrote 'blocks_of_three' {{.*}}'stack' of each thread
// CHECK-DAG: rewrote 'several_sizes' {{.*}}'seen' of each thread
// CHECK-DAG: rewrote 'templated<int, 8>' {{.*}}'w' of each thread
// CHECK-DAG: rewrote 'templated<double, 12>' {{.*}}'w' of each thread
// CHECK-DAG: rewrote 'beside_shared' {{.*}}'local' of each thread
// CHECK-DAG: rewrote 'any_block' {{.*}}'v' of each thread {{.*}} a warp
// CHECK-DAG: rewrote 'table97' {{.*}}'r' of each thread {{.*}} a warp
// SMALL-DAG: rewrote 'bytes' {{.*}}'b' of each thread {{.*}}'h' of each thread
// CHECK-DAG: rewrote 'bytes'
// CHECK-DAG: rewrote 'declared' {{.*}}'a' of each thread {{.*}}'b' of each thread
// CHECK-DAG: rewrote 'handed_on' {{.*}}'v' of each thread
// CHECK-DAG: rewrote 'referred' {{.*}}'v' of each thread
// CHECK-DAG: 'products' left as it is{{.*}}private-products
// CHECK-DAG: 'in_a_lambda' left as it is{{.*}}private-use
//
// TEXT-LABEL: void histogram_rc(
// TEXT: const unsigned int rc_thread = threadIdx.x;
// TEXT: __shared__ int bins[32][128];
// TEXT-NEXT: for (int i = 0; i < 32; ++i)
// TEXT: ++bins[data[i] & 31][rc_thread];
// TEXT-LABEL: void two_dims_rc(
// TEXT: const unsigned int rc_thread = threadIdx.y * 16 + threadIdx.x;
// TEXT: __shared__ float m[4][5][128];
// TEXT-LABEL: void several_sizes_rc(
// TEXT: __shared__ unsigned int seen[16][192];
// TEXT-LABEL: void any_block_rc(
// TEXT: extern __shared__ __align__(16) unsigned char rc_memory[];
// TEXT: int (&v)[8][32] = *reinterpret_cast<int (*)[8][32]>(rc_warp);
// TEXT: ::rcache::device::in_words<unsigned char, 6, 32> &few =
// TEXT-NEXT: *reinterpret_cast<
// SMALLTEXT-LABEL: void bytes_rc(
// SMALLTEXT: __shared__ ::rcache::device::in_words<unsigned char, 16, 64> b;
// SMALLTEXT: __shared__ short h[5][64];
// TEXT-LABEL: void declared_rc(
// TEXT: __shared__ int a[8][128];
// TEXT: __shared__ int b[5][128];
// TEXT: int *p = nullptr, top = 3;
#include "program.h"

__global__ void histogram(const int *__restrict__ data, int *__restrict__ out, int n, int per) {
  int bins[32];
  for (int i = 0; i < 32; ++i)
    bins[i] = 0;
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = t * per; i < n && i < (t + 1) * per; ++i)
    ++bins[data[i] & 31];
  int most = 0;
  for (int i = 1; i < 32; ++i)
    if (bins[i] > bins[most])
      most = i;
  out[t] = most * 1000 + bins[most];
}

// An insertion sort whose loop ends where the data says.
__global__ void sorted(const float *__restrict__ in, float *__restrict__ out, int n) {
  float v[9];
  const int t = blockIdx.x * 64 + threadIdx.x;
  if (t >= n)
    return;
  for (int i = 0; i < 9; ++i) {
    const float x = in[(t + 7 * i) % n];
    int j = i;
    while (j > 0 && v[j - 1] > x) {
      v[j] = v[j - 1];
      --j;
    }
    v[j] = x;
  }
  out[t] = v[4] + v[in[t] > 40.0f ? 8 : 0];
}

// Given its values anew in each round, some of them.
__global__ void in_a_loop(const int *__restrict__ data, int *__restrict__ out, int n, int rounds) {
  const int t = blockIdx.x * 128 + threadIdx.x;
  int sum = 0;
  for (int r = 0; r < rounds; ++r) {
    int table[6] = {r, t, 7};
    for (int i = 0; i < 5; ++i)
      table[data[(t + i + r) % n] % 6 < 0 ? 0 : data[(t + i + r) % n] % 6] += i + 1;
    sum = sum * 3 + table[data[t % n] & 3] + table[5];
  }
  out[t] = sum;
}

__global__ void nested(const int *__restrict__ data, int *__restrict__ out, int n) {
  const int t = blockIdx.x * 128 + threadIdx.x;
  int order[8];
  long long value[8];
  for (int i = 0; i < 8; ++i) {
    order[(i * 3 + t) & 7] = i;
    value[(i + data[t % n]) & 7] = data[(t + i) % n] * 3ll;
  }
  long long sum = 0;
  for (int i = 0; i < 8; ++i)
    sum = sum * 5 + value[order[order[i]]];
  out[t] = int(sum ^ (sum >> 32));
}

__global__ void two_dims(const float *__restrict__ in, float *__restrict__ out, int n) {
  float m[4][5] = {{1, 2}, {3}};
  const int t = blockIdx.x * 128 + threadIdx.y * 16 + threadIdx.x;
  for (int i = 0; i < 11; ++i) {
    const int k = int(in[(t + i) % n]) & 15;
    m[k & 3][(k >> 2) + (i & 1)] = in[(t + 2 * i) % n];
  }
  float sum = 0;
  for (int i = 0; i < n % 5 + 4; ++i)
    sum += m[i & 3][i % 5];
  out[t] = sum;
}

struct Pair3 {
  float key;
  int id;
  int next;
};

__global__ void structs(const float *__restrict__ in, float *__restrict__ out, int n) {
  Pair3 p[6];
  const int t = blockIdx.x * 96 + threadIdx.x;
  for (int i = 0; i < 6; ++i) {
    p[i].key = in[(t + i) % n];
    p[i].id = i;
    p[i].next = (i + t) % 6;
  }
  int at = t % 6;
  float sum = 0;
  for (int i = 0; i < 9; ++i) {
    Pair3 q = p[at];
    sum += q.key;
    p[(at + i) % 6] = p[q.next];
    p[at].id += i;
    at = (q.next + p[at].id) % 6;
  }
  out[t] = sum + p[at].id;
}

__global__ void vectors(const float4 *__restrict__ in, float *__restrict__ out, int n) {
  float4 q[4];
  const int t = blockIdx.x * 128 + threadIdx.x;
  for (int i = 0; i < 4; ++i)
    q[(i + t) & 3] = in[(t + i) % n];
  float sum = 0;
  for (int i = 0; i < n % 7; ++i) {
    q[i & 3].x += q[(i * t) & 3].w;
    sum += q[(t + i) & 3].x;
  }
  out[t] = sum + q[n & 3].y;
}

__global__ void blocks_of_three(const int *__restrict__ data, int *__restrict__ out, int n) {
  const int t = blockIdx.x * 64 + (threadIdx.z * 4 + threadIdx.y) * 4 + threadIdx.x;
  int stack[16], top = 0;
  int sum = 0;
  for (int i = 0; i < n % 13 + 20; ++i) {
    const int d = data[(t * 3 + i) % n];
    if ((d & 3) && top < 16)
      stack[top++] = d;
    else if (top > 0)
      sum += stack[--top];
    else
      continue;
    if (sum > 100000)
      break;
  }
  out[t] = sum + top;
}

__global__ void several_sizes(const int *__restrict__ data, unsigned *__restrict__ out, int n) {
  unsigned seen[16] = {};
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 0; i < 40; ++i)
    seen[data[(t + i) % n] & 15] |= 1u << (i & 31);
  unsigned all = 0;
  for (int i = 0; i < 16; ++i)
    all = all * 31u + seen[(i * 5 + t) & 15];
  out[t] = all;
}

template <typename T, int N> __global__ void templated(const T *__restrict__ in, T *__restrict__ out, int n) {
  T w[N] = {T(3)};
  const int t = blockIdx.x * 64 + threadIdx.x;
  for (int i = 0; i < N; ++i)
    w[(t + i * 5) % N] = in[(t + i) % n];
  T sum = 0;
  for (int i = 0; i < n % N; ++i)
    sum += w[(i * i + t) % N];
  out[t] = sum;
}

// Beside a shared array that threads fill for one another by atomics.
__global__ void beside_shared(const int *__restrict__ data, int *__restrict__ out, int n) {
  __shared__ int all[16];
  if (threadIdx.x < 16)
    all[threadIdx.x] = 0;
  __syncthreads();
  const int t = blockIdx.x * 128 + threadIdx.x;
  int local[16] = {};
  for (int i = 0; i < 30; ++i)
    ++local[data[(t + i) % n] & 15];
  for (int i = 0; i < 16; ++i)
    atomicAdd(&all[i], local[(i + t) & 15] << (t & 3));
  __syncthreads();
  if (threadIdx.x < 16)
    out[blockIdx.x * 16 + threadIdx.x] = all[threadIdx.x];
}

// Nothing tells the block: as much dynamic memory as its warps need.
__global__ void any_block(const int *__restrict__ data, int *__restrict__ out, int n) {
  int v[8];
  double w[3] = {1, 2};
  unsigned char few[6] = {9};
  const int t = (blockIdx.x * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  for (int i = 0; i < 8; ++i)
    v[(i + t) & 7] = data[(t + i) % n];
  for (int i = 0; i < n % 11; ++i) {
    w[data[i] % 3] += v[i & 7];
    ++v[(t * i) & 7];
    few[(t + i) % 6] += i;
  }
  out[t] = v[n & 7] + int(w[t % 3]) + few[n % 6] + threadIdx.z;
}

// More than static memory has.
__global__ void table97(const float *__restrict__ in, float *__restrict__ out, int n, int rounds) {
  float r[97];
  const int t = blockIdx.x * 128 + threadIdx.x;
  unsigned state = t * 2654435761u + 12345u;
  for (int i = 0; i < 97; ++i)
    r[i] = in[(t + i) & 255];
  float sum = 0;
  for (int i = 0; i < rounds; ++i) {
    state = state * 1664525u + 1013904223u;
    const int j = (state >> 8) % 97;
    sum += r[j];
    r[j] = float(state >> 8);
  }
  out[t] = sum;
}

__global__ void bytes(const int *__restrict__ data, int *__restrict__ out, int n) {
  unsigned char b[16] = {1, 2, 3};
  short h[5] = {};
  const int t = blockIdx.x * 64 + threadIdx.x;
  for (int i = 0; i < 30; ++i) {
    b[data[(t + i) % n] & 15] += i;
    h[b[i & 15] % 5] -= data[i];
  }
  out[t] = b[t & 15] * 70000 + h[n % 5];
}

__global__ void declared(const int *__restrict__ data, int *__restrict__ out, int n) {
  int a[8], b[5] = {}, *p = nullptr, top = 3;
  const int t = blockIdx.x * 128 + threadIdx.x;
  for (int i = 0; i < 8; ++i)
    a[(i + t) & 7] = data[(t + i) % n];
  for (int i = 0; i < n % 9; ++i)
    b[a[i & 7] & 3] += ++top;
  if (p)
    top = *p;
  out[t] = top + b[t & 3] + a[t & 7];
}

__device__ __noinline__ int total(const int *v, int k) {
  int s = 0;
  for (int i = 0; i < k; ++i)
    s += v[i];
  return s;
}

__global__ void handed_on(const int *__restrict__ data, int *__restrict__ out, int n) {
  int v[8] = {};
  const int t = blockIdx.x * 128 + threadIdx.x;
  for (int i = 0; i < 20; ++i)
    ++v[data[(t + i) % n] & 7];
  out[t] = total(v, t & 7);
}

__global__ void referred(const int *__restrict__ data, int *__restrict__ out, int n) {
  int v[8] = {};
  const int t = blockIdx.x * 128 + threadIdx.x;
  for (int i = 0; i < 20; ++i) {
    int &x = v[data[(t + i) % n] & 7];
    x += i;
  }
  out[t] = v[t & 7];
}

__global__ void products(const float *__restrict__ in, float *__restrict__ out, int n) {
  float v[8];
  const int t = blockIdx.x * 128 + threadIdx.x;
  for (int i = 0; i < 8; ++i)
    v[(i + t) & 7] = in[(t + i) % n] * 1.25f;
  out[t] = v[int(in[t % n]) & 7] + 3.0f;
}

__global__ void in_a_lambda(const int *__restrict__ data, int *__restrict__ out, int n) {
  int v[8] = {};
  const int t = blockIdx.x * 128 + threadIdx.x;
  auto count = [&](int i) { ++v[data[(t + i) % n] & 7]; };
  for (int i = 0; i < 20; ++i)
    count(i);
  out[t] = v[t & 7];
}

int main() {
  for (int N : {1000, 1300}) {
    Buffer<int> Data(randoms<int>(N)), Out(4096);
    Buffer<float> In(randoms<float>(4 * N)), Sums(4096);
    Buffer<double> Doubles(randoms<double>(N)), DoubleSums(4096);
    Buffer<unsigned> Bits(4096);
    histogram<<<blocks(N, 128 * 5), 128>>>(Data.Data, Out.Data, N, 5);
    Out.show("histogram", N);
    sorted<<<blocks(N, 64), 64>>>(In.Data, Sums.Data, N);
    Sums.show("sorted", N);
    in_a_loop<<<blocks(N, 128 * 2), 128>>>(Data.Data, Out.Data, N, 4);
    Out.show("in a loop", N);
    nested<<<5, 128>>>(Data.Data, Out.Data, N);
    Out.show("nested", N);
    two_dims<<<blocks(N, 128 * 2), dim3(16, 8)>>>(In.Data, Sums.Data, N);
    Sums.show("two dims", N);
    structs<<<5, 96>>>(In.Data, Sums.Data, N);
    Sums.show("structs", N);
    vectors<<<5, 128>>>((const float4 *)In.Data, Sums.Data, N);
    Sums.show("vectors", N);
    blocks_of_three<<<7, dim3(4, 4, 4)>>>(Data.Data, Out.Data, N);
    Out.show("blocks of three", N);
    several_sizes<<<3, 64>>>(Data.Data, Bits.Data, N);
    Bits.show("several sizes", N);
    several_sizes<<<3, 192>>>(Data.Data, Bits.Data, N);
    Bits.show("several sizes", N);
    several_sizes<<<3, N / 10>>>(Data.Data, Bits.Data, N);
    Bits.show("several sizes", N);
    several_sizes<<<1, N / 4>>>(Data.Data, Bits.Data, N); // larger: the original
    Bits.show("several sizes", N);
    templated<int, 8><<<4, 64>>>(Data.Data, Out.Data, N);
    Out.show("templated", N);
    templated<double, 12><<<4, 64>>>(Doubles.Data, DoubleSums.Data, N);
    DoubleSums.show("templated", N);
    beside_shared<<<4, 128>>>(Data.Data, Out.Data, N);
    Out.show("beside shared", N);
    for (int b : {1, 31, 96, 130, N / 4}) {
      any_block<<<3, b>>>(Data.Data, Out.Data, N);
      Out.show("any block", b);
    }
    any_block<<<2, dim3(N / 100, 3, 2)>>>(Data.Data, Out.Data, N);
    Out.show("any block", N);
    table97<<<4, 128>>>(In.Data, Sums.Data, N, 50);
    Sums.show("table", N);
    bytes<<<7, 64>>>(Data.Data, Out.Data, N);
    Out.show("bytes", N);
    declared<<<4, 128>>>(Data.Data, Out.Data, N);
    Out.show("declared", N);
    handed_on<<<4, 128>>>(Data.Data, Out.Data, N);
    Out.show("handed on", N);
    referred<<<4, 128>>>(Data.Data, Out.Data, N);
    Out.show("referred", N);
    products<<<4, 128>>>(In.Data, Sums.Data, N);
    Sums.show("products", N);
    in_a_lambda<<<4, 128>>>(Data.Data, Out.Data, N);
    Out.show("in a lambda", N);
  }
}
