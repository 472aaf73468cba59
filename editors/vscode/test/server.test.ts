// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The real server at the other end of the protocol library that the extension's
// client is made of: the requests that the extension sends get what it expects.
// RCACHE_BIN names the folder of the programs; without it this is left out.

import * as assert from "node:assert/strict";
import { spawn } from "node:child_process";
import * as path from "node:path";
import { test } from "node:test";
import {
  CodeAction, CodeActionRequest, CodeActionResolveRequest, createProtocolConnection, DidOpenTextDocumentNotification,
  ExitNotification, InitializedNotification, InitializeRequest, ShutdownRequest, StreamMessageReader, StreamMessageWriter,
  WorkDoneProgressCreateRequest,
} from "vscode-languageserver-protocol/node";
import { commandLine, defaults } from "../src/settings";

const bin = process.env.RCACHE_BIN;
const kernel = `__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[128 + 4];
  int g = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x] = in[g];
  if (threadIdx.x < 4)
    s[threadIdx.x + 128] = in[g + 128];
  __syncthreads();
  float sum = 0;
  for (int i = 0; i <= 4; ++i)
    sum += s[threadIdx.x + i];
  out[g] = sum;
}
void run(const float *in, float *out, int n) { k<<<n / 128, 128>>>(in, out, n); }
`;

test("actions, their edits and the page", { skip: bin ? false : "RCACHE_BIN is not set" }, async () => {
  const mock = path.resolve(__dirname, "../../../../test/Inputs/cuda.h");
  const { command, args } = commandLine(
    { ...defaults, server: path.join(bin!, "rcache-lsp"), compileFlags: ["-nocudainc", "-nocudalib", "-include", mock] }, "/", "/");
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const connection = createProtocolConnection(new StreamMessageReader(child.stdout), new StreamMessageWriter(child.stdin));
  connection.onRequest(WorkDoneProgressCreateRequest.type, () => undefined);
  connection.listen();
  const { capabilities } = await connection.sendRequest(InitializeRequest.type, {
    processId: process.pid, rootUri: null,
    capabilities: {
      window: { workDoneProgress: true },
      workspace: { workspaceEdit: { documentChanges: true } },
      textDocument: { codeAction: { dataSupport: true, resolveSupport: { properties: ["edit"] } } },
    },
  });
  assert.deepEqual(capabilities.codeActionProvider, { codeActionKinds: ["refactor.rewrite"], resolveProvider: true });
  await connection.sendNotification(InitializedNotification.type, {});
  const uri = "file:///k.cu";
  await connection.sendNotification(DidOpenTextDocumentNotification.type, {
    textDocument: { uri, languageId: "cuda-cpp", version: 1, text: kernel },
  });
  const at = { line: 0, character: 17 };
  const actions = (await connection.sendRequest(CodeActionRequest.type, {
    textDocument: { uri }, range: { start: at, end: at }, context: { diagnostics: [] },
  })) as CodeAction[];
  assert.equal(actions[0].title, "Rewrite k with the register cache");
  assert.equal(actions[0].edit, undefined);
  const whole = await connection.sendRequest(CodeActionResolveRequest.type, actions[0]);
  assert.match(JSON.stringify(whole.edit), /k_rc_launch/);
  const { html } = await connection.sendRequest<{ html: string }>("rcache/explain", { textDocument: { uri } });
  assert.match(html, /"verdict": "rewritten"/);
  await connection.sendRequest(ShutdownRequest.type);
  await connection.sendNotification(ExitNotification.type);
  assert.equal(await new Promise((done) => child.on("exit", done)), 0);
  connection.dispose();
});
