// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cooperative groups: blocks, tiles of every size, coalesced groups, partitions,
// collectives, the grid.
#include "suite.h"
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

template <unsigned N> __global__ void tiles(const int *in, int *out) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<N> tile = cg::tiled_partition<N>(block);
  int x = in[block.thread_rank()], *o = out + 24 * block.thread_rank();
  *o++ = tile.thread_rank();
  *o++ = tile.size();
  *o++ = tile.meta_group_rank();
  *o++ = tile.meta_group_size();
  *o++ = tile.shfl(x, 1 % N);
  *o++ = tile.shfl_up(x, 1);
  *o++ = tile.shfl_down(x, 1);
  *o++ = tile.shfl_xor(x, N / 2);
  *o++ = tile.any(x > 0);
  *o++ = tile.all(x != 3);
  *o++ = tile.ballot(x & 1);
  *o++ = tile.match_any(x % 3);
  int pred;
  *o++ = tile.match_all(x & 0, pred);
  *o++ = pred;
  tile.sync();
  *o++ = cg::reduce(tile, (unsigned)x, cg::plus<unsigned>());
  *o++ = cg::reduce(tile, x, cg::less<int>());
  *o++ = cg::reduce(tile, x, cg::greater<int>());
  *o++ = cg::reduce(tile, x, cg::bit_xor<int>());
  *o++ = __float_as_int(cg::reduce(tile, (float)(x % 8), cg::plus<float>()));
  *o++ = cg::inclusive_scan(tile, x & 15);
  *o++ = cg::exclusive_scan(tile, x & 15, cg::plus<int>());
  *o++ = block.group_index().x + block.thread_index().x + block.size();
}
template <unsigned N> void tileCase() {
  suite::Array<int> in(suite::values<int>(96)), out(96 * 24);
  tiles<N><<<1, 96>>>(in, out);
  suite::take("tile_" + std::to_string(N), out.P, out.N);
}

__global__ void coalesced(const int *in, int *out) {
  int i = threadIdx.x, x = in[i], *o = out + 8 * i;
  if (x & 1) {
    cg::coalesced_group g = cg::coalesced_threads();
    *o++ = g.thread_rank();
    *o++ = g.size();
    *o++ = g.shfl(x, 0);
    *o++ = g.shfl_down(x, 1);
    *o++ = g.any(x > 100);
    *o++ = g.ballot(x & 2);
    *o++ = cg::reduce(g, x & 15, cg::plus<int>());
  }
}
__global__ void partitions(const int *in, int *out) {
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(cg::this_thread_block());
  int i = threadIdx.x, x = in[i], *o = out + 8 * i;
  cg::coalesced_group two = cg::binary_partition(warp, (x & 1) != 0);
  *o++ = two.size();
  *o++ = two.thread_rank();
  cg::coalesced_group many = cg::labeled_partition(warp, x % 4);
  *o++ = many.size();
  *o++ = many.thread_rank();
  *o++ = cg::reduce(many, 1, cg::plus<int>());
  cg::thread_group dynamic = cg::tiled_partition(cg::this_thread_block(), 8);
  *o++ = dynamic.thread_rank();
  *o++ = dynamic.size();
}
// One counter for the warp: the usual aggregated atomic.
__global__ void aggregated(const int *in, int *counter, int *kept) {
  int x = in[threadIdx.x];
  if (x > 0) {
    cg::coalesced_group g = cg::coalesced_threads();
    int at;
    if (g.thread_rank() == 0)
      at = atomicAdd(counter, (int)g.size());
    at = g.shfl(at, 0) + g.thread_rank();
    kept[at] = 1;
  }
}
__global__ void gridSum(const int *in, int *partial, int *out, int n) {
  cg::grid_group grid = cg::this_grid();
  int sum = 0;
  for (int i = grid.thread_rank(); i < n; i += grid.size())
    sum += in[i] & 0xff;
  atomicAdd(partial + blockIdx.x, sum);
  grid.sync();
  if (grid.thread_rank() == 0)
    for (unsigned b = 0; b < gridDim.x; ++b)
      out[0] += partial[b];
  grid.sync();
  out[1 + grid.thread_rank()] = out[0] + (int)grid.thread_rank();
}
__global__ void copied(const int *in, int *out) {
  __shared__ int s[64];
  cg::thread_block block = cg::this_thread_block();
  cg::memcpy_async(block, s, in, sizeof(s));
  cg::wait(block);
  out[threadIdx.x] = s[63 - threadIdx.x];
}

static suite::Case cases("groups", [] {
  tileCase<1>();
  tileCase<2>();
  tileCase<4>();
  tileCase<8>();
  tileCase<16>();
  tileCase<32>();
  suite::Array<int> in(suite::values<int>(512)), out(8 * 64), other(8 * 64);
  coalesced<<<1, 64>>>(in, out);
  suite::take("coalesced", out.P, out.N);
  partitions<<<1, 64>>>(in, other);
  suite::take("partitions", other.P, other.N);
  suite::Array<int> counter(1), kept(512);
  aggregated<<<1, 512>>>(in, counter, kept);
  suite::take("aggregated_count", counter.P, 1);
  suite::take("aggregated", kept.P, 512);
  suite::Array<int> partial(4), sums(1 + 4 * 64);
  int n = 512;
  void *args[] = {&in.P, &partial.P, &sums.P, &n};
  cudaLaunchCooperativeKernel((void *)gridSum, dim3(4), dim3(64), args, 0, nullptr);
  suite::take("grid_sync", sums.P, sums.N);
  suite::Array<int> back(64);
  copied<<<1, 64>>>(in, back);
  suite::take("memcpy_async", back.P, 64);
});

int main(int argc, char **argv) { return suite::main(argc, argv); }
