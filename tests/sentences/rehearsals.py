#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A rehearsal is called so: its durations are set, so no text says that it was paced or measured.

Usage: rehearsals.py REPOSITORY. It reads all that people read, in English and German: lessons, the
window's texts, the engine's sentences, the words. Nowhere stand the words of files ("paced"), nor
that somebody sets a pace, which a reader of lessons takes for the same. Where a lesson runs several
ranks, which may be a rehearsal, the step does not say that it measures or how much slower something
is, unless it says "on this computer" of a calibration.
"""
import json
import pathlib
import re
import sys
import xml.etree.ElementTree as tree

PACED = re.compile(r"\b(paced?|pacing|getaktet\w*|Taktung)\b", re.I)
MEASURED = re.compile(r"\b(measur\w*|slower than|gemessen\w*|messen|misst|langsamer als)\b", re.I)
# A value of an option, which a sentence of the command line names.
COMMAND_LINE = {"run-elsewhere"}
# The step that explains the first calibration.
CALIBRATES = {("first-look", "run-it")}


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for of in value.values():
            yield from strings(of)
    elif isinstance(value, list):
        for of in value:
            yield from strings(of)


def without_names(markdown):
    """Ids of steps and options, code and links are no words on the screen."""
    text = re.sub(r"^(#+ )[\w-]+: ", r"\1", markdown, flags=re.M)
    text = re.sub(r"^### (option|feedback|part|rubric) [\w-]+$", "", text, flags=re.M)
    return re.sub(r"`[^`]*`|\]\([^)]*\)", "", text)


def steps_of(markdown):
    parts = re.split(r"^## ([\w-]+):", markdown, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def faults_of(root):
    texts = []
    for path in sorted(root.glob("lessons/*/text.*.md")):
        lesson = json.loads((path.parent / "lesson.json").read_text())
        texts.append((path.relative_to(root), without_names(path.read_text())))
        ranks = lesson.get("requires", {}).get("ranks", 1)
        for step in lesson["steps"]:
            name = (lesson["id"], step["id"])
            if step["kind"] != "run" or ranks < 2 or name in CALIBRATES:
                continue
            if any("collective" in check.get("of", "") for check in step.get("checks", [])):
                continue  # a collective alone is never rehearsed
            found = MEASURED.search(without_names(steps_of(path.read_text())[step["id"]]))
            if found:
                yield f"{path.relative_to(root)}: {step['id']} may be a rehearsal: “{found[0]}”"
    for message in tree.parse(root / "app/translations/parallelarium_de.ts").iter("message"):
        for part in ("source", "translation"):
            texts.append(("window", "".join(message.find(part).itertext())))
    for name, sentence in json.loads((root / "resources/sentences.json").read_text()).items():
        if name not in COMMAND_LINE:
            texts += [(name, text) for text in strings(sentence)]
    for word in json.loads((root / "resources/words.json").read_text())["words"]:
        texts += [(word["id"], text) for key in word if key != "id" for text in strings(word[key])]
    if len(texts) < 5000:
        yield f"only {len(texts)} texts were found"
    for where, text in texts:
        if found := PACED.search(text):
            yield f"{where}: “{found[0]}” in “{text[max(0, found.start() - 40):found.end() + 40]}”"


if __name__ == "__main__":
    found = list(faults_of(pathlib.Path(sys.argv[1])))
    print("\n".join(found + [f"{len(found)} faults"]))
    sys.exit(1 if found else 0)
