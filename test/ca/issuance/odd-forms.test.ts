// SPDX-License-Identifier: Apache-2.0
/** A leaf is built from parts, so nothing that is not DER gets into it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { REQUEST_FIELDS } from '#base/vocabulary.ts';
import type { AuthorityFacts } from '#ca/custody/contract.ts';
import { openLocalAuthority } from '#ca/custody/local.ts';
import { copyRequestedNames } from '#ca/issuance/leaf-subject.ts';
import { encodeLeafTbs } from '#ca/issuance/leaf.ts';
import { encodePem } from '#pki/der/pem.ts';
import { decodeRequest } from '#pki/x509/pkcs10.ts';
import { NOW } from '../../support/pki/chain.ts';
import { FORM_KEY, ODD_CAS, ODD_REQUESTS, UNUSUAL_CAS } from '../../support/pki/forms.ts';
import { requestDer } from '../../support/pki/request-der.ts';

function factsOf(ca: Uint8Array): AuthorityFacts {
  const certificate = encodePem('CERTIFICATE', ca);
  const key = FORM_KEY.export({ type: 'pkcs8', format: 'pem' }).toString();
  return openLocalAuthority({ certificate, key, anchors: undefined }, NOW).facts;
}

/** The whole leaf but its signature, with the same serial number and times each time. */
function leafOf(ca: Uint8Array, request: Uint8Array): string {
  const { publicKey, ...asked } = decodeRequest(request);
  const tbs = encodeLeafTbs({
    issuer: factsOf(ca),
    validity: { notBefore: NOW, notAfter: NOW + 3_600_000 },
    subject: copyRequestedNames({ publicKey, ...asked }, REQUEST_FIELDS),
    publicKey,
    usages: ['digital signature', 'server auth'],
    random: (size) => new Uint8Array(size).fill(7),
  });
  return Buffer.from(tbs).toString('hex');
}

const [{ canonical: plainCa } = { canonical: new Uint8Array() }] = Object.values(ODD_CAS);
const [{ canonical: plain } = { canonical: requestDer() }] = Object.values(ODD_REQUESTS);

describe('a request in an odd form gets the leaf of its twin in DER, octet by octet', () => {
  for (const [name, { odd, canonical }] of Object.entries(ODD_REQUESTS)) {
    test(name, () => assert.equal(leafOf(plainCa, odd), leafOf(plainCa, canonical)));
  }
});

describe('a CA in an odd form issues the leaf of its twin in DER, octet by octet', () => {
  for (const [name, { odd, canonical }] of Object.entries(ODD_CAS)) {
    test(name, () => assert.equal(leafOf(odd, plain), leafOf(canonical, plain)));
  }
});

describe('a CA with an unusual value issues the leaf of a plain one, octet by octet', () => {
  for (const [name, ca] of Object.entries(UNUSUAL_CAS)) {
    test(name, () => assert.equal(leafOf(ca, plain), leafOf(plainCa, plain)));
  }
});
