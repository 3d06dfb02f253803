// SPDX-License-Identifier: Apache-2.0
/** What a request for the CA of another cluster may contain, whatever a rule allows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  validateIntermediate,
  type ValidatedIntermediate,
} from '#ca/policy/validate-intermediate.ts';
import { validateRequest } from '#ca/policy/validate.ts';
import {
  basicConstraints,
  extKeyUsage,
  keyUsage,
  nameConstraints,
} from '#pki/extensions/encode-extensions.ts';
import { OID_CLIENT_AUTH } from '#pki/der/oids.ts';
import { CN, O, OU, made } from './request.ts';
import { memberCsr, type MemberWanted } from '../../support/requests/intermediate.ts';
import { oid, seq, set, utf8 } from '../../support/pki/der.ts';
import { privateKey } from '../../support/pki/keys.ts';

function judged(wanted: MemberWanted = {}): ValidatedIntermediate {
  return validateIntermediate({
    csr: memberCsr(wanted),
    keyTypes: ['ECDSAP256', 'ECDSAP384'],
    reservedPrefixes: ['corp:'],
  });
}

test('the request of a member is valid, and its parts are the cluster, name and usages', () => {
  const found = judged();
  assert.ok(found.kind === 'valid', JSON.stringify(found));
  const { cluster, commonName, usages } = found.asked;
  assert.deepEqual(
    { cluster, commonName, usages },
    { cluster: 'prod', commonName: 'Prod CA 1795759200', usages: ['cert sign', 'crl sign'] },
  );
});

test('a member may omit crl sign and the keyUsage extension', () => {
  const extensions = [basicConstraints({ ca: true, pathLen: 0 })];
  const found = judged({ usages: ['cert sign'], extensions });
  assert.ok(found.kind === 'valid', JSON.stringify(found));
  assert.deepEqual(found.asked.usages, ['cert sign']);
});

const named = (...subject: [string, string][]): MemberWanted => ({ subject });
const CA = [O, 'prod'] as [string, string];
const NAME = [CN, 'Prod CA'] as [string, string];
const constraints = basicConstraints({ ca: true, pathLen: 0 });
/** Not critical, or it would be refused before. */
const CONSTRAINED = {
  ...nameConstraints({ permitted: [{ kind: 'uri', text: 'x.example' }], excluded: [] }),
  critical: false,
};
/** PKCS#9 challengePassword. */
const PASSWORD = seq(oid('1.2.840.113549.1.9.7'), set(utf8('secret')));

const rows: Readonly<Record<string, readonly [MemberWanted, string]>> = {
  'for a leaf': [{ extensions: [basicConstraints({ ca: false })] }, 'NotAnIntermediate'],
  'without basicConstraints': [{ extensions: [keyUsage(['keyCertSign'])] }, 'NotAnIntermediate'],
  'without a path length': [{ pathLen: undefined }, 'NotAnIntermediate'],
  'with path length 1': [{ pathLen: 1 }, 'NotAnIntermediate'],
  'without a cluster': [named(NAME), 'SubjectNotAllowed'],
  'with two clusters': [named(CA, [O, 'other'], NAME), 'SubjectNotAllowed'],
  'without a common name': [named(CA), 'SubjectNotAllowed'],
  'with an organizational unit': [named(CA, [OU, 'x'], NAME), 'SubjectNotAllowed'],
  'with a locality': [named(CA, ['2.5.4.7', 'x'], NAME), 'SubjectNotAllowed'],
  'for a cluster with a dot': [{ cluster: 'prod.other' }, 'SubjectNotAllowed'],
  'for a cluster in capitals': [{ cluster: 'Prod' }, 'SubjectNotAllowed'],
  'for a cluster that ends in a hyphen': [{ cluster: 'prod-' }, 'SubjectNotAllowed'],
  'for a cluster of 64 characters': [{ cluster: 'p'.repeat(64) }, 'SubjectNotAllowed'],
  'with a long common name': [named(CA, [CN, 'n'.repeat(65)]), 'SubjectNotAllowed'],
  'with a common name of Kubernetes': [named(CA, [CN, 'system:admin']), 'ReservedSubject'],
  'with a common name that is reserved here': [named(CA, [CN, 'corp:x']), 'ReservedSubject'],
  'with a UID of Kubernetes': [named(CA, NAME, ['1.3.6.1.4.1.57683.2', 'uid']), 'UserIdAttribute'],
  'with an invisible character': [named(CA, [CN, 'Prod\u200b CA']), 'MalformedName'],
  'with a URI': [{ uris: ['spiffe://other.fleet.example.com'] }, 'AlternativeNamesNotAllowed'],
  'with a DNS name': [{ dnsNames: ['a.example.com'] }, 'AlternativeNamesNotAllowed'],
  'with an address': [{ ipAddresses: [[10, 0, 0, 1]] }, 'AlternativeNamesNotAllowed'],
  'with a purpose': [
    { extensions: [constraints, extKeyUsage([OID_CLIENT_AUTH])] },
    'PartsNotAllowed',
  ],
  'with name constraints of its own': [
    {
      extensions: [constraints, CONSTRAINED],
    },
    'PartsNotAllowed',
  ],
  'with an unknown critical extension': [
    { extensions: [constraints, { oid: '1.2.3.4', critical: true, value: seq() }] },
    'UnknownCriticalExtension',
  ],
  'with an attribute': [{ attributes: [PASSWORD] }, 'PartsNotAllowed'],
  'without usages': [{ usages: [] }, 'UsageNotAllowed'],
  'without cert sign': [{ usages: ['crl sign'], bits: ['cRLSign'] }, 'UsageNotAllowed'],
  'with client auth besides': [
    { usages: ['cert sign', 'crl sign', 'client auth'] },
    'UsageNotAllowed',
  ],
  'with any usage': [{ usages: ['cert sign', 'any'] }, 'UsageNotAllowed'],
  'with a usage twice': [{ usages: ['cert sign', 'cert sign'] }, 'UsageNotAllowed'],
  'with a bit that spec.usages lacks': [{ usages: ['cert sign'] }, 'UsageNotAllowed'],
  'whose key signs messages, too': [
    { bits: ['keyCertSign', 'cRLSign', 'digitalSignature'] },
    'UsageNotAllowed',
  ],
  'with a key type that the profile lacks': [{ key: privateKey('P-521') }, 'UnsupportedKeyType'],
};

for (const [name, [wanted, reason]] of Object.entries(rows)) {
  test(`a request ${name} is invalid`, () => {
    const found = judged(wanted);
    assert.ok(found.kind === 'fail', 'it was valid');
    assert.equal(found.reason, reason, found.message);
  });
}

test('the request of a member is invalid for every signer of leaves', () => {
  const found = validateRequest({
    csr: memberCsr(),
    profile: {
      keyTypes: ['ECDSAP256'],
      usages: ['digital signature', 'client auth', 'server auth'],
      copy: ['commonName', 'organizations'],
    },
    reservedPrefixes: [],
  });
  assert.ok(found.kind === 'fail');
  assert.equal(found.reason, 'CertificateAuthority');
  assert.match(found.message, /cert sign/);
});

test('the request of a person is invalid for a signer of CAs', () => {
  const { csr } = made();
  const found = validateIntermediate({ csr, keyTypes: ['ECDSAP256'], reservedPrefixes: [] });
  assert.ok(found.kind === 'fail');
  assert.equal(found.reason, 'NotAnIntermediate');
});
