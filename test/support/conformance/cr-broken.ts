// SPDX-License-Identifier: Apache-2.0
/** For each case of CertificateRequests an issuer that breaks it. */
import { unknownExtension } from '#conformance/crafted-pkcs10.ts';
import type { CrScenario, CrSnapshot } from '#conformance/certificaterequest/snapshot.ts';
import { sequence } from '#pki/der/der-writer.ts';
import { basicConstraints, extKeyUsage, keyUsage } from '#pki/extensions/encode-extensions.ts';
import { privateKey, spkiOf } from '../pki/keys.ts';
import {
  crDenied,
  crFailed,
  crIssued,
  crWaiting,
  goodCrSnapshot,
  ready,
  withCrScenarios,
} from './cr-snapshot.ts';
import { requestedFor, nameOf } from './csr-snapshot.ts';
import { NOW, ROOT, authority, instead, leaf, without, type Parts } from './leaf.ts';
import { requested, pending, snapshot, request, writtenAgain } from './observed-requests.ts';

const HOUR = 3600_000;
const stranger = authority('Stranger', 'stranger');
const badLeaf = (parts: Parts, scenario: CrScenario = 'plain', what = requested()): CrSnapshot =>
  withCrScenarios({ [scenario]: crIssued(what, parts) });
const chained = (pem: string): CrSnapshot =>
  withCrScenarios({ plain: crIssued(requested(), {}, { pem: leaf(requested()).pem + pem }) });
const twice = crIssued();
const ca = instead(basicConstraints({ ca: true }));

export const CR_BROKEN: Readonly<Record<string, CrSnapshot>> = {
  'CR-01': withCrScenarios({ plain: crWaiting() }),
  'CR-02': withCrScenarios({
    unapproved: request(requested(), [
      snapshot('issued', { pem: leaf(requested()).pem, conditions: [] }),
    ]),
  }),
  'CR-03': withCrScenarios({
    unapproved: request(
      requested(),
      [snapshot('pending'), snapshot('failed', { conditions: [ready('False', 'Failed')] })],
      { runnerWrites: 0 },
    ),
  }),
  'CR-04': withCrScenarios({
    denied: crDenied({ conditions: [{ type: 'Denied', status: 'True' }] }),
  }),
  'CR-05': withCrScenarios({ foreign: writtenAgain(pending()) }),
  'CR-06': withCrScenarios({ otherGroup: writtenAgain(pending()) }),
  'CR-07': withCrScenarios({
    plain: crIssued(requested(), {}, { conditions: [ready('False', 'Pending')] }),
  }),
  'CR-08': withCrScenarios({ masters: crFailed(requested(), { failureTime: '' }) }),
  'CR-09': withCrScenarios({
    plain: crIssued(requested(), {}, { conditions: [ready('True', 'Signed')] }),
  }),
  'CR-10': withCrScenarios({ plain: writtenAgain(crIssued()) }),
  'CR-11': withCrScenarios({
    plain: writtenAgain(crIssued(), { immutableFields: '{"labels":{}}' }),
  }),
  'CR-12': withCrScenarios({ annotated: crWaiting() }),
  'CR-13': withCrScenarios({ plain: twice, again: twice }),
  'CR-14': goodCrSnapshot({ burst: [crIssued(), crWaiting()] }),
  'CR-15': goodCrSnapshot({ burst: [twice, twice] }),
  'CR-16': goodCrSnapshot({ burst: [crIssued(requested(), {}, { at: 12_000 })] }),
  'CR-17': badLeaf({ spki: spkiOf(privateKey('P-256', 'somebody else')) }),
  'CR-18': goodCrSnapshot({
    statusCa: { certificates: [stranger.certificate], from: 'status.ca' },
  }),
  'CR-19': goodCrSnapshot({ anchors: { certificates: [stranger.certificate], from: 'ca.crt' } }),
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
    requested({ lifetimeSeconds: undefined }),
  ),
  'CR-30': badLeaf(instead(extKeyUsage(['1.3.6.1.5.5.7.3.1']))),
  'CR-31': badLeaf(instead(extKeyUsage(['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2']))),
  'CR-32': badLeaf(
    instead(extKeyUsage(['1.3.6.1.5.5.7.3.2'])),
    'defaultUsages',
    requested({ usages: ['digital signature', 'server auth'] }),
  ),
  'CR-33': badLeaf(ca, 'isCa'),
  'CR-34': badLeaf(instead(keyUsage(['keyCertSign'])), 'certSign'),
  'CR-35': badLeaf({ subject: nameOf('admins') }),
  'CR-36': badLeaf({ subject: nameOf('admins') }, 'alternativeNames'),
  'CR-37': badLeaf({ subject: nameOf('system:masters') }, 'masters'),
  'CR-38': badLeaf({ subject: nameOf('system:nodes') }, 'systemUser'),
  'CR-39': badLeaf(ca, 'authorityExtension'),
  'CR-40': badLeaf(instead(unknownExtension()), 'unknownExtension'),
  'CR-41': withCrScenarios({ RSA2048: crIssued(requestedFor('RSA2048')) }),
  'CR-42': withCrScenarios({ ECDSAP256: crFailed(requestedFor('ECDSAP256')) }),
  'CR-43': withCrScenarios({ ECDSAP384: crIssued(requestedFor('ECDSAP384')) }),
  'CR-44': withCrScenarios({ ED25519: crWaiting(requestedFor('ED25519')) }),
  'CR-45': withCrScenarios({ RSA1024: crIssued(requested({ keyType: undefined })) }),
};
