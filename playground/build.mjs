// Puts the page together in `dist`: its files, those of the report, and the licences of all that is in them.
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

mkdirSync("dist", { recursive: true });
const { metafile } = await build({
  entryPoints: ["src/main.ts", "src/worker.ts"],
  outdir: "dist",
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  loader: { ".cu": "text" },
  metafile: true,
});
for (const file of ["src/index.html", "src/page.css", "../templates/report.css"]) {
  copyFileSync(file, `dist/${file.replace(/^.*\//, "")}`);
}

const own = ["MIT", "APACHE"].map((name) => readFileSync(`../LICENSE-${name}`, "utf8"));
const inside = Object.keys(metafile.inputs).map(
  (input) => /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(input)?.[0],
);
const folders = [...new Set(inside.filter((folder) => folder !== undefined))].sort();
const theirs = folders.map((folder) => {
  const files = readdirSync(folder).filter((name) => /^licen[cs]e(-\w+)?(\.(md|txt))?$/i.test(name));
  if (files.length === 0 || !existsSync(`${folder}/package.json`)) {
    throw new Error(`${folder} has no licence`);
  }
  const { name, version } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
  const texts = files.map((file) => readFileSync(`${folder}/${file}`, "utf8"));
  return `The page holds ${name} ${version}, under this licence:\n\n${texts.join("\nor\n\n")}`;
});
writeFileSync("dist/LICENSE.txt", [...own, ...theirs].join(`\n${"-".repeat(78)}\n\n`));
