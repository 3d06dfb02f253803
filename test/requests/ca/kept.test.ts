// SPDX-License-Identifier: Apache-2.0
/** The CA that was signed with last goes on while its Secret cannot, and no longer. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AuthorityPhase, ClusterSigner } from '#api/signer/cluster-signer.ts';
import { SERVED_SINCE, type ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import { SIGNER_NAME } from '#api/signer/grant.ts';
import type { Secret } from '#api/object/object.ts';
import { SIGNS_AT_ONCE } from '#api/signer/rotation-annotations.ts';
import type { Authority } from '#ca/custody/contract.ts';
import { openLocalAuthority } from '#ca/custody/local.ts';
import { formatTime } from '#api/object/time.ts';
import { createOpenedSecrets } from '#requests/ca/opened-secrets.ts';
import { usableAuthority, type UsableInput } from '#requests/ca/usable-authority.ts';
import { certificateAuthority } from '../../support/ca/generated.ts';
import { NOW } from '../../support/ca/issuing.ts';
import { workload } from '../../support/signers/workload-profile.ts';

interface Made {
  readonly authority: Authority;
  readonly pem: string;
  readonly key: string;
}

async function make(): Promise<Made> {
  const { certificate: pem, key } = await certificateAuthority();
  const material = { certificate: pem, key, anchors: pem };
  return { authority: openLocalAuthority(material, NOW), pem, key };
}

const [A, B] = [await make(), await make()];
const printOf = (of: Made): string => of.authority.facts.fingerprint;

function signerWith(
  phase: AuthorityPhase,
  changes: Readonly<Record<string, unknown>> = {},
): ClusterSigner {
  const { notBefore, notAfter } = A.authority.facts;
  const active = {
    fingerprint: printOf(A),
    phase,
    notBefore: formatTime(notBefore),
    notAfter: formatTime(notAfter),
    longestLeaf: '24h',
    anchors: A.pem,
  };
  return workload(changes, {
    status: {
      observedGeneration: 1,
      conditions: [{ type: 'Ready', status: 'True', reason: 'Checked', message: '' }],
      authorities: [active],
    },
  });
}

function secret(
  of: Made,
  more: Partial<Secret['metadata']> & { readonly key?: string } = {},
): Secret {
  const { key = of.key, ...metadata } = more;
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      ...workload().metadata,
      name: 'corp-ca',
      annotations: { [SIGNER_NAME]: 'example.com/workload' },
      ...metadata,
    },
    data: { 'tls.crt': base64(of.pem), 'tls.key': base64(key) },
  };
}

/** A served indefinitely, B for so many seconds. */
function bundle(age?: number): ClusterTrustBundle {
  const since = { [printOf(A)]: formatTime(NOW - 86_400_000) };
  if (age !== undefined) since[printOf(B)] = formatTime(NOW - age * 1000);
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'ClusterTrustBundle',
    metadata: { ...workload().metadata, annotations: { [SERVED_SINCE]: JSON.stringify(since) } },
    spec: { trustBundle: A.pem + (age === undefined ? '' : B.pem) },
  };
}

/** What a process signs with that has signed with A, and then sees this. */
function use(now: Secret, more: Partial<UsableInput> = {}): string {
  const opened = createOpenedSecrets(openLocalAuthority, () => NOW);
  opened.signedWith(secret(A), A.authority);
  return usableAuthority({
    signer: signerWith('Active'),
    secret: now,
    bundle: bundle(),
    open: opened.open,
    last: opened.last,
    propagationSeconds: 600,
    now: NOW,
    ...more,
  }).facts.fingerprint;
}

const halfWritten = secret(A, { key: B.key, resourceVersion: '2' });
const replaced = secret(B, { resourceVersion: '2' });

test('while a Secret is half-written, the CA that was read before keeps signing', () => {
  assert.equal(use(halfWritten), printOf(A));
});

test('the previous CA signs until a changed Secret’s anchor has propagated', () => {
  assert.equal(use(replaced), printOf(A));
  assert.equal(use(replaced, { bundle: bundle(599) }), printOf(A));
  assert.equal(use(replaced, { bundle: bundle(600) }), printOf(B));
});

test('a CA that replaces a distrusted one signs as soon as it is published', () => {
  const annotations = { [SIGNER_NAME]: 'example.com/workload', [SIGNS_AT_ONCE]: printOf(B) };
  const atOnce = secret(B, { resourceVersion: '2', annotations });
  assert.equal(use(atOnce, { bundle: bundle(0) }), printOf(B));
  const forAnother = { ...annotations, [SIGNS_AT_ONCE]: printOf(A) };
  const late = secret(B, { resourceVersion: '2', annotations: forAnother });
  assert.equal(use(late, { bundle: bundle(0) }), printOf(A));
});

const ends: [law: string, now: Secret, more: Partial<UsableInput>, code: string][] = [
  [
    'the status reckons with its last leaf already',
    halfWritten,
    { signer: signerWith('Retiring') },
    'AUTHORITY_INVALID',
  ],
  [
    'it is distrusted',
    replaced,
    { signer: signerWith('Active', { 'authority.managed.distrusted': [printOf(A)] }) },
    'ANCHOR_NOT_SERVED',
  ],
  ['it has expired', halfWritten, { now: A.authority.facts.notAfter }, 'AUTHORITY_INVALID'],
  [
    'the Secret was deleted and created again',
    secret(B, { uid: 'again' }),
    {},
    'ANCHOR_NOT_SERVED',
  ],
  [
    'its owner took his consent back',
    secret(A, { annotations: {}, key: B.key }),
    {},
    'AUTHORITY_MISSING',
  ],
  ['its anchor is no longer published', halfWritten, { bundle: undefined }, 'AUTHORITY_INVALID'],
];

for (const [law, now, more, code] of ends) {
  test(`the CA that was read before stops signing: ${law}`, () => {
    assert.throws(() => use(now, more), { code, disposition: 'authority' });
  });
}

test('the CA of a deleted Secret is forgotten', () => {
  const opened = createOpenedSecrets(openLocalAuthority, () => NOW);
  opened.signedWith(secret(A), A.authority);
  opened.forget('corp-ca');
  assert.equal(opened.last(secret(A)), undefined);
  opened.signedWith(secret(A), A.authority);
  opened.retain(new Set());
  assert.equal(opened.last(secret(A)), undefined);
});
