// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Warp intrinsics: every width, full and partial masks, all types; barriers that
// reduce; atomics whose outcome does not depend on the order.
#include "suite.h"
#include <cuda_fp16.h>

template <class T> __device__ T valueOf(int lane) { return T(lane * 3 + 1); }

// Four shuffles for each distance, 34 distances.
template <class T> __global__ void shuffleAll(T *out, int width, unsigned mask) {
  int lane = threadIdx.x;
  if (!(mask >> lane & 1))
    return;
  T v = valueOf<T>(lane);
  for (int d = 0; d < 34; ++d) {
    // A source outside the mask is undefined: take the own lane then.
    int base = lane & ~(width - 1), in = lane & (width - 1), e = d & 31;
    int src[4] = {base + (d & (width - 1)), in - e >= 0 ? lane - e : lane,
                  in + e < width ? lane + e : lane, lane ^ e};
    if (src[3] >= base + width)
      src[3] = lane;
    for (int op = 0; op < 4; ++op) {
      bool fine = __all_sync(mask, mask >> (src[op] & 31) & 1);
      T r = T(0);
      if (fine)
        r = op == 0   ? __shfl_sync(mask, v, d, width)
            : op == 1 ? __shfl_up_sync(mask, v, e, width)
            : op == 2 ? __shfl_down_sync(mask, v, e, width)
                      : __shfl_xor_sync(mask, v, e, width);
      out[(d * 4 + op) * 32 + lane] = r;
    }
  }
}
template <class T> void shuffleCase(const char *type) {
  for (int width = 1; width <= 32; width *= 2)
    for (unsigned mask : {~0u, 0x0000ffffu, 0x55555555u, 0x00000001u, 0xfffffff0u}) {
      suite::Array<T> out(34 * 4 * 32);
      shuffleAll<T><<<1, 32>>>(out, width, mask);
      char name[80];
      snprintf(name, sizeof(name), "shfl_%s_w%d_%08x", type, width, mask);
      suite::take(name, out.P, out.N);
    }
}
static suite::Case shuffles("shuffles", [] {
  shuffleCase<int>("int");
  shuffleCase<unsigned>("unsigned");
  shuffleCase<float>("float");
  shuffleCase<long long>("ll");
  shuffleCase<unsigned long>("ulong");
  shuffleCase<double>("double");
});
__global__ void shuffleHalf(unsigned *out) {
  __half2 v = __floats2half2_rn(threadIdx.x, threadIdx.x * 0.5f);
  __half2 w = __shfl_xor_sync(~0u, v, 5);
  __half s = __shfl_down_sync(~0u, __low2half(v), 3, 8);
  out[threadIdx.x] = __half_as_ushort(__low2half(w)) | __half_as_ushort(__high2half(w)) << 16;
  out[32 + threadIdx.x] = __half_as_ushort(s);
}
static suite::Case halves("halves", [] {
  suite::Array<unsigned> out(64);
  shuffleHalf<<<1, 32>>>(out);
  suite::take("shfl_half", out.P, 64);
});

// The mask that each vote names is the caller's group.
__global__ void votesAll(const unsigned *data, unsigned *out, int split) {
  unsigned lane = threadIdx.x, x = data[lane];
  unsigned mask = 0;
  for (int i = 0; i < 32; ++i)
    mask |= unsigned((i % split) == (lane % split)) << i;
  unsigned *o = out + lane * 20;
  *o++ = __any_sync(mask, x & 1);
  *o++ = __all_sync(mask, x & 1);
  *o++ = __ballot_sync(mask, x & 2);
  *o++ = __uni_sync(mask, x & 4);
  *o++ = __match_any_sync(mask, x % 5);
  *o++ = __match_any_sync(mask, (unsigned long long)(x % 3) << 33);
  *o++ = __match_any_sync(mask, (float)(x % 4));
  int pred;
  *o++ = __match_all_sync(mask, x % 2 * 0u, &pred);
  *o++ = pred;
  *o++ = __match_all_sync(mask, x, &pred);
  *o++ = pred;
  *o++ = __reduce_add_sync(mask, x);
  *o++ = __reduce_min_sync(mask, x);
  *o++ = __reduce_max_sync(mask, x);
  *o++ = __reduce_min_sync(mask, (int)x);
  *o++ = __reduce_max_sync(mask, (int)x);
  *o++ = __reduce_and_sync(mask, x | 0xff);
  *o++ = __reduce_or_sync(mask, x & 0xff);
  *o++ = __reduce_xor_sync(mask, x);
}
static suite::Case votes("votes", [] {
  for (int split : {1, 2, 4, 8, 16, 32}) {
    suite::Array<unsigned> data(suite::values<unsigned>(32)), out(32 * 20);
    votesAll<<<1, 32>>>(data, out, split);
    suite::take("votes_split" + std::to_string(split), out.P, out.N);
  }
});

