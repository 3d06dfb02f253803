// SPDX-License-Identifier: Apache-2.0
/** For each case of PodCertificateRequests a signer, or an API server, that breaks it. */
import { formatTime } from '#api/object/time.ts';
import { unknownExtension } from '#conformance/crafted-pkcs10.ts';
import { PCR_OPERATIONS, type PcrSnapshot } from '#conformance/pcr/snapshot.ts';
import { NO_NAMES, type ObservedRequest } from '#conformance/observed-request.ts';
import { sequence } from '#pki/der/der-writer.ts';
import { basicConstraints, extKeyUsage, keyUsage } from '#pki/extensions/encode-extensions.ts';
import { OID_ANY_EXTENDED_KEY_USAGE } from '#pki/der/oids.ts';
import { POD_KEY_TYPES } from '#base/vocabulary.ts';
import { privateKey, spkiOf } from '../pki/keys.ts';
import { requestedFor, nameOf } from './csr-snapshot.ts';
import { NOW, ROOT, authority, instead, leaf, without, type Parts } from './leaf.ts';
import {
  condition,
  goodPcrSnapshot,
  podRequested,
  podDenied,
  podIssued,
  podIssuedFor,
  podNamed,
  podPending,
  podServed,
  podSnapshot,
  withPodScenarios,
} from './pcr-snapshot.ts';
import { requested, snapshot, request, writtenAgain } from './observed-requests.ts';

const HOUR = 3600_000;
const DAY = podRequested({ lifetimeSeconds: 86_400 });

const plain = (seen: ObservedRequest): PcrSnapshot => withPodScenarios({ plain: seen });
const badLeaf = (parts: Parts): PcrSnapshot => plain(podIssued(podRequested(), parts));
const badTimes = (times: Partial<ReturnType<typeof goodTimes>>): PcrSnapshot =>
  plain(podIssued(podRequested(), {}, { times: { ...goodTimes(), ...times } }));
