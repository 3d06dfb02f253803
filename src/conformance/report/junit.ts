// SPDX-License-Identifier: Apache-2.0
import type { CaseResult } from '../case.ts';
import { countOf, type Report } from './report.ts';

/** JUnit's XML, as CI servers read it: what only should hold is skipped with its words, not failed. */
export function junitReport(report: Report): string {
  const { signer, kind, results, seconds, begun } = report;
  const failures = results.filter(isFailure).length;
  const skipped = countOf(report, 'skip') + countOf(report, 'fail') - failures;
  const facts = attributes({
    name: `countersign conformance ${kind} ${signer}`,
    tests: results.length,
    failures,
    errors: 0,
    skipped,
    time: seconds,
    timestamp: begun,
  });
  const cases = results.map((each) => caseOf(each, `${kind}.${signer}`));
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n<testsuite ${facts}>\n${cases.join('')}</testsuite>\n</testsuites>\n`;
}

function isFailure({ outcome, level }: CaseResult): boolean {
  return outcome === 'fail' && level === 'must';
}

function caseOf(result: CaseResult, classname: string): string {
  const { id, asserts, outcome, evidence, source } = result;
  const facts = attributes({ classname, name: `${id} ${asserts}` });
  const open = `<testcase ${facts}>`;
  const output = `<system-out>${escaped(`${source}\n${evidence}`)}</system-out>`;
  if (outcome === 'pass') return `${open}${output}</testcase>\n`;
  const message = attributes({
    message: outcome === 'fail' && !isFailure(result) ? `should: ${evidence}` : evidence,
  });
  const tag = isFailure(result) ? 'failure' : 'skipped';
  return `${open}<${tag} ${message}/>${output}</testcase>\n`;
}

function attributes(values: Readonly<Record<string, string | number>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}="${escaped(String(value))}"`)
    .join(' ');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

/** XML 1.0 has no way to write control characters but tab and line ends: they are left out. */
function escaped(text: string): string {
  return text
    .replaceAll(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD]/g, '')
    .replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? '');
}
