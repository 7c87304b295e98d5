// What was found, beside the text: the cards, tables and drawings of the report, made of use here.
import "../../templates/drawings.js";
import type { Checked, Finding, Standing } from "./analyzer";
import type { Editor } from "./editor";

const WORDS = { proved: "proved free of races", found: "race found", undecided: "not decided" };

function make(tag: string, className: string, ...inside: (Node | string)[]): HTMLElement {
  const it = document.createElement(tag);
  it.className = className;
  it.append(...inside);
  return it;
}

/** A text in which what stands between back quotes is code. */
const rich = (text: string) =>
  text.split("`").map((part, at) => (at % 2 === 1 ? make("code", "", part) : part));

/** What stays open when the results change. */
const key = (details: Element) =>
  `${details.closest("[id]")?.id} ${details.classList} ${details.querySelector("summary")?.textContent}`;

/** A link to a line of the text, as the report writes it. */
function toLine(line: number, text: string): HTMLElement {
  const link = make("a", "at", text);
  link.setAttribute("href", `#s1-${line}`);
  return link;
}

function standing(of: Standing): HTMLElement {
  const head = [make("code", "", of.kernel), " ", toLine(of.line, `line ${of.line}`)];
  const block = make("span", "dim", ` block (${of.block.join(", ")}): `);
  const why = [...of.assumptions.map((it) => `assumed: ${it}`), ...of.reasons.map((it) => it.text)];
  const list = make("ul", "dim", ...[...new Set(why)].map((text) => make("li", "", ...rich(text))));
  return make("li", of.races, ...head, block, make("b", "", WORDS[of.races]), ...(why.length ? [list] : []));
}

export class Results {
  #findings: Finding[] = [];

  constructor(
    private readonly shown: HTMLElement,
    private readonly editor: Editor,
  ) {
    shown.addEventListener("click", (event) => this.#follow(event));
  }

  /** Shows what was found in the text that the editor holds, and returns it in one line. */
  show(checked: Checked): string {
    const first = this.shown.childElementCount === 0;
    const open = new Set([...this.shown.querySelectorAll("details[open]")].map(key));
    this.#findings = checked.findings;
    this.shown.replaceChildren();
    if (checked.complaints) this.shown.append(make("pre", "complaints", checked.complaints));
    if (checked.report === null) return "The text could not be checked.";

    const report = new DOMParser().parseFromString(checked.report, "text/html");
    const cards = [...report.querySelectorAll<HTMLElement>(".finding")];
    for (const [at, card] of cards.entries()) {
      const fix = checked.findings[at]?.fix;
      const heads = [...card.querySelectorAll(".words dt")];
      // What the command line calls by its option.
      const head = heads.find((it) => ["--fix", "--unsafe-fixes"].includes(it.textContent));
      if (head && fix) {
        head.textContent = "fix";
        head.nextElementSibling?.append(this.#fix(fix));
      } else if (head) {
        head.nextElementSibling?.remove();
        head.remove();
      }
    }
    this.shown.append(...report.querySelectorAll(".left-out"), ...cards);
    if (checked.standings.length > 0) {
      this.shown.append(make("h2", "", "Races"), make("ul", "standings", ...checked.standings.map(standing)));
    }
    const kernels = report.querySelector("#kernels");
    if (kernels?.querySelector("table")) this.shown.append(kernels);

    for (const details of this.shown.querySelectorAll("details")) details.open = open.has(key(details));
    const drawing = this.shown.querySelector<HTMLDetailsElement>(".shot");
    if (first && drawing) drawing.open = true;
    drawings(this.shown);
    return report.querySelector(".summary")?.textContent ?? "";
  }

  /** Takes away what is not true of the text any more. */
  outdate(): void {
    for (const button of this.shown.querySelectorAll<HTMLButtonElement>(".fix button"))
      button.disabled = true;
  }

  /** Shows the finding of a line, if it has one. */
  reveal(line: number): void {
    const at = this.#findings.findIndex((it) => it.line <= line && line <= it.end_line);
    for (const [number, card] of this.shown.querySelectorAll(".finding").entries()) {
      card.classList.toggle("current", number === at);
      if (number === at) card.scrollIntoView({ block: "nearest" });
    }
  }

  #fix(fix: NonNullable<Finding["fix"]>): HTMLElement {
    const [before, after] = this.editor.preview(fix);
    const lines = [
      ...before.map((line) => make("del", "", line)),
      ...after.map((line) => make("ins", "", line)),
    ];
    const button = make("button", "", "Apply the fix");
    button.setAttribute("type", "button");
    button.addEventListener("click", () => this.editor.apply(fix));
    return make("div", "fix", make("pre", "", ...lines), button);
  }

  /** Links of the report lead to lines of the text, and to what is shown. */
  #follow(event: Event): void {
    const link = event.target instanceof Element ? event.target.closest("a[href^='#']") : null;
    const target = link?.getAttribute("href")?.slice(1);
    if (!target) return;
    // The address holds the shared text.
    event.preventDefault();
    const line = /^s\d+-(\d+)$/.exec(target)?.[1];
    if (line) {
      this.editor.go(Number(line));
      return;
    }
    const shown = document.getElementById(target);
    if (shown instanceof HTMLDetailsElement) shown.open = true;
    shown?.scrollIntoView({ block: "nearest" });
  }
}
