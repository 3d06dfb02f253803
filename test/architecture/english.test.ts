// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import ts from 'typescript';
import { isType, parseFile } from './syntax.ts';

/**
 * Counts of habits that plain English does without. Each may only fall: write the lower number
 * here.
 */
const MAX: Readonly<Record<string, number>> = {
  'words of the list as identifiers': 0,
  'exports in which, what, who or why': 0,
  'names of more than 30 characters': 2,
  'comment lines of more than 100 columns': 0,
  'comments that start as a clause': 95,
  'comments that start with a preposition': 13,
  'comments without an actor': 1,
  'comments of asking and telling': 1,
  'comments with an archaism': 0,
  'comments with "is no"': 0,
  'comments with a semicolon chain': 31,
};

const ROOT = join(import.meta.dirname, '..', '..');

/** Names that say nothing to a reader who knows Kubernetes and PKI. */
const WORDS =
  /^(MOULDS|Mould|mould|moulds|RefreshWorld|RefreshWish|KeyWishes|wish|Told|Looks|leftOver|LeftoverOrders|isNews|HeldBack|heldBack|PutOff|putOff|Overrun|turnWithTime|leftOfTurn|useTurn|dearest|askedBy|AskedRecords|askedFor|NotAskable|WhoIs|MayDo|createMay|FoundPods|CALM|WhyNotAsked|Said|Regarded|Journey|todo|affects|seeAll|Whereabouts|KeptElsewhere|Judgement|isOurs|OURS|(?:MOST|LEAST)_\w+)$/;

const STARTS_AS_A_CLAUSE = /^(Whether|What|How|Who|Which|Why|Where|So)\b/;
const STARTS_WITH_A_PREPOSITION = /^(Of|By|As|In|From|With|Until|Not|Only|For)\b/;
const NO_ACTOR = /\b(nobody|somebody|whoever|anybody|stranger)\b/i;
const SPEECH = /\b(asked|told|tells|says?|said)\b/i;
const ARCHAISM = /\b(anew|for ever|mend\w*|goes on|is to be)\b/i;
const IS_NO = /(?<!there )\bis no (?!longer)/i;

/** Participles that do not end in -ed or -ing. */
const IRREGULAR =
  /^(Begun|Bought|Bound|Broken|Brought|Built|Caught|Chosen|Cut|Done|Drawn|Driven|Fallen|Found|Frozen|Given|Gone|Grown|Heard|Held|Hidden|Kept|Known|Laid|Led|Left|Lent|Lost|Made|Meant|Met|Overrun|Paid|Read|Said|Seen|Sent|Shown|Shut|Sold|Spent|Stolen|Stood|Taken|Told|Thrown|Understood|Undone|Unknown|Unseen|Withdrawn|Withheld|Won|Worn|Written)$/;
/** Names of types that look like a participle, but are nouns of the field. */
const NOUNS = [
  'Binding',
  'Bound',
  'Finding',
  'Listing',
  'Recording',
  'Spelling',
  'Tracing',
  'Warning',
];

interface Counted {
  readonly identifiers: readonly string[];
  readonly declared: readonly string[];
  readonly exported: readonly string[];
  readonly lines: readonly string[];
  readonly comments: readonly string[];
}

function filesBelow(folder: string): readonly string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(ROOT, folder, name));
}

/** The comments of a source, found by the scanner: a string that looks like one is none. */
function commentsIn(source: ts.SourceFile): readonly string[] {
  const { text } = source;
  const found = new Map<number, string>();
  const take = (ranges: readonly ts.CommentRange[] | undefined): void => {
    for (const { pos, end } of ranges ?? []) found.set(pos, text.slice(pos, end));
  };
  const visit = (node: ts.Node): void => {
    take(ts.getLeadingCommentRanges(text, node.pos));
    take(ts.getTrailingCommentRanges(text, node.end));
    for (const child of node.getChildren(source)) visit(child);
  };
  visit(source);
  return [...found.values()];
}

/** The words of a comment, without its marks. */
function proseOf(comment: string): string {
  return comment
    .replace(/^\/\*\*?|\*\/$|^\/\/ ?/g, '')
    .replace(/^\s*\* ?/gm, '')
    .trim();
}

