// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The server's command line from the settings. Knows nothing of the editor, so that
// it can be tested without one.

import * as path from "path";

export interface Settings {
  server: string;
  compileCommands: string;
  compileFlags: string[];
  architecture: string;
  cudaPath: string;
  assumeNoAlias: boolean;
  allowErrors: boolean;
  arguments: string[];
}

/** What package.json gives where nothing is set. */
export const defaults: Settings = {
  server: "rcache-lsp",
  compileCommands: "",
  compileFlags: [],
  architecture: "",
  cudaPath: "",
  assumeNoAlias: false,
  allowErrors: false,
  arguments: [],
};

export interface CommandLine {
  command: string;
  args: string[];
}

/** `${workspaceFolder}` and a leading `~` as editors have them. */
function expanded(text: string, folder: string, home: string): string {
  const whole = text.replace(/\$\{workspaceFolder\}/g, folder);
  return whole === "~" || whole.startsWith("~/") ? home + whole.slice(1) : whole;
}

/**
 * The server's program and arguments.
 * @param folder the workspace's folder, to which paths of projects are relative
 */
export function commandLine(s: Settings, folder: string, home: string): CommandLine {
  const args: string[] = [];
  const at = (p: string): string => path.resolve(folder, expanded(p, folder, home));
  // Flags and compile commands exclude each other; flags are what is set on purpose.
  if (s.compileCommands && !s.compileFlags.length) args.push("-p", at(s.compileCommands));
  if (s.architecture) args.push(`--arch=${s.architecture}`);
  if (s.cudaPath) args.push(`--cuda-path=${at(s.cudaPath)}`);
  if (s.assumeNoAlias) args.push("--assume-no-alias");
  if (s.allowErrors) args.push("--allow-errors");
  args.push(...s.arguments.map((a) => expanded(a, folder, home)));
  if (s.compileFlags.length) args.push("--", ...s.compileFlags.map((f) => expanded(f, folder, home)));
  const command = expanded(s.server || defaults.server, folder, home);
  return { command: command.includes(path.sep) ? path.resolve(folder, command) : command, args };
}
