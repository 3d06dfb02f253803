// SPDX-License-Identifier: Apache-2.0
/** Every character of Unicode through every place that repeats what a stranger wrote. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { conditionMessage } from '#api/request/conditions.ts';
import { reportOf, reportText, type CheckReport } from '#diagnose/check/report.ts';
import type { Explanation } from '#diagnose/explain/explanation.ts';
import { explanationText } from '#diagnose/explain/text.ts';
import { columns } from '#operations/show/columns.ts';
import { junitReport } from '#conformance/report/junit.ts';
import { textReport } from '#conformance/report/text.ts';
import { jsonReport, type Report } from '#conformance/report/report.ts';
import { eventBody } from '#kube/events/body.ts';
import { operationText, type OperationReport } from '#operations/report.ts';
import { structuredText } from '#operations/structured-text.ts';
import { classifyError } from '#library/calls/classify-error.ts';
import { SetConditionError } from '#library/errors.ts';
import { canonicalDnsName } from '#pki/names/canonical.ts';
import { requireVisible } from '#pki/x509/requested-names.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { readyz, type HttpResponse } from '#component/web/handlers.ts';
import {
  printable,
  printableJson,
  printableLines,
  quote,
  quoteList,
  shellWord,
} from '#base/quote.ts';

/**
 * Control, format, private use, unassigned and surrogate characters, separators, and what looks
 * blank.
 */
const RAW =
  /(?! )[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Z}\p{Default_Ignorable_Code_Point}\u2800\u3164\u115f\u1160\uffa0]/u;

/** Characters of a text: half of the units that a quoted text shows, so that no message cuts it. */
const LENGTH = 32;
const PLANE = 0x10000;

/** Texts of all code points of these planes, lone surrogates included. */
function textsOf(planes: readonly number[], mostOfPlane = PLANE): readonly string[] {
  return planes.flatMap((plane) =>
    Array.from({ length: mostOfPlane / LENGTH }, (_each, row) => {
      const from = plane * PLANE + row * LENGTH;
      const all = Array.from({ length: LENGTH }, (_one, index) => from + index);
      return String.fromCodePoint(...all);
    }),
  );
}

const PLANES = Array.from({ length: 17 }, (_each, plane) => plane);
/** All of Unicode, for the functions that decide about characters. */
const UNICODE = textsOf(PLANES);
/**
 * For the places that call those: the planes with scripts, symbols, tags and selectors. Of the
 * others, which are ideographs, unassigned or private from end to end, the begin.
 */
const SPECIAL = [0, 1, 14];
const SOME = [
  ...textsOf(SPECIAL),
  ...textsOf(
    PLANES.filter((plane) => !SPECIAL.includes(plane)),
    8 * LENGTH,
  ),
];

const REPORT: Report = {
  signer: 'example.com/x',
  kind: 'csr',
  begun: '2026-01-01T00:00:00Z',
  seconds: 1,
  results: [],
  removed: 0,
  left: [],
};

function resultOf(text: string): Report {
  const result = { id: 'a', asserts: 'b', level: 'must', outcome: 'fail', source: 'c' } as const;
  return { ...REPORT, results: [{ ...result, evidence: text }], left: [text] };
}

function operationOf(text: string): OperationReport {
  return {
    verb: 'prepare',
    clusterSigner: 'x',
    outcome: 'refused',
    dryRun: false,
    refusals: [text],
    notes: [text],
  };
}

function explanationOf(text: string): Explanation {
  const rules = [{ rule: text, outcome: 'deny', message: text, nearest: true }] as const;
  return {
    object: text,
    namespace: text,
    state: 'Failed',
    summary: text,
    timeline: [{ at: text, what: text }],
    rules,
    remediation: [text],
  };
}

function checkOf(text: string): CheckReport {
  const outcome = { severity: 'error', subject: text, why: text, remediation: text } as const;
  return reportOf([{ id: 'clock-offset', ...outcome }]);
}

function messageOf(run: () => unknown): string {
  const found = attempt(run);
  return found instanceof SignerError ? found.message : '';
}

const FROM = { name: 'a', namespace: 'b', controller: 'c', instance: 'd', now: 0 };
const REGARDING = { apiVersion: 'v1', kind: 'Pod', name: 'p' };

/** What decides about each character. */
const DECIDING: Readonly<Record<string, (text: string) => string>> = {
  'a quoted text': (text) => quote(text),
  'a text that is not quoted': printable,
  'a text as JSON': (text) => printableJson(text).replaceAll('\n', ''),
};

