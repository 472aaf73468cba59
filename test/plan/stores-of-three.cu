// Structs of three words are stored word by word: slots beside each other along x would
// have every instruction write a part of twice the sectors (a demosaicing kernel: 0.84x
// measured of 2x8, 1.90x of 1x8), and so outputs along y are chosen.
//
// REQUIRES: cuda-toolkit
// RUN: rcache-rewrite %s -o %t.cu --explain-choice --arch=sm_90 --cuda-path=%cuda 2>&1 | FileCheck %s
// CHECK-LABEL: candidates of 'gradient'
// CHECK: 2x{{[248]}} {{.*}}3.00 {{.*}}capped: part-of-sectors
// CHECK: 1x{{[248]|16}} {{.*}}<- chosen
__global__ void gradient(const unsigned short *raw, ushort3 *out, int w, int h) {
  __shared__ unsigned short s[20][36];
  const int ox = blockIdx.x * 32 - 2, oy = blockIdx.y * 16 - 2;
  for (int i = threadIdx.y * 32 + threadIdx.x; i < 20 * 36; i += 512) {
    const int y = min(max(oy + i / 36, 0), h - 1), x = min(max(ox + i % 36, 0), w - 1);
    s[i / 36][i % 36] = raw[y * w + x];
  }
  __syncthreads();
  const int tx = threadIdx.x + 2, ty = threadIdx.y + 2;
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < w && y < h) {
    ushort3 o;
    o.x = (s[ty - 2][tx] + s[ty - 1][tx] + s[ty][tx] + s[ty + 1][tx] + s[ty + 2][tx]) / 5;
    o.y = (s[ty][tx - 2] + s[ty][tx - 1] + s[ty][tx] + s[ty][tx + 1] + s[ty][tx + 2]) / 5;
    o.z = (s[ty - 1][tx - 1] + s[ty - 1][tx + 1] + s[ty + 1][tx - 1] + s[ty + 1][tx + 1]) / 4;
    out[y * w + x] = o;
  }
}

int main() {
  unsigned short *raw;
  ushort3 *out;
  cudaMalloc(&raw, 4096 * 4096 * sizeof *raw);
  cudaMalloc(&out, 4096 * 4096 * sizeof *out);
  gradient<<<dim3(128, 256), dim3(32, 16)>>>(raw, out, 4096, 4096);
}
