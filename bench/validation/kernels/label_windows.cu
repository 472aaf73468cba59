// Small arrays of each thread, indexed by data: the commonest label in a
// window, the median of nine samples kept sorted, a tone curve with its knots.
#include "validation.cuh"

#define LABELS 8

__global__ void majorityFilter(const unsigned char *labels, unsigned char *out,
                               int width, int height, int radius) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height)
    return;
  int votes[LABELS] = {0};
  for (int dy = -radius; dy <= radius; dy++)
    for (int dx = -radius; dx <= radius; dx++) {
      int xx = min(max(x + dx, 0), width - 1);
      int yy = min(max(y + dy, 0), height - 1);
      votes[labels[(size_t)yy * width + xx] & (LABELS - 1)]++;
    }
  int best = 0;
  for (int l = 1; l < LABELS; l++)
    if (votes[l] > votes[best])
      best = l;
  out[(size_t)y * width + x] = best;
}

// insertion sort of the window; `window` is at most 15
__global__ void medianSeries(const float *in, float *out, int n, int window) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float v[15];
  int count = 0;
  for (int k = -(window / 2); k <= window / 2; ++k) {
    int g = i + k;
    if (g < 0 || g >= n)
      continue;
    float f = in[g];
    int j = count++;
    while (j > 0 && v[j - 1] > f) {
      v[j] = v[j - 1];
      --j;
    }
    v[j] = f;
  }
  out[i] = v[count / 2];
}

__global__ void toneCurve(const float *in, float *out, int n) {
  const float knots[10] = {0.000f, 0.020f, 0.071f, 0.160f, 0.295f,
                           0.480f, 0.690f, 0.860f, 0.960f, 1.000f};
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += blockDim.x * gridDim.x) {
    float t = __saturatef(in[i]) * 9.0f;
    int k = min((int)t, 8);
    out[i] = knots[k] + (t - k) * (knots[k + 1] - knots[k]);
  }
}

void majority(const unsigned char *l, unsigned char *o, int w, int h, int r) {
  dim3 block(16, 16);
  dim3 grid((w + block.x - 1) / block.x, (h + block.y - 1) / block.y);
  majorityFilter<<<grid, block>>>(l, o, w, h, r);
}
void median(const float *in, float *out, int n, int window) {
  medianSeries<<<(n + 255) / 256, 256>>>(in, out, n, window);
}
void curve(const float *in, float *out, int n) {
  toneCurve<<<std::min((n + 255) / 256, 4096), 256>>>(in, out, n);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (Extent e : extents({{4096, 4096, 1}, {1920, 1080, 1}}, {37, 19, 1})) {
    size_t n = (size_t)e.x * e.y;
    unsigned char *l = filled<unsigned char>(n, 631, 0, 256),
                  *o = zeros<unsigned char>(n);
    measure("majorityFilter", text(e), [&] { majority(l, o, e.x, e.y, 2); },
            {result(o, n)});
    release(l, o);
  }
  for (int n : sizes({1 << 24, 1 << 20}, 500)) {
    float *in = filled<float>(n, 632), *out = zeros<float>(n);
    measure("medianSeries", text(n), [&] { median(in, out, n, 9); },
            {result(out, n)});
    measure("toneCurve", text(n), [&] { curve(in, out, n); }, {result(out, n)});
    release(in, out);
  }
}
