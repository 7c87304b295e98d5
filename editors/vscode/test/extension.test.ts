// Does what is packed load, register its commands, and say when there is no program?
//
// VS Code itself is not here. A stand-in answers what the extension asks of it while it starts.

import * as assert from "node:assert/strict";
import Module from "node:module";
import { resolve } from "node:path";
import { test } from "node:test";

/** Something that can be called, made, extended and asked for anything. */
function anything(): unknown {
  class Nothing {}
  const known = new Map<PropertyKey, unknown>();
  return new Proxy(Nothing, {
    get: (target, key) => {
      if (key === "prototype" || key === Symbol.toPrimitive) {
        return Reflect.get(target, key);
      }
      if (!known.has(key)) {
        known.set(key, anything());
      }
      return known.get(key);
    },
    apply: () => undefined,
  });
}

interface Told {
  commands: Map<string, () => unknown>;
  errors: string[];
  opened: string[];
}

/** A stand-in for the module `vscode`, with these settings, whose user answers the first error with `choice`. */
function standIn(settings: Record<string, unknown>, choice: string | undefined, told: Told): object {
  const log = { info() {}, warn() {}, error() {}, show() {}, dispose() {} };
  const known: Record<string, unknown> = {
    window: {
      createOutputChannel: () => log,
      showErrorMessage: async (message: string) => {
        told.errors.push(message);
        return told.errors.length === 1 ? choice : undefined;
      },
    },
    commands: {
      registerCommand: (name: string, work: () => unknown) => {
        told.commands.set(name, work);
        return log;
      },
      executeCommand: async (...words: string[]) => told.opened.push(words.join(" ")),
    },
    workspace: {
      workspaceFolders: undefined,
      onDidChangeConfiguration: () => log,
      getConfiguration: () => ({ get: (key: string, otherwise: unknown) => settings[key] ?? otherwise }),
    },
  };
  const rest = anything() as Record<PropertyKey, unknown>;
  return new Proxy(known, { get: (target, key) => Reflect.get(target, key) ?? rest[key] });
}

interface Extension {
  activate(context: { subscriptions: unknown[] }): Promise<void>;
  deactivate(): Promise<void>;
}

function load(vscode: object): Extension {
  const loader = Module as unknown as { _load: (name: string, ...rest: unknown[]) => unknown };
  const original = loader._load;
  loader._load = (name, ...rest) => (name === "vscode" ? vscode : original(name, ...rest));
  try {
    const bundle = resolve("dist/extension.js");
    delete require.cache[bundle];
    return require(bundle);
  } finally {
    loader._load = original;
  }
}

async function started(path: string, choice?: string): Promise<Told> {
  const told: Told = { commands: new Map(), errors: [], opened: [] };
  const extension = load(standIn({ path }, choice, told));
  await extension.activate({ subscriptions: [] });
  // What the user chose is done after the start.
  await new Promise((resolve) => setImmediate(resolve));
  await extension.deactivate();
  return told;
}

const MISSING =
  "cudalint does not run: `cudalint.path` is `/no/such/program`, which is no program. " +
  "Install it, or set `cudalint.path`.";

test("without a program there is a message, and the commands are there all the same", async () => {
  const told = await started("/no/such/program");
  assert.deepEqual([...told.commands.keys()], ["cudalint.restart", "cudalint.showLog"]);
  assert.deepEqual(told.errors, [MISSING]);
  await told.commands.get("cudalint.restart")?.();
  assert.deepEqual(told.errors, [MISSING, MISSING]);
});

test("the message leads to the setting, or to another try", async () => {
  const told = await started("/no/such/program", "Open Settings");
  assert.deepEqual(told.opened, ["workbench.action.openSettings cudalint.path"]);
  const again = await started("/no/such/program", "Try Again");
  assert.deepEqual(again.errors, [MISSING, MISSING]);
});
