// SPDX-License-Identifier: Apache-2.0
/** A CA whose key is gone is an error of `countersign check`, and the cause of what follows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Condition } from '#api/request/conditions.ts';
import type { InstallationFacts } from '#diagnose/check/facts.ts';
import { runChecks } from '#diagnose/check/run-checks.ts';
import { unservedReason } from '#diagnose/explain/signer-view.ts';
import { explainSigner } from '#diagnose/explain/signer.ts';
import { summarizeSigner } from '#operations/show/signer-summary.ts';
import { MINUTE, at, state } from '../../operations/signer-states.ts';
import { findingsOf, installed, kubernetes, RELEASE, signersOf, waiting } from './well.ts';

const MESSAGE = `the key of CA sha256:0 is lost: Secret k/s was deleted. No component signs until ${at(6 * MINUTE)}`;
const ready = (status: 'True' | 'False', reason: string, message: string): Condition => ({
  type: 'Ready',
  status,
  reason,
  message,
});
/** A was deleted, B is published for four minutes. */
const LOST = state({
  authorities: { a: 'Active', b: 'Prepared' },
  served: { a: 60, b: 4 },
  conditions: [ready('False', 'KeyLost', MESSAGE)],
});
const lost: Partial<InstallationFacts> = { signers: { value: signersOf(LOST) } };

test('a lost key is an error of ca-usable, with the time at which signing starts', () => {
  const [found] = findingsOf('ca-usable', { installed: lost });
  assert.equal(found?.severity, 'error');
  assert.equal(found.why, MESSAGE);
  assert.match(found.remediation ?? '', /check --explain ca-usable/);
});

test('signers, requests and replicas that wait for a lost key have it as their cause', () => {
  assert.ok('value' in installed.deployments);
  const deployments = installed.deployments.value.map((each) =>
    each.component === 'pcr-issuer'
      ? { ...each, available: 0, why: 'pod x', lacksOnlyReadiness: true as const }
      : each,
  );
  const found = runChecks({
    kubernetes,
    installed: {
      ...installed,
      ...lost,
      deployments: { value: deployments },
      requests: { value: [waiting(180)] },
    },
    release: RELEASE,
  }).filter(({ severity }) => severity === 'error');
  const causes = found.map(({ id, causedBy }) => [id, causedBy]);
  const cause = 'ca-usable clustersigner/workload';
  assert.deepEqual(causes, [
    ['replicas-available', cause],
    ['signers-ready', cause],
    ['ca-usable', undefined],
    ['requests-answered', cause],
  ]);
});

test('a CA whose anchor is too young signs nothing, which is an error and a cause', () => {
  assert.ok('value' in installed.deployments);
  const young = state({ served: { a: 4, b: 60 } });
  const lacksOnlyReadiness = true as const;
  const deployments = installed.deployments.value.map((each) =>
    each.component === 'pcr-issuer' ? { ...each, available: 0, lacksOnlyReadiness } : each,
  );
  const changes = { signers: { value: signersOf(young) }, deployments: { value: deployments } };
  const [found] = findingsOf('signers-ready', { installed: changes });
  assert.equal(found?.severity, 'error');
  assert.match(found.why, /^no component signs: .* starts at /);
  const [short] = findingsOf('replicas-available', { installed: changes });
  assert.equal(short?.causedBy, 'signers-ready clustersigner/workload');
});

test('replicas are short for another reason while one signer has its key', () => {
  assert.ok('value' in installed.deployments);
  const lacksOnlyReadiness = true as const;
  const deployments = installed.deployments.value.map((each) => ({
    ...each,
    available: 0,
    lacksOnlyReadiness,
  }));
  const signers = { value: signersOf(LOST, state()) };
  const changes = { signers, deployments: { value: deployments } };
  const found = findingsOf('replicas-available', { installed: changes });
  assert.ok(found.length > 0 && found.every(({ causedBy }) => causedBy === undefined));
});

test('a managed CA in the place of an unusable one is a warning until it signs', () => {
  const of = state({ conditions: [ready('True', 'Propagating', 'b signs once')] });
  const [found] = findingsOf('ca-usable', { installed: { signers: { value: signersOf(of) } } });
  assert.equal(found?.severity, 'warning');
  assert.match(found.why, /replaced it: b signs once/);
});

test('explain says of a request and of a signer that the key is gone, and until when', () => {
  const { signer } = LOST;
  const view = { signerName: signer.spec.signerName, signer, unusable: undefined };
  const why = unservedReason(view, 'pcr-issuer');
  assert.equal(why?.state, 'WaitingForSigner');
  assert.ok(why.summary.includes(MESSAGE));
  const explained = explainSigner(LOST);
  assert.equal(explained.state, 'NotReady');
  assert.ok(explained.summary.includes(MESSAGE));
  assert.match(explained.remediation.join('\n'), /check --explain ca-usable/);
  assert.deepEqual(explained.next, { what: 'a CA may sign', at: at(6 * MINUTE) });
});

test('show warns of a lost key once, and has no next step of the CA that lost it', () => {
  const { warnings, authorities } = summarizeSigner(LOST);
  assert.equal(warnings.filter((each) => each.includes(MESSAGE)).length, 1);
  assert.equal(warnings.filter((each) => /was published recently/.test(each)).length, 0);
  const [active, prepared] = authorities;
  assert.deepEqual([active?.phase, active?.next], ['Active', undefined]);
  assert.deepEqual(prepared?.next, { what: 'may sign', at: at(6 * MINUTE) });
});
