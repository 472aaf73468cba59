// Elements that threads of certain numbers ask for alone, in blocks of unknown size: which
// of them are staged how is still asked.
//
// RUN: rcache-rewrite %s --force --self-check=off --block=128 -o %t.cu -- -I%S/Inputs 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=TEXT < %t.cu
// RUN: %if slow %{ %nvcc -ptx %t.cu -o %t.ptx -I%S/Inputs %}
// RUN: %if rcache-check %{ rcache-check diff %s %t.cu -- -I%S/Inputs %}
//
// REQUIRES: cuda-toolkit
#include "program.h"

// CHECK: rewrote 'third'
// TEXT: -> unsigned char {
// TEXT-NEXT: if (
// TEXT: return in1[
__global__ void third(const int2 *__restrict__ in0, unsigned char *__restrict__ in1, int *out, unsigned n) {
__shared__ int2 s0[128 + 24];
__shared__ unsigned char s1[128 + 4];
const int tid = threadIdx.x;
const unsigned base = blockIdx.x * blockDim.x;
const unsigned g = base + tid;
{
  const unsigned x = base + (unsigned)(tid + 12) - 12;
  s0[tid + 12] = (x < n) ? (int2)(in0[x]) : int2{0, 0};
}
if (tid == 0) {
for (int h = 0; h < 12; ++h) {
  const unsigned x = base + (unsigned)(h) - 12;
  s0[h] = (x < n) ? (int2)(in0[x]) : int2{0, 0};
}
for (int h = 0; h < 12; ++h) {
  const unsigned x = base + (unsigned)(h + blockDim.x + 12) - 12;
  s0[h + blockDim.x + 12] = (x < n) ? (int2)(in0[x]) : int2{0, 0};
}
}
{
  const unsigned x = base + (unsigned)(tid + 2) - 2;
  if (x < n)
    s1[tid + 2] = in1[x];
  else
    s1[tid + 2] = (unsigned char)0;
}
if (tid < 2) {
  const unsigned x = base + (unsigned)(tid) - 2;
  if (x < n)
    s1[tid] = in1[x];
  else
    s1[tid] = (unsigned char)0;
}
if (tid >= blockDim.x - 2) {
  const unsigned x = base + (unsigned)(tid + 4) - 2;
  if (x < n)
    s1[tid + 4] = in1[x];
  else
    s1[tid + 4] = (unsigned char)0;
}
__syncthreads();
{
if ((n % 5 - 2) != 0 && g < n) {
int acc = 0;
if (g % 3 == 1)
  acc += (int)(s0[tid + 12 - 2].x + s0[tid + 12 - 2].y);
else
  acc -= (int)(s0[tid + 12 - 9].x + s0[tid + 12 - 9].y);
if (tid % 3 == 1) {
for (int j = -2; j <= 2; ++j) {
  const int v = (int)(s1[tid + 2 + j]);
  if (v > acc)
    acc = v;
}
}
acc += (int)(100 / (n % 5 - 2));
out[g] = acc;
}
}
__syncthreads();
{
  const unsigned x = base + (unsigned)(tid + 12) - 12;
  s0[tid + 12] = (x < n) ? (int2)(in0[x]) : int2{0, 0};
}
if (tid == 0) {
for (int h = 0; h < 12; ++h) {
  const unsigned x = base + (unsigned)(h) - 12;
  s0[h] = (x < n) ? (int2)(in0[x]) : int2{0, 0};
}
for (int h = 0; h < 12; ++h) {
  const unsigned x = base + (unsigned)(h + blockDim.x + 12) - 12;
  s0[h + blockDim.x + 12] = (x < n) ? (int2)(in0[x]) : int2{0, 0};
}
}
{
  const unsigned x = base + (unsigned)(tid + 2) - 2;
  if (x < n)
    s1[tid + 2] = in1[x];
  else
    s1[tid + 2] = (unsigned char)0;
}
if (tid < 2) {
  const unsigned x = base + (unsigned)(tid) - 2;
  if (x < n)
    s1[tid] = in1[x];
  else
    s1[tid] = (unsigned char)0;
}
if (tid >= blockDim.x - 2) {
  const unsigned x = base + (unsigned)(tid + 4) - 2;
  if (x < n)
    s1[tid + 4] = in1[x];
  else
    s1[tid + 4] = (unsigned char)0;
}
__syncthreads();
{
if ((n % 5 - 2) != 0 && g < n) {
int acc = 0;
if (g % 3 == 1)
  acc += (int)(s0[tid + 12 - 2].x + s0[tid + 12 - 2].y);
else
  acc -= (int)(s0[tid + 12 - 9].x + s0[tid + 12 - 9].y);
if (tid % 3 == 1) {
for (int j = -2; j <= 2; ++j) {
  const int v = (int)(s1[tid + 2 + j]);
  if (v > acc)
    acc = v;
}
}
acc += (int)(100 / (n % 5 - 2));
out[g] = acc;
}
}
}


int main(int argc, char **) {
  const unsigned n = 1155;
  std::vector<unsigned char> data(n);
  for (unsigned char &X : data)
    X = nextRandom();
  Buffer<unsigned char> bytes(data);
  const Buffer<int2> in([] {
    std::vector<int2> v(n);
    for (int2 &x : v)
      x = {int(nextRandom() % 1000), int(nextRandom() % 1000)};
    return v;
  }());
  Buffer<int> out(n);
  third<<<10, 128>>>(in.Data, bytes.Data, out.Data, n);
  out.show("third", n, 128);
  third<<<37, 32>>>(in.Data, bytes.Data, out.Data, n);
  out.show("third", n, 32);
}