/** Each place, on one line: its own line ends are not the stranger's. */
const PLACES: Readonly<Record<string, (text: string) => string>> = {
  'a list of quoted texts': (text) => quoteList([text, text]),
  'a condition': (text) => conditionMessage(`a ${text}`),
  'the note of an Event': (text) =>
    (
      eventBody(
        { regarding: REGARDING, type: 'Normal', reason: 'A', action: 'B', note: text },
        FROM,
      ) as { note: string }
    ).note,
  'the refusal of a common name': (text) => messageOf(() => requireVisible(`${text} `, 'x')),
  'the refusal of a DNS name': (text) => messageOf(() => canonicalDnsName(`!${text}`)),
  "the reason of a foreign CA's condition": (text) => {
    const condition = { type: 'A', status: 'True', reason: text, message: text } as const;
    const found = classifyError(new SetConditionError(condition, new Error(text))).condition;
    return `${found?.reason ?? ''}${found?.message ?? ''}`;
  },
  'why a component is not ready': (text) => ourLines(readyBody([text], []), 1),
  'a warning of /readyz': (text) => ourLines(readyBody([], [text]), 2),
  'the text of an operation': (text) => ourLines(operationText(operationOf(text)), 3),
  'an operation as JSON': (text) => structuredText({ text }, 'json').replaceAll('\n', ''),
  'an operation as YAML': (text) => structuredText({ [text]: text }, 'yaml').replaceAll('\n', ''),
  'the text of a conformance report': (text) => ourLines(textReport(resultOf(text)), 9),
  'a conformance report as JUnit': (text) => ourLines(junitReport(resultOf(text)), 7),
  'an explanation': (text) => ourLines(explanationText(explanationOf(text)), 11),
  'the text of a check': (text) => ourLines(reportText(checkOf(text)), 6),
  'a table': (text) => ourLines(columns([['A'], [text]]).join('\n'), 1),
  'a word of a command': (text) => shellWord(text),
  'a conformance report as JSON': (text) =>
    printableJson(jsonReport(resultOf(text))).replaceAll('\n', ''),
};

function readyBody(reasons: readonly string[], warnings: readonly string[]): string {
  const answer = readyz(
    () => reasons,
    () => warnings,
  )();
  return (answer as HttpResponse).body;
}

/** `text` without its line ends, which must be as many as the place itself writes. */
function ourLines(text: string, count: number): string {
  const lines = text.split('\n');
  assert.equal(lines.length - 1, count, text);
  return lines.join('');
}

describe('no character that a terminal interprets or nobody sees is in', () => {
  for (const [places, texts] of [
    [DECIDING, UNICODE],
    [PLACES, SOME],
  ] as const) {
    for (const [place, write] of Object.entries(places)) {
      test(place, () => {
        const wrong = texts.filter((text) => RAW.test(write(text)));
        assert.deepEqual(
          wrong.map((text) => (text.codePointAt(0) ?? 0).toString(16)),
          [],
        );
      });
    }
  }
});

test('visible characters stay as they are', () => {
  const text = 'Jürgen Müller 日本語 é̈ 😀 "a" \\ café';
  assert.equal(printable(text), text);
  assert.equal(printableLines('a\nb\u001b'), 'a\nb\\u{1b}');
});

test('programs read from JSON and YAML what was written', () => {
  for (const text of UNICODE) {
    const value = { text: text.toWellFormed(), list: ['\u001b[2J', ' ', 'a\nb'] };
    assert.deepEqual(JSON.parse(structuredText(value, 'json')), value);
  }
  const value = {
    'a\u202e': 'b\u{e0001}\u001b[2J',
    list: ['a\nb\u2800', `${'x '.repeat(60)}\u200b`],
  };
  assert.deepEqual(parse(structuredText(value, 'yaml')), value);
});

test('logs, in both forms, and what commands print', () => {
  const program = `
    import { createLog } from './src/app/log.ts';
    import { printProgress, printText } from './src/cli/terminal.ts';
    const text = 'x\\u001b[31m\\u009b\\u202e\\u2066\\u200b\\u2028\\u2800\\u{e0041}\\ud800\\r\\nforged: y';
    for (const format of ['json', 'pretty']) {
      const log = (await createLog(format, 'debug')).child({ component: 'a', text });
      log.warn({ csr: text, deep: { list: [text] }, err: new Error(text) }, text);
    }
    printProgress(text);
    printText(text.replaceAll('\\n', '') + '\\n');
  `;
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    ['--input-type=module-typescript', '--eval', program],
    { encoding: 'utf8' },
  );
  assert.equal(status, 0, stderr);
  for (const line of `${stdout}${stderr}`.split('\n')) {
    assert.doesNotMatch(line, RAW);
    assert.doesNotMatch(line, /^\s*forged/);
  }
  assert.match(stderr, /"csr":"x\\u001b/);
});
