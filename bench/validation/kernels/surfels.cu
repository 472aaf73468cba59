// Rays of an image against discs (surfels), which come in tiles of 256.
#include "validation.cuh"

struct Surfel {
  float px, py, pz, radius;
  float nx, ny, nz, colour;
};

#define PER_TILE 256

__global__ void cast_rays(const Surfel *surfels, int count, float *image,
                          float *depth, int width, int height, float focal) {
  __shared__ Surfel tile[PER_TILE];
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int tid = threadIdx.y * blockDim.x + threadIdx.x;
  float dx = (x - width * 0.5f) / focal, dy = (y - height * 0.5f) / focal;
  float inv = rsqrtf(dx * dx + dy * dy + 1.f);
  dx *= inv;
  dy *= inv;
  float dz = inv;
  float best = 1e30f, shade = 0.f;
  for (int base = 0; base < count; base += PER_TILE) {
    tile[tid] = surfels[base + tid];
    __syncthreads();
    for (int i = 0; i < PER_TILE; i++) {
      const Surfel &s = tile[i];
      float cosine = s.nx * dx + s.ny * dy + s.nz * dz;
      if (fabsf(cosine) > 1e-4f) {
        float t = (s.nx * s.px + s.ny * s.py + s.nz * s.pz) / cosine;
        float qx = t * dx - s.px, qy = t * dy - s.py, qz = t * dz - s.pz;
        if (t > 0.f && t < best &&
            qx * qx + qy * qy + qz * qz < s.radius * s.radius) {
          best = t;
          shade = s.colour * fabsf(cosine);
        }
      }
    }
    __syncthreads();
  }
  if (x < width && y < height) {
    image[y * width + x] = shade;
    depth[y * width + x] = best;
  }
}

void render(const Surfel *s, int count, float *image, float *depth, int w,
            int h) {
  dim3 block(16, 16);
  dim3 grid((w + 15) / 16, (h + 15) / 16);
  cast_rays<<<grid, block>>>(s, count, image, depth, w, h, 1.2f * w);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (Extent e : extents({{640, 480, 1}, {1920, 1080, 1}}, {40, 24, 1})) {
    int count = small_only ? 512 : 2048;
    size_t n = (size_t)e.x * e.y;
    Surfel *s = (Surfel *)filled<float>(count * 8, 7, 0.05, 2);
    float *image = zeros<float>(n), *depth = zeros<float>(n);
    measure("cast_rays", text(e),
            [&] { render(s, count, image, depth, e.x, e.y); },
            {result(image, n), result(depth, n)});
    release(s, image, depth);
  }
}
