// SPDX-License-Identifier: Apache-2.0
/** For each case of PodCertificateRequests a signer, or an API server, that breaks it. */
import { formatTime } from '../../../src/api/object/time.ts';
import { unknownExtension } from '../../../src/conformance/crafted-pkcs10.ts';
import { PCR_OPERATIONS, type PcrWorld } from '../../../src/conformance/pcr/snapshot.ts';
import { NO_NAMES, type Trial } from '../../../src/conformance/observed-request.ts';
import { sequence } from '../../../src/pki/der/der-writer.ts';
import {
  basicConstraints,
  extKeyUsage,
  keyUsage,
  type Extension,
} from '../../../src/pki/extensions/encode-extensions.ts';
import { OID_ANY_EXTENDED_KEY_USAGE } from '../../../src/pki/der/oids.ts';
import { POD_KEY_TYPES } from '../../../src/vocabulary.ts';
import { privateKey, spkiOf } from '../pki/keys.ts';
import { askedFor, nameOf } from './csr-snapshot.ts';
import { NOW, ROOT, authority, leaf, type Parts } from './leaf.ts';
import {
  condition,
  goodPcrWorld,
  podAsked,
  podDenied,
  podIssued,
  podIssuedFor,
  podPending,
  podSnapshot,
  withPodScenes,
} from './pcr-snapshot.ts';
import { asked, snapshot, trial, writtenAgain } from './observed-requests.ts';

const HOUR = 3600_000;
const DAY = podAsked({ lifetimeSeconds: 86_400 });

const without = (type: string): Parts => ({
  extensions: (good) => good.filter(({ oid }) => oid !== type),
});
const instead = (changed: Extension): Parts => ({
  extensions: (good) => [...good.filter(({ oid }) => oid !== changed.oid), changed],
});

const plain = (seen: Trial): PcrWorld => withPodScenes({ plain: seen });
const badLeaf = (parts: Parts): PcrWorld => plain(podIssued(podAsked(), parts));
const badTimes = (times: Partial<ReturnType<typeof goodTimes>>): PcrWorld =>
  plain(podIssued(podAsked(), {}, { times: { ...goodTimes(), ...times } }));
const chained = (...after: readonly string[]): PcrWorld =>
  plain(
    trial(podAsked(), [snapshot('pending'), podSnapshot([leaf(asked()).pem, ...after].join(''))]),
  );

function goodTimes(): { notBefore: string; notAfter: string; beginRefreshAt: string } {
  const notBefore = NOW - 60_000;
  return {
    notBefore: formatTime(notBefore),
    notAfter: formatTime(notBefore + HOUR),
    beginRefreshAt: formatTime(notBefore + HOUR / 2),
  };
}

const twice = podIssued();
const mute = trial(podAsked(), [
  snapshot('pending'),
  snapshot('denied', { conditions: [{ type: 'Denied', status: 'True', reason: 'No' }] }),
]);
const forged = podAsked({
  names: { ...NO_NAMES, commonName: 'system:admin', dnsNames: ['kubernetes.default.svc'] },
});

