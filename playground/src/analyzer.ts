// What does cudalint say of a text? It runs in a worker, so that the page never waits for it.
import type { Ended, Order } from "./worker";

/** Packed, so that its size does not depend on what the server does. */
const FILE = "cudalint.wasm.gzip";
/** The longest run. */
const PATIENCE_MS = 30_000;
const NAME = "kernel.cu";
const REPORT = "report.html";

/** A place in the text: lines and columns count from 1, columns in characters. */
export interface Place {
  line: number;
  column: number;
  end_line: number;
  end_column: number;
}

/** A finding, as far as the page reads it: docs/json.md. */
export interface Finding extends Place {
  rule: string;
  level: "note" | "warning" | "error";
  message: string;
  fix: { edits: (Place & { replacement: string })[] } | null;
}

/** What is known of the races of a kernel: docs/json.md. */
export interface Standing {
  line: number;
  kernel: string;
  block: number[];
  races: "proved" | "found" | "undecided";
  assumptions: string[];
  reasons: { text: string }[];
}

export interface Checked {
  /** In the order of the report's cards. */
  findings: Finding[];
  standings: Standing[];
  /** The lines that `--diff` adds: of the fixes that are safe, and that a second run has confirmed. */
  repaired: Set<string>;
  /** The page that `--format html` writes; `null` if the run failed. */
  report: string | null;
  /** What was said beside that. */
  complaints: string;
}

export interface Wish {
  text: string;
  /** A value of `--target`. */
  target: string;
  /** A value of `--block`, or nothing. */
  block: string;
}

/** Why a run gave no answer. */
type Stopped = "superseded" | "late";

/** The lines that a unified diff adds. */
const added = (diff = "") =>
  diff
    .split("\n")
    .filter((line) => line.startsWith("+") && !line.startsWith("+++ "))
    .map((line) => line.slice(1));

const lines = <T>(text = ""): T[] =>
  text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));

export class Analyzer {
  #module: Promise<WebAssembly.Module> | undefined;
  #worker: Worker | undefined;
  /** Ends the run in progress, with why. */
  #stop: ((why: Stopped) => void) | undefined;

  #load(): Promise<WebAssembly.Module> {
    this.#module ??= (async () => {
      const packed = await fetch(FILE);
      if (!packed.ok || packed.body === null) throw new Error(`${FILE}: ${packed.status}`);
      const body = packed.body.pipeThrough(new DecompressionStream("gzip"));
      const headers = { "content-type": "application/wasm" };
      return WebAssembly.compileStreaming(new Response(body, { headers }));
    })();
    this.#module.catch(() => {
      this.#module = undefined;
    });
    return this.#module;
  }

  /** Runs the program; the run in progress ends without an answer. */
  #run(order: Order): Promise<Ended[] | Stopped> {
    this.#stop?.("superseded");
    const worker = this.#worker ?? new Worker("worker.js", { type: "module" });
    this.#worker = worker;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#stop?.("late"), PATIENCE_MS);
      const finish = () => {
        clearTimeout(timer);
        this.#stop = undefined;
      };
      const end = () => {
        finish();
        worker.terminate();
        this.#worker = undefined;
      };
      this.#stop = (why) => {
        end();
        resolve(why);
      };
      worker.onmessage = (event: MessageEvent<Ended[]>) => {
        finish();
        resolve(event.data);
      };
      worker.onerror = (event) => {
        end();
        reject(new Error(event.message || "the worker does not start"));
      };
      worker.postMessage(order);
    });
  }

  /** Checks the text; `null` if another check took its place. */
  async check(wish: Wish): Promise<Checked | null> {
    const module = await this.#load();
    const common = ["-q", "--target", wish.target, ...(wish.block ? ["--block", wish.block] : []), NAME];
    const check = ["check", "--sort", "cost", "--format", "json", "--format", `html=${REPORT}`, ...common];
    const races = ["accesses", "--races", "--format", "json", ...common];
    const diff = ["check", "--diff", ...common];
    const ended = await this.#run({ module, name: NAME, text: wish.text, runs: [check, races, diff] });
    if (ended === "superseded") return null;
    if (ended === "late") {
      const complaints = `This takes longer than ${PATIENCE_MS / 1000} seconds, and was stopped.`;
      return { findings: [], standings: [], repaired: new Set(), report: null, complaints };
    }
    const [checked, standing, fixed] = ended;
    const worked = (run: Ended | undefined) => run?.code === 0 || run?.code === 1;
    return {
      findings: worked(checked) ? lines(checked?.stdout) : [],
      standings: worked(standing) ? lines(standing?.stdout) : [],
      repaired: new Set(worked(fixed) ? added(fixed?.stdout) : []),
      report: worked(checked) ? (checked?.written[REPORT] ?? null) : null,
      complaints: checked?.stderr.trim() ?? "",
    };
  }
}
