// Pointers in structs that a kernel gets by value are like its other pointer
// parameters; two of them may lead to the same memory, and one that the kernel
// moves is not the one that was passed.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: rcache-check diff %s %t.cu
// RUN: %if slow %{ %nvcc -std=c++17 -ptx %t.cu -o %t.ptx 2>&1 | FileCheck --check-prefix=NVCC --allow-empty %s %}
//
// CHECK-DAG: rewrote 'blur' {{.*}}'s' reloaded
// CHECK-DAG: rewrote 'step' {{.*}}'s' reloaded
// CHECK-DAG: rewrote 'moved' {{.*}}'s' kept shared
// NVCC-NOT: warning
//
// TEXT-LABEL: void blur{{_rc}}(const Image in, Image out,
// TEXT: load_words<16, 1>(
// TEXT-NEXT: rc_s_w[rc_r0],
// TEXT-NEXT: in.data +
// TEXT-LABEL: void blur{{_rc_launch}}(
// TEXT-NOT: , in.data
// TEXT: blur{{_rc}}<<<rc_blocks, rc_threads_of_block, 0, rc_stream>>>(in, out,
#include <cuda_runtime.h>
#include <vector>

struct Image {
  float *data;
  int width, height, stride;
};

__global__ void blur(const Image in, Image out) {
  __shared__ float s[8 + 2][32 + 2];
  for (int j = threadIdx.y; j < 8 + 2; j += 8)
    for (int i = threadIdx.x; i < 32 + 2; i += 32) {
      const int gx = min(max((int)(blockIdx.x * 32 + i) - 1, 0), in.width - 1);
      const int gy = min(max((int)(blockIdx.y * 8 + j) - 1, 0), in.height - 1);
      s[j][i] = in.data[gy * in.stride + gx];
    }
  __syncthreads();
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= out.width || y >= out.height)
    return;
  float sum = 0;
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < 3; ++i)
      sum += s[threadIdx.y + j][threadIdx.x + i];
  out.data[y * out.stride + x] = sum / 9;
}

struct Fields {
  struct {
    float *now, *next;
  } level;
  int n;
};

__global__ void step(Fields f, float c) {
  __shared__ float s[128 + 2];
  const int x = blockIdx.x * 128 + threadIdx.x;
  if (x < f.n)
    s[threadIdx.x + 1] = f.level.now[x];
  if (threadIdx.x == 0)
    s[0] = x > 0 ? f.level.now[x - 1] : 0.0f;
  if (threadIdx.x == 127)
    s[129] = x + 1 < f.n ? f.level.now[x + 1] : 0.0f;
  __syncthreads();
  if (x > 0 && x < f.n - 1)
    f.level.next[x] = s[threadIdx.x + 1] + c * (s[threadIdx.x] + s[threadIdx.x + 2]);
}

__global__ void moved(Image im, float *out) {
  __shared__ float s[128 + 2];
  im.data += im.stride;
  const int x = blockIdx.x * 128 + threadIdx.x;
  for (int i = threadIdx.x; i < 130; i += 128)
    s[i] = im.data[min(blockIdx.x * 128 + i, im.width - 1)];
  __syncthreads();
  if (x < im.width)
    out[x] = s[threadIdx.x] + s[threadIdx.x + 1] + s[threadIdx.x + 2];
}

int main() {
  const int sizes[][2] = {{64, 64}, {61, 33}, {5, 3}};
  for (const auto &n : sizes) {
    const int w = n[0], h = n[1], stride = w + 4;
    std::vector<float> values(stride * h);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = int(i * 37 % 101) - 50.25f;
    Image a{nullptr, w, h, stride}, b = a;
    cudaMalloc(&a.data, values.size() * sizeof(float));
    cudaMalloc(&b.data, values.size() * sizeof(float));
    cudaMemset(b.data, 0, values.size() * sizeof(float));
    cudaMemcpy(a.data, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice);
    blur<<<dim3((w + 31) / 32, (h + 7) / 8), dim3(32, 8)>>>(a, b);
    Fields f{{a.data, b.data}, stride * h};
    step<<<(f.n + 127) / 128, 128>>>(f, 0.25f);
    f.level.now = b.data;
    f.level.next = a.data;
    step<<<(f.n + 127) / 128, 128>>>(f, 0.5f);
    moved<<<(w + 127) / 128, 128>>>(a, b.data);
    cudaDeviceSynchronize();
  }
}
