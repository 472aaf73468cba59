// Rows that are clamped by conditions: the window's vectors are those of the
// interior, nothing is left of the staging loops, and a pitch in bytes is
// recognised whatever its name and that of the row.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: rcache-check diff %s %t.cu
// RUN: %if slow %{ %nvcc -std=c++17 -ptx %t.cu -o %t.ptx 2>&1 | FileCheck --check-prefix=NVCC --allow-empty %s %}
//
// CHECK-DAG: rewrote 'gradient' {{.*}}'s' reloaded
// CHECK-DAG: rewrote 'row_pointer' {{.*}}'s' reloaded
// CHECK-DAG: rewrote 'frames' {{.*}}'s' reloaded
// CHECK-DAG: rewrote 'brick' {{.*}}'s' reloaded
// NVCC-NOT: warning
//
// TEXT-LABEL: void gradient{{_rc}}(
// TEXT-NOT: top
// TEXT: rc_s_w_inside =
// TEXT: 16 * (int)blockIdx.y + rc_e0 < rows - 
#include <cuda_runtime.h>
#include <vector>

using u8 = unsigned char;

__global__ void gradient(const u8 *__restrict__ src, u8 *__restrict__ dst, int cols, int rows, int step) {
  __shared__ u8 s[16 + 2][16 + 2];
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  for (int j = threadIdx.y; j < 16 + 2; j += blockDim.y)
    for (int i = threadIdx.x; i < 16 + 2; i += blockDim.x) {
      int left = blockIdx.x * 16 + i - 1;
      int top = blockIdx.y * 16 + j - 1;
      left = left < 0 ? 0 : (left > cols - 1 ? cols - 1 : left);
      if (top < 0)
        top = 0;
      if (top > rows - 1)
        top = rows - 1;
      s[j][i] = src[top * step + left];
    }
  __syncthreads();
  if (x < cols && y < rows) {
    const int cx = threadIdx.x + 1, cy = threadIdx.y + 1;
    const int gx = s[cy - 1][cx + 1] + 2 * s[cy][cx + 1] + s[cy + 1][cx + 1] - s[cy - 1][cx - 1] - 2 * s[cy][cx - 1] -
                   s[cy + 1][cx - 1];
    const int gy = s[cy + 1][cx - 1] + 2 * s[cy + 1][cx] + s[cy + 1][cx + 1] - s[cy - 1][cx - 1] -
                   2 * s[cy - 1][cx] - s[cy - 1][cx + 1];
    dst[y * step + x] = min(255, abs(gx) + abs(gy));
  }
}

// `bytes` comes before `v` and before `wide` where names are sorted.
__global__ void row_pointer(const float *in, float *out, int high, int wide, size_t bytes) {
  __shared__ float s[8 + 2][32 + 2];
  for (int v = threadIdx.y; v < 8 + 2; v += 8) {
    const int from = max(0, min(high - 1, (int)blockIdx.y * 8 + v - 1));
    const float *row = (const float *)((const char *)in + from * bytes);
    for (int u = threadIdx.x; u < 32 + 2; u += 32)
      s[v][u] = row[max(0, min(wide - 1, (int)blockIdx.x * 32 + u - 1))];
  }
  __syncthreads();
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= wide || y >= high)
    return;
  float sum = 0;
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < 3; ++i)
      sum += s[threadIdx.y + j][threadIdx.x + i];
  ((float *)((char *)out + y * bytes))[x] = sum / 9;
}

// Which end wins where a picture has no rows is the clamp's; the frame is no term of
// a coordinate.
// TEXT-LABEL: void frames{{_rc}}(
// TEXT: rc_at0 =
// TEXT-NOT: rc_at1
// TEXT: {{^ *}}cols;
// TEXT-NEXT: rc_at1 =
__device__ int within(int v, int lo, int hi) { return v < lo ? lo : (v > hi ? hi : v); }
__global__ void frames(const u8 *__restrict__ src, u8 *__restrict__ dst, int cols, int rows) {
  __shared__ u8 s[8 + 2][32 + 2];
  const size_t frame = (size_t)blockIdx.z * cols * rows;
  for (int j = threadIdx.y; j < 8 + 2; j += 8)
    for (int i = threadIdx.x; i < 32 + 2; i += 32)
      s[j][i] = src[frame + (size_t)within(blockIdx.y * 8 + j - 1, 0, rows - 1) * cols +
                    within(blockIdx.x * 32 + i - 1, 0, cols - 1)];
  __syncthreads();
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= cols || y >= rows)
    return;
  int sum = 0;
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < 3; ++i)
      sum += s[threadIdx.y + j][threadIdx.x + i] * (j + i);
  dst[frame + (size_t)y * cols + x] = sum / 18;
}

