// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a user does with the extension, in a workbench of Visual Studio Code that runs
// in Chromium: opens files, reads the messages and follows their links, hovers,
// rewrites a kernel, asks for the page. scripts/test_vscode.sh starts it:
//
//   node drive.mjs URL FOLDER WANTED PICTURES
//
// URL is the server's, FOLDER the workspace with k_stencil.cu and histogram.cu,
// WANTED what the command line makes of the first, PICTURES where screenshots go.

import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { chromium } from "playwright-core";

const [url, folder, wanted, pictures] = process.argv.slice(2);
const begun = Date.now();
const say = (text) => console.log(`${((Date.now() - begun) / 1000).toFixed(0).padStart(4)} s  ${text}`);

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-zygote"],
});
const page = await browser.newPage({ viewport: { width: 1500, height: 900 } });
page.setDefaultTimeout(60_000);
const picture = (name) => page.screenshot({ path: path.join(pictures, name + ".png") });

/** A command of the palette. */
async function command(title) {
  await page.keyboard.press("F1");
  await page.locator(".quick-input-widget input").first().fill(">" + title);
  await page.locator(".quick-input-list .monaco-list-row", { hasText: title }).first().waitFor();
  await page.keyboard.press("Enter");
}

async function open(name) {
  await page.locator(`.explorer-folders-view [aria-label^="${name}"]`).first().dblclick();
  await page.locator(`.tab.active[aria-label^="${name}"]`).waitFor();
}

/** The cursor goes to the first place of a text in the file that is open. */
async function placed(what) {
  const name = (await page.locator(".editor-group-container.active .tab.active").first().getAttribute("data-resource-name")) ?? "";
  const text = fs.readFileSync(path.join(folder, name), "utf8");
  const before = text.slice(0, text.indexOf(what));
  await page.locator(".editor-instance .view-lines").first().click();
  await page.keyboard.press("Control+G");
  const line = before.split("\n").length;
  await page.locator(".quick-input-widget input").first().fill(`:${line}:${before.length - before.lastIndexOf("\n") + 1}`);
  await page.keyboard.press("Enter");
  await page.locator(".statusbar", { hasText: `Ln ${line},` }).waitFor();
}

let failures = 0;
/** One thing that a user does; what comes after is tried all the same. */
async function step(name, what) {
  try {
    await what();
  } catch (error) {
    ++failures;
    say(`${name}: FAILED: ${error.message.split("\n")[0]}`);
    await picture("failed-" + name);
    await page.keyboard.press("Escape");
  }
}

await step("open", async () => {
  await page.goto(`${url}/?folder=${folder}`, { waitUntil: "domcontentloaded" });
  await page.locator(".explorer-folders-view .monaco-list-row").first().waitFor();
  say("the workbench shows the folder");
});

await step("hint", async () => {
  // A kernel that is left as it is: a hint, which the list of problems does not show.
  await open("histogram.cu");
  await page.locator(".editor-instance .squiggly-hint").first().waitFor({ state: "attached" });
  await placed("atomicAdd(&bins");
  await command("Show or Focus Hover");
  const link = page.locator(".monaco-hover:not(.hidden) a", { hasText: "shared-atomics" }).first();
  await link.waitFor();
  const target = await link.evaluate((a) => a.dataset.href ?? a.getAttribute("href") ?? a.title);
  assert.match(target, /declines\/shared-atomics/);
  say(`histogram.cu: a hint with the code shared-atomics, linked to ${target}`);
  await picture("hint");
  await link.click();
  await page.locator('.tab.active[aria-label^="shared-atomics.md"]').waitFor();
  say("the link opens the page");
});

await step("message", async () => {
  await open("k_stencil.cu");
  await page.keyboard.press("Control+Shift+M");
  const problems = page.locator(".markers-panel");
  await problems.getByText("'kStencil' can be rewritten").waitFor();
  say("k_stencil.cu: " + (await problems.getByText("'kStencil' can be rewritten").innerText()));
  await page.keyboard.press("Control+J");
});

await step("hover", async () => {
  await placed("kStencil(");
  await command("Show or Focus Hover");
  const hover = page.locator(".monaco-hover:not(.hidden)", { hasText: "outputs a thread" }).first();
  await hover.waitFor();
  say("hover: " + (await hover.innerText()).split("\n")[0]);
  await picture("hover");
  await page.keyboard.press("Escape");
});

await step("explain", async () => {
  await command("rcache: Explain what was done and why");
  let shown;
  for (let i = 0; i < 120 && !shown; ++i) {
    for (const frame of page.frames())
      if (await frame.locator("#report").count().catch(() => 0)) shown = frame;
    await page.waitForTimeout(500);
  }
  assert.ok(shown, "no page");
  const drawings = await shown.locator("svg").count();
  assert.ok(drawings > 0, "a page without drawings");
  say(`the page beside the file: ${drawings} drawings, "${await shown.locator("h1").first().innerText()}"`);
  await picture("explain");
  await page.keyboard.press("Control+1");
});

await step("action", async () => {
  await placed("kStencil(");
  await page.locator(".editor-instance .contentWidgets .codicon-light-bulb, .editor-instance [class*=lightBulb], .editor-instance [class*=lightbulb], .editor-instance [class*=gutter-lightbulb]").first().waitFor();
  await page.keyboard.press("Control+.");
  const actions = page.locator(".action-widget");
  await actions.waitFor();
  const titles = (await actions.innerText()).split("\n").filter((t) => t.includes("Rewrite"));
  assert.equal(titles.find((t) => t.includes("kStencil")), "Rewrite kStencil with the register cache");
  say("light bulb: " + titles.join(" | "));
  await picture("actions");
  await page.keyboard.press("Enter"); // the first one
  await page.locator(".editor-group-container.active .tab.active.dirty").waitFor();
  await page.keyboard.press("Control+S");
  await page.locator(".editor-group-container.active .tab.active:not(.dirty)").waitFor();
  const saved = () => fs.readFileSync(path.join(folder, "k_stencil.cu"), "utf8");
  for (let i = 0; i < 20 && saved() !== fs.readFileSync(wanted, "utf8"); ++i) await page.waitForTimeout(500);
  assert.equal(saved(), fs.readFileSync(wanted, "utf8"));
  say("rewritten, saved: the text of the command line, byte by byte");
  await picture("rewritten");
});

await step("restart", async () => {
  await command("rcache: Restart the language server");
  await page.waitForTimeout(3000);
  assert.equal(await page.locator(".notifications-toasts .notification-list-item").count(), 0, "a message box");
  say("restarted; no message boxes");
});

await browser.close();
say(failures ? `${failures} steps failed` : "all of it works");
process.exitCode = failures ? 1 : 0;
