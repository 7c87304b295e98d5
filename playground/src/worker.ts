// Runs the command line on one file in memory, for `analyzer.ts`.
import { File, type Inode, OpenFile, PreopenDirectory, WASI } from "@bjorn3/browser_wasi_shim";

/** What is to be run: each of these with its own arguments, one after the other. */
export interface Order {
  module: WebAssembly.Module;
  /** The file's name and what it holds. */
  name: string;
  text: string;
  runs: string[][];
}

/** How a run ended. */
export interface Ended {
  /** The exit code; `null` when the program crashed. */
  code: number | null;
  stdout: string;
  stderr: string;
  /** The files that it wrote, by name. */
  written: Record<string, string>;
}

const decoder = new TextDecoder();

async function run(order: Order, args: string[]): Promise<Ended> {
  const [stdin, stdout, stderr] = [new File([]), new File([]), new File([])];
  const files = new Map<string, Inode>([[order.name, new File(new TextEncoder().encode(order.text))]]);
  const opened = [stdin, stdout, stderr].map((file) => new OpenFile(file));
  const wasi = new WASI(["cudalint", ...args], [], [...opened, new PreopenDirectory("/", files)], {
    debug: false,
  });
  const instance = await WebAssembly.instantiate(order.module, {
    wasi_snapshot_preview1: wasi.wasiImport as WebAssembly.ModuleImports,
  });
  let code: number | null = null;
  let crash = "";
  try {
    code = wasi.start(instance as Parameters<WASI["start"]>[0]);
  } catch (error) {
    crash = String(error);
  }
  const written: Record<string, string> = {};
  for (const [name, file] of files) {
    if (name !== order.name && file instanceof File) written[name] = decoder.decode(file.data);
  }
  return { code, stdout: decoder.decode(stdout.data), stderr: decoder.decode(stderr.data) + crash, written };
}

addEventListener("message", async (event: MessageEvent<Order>) => {
  const ended: Ended[] = [];
  for (const args of event.data.runs) ended.push(await run(event.data, args));
  postMessage(ended);
});
