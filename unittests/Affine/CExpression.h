// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Evaluates a C expression over integer names, so that printed text can be
// compared with what it was printed from: + - * / % >> & < <= == && || ?: ( ).

#ifndef RCACHE_UNITTESTS_AFFINE_CEXPRESSION_H
#define RCACHE_UNITTESTS_AFFINE_CEXPRESSION_H

#include <cctype>
#include <cstdint>
#include <map>
#include <string>

namespace rcache {

class CExpression {
public:
  CExpression(std::string Text, std::map<std::string, int64_t> Names)
      : Text(std::move(Text)), Names(std::move(Names)) {}

  int64_t evaluate() {
    const int64_t V = choice();
    skip();
    Ok &= At == Text.size();
    return V;
  }
  bool ok() const { return Ok; }

private:
  void skip() {
    while (At < Text.size() && Text[At] == ' ')
      ++At;
  }
  bool eat(const std::string &Op) {
    skip();
    if (Text.compare(At, Op.size(), Op) != 0)
      return false;
    // `<` is not the beginning of `<=`, `&` not of `&&`.
    const char Next = At + Op.size() < Text.size() ? Text[At + Op.size()] : 0;
    if (Op.size() == 1 &&
        ((Op[0] == '<' && Next == '=') || (Op[0] == '&' && Next == '&')))
      return false;
    At += Op.size();
    return true;
  }
  int64_t choice() {
    const int64_t C = either();
    if (!eat("?"))
      return C;
    const int64_t A = choice();
    Ok &= eat(":");
    const int64_t B = choice();
    return C ? A : B;
  }
  int64_t either() {
    int64_t V = both();
    while (eat("||")) {
      const int64_t R = both();
      V = V || R;
    }
    return V;
  }
  int64_t both() {
    int64_t V = bits();
    while (eat("&&")) {
      const int64_t R = bits();
      V = V && R;
    }
    return V;
  }
  int64_t bits() {
    int64_t V = equality();
    while (eat("&"))
      V &= equality();
    return V;
  }
  int64_t equality() {
    int64_t V = relation();
    while (eat("=="))
      V = V == relation();
    return V;
  }
  int64_t relation() {
    int64_t V = shift();
    for (;;)
      if (eat("<="))
        V = V <= shift();
      else if (eat("<"))
        V = V < shift();
      else
        return V;
  }
  int64_t shift() {
    int64_t V = sum();
    while (eat(">>"))
      V >>= sum();
    return V;
  }
  int64_t sum() {
    int64_t V = product();
    for (;;)
      if (eat("+"))
        V += product();
      else if (eat("-"))
        V -= product();
      else
        return V;
  }
  int64_t product() {
    int64_t V = unary();
    for (;;)
      if (eat("*"))
        V *= unary();
      else if (eat("/"))
        V /= unary();
      else if (eat("%"))
        V %= unary();
      else
        return V;
  }
  int64_t unary() { return eat("-") ? -unary() : primary(); }
  int64_t primary() {
    if (eat("(")) {
      const int64_t V = choice();
      Ok &= eat(")");
      return V;
    }
    skip();
    std::string Word;
    while (At < Text.size() && (std::isalnum(Text[At]) || Text[At] == '_'))
      Word += Text[At++];
    if (Word == "true" || Word == "false")
      return Word == "true";
    if (!Word.empty() && std::isdigit(Word[0]))
      return std::stoll(Word);
    const auto It = Names.find(Word);
    Ok &= It != Names.end();
    return It == Names.end() ? 1 : It->second;
  }

  std::string Text;
  std::map<std::string, int64_t> Names;
  size_t At = 0;
  bool Ok = true;
};

} // namespace rcache

#endif // RCACHE_UNITTESTS_AFFINE_CEXPRESSION_H
