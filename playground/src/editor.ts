// The text, and the findings marked in it.
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { cpp } from "@codemirror/lang-cpp";
import { bracketMatching, HighlightStyle, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { ChangeSet, EditorState, type Text } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { Finding, Place } from "./analyzer";

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier, tags.controlKeyword], color: "var(--code-keyword)" },
  { tag: [tags.typeName, tags.standard(tags.name)], color: "var(--code-type)" },
  { tag: [tags.number, tags.string, tags.literal], color: "var(--code-literal)" },
  { tag: tags.comment, color: "var(--dim)", fontStyle: "italic" },
  { tag: [tags.processingInstruction, tags.meta], color: "var(--code-keyword)" },
]);

/** Where a line and column are; columns count characters, offsets count as strings do. */
function offset(text: Text, line: number, column: number): number {
  const { from, text: own } = text.line(Math.min(Math.max(line, 1), text.lines));
  return from + [...own].slice(0, column - 1).join("").length;
}

const range = (text: Text, place: Place) => ({
  from: offset(text, place.line, place.column),
  to: offset(text, place.end_line, place.end_column),
});

type Fix = NonNullable<Finding["fix"]>;

const changes = (text: Text, fix: Fix) =>
  fix.edits.map((edit) => ({ ...range(text, edit), insert: edit.replacement }));

export class Editor {
  readonly #view: EditorView;
  /** The text that the findings are about. */
  #checked: Text | undefined;

  /** `edited` is called when the text changes, `pointed` when only the cursor moves, with its line. */
  constructor(parent: HTMLElement, on: { edited(): void; pointed(line: number): void }) {
    const watch = EditorView.updateListener.of((update) => {
      const { doc, selection } = update.state;
      if (update.docChanged) on.edited();
      else if (update.selectionSet) on.pointed(doc.lineAt(selection.main.head).number);
    });
    const extensions = [
      lineNumbers(),
      lintGutter(),
      history(),
      drawSelection(),
      highlightActiveLine(),
      highlightActiveLineGutter(),
      highlightSelectionMatches(),
      bracketMatching(),
      indentUnit.of("  "),
      cpp(),
      syntaxHighlighting(colours),
      EditorView.contentAttributes.of({ "aria-label": "CUDA source" }),
      // Escape, then Tab, leaves the editor.
      keymap.of([...lintKeymap, ...searchKeymap, ...historyKeymap, ...defaultKeymap, indentWithTab]),
      watch,
    ];
    this.#view = new EditorView({ parent, state: EditorState.create({ extensions }) });
  }

  get text(): string {
    return this.#view.state.doc.toString();
  }

  /** Puts another text into its place; the old one can be had back by undoing. */
  set text(text: string) {
    const { doc } = this.#view.state;
    this.#view.dispatch({ changes: { from: 0, to: doc.length, insert: text }, selection: { anchor: 0 } });
  }

  /** Marks the findings; they must be about the text as it is. */
  mark(findings: Finding[]): void {
    const { doc } = this.#view.state;
    this.#checked = doc;
    const marks = findings.map((finding): Diagnostic => {
      const severity = finding.level === "note" ? "info" : finding.level;
      const { fix } = finding;
      const actions = fix ? [{ name: "Apply the fix", apply: () => this.apply(fix) }] : [];
      return { ...range(doc, finding), severity, source: finding.rule, message: finding.message, actions };
    });
    // They have to stand in the order of the text.
    marks.sort((a, b) => a.from - b.from || a.to - b.to);
    this.#view.dispatch(setDiagnostics(this.#view.state, marks));
  }

  /** Makes the edits of a fix, unless the text has changed since it was found. */
  apply(fix: Fix): void {
    const { doc } = this.#view.state;
    if (this.#checked?.eq(doc)) this.#view.dispatch({ changes: changes(doc, fix), userEvent: "input.fix" });
  }

  /** The lines that a fix of the text as it is would change, before and after. */
  preview(fix: Fix): [string[], string[]] {
    const { doc } = this.#view.state;
    const edits = ChangeSet.of(changes(doc, fix), doc.length);
    const places = fix.edits.map((edit) => range(doc, edit));
    const from = doc.lineAt(Math.min(...places.map((it) => it.from))).from;
    const to = doc.lineAt(Math.max(...places.map((it) => it.to))).to;
    const after = edits.apply(doc).sliceString(from, edits.mapPos(to, 1));
    return [doc.sliceString(from, to).split("\n"), after.split("\n")];
  }

  /** Moves the cursor to a line and shows it. */
  go(line: number, column = 1): void {
    const { doc } = this.#view.state;
    const anchor = offset(doc, line, column);
    const effects = EditorView.scrollIntoView(anchor, { y: "center" });
    this.#view.dispatch({ selection: { anchor }, effects });
    this.#view.focus();
  }
}
