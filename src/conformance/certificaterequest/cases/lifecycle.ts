// SPDX-License-Identifier: Apache-2.0
import { must, should, type Case } from '../../case.ts';
import { areAllIssued, isAnswered, areWithinLatency } from '../../assertions/answer.ts';
import {
  haveUniqueSerials,
  haveDifferentSerials,
  isUntouched,
  issuesOnlyApproved,
  keepsImmutableFields,
  isNotWrittenAfterAnswer,
  waitsForApproval,
} from '../../assertions/writes.ts';
import { CR_SOURCES } from '../../sources.ts';
import { onAll, onPair, onBurst, onRequest } from '../../snapshot.ts';
import {
  haveFailureTime,
  isMarkedDenied,
  readyMeansCertificate,
  haveKnownReasons,
} from '../assertions.ts';
import type { CrScenario, CrSnapshot } from '../snapshot.ts';

/** Waits without an approval; the issuer may say in Ready that it does. */
const isNotIssued: Parameters<typeof onRequest<CrScenario>>[1] = (request, context) => {
  const silent = waitsForApproval(request, context);
  const states = new Set(request.versions.map(({ state }) => state));
  const waits = states.size === 1 && states.has('pending');
  return silent.outcome === 'fail' && waits ? { outcome: 'pass', evidence: 'it waits' } : silent;
};

/** What the issuer does with a request, when, and how often: cert-manager's API for external issuers. */
export const CR_LIFECYCLE: readonly Case<CrSnapshot>[] = [
  must(
    'CR-01',
    'an approved request gets its certificate',
    CR_SOURCES.status,
    onRequest('plain', isAnswered),
  ),
  must(
    'CR-02',
    'no certificate without the condition Approved',
    `${CR_SOURCES.condition}: Approved`,
    onAll(issuesOnlyApproved),
  ),
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
  should(
    'CR-10',
    'an answered request is not written again',
    'cert-manager issuer-lib: Ready, Failed and Denied requests are left as they are',
    onRequest('plain', isNotWrittenAfterAnswer),
  ),
  should(
    'CR-11',
    'the issuer leaves spec, labels and annotations unchanged',
    'cert-manager webhook: spec and annotations are immutable',
    onRequest('plain', keepsImmutableFields),
  ),
  must(
    'CR-12',
    'the signer ignores unknown labels and annotations',
    'Kubernetes API conventions: unknown annotations are ignored',
    onRequest('annotated', isAnswered),
  ),
  must(
    'CR-13',
    'two requests with the same bytes get two certificates',
    'RFC 5280 §4.1.2.2',
    onPair('plain', 'again', haveDifferentSerials),
  ),
  must(
    'CR-14',
    'requests created at the same time are all answered',
    CR_SOURCES.status,
    onBurst(areAllIssued),
  ),
  must(
    'CR-15',
    'no two leaves have the same serial',
    'RFC 5280 §4.1.2.2',
    onAll(haveUniqueSerials),
  ),
  should(
    'CR-16',
    'each certificate arrives within the latency of the profile',
    'profile: latency (default 10 s)',
    onAll(areWithinLatency),
  ),
];
