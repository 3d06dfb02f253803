// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CaseResult } from '#conformance/case.ts';
import { junitReport } from '#conformance/report/junit.ts';
import { isConformant, jsonReport, type Report } from '#conformance/report/report.ts';
import { textReport } from '#conformance/report/text.ts';

const facts = { asserts: 'it holds', source: 'RFC 5280', evidence: 'seen' };
const passed: CaseResult = { id: 'CSR-01', level: 'must', outcome: 'pass', ...facts };
const advised: CaseResult = { id: 'CSR-02', level: 'should', outcome: 'fail', ...facts };
const skipped: CaseResult = { id: 'CSR-03', level: 'must', outcome: 'skip', ...facts };
const failed: CaseResult = {
  id: 'CSR-04',
  level: 'must',
  outcome: 'fail',
  ...facts,
  evidence: 'CN=<a>&"b"\u0007',
};

function report(...results: readonly CaseResult[]): Report {
  const begun = '2026-11-21T12:00:00.000Z';
  return { signer: 'example.com/a', kind: 'csr', begun, seconds: 7, results, removed: 3, left: [] };
}

test('a signer is not conformant if and only if a case of level must fails', () => {
  assert.equal(isConformant(report(passed, advised, skipped)), true);
  assert.equal(isConformant(report(passed, failed)), false);
});

test('the text report has the evidence of each case that does not pass', () => {
  const text = textReport(report(passed, advised, skipped));
  assert.match(text, /^pass {2}CSR-01 {2}it holds$/m);
  assert.match(text, /^FAIL {2}CSR-02 {2}it holds \(should\)$/m);
  assert.match(
    text,
    /1 passed, 1 failed \(0 of them must hold\), 1 skipped, in 7 s; 3 objects removed/,
  );
  const left = Array.from({ length: 7 }, (_, index) => `/${index}: 403`);
  assert.match(
    textReport({ ...report(passed), left }),
    /^still there: \/4: 403\nstill there: 2 more$/m,
  );
});

test('the JSON report is one object with the counts', () => {
  const parsed = JSON.parse(jsonReport(report(passed, failed, skipped))) as { summary: unknown };
  assert.deepEqual(parsed.summary, { pass: 1, fail: 1, skip: 1, conformant: false });
});

test('JUnit counts only failed must cases as failures, and is valid XML', () => {
  const xml = junitReport(report(passed, advised, skipped, failed));
  assert.match(xml, /tests="4" failures="1" errors="0" skipped="2" time="7"/);
  assert.match(xml, /<failure message="CN=&lt;a&gt;&amp;&quot;b&quot;\\u\{7\}"\/>/);
  assert.equal(xml.split('<testcase ').length, 5);
  assert.ok(!xml.includes('\u0007'));
});

test('what a signer says adds no element, attribute or line to the JUnit report', () => {
  const elements = (xml: string): readonly string[] =>
    (xml.match(/<[^>]*>|\n/g) ?? []).map((each) => each.replaceAll(/"[^"]*"/g, '""'));
  const hostile = [
    '</system-out></testcase><testcase name="x"/>',
    '" outcome="pass',
    ']]><!-- <![CDATA[ &lt; &#10; <?xml?>',
    'a\nb\r\nc\u2028d\u0085e',
  ];
  const calm = elements(junitReport(report({ ...failed, evidence: 'calm' })));
  for (const evidence of hostile) {
    assert.deepEqual(elements(junitReport(report({ ...failed, evidence }))), calm, evidence);
  }
});
