// Does the real server answer the client that the extension is built on?

import * as assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { accessSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import {
  type CodeAction,
  createProtocolConnection,
  type Diagnostic,
  type Hover,
  type InlayHint,
  type Location,
  type ProtocolConnection,
  StreamMessageReader,
  StreamMessageWriter,
} from "vscode-languageserver-protocol/node";
import { serverArguments } from "../src/settings";

const PROGRAM = resolve(process.env.CUDALINT_PROGRAM ?? "../../target/debug/cudalint");

const KERNEL = `__global__ void turn(float* out) {
  __shared__ float tile[32][32];
  tile[threadIdx.y][threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
void run(float* out) { turn<<<1, dim3(32, 32)>>>(out); }
`;

/** A server for one folder that holds one file, and a client of it. */
class Session {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), "cudalint-")));
  readonly uri = pathToFileURL(join(this.folder, "turn.cu")).href;
  readonly server: ChildProcess;
  readonly connection: ProtocolConnection;
  private version = 0;
  private waiting: ((found: Diagnostic[]) => void) | undefined;

  constructor() {
    writeFileSync(join(this.folder, "turn.cu"), KERNEL);
    const settings = {
      levels: { "bank-conflict": "deny" },
      baseline: "",
      extraArguments: [],
      inlayHints: true,
    };
    const args = serverArguments(settings, (message) => assert.fail(message));
    this.server = spawn(PROGRAM, args, { stdio: ["pipe", "pipe", "inherit"] });
    assert.ok(this.server.stdout && this.server.stdin);
    const reader = new StreamMessageReader(this.server.stdout);
    this.connection = createProtocolConnection(reader, new StreamMessageWriter(this.server.stdin));
    this.connection.onNotification("textDocument/publishDiagnostics", (told) => {
      if (told.uri === this.uri && told.version === this.version) {
        this.waiting?.(told.diagnostics);
      }
    });
    this.connection.listen();
  }

  async start(): Promise<void> {
    const folder = { uri: pathToFileURL(this.folder).href, name: "folder" };
    await this.ask("initialize", {
      processId: process.pid,
      rootUri: folder.uri,
      workspaceFolders: [folder],
      capabilities: { textDocument: { hover: { contentFormat: ["markdown"] } } },
    });
    await this.connection.sendNotification("initialized", {});
  }

  ask<T>(method: string, params?: object): Promise<T> {
    return this.connection.sendRequest(method, params);
  }

  /** Shows a text of the file; what is found in it. */
  async show(text: string): Promise<Diagnostic[]> {
    this.version += 1;
    const found = new Promise<Diagnostic[]>((resolve) => {
      this.waiting = resolve;
    });
    const { uri, version } = this;
    await (version === 1
      ? this.connection.sendNotification("textDocument/didOpen", {
          textDocument: { uri, languageId: "cuda-cpp", version, text },
        })
      : this.connection.sendNotification("textDocument/didChange", {
          textDocument: { uri, version },
          contentChanges: [{ text }],
        }));
    return found;
  }

  async end(): Promise<number | null> {
    await this.ask("shutdown");
    const ended = new Promise<number | null>((resolve) => this.server.once("exit", resolve));
    await this.connection.sendNotification("exit");
    const code = await ended;
    this.connection.dispose();
    rmSync(this.folder, { recursive: true });
    return code;
  }
}

test("findings, a repair, a hover, a hint and a definition", { timeout: 120_000 }, async () => {
  accessSync(PROGRAM);
  const session = new Session();
  try {
    await session.start();
    const found = await session.show(KERNEL);
    assert.deepEqual(
      found.map((it) => [it.code, it.severity, it.range.start]),
      [["bank-conflict", 1, { line: 4, character: 21 }]],
    );
    const textDocument = { uri: session.uri };
    const position = { line: 4, character: 24 };
    const hover = await session.ask<Hover>("textDocument/hover", { textDocument, position });
    assert.match(JSON.stringify(hover.contents), /32 wavefronts instead of 1/);
    const all = { start: { line: 0, character: 0 }, end: { line: 9, character: 0 } };
    const hints = await session.ask<InlayHint[]>("textDocument/inlayHint", { textDocument, range: all });
    assert.deepEqual(
      hints.map((it) => it.label),
      ["32-way"],
    );
    const launch = { line: 6, character: 24 };
    const kernels = await session.ask<Location[]>("textDocument/definition", {
      textDocument,
      position: launch,
    });
    assert.deepEqual(
      kernels.map((it) => [it.uri, it.range.start.line]),
      [[session.uri, 0]],
    );
    const actions = await session.ask<CodeAction[]>("textDocument/codeAction", {
      textDocument,
      range: { start: position, end: position },
      context: { diagnostics: found },
    });
    const repair = actions.find((it) => it.isPreferred);
    const edits = repair?.edit?.changes?.[session.uri];
    assert.ok(edits?.length === 1 && edits[0], JSON.stringify(actions));
    const lines = KERNEL.split("\n");
    const { start, end } = edits[0].range;
    const line = lines[start.line] ?? "";
    lines[start.line] = line.slice(0, start.character) + edits[0].newText + line.slice(end.character);
    assert.deepEqual(await session.show(lines.join("\n")), []);
    assert.equal(await session.end(), 0);
  } finally {
    session.server.kill();
  }
});
