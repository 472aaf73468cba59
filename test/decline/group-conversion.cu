// A tile of a cooperative group is converted to a group: an operator without a name.
// REQUIRES: cuda-toolkit
// RUN: rcache-rewrite %s -q --list --cuda-path=%cuda 2>&1 | FileCheck %s
// CHECK: declined cgkernel
#include <cstdio>
#include <cooperative_groups.h>
using namespace cooperative_groups;
__device__ int sumReduction(thread_group g, int *x, int val) {
  int lane = g.thread_rank();
  for (int i = g.size() / 2; i > 0; i /= 2) { x[lane] = val; g.sync(); if (lane < i) val += x[lane + i]; g.sync(); }
  if (g.thread_rank() == 0) return val; else return -1;
}
__global__ void cgkernel() {
  thread_block threadBlockGroup = this_thread_block();
  int threadBlockGroupSize = threadBlockGroup.size();
  extern __shared__ int workspace[];
  int input, output, expectedOutput;
  input = threadBlockGroup.thread_rank();
  expectedOutput = (threadBlockGroupSize - 1) * threadBlockGroupSize / 2;
  output = sumReduction(threadBlockGroup, workspace, input);
  if (threadBlockGroup.thread_rank() == 0) printf(" Sum %d %d\n", output, expectedOutput);
  threadBlockGroup.sync();
  thread_block_tile<16> tiledPartition16 = tiled_partition<16>(threadBlockGroup);
  int workspaceOffset = threadBlockGroup.thread_rank() - tiledPartition16.thread_rank();
  input = tiledPartition16.thread_rank();
  output = sumReduction(tiledPartition16, workspace + workspaceOffset, input);
  if (tiledPartition16.thread_rank() == 0) printf("%d\n", output);
}
int main() { cgkernel<<<1, 64, 64 * sizeof(int)>>>(); cudaDeviceSynchronize(); }
