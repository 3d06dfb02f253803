// SPDX-License-Identifier: Apache-2.0
/** For each case of CertificateSigningRequests a signer, or an API server, that breaks it. */
import { otherName, unknownExtension } from '#conformance/crafted-pkcs10.ts';
import { CSR_OPERATIONS, type CsrScenario, type CsrSnapshot } from '#conformance/csr/snapshot.ts';
import { basicConstraints, extKeyUsage, keyUsage } from '#pki/extensions/encode-extensions.ts';
import { oid, sequence, setOf, utf8String } from '#pki/der/der-writer.ts';
import {
  OID_ANY_EXTENDED_KEY_USAGE,
  OID_BASIC_CONSTRAINTS,
  OID_CODE_SIGNING,
} from '#pki/der/oids.ts';
import { KEY_TYPES } from '#base/vocabulary.ts';
import { privateKey, spkiOf } from '../pki/keys.ts';
import { requestedFor, goodCsrSnapshot, nameOf, withScenario } from './csr-snapshot.ts';
import { NOW, ROOT, authority, instead, leaf, without, type Parts } from './leaf.ts';
import {
  requested,
  issued,
  pending,
  snapshot,
  request,
  waiting,
  writtenAgain,
} from './observed-requests.ts';

const HOUR = 3600_000;

const other = { spki: spkiOf(privateKey('P-256', 'somebody else')) };
const stranger = authority('Stranger', 'stranger');

/** A leaf without, with another, or with one more extension. */

const badLeaf = (scenario: CsrScenario, parts: Parts, what = requested()): CsrSnapshot =>
  withScenario(scenario, issued(what, parts));

const touched = (scenario: CsrScenario): CsrSnapshot =>
  withScenario(scenario, writtenAgain(pending()));

const approvedWithout = snapshot('issued', { pem: leaf(requested()).pem, conditions: [] });

const mute = request(requested(), [
  snapshot('pending'),
  snapshot('failed', { conditions: [{ type: 'Failed', status: 'True' }] }),
]);

const chained = (...after: readonly string[]): CsrSnapshot =>
  withScenario(
    'plain',
    issued(requested(), {}, { pem: [leaf(requested()).pem, ...after].join('') }),
  );

const twice = issued();

