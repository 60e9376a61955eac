#!/bin/sh
# Fills fuzz/corpus/ with seeds from the fixtures. Targets `laws` and `repair` read three bytes before the text: the index of
# the dialect (255 detects it), the framing, and the case or mode.
#
#     fuzz/seed.sh && cargo +nightly fuzz run laws
set -eu
cd "$(dirname "$0")/.."
for target in json laws repair config import tokens; do mkdir -p "fuzz/corpus/$target"; done
find fixtures/dialects -type f \( -name '*.json' -o -name '*.jsonl' \) -size -20k | while read -r file; do
    name=$(echo "$file" | tr '/' '-')
    case "$file" in *.jsonl) framing='\000' ;; *) framing='\002' ;; esac
    head -n 1 "$file" > "fuzz/corpus/json/$name"
    for mode in 000 001 002; do
        { printf "\\377$framing\\$mode"; cat "$file"; } > "fuzz/corpus/laws/$mode-$name"
        cp "fuzz/corpus/laws/$mode-$name" "fuzz/corpus/repair/$mode-$name"
    done
done
cp src/cli/init.toml fuzz/corpus/config/init.toml
find fixtures/run -name '*.toml' | while read -r file; do cp "$file" "fuzz/corpus/config/$(echo "$file" | tr '/' '-')"; done
printf '{"curtail-store":1}\n' > fuzz/corpus/import/empty
for variant in 000 001 002 003 004 005 006 007 010 011 012 013; do
    { printf "\\$variant"; head -c 2000 README.md; } > "fuzz/corpus/tokens/$variant"
done
