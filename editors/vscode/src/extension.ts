// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Starts the language server and shows the page of --explain. All else is the
// protocol's: diagnostics, hovers, code actions.

import * as os from "os";
import * as vscode from "vscode";
import { LanguageClient, LanguageClientOptions, ServerOptions } from "vscode-languageclient/node";
import { commandLine, defaults, Settings } from "./settings";

let client: LanguageClient | undefined;
const pages = new Map<string, vscode.WebviewPanel>();

function settings(): Settings {
  const section = vscode.workspace.getConfiguration("rcache");
  const values = { ...defaults };
  for (const name of Object.keys(defaults) as (keyof Settings)[])
    Object.assign(values, { [name]: section.get(name, defaults[name]) });
  return values;
}

async function start(): Promise<void> {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? os.homedir();
  const { command, args } = commandLine(settings(), folder, os.homedir());
  // Without a transport: standard streams, and no option that says so.
  const server: ServerOptions = { command, args, options: { cwd: folder } };
  const options: LanguageClientOptions = {
    documentSelector: [
      { scheme: "file", language: "cuda-cpp" },
      { scheme: "file", language: "cuda" },
      { scheme: "file", pattern: "**/*.{cu,cuh}" },
    ],
    diagnosticCollectionName: "rcache",
    synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher("**/compile_commands.json") },
  };
  client = new LanguageClient("rcache", "rcache", server, options);
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    const choice = await vscode.window.showErrorMessage(
      `The language server '${command}' could not be started: ${error instanceof Error ? error.message : error}`,
      "Open settings",
    );
    if (choice) await vscode.commands.executeCommand("workbench.action.openSettings", "rcache.server");
  }
}

async function restart(): Promise<void> {
  await client?.stop();
  await start();
}

/** The page for the file in the editor, beside it; once more for a file: anew. */
async function explain(): Promise<void> {
  const document = vscode.window.activeTextEditor?.document;
  if (!document || !client) {
    void vscode.window.showInformationMessage(
      client ? "Open a CUDA file first." : "The language server of rcache does not run.",
    );
    return;
  }
  const uri = client.code2ProtocolConverter.asUri(document.uri);
  try {
    const { html } = await vscode.window.withProgress(
      { location: vscode.ProgressLocation.Window, title: "rcache: explaining" },
      () => client!.sendRequest<{ html: string }>("rcache/explain", { textDocument: { uri } }),
    );
    let panel = pages.get(uri);
    if (!panel) {
      const made = vscode.window.createWebviewPanel(
        "rcache.explain",
        `rcache: ${document.uri.path.split("/").pop()}`,
        { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true },
        { enableScripts: true, enableFindWidget: true, localResourceRoots: [] },
      );
      made.onDidDispose(() => pages.delete(uri));
      pages.set(uri, made);
      panel = made;
    }
    panel.webview.html = html;
    panel.reveal(undefined, true);
  } catch (error) {
    void vscode.window.showWarningMessage(`rcache: ${error instanceof Error ? error.message : error}`);
  }
}

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  context.subscriptions.push(
    vscode.commands.registerCommand("rcache.explain", explain),
    vscode.commands.registerCommand("rcache.restart", restart),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("rcache") && !change.affectsConfiguration("rcache.trace")) void restart();
    }),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}
