// SPDX-License-Identifier: Apache-2.0
/** What `authority show`, `explain` and `check` say of a CA whose key is in a key holder. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Condition } from '#api/request/conditions.ts';
import { explainSigner } from '#diagnose/explain/signer.ts';
import { summarizeSigner } from '#operations/show/signer-summary.ts';
import { remedyCommand } from '#operations/signer-remedy.ts';
import { findingsOf, signersOf } from '../diagnose/check/well.ts';
import { pem, state } from './signer-states.ts';

const keyHolder = { namespace: 'countersign-keys', key: 'workload', chain: pem('a') };
const HELD = { authority: { keyHolder } };

/** Conditions that `authority` writes for a fault that stops a component. */
function stopped(reason: string, message: string): readonly Condition[] {
  return [
    { type: 'Ready', status: 'False', reason: 'NotServed', message },
    { type: 'Served', status: 'False', reason, message },
  ];
}

const LOG =
  'pcr-issuer: connect ENOENT; read the log of its sidecar: kubectl logs deployment/countersign-pcr-issuer -c key-holder';

test('show and explain say which key of a key holder signs', () => {
  const held = state({ spec: HELD });
  const { authority, heldKey } = summarizeSigner(held);
  assert.deepEqual({ authority, heldKey }, { authority: 'keyHolder', heldKey: 'workload' });
  assert.match(explainSigner(held).summary, /, with key workload of a key holder$/);
  assert.equal(summarizeSigner(state()).heldKey, undefined);
  assert.doesNotMatch(explainSigner(state()).summary, /key holder/);
});

test('the advice for each fault of a key holder is a command that shows or ends it', () => {
  const adviceOf = (reason: string): string | undefined =>
    remedyCommand(state({ spec: HELD, conditions: stopped(reason, LOG) }).signer);
  assert.match(
    adviceOf('KeyHolderUnavailable') ?? '',
    /^kubectl logs .*deployment\/countersign-pcr-issuer -c key-holder/,
  );
  assert.match(
    adviceOf('KeyHolderTokenUnavailable') ?? '',
    /^kubectl logs .*deployment\/countersign-pcr-issuer -c key-holder .*PIN, correct the Secret/,
  );
  assert.match(adviceOf('KeyHolderKeyWrong') ?? '', /^kubectl edit clustersigner workload/);
  assert.equal(adviceOf('PermissionMissing'), undefined);
});

test('check names a holder that is away, with the command for its log', () => {
  const signers = signersOf(
    state({ spec: HELD, conditions: stopped('KeyHolderUnavailable', LOG) }),
  );
  const [finding] = findingsOf('signers-ready', { installed: { signers: { value: signers } } });
  assert.equal(finding?.severity, 'warning');
  assert.match(finding.why, /connect ENOENT/);
  assert.match(finding.remediation ?? '', /-c key-holder/);
});

test('check warns of limits that refuse what a signer allows', () => {
  const message = 'signer: the key holder refused the request: longest-life: 2 d';
  const ready: Condition = { type: 'Ready', status: 'True', reason: 'Checked', message: '' };
  const degraded: Condition = {
    type: 'Degraded',
    status: 'True',
    reason: 'KeyHolderRefused',
    message,
  };
  const signers = signersOf(state({ spec: HELD, conditions: [ready, degraded] }));
  const [finding] = findingsOf('rotation-on-time', { installed: { signers: { value: signers } } });
  assert.match(finding?.why ?? '', /KeyHolderRefused: .*longest-life/);
  assert.match(
    finding?.remediation ?? '',
    /^kubectl edit clustersigner workload {3}# allow no more/,
  );
});
