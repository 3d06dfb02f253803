// SPDX-License-Identifier: Apache-2.0
/** What `check` and `explain` report of ExternalClusterSigners. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readExternalSigner, type ExternalSigner } from '#api/external/external-signer.ts';
import type { ExternalSignerFacts } from '#diagnose/check/facts.ts';
import { withExternalNames } from '#diagnose/check/reading/read-external.ts';
import { explainExternalSigner } from '#diagnose/explain/external.ts';
import { answeringComponent, unservedReason } from '#diagnose/explain/signer-view.ts';
import { SIGNER_NAME, signerObject } from '../../requests/external-signer/world.ts';
import { findingsOf, installed } from './well.ts';

const { status: _status, ...object } = signerObject();
const signer: ExternalSigner = readExternalSigner(object);

function withReady(status: 'True' | 'False', more: object = {}, generation = 1): ExternalSigner {
  const message = 'external-signer refused 2 certificates of the CA in a row';
  return {
    ...signer,
    metadata: { ...signer.metadata, generation: 1 },
    status: {
      observedGeneration: generation,
      conditions: [{ type: 'Ready', status, reason: 'AnswerRefused', message }],
      ...more,
    },
  };
}

const of = (...signers: readonly ExternalSigner[]): ExternalSignerFacts => ({
  signers,
  invalid: [],
});

const CASES: readonly (readonly [string, ExternalSignerFacts, 'ok' | 'error', RegExp])[] = [
  ['there is none', of(), 'ok', /there is no ExternalClusterSigner/],
  ['one is Ready', of(withReady('True')), 'ok', /all 1 ExternalClusterSigners are Ready/],
  ['one is not', of(withReady('False')), 'error', /AnswerRefused: external-signer refused 2/],
  ['its spec is newer', of(withReady('True', {}, 0)), 'error', /has not looked at its spec yet/],
  [
    'a spec is invalid',
    { signers: [], invalid: [{ name: 'corporate', why: 'spec.authority: wrong' }] },
    'error',
    /spec\.authority: wrong/,
  ],
];

for (const [when, facts, severity, says] of CASES) {
  test(`external-signers-ready: ${severity} if ${when}`, () => {
    const found = findingsOf('external-signers-ready', {
      installed: { external: { value: facts } },
    });
    assert.deepEqual(
      found.map((each) => each.severity),
      [severity],
    );
    assert.match(JSON.stringify(found), says);
  });
}

test('explains when a certificate is ordered again after refused answers', () => {
  const retryAt = '2026-11-27T14:00:00Z';
  const explained = explainExternalSigner(withReady('False', { retryAt, refusedAnswers: 2 }));
  assert.equal(explained.state, 'NotReady');
  assert.match(explained.summary, /does not serve example\.com\/corporate: AnswerRefused/);
  assert.equal(explained.next?.at, retryAt);
});

test('explains by which role of which engine a signer serves', () => {
  const { state, summary } = explainExternalSigner(withReady('True'));
  assert.equal(state, 'Ready');
  assert.match(summary, /by role pods of https:\/\/vault\.example\.com:8200\/pki$/);
});

test('a request of such a signer waits for external-signer, which it names', () => {
  assert.equal(answeringComponent(signer, 'pcr-issuer'), 'external-signer');
  const view = { signerName: SIGNER_NAME, signer, unusable: undefined };
  assert.match(
    unservedReason(view, 'pcr-issuer')?.summary ?? '',
    /ExternalClusterSigner corporate is not Ready: external-signer has not looked at it yet/,
  );
});

test('the names of ExternalClusterSigners are those of the installation', () => {
  const seen = withExternalNames(installed.signers, { value: of(withReady('True')) });
  assert.ok('value' in seen);
  assert.deepEqual(seen.value.installation.external, { signers: [SIGNER_NAME] });
});
