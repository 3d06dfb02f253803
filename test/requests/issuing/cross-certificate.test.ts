// SPDX-License-Identifier: Apache-2.0
/** ADR 0022: with which leaves a cross-certificate is sent. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Authority } from '#ca/custody/contract.ts';
import { createCrossSign } from '#ca/custody/cross-sign.ts';
import { openLocalAuthority } from '#ca/custody/local.ts';
import { createManagedAuthorities } from '#ca/custody/managed.ts';
import { decodePemAll } from '#pki/der/pem.ts';
import { crossCertificates } from '#requests/issuing/cross-certificate.ts';
import { localCaOf } from '../../support/requests/local-ca.ts';
import { NOW, leafInput, random } from '../../support/ca/issuing.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';
import { workload } from '../../support/signers/workload-profile.ts';

const HOUR = 3_600_000;
const wanted = { keyType: 'ECDSAP256', commonName: 'CA', crossSigned: true } as const;
const create = createManagedAuthorities(random);
const old = await create({ ...wanted, durationSeconds: 48 * 3_600, now: NOW - 24 * HOUR });
const next = await create({ ...wanted, durationSeconds: 48 * 3_600, now: NOW - HOUR });
const cross = (await createCrossSign(random)({ old, next, now: NOW })) ?? '';
const authority = openLocalAuthority({ ...next, cross }, NOW);
const [certificate] = decodePemAll(cross, 'CERTIFICATE');
const issuer = openLocalAuthority(old, NOW).facts.fingerprint;

const OPTION = { 'authority.managed.crossSigned': true };
const DISTRUSTED = 'authority.managed.distrusted';
const day = { notBefore: NOW - 60_000, notAfter: NOW + 24 * HOUR };

/** How many certificates go with such a leaf. */
function sent(
  changes: Readonly<Record<string, unknown>> = OPTION,
  leaf = day,
  { facts }: Authority = authority,
): number {
  return crossCertificates(workload(changes), facts, leaf).length;
}

test('the cross-certificate is sent with a leaf that does not outlive it', () => {
  assert.equal(sent(), 1);
  assert.equal(sent(OPTION, { ...day, notAfter: day.notAfter + 1_000 }), 0);
});

test('the cross-certificate is not sent if the spec does not ask for it', () => {
  assert.equal(sent({}), 0);
});

test('the cross-certificate is not sent once the CA that signed it is distrusted', () => {
  assert.equal(sent({ ...OPTION, [DISTRUSTED]: [issuer] }), 0);
  assert.equal(sent({ ...OPTION, [DISTRUSTED]: [`sha256:${'0'.repeat(64)}`] }), 1);
});

test('without a cross-certificate the chain is the leaf alone', () => {
  assert.equal(sent(OPTION, day, openLocalAuthority(next, NOW)), 0);
});

test('a chain is the leaf, then the cross-certificate, and no root', async () => {
  const component = recordedComponent();
  const signer = workload(OPTION);
  const issuing = localCaOf(component, authority, signer);
  const { issuer: _issuer, random: _random, ...leaf } = leafInput(authority);
  const made = await issuing.issue(leaf, signer);
  assert.ok(made.kind === 'chain');
  const chain = decodePemAll(made.chain, 'CERTIFICATE');
  assert.equal(chain.length, 2);
  assert.deepEqual(chain[1], certificate);
  assert.equal(made.anchors, next.certificate);
});
