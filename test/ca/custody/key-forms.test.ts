// SPDX-License-Identifier: Apache-2.0
/** Every type of key that a CA may have, in every form that PEM has for it. */
import assert from 'node:assert/strict';
import { X509Certificate, createPrivateKey, verify } from 'node:crypto';
import { describe, test } from 'node:test';
import { openLocalAuthority } from '#ca/custody/local.ts';
import { prepare } from '#ca/issuance/prepare.ts';
import { decodeCertificate } from '#pki/x509/certificate.ts';
import { encodePem } from '#pki/der/pem.ts';
import { AUTHORITY_KEY_TYPES, type AuthorityKeyType } from '#base/vocabulary.ts';
import { certificateAuthority } from '../../support/ca/generated.ts';
import { NOW, leafInput } from '../../support/ca/issuing.ts';
import { ML_DSA_FORMS, mlDsaPkcs8, secretsOf } from '../../support/pki/ml-dsa-key.ts';
import { refuses } from '../../support/pki/refuses.ts';

type Form = 'pkcs8' | 'sec1' | 'pkcs1';

const LABELS: Readonly<Record<Form, string>> = {
  pkcs8: 'PRIVATE KEY',
  sec1: 'EC PRIVATE KEY',
  pkcs1: 'RSA PRIVATE KEY',
};

interface Expected {
  readonly forms: readonly Form[];
  /** OID of the signature (RFC 5758 §3.2, RFC 8410 §3, RFC 4055 §5, RFC 9881 §3). */
  readonly oid: string;
  /** Of node:crypto's verify. */
  readonly digest: string | null;
}

const EXPECTED: Readonly<Record<AuthorityKeyType, Expected>> = {
  ECDSAP256: { forms: ['pkcs8', 'sec1'], oid: '1.2.840.10045.4.3.2', digest: 'sha256' },
  ECDSAP384: { forms: ['pkcs8', 'sec1'], oid: '1.2.840.10045.4.3.3', digest: 'sha384' },
  ECDSAP521: { forms: ['pkcs8', 'sec1'], oid: '1.2.840.10045.4.3.4', digest: 'sha512' },
  ED25519: { forms: ['pkcs8'], oid: '1.3.101.112', digest: null },
  RSA3072: { forms: ['pkcs8', 'pkcs1'], oid: '1.2.840.113549.1.1.11', digest: 'sha256' },
  RSA4096: { forms: ['pkcs8', 'pkcs1'], oid: '1.2.840.113549.1.1.11', digest: 'sha256' },
  MLDSA65: { forms: ['pkcs8'], oid: '2.16.840.1.101.3.4.3.18', digest: null },
};

for (const keyType of AUTHORITY_KEY_TYPES) {
  const { forms, oid, digest } = EXPECTED[keyType];
  describe(`a CA with an ${keyType} key`, async () => {
    const { certificate, key: text } = await certificateAuthority({ keyType });
    const key = createPrivateKey(text);
    const ca = new X509Certificate(certificate);

    const signs = async (pem: string): Promise<void> => {
      const material = { certificate, key: pem, anchors: undefined };
      const authority = openLocalAuthority(material, NOW);
      const prepared = prepare(leafInput(authority));
      const der = await authority.sign(prepared, new AbortController().signal);
      const leaf = new X509Certificate(der);
      assert.equal(leaf.signatureAlgorithmOid, oid);
      assert.ok(leaf.checkIssued(ca) && leaf.verify(ca.publicKey));
      // node:crypto reads the hash from the certificate; here it is named.
      const { tbs, signature } = decodeCertificate(der);
      assert.ok(verify(digest, tbs, ca.publicKey, signature));
    };

    for (const form of forms) {
      test(`signs with it from ${form}`, async () => {
        const pem = String(key.export({ type: form, format: 'pem' }));
        assert.ok(pem.startsWith(`-----BEGIN ${LABELS[form]}-----\n`));
        await signs(pem);
      });

      test(`refuses it from encrypted ${form}, and the error gives the remedy`, () => {
        const pem = String(
          key.export({ type: form, format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' }),
        );
        const isOld = form !== 'pkcs8';
        assert.equal(pem.includes('Proc-Type: 4,ENCRYPTED'), isOld);
        assert.equal(pem.startsWith('-----BEGIN ENCRYPTED PRIVATE KEY-----'), !isOld);
        const material = { certificate, key: pem, anchors: undefined };
        refuses(
          () => openLocalAuthority(material, NOW),
          'KEY_ENCRYPTED',
          /^tls\.key: the private key is encrypted; store it unencrypted as PKCS#8 \("openssl pkcs8 -topk8 -nocrypt"\)$/,
          'authority',
        );
      });
    }

    if (keyType !== 'MLDSA65') return;
    for (const form of ML_DSA_FORMS) {
      test(`signs with it from PKCS#8 with ${form} (RFC 9881 §6)`, async () => {
        await signs(encodePem('PRIVATE KEY', mlDsaPkcs8(form, secretsOf(key))));
      });
    }
  });
}
