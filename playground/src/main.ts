// The page: what is typed is checked, and what was found is shown.
import { Analyzer, type Finding, type Wish } from "./analyzer";
import { Editor } from "./editor";
import { EXAMPLES } from "./examples";
import { Results } from "./results";
import { fromFragment, toFragment } from "./share";
import { theme } from "./theme";

/** How long the text has to rest before it is checked. */
const REST_MS = 250;

function element<T extends HTMLElement>(selector: string): T {
  const found = document.querySelector<T>(selector);
  if (found === null) throw new Error(`the page has no ${selector}`);
  return found;
}

const status = element("#status");
const trouble = element("#trouble");
const example = element<HTMLSelectElement>("#example");
const target = element<HTMLSelectElement>("#target");
const block = element<HTMLInputElement>("#block");

const analyzer = new Analyzer();
const editor = new Editor(element(".editor"), {
  edited: () => later(),
  pointed: (line) => results.reveal(line),
});
const results = new Results(element("#shown"), editor);

let timer = 0;
let loaded = false;

/** Checks when the text rests. */
function later(): void {
  example.value = "";
  results.outdate();
  clearTimeout(timer);
  timer = window.setTimeout(check, REST_MS);
}

const wish = (): Wish => ({ text: editor.text, target: target.value, block: block.value.trim() });

/** A finding without its fix if `--fix` would not make that. */
function confirmed(finding: Finding, repaired: Set<string>): Finding {
  if (finding.fix === null) return finding;
  const [before, after] = editor.preview(finding.fix);
  const is = after.every((line) => before.includes(line) || repaired.has(line));
  return is ? finding : { ...finding, fix: null };
}

async function check(): Promise<void> {
  clearTimeout(timer);
  const asked = wish();
  document.body.dataset.state = "busy";
  status.textContent = loaded ? "Checking …" : "Loading the analyzer …";
  try {
    const checked = await analyzer.check(asked);
    loaded = true;
    // Another check is under way, or will be.
    if (checked === null || asked.text !== editor.text) return;
    const findings = checked.findings.map((it) => confirmed(it, checked.repaired));
    editor.mark(findings);
    status.textContent = results.show({ ...checked, findings });
  } catch (error) {
    status.textContent = `The analyzer cannot be loaded: ${error instanceof Error ? error.message : error}`;
  }
  document.body.dataset.state = "done";
}

/** Takes over what the address says; without anything, the first example. */
async function open(): Promise<void> {
  let shared: Wish | null = null;
  trouble.textContent = "";
  try {
    shared = await fromFragment(location.hash);
  } catch {
    trouble.textContent = "The address holds no text that can be read.";
  }
  trouble.hidden = trouble.textContent === "";
  const known = [...target.options].map((it) => it.value);
  target.value = shared && known.includes(shared.target) ? shared.target : "sm_90";
  block.value = shared?.block ?? "";
  editor.text = shared?.text ?? EXAMPLES[0]?.[1] ?? "";
  if (shared === null) example.value = "0";
  await check();
}

for (const [value, [name]] of EXAMPLES.entries()) example.add(new Option(name, String(value)));
example.add(new Option("Own text", ""));
example.addEventListener("change", () => {
  const { value } = example;
  const text = EXAMPLES[Number(value)]?.[1];
  if (value === "" || text === undefined) return;
  block.value = "";
  editor.text = text;
  example.value = value;
  void check();
});
target.addEventListener("change", () => void check());
block.addEventListener("change", () => void check());

element("#share").addEventListener("click", async () => {
  history.replaceState(null, "", await toFragment(wish()));
  try {
    await navigator.clipboard.writeText(location.href);
    status.textContent = "The link to this text is on the clipboard.";
  } catch {
    status.textContent = "The address of the page is now the link to this text.";
  }
});
addEventListener("hashchange", () => void open());
theme(element("#theme"));
void open();
