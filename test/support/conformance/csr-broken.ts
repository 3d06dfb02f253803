// SPDX-License-Identifier: Apache-2.0
/** For each case of CertificateSigningRequests a signer, or an API server, that breaks it. */
import { otherName, unknownExtension } from '../../../src/conformance/crafted-pkcs10.ts';
import {
  CSR_OPERATIONS,
  type CsrScene,
  type CsrWorld,
} from '../../../src/conformance/csr/snapshot.ts';
import {
  basicConstraints,
  extKeyUsage,
  keyUsage,
  type Extension,
} from '../../../src/pki/extensions/encode-extensions.ts';
import { oid, sequence, setOf, utf8String } from '../../../src/pki/der/der-writer.ts';
import {
  OID_ANY_EXTENDED_KEY_USAGE,
  OID_BASIC_CONSTRAINTS,
  OID_CODE_SIGNING,
} from '../../../src/pki/der/oids.ts';
import { KEY_TYPES } from '../../../src/vocabulary.ts';
import { privateKey, spkiOf } from '../pki/keys.ts';
import { askedFor, goodCsrWorld, nameOf, withScene } from './csr-snapshot.ts';
import { NOW, ROOT, authority, leaf, type Parts } from './leaf.ts';
import {
  asked,
  issued,
  pending,
  snapshot,
  trial,
  waiting,
  writtenAgain,
} from './observed-requests.ts';

const HOUR = 3600_000;

const other = { spki: spkiOf(privateKey('P-256', 'somebody else')) };
const stranger = authority('Stranger', 'stranger');

/** A leaf without, with another, or with one more extension. */
const without = (type: string): Parts => ({
  extensions: (good) => good.filter((each) => each.oid !== type),
});
const instead = (...changed: readonly Extension[]): Parts => ({
  extensions: (good) => [
    ...good.filter(({ oid: type }) => !changed.some((each) => each.oid === type)),
    ...changed,
  ],
});

const badLeaf = (scene: CsrScene, parts: Parts, what = asked()): CsrWorld =>
  withScene(scene, issued(what, parts));

const touched = (scene: CsrScene): CsrWorld => withScene(scene, writtenAgain(pending()));

const approvedWithout = snapshot('issued', { pem: leaf(asked()).pem, conditions: [] });

const mute = trial(asked(), [
  snapshot('pending'),
  snapshot('failed', { conditions: [{ type: 'Failed', status: 'True' }] }),
]);

const chained = (...after: readonly string[]): CsrWorld =>
  withScene('plain', issued(asked(), {}, { pem: [leaf(asked()).pem, ...after].join('') }));

const twice = issued();

export const CSR_BROKEN: Readonly<Record<string, CsrWorld>> = {
  'CSR-01': withScene('plain', waiting()),
  'CSR-02': withScene('unapproved', trial(asked(), [snapshot('pending'), approvedWithout])),
  'CSR-03': touched('unapproved'),
  'CSR-04': withScene(
    'denied',
    writtenAgain(trial(asked(), [snapshot('pending'), snapshot('denied')])),
  ),
  'CSR-05': touched('foreign'),
  'CSR-06': touched('longerName'),
  'CSR-07': withScene('denied', trial(asked(), [snapshot('denied', { pem: leaf(asked()).pem })])),
  'CSR-08': withScene('plain', writtenAgain(issued())),
  'CSR-09': withScene('plain', {
    ...issued(),
    versions: [
      ...waiting().versions,
      snapshot('approved', { at: 6 }),
      ...issued().versions.slice(2),
    ],
  }),
  'CSR-10': withScene('plain', writtenAgain(issued(), { frame: '{"labels":{"signed":"yes"}}' })),
  'CSR-11': withScene('annotated', waiting()),
  'CSR-12': {
    ...withScene('plain', twice),
    scenes: { ...withScene('plain', twice).scenes, again: twice },
  },
  'CSR-13': withScene('plain', waiting()),
  'CSR-14': { ...goodCsrWorld(), burst: [issued(), waiting()] },
  'CSR-15': { ...goodCsrWorld(), burst: [issued(asked(), {}, { at: 12_000 })] },
  'CSR-16': withScene('certSign', mute),
  'CSR-17': withScene('RSA1024', mute),
  'CSR-18': badLeaf('plain', other),
  'CSR-19': badLeaf('twoBlocks', other),
  'CSR-20': badLeaf('plain', { by: stranger }),
  'CSR-21': chained(stranger.pem),
  'CSR-22': chained(ROOT.pem),
  'CSR-23': chained('Bag Attributes: none\n'),
  'CSR-24': badLeaf('plain', instead(basicConstraints({ ca: true }))),
  'CSR-25': badLeaf('plain', { serial: Uint8Array.of(7) }),
  'CSR-26': { ...goodCsrWorld(), burst: [twice, twice] },
  'CSR-27': badLeaf('plain', without('2.5.29.35')),
  'CSR-28': badLeaf('plain', { subject: sequence() }),
  'CSR-29': badLeaf('plain', without('2.5.29.15')),
  'CSR-30': badLeaf('plain', without('2.5.29.37')),
  'CSR-31': badLeaf('encipherment', instead(keyUsage(['digitalSignature', 'keyEncipherment']))),
  'CSR-32': badLeaf('plain', { notAfter: NOW + 2 * HOUR }),
  'CSR-33': badLeaf('tenMinutes', { notAfter: NOW + HOUR }, asked({ lifetimeSeconds: 600 })),
  'CSR-34': badLeaf(
    'tenYears',
    { notAfter: NOW + 87_600 * HOUR },
    asked({ lifetimeSeconds: 315_360_000 }),
  ),
  'CSR-35': badLeaf(
    'noLifetime',
    { notAfter: NOW + 24 * HOUR },
    asked({ lifetimeSeconds: undefined }),
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
  'CSR-56': withScene('RSA1024', issued(asked({ keyType: undefined }))),
  ...Object.fromEntries(
    // Refused although the profile lists it; issued although it does not.
    KEY_TYPES.map((keyType, index) => [
      `CSR-${57 + index}`,
      withScene(
        keyType,
        keyType === 'ECDSAP256' || keyType === 'ED25519'
          ? waiting(askedFor(keyType))
          : issued(askedFor(keyType)),
      ),
    ]),
  ),
  'CSR-64': { ...goodCsrWorld(), login: { username: 'system:anonymous' } },
  'CSR-65': chained(ROOT.pem),
  'CSR-66': withScene('masters', issued()),
  ...Object.fromEntries(
    CSR_OPERATIONS.map((name, index) => [
      `CSR-${67 + index}`,
      {
        ...goodCsrWorld(),
        operations: { ...goodCsrWorld().operations, [name]: { fault: '404 page not found' } },
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
