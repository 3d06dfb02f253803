// SPDX-License-Identifier: Apache-2.0
/** The CA that `countersign revoke` takes for the issuer of a certificate. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCrossSign } from '#ca/custody/cross-sign.ts';
import { openLocalAuthority } from '#ca/custody/local.ts';
import { createManagedAuthorities } from '#ca/custody/managed.ts';
import { prepare } from '#ca/issuance/prepare.ts';
import { issuerReader } from '#operations/revoking/issuing-ca.ts';
import { decodeCertificate, readCertificates } from '#pki/x509/certificate.ts';
import { NOW, leafInput, random } from '../../support/ca/issuing.ts';
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
  assert.deepEqual(issuerReader(signers)(found), {
    kind: 'issued',
    authority: ca.facts.fingerprint,
  });
});
