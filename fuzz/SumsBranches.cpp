// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See SumsBranches.h.

#include "SumsBranches.h"
#include "Grammar.h"

namespace rcache::fuzz {

namespace {

class Branches {
public:
  Branches(const SumsWords &W, const std::string &X) : W(W), C(W.C), X(X) {}

  std::string run(std::string &Form) {
    static const char *const Forms[] = {"branch between a product and its sum",
                                        "several sums of a product",
                                        "products selected by conditions",
                                        "early return in a sum",
                                        "flag as a factor",
                                        "doubled value beside a product",
                                        "sum of products or a staged element"};
    const unsigned F = C.weighted("branches", {20, 20, 15, 14, 12, 10, 9});
    Form = Forms[F];
    switch (F) {
    case 1:
      return severalSums();
    case 2:
      return selected();
    case 3:
      return earlyReturn();
    case 4:
      return flag();
    case 5:
      return doubled();
    case 6:
      return eitherOne();
    default:
      return between();
    }
  }

private:
  const SumsWords &W;
  Choices &C;
  std::string X;

  std::string product(const std::string &Where) const {
    Choices::Scope S(C, Where);
    return (C.chance("read", 75) ? W.Read("l") : W.Leaf("l")) + " * " +
           W.Leaf("r");
  }

  std::string condition(const std::string &Where) const {
    Choices::Scope S(C, Where);
    static const char *const Conds[] = {
        "$r > $v",          "t > 3",     "c[g] > $v",        "g % 3 == 1",
        "$r > $v && t > 5", "!($r > w)", "$r > $v || $q < w"};
    return sub(
        Conds[C.weighted("condition", {32, 12, 14, 8, 14, 10, 10})],
        {{"r", W.Read("of")}, {"q", W.Read("or")}, {"v", W.Literal("limit")}});
  }

  /// \p Text with `$T`, `$X`, `$p...` (products), `$c...` (conditions), `$s...`
  /// (staged), `$l...` (leaves), `$n...` (numbers) filled in, each by its name.
  std::string filled(std::string Text) const {
    Text = sub(Text, {{"T", W.T},
                      {"X", X},
                      {"X_p", X + "p"},
                      {"X_q", X + "q"},
                      {"X_y", X + "y"},
                      {"X_f", X + "f"},
                      {"X_b", X + "b"},
                      {"early", "early_" + X + "_" + W.Kernel}});
    for (const char *Kind : {"p", "c", "s", "l", "n"})
      for (const char *Which : {"1", "2", "3"}) {
        const std::string Key = std::string(Kind) + Which;
        if (Text.find("$" + Key) == std::string::npos)
          continue;
        const std::string V = *Kind == 'p'   ? product(Key)
                              : *Kind == 'c' ? condition(Key)
                              : *Kind == 's' ? W.Read(Key)
                              : *Kind == 'l' ? W.Leaf(Key)
                                             : W.Literal(Key);
        Text = sub(Text, {{Key, V}});
      }
    return Text;
  }

  std::string one(const std::string &Where,
                  std::initializer_list<const char *> Of) const {
    const auto N = static_cast<unsigned>(Of.size());
    const std::string Form = *(Of.begin() + C.pick(Where, N));
    return filled(C.chance("braces", 8) ? withBraces(Form) : Form);
  }

  /// Declarations of one number, `$T $X = $p1;`, in braces: `$T $X{$p1};`.
  static std::string withBraces(llvm::StringRef Form) {
    std::string Out;
    while (!Form.empty()) {
      auto [Line, Rest] = Form.split('\n');
      Form = Rest;
      const auto [Name, Value] = Line.split(" = ");
      const bool Declares = (Line.starts_with("$T ") || Line.starts_with("const $T ")) &&
                            !Value.empty() && !Line.contains(", $X");
      Out += Declares ? (Name + "{" + Value.drop_back() + "};\n").str() : (Line + "\n").str();
    }
    return Out;
  }

  std::string between() const {
    return one(
        "between",
        {"const $T $X_p = $p1;\n$T $X_y = $l1;\nif ($c1)\n$X_y = $s1;\n$T $X = "
         "$X_p + $X_y;\n",
         "$T $X = $p1;\nif ($c1)\n$X = $X + $l1;\nelse\n$X = $X - $s1;\n",
         "const $T $X_p = $p1;\n$T $X_y = $s1;\nif ($c1) {\n$X_y = $X_y - "
         "$l1;\nif ($c2)\n$X_y = $s2;\n}\n"
         "$T $X = $X_y - $X_p;\n",
         "const $T $X_p = $p1;\nbool $X_b = $c1;\n$T $X = $l1;\nif ($X_b)\n$X "
         "+= $X_p;\n"});
  }

