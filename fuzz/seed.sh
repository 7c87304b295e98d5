#!/usr/bin/env bash
# Fills fuzz/corpus with what each target starts from: the fixtures, the documents' examples, tables.
set -euo pipefail
cd "$(dirname "$0")/.."

into() {
    mkdir -p "fuzz/corpus/$1"
    cat >"fuzz/corpus/$1/$2"
}

# A fixture, and behind it the headers that it includes from its own folder.
bundle() {
    local file=$1 folder header
    folder=$(dirname "$file")
    cat "$file"
    sed -n 's/^ *# *include *"\([^"]*\)".*/\1/p' "$file" | sort -u | while read -r header; do
        if [ -f "$folder/$header" ]; then
            printf '\n//@@ %s\n' "$header"
            cat "$folder/$header"
        fi
    done
}

find fixtures -name '*.cu' | sort | while read -r file; do
    name=$(tr / - <<<"${file#fixtures/}")
    for target in expand lower analyze; do
        bundle "$file" | into "$target" "$name"
    done
    # Half of a kernel is where a reader of tokens goes wrong.
    head -c $(($(wc -c <"$file") / 2)) "$file" | into analyze "half-$name"
    if grep -q 'cudalint:' "$file"; then into comments "$name" <"$file"; fi
done
grep -h 'cudalint:' -r docs README.md | into comments documents

into config template.toml <src/config/template.toml
sed 's/^# *//' src/config/template.toml | into config uncommented.toml
awk '/^```toml/ { on = 1; next } /^```/ { on = 0 } on' docs/configuration.md | into config document.toml
into config globs.toml <<'TOML'
exclude = ["a/**/b", "!c", "[a-z]*.cu", "{x,y}", "\\#", "/"]
[[paths]]
files = ["**", "*.cu"]
levels = { all = "allow" }
TOML

into commands one.json <<'JSON'
[{"directory": "/home", "file": "a.cu", "command": "nvcc -Iinc -isystem 'x y' -DA=1 -D B -arch=sm_80 -gencode arch=compute_90,code=sm_90 -c a.cu"},
 {"directory": "/home", "file": "b.cu", "arguments": ["clang++", "--cuda-gpu-arch=sm_70", "-I", "..", "-DX"]}]
JSON
into baseline one.json <<'JSON'
{"fingerprints": "cudalint/v1", "findings": [{"fingerprint": "0011223344556677", "rule": "bank-conflict", "file": "a.cu", "line": 3}]}
JSON
for table in fixtures/hardware/requests-*.csv; do
    for rows in 2 20; do
        head -n "$rows" "$table" | into requests "$rows-$(basename "$table")"
    done
done
