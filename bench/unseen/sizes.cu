// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels at sizes from thousands to tens of millions of elements, with rows
// that are no multiple of a vector, and with pointers off by one element.

#include "kernels.cuh"

int main() {
  std::vector<float> tp(64);
  for (int i = 0; i < 64; ++i)
    tp[i] = 0.01f * (i + 1);
  cudaMemcpyToSymbol(taps, tp.data(), 256);
  char nm[64];
  int shapes[][2] = {{512, 512},   {1000, 1000}, {1920, 1080}, {2047, 2047},
                     {4096, 4096}, {8190, 8190}, {8191, 8191}};
  for (auto &sh : shapes) {
    int w = sh[0], h = sh[1];
    size_t wh = (size_t)w * h;
    char tag[24];
    snprintf(tag, 24, ".%dx%d", w, h);
    auto name = [&](const char *s) {
      snprintf(nm, 64, "%s%s", s, tag);
      return nm;
    };
    {
      Buf<double> a(rnds<double>(wh)), o(wh);
      run(name("lap2d"), [&] {
        lap2d<<<dim3(cdiv(w, 16), cdiv(h, 16)), dim3(16, 16)>>>(a.p, o.p, w, h);
      });
      SZ(nm, o);
    }
    {
      Buf<unsigned char> a(bytes(wh)), o(wh);
      run(name("gauss5"), [&] {
        gauss5<<<dim3(cdiv(w, 32), cdiv(h, 8)), dim3(32, 8)>>>(a.p, w, o.p, w,
                                                               w, h);
      });
      SZ(nm, o);
      run(name("erode"), [&] {
        erode<<<dim3(cdiv(w, 16), cdiv(h, 16)), dim3(16, 16)>>>(a.p, o.p, w, h);
      });
      SZ(nm, o);
    }
    {
      Buf<float> a(rnds<float>(wh)), o(wh);
      run(name("colpass"), [&] {
        colpass<<<dim3(cdiv(w, 32), cdiv(h, 16)), dim3(32, 16)>>>(a.p, o.p, w,
                                                                  h);
      });
      SZ(nm, o);
      run(name("pm"), [&] {
        pm<<<dim3(cdiv(w, 32), cdiv(h, 8)), dim3(32, 8)>>>(a.p, o.p, w, h,
                                                           0.01f, 0.2f);
      });
      SZ(nm, o);
    }
  }
  for (int q : {128, 512, 1001, 2048}) {
    snprintf(nm, 64, "gemm.%d", q);
    Buf<float> A(rnds<float>(q * q)), B(rnds<float>(q * q)), C(q * q);
    run(nm, [&] {
      gemm<<<dim3(cdiv(q, 16), cdiv(q, 16)), dim3(16, 16)>>>(q, q, q, A.p, B.p,
                                                             C.p);
    });
    SZ(nm, C);
    if (q % 16 == 0) {
      snprintf(nm, 64, "l1dist.%d", q);
      Buf<float> X(rnds<float>(q * 128)), Y(rnds<float>(q * 128)),
          D((size_t)q * q);
      run(nm, [&] {
        l1dist<<<dim3(q / 16, q / 16), dim3(16, 16)>>>(X.p, Y.p, D.p, q, q,
                                                       128);
      });
      SZ(nm, D);
    }
  }
  for (int lg : {16, 18, 20, 22, 24, 26})
    for (int off = 0; off < (lg == 26 || lg == 22 ? 2 : 1); ++off) {
      int n = (1 << lg) - 1;
      char tag[24];
      snprintf(tag, 24, ".%d%s", lg, off ? "+1" : "");
      auto name = [&](const char *s) {
        snprintf(nm, 64, "%s%s", s, tag);
        return nm;
      };
      auto grid = [&](int b) { return (n + b - 1) / b; };
      {
        Buf<float> a(rnds<float>(n + 8)), o(n + 8), b(rnds<float>(n + 8)),
            c(rnds<float>(n + 8));
        run(name("movavg_f3"), [&] {
          movavg<float, 3><<<grid(THREADS), THREADS>>>(a.p + off, o.p + off, n);
        });
        SZ(nm, o);
        run(name("movavg_f12"), [&] {
          movavg<float, 12>
              <<<grid(THREADS), THREADS>>>(a.p + off, o.p + off, n);
        });
        SZ(nm, o);
        run(name("fir_causal"), [&] {
          fir_causal<<<grid(192), 192, (192 + 31) * 4>>>(a.p + off, o.p + off,
                                                         n, 0);
        });
        SZ(nm, o);
        run(name("poly3"), [&] {
          poly3<<<grid(256), 256>>>(a.p + off, b.p + off, c.p + off, o.p + off,
                                    n);
        });
        SZ(nm, o);
        run(name("gs_tiles"),
            [&] { gs_tiles<<<132 * 8, 256>>>(a.p + off, o.p + off, n); });
        SZ(nm, o);
      }
      {
        Buf<double> a(rnds<double>(n + 8)), o(n + 8);
        run(name("second_diff"), [&] {
          second_diff<<<grid(128), 128>>>(a.p + off, o.p + off, n, 4.0);
        });
        SZ(nm, o);
      }
      {
        Buf<unsigned char> a(bytes(n + 8)), o(n + 8);
        run(name("edges"),
            [&] { edges<<<grid(256), 256>>>(a.p + off, o.p + off, n); });
        SZ(nm, o);
      }
      {
        std::vector<float2> h(n + 8);
        for (auto &x : h)
          x = make_float2(rnd() % 64, rnd() % 64);
        Buf<float2> a(h), o(n + 8);
        run(name("cfir"),
            [&] { cfir<<<grid(128), 128>>>(a.p + off, o.p + off, n); });
        SZ(nm, o);
      }
    }
}
