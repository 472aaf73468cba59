# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Completion for bash: the options that --help prints, the values that it lists for
# them, else files. Behind `--` stand the compiler's flags: files.
_rcache() {
  local program=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]} option="" i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; ++i)); do
    if [[ ${COMP_WORDS[i]} == -- ]]; then
      mapfile -t COMPREPLY < <(compgen -f -- "$word")
      return
    fi
  done
  local help
  help=$("$program" --help 2>/dev/null)
  # "--option=value" is three words to readline.
  if [[ $word == = ]]; then
    option=${COMP_WORDS[COMP_CWORD - 1]} word=""
  elif [[ ${COMP_WORDS[COMP_CWORD - 1]} == = ]]; then
    option=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  if [[ -n $option ]]; then
    local values
    values=$(sed -n "/^ *$option\\(=\\| \\)/,/^ *-/s/^ *=\\([a-z0-9-]*\\).*/\\1/p" <<<"$help")
    if [[ -n $values ]]; then
      compopt +o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -W "$values" -- "$word")
    else
      mapfile -t COMPREPLY < <(compgen -f -- "$word")
    fi
  elif [[ $word == -* ]]; then
    # As a file's name "--log=" would become "--log\=".
    compopt +o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -W \
      "$(sed -n 's/^ *\(--\{0,1\}[a-z][a-z-]*=\{0,1\}\).*/\1/p' <<<"$help")" -- "$word")
    [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace 2>/dev/null
  else
    local commands=""
    [[ ${program##*/} == rcache-check && COMP_CWORD -eq 1 ]] && commands="run diff"
    mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$word"; compgen -f -- "$word")
  fi
}
complete -o filenames -F _rcache rcache-rewrite rcache-lsp rcache-check
