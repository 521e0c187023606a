#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The goals on GPUs as one table in Markdown, from what a call of tests/gpu/run recorded: for each
section its title after "### ", a line of words, and all that its stage printed.

    tests/gpu/goals.py FILE

"met" and "not met" are told of figures that were there; where a stage failed before it told its own,
the goal is not met, where it skipped or was not asked for, not run."""
import re
import sys

KERNELS = r"gpu\."
SHARED = r"cuda\.(?:\S+/)?SharedGpu(?:Failure)?\."
ABOVE, BELOW, AT_MOST = "above", "below", "at most"


def sections_of(lines):
    """Titles with (words, what the stage printed). Of the same title the last counts."""
    sections, title = {}, None
    for line in lines:
        if line.startswith("### "):
            title, words, printed = line[4:].rstrip("\n"), None, []
        elif title is not None:
            if words is None:
                words = line.strip()
            printed.append(line)
            sections[title] = (words, "".join(printed[1:]))
    return sections


def absent(sections, title):
    """Verdict and figure where a section named like `title` told no figure."""
    for name, (words, _) in sections.items():
        if re.match(title, name):
            failed = "FAILED" in words
            return ("not met" if failed else "not run"), words or "it told no figure"
    return "not run", ""


def of_tests(sections, tests):
    words, printed = sections.get("Tests", ("", ""))
    ended = re.findall(rf"^ *\d+/\d+ Test +#\d+: {tests}.*$", printed, re.M)
    if not ended:
        return absent(sections, "Tests")
    passed = sum(" Passed " in line for line in ended)
    figure = f"{passed} of {len(ended)} passed"
    if "did not end" in words:
        return "not met", figure + ", others did not end"
    return ("met" if passed == len(ended) else "not met"), figure


def of_figure(sections, title, pattern, sense, goal):
    """The pattern's `figure` beside the goal; its `of` says more."""
    for name, (words, printed) in sections.items():
        found = re.search(pattern, printed, re.M) if re.match(title, name) else None
        if not found:
            continue
        figure = float(found["figure"])
        met = {ABOVE: figure >= goal, BELOW: figure < goal, AT_MOST: figure <= goal}[sense]
        more = found.groupdict().get("of")
        text = f"{found['figure']} %" + (f", {more}" if more else "")
        if "FAILED" in words:
            text += "; the stage FAILED"
        return ("met" if met else "not met"), text
    return absent(sections, title)


def worst(parts):
    """One verdict and figure of several."""
    verdicts = [verdict for verdict, _ in parts]
    return (next(verdict for verdict in ("not met", "not run", "met") if verdict in verdicts),
            "; ".join(figure for _, figure in parts))


def of_sanitizers(sections):
    parts = []
    for tool in ("memcheck", "racecheck"):
        ran = [words for name, (words, _) in sections.items() if name.startswith(f"compute-sanitizer {tool}")]
        if any("FAILED" in words for words in ran):
            parts.append(("not met", f"{tool} FAILED"))
        elif ran and not any(ran):
            parts.append(("met", f"{tool} clean"))
        else:
            parts.append(("not run", f"{tool}: {next(filter(None, ran), 'not run')}"))
    return worst(parts)


def of_ranks(sections):
    parts = []
    for what in ("stopped", "killed"):
        title = f"The same, rank 1 {what} in mid-run"
        if title not in sections:
            return absent(sections, "Two processes on one GPU")
        took = re.match(r"Rank 0 ended after (\d+) s", sections[title][0])
        verdict, figure = ("met", f"after {took[1]} s") if took else absent(sections, title)
        parts.append((verdict, f"{what}: {figure}"))
    return worst(parts)


TABLE = r"Predictions beside runs.* table {}\b"
GOALS = [
    ("kernels compute what their CPU twins do", lambda s: of_tests(s, KERNELS)),
    ("meshes on a shared GPU train like one rank", lambda s: of_tests(s, SHARED)),
    ("memory that nothing explains < 2 %",
     lambda s: of_figure(s, TABLE.format(3),
                         r"^memory: (?P<of>.*), worst (?P<figure>[\d.]+) %; goal", BELOW, 2)),
    ("compute-sanitizer finds nothing", of_sanitizers),
    ("tokens/s >= PyTorch eager's",
     lambda s: of_figure(s, "Whole steps beside PyTorch",
                         r"^tokens/s beside PyTorch eager: (?P<figure>[\d.]+) % \((?P<of>.*)\)", ABOVE, 100)),
    ("memory-bound kernels >= 80 % of copy",
     lambda s: of_figure(s, "Kernels",
                         r"^Memory-bound kernels: worst (?P<figure>[\d.]+) % of copy, (?P<of>.*)\.$", ABOVE, 80)),
    ("a step waits for the engine < 3 %",
     lambda s: of_figure(s, TABLE.format(4), r"^host: worst (?P<figure>[\d.]+) % of a step", BELOW, 3)),
    ("median error of predictions, one GPU per rank, <= 10 %",
     lambda s: of_figure(s, TABLE.format(1),
                         r"^a GPU for each rank: (?P<of>\d+ Setups), median \|error\| (?P<figure>[\d.]+) %",
                         AT_MOST, 10)),
    ("the same, shared GPU, <= 20 %",
     lambda s: of_figure(s, TABLE.format(2),
                         r"^all ranks on one GPU: (?P<of>\d+ Setups), median \|error\| (?P<figure>[\d.]+) %",
                         AT_MOST, 20)),
    ("a stopped or killed rank is handled in time", of_ranks),
]


def main():
    with open(sys.argv[1], encoding="utf-8", errors="replace") as file:
        sections = sections_of(file)
    print("| goal | figure | |\n|---|---|---|")
    for goal, judge in GOALS:
        verdict, figure = judge(sections)
        figure = figure.replace("**", "").replace("|", "\\|")
        print(f"| {goal} | {figure} | {verdict} |")


if __name__ == "__main__":
    main()