const chained = (...after: readonly string[]): PcrSnapshot =>
  plain(
    request(podRequested(), [
      snapshot('pending'),
      podSnapshot([leaf(requested()).pem, ...after].join('')),
    ]),
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
const mute = request(podRequested(), [
  snapshot('pending'),
  snapshot('denied', { conditions: [{ type: 'Denied', status: 'True', reason: 'No' }] }),
]);
const forged = podRequested({
  names: { ...NO_NAMES, commonName: 'system:admin', dnsNames: ['kubernetes.default.svc'] },
});

export const PCR_BROKEN: Readonly<Record<string, PcrSnapshot>> = {
  'PCR-01': plain(podPending()),
  'PCR-02': plain(
    podIssued(
      podRequested(),
      {},
      { conditions: [condition('Issued', 'A'), condition('Signed', 'B')] },
    ),
  ),
  'PCR-03': plain(podIssued(podRequested(), {}, { times: { notBefore: formatTime(NOW) } })),
  'PCR-04': withPodScenarios({ foreign: writtenAgain(podPending()) }),
  'PCR-05': withPodScenarios({ longerName: writtenAgain(podPending()) }),
  'PCR-06': plain(writtenAgain(podIssued())),
  'PCR-07': plain({
    ...podIssued(),
    versions: [snapshot('pending'), snapshot('pending'), ...podIssued().versions.slice(1)],
  }),
  'PCR-08': plain(writtenAgain(podIssued(), { immutableFields: '{"finalizers":["a/b"]}' })),
  'PCR-09': withPodScenarios({ labelled: podPending() }),
  'PCR-10': withPodScenarios({ again: podPending() }),
  'PCR-11': plain(podPending()),
  'PCR-12': goodPcrSnapshot({ burst: [podIssued(), podPending()] }),
  'PCR-13': goodPcrSnapshot({ burst: [podIssued(podRequested(), {}, { at: 12_000 })] }),
  'PCR-14': withPodScenarios({ unknownAnnotation: mute }),
  'PCR-15': goodPcrSnapshot({ burst: [twice, twice] }),
  'PCR-16': badTimes({ notAfter: formatTime(NOW) }),
  'PCR-17': badLeaf({ notBefore: NOW - HOUR / 2, notAfter: NOW + HOUR / 2 }),
  'PCR-18': badLeaf({ notAfter: NOW + HOUR / 2 }),
  'PCR-19': badTimes({ beginRefreshAt: formatTime(NOW - 60_000 + HOUR) }),
  'PCR-20': withPodScenarios({
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
  'PCR-21': withPodScenarios({ pod: podIssued(podRequested(), { notAfter: NOW + 2 * HOUR }) }),
  'PCR-22': withPodScenarios({ podDefault: podIssued(DAY, { notAfter: NOW + 12 * HOUR }) }),
  'PCR-23': badLeaf({ notAfter: NOW + 2 * HOUR }),
  'PCR-24': withPodScenarios({ noLifetime: podIssued(DAY, { notAfter: NOW + 12 * HOUR }) }),
  'PCR-25': withPodScenarios({ days91: podIssued(podRequested({ lifetimeSeconds: 91 * 86_400 })) }),
  'PCR-26': withPodScenarios({ days91: podIssued(podRequested({ lifetimeSeconds: 91 * 86_400 })) }),
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
  'PCR-39': withPodScenarios({
    days91: podIssued(podRequested(), { notAfter: NOW + 10_000 * HOUR }),
  }),
  'PCR-40': plain(podIssuedFor({ uris: ['spiffe://cluster.local/ns/kube-system/sa/web'] })),
  'PCR-41': plain(podIssuedFor({ uris: ['spiffe://other/ns/team-a/sa/web'] })),
  'PCR-42': badLeaf({ subject: nameOf('system:nodes') }),
  'PCR-43': withPodScenarios({ stubSubject: podIssuedFor({ commonName: 'system:admin' }, forged) }),
  'PCR-44': withPodScenarios({
    stubNames: podIssuedFor({ dnsNames: ['kubernetes.default.svc'] }, forged),
  }),
  'PCR-45': withPodScenarios({
    stubAuthority: podIssued(podRequested(), instead(basicConstraints({ ca: true }))),
  }),
  'PCR-46': withPodScenarios({
    stubUnknown: podIssued(podRequested(), instead(unknownExtension())),
  }),
  'PCR-47': withPodScenarios({ stubSubject: podIssued() }),
  'PCR-48': withPodScenarios({ unknownAnnotation: podDenied('NotAllowed') }),
  'PCR-49': withPodScenarios({
    foreignPath: podIssuedFor({ uris: ['spiffe://cluster.local/ns/kube-system/sa/forged'] }),
  }),
  'PCR-50': withPodScenarios({
    podAnnotated: podIssuedFor({ uris: ['spiffe://cluster.local/custom'] }),
  }),
  ...Object.fromEntries(
    // Denied for another reason, left unanswered, or issued although the profile does not list it.
    POD_KEY_TYPES.map((keyType, index) => {
      const what = podRequested({ keyType, spki: requestedFor(keyType).spki });
      const wrong =
        keyType === 'RSA3072'
          ? podDenied('NotAllowed', what)
          : keyType.startsWith('RSA') || keyType === 'ED25519'
            ? podPending(what)
            : keyType === 'ECDSAP256'
              ? podDenied('UnsupportedKeyType', what)
              : podIssued(what);
      return [`PCR-${51 + index}`, withPodScenarios({ [keyType]: wrong })];
    }),
  ),
  ...Object.fromEntries(
    PCR_OPERATIONS.map((name, index) => [
      `PCR-${57 + index}`,
      goodPcrSnapshot({
        operations: { ...goodPcrSnapshot().operations, [name]: { fault: '404 page not found' } },
      }),
    ]),
  ),
  'PCR-81': withPodScenarios({ pod: podNamed('served.team-a.svc') }),
  'PCR-82': withPodScenarios({
    pod: podNamed('served.team-a.svc', 'headless.team-a.svc', 'alias.team-a.svc.cluster.local'),
  }),
  'PCR-83': withPodScenarios({ podUnserved: podNamed('other.team-a.svc') }),
  'PCR-84': withPodScenarios({ pod: podNamed('served.team-a.svc', 'served.team-a') }),
  'PCR-85': withPodScenarios({
    pod: podIssued(podServed(), instead(extKeyUsage(['1.3.6.1.5.5.7.3.2']))),
  }),
};
