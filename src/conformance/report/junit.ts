// SPDX-License-Identifier: Apache-2.0
import { printable } from '#base/quote.ts';
import type { CaseResult } from '../case.ts';
import { countOf, type Report } from './report.ts';

/**
 * Returns JUnit's XML for CI servers. It skips failed `should` cases with their text, instead of
 * failing them.
 */
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
  const output = `<system-out>${escaped(source)}\n${escaped(evidence)}</system-out>`;
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

/**
 * Escapes text that a signer wrote, and that people read in terminals. XML 1.0 cannot express most
 * control characters, so they appear as in every message.
 */
function escaped(text: string): string {
  return printable(text).replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? '');
}
