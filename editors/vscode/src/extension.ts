// What does VS Code start, stop and show?

import * as fs from "node:fs";
import * as os from "node:os";
import * as vscode from "vscode";
import { type Executable, LanguageClient, type LanguageClientOptions } from "vscode-languageclient/node";
import { type Found, findProgram } from "./program";
import { serverArguments } from "./settings";

/** The files that the server is told of while they are typed. */
const DOCUMENTS = [
  { scheme: "file", language: "cuda-cpp" },
  { scheme: "file", pattern: "**/*.{cu,cuh,hip}" },
  // Headers with kernels or macros of kernels; the server leaves the others alone.
  { scheme: "file", pattern: "**/*.{h,hpp,hh,hxx,inl}" },
  { scheme: "file", pattern: "**/cudalint.toml" },
];

let log: vscode.LogOutputChannel;
let client: LanguageClient | undefined;
/** Starts and stops follow each other, whoever asks for them. */
let turn: Promise<void> = Promise.resolve();

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  log = vscode.window.createOutputChannel("cudalint", { log: true });
  context.subscriptions.push(
    log,
    vscode.commands.registerCommand("cudalint.restart", restart),
    vscode.commands.registerCommand("cudalint.showLog", () => log.show()),
    vscode.workspace.onDidChangeConfiguration((change) => {
      // The client itself listens to the trace.
      if (
        ["path", "levels", "baseline", "extraArguments", "inlayHints"].some((key) => concerns(change, key))
      ) {
        void restart();
      }
    }),
  );
  await restart();
}

export async function deactivate(): Promise<void> {
  await inTurn(stop);
}

function concerns(change: vscode.ConfigurationChangeEvent, key: string): boolean {
  return change.affectsConfiguration(`cudalint.${key}`);
}

function restart(): Promise<void> {
  return inTurn(async () => {
    await stop();
    await start();
  });
}

function inTurn(work: () => Promise<void>): Promise<void> {
  turn = turn.then(work).catch((error: unknown) => log.error(String(error)));
  return turn;
}

async function stop(): Promise<void> {
  const running = client;
  client = undefined;
  await running?.dispose();
}

async function start(): Promise<void> {
  const settings = vscode.workspace.getConfiguration("cudalint");
  const found = program(settings.get("path", ""));
  if ("missing" in found) {
    log.error(found.missing);
    // Who reads it later may still choose; nothing waits for that.
    void tellMissing(found.missing);
    return;
  }
  const args = serverArguments(
    {
      levels: settings.get("levels", {}),
      baseline: settings.get("baseline", ""),
      extraArguments: settings.get("extraArguments", []),
      inlayHints: settings.get("inlayHints", false),
    },
    (message) => {
      log.warn(message);
      void vscode.window.showWarningMessage(message);
    },
  );
  log.info(`starting ${[found.program, ...args].join(" ")}`);
  const server: Executable = { command: found.program, args };
  const options: LanguageClientOptions = { documentSelector: DOCUMENTS, outputChannel: log };
  client = new LanguageClient("cudalint", "cudalint", server, options);
  // Why it did not start is shown by the client.
  await client.start();
}

function program(setting: string): Found {
  return findProgram(setting, {
    platform: process.platform,
    env: process.env,
    home: os.homedir(),
    folder: vscode.workspace.workspaceFolders?.[0]?.uri.fsPath,
    isProgram: (path) => {
      try {
        fs.accessSync(path, fs.constants.X_OK);
        return fs.statSync(path).isFile();
      } catch {
        return false;
      }
    },
  });
}

async function tellMissing(why: string): Promise<void> {
  const [settings, again] = ["Open Settings", "Try Again"];
  const message = `cudalint does not run: ${why}. Install it, or set \`cudalint.path\`.`;
  const chosen = await vscode.window.showErrorMessage(message, settings, again);
  if (chosen === settings) {
    await vscode.commands.executeCommand("workbench.action.openSettings", "cudalint.path");
  } else if (chosen === again) {
    await restart();
  }
}
