// Clamped and mirrored borders: the pieces of the staging function, one for
// each side and corner, become one load with an index that each lane chooses.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force --exchange=reload -o %t.cu --cuda-path=%cuda 2> %t.remarks
// RUN: FileCheck --check-prefix=REMARK %s < %t.remarks
// RUN: FileCheck %s < %t.cu
// RUN: rcache-check diff %s %t.cu
//
// REMARK-DAG: rewrote 'average'
// REMARK-DAG: rewrote 'smooth'
// REMARK-DAG: rewrote 'mirrored'
// REMARK-DAG: rewrote 'deep'
//
// One load each, and the clamp as a clamp or one times a pitch:
// CHECK-LABEL: average{{_rc}}(
// CHECK: ? n - 1
// CHECK: return x[rc_at0];
// CHECK-LABEL: smooth{{_rc}}(
// CHECK: const int rc_at0 = min(max(rc_e0 + 8 * (int)blockIdx.y - 2, 0), h - 1) * sp;
// CHECK-NEXT: const int rc_at1 = min(max(rc_e1 + 32 * (int)rc_block_x - 2, 0), w - 1);
// CHECK-NEXT: return src[rc_at0 + rc_at1];
// CHECK-NEXT: };
// CHECK-LABEL: mirrored{{_rc}}(
// CHECK: return a[rc_at0 + rc_at1];
// CHECK: return 0.0f;
// CHECK-LABEL: deep{{_rc}}(
// CHECK: return in[rc_at0 + rc_at1 + rc_at2];
#include <cstdio>
#include <vector>

__global__ void average(const float *x, float *y, int n) {
  __shared__ float s[128 + 8];
  const int g = blockIdx.x * 128 + threadIdx.x, l = threadIdx.x + 4;
  s[l] = x[min(g, n - 1)];
  if (threadIdx.x < 4) {
    s[l - 4] = x[max(g - 4, 0)];
    s[l + 128] = x[min(g + 128, n - 1)];
  }
  __syncthreads();
  if (g < n) {
    float a = 0;
    for (int k = -4; k <= 4; ++k)
      a += s[l + k];
    y[g] = a / 9;
  }
}

__global__ void smooth(const unsigned char *src, int sp, unsigned char *dst,
                       int dp, int w, int h) {
  __shared__ unsigned char t[12][36];
  const int left = blockIdx.x * 32 - 2, top = blockIdx.y * 8 - 2;
  for (int j = threadIdx.y; j < 12; j += 8)
    for (int i = threadIdx.x; i < 36; i += 32) {
      const int x = min(max(left + i, 0), w - 1);
      const int y = min(max(top + j, 0), h - 1);
      t[j][i] = src[y * sp + x];
    }
  __syncthreads();
  const int x = blockIdx.x * 32 + threadIdx.x;
  const int y = blockIdx.y * 8 + threadIdx.y;
  if (x >= w || y >= h)
    return;
  int sum = 0;
  for (int j = 0; j < 5; ++j)
    for (int i = 0; i < 5; ++i)
      sum += t[threadIdx.y + j][threadIdx.x + i] * (i + j);
  dst[y * dp + x] = sum >> 7;
}

__global__ void mirrored(const float *a, float *b, int w, int h) {
  __shared__ float s[10][34];
  for (int j = threadIdx.y; j < 10; j += 8)
    for (int i = threadIdx.x; i < 34; i += 32) {
      int x = (int)blockIdx.x * 32 + i - 1, y = (int)blockIdx.y * 8 + j - 1;
      x = x < 0 ? -x : x >= w ? 2 * w - 2 - x : x;
      y = y < 0 ? -y : y >= h ? 2 * h - 2 - y : y;
      s[j][i] = x >= 0 && x < w && y >= 0 && y < h ? a[y * w + x] : 0.0f;
    }
  __syncthreads();
  const int x = blockIdx.x * 32 + threadIdx.x;
  const int y = blockIdx.y * 8 + threadIdx.y;
  if (x >= w || y >= h)
    return;
  const int i = threadIdx.x + 1, j = threadIdx.y + 1;
  b[y * w + x] = s[j][i] - 0.25f * (s[j - 1][i] + s[j + 1][i] + s[j][i - 1] +
                                    s[j][i + 1]);
}

__global__ void deep(const float *in, float *out, int nx, int ny, int nz) {
  __shared__ float t[6][6][34];
  for (int z = threadIdx.z; z < 6; z += 4)
    for (int y = threadIdx.y; y < 6; y += 4)
      for (int x = threadIdx.x; x < 34; x += 32) {
        const int gx = min(max((int)blockIdx.x * 32 + x - 1, 0), nx - 1);
        const int gy = min(max((int)blockIdx.y * 4 + y - 1, 0), ny - 1);
        const int gz = min(max((int)blockIdx.z * 4 + z - 1, 0), nz - 1);
        t[z][y][x] = in[(gz * ny + gy) * nx + gx];
      }
  __syncthreads();
  const int x = blockIdx.x * 32 + threadIdx.x;
  const int y = blockIdx.y * 4 + threadIdx.y;
  const int z = blockIdx.z * 4 + threadIdx.z;
  if (x < nx && y < ny && z < nz) {
    float s = 0;
    for (int k = 0; k < 3; ++k)
      s += t[threadIdx.z + k][threadIdx.y + 1][threadIdx.x + 1] +
           t[threadIdx.z + 1][threadIdx.y + k][threadIdx.x + 1] +
           t[threadIdx.z + 1][threadIdx.y + 1][threadIdx.x + k];
    out[(z * ny + y) * nx + x] = s;
  }
}

static int blocks(int n, int of) { return (n + of - 1) / of; }

template <typename T> struct Pair {
  T *In, *Out;
  explicit Pair(int n) {
    std::vector<T> h(n);
    for (int i = 0; i < n; ++i)
      h[i] = T(i * 7 % 61);
    cudaMalloc(&In, n * sizeof(T));
    cudaMalloc(&Out, n * sizeof(T));
    cudaMemcpy(In, h.data(), n * sizeof(T), cudaMemcpyHostToDevice);
  }
};

int main() {
  for (int n : {1, 3, 127, 128, 129, 1000}) {
    Pair<float> P(n);
    average<<<blocks(n, 128), 128>>>(P.In, P.Out, n);
  }
  const int sizes[][2] = {{1, 1}, {2, 3}, {32, 8}, {33, 9}, {31, 40}, {100, 50}};
  for (auto &[w, h] : sizes) {
    const dim3 grid(blocks(w, 32), blocks(h, 8)), block(32, 8);
    Pair<unsigned char> B((w + 5) * h);
    smooth<<<grid, block>>>(B.In, w + 5, B.Out, w + 5, w, h);
    Pair<float> F(w * h);
    mirrored<<<grid, block>>>(F.In, F.Out, w, h);
    Pair<float> V(w * h * 7);
    deep<<<dim3(blocks(w, 32), blocks(h, 4), blocks(7, 4)), dim3(32, 4, 4)>>>(
        V.In, V.Out, w, h, 7);
  }
  return cudaDeviceSynchronize() != cudaSuccess;
}
