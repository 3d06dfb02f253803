// SPDX-License-Identifier: Apache-2.0
/** The result of `countersign check`, and its pages. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CATALOGUE, pageOf, renderIndex, renderPage } from '#diagnose/check/catalogue.ts';
import type { Finding } from '#diagnose/check/finding.ts';
import { reportOf, reportText } from '#diagnose/check/report.ts';
import { colorMarks } from '#cli/mark-colors.ts';

const ROOT = join(import.meta.dirname, '../../..');
const ids = [...CATALOGUE.keys()];

for (const id of ids) {
  test(`the page of ${id} is what --explain prints`, () => {
    assert.equal(readFileSync(join(ROOT, pageOf(id)), 'utf8'), renderPage(id));
  });
}

test('docs/checks has a page for each check, an index, and nothing else', () => {
  const pages = readdirSync(join(ROOT, 'docs/checks')).sort();
  assert.deepEqual(pages, [...ids.map((id) => `${id}.md`), 'README.md'].sort());
  assert.equal(readFileSync(join(ROOT, 'docs/checks/README.md'), 'utf8'), renderIndex());
});

test('files that a page names are there', () => {
  const named = ids.flatMap(
    (id) => renderPage(id).match(/\b(?:deploy|examples|docs)\/[\w./-]+/g) ?? [],
  );
  assert.deepEqual(
    named.filter((file) => !existsSync(join(ROOT, file))),
    [],
  );
});

const finding = (severity: Finding['severity'], why = 'a sentence'): Finding => ({
  id: 'clock-offset',
  severity,
  why,
  ...(severity === 'ok' ? {} : { remediation: 'do this' }),
});

test('the worst finding is the result; what could not be seen is no fault', () => {
  assert.equal(reportOf([finding('ok'), finding('unseen')]).result, 'ok');
  assert.equal(reportOf([finding('warning'), finding('ok')]).result, 'warning');
  assert.equal(reportOf([finding('warning'), finding('error')]).result, 'error');
});

const SUMMARIES: readonly (readonly [Finding['severity'][], RegExp])[] = [
  [['ok'], /\nAll checks passed: 1 ok, 0 warnings, 0 errors, 0 not seen\.\n$/],
  [['ok', 'warning'], /\nNo errors: 1 ok, 1 warning, 0 errors, 0 not seen\.\n$/],
  [
    ['ok', 'unseen'],
    /\nNo errors found, but you may not read everything: 1 ok, .* 1 not seen\.\n$/,
  ],
  [['warning', 'unseen'], /\nNo errors found, but you may not read everything: 0 ok, 1 warning,/],
  [['error', 'unseen'], /\nFailed: 0 ok, 0 warnings, 1 error, 1 not seen\.\n$/],
];
for (const [severities, says] of SUMMARIES) {
  test(`the summary of ${severities.join(' and ')} promises no more than was read`, () => {
    const findings = severities.map((each) => finding(each));
    assert.match(reportText(reportOf(findings)), says);
  });
}

test('a bad line is followed by what to do and where its page is', () => {
  const text = reportText(reportOf([finding('error')]));
  assert.match(
    text,
    /× clock-offset: a sentence\n +→ do this\n +→ countersign check --explain clock-offset\n/,
  );
});

test('a remedy that is the page itself is printed once', () => {
  const page = 'countersign check --explain clock-offset';
  const remediation = `${page}   # how to sign sooner`;
  const text = reportText(reportOf([{ ...finding('error'), remediation }]));
  assert.equal(text.split(page).length - 1, 1);
});

test('only the marks of findings are colored, whatever an object says', () => {
  const text = reportText(reportOf([finding('ok', 'a  √ b'), finding('error')]));
  const colored = colorMarks(text);
  assert.equal(colored.split('\u001B[32m').length, 2);
  assert.equal(colored.split('\u001B[31m').length, 2);
  // ECMA-48 SGR sequences taken away, it is the same text.
  assert.equal(
    ['32', '31', '0'].reduce((rest, each) => rest.replaceAll(`\u001B[${each}m`, ''), colored),
    text,
  );
});

test('a text of somebody else cannot make a line of its own', () => {
  const text = reportText(reportOf([finding('error', 'x\n  √ all is well')]));
  assert.ok(!text.includes('\n  √'), text);
});
