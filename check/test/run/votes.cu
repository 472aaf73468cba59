// REQUIRES: cuda-toolkit
// RUN: %check run %s | FileCheck %s
// RUN: %check run %s --schedule=reverse | FileCheck %s
// RUN: %check run %s --schedule=random:7 | FileCheck %s
// Votes, match, reduce and lane masks, also with part of a warp.
#include <cstdio>

__global__ void votes(unsigned *o, unsigned mask) {
  int lane = threadIdx.x;
  if (!(mask >> lane & 1))
    return;
  unsigned *p = o + lane * 16;
  p[0] = __ballot_sync(mask, lane % 3 == 0);
  p[1] = __all_sync(mask, lane < 40) * 2 + __all_sync(mask, lane != 6);
  p[2] = __any_sync(mask, lane == 6) * 2 + __any_sync(mask, lane == 77);
  p[3] = __uni_sync(mask, lane < 40);
  p[4] = __match_any_sync(mask, lane % 5);
  int pred;
  p[5] = __match_all_sync(mask, 7, &pred);
  p[6] = pred;
  p[7] = __match_all_sync(mask, lane, &pred);
  p[8] = pred;
  p[9] = __reduce_add_sync(mask, lane);
  p[10] = __reduce_max_sync(mask, lane - 5);
  p[11] = __reduce_min_sync(mask, lane - 5);
  p[12] = __reduce_xor_sync(mask, 1u << lane);
  p[13] = __reduce_or_sync(mask, 1u << lane);
  p[14] = __reduce_and_sync(mask, ~(1u << lane));
  p[15] = __popc(__match_any_sync(mask, (unsigned long long)(lane & 1) << 40));
}

int main() {
  for (unsigned mask : {0xffffffffu, 0x00ff00ffu, 0x80000040u}) {
    static unsigned h[32 * 16];
    unsigned *d;
    cudaMalloc(&d, sizeof(h));
    cudaMemset(d, 0, sizeof(h));
    votes<<<1, 32>>>(d, mask);
    cudaMemcpy(h, d, sizeof(h), cudaMemcpyDeviceToHost);
    int bad = 0;
    for (int lane = 0; lane < 32; ++lane) {
      if (!(mask >> lane & 1))
        continue;
      unsigned ballot = 0, same = 0, sum = 0u, odd = 0, six = mask >> 6 & 1;
      int hi = -99, lo = 99;
      for (int l = 0; l < 32; ++l) {
        if (!(mask >> l & 1))
          continue;
        ballot |= (l % 3 == 0) << l;
        same |= (l % 5 == lane % 5) << l;
        odd += (l & 1) == (lane & 1);
        sum += l;
        hi = l - 5 > hi ? l - 5 : hi;
        lo = l - 5 < lo ? l - 5 : lo;
      }
      unsigned want[16] = {ballot, 2u + !six,   six * 2,      1,
                           same,   mask,        1,            0,
                           0,      sum,         (unsigned)hi, (unsigned)lo,
                           mask,   mask,        ~mask,        odd};
      for (int i = 0; i < 16; ++i)
        if (h[lane * 16 + i] != want[i]) {
          ++bad;
          printf("lane %d item %d: %x, expected %x\n", lane, i,
                 h[lane * 16 + i], want[i]);
        }
    }
    printf("mask %08x: %d\n", mask, bad);
  }
  // CHECK: mask ffffffff: 0
  // CHECK: mask 00ff00ff: 0
  // CHECK: mask 80000040: 0
}
