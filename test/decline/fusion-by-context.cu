// What a sum is fused with hangs on the statements around it: nobody can say what
// the original's compiler made of it. Where the values alone decide, kernels are
// rewritten, and nvcc fuses the same sums in both (scripts/fused_sums.py).
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force --cuda-path=%cuda 2>&1 | FileCheck %s
// RUN: %python %src/scripts/fused_sums.py --rewritten --nvcc=%cuda/bin/nvcc %t.cu | FileCheck --check-prefix=NVCC %s
//
// Another value between product and sum, or not:
// CHECK-DAG: 'outOfLoop' left as it is: {{.*}} ('p + w' in line {{[0-9]+}}) [fusion-unsettled]
// CHECK-DAG: 'nextRound' left as it is: {{.*}} ('sum += last' in line {{[0-9]+}}) [fusion-unsettled]
// CHECK-DAG: 'byIndex' left as it is: {{.*}} [fusion-unsettled]
// CHECK-DAG: 'inFunction' left as it is: {{.*}} (that in line {{[0-9]+}}) [fusion-unsettled]
// One product with two uses, or two products:
// CHECK-DAG: 'stagedAndUsed' left as it is: {{.*}} [fusion-unsettled]
// Two products in a sum, and a block between them or not:
// CHECK-DAG: 'twoOverBarrier' left as it is: {{.*}} ('q + s[t] * s[t + 1]' in line {{[0-9]+}}) [fusion-unsettled]
// CHECK-DAG: 'twoIntoLoop' left as it is: {{.*}} [fusion-unsettled]
// CHECK-DAG: 'deep' left as it is: {{.*}} [fusion-unsettled]
// A use that is there or not:
// CHECK-DAG: 'byArgument' left as it is: {{.*}} [fusion-unsettled]
// CHECK-DAG: 'storedByIndex' left as it is: {{.*}} [fusion-unsettled]
// A use that keeps it from being fused, but for a loop of 640 instructions:
// CHECK-DAG: 'farInLoop' left as it is: {{.*}} ('y + p' in line {{[0-9]+}}) [fusion-unsettled]
// A product under a condition, which compilers may compute once for several sums, or
// choose between it and another sum's operand:
// CHECK-DAG: 'takenInRounds' left as it is: {{.*}} ('sum -= s[t + 2] * w' in line {{[0-9]+}}) [fusion-unsettled]
// CHECK-DAG: 'addedInRounds' left as it is: {{.*}} [fusion-unsettled]
// CHECK-DAG: 'takenBehind' left as it is: {{.*}} [fusion-unsettled]
// CHECK-DAG: 'byIndexInRounds' left as it is: {{.*}} [fusion-unsettled]
// CHECK-DAG: 'bothArms' left as it is: {{.*}} [fusion-unsettled]
// CHECK-DAG: 'bothBranches' left as it is: {{.*}} [fusion-unsettled]
// CHECK-DAG: 'decidedOnce' left as it is: {{.*}} [fusion-unsettled]
// CHECK-DAG: 'alsoOutside' left as it is: {{.*}} [fusion-unsettled]
// CHECK-DAG: 'functionInRounds' left as it is: {{.*}} [fusion-unsettled]
// A ?: that chooses between shared elements for all threads alike, or from one and a
// number: compilers make two sums of one, or operate on what is chosen from:
// CHECK-DAG: 'chosenBeside' left as it is: {{.*}} [fusion-unsettled]
// CHECK-DAG: 'chosenFactor' left as it is: {{.*}} [fusion-unsettled]
// CHECK-DAG: 'chosenBefore' left as it is: {{.*}} [fusion-unsettled]
// CHECK-DAG: 'chosenNumber' left as it is: {{.*}} [fusion-unsettled]
// A product that a loop goes on with, which the source keeps from being unrolled:
// CHECK-DAG: 'intoRolled' left as it is: {{.*}} [fusion-unsettled]
// Several sums of one product, one of them under a condition:
// CHECK-DAG: 'sumsInBlocks' left as it is: {{.*}} [fusion-unsettled]
// CHECK-DAG: 'sumBehindData' left as it is: {{.*}} [fusion-unsettled]
// CHECK-DAG: 'sumBehindOr' left as it is: {{.*}} [fusion-unsettled]
// A branch between product and sum, or a choice between registers:
// CHECK-DAG: 'branchBetween' left as it is: {{.*}} [fusion-unsettled]
// A division beside a difference, by a number as well; sums that are differences; by a
// power of two it is a product:
// CHECK-DAG: 'besideThird' left as it is: {{.*}}, and a slow path ({{.*}}) may come between product and sum) [fusion-unsettled]
// CHECK-DAG: 'besideQuotient' left as it is: {{.*}} [fusion-unsettled]
// CHECK-DAG: 'besideNegated' left as it is: {{.*}} [fusion-unsettled]
// CHECK-DAG: 'besideNegative' left as it is: {{.*}} [fusion-unsettled]
// Sums in several cases of a switch:
// CHECK-DAG: 'severalCases' left as it is: {{.*}} [fusion-unsettled]
// CHECK-DAG: rewrote 'oneCase'
// An element that stands in the text twice, and in one product:
// CHECK-DAG: rewrote 'interpolated'
// ... not so where it is a round's own, or all are under one condition:
// CHECK-DAG: rewrote 'ownInRounds'
// CHECK-DAG: rewrote 'ownTaken'
// CHECK-DAG: rewrote 'allUnderOne'
//
// Operands that keep their order: the one that is read first, however deep the
// other one is in front of it; all members of a struct at once.
// CHECK-DAG: rewrote 'keptFirst' (1 launch): {{[1-9][0-9]*}} outputs a thread
// CHECK-DAG: rewrote 'laplacian' (1 launch): {{[1-9][0-9]*}} outputs a thread
// CHECK-DAG: rewrote 'distances' (1 launch): {{[1-9][0-9]*}} outputs a thread
// CHECK-DAG: rewrote 'differences' (1 launch): {{[1-9][0-9]*}} outputs a thread
// CHECK-DAG: rewrote 'overBarrier'
// CHECK-DAG: rewrote 'overBarrierRounded'
// CHECK-DAG: rewrote 'straight'
// CHECK-DAG: rewrote 'intoLoop'
// CHECK-DAG: rewrote 'intoLongLoop'
// CHECK-DAG: rewrote 'sameInRounds'
// CHECK-DAG: rewrote 'byData'
// CHECK-DAG: rewrote 'doubled'
// With several outputs p is read behind s:
// CHECK-DAG: rewrote 'early' (1 launch): 1 output a thread
// ... and a product is the same for all of them:
// CHECK-DAG: rewrote 'ofParameters' (1 launch): 1 output a thread
// CHECK-DAG: rewrote 'doubledToo' (1 launch): 1 output a thread
// CHECK-DAG: rewrote 'ofRows' (1 launch): 1 output a thread
// All statements stay, and so does what is fused:
// CHECK-DAG: rewrote 'stagedByOtherText' (1 launch): 1 output a thread; 's' kept shared
// NVCC-NOT: DIFFERS
// NVCC: 22 same
#define TILE                                                                   \
  __shared__ float s[260];                                                     \
  const int t = threadIdx.x, g = blockIdx.x * 256 + t;                         \
  s[t + 2] = g < n ? a[g] : 0.f;                                               \
  if (t < 2) {                                                                 \
    s[t] = g >= 2 ? a[g - 2] : 0.f;                                            \
    s[t + 258] = g + 256 < n ? a[g + 256] : 0.f;                               \
  }                                                                            \
  __syncthreads();