function read(folder: string): Counted {
  const counted = { identifiers: [], declared: [], exported: [], lines: [], comments: [] } as {
    [K in keyof Counted]: string[];
  };
  for (const file of filesBelow(folder)) {
    const source = parseFile(file);
    const { text } = source;
    const visit = (node: ts.Node): void => {
      if (ts.isIdentifier(node)) {
        counted.identifiers.push(node.text);
        const { parent } = node;
        const isDeclared =
          (ts.isVariableDeclaration(parent) ||
            ts.isFunctionDeclaration(parent) ||
            ts.isClassDeclaration(parent) ||
            ts.isInterfaceDeclaration(parent) ||
            ts.isTypeAliasDeclaration(parent)) &&
          parent.name === node;
        if (isDeclared) counted.declared.push(node.text);
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
    for (const [, name = ''] of text.matchAll(
      /^export (?:async )?(?:function|const|class|interface|type) (\w+)/gm,
    ))
      counted.exported.push(name);
    const comments = commentsIn(source);
    counted.lines.push(...comments.flatMap((each) => each.split('\n')));
    counted.comments.push(...comments.map(proseOf).filter((each) => !each.startsWith('SPDX')));
  }
  return counted;
}

/** Reports whether a line is too long. URLs and tables cannot wrap. */
function isLong(line: string): boolean {
  return line.length > 100 && !/https?:|^\s*\*?\s*\|/.test(line);
}

function countsOf({ identifiers, declared, exported, lines, comments }: Counted): object {
  const matching = (pattern: RegExp): number =>
    comments.filter((each) => pattern.test(each)).length;
  return {
    'words of the list as identifiers': identifiers.filter((each) => WORDS.test(each)).length,
    'exports in which, what, who or why': exported.filter((each) =>
      /^(which|what|who|why)[A-Z]/.test(each),
    ).length,
    'names of more than 30 characters': new Set(
      declared.filter((each) => each.length > 30 && !each.startsWith('OID_')),
    ).size,
    'comment lines of more than 100 columns': lines.filter(isLong).length,
    'comments that start as a clause': matching(STARTS_AS_A_CLAUSE),
    'comments that start with a preposition': matching(STARTS_WITH_A_PREPOSITION),
    'comments without an actor': matching(NO_ACTOR),
    'comments of asking and telling': matching(SPEECH),
    'comments with an archaism': matching(ARCHAISM),
    'comments with "is no"': matching(IS_NO),
    'comments with a semicolon chain': matching(/; /),
  };
}

const counts = countsOf(read('src')) as Readonly<Record<string, number>>;

for (const [habit, count] of Object.entries(counts)) {
  test(`${habit}: no more than before`, () => {
    const max = MAX[habit] ?? 0;
    assert.ok(count <= max, `${count}, and at most ${max}; write plainer English`);
  });
}

function typesIn(file: string): readonly string[] {
  const types: string[] = [];
  const visit = (node: ts.Node): void => {
    if (isType(node) && node.name !== undefined) types.push(node.name.text);
    ts.forEachChild(node, visit);
  };
  visit(parseFile(file));
  return types;
}

test('no type of src has a bare participle as its name', () => {
  const types = new Set(filesBelow('src').flatMap(typesIn));
  assert.ok(types.size > 1000);
  assert.deepEqual(
    [...types]
      .filter((name) => /^[A-Z][a-z]*(?:ed|ing)$/.test(name) || IRREGULAR.test(name))
      .sort(),
    NOUNS,
  );
});

/** Lines that are a comment or a part of one. A directive of the linter cannot wrap. */
const COMMENT_LINE = /^\s*(?:\/\/(?! eslint-)|\/?\*)/;

function longCommentsIn(path: string): readonly string[] {
  const lines = readFileSync(join(ROOT, path), 'utf8').split('\n');
  return lines.filter((line) => COMMENT_LINE.test(line) && isLong(line));
}

test('beside src, no comment line has more than 100 columns', () => {
  const files = globSync('{bench,build,demo,examples,test}/**/*.ts', { cwd: ROOT });
  assert.ok(files.length > 1000);
  assert.deepEqual(
    files.flatMap((path) => longCommentsIn(path).map((line) => `${path}: ${line.trim()}`)),
    [],
  );
});