__global__ void ids(unsigned *out) {
  unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  unsigned *o = out + 10 * (t + 60 * (blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)));
  unsigned lane, lt, ge;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lt));
  asm("mov.u32 %0, %%lanemask_ge;" : "=r"(ge));
  *o++ = lane, *o++ = lt, *o++ = ge;
  *o++ = threadIdx.x + 100 * threadIdx.y + 10000 * threadIdx.z;
  *o++ = blockIdx.x + 100 * blockIdx.y + 10000 * blockIdx.z;
  *o++ = blockDim.x + 100 * blockDim.y + 10000 * blockDim.z;
  *o++ = gridDim.x + 100 * gridDim.y + 10000 * gridDim.z;
  *o++ = warpSize;
  *o++ = __popc(__ballot_sync(__activemask(), 1));
}
static suite::Case identities("ids", [] {
  suite::Array<unsigned> out(10 * 60 * 24);
  ids<<<dim3(2, 3, 4), dim3(5, 4, 3)>>>(out);
  suite::take("ids", out.P, out.N);
});

__global__ void barriers(const int *in, int *out) {
  __shared__ int s[96];
  int t = threadIdx.x;
  s[t] = in[t % 32];
  out[t] = __syncthreads_count(s[t] & 1);
  out[96 + t] = __syncthreads_and(s[95 - t] != 12345);
  out[192 + t] = __syncthreads_or(s[95 - t] == in[7]);
  for (int d = 1; d < 96; d *= 2) { // scan
    int v = t >= d ? s[t - d] : 0;
    __syncthreads();
    s[t] += v;
    __syncthreads();
  }
  out[288 + t] = s[t];
  int lane = t & 31;
  __shared__ int w[96];
  w[t] = lane;
  __syncwarp();
  out[384 + t] = w[t ^ 1];
}
static suite::Case barrierCase("barriers", [] {
  suite::Array<int> in(suite::values<int>(32)), out(480);
  barriers<<<1, 96>>>(in, out);
  suite::take("barriers", out.P, out.N);
});

template <class T> __device__ T cas(T *p, T v) { // adds, by compare and swap
  T old = *(volatile T *)p, seen;
  do {
    seen = old;
    old = atomicCAS(p, seen, T(seen + v));
  } while (old != seen);
  return old;
}
template <class T> __device__ void integerAtomics(T *p, T v, T *old) {
  atomicAdd(p + 0, v);
  atomicMin(p + 1, v);
  atomicMax(p + 2, v);
  atomicAnd(p + 3, v | T(0x55));
  atomicOr(p + 4, v & T(0xff));
  atomicXor(p + 5, v);
  cas(p + 6, v);
  atomicExch(p + 7, T(9)); // the same by all
  *old = atomicAdd(p + 8, T(0));
}
template <class T> __global__ void atomicsOf(const T *in, T *out, T *old, T *blockOut) {
  __shared__ T s[9];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  if (t < 9)
    s[t] = T(t == 1 ? 1000 : t == 3 ? ~T(0) : t);
  __syncthreads();
  T dummy;
  integerAtomics(s, in[i], &dummy);
  integerAtomics(out, in[i], old + i);
  __syncthreads();
  if (t < 9)
    blockOut[blockIdx.x * 9 + t] = s[t];
}
template <class T> void atomicCase(const char *type) {
  suite::Array<T> in(suite::values<T>(128)), out(9), old(128), block(18);
  atomicsOf<T><<<2, 64>>>(in, out, old, block);
  suite::take(std::string("atomics_global_") + type, out.P, 9);
  suite::take(std::string("atomics_shared_") + type, block.P, 18);
}
__global__ void atomicsMore(float *f, double *d, unsigned *u, unsigned long long *tickets, __half2 *h) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(f, (float)(i % 8)); // whole numbers: any order gives the same
  atomicAdd(d, (double)i);
  atomicInc(u, 10);
  atomicDec(u + 1, 10);
  atomicSub((int *)u + 2, i);
  atomicAdd_block(u + 3, 1);
  atomicAdd_system(u + 4, 2);
  atomicMax((int *)u + 5, i - 50);
  atomicExch(f + 1, 7.0f);
  tickets[atomicAdd(u + 6, 1u)] = 1;
  atomicAdd(h, __floats2half2_rn(1, 2));
}
static suite::Case atomics("atomics", [] {
  atomicCase<int>("int");
  atomicCase<unsigned>("unsigned");
  atomicCase<unsigned long long>("ull");
  suite::Array<float> f(2);
  suite::Array<double> d(1);
  suite::Array<unsigned> u(7);
  suite::Array<unsigned long long> tickets(128);
  suite::Array<__half2> h(1);
  atomicsMore<<<2, 64>>>(f, d, u, tickets, h);
  suite::take("atomics_float", f.P, 2);
  suite::take("atomics_double", d.P, 1);
  suite::take("atomics_inc_dec", u.P, 7);
  suite::take("atomics_tickets", tickets.P, 128);
  suite::take("atomics_half2", (unsigned *)h.P, 1);
});

int main(int argc, char **argv) { return suite::main(argc, argv); }
