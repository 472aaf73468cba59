// REQUIRES: cuda-toolkit
// Variables that each host thread has one of, the program's and the library's
// (std::call_once, futures).
// RUN: %check run %s | FileCheck %s
// CHECK: main 1 0 2 begun
// CHECK: other 1 0 2 begun
// CHECK: made 2, gone 1
// CHECK: main 8 5 3 changed
// CHECK: async 12
#include <cstdio>
#include <future>
#include <mutex>
#include <string>
#include <thread>
static int made, gone;
struct Counted {
  int Value;
  Counted() : Value(2) { ++made; }
  ~Counted() { ++gone; }
};
thread_local int one = 1;
static thread_local long zeros[5];
thread_local Counted object;
thread_local std::string text = "begun";
__global__ void add(int *p, int x) { p[threadIdx.x] += x; }
static void show(const char *who) {
  std::printf("%s %d %ld %d %s\n", who, one, zeros[3], object.Value, text.c_str());
}
static int launched(int x) {
  int *p, h = 0;
  cudaMalloc(&p, sizeof(h));
  cudaMemset(p, 0, sizeof(h));
  add<<<1, 1>>>(p, x);
  cudaMemcpy(&h, p, sizeof(h), cudaMemcpyDeviceToHost);
  cudaFree(p);
  return h;
}
int main() {
  show("main");
  one += 7;
  zeros[3] = 5;
  object.Value = 3;
  text = "changed";
  std::thread([] { show("other"); }).join();
  std::printf("made %d, gone %d\n", made, gone);
  show("main");
  std::once_flag once;
  int sum = 0;
  std::call_once(once, [&] { sum = launched(3); });
  auto later = std::async(std::launch::async, launched, 4);
  auto lazy = std::async(std::launch::deferred, launched, 5);
  std::printf("async %d\n", sum + later.get() + lazy.get());
}
