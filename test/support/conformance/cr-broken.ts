// SPDX-License-Identifier: Apache-2.0
/** For each case of CertificateRequests an issuer that breaks it. */
import { unknownExtension } from '../../../src/conformance/crafted-pkcs10.ts';
import type { CrScene, CrWorld } from '../../../src/conformance/certificaterequest/snapshot.ts';
import { sequence } from '../../../src/pki/der/der-writer.ts';
import {
  basicConstraints,
  extKeyUsage,
  keyUsage,
  type Extension,
} from '../../../src/pki/extensions/encode-extensions.ts';
import { privateKey, spkiOf } from '../pki/keys.ts';
import {
  crDenied,
  crFailed,
  crIssued,
  crWaiting,
  goodCrWorld,
  ready,
  withCrScenes,
} from './cr-snapshot.ts';
import { askedFor, nameOf } from './csr-snapshot.ts';
import { NOW, ROOT, authority, leaf, type Parts } from './leaf.ts';
import { asked, pending, snapshot, trial, writtenAgain } from './observed-requests.ts';

const HOUR = 3600_000;
const stranger = authority('Stranger', 'stranger');
const without = (type: string): Parts => ({
  extensions: (good) => good.filter(({ oid }) => oid !== type),
});
const instead = (changed: Extension): Parts => ({
  extensions: (good) => [...good.filter(({ oid }) => oid !== changed.oid), changed],
});
const badLeaf = (parts: Parts, scene: CrScene = 'plain', what = asked()): CrWorld =>
  withCrScenes({ [scene]: crIssued(what, parts) });
const chained = (pem: string): CrWorld =>
  withCrScenes({ plain: crIssued(asked(), {}, { pem: leaf(asked()).pem + pem }) });
const twice = crIssued();
const ca = instead(basicConstraints({ ca: true }));

export const CR_BROKEN: Readonly<Record<string, CrWorld>> = {
  'CR-01': withCrScenes({ plain: crWaiting() }),
  'CR-02': withCrScenes({
    unapproved: trial(asked(), [snapshot('issued', { pem: leaf(asked()).pem, conditions: [] })]),
  }),
  'CR-03': withCrScenes({
    unapproved: trial(
      asked(),
      [snapshot('pending'), snapshot('failed', { conditions: [ready('False', 'Failed')] })],
      { ownWrites: 0 },
    ),
  }),
  'CR-04': withCrScenes({ denied: crDenied({ conditions: [{ type: 'Denied', status: 'True' }] }) }),
  'CR-05': withCrScenes({ foreign: writtenAgain(pending()) }),
  'CR-06': withCrScenes({ otherGroup: writtenAgain(pending()) }),
  'CR-07': withCrScenes({
    plain: crIssued(asked(), {}, { conditions: [ready('False', 'Pending')] }),
  }),
  'CR-08': withCrScenes({ masters: crFailed(asked(), { failureTime: '' }) }),
  'CR-09': withCrScenes({
    plain: crIssued(asked(), {}, { conditions: [ready('True', 'Signed')] }),
  }),
  'CR-10': withCrScenes({ plain: writtenAgain(crIssued()) }),
  'CR-11': withCrScenes({ plain: writtenAgain(crIssued(), { frame: '{"labels":{}}' }) }),
  'CR-12': withCrScenes({ annotated: crWaiting() }),
  'CR-13': withCrScenes({ plain: twice, again: twice }),
  'CR-14': goodCrWorld({ burst: [crIssued(), crWaiting()] }),
  'CR-15': goodCrWorld({ burst: [twice, twice] }),
  'CR-16': goodCrWorld({ burst: [crIssued(asked(), {}, { at: 12_000 })] }),
  'CR-17': badLeaf({ spki: spkiOf(privateKey('P-256', 'somebody else')) }),
  'CR-18': goodCrWorld({ ownAnchor: { certificates: [stranger.certificate], from: 'status.ca' } }),
  'CR-19': goodCrWorld({ anchors: { certificates: [stranger.certificate], from: 'ca.crt' } }),
  'CR-20': chained(stranger.pem),
  'CR-21': chained(ROOT.pem),
  'CR-22': badLeaf({ serial: Uint8Array.of(7) }),
  'CR-23': badLeaf(without('2.5.29.35')),
  'CR-24': badLeaf({ subject: sequence() }),
  'CR-25': badLeaf({ notBefore: NOW + 2 * HOUR, notAfter: NOW + 3 * HOUR }),
  'CR-26': badLeaf({ notAfter: NOW + 2 * HOUR }),
  'CR-27': badLeaf({ notAfter: NOW + 24 * HOUR }, 'tenYears'),
  'CR-28': badLeaf({ notAfter: NOW + 10_000 * HOUR }, 'tenYears'),
  'CR-29': badLeaf(
    { notAfter: NOW + 24 * HOUR },
    'noDuration',
    asked({ lifetimeSeconds: undefined }),
  ),
  'CR-30': badLeaf(instead(extKeyUsage(['1.3.6.1.5.5.7.3.1']))),
  'CR-31': badLeaf(instead(extKeyUsage(['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2']))),
  'CR-32': badLeaf(
    instead(extKeyUsage(['1.3.6.1.5.5.7.3.2'])),
    'defaultUsages',
    asked({ usages: ['digital signature', 'server auth'] }),
  ),
  'CR-33': badLeaf(ca, 'isCa'),
  'CR-34': badLeaf(instead(keyUsage(['keyCertSign'])), 'certSign'),
  'CR-35': badLeaf({ subject: nameOf('admins') }),
  'CR-36': badLeaf({ subject: nameOf('admins') }, 'alternativeNames'),
  'CR-37': badLeaf({ subject: nameOf('system:masters') }, 'masters'),
  'CR-38': badLeaf({ subject: nameOf('system:nodes') }, 'systemUser'),
  'CR-39': badLeaf(ca, 'authorityExtension'),
  'CR-40': badLeaf(instead(unknownExtension()), 'unknownExtension'),
  'CR-41': withCrScenes({ RSA2048: crIssued(askedFor('RSA2048')) }),
  'CR-42': withCrScenes({ ECDSAP256: crFailed(askedFor('ECDSAP256')) }),
  'CR-43': withCrScenes({ ECDSAP384: crIssued(askedFor('ECDSAP384')) }),
  'CR-44': withCrScenes({ ED25519: crWaiting(askedFor('ED25519')) }),
  'CR-45': withCrScenes({ RSA1024: crIssued(asked({ keyType: undefined })) }),
};
