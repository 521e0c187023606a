#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every text of the window has its German in the context in which the window asks for it.

Usage: window_texts.py REPOSITORY. It reads tr("...") and translate("context", "...") of app/, the
words of the table of settings, the sentences of published runs and the catalogue. It prints one line
for each text that would stay English, for each entry that is not finished, and for each entry with
two sources (of which the compiler of catalogues drops one).
"""
import json
import pathlib
import re
import sys
import xml.etree.ElementTree as tree

LITERALS = r'((?:u8)?"(?:[^"\\]|\\.)*"(?:\s*"(?:[^"\\]|\\.)*")*)'
TR = re.compile(r'(?:\b(\w+)::)?\btr\(\s*' + LITERALS)
TRANSLATE = re.compile(r'\btranslate\(\s*"(\w+)",\s*' + LITERALS)
DECLARED = re.compile(r'(?:struct|class)\s+(\w+)\s*(?:final)?\s*\{\s*Q_DECLARE_TR_FUNCTIONS\(([\w:]+)\)')
METHOD = re.compile(r'^(?:[A-Za-z].*?\b)??(\w+)::~?\w+\(', re.M)
CLASS = re.compile(r'^(?:class|struct)\s+(\w+)[^;{]*\{', re.M)


def text_of(literals):
    parts = re.findall(r'"((?:[^"\\]|\\.)*)"', literals)
    escapes = {'n': '\n', 't': '\t', '"': '"', '\\': '\\'}
    joined = ''.join(parts)
    joined = re.sub(r'\\u([0-9a-fA-F]{4})', lambda m: chr(int(m[1], 16)), joined)
    return re.sub(r'\\(.)', lambda m: escapes.get(m[1], m[0]), joined)


def texts_of(path, declared):
    """(context, text) of a file. `declared`: contexts of structs that other files declare."""
    source = re.sub(r'^\s*//.*$', '', path.read_text(), flags=re.M)
    contexts = dict(declared)
    contexts.update(DECLARED.findall(source))
    owners = sorted([(m.start(), m[1]) for m in METHOD.finditer(source)] +
                    [(m.start(), m[1]) for m in CLASS.finditer(source)])
    for found in TR.finditer(source):
        name = found[1]
        if name is None:
            before = [owner for start, owner in owners if start <= found.start()]
            if not before:
                continue
            name = before[-1]
        if name == 'QObject':
            context = 'QObject'
        else:
            context = contexts.get(name, 'parallelarium::' + name)
        yield context, text_of(found[2])
    for found in TRANSLATE.finditer(source):
        yield found[1], text_of(found[2])


def words_of_settings(repository):
    """The engine, whose table of settings the window shows, has no tr()."""
    for folder in ('plan/setup', 'plan/model'):
        for path in sorted((repository / 'engine' / folder).glob('*_settings.cpp')):
            for found in re.finditer(r'(?:\.(?:label|text|tip|needs)|row\.needs) =\s*' + LITERALS,
                                     path.read_text()):
                yield path, 'settings', text_of(found[1])


def sentences_of_cases(repository):
    for path in sorted((repository / 'resources/cases').glob('*.json')):
        case = json.loads(path.read_text())
        for text in [case['title'], *case.get('assumed', [])]:
            yield path, 'published', text
        for row in case['rows']:
            if 'impossible' in row:
                yield path, 'published', row['impossible']


def main(repository):
    faults = []
    catalogue = tree.parse(repository / 'app/translations/parallelarium_de.ts').getroot()
    known = set()
    for context in catalogue.iter('context'):
        name = context.findtext('name')
        for message in context.iter('message'):
            sources = message.findall('source')
            if len(sources) != 1:
                faults.append(f'{name}: one entry has {len(sources)} sources: {sources[0].text}')
                continue
            translation = message.find('translation')
            done = translation is not None and translation.get('type') is None
            if not done:
                faults.append(f'{name}: not finished: {sources[0].text}')
            known.add((name, sources[0].text))
    files = sorted((repository / 'app').rglob('*.cpp')) + sorted((repository / 'app').rglob('*.h'))
    declared = {}
    for path in files:
        if path.suffix == '.h':
            declared.update(DECLARED.findall(path.read_text()))
    asked = [(path, context, text) for path in files for context, text in texts_of(path, declared)]
    asked += words_of_settings(repository)
    asked += sentences_of_cases(repository)
    for path, context, text in asked:
        if (context, text) not in known:
            faults.append(f'{path.relative_to(repository)}: no German for “{text}” in {context}')
    for fault in faults:
        print(fault)
    print(f'{len(asked)} texts, {len(faults)} faults')
    return 1 if faults or not asked else 0


if __name__ == '__main__':
    sys.exit(main(pathlib.Path(sys.argv[1])))
