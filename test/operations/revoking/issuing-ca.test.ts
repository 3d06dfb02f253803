// SPDX-License-Identifier: Apache-2.0
/** The CA that `countersign revoke` takes for the issuer of a certificate. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCrossSign } from '#ca/custody/cross-sign.ts';
import { openLocalAuthority } from '#ca/custody/local.ts';
import { createManagedAuthorities } from '#ca/custody/managed.ts';
import { prepare } from '#ca/issuance/prepare.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { readIssuers, sortByIssuer } from '#operations/revoking/issuing-ca.ts';
import {
  decodeCertificate,
  fingerprint,
  readCertificates,
  type Certificate,
} from '#pki/x509/certificate.ts';
import { writeAnchors } from '#pki/x509/trust-bundle.ts';
import { NOW, leafInput, random } from '../../support/ca/issuing.ts';
import { ca as caExtension, keyIds, link, usage } from '../../support/pki/chain.ts';
import { int } from '../../support/pki/der.ts';
import { statusOf } from '../../support/signers/authority-status.ts';
import { workload } from '../../support/signers/workload-profile.ts';

const SIGNER = 'example.com/workload';

test('a cross-certificate in the chain is not the CA: a CRL is of the CA in the status', async () => {
  const create = createManagedAuthorities(random);
  const wanted = {
    keyType: 'ECDSAP256',
    durationSeconds: 365 * 24 * 3600,
    crossSigned: true,
    now: NOW,
  } as const;
  const old = { ...(await create({ ...wanted, commonName: 'Old CA' })), anchors: undefined };
  const next = { ...(await create({ ...wanted, commonName: 'New CA' })), anchors: undefined };
  const crossed = await createCrossSign(random)({ old, next, now: NOW });
  const ca = openLocalAuthority(next, NOW);
  const prepared = prepare(leafInput(ca));
  const leaf = decodeCertificate(await ca.sign(prepared, new AbortController().signal));
  const above = readCertificates(crossed ?? '');
  assert.equal(above.length, 2);
  const signers = [{ ...workload(), status: statusOf(ca) }];
  const found = { signerName: SIGNER, chain: [leaf, ...above], source: 'csr a' } as const;
  assert.deepEqual(readIssuers(signers, [found]).verdictOn(found), {
    kind: 'issued',
    authorities: [ca.facts.fingerprint],
  });
});

/** A signer whose status has these CAs, each with its trust anchor. */
function signerWith(
  ...cas: readonly (readonly [ca: Certificate, anchor: Certificate])[]
): ClusterSigner {
  const status = {
    authorities: cas.map(([ca, anchor]) => ({
      fingerprint: fingerprint(ca.raw),
      phase: 'Active' as const,
      notBefore: '2026-01-01T00:00:00Z',
      notAfter: '2027-01-01T00:00:00Z',
      longestLeaf: '24h',
      anchors: writeAnchors([anchor]),
    })),
  };
  return { ...workload(), status };
}

test('a certificate of a CA with the key of another may be of each, recorded or not', () => {
  const extensions = [caExtension(), usage(), ...keyIds('root')];
  const first = link('root', { extensions });
  const { certificate: second } = link('root', { extensions, serial: int(2) });
  const leaf = link('leaf', { by: first, extensions: keyIds('leaf', 'root') }).certificate;
  const signers = [signerWith([second, second], [first.certificate, first.certificate])];
  const live = { signerName: SIGNER, chain: [leaf], source: 'csr a' } as const;
  const recorded = { ...live, authority: fingerprint(first.certificate.raw), source: 'record 1-1' };
  const issuers = readIssuers(signers, [live, recorded]);
  const authorities = [second, first.certificate].map(({ raw }) => fingerprint(raw));
  assert.deepEqual(issuers.verdictOn(live), { kind: 'issued', authorities });
  const ofRecord = { kind: 'issued', authorities: authorities.toReversed() };
  assert.deepEqual(issuers.verdictOn(recorded), ofRecord);
  for (const { authority } of sortByIssuer(issuers, [live, recorded]).issued)
    assert.equal(authority, undefined, 'each CRL lists it');
});

test('a record of another CA than the signature leaves the CA open, in any order', () => {
  const extensions = [caExtension(), usage(), ...keyIds('root')];
  const root = link('root', { extensions });
  const leaf = link('leaf', { by: root, extensions: keyIds('leaf', 'root') }).certificate;
  const signers = [signerWith([root.certificate, root.certificate])];
  const live = { signerName: SIGNER, chain: [leaf], source: 'csr a' } as const;
  const recorded = { ...live, authority: `sha256:${'9e'.repeat(32)}`, source: 'record 1-1' };
  for (const found of [[live, recorded], [recorded, live], [recorded]]) {
    const issuers = readIssuers(signers, found);
    for (const { authority } of sortByIssuer(issuers, found).issued)
      assert.equal(authority, undefined);
  }
  const unknown = [signerWith()];
  const only = sortByIssuer(readIssuers(unknown, [recorded]), [recorded]).issued;
  assert.deepEqual(only, [recorded], 'a record alone names the CA');
});

test('a chain shows the intermediate CA of a certificate whose chain was taken away', () => {
  const root = link('root', { extensions: [caExtension(), usage(), ...keyIds('root')] });
  const below = [caExtension(0), usage(), ...keyIds('issuing', 'root')];
  const issuing = link('issuing', { by: root, extensions: below });
  const [one, other] = ['one', 'other'].map(
    (name) => link(name, { by: issuing, extensions: keyIds(name, 'issuing') }).certificate,
  ) as [Certificate, Certificate];
  const bare = { signerName: SIGNER, chain: [one], source: 'a', isUnguarded: true } as const;
  const whole = { ...bare, chain: [other, issuing.certificate], source: 'b' } as const;
  const signers = [signerWith([issuing.certificate, root.certificate])];
  const authorities = [fingerprint(issuing.certificate.raw)];
  assert.deepEqual(readIssuers(signers, [bare, whole]).verdictOn(bare), {
    kind: 'issued',
    authorities,
  });
  assert.deepEqual(readIssuers(signers, [bare]).verdictOn(bare), { kind: 'unknown' });
});
