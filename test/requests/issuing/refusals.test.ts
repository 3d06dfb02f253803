// SPDX-License-Identifier: Apache-2.0
/** ADR 0052: who gets no certificate while a Revocation stands. */
import { refusalBy, type RefusalInput } from '#ca/revocation/holders.ts';
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import type { Revocation, RevokedHolder } from '#api/revocation/revocation.ts';
import { SignerError } from '#base/errors.ts';
import { createRefusals } from '#requests/issuing/refusals.ts';
import { link } from '../../support/pki/chain.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';
import { workload } from '../../support/signers/workload-profile.ts';

const SIGNER = 'example.com/workload';
const { publicKey } = link('a leaf').certificate;
const KEY = `sha256:${createHash('sha256').update(publicKey.spki).digest('hex')}`;

const input: RefusalInput = {
  requester: {
    user: { username: 'alice' },
    serviceAccount: { namespace: 'team-a', name: 'web' },
    pod: { namespace: 'team-a', name: 'web-0', uid: 'pod-1' },
  },
  leaf: {
    subject: {
      commonName: 'alice@example.com',
      organizations: ['team-a'],
      organizationalUnits: [],
      dnsNames: ['web.example.com'],
      ipAddresses: ['10.0.0.1', '2001:db8::1'],
      uris: ['spiffe://example.com/ns/team-a/sa/web'],
      emails: ['web@example.com'],
    },
    publicKey,
  },
};

function revocation(
  name: string,
  holders: readonly RevokedHolder[],
  signerName = SIGNER,
): Revocation {
  return {
    apiVersion: 'countersign.dev/v1alpha1',
    kind: 'Revocation',
    metadata: { name, uid: name, resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: {
      signerName,
      reason: 'keyCompromise',
      certificates: [{ serial: 'a1' }],
      holders: [...holders],
    },
  };
}

const refuses = (holder: RevokedHolder): boolean =>
  refusalBy([revocation('r', [holder])], SIGNER, input) !== undefined;

const rows: readonly [law: string, holder: RevokedHolder, refused: boolean][] = [
  ['the requester', { user: 'alice' }, true],
  ['another requester', { user: 'Alice' }, false],
  ['the ServiceAccount', { serviceAccount: { namespace: 'team-a', name: 'web' } }, true],
  ['one of another namespace', { serviceAccount: { namespace: 'team-b', name: 'web' } }, false],
  ['the pod, whatever its UID', { pod: { namespace: 'team-a', name: 'web-0' } }, true],
  ['the pod by its UID', { pod: { namespace: 'team-a', name: 'web-0', uid: 'pod-1' } }, true],
  ['a pod before it', { pod: { namespace: 'team-a', name: 'web-0', uid: 'pod-0' } }, false],
  ['the common name', { name: 'alice@example.com' }, true],
  ['a DNS name', { name: 'web.example.com' }, true],
  ['an address', { name: '10.0.0.1' }, true],
  ['a SPIFFE ID', { name: 'spiffe://example.com/ns/team-a/sa/web' }, true],
  ['an email address', { name: 'web@example.com' }, true],
  ['a DNS name in another spelling', { name: 'Web.Example.COM' }, true],
  ['an address in another spelling', { name: '2001:DB8:0::1' }, true],
  ['a SPIFFE ID in another spelling', { name: 'SPIFFE://Example.com/ns/team-a/sa/web' }, true],
  ['an email address in another spelling', { name: 'web@Example.com' }, true],
  ['another mailbox', { name: 'Web@example.com' }, false],
  ['another common name', { name: 'alice@Example.com' }, false],
  ['the organization, which is no name of a holder', { name: 'team-a' }, false],
  ['the key', { key: KEY }, true],
  ['another key', { key: `sha256:${'0'.repeat(64)}` }, false],
];

for (const [law, holder, refused] of rows) {
  test(`a Revocation that names ${law} ${refused ? 'refuses' : 'does not refuse'}`, () => {
    assert.equal(refuses(holder), refused);
  });
}

test('a Revocation of another signer or without a holder refuses no request', () => {
  const others = [
    revocation('other', [{ user: 'alice' }], 'example.com/other'),
    revocation('n', []),
  ];
  assert.equal(refusalBy(others, SIGNER, input), undefined);
});

test('the refusal names the Revocation, its reason, and what ends it', () => {
  const both = [revocation('b', [{ user: 'alice' }]), revocation('a', [{ user: 'alice' }])];
  assert.deepEqual(refusalBy(both, SIGNER, input), {
    reason: 'HolderRevoked',
    message:
      'Revocation "a" (keyCompromise) blocks new certificates for this holder; to allow them again, a user who may revoke for example.com/workload runs: kubectl delete revocation a',
  });
});

test('with profile.crl signing waits for listed Revocations; without, none are watched', async () => {
  const component = recordedComponent({ name: 'signer' });
  const refusals = createRefusals(component);
  const plain = workload();
  refusals.serve([plain]);
  assert.equal(refusals.refusalOf(plain, input), undefined);
  assert.equal(refusals.listed(plain), true);
  const withCrl = workload({ 'profile.crl': { validity: '24h' } });
  assert.throws(
    () => refusals.refusalOf(withCrl, input),
    (error) => error instanceof SignerError && error.code === 'REVOCATIONS_UNKNOWN',
  );
  assert.equal(refusals.listed(withCrl), false);
  await refusals.stop();
});