export const PCR_BROKEN: Readonly<Record<string, PcrWorld>> = {
  'PCR-01': plain(podPending()),
  'PCR-02': plain(
    podIssued(podAsked(), {}, { conditions: [condition('Issued', 'A'), condition('Signed', 'B')] }),
  ),
  'PCR-03': plain(podIssued(podAsked(), {}, { times: { notBefore: formatTime(NOW) } })),
  'PCR-04': withPodScenes({ foreign: writtenAgain(podPending()) }),
  'PCR-05': withPodScenes({ longerName: writtenAgain(podPending()) }),
  'PCR-06': plain(writtenAgain(podIssued())),
  'PCR-07': plain({
    ...podIssued(),
    versions: [snapshot('pending'), snapshot('pending'), ...podIssued().versions.slice(1)],
  }),
  'PCR-08': plain(writtenAgain(podIssued(), { frame: '{"finalizers":["a/b"]}' })),
  'PCR-09': withPodScenes({ labelled: podPending() }),
  'PCR-10': withPodScenes({ again: podPending() }),
  'PCR-11': plain(podPending()),
  'PCR-12': goodPcrWorld({ burst: [podIssued(), podPending()] }),
  'PCR-13': goodPcrWorld({ burst: [podIssued(podAsked(), {}, { at: 12_000 })] }),
  'PCR-14': withPodScenes({ unknownAnnotation: mute }),
  'PCR-15': goodPcrWorld({ burst: [twice, twice] }),
  'PCR-16': badTimes({ notAfter: formatTime(NOW) }),
  'PCR-17': badLeaf({ notBefore: NOW - HOUR / 2, notAfter: NOW + HOUR / 2 }),
  'PCR-18': badLeaf({ notAfter: NOW + HOUR / 2 }),
  'PCR-19': badTimes({ beginRefreshAt: formatTime(NOW - 60_000 + HOUR) }),
  'PCR-20': withPodScenes({
    podDefault: podIssued(
      DAY,
      {},
      {
        times: {
          notBefore: formatTime(NOW - 60_000),
          notAfter: formatTime(NOW - 60_000 + 24 * HOUR),
          beginRefreshAt: formatTime(NOW - 60_000 + 23.5 * HOUR),
        },
      },
    ),
  }),
  'PCR-21': withPodScenes({ pod: podIssued(podAsked(), { notAfter: NOW + 2 * HOUR }) }),
  'PCR-22': withPodScenes({ podDefault: podIssued(DAY, { notAfter: NOW + 12 * HOUR }) }),
  'PCR-23': badLeaf({ notAfter: NOW + 2 * HOUR }),
  'PCR-24': withPodScenes({ noLifetime: podIssued(DAY, { notAfter: NOW + 12 * HOUR }) }),
  'PCR-25': withPodScenes({ days91: podIssued(podAsked({ lifetimeSeconds: 91 * 86_400 })) }),
  'PCR-26': withPodScenes({ days91: podIssued(podAsked({ lifetimeSeconds: 91 * 86_400 })) }),
  'PCR-27': badLeaf({ spki: spkiOf(privateKey('P-256', 'somebody else')) }),
  'PCR-28': badLeaf({ by: authority('Stranger', 'stranger') }),
  'PCR-29': chained(authority('Stranger', 'stranger').pem),
  'PCR-30': chained(ROOT.pem),
  'PCR-31': chained('Bag Attributes: none\n'),
  'PCR-32': badLeaf(instead(basicConstraints({ ca: true }))),
  'PCR-33': badLeaf({ serial: Uint8Array.of(7) }),
  'PCR-34': badLeaf(without('2.5.29.35')),
  'PCR-35': badLeaf({ ...without('2.5.29.17'), subject: sequence() }),
  'PCR-36': badLeaf(without('2.5.29.15')),
  'PCR-37': badLeaf(instead(extKeyUsage([OID_ANY_EXTENDED_KEY_USAGE]))),
  'PCR-38': badLeaf(instead(keyUsage(['digitalSignature', 'keyEncipherment']))),
  'PCR-39': withPodScenes({ days91: podIssued(podAsked(), { notAfter: NOW + 10_000 * HOUR }) }),
  'PCR-40': plain(podIssuedFor({ uris: ['spiffe://cluster.local/ns/kube-system/sa/web'] })),
  'PCR-41': plain(podIssuedFor({ uris: ['spiffe://other/ns/team-a/sa/web'] })),
  'PCR-42': badLeaf({ subject: nameOf('system:nodes') }),
  'PCR-43': withPodScenes({ stubSubject: podIssuedFor({ commonName: 'system:admin' }, forged) }),
  'PCR-44': withPodScenes({
    stubNames: podIssuedFor({ dnsNames: ['kubernetes.default.svc'] }, forged),
  }),
  'PCR-45': withPodScenes({
    stubAuthority: podIssued(podAsked(), instead(basicConstraints({ ca: true }))),
  }),
  'PCR-46': withPodScenes({ stubUnknown: podIssued(podAsked(), instead(unknownExtension())) }),
  'PCR-47': withPodScenes({ stubSubject: podIssued() }),
  'PCR-48': withPodScenes({ unknownAnnotation: podDenied('NotAllowed') }),
  'PCR-49': withPodScenes({
    foreignPath: podIssuedFor({ uris: ['spiffe://cluster.local/ns/kube-system/sa/forged'] }),
  }),
  'PCR-50': withPodScenes({
    podAnnotated: podIssuedFor({ uris: ['spiffe://cluster.local/custom'] }),
  }),
  ...Object.fromEntries(
    // Denied for another reason, left unanswered, or issued although the profile does not list it.
    POD_KEY_TYPES.map((keyType, index) => {
      const what = podAsked({ keyType, spki: askedFor(keyType).spki });
      const wrong =
        keyType === 'RSA3072'
          ? podDenied('NotAllowed', what)
          : keyType.startsWith('RSA') || keyType === 'ED25519'
            ? podPending(what)
            : keyType === 'ECDSAP256'
              ? podDenied('UnsupportedKeyType', what)
              : podIssued(what);
      return [`PCR-${51 + index}`, withPodScenes({ [keyType]: wrong })];
    }),
  ),
  ...Object.fromEntries(
    PCR_OPERATIONS.map((name, index) => [
      `PCR-${57 + index}`,
      goodPcrWorld({
        operations: { ...goodPcrWorld().operations, [name]: { fault: '404 page not found' } },
      }),
    ]),
  ),
};
