#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds resources/sentences.json, the catalogue of what the engine says, to the code.

`sentences.py check SOURCE` fails where a sentence of the code is missing in the catalogue or has
another English there, where the catalogue has one that nobody says, and where a translation lacks
or has another number of places. `sentences.py update SOURCE` writes the code's English into the
catalogue and names what has to be translated.
"""
import json
import pathlib
import re
import sys

LANGUAGES = ["de"]
# What these say stays on the command line, which speaks English.
COMMAND_LINE = ("engine/cli/commands/", "engine/cli/options/", "app/main.cpp", "app/export/headless.cpp")
TEXT = r'"((?:[^"\\]|\\.)*)"'
# message("id", "English" …), OriginPhrase{"id", "English"} and Sentence{"id", "English"}, also with a
# name before the brace.
SAID = re.compile(r'(?<![\w.>])(?:message\(|OriginPhrase\{|Sentence(?:\s+\w+)?\{)\s*' + TEXT + r',\s*((?:' + TEXT + r'\s*)+)')


def text_of(literals):
    return "".join(json.loads('"%s"' % part) for part in re.findall(TEXT, literals))


def sentences_of(root):
    said, faults = {}, []
    for folder in ("engine", "app"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".cpp", ".h") or str(path.relative_to(root)).startswith(COMMAND_LINE):
                continue
            source = path.read_text()
            for match in SAID.finditer(source):
                name, english = match[1], text_of(match[2])
                if said.setdefault(name, english) != english:
                    faults.append(f'{path}: "{name}" says "{english}" here and "{said[name]}" elsewhere')
    return said, faults


def places_of(pattern):
    return len(re.findall(r"\{\d*\}", pattern))


def check(root, catalogue):
    said, faults = sentences_of(root)
    for name, english in said.items():
        if name not in catalogue:
            faults.append(f'"{name}" is not in the catalogue')
        elif catalogue[name]["en"] != english:
            faults.append(f'"{name}": the code says "{english}", the catalogue "{catalogue[name]["en"]}"')
    for name, texts in catalogue.items():
        # "family:key" stands in a table; tests/app/window/texts/sentences_test.cpp looks there.
        if name not in said and ":" not in name:
            faults.append(f'"{name}" is in the catalogue, and nobody says it')
        for language in LANGUAGES:
            if not texts.get(language):
                faults.append(f'"{name}" is not translated: {language}')
            elif places_of(texts[language]) != places_of(texts["en"]):
                faults.append(f'"{name}" has another number of places in {language}')
    return faults


def main():
    verb, root = sys.argv[1], pathlib.Path(sys.argv[2])
    file = root / "resources" / "sentences.json"
    catalogue = json.loads(file.read_text()) if file.exists() else {}
    if verb == "update":
        said, _ = sentences_of(root)
        kept = {name: texts for name, texts in catalogue.items() if ":" in name}
        for name, english in said.items():
            texts = dict(catalogue.get(name, {}))
            if texts.get("en") != english:
                texts = {"en": english}  # what was translated said something else
            kept[name] = texts
        lines = []
        for name in sorted(kept):
            texts = {key: kept[name].get(key, "") for key in ["en", *LANGUAGES]}
            inside = ",\n".join(
                f"    {json.dumps(key)}: {json.dumps(text, ensure_ascii=False)}" for key, text in texts.items())
            lines.append(f"  {json.dumps(name)}: {{\n{inside}\n  }}")
        file.write_text("{\n" + ",\n".join(lines) + "\n}\n")
        catalogue = kept
    faults = check(root, catalogue)
    print("\n".join(faults) if faults else f"{len(catalogue)} sentences")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
