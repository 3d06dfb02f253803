// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  faultsOf,
  isCaReady,
  readReport,
  signersDigest,
  writeReport,
  type ServingFault,
  type ServingReport,
} from '#api/serving/report.ts';
import { readClusterSigner } from '#api/signer/read-signer.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { clusterSigner, workloadSpec } from '../../support/signers/cluster-signer.ts';

/** apimachinery, TotalAnnotationSizeLimitB: of all annotations of one object. */
const ANNOTATIONS_LIMIT = 256 * 1024;

function signer(name: string, generation = 1): ClusterSigner {
  const read = readClusterSigner(clusterSigner(workloadSpec()));
  return { ...read, metadata: { ...read.metadata, name, uid: `uid-${name}`, generation } };
}

const fault: ServingFault = { reason: 'MissingPermissions', message: 'lacks: sign', stops: true };
const report = (...faults: ServingFault[]): ServingReport => ({
  checked: 'x',
  namespaced: true,
  faults,
});

test('a report is read as it was written', () => {
  const whole = report({ ...fault, signers: ['a'], generation: 3, expression: 'spec.pods.allow' });
  assert.deepEqual(readReport(writeReport(whole)), whole);
});

test('a report of a thousand signers that fail names each of them', () => {
  const signers = Array.from({ length: 1_000 }, (_, index) => `team-${index}.example.com-workload`);
  const read = readReport(writeReport(report({ ...fault, signers })));
  assert.deepEqual(read?.faults[0]?.signers, signers);
});

test('reports without room fail for all signers: none is too long or hides a fault', () => {
  const signers = Array.from({ length: 10_000 }, (_, index) => `${index}`.padStart(250, 'x'));
  const faults = Array.from({ length: 1_000 }, (_, index) => ({
    ...fault,
    message: `${index} `.padEnd(100_000, 'ü'),
    signers,
  }));
  const text = writeReport(report(...faults));
  assert.ok(Buffer.byteLength(text) < ANNOTATIONS_LIMIT / 2, `${Buffer.byteLength(text)} bytes`);
  const read = readReport(text);
  assert.ok(read !== undefined);
  assert.ok(faultsOf(read, signer('anyone')).length > 0);
});

test('what one signer causes never counts for another, however much there is of it', () => {
  const found = Array.from({ length: 200 }, (_, index) => ({
    reason: 'CelTimeout',
    message: `${index} `.padEnd(512, '"'),
    stops: true,
    signers: [`team-a/${index}`.padEnd(300, 'x')],
    generation: 1,
    expression: '"'.repeat(256),
  }));
  const text = writeReport(report(fault, ...found));
  const read = readReport(text);
  assert.ok(read !== undefined);
  assert.deepEqual(faultsOf(read, signer('anyone')), [fault]);
});

const noReports: Readonly<Record<string, string>> = {
  'no JSON': 'x',
  'another shape': '{"checked":1}',
  'a reason that no condition may have': writeReport(report({ ...fault, reason: 'not a reason' })),
  'more than any component writes': JSON.stringify(
    report({ ...fault, message: 'x'.repeat(70_000) }),
  ),
};
for (const [what, text] of Object.entries(noReports)) {
  test(`anybody's text is no report: ${what}`, () => {
    assert.equal(readReport(text), undefined);
  });
}

test('invisible characters of a report are shown', () => {
  const read = readReport(JSON.stringify(report({ ...fault, message: 'a\u202eb' })));
  assert.equal(read?.faults[0]?.message, 'a\\u{202e}b');
});

test('a fault counts for the named signers and generation; without names, for all', () => {
  const all = report(
    fault,
    { ...fault, signers: ['a'] },
    { ...fault, signers: ['a'], generation: 2 },
  );
  assert.equal(faultsOf(all, signer('a')).length, 2);
  assert.equal(faultsOf(all, signer('a', 2)).length, 3);
  assert.equal(faultsOf(all, signer('b')).length, 1);
});

test('the digest depends on the set of ClusterSigners, not on order or generation', () => {
  const [a, b] = [signer('a'), signer('b')];
  assert.equal(signersDigest([a, b]), signersDigest([b, signer('a', 2)]));
  assert.notEqual(signersDigest([a, b]), signersDigest([a]));
});

test('a CA stays usable while another component does not serve the signer', () => {
  const ready = (status: 'True' | 'False', reason: string): boolean =>
    isCaReady([{ type: 'Ready', status, reason }]);
  assert.equal(ready('True', 'Checked'), true);
  assert.equal(ready('False', 'NotServed'), true);
  assert.equal(ready('False', 'AwaitingComponents'), true);
  assert.equal(ready('False', 'SecretNotFound'), false);
  assert.equal(isCaReady(undefined), false);
});