export const CSR_BROKEN: Readonly<Record<string, CsrSnapshot>> = {
  'CSR-01': withScenario('plain', waiting()),
  'CSR-02': withScenario(
    'unapproved',
    request(requested(), [snapshot('pending'), approvedWithout]),
  ),
  'CSR-03': touched('unapproved'),
  'CSR-04': withScenario(
    'denied',
    writtenAgain(request(requested(), [snapshot('pending'), snapshot('denied')])),
  ),
  'CSR-05': touched('foreign'),
  'CSR-06': touched('longerName'),
  'CSR-07': withScenario(
    'denied',
    request(requested(), [snapshot('denied', { pem: leaf(requested()).pem })]),
  ),
  'CSR-08': withScenario('plain', writtenAgain(issued())),
  'CSR-09': withScenario('plain', {
    ...issued(),
    versions: [
      ...waiting().versions,
      snapshot('approved', { at: 6 }),
      ...issued().versions.slice(2),
    ],
  }),
  'CSR-10': withScenario(
    'plain',
    writtenAgain(issued(), { immutableFields: '{"labels":{"signed":"yes"}}' }),
  ),
  'CSR-11': withScenario('annotated', waiting()),
  'CSR-12': {
    ...withScenario('plain', twice),
    scenarios: { ...withScenario('plain', twice).scenarios, again: twice },
  },
  'CSR-13': withScenario('plain', waiting()),
  'CSR-14': { ...goodCsrSnapshot(), burst: [issued(), waiting()] },
  'CSR-15': { ...goodCsrSnapshot(), burst: [issued(requested(), {}, { at: 12_000 })] },
  'CSR-16': withScenario('certSign', mute),
  'CSR-17': withScenario('RSA1024', mute),
  'CSR-18': badLeaf('plain', other),
  'CSR-19': badLeaf('twoBlocks', other),
  'CSR-20': badLeaf('plain', { by: stranger }),
  'CSR-21': chained(stranger.pem),
  'CSR-22': chained(ROOT.pem),
  'CSR-23': chained('Bag Attributes: none\n'),
  'CSR-24': badLeaf('plain', instead(basicConstraints({ ca: true }))),
  'CSR-25': badLeaf('plain', { serial: Uint8Array.of(7) }),
  'CSR-26': { ...goodCsrSnapshot(), burst: [twice, twice] },
  'CSR-27': badLeaf('plain', without('2.5.29.35')),
  'CSR-28': badLeaf('plain', { subject: sequence() }),
  'CSR-29': badLeaf('plain', without('2.5.29.15')),
  'CSR-30': badLeaf('plain', without('2.5.29.37')),
  'CSR-31': badLeaf('encipherment', instead(keyUsage(['digitalSignature', 'keyEncipherment']))),
  'CSR-32': badLeaf('plain', { notAfter: NOW + 2 * HOUR }),
  'CSR-33': badLeaf('tenMinutes', { notAfter: NOW + HOUR }, requested({ lifetimeSeconds: 600 })),
  'CSR-34': badLeaf(
    'tenYears',
    { notAfter: NOW + 87_600 * HOUR },
    requested({ lifetimeSeconds: 315_360_000 }),
  ),
  'CSR-35': badLeaf(
    'noLifetime',
    { notAfter: NOW + 24 * HOUR },
    requested({ lifetimeSeconds: undefined }),
  ),
  'CSR-36': badLeaf('plain', { notBefore: NOW + 2 * HOUR, notAfter: NOW + 3 * HOUR }),
  'CSR-37': badLeaf('plain', { notBefore: NOW - 2 * HOUR }),
  'CSR-38': badLeaf('tenYears', { notAfter: NOW + 87_600 * HOUR }),
  'CSR-39': badLeaf('plain', instead(extKeyUsage(['1.3.6.1.5.5.7.3.1']))),
  'CSR-40': badLeaf('plain', instead(extKeyUsage(['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2']))),
  'CSR-41': badLeaf('certSign', instead(keyUsage(['digitalSignature', 'keyCertSign']))),
  'CSR-42': badLeaf('anyUsage', instead(extKeyUsage([OID_ANY_EXTENDED_KEY_USAGE]))),
  'CSR-43': badLeaf('plain', { subject: nameOf('admins') }),
  'CSR-44': badLeaf('alternativeNames', { subject: nameOf('admins') }),
  'CSR-45': badLeaf('plain', { subject: sequence() }),
  'CSR-46': badLeaf('masters', { subject: nameOf('system:masters') }),
  'CSR-47': badLeaf('kubeadm', { subject: nameOf('kubeadm:cluster-admins') }),
  'CSR-48': badLeaf('systemUser', { subject: nameOf('system:nodes') }),
  'CSR-49': badLeaf('userId', { subject: withUserId() }),
  'CSR-50': badLeaf('otherName', instead(otherName('eve@example.com'))),
  'CSR-51': badLeaf('twoNames', { subject: withTwoNames() }),
  'CSR-52': badLeaf(
    'authorityExtension',
    instead({ ...basicConstraints({ ca: true }), oid: OID_BASIC_CONSTRAINTS }),
  ),
  'CSR-53': badLeaf('usageExtension', instead(keyUsage(['keyCertSign']))),
  'CSR-54': badLeaf('purposeExtension', instead(extKeyUsage([OID_CODE_SIGNING]))),
  'CSR-55': badLeaf('unknownExtension', instead(unknownExtension())),
  'CSR-56': withScenario('RSA1024', issued(requested({ keyType: undefined }))),
  ...Object.fromEntries(
    // Refused although the profile lists it; issued although it does not.
    KEY_TYPES.map((keyType, index) => [
      `CSR-${57 + index}`,
      withScenario(
        keyType,
        keyType === 'ECDSAP256' || keyType === 'ED25519'
          ? waiting(requestedFor(keyType))
          : issued(requestedFor(keyType)),
      ),
    ]),
  ),
  'CSR-64': { ...goodCsrSnapshot(), clientAuthentication: { username: 'system:anonymous' } },
  'CSR-65': chained(ROOT.pem),
  'CSR-66': withScenario('masters', issued()),
  ...Object.fromEntries(
    CSR_OPERATIONS.map((name, index) => [
      `CSR-${67 + index}`,
      {
        ...goodCsrSnapshot(),
        operations: { ...goodCsrSnapshot().operations, [name]: { fault: '404 page not found' } },
      },
    ]),
  ),
};

function withUserId(): Uint8Array {
  return sequence(
    setOf(sequence(oid('2.5.4.3'), utf8String('eve'))),
    setOf(sequence(oid('1.3.6.1.4.1.57683.2'), utf8String('0'))),
  );
}

function withTwoNames(): Uint8Array {
  return sequence(
    setOf(sequence(oid('2.5.4.3'), utf8String('eve'))),
    setOf(sequence(oid('2.5.4.3'), utf8String('admin'))),
  );
}
