#!/usr/bin/env bash
# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installs the packaged extension in a workbench of Visual Studio Code and uses it as a
# user would: messages and their links, hover, light bulb, the page. The workbench is
# code-server's, which npm has, in Chromium.
#
#   scripts/test_vscode.sh FOLDER [PROGRAMS]
#
# FOLDER gets code-server (300 MB, with modules that are compiled: Node 20 and its
# headers, g++, make) when it has none; that needs a network. PROGRAMS (default:
# build/bin) has rcache-lsp and rcache-rewrite. Screenshots are left in FOLDER/pictures.
# Slow, so no part of the tests of every day; what it said last is in
# docs/measurements/vscode.txt.
set -euo pipefail
[[ $# == 1 || $# == 2 ]] || { sed -n 's/^#   scripts/usage: scripts/p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
programs=$(cd "${2:-$here/build/bin}" && pwd)
port=${PORT:-8123}
extension=$here/editors/vscode

if [[ ! -e $folder/installed ]]; then
  cp "$extension/workbench/package.json" "$folder"
  # By hand what its install scripts do, but for what they take from elsewhere than npm.
  (cd "$folder" && npm install --ignore-scripts)
  vscode=$folder/node_modules/code-server/lib/vscode
  (cd "$vscode" && npm install --ignore-scripts --omit=dev)
  # node-pty's last step wants another download, behind what is needed.
  (cd "$vscode" && npm rebuild --foreground-scripts @vscode/spdlog native-watchdog node-pty) || true
  (cd "$vscode" && node -e 'for (const m of ["@vscode/spdlog", "native-watchdog", "node-pty"]) require(m)')
  (cd "$folder/node_modules/argon2" && npx --no-install node-pre-gyp install --build-from-source)
  ln -sfn node_modules "$vscode/node_modules.asar"
  touch "$folder/installed"
fi
[[ -e $extension/node_modules ]] || (cd "$extension" && npm install)
(cd "$extension" && npm run -s package)

rm -rf "$folder/workspace" "$folder/data" "$folder/extensions" "$folder/pictures"
mkdir -p "$folder/workspace" "$folder/data/User" "$folder/pictures"
cp "$here"/examples/{k_stencil.cu,example.h} "$folder/workspace"
grep -v "^// " "$here/docs/declines/after/shared-atomics.cu" >"$folder/workspace/histogram.cu"
"$programs/rcache-rewrite" "$folder/workspace/k_stencil.cu" -q -o "$folder/wanted.cu" --self-check=off
cat >"$folder/data/User/settings.json" <<END
{ "rcache.server": "$programs/rcache-lsp", "rcache.arguments": ["--docs=$here/docs"],
  "workbench.startupEditor": "none", "telemetry.telemetryLevel": "off",
  "security.workspace.trust.enabled": false, "git.enabled": false, "files.autoSave": "off" }
END
cat >"$folder/config.yaml" <<END
bind-addr: 127.0.0.1:$port
auth: none
cert: false
END
server=(node "$folder/node_modules/code-server" --config "$folder/config.yaml" --user-data-dir "$folder/data"
  --extensions-dir "$folder/extensions" --disable-telemetry --disable-update-check)
"${server[@]}" --version | sed 's/^/code-server, its commit, /'
"${server[@]}" --install-extension "$extension/rcache.vsix" --force
"${server[@]}" "$folder/workspace" >"$folder/server.log" 2>&1 &
pid=$!
trap 'kill $pid' EXIT
for _ in {1..60}; do
  curl -fs -o /dev/null "http://127.0.0.1:$port/healthz" && break
  sleep 1
done
cp "$extension/workbench/drive.mjs" "$folder" # finds its modules there
node "$folder/drive.mjs" "http://127.0.0.1:$port" "$folder/workspace" "$folder/wanted.cu" "$folder/pictures"
