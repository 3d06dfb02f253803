// SPDX-License-Identifier: Apache-2.0
/** The texts that users read lie in the `messages.ts` or `…-messages.ts` of their folder. */
import assert from 'node:assert/strict';
import { posix } from 'node:path';
import { test } from 'node:test';
import ts from 'typescript';
import { isCatalogue } from './places.ts';
import { readSources, type Source } from './sources.ts';

/** From here on, a literal is a sentence, and no longer a name or a pattern. */
const MIN_WORDS = 4;
/** `component.ts` describes; `flags.ts` and `metrics.ts` have the help of flags and metrics. */
const HOLD_TEXTS = ['component.ts', 'flags.ts', 'metrics.ts'];

/** Literals that no user reads as a sentence, by file and beginning, with the reason. */
const EXEMPT: Readonly<Record<string, string>> = {
  'acme/acme/orders/order-work.ts: a step names an authorization': 'an error of programmers',
  'acme/orders/revocation.ts: a revocation has nothing': 'an error of programmers',
  'acme/solving/dns01/persist.ts: ${}.${}. IN TXT': 'a line of a zone file',
  'ledger/ledger/api/signed-request.ts: countersign ledger request':
    'the beginning of signed bytes',
};

/** Statements that decide or act, which a catalogue must leave to its callers. */
const LOGIC = [
  ts.SyntaxKind.IfStatement,
  ts.SyntaxKind.SwitchStatement,
  ts.SyntaxKind.ForStatement,
  ts.SyntaxKind.ForOfStatement,
  ts.SyntaxKind.WhileStatement,
  ts.SyntaxKind.TryStatement,
  ts.SyntaxKind.ThrowStatement,
  ts.SyntaxKind.AwaitExpression,
  ts.SyntaxKind.NewExpression,
];

/** Returns the fixed text of a literal, with `${}` for each expression. */
function fixedText(node: ts.Node): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return undefined;
  return node.head.text + node.templateSpans.map(({ literal }) => `\${}${literal.text}`).join('');
}

function isSentence(text: string): boolean {
  const words = text.split(/\s+/).filter((word) => word !== '');
  return words.length >= MIN_WORDS && words.some((word) => /\p{L}{2}/u.test(word));
}

function sentencesIn({ path, text }: Pick<Source, 'path' | 'text'>): readonly string[] {
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    const fixed = fixedText(node);
    if (fixed !== undefined && isSentence(fixed)) found.push(`${path}: ${fixed}`);
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

function logicIn({ path, text }: Pick<Source, 'path' | 'text'>): readonly string[] {
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (LOGIC.includes(node.kind))
      found.push(`${path}: ${node.getText(tree).split('\n')[0] ?? ''}`);
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

const sources = readSources();
const catalogues = sources.filter(({ path }) => isCatalogue(path));
/** Folders with a catalogue, and folders of components, which have one or no sentence. */
const folders = new Set(
  sources
    .filter(({ path }) => isCatalogue(path) || posix.basename(path) === 'component.ts')
    .map(({ path }) => posix.dirname(path)),
);

function holdsTexts(path: string): boolean {
  return isCatalogue(path) || HOLD_TEXTS.includes(posix.basename(path));
}

function isInCatalogued(path: string): boolean {
  return [...folders].some((folder) => path.startsWith(`${folder}/`));
}

test('in folders with messages.ts, every sentence is there', () => {
  const found = sources
    .filter(({ path }) => isInCatalogued(path) && !holdsTexts(path))
    .flatMap(sentencesIn);
  const isExempt = (line: string): boolean =>
    Object.keys(EXEMPT).some((beginning) => line.startsWith(beginning));
  assert.ok(catalogues.length > 10);
  assert.deepEqual(
    found.filter((line) => !isExempt(line)),
    [],
  );
  const unused = Object.keys(EXEMPT).filter((each) => !found.some((line) => line.startsWith(each)));
  assert.deepEqual(unused, []);
});

test('messages.ts chooses words, and neither decides nor acts', () => {
  assert.deepEqual(catalogues.flatMap(logicIn), []);
});

test('a sentence is found as a string and as a template, a short text is not', () => {
  const text = "f('one two three');\ng('one two three four');\nh(`${a} of ${b} Pods`);";
  assert.deepEqual(sentencesIn({ path: 'x.ts', text }), [
    'x.ts: one two three four',
    'x.ts: ${} of ${} Pods',
  ]);
});