#define KERNEL(name)                                                           \
  __global__ void name(const float *__restrict__ a, const float *__restrict__ c, \
                       float *__restrict__ b, float w, float v, int n)

KERNEL(overBarrier) {
  const int h = blockIdx.x * 256 + threadIdx.x;
  const float p = h < n ? c[h] : 0.f, q = p * w;
  TILE
  if (g < n)
    b[g] = q + s[t + 1];
}
KERNEL(twoOverBarrier) {
  const int h = blockIdx.x * 256 + threadIdx.x;
  const float p = h < n ? c[h] : 0.f, q = p * w;
  TILE
  if (g < n)
    b[g] = q + s[t] * s[t + 1];
}
KERNEL(overBarrierRounded) {
  const int h = blockIdx.x * 256 + threadIdx.x;
  const float p = h < n ? c[h] : 0.f, q = __fmul_rn(p, w);
  TILE
  if (g < n)
    b[g] = q + s[t] * s[t + 1];
}
KERNEL(straight) {
  TILE
  if (g < n) {
    const float p = s[t] * w, q = p + s[t + 1];
    b[g] = q * p - s[t + 2] * s[t + 3];
  }
}
KERNEL(intoLoop) {
  TILE
  if (g < n) {
    const float mean = (s[t] + s[t + 1]) * 0.5f;
    float sum = 0.f;
    for (int k = 0; k < 5; ++k)
      sum += fabsf(s[t + k] - mean);
    b[g] = sum;
  }
}
KERNEL(intoLongLoop) {
  const float mean = v * w;
  float sum = 0.f;
  for (int r = 0; r < n / 256; ++r) {
    __shared__ float s[256];
    const int t = threadIdx.x;
    s[t] = a[r * 256 + t];
    __syncthreads();
    for (int k = 0; k < 256; ++k)
      sum = fmaxf(sum, s[k] - mean);
    __syncthreads();
  }
  b[blockIdx.x * 256 + threadIdx.x] = sum;
}
KERNEL(twoIntoLoop) {
  TILE
  if (g < n) {
    const float mean = (s[t] + s[t + 1]) * 0.5f;
    float sum = 0.f;
    for (int k = 0; k < 5; ++k)
      sum += fabsf(s[t + k] * w - mean);
    b[g] = sum;
  }
}
KERNEL(outOfLoop) {
  TILE
  if (g < n) {
    float p = 1.f;
    for (int k = 0; k < 5; ++k)
      p *= s[t + k];
    b[g] = p + w;
  }
}
KERNEL(nextRound) {
  TILE
  if (g < n) {
    float sum = 0.f, last = 0.f;
    for (int k = 0; k < 5; ++k) {
      sum += last;
      last = s[t + k] * w;
    }
    b[g] = sum;
  }
}
KERNEL(sameInRounds) {
  TILE
  if (g < n) {
    float sum = 0.f;
    for (int k = 0; k < 5; ++k)
      sum = fabsf(sum - s[t + k]) + s[t] * w;
    b[g] = sum;
  }
}
KERNEL(byIndex) {
  TILE
  if (g < n)
    b[g] = (t > 0 ? s[t] * w : v) + s[t + 1];
}
KERNEL(byData) {
  TILE
  if (g < n)
    b[g] = (s[t + 2] > 0.f ? s[t] * w : v) + s[t + 1];
}
KERNEL(doubled) { // x + x
  TILE
  if (g < n)
    b[g] = (t > 0 ? s[t] * 2.f : v) + s[t + 1];
}
KERNEL(besideThird) {
  TILE
  if (g < n)
    b[g] = s[t] / 3.f - s[t + 1] * s[t + 2];
}
KERNEL(besideQuotient) {
  TILE
  if (g < n)
    b[g] = s[t] / v - s[t + 1] * s[t + 1];
}
KERNEL(besideNegated) {
  TILE
  if (g < n)
    b[g] = -(s[t] / v) + s[t + 1] * s[t + 2];
}
KERNEL(besideNegative) {
  TILE
  if (g < n)
    b[g] = s[t] / -3.f + s[t + 1] * s[t + 2];
}
KERNEL(severalCases) {
  TILE
  float r = 0.f;
  switch (n % 3) {
  case 0:
    r = s[t] * s[t + 1] - s[t + 2];
    break;
  case 1:
    r = s[t] * s[t + 1] + s[t + 3];
    break;
  }
  if (g < n)
    b[g] = r;
}
KERNEL(oneCase) {
  TILE
  float r = 0.f;
  switch (n % 3) {
  case 0:
    r = s[t] * s[t + 1] - s[t + 2];
    break;
  default:
    r = s[t + 4];
  }
  if (g < n)
    b[g] = r;
}
KERNEL(interpolated) {
  __shared__ float s[256];
  s[threadIdx.x] = c[threadIdx.x];
  __syncthreads();
  const int g = blockIdx.x * 256 + threadIdx.x;
  if (g < n) {
    const float x = a[g];
    const int k = min(max((int)x, 0), 254);
    b[g] = s[k] + (x - k) * (s[k + 1] - s[k]);
  }
}
KERNEL(stagedAndUsed) {
  __shared__ float s[256];
  const int t = threadIdx.x, g = blockIdx.x * 256 + t;
  const float p = a[g] * w;
  s[t] = p + v;
  b[n + g] = p;
  __syncthreads();
  b[g] = s[t] + s[t ^ 1];
}
KERNEL(stagedByOtherText) {
  __shared__ float s[256];
  const int t = threadIdx.x, g = blockIdx.x * 256 + t;
  const float x = a[g];
  s[t] = x * w;
  __syncthreads();
  b[g] = w * a[blockIdx.x * 256 + threadIdx.x] + s[t ^ 1];
}
KERNEL(ofParameters) {
  TILE
  if (g < n)
    b[g] = w * v + s[t] * s[t + 1];
}
// Loaded in front of what is staged: of several outputs, kept in an array.
KERNEL(early) {
  const float p = c[blockIdx.x * 256 + threadIdx.x];
  TILE
  if (g < n)
    b[g] = s[t + 2] * w + p * v;
}
KERNEL(deep) {
  const float p = c[blockIdx.x * 256 + threadIdx.x];
  TILE
  if (g < n)
    b[g] = s[t] * w * v * p + s[t + 2] * w;
}
KERNEL(doubledToo) { // x + x where the other product is fused
  TILE
  if (g < n)
    b[g] = s[t] * 2.f + w * w;
}
KERNEL(byArgument) {
  TILE
  if (g < n) {
    const float x = s[t + 2] * v;
    b[g] = ((w > 0.f ? x : 0.25f) * (s[t + 3] + x)) + x;
  }
}
KERNEL(storedByIndex) { // which most outputs never do
  TILE
  if (g < n) {
    const float x = s[t + 2] * v;
    if (t == 0)
      b[g + n] = x;
    b[g] = x + s[t + 3];
  }
}
// Slots along x have one product of c; those along y have not.
__global__ void ofRows(const float *__restrict__ a, const float *__restrict__ c,
                       float *__restrict__ b, float w, float v, int n) {
  __shared__ float s[4][66];
  const int tx = threadIdx.x, ty = threadIdx.y, y = blockIdx.y * 4 + ty;
  const int x = blockIdx.x * 64 + tx;
  s[ty][tx] = a[y * n + x];
  if (tx < 2)
    s[ty][tx + 64] = x + 64 < n ? a[y * n + x + 64] : 0.f;
  __syncthreads();
  b[y * n + x] = c[y] * w + s[ty][tx] * s[ty][tx + 2];
}
KERNEL(farInLoop) { // a loop has 25 blocks, an unrolled one is one
  TILE
  if (g < n) {
    const float x = s[t], p = x * w;
    float y = fabsf(p);
    for (int k = 0; k < 40; ++k) {
      y += s[t + k % 5];
      y = fabsf(fabsf(y - v) - w), y = fabsf(fabsf(y - v) - w);
      y = fabsf(fabsf(y - v) - w), y = fabsf(fabsf(y - v) - w);
    }
    b[g] = (y + p) * x;
  }
}
KERNEL(keptFirst) {
  const float p = c[blockIdx.x * 256 + threadIdx.x];
  TILE
  if (g < n)
    b[g] = p * v + s[t + 2] * w;
}
KERNEL(laplacian) {
  const float p = c[blockIdx.x * 256 + threadIdx.x];
  TILE
  float sum = v * p;
#pragma unroll
  for (int k = 1; k < 3; ++k)
    sum += w * (p + s[t + 2 - k] + s[t + 2 + k]);
  if (g < n)
    b[g] = sum;
}
KERNEL(differences) { // no order in those
  const float p = c[blockIdx.x * 256 + threadIdx.x];
  TILE
  if (g < n)
    b[g] = s[t + 2] * w - p * v;
}
struct Point {
  float x, y, z;
};
__device__ float dot(Point p, Point q, float w, float v) {
  const float x = p.x - q.x, y = p.y - q.y;
  return x * w + y * v;
}
__global__ void distances(const Point *__restrict__ a, const Point *__restrict__ c,
                          float *__restrict__ b, float w, float v, int n) {
  __shared__ Point s[256];
  const int g = blockIdx.x * 256 + threadIdx.x;
  const Point mine = c[g];
  float sum = 0.f;
  for (int r = 0; r < n; r += 256) {
    s[threadIdx.x] = a[r + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < 256; ++k)
      sum = fmaxf(sum, dot(mine, s[k], w, v));
    __syncthreads();
  }
  b[g] = sum;
}
__device__ float norm(float x, float y, int positive) {
  float p = 0.f;
  if (positive)
    p = x * y;
  return p + 1.f;
}
KERNEL(inFunction) {
  TILE
  if (g < n)
    b[g] = norm(s[t], s[t + 1], n);
}
KERNEL(takenInRounds) {
  TILE
  float sum = 0.f;
  for (int k = 0; k < 5; ++k) {
    if (sum > 1.f)
      sum -= s[t + 2] * w;
    sum += s[t + k];
  }
  if (g < n)
    b[g] = sum;
}
KERNEL(addedInRounds) {
  TILE
  float sum = 0.f;
#pragma unroll
  for (int k = 0; k < 5; ++k) {
    sum = fabsf(sum - s[t + k]);
    if (s[t + k] > v)
      sum += s[t + 2] * w;
  }
  if (g < n)
    b[g] = sum;
}
KERNEL(takenBehind) {
  TILE
  float sum = 0.f;
  for (int k = 0; k < 5; ++k) {
    sum += s[t + k];
    if (s[t + k] < v)
      continue;
    sum -= s[t + 2] * 0.3f;
  }
  if (g < n)
    b[g] = sum;
}
KERNEL(byIndexInRounds) {
  TILE
  float sum = 0.f;
  for (int k = 0; k < 5; ++k) {
    if (t > k + 5)
      sum += s[t + 2] * w;
    sum += s[t + k];
  }
  if (g < n)
    b[g] = sum;
}
KERNEL(bothArms) {
  TILE
  float sum = 0.f;
  for (int k = 0; k < 5; ++k)
    sum = s[t + k] > v ? sum + s[t + k] * w : sum - s[t + k];
  if (g < n)
    b[g] = sum;
}
KERNEL(bothBranches) {
  TILE
  float sum = 0.f;
  for (int k = 0; k < 5; ++k)
    if (s[t + k] > v)
      sum -= s[t + k] * w;
    else
      sum += 0.1f;
  if (g < n)
    b[g] = sum;
}
KERNEL(decidedOnce) { // two copies of the code, for w and for all outputs
  TILE
  if (g < n) {
    float x = s[t + 1] * s[t + 1];
    if (w > 0.f)
      x -= fabsf(s[t]);
    b[g] = s[t + 2] + x;
  }
}
KERNEL(alsoOutside) {
  TILE
  float sum = 1.f;
  if (s[t] > v)
    sum = s[t + 1] + s[t + 2] * w;
  sum = fmaxf(sum, s[t + 3] + s[t + 2] * w);
  if (g < n)
    b[g] = sum;
}
__device__ float without(float x, float y, float w) { return x - y * w; }
KERNEL(functionInRounds) {
  TILE
  float sum = 0.f;
  for (int k = 0; k < 5; ++k) {
    if (sum > 1.f)
      sum = without(sum, s[t + 2], w);
    sum += s[t + k];
  }
  if (g < n)
    b[g] = sum;
}
KERNEL(chosenBeside) {
  TILE
  if (g < n)
    b[g] = (n > 70 ? 1.f : s[t + 1]) + s[t] * s[t + 2];
}
KERNEL(chosenFactor) {
  TILE
  if (g < n)
    b[g] = w * s[t] * (n == 3 ? s[t] : s[t + 1]) - s[t];
}
KERNEL(chosenBefore) {
  TILE
  float x = v == 1.f ? s[3] : s[2];
  x += s[t] * s[t + 2];
  if (g < n)
    b[g] = x;
}
KERNEL(chosenNumber) {
  TILE
  float x = s[t + 2] > 0.f ? 3.f : s[t + 1];
  x = x * s[t];
  if (g < n)
    b[g] = x + s[t + 3];
}
KERNEL(sumsInBlocks) {
  TILE
  const float p = s[t] * s[t + 2], q = p + s[t + 1];
  if (g < n) {
    b[g] = q;
    b[g + n] = p - w;
  }
}

