#define RUN(name)                                                              \
  void run_##name(const float *, float *, int);                                \
  static void (*const p_##name)(const float *, float *, int) = run_##name;
RUN(late) RUN(spaced) RUN(both) RUN(expression) RUN(deep)
int main() { return !(p_late && p_spaced && p_both && p_expression && p_deep); }
