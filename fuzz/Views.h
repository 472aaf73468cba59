// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Structs with pointers, passed by value: how a kernel gets its buffers and how
// it reaches an element of one. Buffers are added, then the way they are passed
// is chosen, then elements are read and written by index.

#ifndef RCACHE_FUZZ_VIEWS_H
#define RCACHE_FUZZ_VIEWS_H

#include "Grammar.h"
#include <set>

namespace rcache::fuzz {

class Views {
public:
  Views(Choices &C, KernelText &K, const std::string &Type)
      : C(C), K(K), Type(Type) {}

  /// \p Count elements, in the launch's variables. \p Of: they are those of
  /// that buffer, of which this is a second view.
  void add(const std::string &Name, bool Write, const std::string &Count,
           const std::string &Of = "");
  /// Chooses how all buffers and `int n` are passed; fills what the kernel's
  /// text has of it.
  void pass();
  /// All of them as pointers, and \p NType n.
  void passPlain(const std::string &NType);
  /// Perhaps a view of a shared array, which load() and storePattern() know by
  /// its name.
  bool shared(const std::string &Array, const std::string &Elements);
  /// An expression of an element's value. \p Base: a part of the index that is
  /// the same for the block; `$B + $I` is the index then.
  std::string load(const std::string &Where, const std::string &Name,
                   const std::string &Base, const std::string &Index);
  /// A statement with `@I` and `@V` in it (Names.h), index and value.
  std::string storePattern(const std::string &Where, const std::string &Name);
  /// Helpers take the view of \p Name: its type, or "" when there is none.
  std::string typeOf(const std::string &Name) const;
  /// The same reads, within a helper whose parameter \p As is the view of \p
  /// Name.
  void rename(const std::string &Name, const std::string &As);
  /// The expression that is the view of \p Name.
  std::string viewOf(const std::string &Name) const;

  std::string N = "n"; ///< the number of elements
  std::string Top;     ///< declarations at the top of the kernel
  std::string Params;  ///< of the kernel
  /// Types and functions in front of the kernel, once everything was asked for.
  std::string before() const;
  std::vector<std::string> Used; ///< forms that the kernel has

private:
  struct Buffer {
    std::string Name, Of, View; ///< View: an expression, "" for a plain pointer
    bool Write = false;
  };
  Choices &C;
  KernelText &K;
  std::string Type, Data = "p", Size = "n", Int = "int";
  std::vector<Buffer> Buffers;
  std::set<std::string> Methods; ///< that somebody calls
  std::string Outer;             ///< the struct of all views
  bool Template = false, Restrict = false, Offset = false, Constructor = false,
       Plain = false;
  unsigned Subs = 0;

  Buffer &buffer(const std::string &Name);
  const Buffer &buffer(const std::string &Name) const;
  std::string type(bool Write) const;
  std::string made(const Buffer &B, const std::string &Pointer,
                   const std::string &N) const;
  void structForm();
  void each(bool SomePlain);
  void nested();
  void insideKernel();
  void hostValue(const std::string &Type, const std::string &Name,
                 const std::string &Value);
  std::string sub(const Buffer &B, const std::string &Base);
  std::string methods() const;
  std::string functions() const;
};

/// A tiled product of matrices that are structs with a pointer.
KernelText matrixKernel(Choices &C, const std::string &Name);

} // namespace rcache::fuzz

#endif // RCACHE_FUZZ_VIEWS_H
