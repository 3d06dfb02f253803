// SPDX-License-Identifier: Apache-2.0
/** The signer that the issuerRef of a CertificateRequest names. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namedIssuer } from '#api/acme/named-issuer.ts';
import type { IssuerReference } from '#api/request/certificate-request.ts';

const rows: readonly [
  law: string,
  reference: Omit<IssuerReference, 'name'>,
  signerKind: string | undefined,
  isOfCountersign: boolean,
][] = [
  ['a ClusterSigner', { group: 'countersign.dev', kind: 'ClusterSigner' }, 'ClusterSigner', true],
  ['an AcmeSigner', { group: 'acme.countersign.dev', kind: 'AcmeSigner' }, 'AcmeSigner', true],
  [
    'no signer with the group of another kind',
    { group: 'countersign.dev', kind: 'AcmeSigner' },
    undefined,
    true,
  ],
  [
    'no signer with a kind that objects inherit',
    { group: 'countersign.dev', kind: 'toString' },
    undefined,
    true,
  ],
  ['no signer of another project', { group: 'example.com', kind: 'Signer' }, undefined, false],
];
for (const [law, reference, signerKind, isOfCountersign] of rows)
  test(`an issuerRef names ${law}`, () => {
    const issuer = namedIssuer({ name: 'a', ...reference });
    assert.deepEqual([issuer.signerKind, issuer.isOfCountersign], [signerKind, isOfCountersign]);
  });

test('an issuerRef without group and kind names an Issuer of cert-manager', () => {
  assert.deepEqual(namedIssuer({ name: 'a' }), {
    group: 'cert-manager.io',
    kind: 'Issuer',
    name: 'a',
    signerKind: undefined,
    isOfCountersign: false,
  });
});
