// Moving average and moving maximum along columns with a ring buffer in the thread.
#include "bench.h"

__global__ void movingAverage(const float *in, float *out, int cols, int rows, int window) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= cols)
    return;
  float ring[32];
  for (int i = 0; i < window; ++i)
    ring[i] = 0.0f;
  float sum = 0.0f;
  int head = 0;
  for (int r = 0; r < rows; ++r) {
    float v = in[(size_t)r * cols + c];
    sum += v - ring[head];
    ring[head] = v;
    head = head + 1 == window ? 0 : head + 1;
    out[(size_t)r * cols + c] = sum / (float)window;
  }
}

// monotone queue: the front is the maximum of the last `window` values
__global__ void movingMaximum(const int *in, int *out, unsigned cols, unsigned rows, unsigned window) {
  unsigned c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= cols)
    return;
  int val[16];
  unsigned pos[16];
  unsigned front = 0, back = 0; // elements front .. back-1, modulo 16
  for (unsigned r = 0; r < rows; ++r) {
    int v = in[(size_t)r * cols + c];
    while (front != back && val[(back - 1) & 15] <= v)
      --back;
    val[back & 15] = v;
    pos[back & 15] = r;
    ++back;
    if (pos[front & 15] + window <= r)
      ++front;
    out[(size_t)r * cols + c] = val[front & 15];
  }
}

int main() {
  const int cols = 100000, rows = 200;
  float *in = toDevice(randomFloats((size_t)cols * rows, 371)), *out = deviceAlloc<float>((size_t)cols * rows);
  printTime("movingAverage", timeMin([&] { movingAverage<<<(cols + 127) / 128, 128>>>(in, out, cols, rows, 20); }));
  printHash("movingAverage", out, (size_t)cols * rows);
  int *iin = toDevice(randomInts<int>((size_t)cols * rows, 372, 1 << 20)), *iout = deviceAlloc<int>((size_t)cols * rows);
  printTime("movingMaximum",
            timeMin([&] { movingMaximum<<<(cols + 127) / 128, 128>>>(iin, iout, cols, rows, 12u); }));
  printHash("movingMaximum", iout, (size_t)cols * rows);
}