  std::string severalSums() const {
    return one("several", {"const $T $X_p = $p1;\n$T $X = $X_p + $l1;\nif "
                           "($c1)\n$X = $X_p - $s1;\n",
                           "const $T $X_p = $p1;\n$T $X = $c1 ? $X_p + $l1 : "
                           "$l2;\n$X = $X - ($X_p + $s1);\n",
                           "const $T $X_p = $p1;\n$T $X = $n1;\nif ($c1)\n$X = "
                           "$X_p + $l1;\nif ($c2)\n$X = $s1 - $X_p;\n",
                           "const $T $X_p = $p1;\n$T $X = $s1;\nif ($c1 && "
                           "$X_p + $l1 > $n1)\n$X = $X_p + $s2;\n",
                           "const $T $X_p = $p1;\n$T $X = $X_p + $s1;\n$X = "
                           "$X_p + $l1 > $n1 ? $X : $X - $X_p;\n"});
  }

  std::string selected() const {
    return one("selected", {"const $T $X_p = $p1;\n$T $X = $c1 ? $X_p + $l1 : "
                            "$s1;\n$X = $c2 ? $X : $X_p - $l2;\n",
                            "$T $X = $c1 ? $p1 : $p2;\n$X = $X + $l1;\n",
                            "$T $X = $c1?$l2:$s1;\n$X = $X + $p1;\n",
                            "$T $X = $l1 + ($c1 ? $p1 : $s1);\n",
                            "const $T $X_p = $p1, $X_q = $p2;\n$T $X = ($c1 ? "
                            "$X_p : $X_q) - ($c2 ? $X_q : $l1);\n"});
  }

  std::string earlyReturn() const {
    static const char *const Functions[] = {
        "__device__ $T $early($T x, $T y, $T z) {\nif (x > z)\nreturn "
        "y;\nreturn x * y + z;\n}\n",
        "__device__ $T $early($T x, $T y, $T z) {\nconst $T p = x * y;\nif (z "
        "> $n1)\nreturn p;\nreturn p - z;\n}\n",
        "__device__ $T $early($T x, $T y, $T z) {\n$T r = x * y;\nif (y > $n1) "
        "{\nr = r + z;\nif (z > "
        "x)\nreturn r;\n}\nreturn r - y;\n}\n",
        "__device__ $T $early($T p, $T y, $T z) {\nif (y > z)\nreturn p + "
        "y;\nreturn z;\n}\n"};
    const unsigned F = C.pick("function", 4);
    W.Helpers += filled(Functions[F]);
    return filled(F == 3 ? "$T $X = $early($p1, $s1, $l1);\n"
                  : C.chance("sum", 50)
                      ? "$T $X = $early($s1, $l1, $l2) + $p2;\n"
                      : "$T $X = $early($s1, $l1, $s2);\n");
  }

  std::string flag() const {
    if (W.Half || C.chance("value", 60))
      return one(
          "flag",
          {"$T $X_f = $n1;\nif ($c1) {\nif ($c2)\n$X_f = $n2;\n}\n$T $X = $X_f "
           "* $s1 + $l1;\n",
           "$T $X_f = $n1;\nif ($c1)\n$X_f = $n2;\n$T $X = $l1 - $X_f * $s1;\n",
           "$T $X_f = $n1, $X_y = $l1;\nif ($c1) {\n$X_y = $s1;\nif "
           "($c2)\n$X_f = $n2;\n}\n$T $X = $X_f * "
           "$X_y + $l2;\n"});
    return one("flag", {"int $X_f = 0;\nif ($c1) {\nif ($c2)\n$X_f = 1;\n}\n$T "
                        "$X = $X_f * $s1 + $l1;\n",
                        "bool $X_f = false;\nif ($c1)\nif ($c2)\n$X_f = "
                        "true;\n$T $X = ($T)$X_f * $s1 - $l1;\n"});
  }

  std::string doubled() const {
    const std::string Two = W.Half           ? "__half(2.0f)"
                            : W.T == "float" ? "2.f"
                                             : "2.0";
    const std::string Text =
        one("doubled",
            {"const $T $X_y = $s1;\n$T $X = ($X_y + $X_y) - $p1;\n",
             "const $T $X_y = $p1;\n$T $X = $X_y + $X_y + $l1;\n",
             "$T $X = $2 * $s1 + $p1;\n", "$T $X = $p1 - $2 * ($s1 - $l1);\n",
             "const $T $X_y = $p1 + $l1;\n$T $X = $2 * $X_y - $s1;\n",
             "$T $X = $p1;\n$X = $X + $X;\n$X = $X - $p2;\n"});
    return sub(Text, {{"2", Two}});
  }

  std::string eitherOne() const {
    return one(
        "either",
        {"const $T $X_y = $p1 + $p2;\n$T $X = $c1 ? $X_y : $s1;\n",
         "const $T $X_y = $p1 - $p2;\n$T $X = $c1 ? $s1 : $X_y;\n$X = $X + "
         "$X_y;\n",
         "$T $X = $p1 + $p2;\nif ($c1)\n$X = $s1;\n$X = $X * $l1 + $s2;\n"});
  }
};

} // namespace

std::string branchedSum(const SumsWords &W, const std::string &X,
                        std::string &Form) {
  return Branches(W, X).run(Form);
}

} // namespace rcache::fuzz
