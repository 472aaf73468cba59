// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import * as assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { test } from "node:test";
import { commandLine, defaults, Settings } from "../src/settings";

const at = (changes: Partial<Settings>) => commandLine({ ...defaults, ...changes }, "/ws", "/home/me");

test("nothing set: the server alone", () => {
  assert.deepEqual(at({}), { command: "rcache-lsp", args: [] });
});

test("paths are the workspace's", () => {
  assert.equal(at({ server: "tools/rcache-lsp" }).command, "/ws/tools/rcache-lsp");
  assert.equal(at({ server: "~/bin/rcache-lsp" }).command, "/home/me/bin/rcache-lsp");
  assert.deepEqual(at({ compileCommands: "build" }).args, ["-p", "/ws/build"]);
  assert.deepEqual(at({ compileCommands: "${workspaceFolder}/out" }).args, ["-p", "/ws/out"]);
  assert.deepEqual(at({ cudaPath: "/opt/cuda" }).args, ["--cuda-path=/opt/cuda"]);
});

test("flags stand behind --, last, and win over compile commands", () => {
  const { args } = at({ compileCommands: "build", compileFlags: ["-I${workspaceFolder}/inc", "-DX"], architecture: "sm_80" });
  assert.deepEqual(args, ["--arch=sm_80", "--", "-I/ws/inc", "-DX"]);
});

test("the settings of package.json are those of the program", () => {
  const { properties } = JSON.parse(fs.readFileSync(path.join(__dirname, "../../package.json"), "utf8")).contributes.configuration;
  const named = Object.keys(properties).map((name) => name.replace(/^rcache\./, ""));
  assert.deepEqual(named.filter((name) => name !== "trace.server").sort(), Object.keys(defaults).sort());
  for (const [name, value] of Object.entries(defaults)) assert.deepEqual(properties[`rcache.${name}`].default, value);
});
