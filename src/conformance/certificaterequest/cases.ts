// SPDX-License-Identifier: Apache-2.0
import { respectsKeyType } from '../assertions/answer.ts';
import { chainsToAnchor, hasNoRoot } from '../assertions/chain.ts';
import { isNotCa } from '../assertions/leaf.ts';
import { grantsNoSystemMasters, orRefused } from '../assertions/names.ts';
import { hasOnlyRequestedUsages } from '../assertions/usages.ts';
import { isWithinProfileLifetime } from '../assertions/validity.ts';
import { isUntouched, keepsImmutableFields, waitsForApproval } from '../assertions/writes.ts';
import { type Case, must, should } from '../case.ts';
import { SHARED } from '../shared-cases.ts';
import { onAll, onLeaf, onRequest } from '../snapshot.ts';
import { CR_SOURCES } from '../sources.ts';
import {
  chainsToStatusCa,
  haveFailureTime,
  haveKnownReasons,
  isMarkedDenied,
  readyMeansCertificate,
} from './assertions.ts';
import { CR_KEY_TYPES, type CrScenario, type CrSnapshot } from './snapshot.ts';

/** Passes when the issuer waits without an approval. It may report that in Ready. */
const isNotIssued: Parameters<typeof onRequest<CrScenario>>[1] = (request, context) => {
  const silent = waitsForApproval(request, context);
  const states = new Set(request.versions.map(({ state }) => state));
  const waits = states.size === 1 && states.has('pending');
  return silent.outcome === 'fail' && waits ? { outcome: 'pass', evidence: 'it waits' } : silent;
};

/** Every case of `--kind certificaterequest`: CertificateRequests of cert-manager.io/v1. */
export const CR_CASES: readonly Case<CrSnapshot>[] = [
  // The issuer's writes to a request and their times, by cert-manager's API for external issuers.
  SHARED.answered('CR-01', CR_SOURCES.status),
  SHARED.onlyApproved('CR-02', `${CR_SOURCES.condition}: Approved`),
  must(
    'CR-03',
    'an unapproved request is not issued',
    `${CR_SOURCES.condition}: Approved`,
    onRequest('unapproved', isNotIssued),
  ),
  must(
    'CR-04',
    'a denied request is never issued, and Ready is False with reason Denied',
    `${CR_SOURCES.condition}: Denied`,
    onRequest('denied', isMarkedDenied),
  ),
  must(
    'CR-05',
    'the issuer leaves requests of another issuer alone',
    `${CR_SOURCES.spec}.issuerRef`,
    onRequest('foreign', isUntouched),
  ),
  must(
    'CR-06',
    'the issuer leaves requests of a namesake in another API group alone',
    `${CR_SOURCES.spec}.issuerRef`,
    onRequest('otherGroup', isUntouched),
  ),
  must(
    'CR-07',
    'the request has a certificate if and only if Ready is True',
    `${CR_SOURCES.condition}: Ready`,
    onAll(readyMeansCertificate),
  ),
  must(
    'CR-08',
    'a refused request has failureTime',
    `${CR_SOURCES.status}.failureTime`,
    onAll(haveFailureTime),
  ),
  should(
    'CR-09',
    'the reason of Ready is Pending, Issued, Failed or Denied',
    `${CR_SOURCES.condition}: reasons`,
    onAll(haveKnownReasons),
  ),
  SHARED.notRewritten(
    'CR-10',
    'cert-manager issuer-lib: Ready, Failed and Denied requests are left as they are',
  ),
  should(
    'CR-11',
    'the issuer leaves spec, labels and annotations unchanged',
    'cert-manager webhook: spec and annotations are immutable',
    onRequest('plain', keepsImmutableFields),
  ),
  SHARED.annotated('CR-12'),
  SHARED.sameBytes('CR-13'),
  SHARED.burst('CR-14', CR_SOURCES.status),
  SHARED.uniqueSerials('CR-15'),
  SHARED.latency('CR-16'),
  // The result: the chain, its leaf, and the validity.
  SHARED.requestedKey('CR-17', `${CR_SOURCES.status}.certificate`),
  must(
    'CR-18',
    'the chain leads to status.ca',
    `${CR_SOURCES.status}.ca; RFC 5280 §6.1`,
    chainsToStatusCa,
  ),
  must(
    'CR-19',
    'the chain leads to the anchors',
    'RFC 5280 §6.1; --anchors',
    onLeaf('plain', chainsToAnchor),
  ),
  SHARED.inOrder('CR-20'),
  should(
    'CR-21',
    'the chain has no root: that is status.ca',
    'RFC 8446 §4.4.2',
    onLeaf('plain', hasNoRoot),
  ),
  SHARED.longSerial('CR-22'),
  SHARED.issuerKey('CR-23'),
  SHARED.subjectOrNames('CR-24'),
  SHARED.validNow('CR-25'),
  SHARED.anHour('CR-26', `${CR_SOURCES.spec}.duration`),
  must(
    'CR-27',
    "a request for ten years gets at most the issuer's maximum",
    `${CR_SOURCES.spec}.duration`,
    onLeaf('tenYears', isWithinProfileLifetime),
  ),
  SHARED.beforeCa('CR-28'),
  must(
    'CR-29',
    "without a duration the leaf lives at most the issuer's maximum",
    `${CR_SOURCES.spec}.duration`,
    onLeaf('noDuration', isWithinProfileLifetime),
  ),
  // Requested properties, and those that no leaf may get.
  SHARED.allUsages('CR-30'),
  SHARED.onlyUsages('CR-31'),
  should(
    'CR-32',
    'without usages the leaf has at most digital signature and key encipherment',
    `${CR_SOURCES.spec}.usages`,
    onRequest('defaultUsages', orRefused(hasOnlyRequestedUsages)),
  ),
  must(
    'CR-33',
    'a request with isCA is refused, or the leaf is not a CA',
    `${CR_SOURCES.spec}.isCA`,
    onRequest('isCa', orRefused(isNotCa)),
  ),
  SHARED.certSign('CR-34', `${CR_SOURCES.spec}.usages`),
  SHARED.onlyNames('CR-35', CR_SOURCES.spec),
  SHARED.onlyAlternativeNames('CR-36', CR_SOURCES.spec),
  should(
    'CR-37',
    'no leaf has the group system:masters',
    'system:masters bypasses all authorizers',
    onRequest('masters', grantsNoSystemMasters),
  ),
  SHARED.systemUser('CR-38', 'kubernetes.io: system: is Kubernetes’ own'),
  SHARED.caExtension('CR-39', `${CR_SOURCES.spec}.request`),
  SHARED.unknownExtension('CR-40', 'RFC 2985 §5.4.2: a request, not a grant'),
  ...CR_KEY_TYPES.map((keyType, index) =>
    must<CrSnapshot>(
      `CR-${41 + index}`,
      `${keyType} is issued, or refused with a reason`,
      CR_SOURCES.spec,
      onRequest<CrScenario>(keyType, respectsKeyType()),
    ),
  ),
  SHARED.weakKey('CR-45'),
];