// Faces of a brick, each by its own text, with a plane as a product.
__global__ void brick(const float *__restrict__ in, float *__restrict__ out, int nx, int ny, int nz) {
  __shared__ float s[6][6][18];
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y, z = blockIdx.z * 4 + threadIdx.z;
  const int lx = threadIdx.x + 1, ly = threadIdx.y + 1, lz = threadIdx.z + 1, plane = nx * ny;
  const int g = z * plane + y * nx + x;
  const bool inside = x < nx && y < ny && z < nz;
  if (inside) {
    s[lz][ly][lx] = in[g];
    if (lx == 1)
      s[lz][ly][0] = x > 0 ? in[g - 1] : in[g];
    if (lx == 16 || x == nx - 1)
      s[lz][ly][lx + 1] = x < nx - 1 ? in[g + 1] : in[g];
    if (ly == 1)
      s[lz][0][lx] = y > 0 ? in[g - nx] : in[g];
    if (ly == 4 || y == ny - 1)
      s[lz][ly + 1][lx] = y < ny - 1 ? in[g + nx] : in[g];
    if (lz == 1)
      s[0][ly][lx] = z > 0 ? in[g - plane] : in[g];
    if (lz == 4 || z == nz - 1)
      s[lz + 1][ly][lx] = z < nz - 1 ? in[g + plane] : in[g];
  }
  __syncthreads();
  if (inside)
    out[g] = s[lz][ly][lx] - (s[lz][ly][lx - 1] + s[lz][ly][lx + 1] + s[lz][ly - 1][lx] + s[lz][ly + 1][lx] +
                              s[lz - 1][ly][lx] + s[lz + 1][ly][lx]);
}

int main() {
  const int sizes[][2] = {{64, 64}, {61, 33}, {16, 5}, {1, 40}};
  for (const auto &n : sizes) {
    const int w = n[0], h = n[1], step = w + 3;
    std::vector<u8> pixels(step * h);
    for (size_t i = 0; i < pixels.size(); ++i)
      pixels[i] = i * i * 7 + i / 3;
    u8 *a, *b;
    cudaMalloc(&a, pixels.size());
    cudaMalloc(&b, pixels.size());
    cudaMemcpy(a, pixels.data(), pixels.size(), cudaMemcpyHostToDevice);
    gradient<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(a, b, w, h, step);

    std::vector<float> values(w * h);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = int(i * 37 % 101) - 50.25f;
    size_t pitch;
    float *in, *out;
    cudaMallocPitch(&in, &pitch, w * sizeof(float), h);
    cudaMallocPitch(&out, &pitch, w * sizeof(float), h);
    cudaMemcpy2D(in, pitch, values.data(), w * sizeof(float), w * sizeof(float), h, cudaMemcpyHostToDevice);
    row_pointer<<<dim3((w + 31) / 32, (h + 7) / 8), dim3(32, 8)>>>(in, out, h, w, pitch);

    std::vector<float> volume(w * h * 9);
    for (size_t i = 0; i < volume.size(); ++i)
      volume[i] = int(i * 37 % 101) - 50.25f;
    float *v, *r;
    cudaMalloc(&v, volume.size() * sizeof(float));
    cudaMalloc(&r, volume.size() * sizeof(float));
    cudaMemcpy(v, volume.data(), volume.size() * sizeof(float), cudaMemcpyHostToDevice);
    brick<<<dim3((w + 15) / 16, (h + 3) / 4, 3), dim3(16, 4, 4)>>>(v, r, w, h, 9);

    std::vector<u8> film(w * h * 3);
    for (size_t i = 0; i < film.size(); ++i)
      film[i] = i * i * 5 + i / 7;
    u8 *f, *q;
    cudaMalloc(&f, film.size());
    cudaMalloc(&q, film.size());
    cudaMemcpy(f, film.data(), film.size(), cudaMemcpyHostToDevice);
    frames<<<dim3((w + 31) / 32, (h + 7) / 8, 3), dim3(32, 8)>>>(f, q, w, h);
    cudaDeviceSynchronize();
  }
}