KERNEL(sumBehindData) {
  TILE
  if (g < n) {
    const float p = s[t] * s[t + 1];
    float q = p + s[t + 2];
    if (q > 0.5f)
      q = p - s[t + 4];
    b[g] = q;
  }
}

KERNEL(sumBehindOr) {
  TILE
  const float x = s[t], y = s[t + 1], p = x * y;
  float r = p + s[t + 2];
  const bool more = r > 0.5f || p + s[t + 3] > 0.2f;
  r = more ? r : w;
  if (g < n)
    b[g] = r;
}

KERNEL(branchBetween) {
  TILE
  if (g < n) {
    float p = s[t] * s[t + 1], u = s[t + 2];
    if (u > 0.5f)
      u = s[t + 4];
    b[g] = p + u;
  }
}

KERNEL(intoRolled) {
  TILE
  float x = s[t] * w;
#pragma unroll 1
  for (int k = 0; k < 5; ++k)
    x += s[k];
  if (g < n)
    b[g] = x;
}
KERNEL(ownInRounds) {
  TILE
  float sum = 0.f;
  for (int k = 0; k < 5; ++k)
    if (g + k < n)
      sum += s[t + k] * w;
  if (g < n)
    b[g] = sum;
}
KERNEL(ownTaken) {
  TILE
  float sum = 0.f;
  for (int k = 0; k < 5; ++k) {
    if (sum > 1.f)
      sum -= s[t + k] * w;
    sum += s[t + k];
  }
  if (g < n)
    b[g] = sum;
}
KERNEL(allUnderOne) {
  TILE
  if (g > 0 && g < n - 1) {
    const float p = s[t + 2] * w;
    b[g] = fmaxf(s[t + 1] - p, s[t + 3] - p);
  }
}
int main() {
  const int n = 5120;
  float *a, *c, *b;
  cudaMalloc(&a, n * 4);
  cudaMalloc(&c, n * 4);
  cudaMalloc(&b, 2 * n * 4);
#define RUN(k) k<<<n / 256, 256>>>(a, c, b, 0.3f, 1.7f, n)
  RUN(overBarrier);
  RUN(twoOverBarrier);
  RUN(overBarrierRounded);
  RUN(straight);
  RUN(intoLoop);
  RUN(intoLongLoop);
  RUN(twoIntoLoop);
  RUN(outOfLoop);
  RUN(nextRound);
  RUN(sameInRounds);
  RUN(byIndex);
  RUN(byData);
  RUN(doubled);
  RUN(besideThird);
  RUN(besideQuotient);
  RUN(besideNegated);
  RUN(besideNegative);
  RUN(severalCases);
  RUN(oneCase);
  RUN(interpolated);
  RUN(stagedAndUsed);
  RUN(stagedByOtherText);
  RUN(ofParameters);
  RUN(early);
  RUN(deep);
  RUN(doubledToo);
  RUN(byArgument);
  RUN(storedByIndex);
  ofRows<<<dim3(4, 5), dim3(64, 4)>>>(a, c, b, 0.3f, 1.7f, 256);
  RUN(takenInRounds);
  RUN(addedInRounds);
  RUN(takenBehind);
  RUN(byIndexInRounds);
  RUN(bothArms);
  RUN(bothBranches);
  RUN(decidedOnce);
  RUN(alsoOutside);
  RUN(functionInRounds);
  RUN(chosenBeside);
  RUN(chosenFactor);
  RUN(chosenBefore);
  RUN(chosenNumber);
  RUN(sumsInBlocks);
  RUN(sumBehindData);
  RUN(sumBehindOr);
  RUN(branchBetween);
  RUN(intoRolled);
  RUN(ownInRounds);
  RUN(ownTaken);
  RUN(allUnderOne);
  RUN(inFunction);
  RUN(farInLoop);
  RUN(keptFirst);
  RUN(laplacian);
  RUN(differences);
  distances<<<5, 256>>>((Point *)a, (Point *)c, b, 0.3f, 1.7f, 512);
  return cudaDeviceSynchronize();
}
