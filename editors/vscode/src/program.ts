// Where is the program that serves the editor?
//
// | `cudalint.path` | means |
// |---|---|
// | nothing | `cudalint` in one of the folders of PATH |
// | `cudalint-1.2` | that name in one of the folders of PATH |
// | `~/bin/cudalint` | below the user's home |
// | `build/cudalint`, `${workspaceFolder}/build/cudalint` | below the first open folder |
// | `/opt/cudalint` | that file |
//
// Nothing is ever downloaded, and a folder of PATH that is not absolute is passed over, so that an open folder
// cannot bring its own program.

import * as path from "node:path";

/** What the answer depends on beside the setting. */
export interface Surroundings {
  /** `process.platform`. */
  platform: string;
  /** The environment. */
  env: Readonly<Record<string, string | undefined>>;
  /** The user's home. */
  home: string;
  /** The first open folder, if there is one. */
  folder: string | undefined;
  /** Whether a path leads to a file that may be run. */
  isProgram: (path: string) => boolean;
}

/** The program's path, or why there is none. */
export type Found = { program: string } | { missing: string };

/** Finds the program that the setting `cudalint.path` means. */
export function findProgram(setting: string, around: Surroundings): Found {
  const paths = around.platform === "win32" ? path.win32 : path.posix;
  const written = setting.trim() === "" ? "cudalint" : setting.trim();
  if (!/[/\\]/.test(written)) {
    const found = inPath(written, around, paths);
    if (found !== undefined) {
      return { program: found };
    }
    return { missing: `there is no program \`${written}\` in the folders of PATH` };
  }
  const whole = expanded(written, around, paths);
  const found = whole === undefined ? undefined : names(whole, around).find(around.isProgram);
  return found === undefined
    ? { missing: `\`cudalint.path\` is \`${written}\`, which is no program` }
    : { program: found };
}

function inPath(name: string, around: Surroundings, paths: path.PlatformPath): string | undefined {
  const key = Object.keys(around.env).find((key) => key.toUpperCase() === "PATH");
  const folders = (key === undefined ? "" : (around.env[key] ?? "")).split(paths.delimiter);
  const all = folders.filter((folder) => paths.isAbsolute(folder)).map((folder) => paths.join(folder, name));
  return all.flatMap((file) => names(file, around)).find(around.isProgram);
}

function expanded(written: string, around: Surroundings, paths: path.PlatformPath): string | undefined {
  if (/^~[/\\]/.test(written)) {
    return paths.join(around.home, written.slice(2));
  }
  const below = written.replace(/^\$\{workspaceFolder\}[/\\]/, "");
  if (paths.isAbsolute(below)) {
    return below;
  }
  return around.folder === undefined ? undefined : paths.join(around.folder, below);
}

/** What the file may be called: Windows lets `.exe` be left out. */
function names(file: string, around: Surroundings): string[] {
  return around.platform === "win32" && !/\.exe$/i.test(file) ? [`${file}.exe`] : [file];
}
