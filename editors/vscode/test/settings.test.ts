import * as assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { type Settings, serverArguments } from "../src/settings";

const NOTHING: Settings = { levels: {}, baseline: "", extraArguments: [], inlayHints: false };

function complaint(message: string): void {
  assert.fail(message);
}

test("without settings the server is started as it is", () => {
  assert.deepEqual(serverArguments(NOTHING, complaint), ["lsp"]);
});

test("each setting becomes its arguments, and the user's own come last", () => {
  const settings: Settings = {
    levels: { "bank-conflict": "deny", all: "note" },
    baseline: "known findings.txt",
    extraArguments: ["--threads", "2"],
    inlayHints: true,
  };
  assert.deepEqual(serverArguments(settings, complaint), [
    ...["lsp", "--deny", "bank-conflict", "--note", "all"],
    ...["--baseline", "known findings.txt", "--inlay-hints", "--threads", "2"],
  ]);
});

test("a level that there is not is told and left out", () => {
  const told: string[] = [];
  const settings = { ...NOTHING, levels: { "bank-conflict": "error", "missing-barrier": "warn" } };
  const list = serverArguments(settings, (message) => told.push(message));
  assert.deepEqual(list, ["lsp", "--warn", "missing-barrier"]);
  assert.deepEqual(told, [
    'cudalint.levels: "error" is no level for bank-conflict; levels are allow, note, warn, deny',
  ]);
});

test("the manifest offers what the extension reads, and nothing else", () => {
  const manifest = JSON.parse(readFileSync("package.json", "utf8"));
  const source = readFileSync("src/extension.ts", "utf8");
  const read = [...source.matchAll(/settings\.get\("(\w+)"/g)].map((match) => `cudalint.${match[1]}`);
  // The client itself reads how much it is to trace.
  const offered = Object.keys(manifest.contributes.configuration.properties);
  assert.deepEqual(offered.sort(), [...read, "cudalint.trace.server"].sort());
  const commands = [...source.matchAll(/registerCommand\("([\w.]+)"/g)].map((match) => match[1]);
  assert.deepEqual(
    manifest.contributes.commands.map((it: { command: string }) => it.command),
    commands,
  );
});
