import * as assert from "node:assert/strict";
import { test } from "node:test";
import { findProgram, type Surroundings } from "../src/program";

function around(programs: string[], more: Partial<Surroundings> = {}): Surroundings {
  return {
    platform: "linux",
    env: { PATH: "/usr/bin:.:bin::/opt/bin" },
    home: "/home/me",
    folder: "/home/me/project",
    isProgram: (path) => programs.includes(path),
    ...more,
  };
}

test("nothing written means the first program of that name in PATH", () => {
  const programs = ["/opt/bin/cudalint", "/usr/bin/cudalint"];
  assert.deepEqual(findProgram("", around(programs)), { program: "/usr/bin/cudalint" });
  assert.deepEqual(findProgram("  ", around(["/opt/bin/cudalint"])), { program: "/opt/bin/cudalint" });
  assert.deepEqual(findProgram("cudalint-2", around(["/opt/bin/cudalint-2"])), {
    program: "/opt/bin/cudalint-2",
  });
});

test("a folder of PATH that is not absolute is passed over", () => {
  for (const file of ["cudalint", "./cudalint", "bin/cudalint", "/home/me/project/cudalint"]) {
    assert.ok("missing" in findProgram("", around([file])), file);
  }
});

test("a path is taken from the home, the open folder or the root", () => {
  const programs = ["/home/me/bin/cudalint", "/home/me/project/build/cudalint", "/opt/cudalint"];
  const find = (setting: string, more: Partial<Surroundings> = {}) =>
    findProgram(setting, around(programs, more));
  assert.deepEqual(find("~/bin/cudalint"), { program: "/home/me/bin/cudalint" });
  assert.deepEqual(find("build/cudalint"), { program: "/home/me/project/build/cudalint" });
  assert.deepEqual(find("${workspaceFolder}/build/cudalint"), { program: "/home/me/project/build/cudalint" });
  assert.deepEqual(find("/opt/cudalint"), { program: "/opt/cudalint" });
  assert.ok("missing" in find("build/cudalint", { folder: undefined }));
});

test("what is missing is named", () => {
  const told = (setting: string) => {
    const found = findProgram(setting, around([]));
    return "missing" in found ? found.missing : "";
  };
  assert.equal(told(""), "there is no program `cudalint` in the folders of PATH");
  assert.equal(told("/opt/cudalint"), "`cudalint.path` is `/opt/cudalint`, which is no program");
  assert.ok("missing" in findProgram("", around([], { env: {} })));
});

test("Windows separates folders with semicolons, and programs are called .exe", () => {
  const windows = {
    platform: "win32",
    env: { Path: "C:\\Windows;D:\\tools" },
    folder: "C:\\project",
    home: "C:\\Users\\me",
  };
  const find = (setting: string, program: string) => findProgram(setting, around([program], windows));
  assert.deepEqual(find("", "D:\\tools\\cudalint.exe"), { program: "D:\\tools\\cudalint.exe" });
  assert.deepEqual(find("~\\cudalint", "C:\\Users\\me\\cudalint.exe"), {
    program: "C:\\Users\\me\\cudalint.exe",
  });
  assert.deepEqual(find("build/cudalint.exe", "C:\\project\\build\\cudalint.exe"), {
    program: "C:\\project\\build\\cudalint.exe",
  });
  assert.ok("missing" in find("", "D:\\tools\\cudalint"));
});
