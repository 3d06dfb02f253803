// SPDX-License-Identifier: Apache-2.0
/**
 * ADR 0078: leaves of a managed CA below the root of a company, before verifiers that have nothing
 * but one anchor. Go and OpenSSL are the judges.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { AuthorityKeyType } from '#base/vocabulary.ts';
import { openLocalAuthority } from '#ca/custody/local.ts';
import { createCaRequest } from '#ca/custody/managed.ts';
import { decodePem, decodePemAll } from '#pki/der/pem.ts';
import { localCaOf } from '../support/requests/local-ca.ts';
import { createCompanyRoot } from '../support/ca/company-root.ts';
import { NOW, leafInput } from '../support/ca/issuing.ts';
import { recordedComponent } from '../support/component/recorded-component.ts';
import { workload } from '../support/signers/workload-profile.ts';
import { Openssl } from './openssl.ts';
import { ACCEPTED, chainOf, openOracle } from './oracle.ts';
import { ourChain } from './ours.ts';

const oracle = await openOracle();
const openssl = new Openssl();
after(async () => {
  openssl[Symbol.dispose]();
  await oracle[Symbol.asyncDispose]();
});

const ROOT = await createCompanyRoot();
const OTHER = await createCompanyRoot();

/** A leaf with the chain that a signer sends, and the CA below the root. */
async function issue(keyType: AuthorityKeyType): Promise<{
  readonly chain: readonly [Uint8Array, ...Uint8Array[]];
  readonly ca: Uint8Array;
}> {
  const wanted = { keyType, commonName: 'CA', crossSigned: false, now: NOW };
  const { key, request } = await createCaRequest(wanted);
  const ca = ROOT.sign(request, 365);
  const root = ROOT.material.certificate;
  const authority = openLocalAuthority({ certificate: ca + root, key, anchors: root }, NOW);
  const signer = workload();
  const issuing = localCaOf(recordedComponent(), authority, signer);
  const { issuer: _issuer, random: _random, ...leaf } = leafInput(authority);
  const issued = await issuing.issue(leaf, signer);
  assert.ok(issued.kind === 'chain');
  const [first, ...above] = decodePemAll(issued.chain, 'CERTIFICATE');
  assert.ok(first !== undefined);
  return { chain: [first, ...above], ca: decodePem(ca, 'CERTIFICATE') };
}

/** Who believes the chain with this anchor alone. */
async function believers(
  [leaf, ...intermediates]: readonly [Uint8Array, ...Uint8Array[]],
  anchor: Uint8Array,
): Promise<readonly string[]> {
  const parts = { leaf, intermediates, roots: [anchor], now: NOW };
  const verdicts = {
    ours: ourChain(parts).level === ACCEPTED,
    go: (await oracle.ask('v', chainOf(parts))).level === ACCEPTED,
    openssl: await openssl.acceptsChain(parts),
  };
  return Object.entries(verdicts).flatMap(([who, accepts]) => (accepts ? [who] : []));
}

for (const keyType of ['ECDSAP256', 'ECDSAP384', 'ED25519', 'RSA3072'] as const) {
  test(`${keyType}: all verify a leaf from the root alone, and none from another`, async () => {
    const { chain } = await issue(keyType);
    assert.equal(chain.length, 2, 'the root is not sent');
    assert.deepEqual(await believers(chain, ROOT.certificate.raw), ['ours', 'go', 'openssl']);
    assert.deepEqual(await believers(chain, OTHER.certificate.raw), []);
  });
}

test('Go verifies a leaf from the managed CA alone, the anchor Authority', async () => {
  const { chain, ca } = await issue('ECDSAP256');
  assert.ok((await believers(chain, ca)).includes('go'));
});
