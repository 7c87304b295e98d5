// Makes what is packed and what is tested: bundles in `dist`, and the licences of all that is in them.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const common = { bundle: true, platform: "node", target: "node20", format: "cjs", external: ["vscode"] };

rmSync("dist", { recursive: true, force: true });
const { metafile } = await build({
  ...common,
  entryPoints: ["src/extension.ts"],
  outfile: "dist/extension.js",
  minify: true,
  metafile: true,
});
await build({
  ...common,
  entryPoints: readdirSync("test").map((name) => `test/${name}`),
  outdir: "dist/test",
});

const own = ["MIT", "APACHE"].map((name) => readFileSync(`../../LICENSE-${name}`, "utf8"));
const inside = Object.keys(metafile.inputs).map(
  (input) => /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(input)?.[0],
);
const folders = [...new Set(inside.filter((folder) => folder !== undefined))].sort();
const theirs = folders.map((folder) => {
  const file = readdirSync(folder).find((name) => /^licen[cs]e(\.(md|txt))?$/i.test(name));
  if (file === undefined || !existsSync(`${folder}/package.json`)) {
    throw new Error(`${folder} has no licence`);
  }
  const { name, version } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
  return `It holds ${name} ${version}, under this licence:\n\n${readFileSync(`${folder}/${file}`, "utf8")}`;
});
writeFileSync("LICENSE", [...own, ...theirs].join(`\n${"-".repeat(78)}\n\n`));
