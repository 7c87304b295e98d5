// Which arguments do the user's settings become?

/** The settings that the server's command line depends on, as the user wrote them. */
export interface Settings {
  /** Rules and their levels. */
  levels: Readonly<Record<string, string>>;
  /** A file that lists findings to leave out; empty: none. */
  baseline: string;
  /** More arguments, as they are. */
  extraArguments: readonly string[];
  /** Whether the ways of a bank conflict stand behind the access. */
  inlayHints: boolean;
}

const FLAGS: ReadonlyMap<string, string> = new Map([
  ["allow", "--allow"],
  ["note", "--note"],
  ["warn", "--warn"],
  ["deny", "--deny"],
]);

/** The command line behind the program's name. A level that there is not is told to `complain`. */
export function serverArguments(settings: Settings, complain: (message: string) => void): string[] {
  const list = ["lsp"];
  for (const [rule, level] of Object.entries(settings.levels)) {
    const flag = FLAGS.get(level);
    if (flag === undefined) {
      const known = [...FLAGS.keys()].join(", ");
      complain(`cudalint.levels: "${level}" is no level for ${rule}; levels are ${known}`);
    } else {
      list.push(flag, rule);
    }
  }
  if (settings.baseline !== "") {
    list.push("--baseline", settings.baseline);
  }
  if (settings.inlayHints) {
    list.push("--inlay-hints");
  }
  return [...list, ...settings.extraArguments];
}
