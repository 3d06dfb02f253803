// SPDX-License-Identifier: Apache-2.0
import { must, should, type Case } from '../../case.ts';
import {
  areAllIssued,
  isAnswered,
  areWithinLatency,
  hasReasonAndMessage,
} from '../../assertions/answer.ts';
import {
  startsNearIssuance,
  statusTimesMatchLeaf,
  respectsKubernetesMaximum,
  hasLifetimeWithinBounds,
  leavesTimeToRefresh,
  hasRefreshMargins,
} from '../../assertions/times.ts';
import { hasExactLifetime, isWithinProfileLifetime } from '../../assertions/validity.ts';
import {
  isAnsweredInOneWrite,
  haveUniqueSerials,
  isUntouched,
  keepsImmutableFields,
  isNotWrittenAfterAnswer,
} from '../../assertions/writes.ts';
import { PCR_SOURCES, e2e } from '../../sources.ts';
import { isSkipped } from '../../observed-request.ts';
import { onAll, onBurst, onLeaf, onRequest, afterDeletion } from '../../snapshot.ts';
import { hasOneCondition, haveCompleteStatus, onOrdinary, onOrdinaryLeaf } from '../assertions.ts';
import type { PcrSnapshot } from '../snapshot.ts';

const VOLUMES = 'projected_podcertificate.go';
const DEFAULT_LIFETIME = e2e(
  VOLUMES,
  'should issue certificate with default life time (24h) when MaxExpirationSeconds is not set',
);
const ONE_HOUR = e2e(
  VOLUMES,
  'should issue certificate with specified duration (1h) when MaxExpirationSeconds is set',
);

/** What the signer does with a pod's request, and the times that it writes. */
export const PCR_LIFECYCLE: readonly Case<PcrSnapshot>[] = [
  must('PCR-01', 'a request is answered with Issued', PCR_SOURCES.status, onOrdinary(isAnswered)),
  must(
    'PCR-02',
    'one condition: Issued, Denied or Failed, true, with reason and time',
    `${PCR_SOURCES.status}.conditions`,
    onOrdinary(hasOneCondition),
  ),
  must(
    'PCR-03',
    'chain, notBefore, notAfter and beginRefreshAt come together, and only with Issued',
    PCR_SOURCES.status,
    onAll(haveCompleteStatus),
  ),
  must(
    'PCR-04',
    'a request of another signer name is left alone',
    `${PCR_SOURCES.spec}.signerName`,
    onRequest('foreign', isUntouched),
  ),
  must(
    'PCR-05',
    'a request of a signer name that only begins like its own is left alone',
    `${PCR_SOURCES.spec}.signerName`,
    onRequest('longerName', isUntouched),
  ),
  should(
    'PCR-06',
    'an answered request is not written again',
    `${PCR_SOURCES.status}: immutable once set`,
    onOrdinary(isNotWrittenAfterAnswer),
  ),
  should(
    'PCR-07',
    'one write answers a request',
    'Kubernetes API conventions: each write is an event for every watcher',
    onOrdinary(isAnsweredInOneWrite),
  ),
  should(
    'PCR-08',
    'labels, annotations, finalizers and owners stay as they were',
    'Kubernetes API conventions: metadata is the creator’s',
    onOrdinary(keepsImmutableFields),
  ),
  must(
    'PCR-09',
    'labels and annotations of the object that nobody knows are no obstacle',
    'Kubernetes API conventions: unknown annotations are ignored',
    onRequest('labelled', isAnswered),
  ),
  must(
    'PCR-10',
    'a second key of the same pod is answered as well: kubelets ask anew after a restart',
    'pkg/kubelet/podcertificate',
    onRequest('again', isAnswered),
  ),
  must(
    'PCR-11',
    'a request that was deleted holds up no other',
    'Kubernetes API conventions: objects may go at any time',
    afterDeletion(onOrdinary(isAnswered)),
  ),
  must(
    'PCR-12',
    'requests made at once are all answered',
    PCR_SOURCES.status,
    onBurst(areAllIssued),
  ),
  should(
    'PCR-13',
    'each certificate comes within the latency of the profile: the pod waits for it',
    'profile: latency (default 10 s)',
    onAll(areWithinLatency),
  ),
  should(
    'PCR-14',
    'who is denied is told why',
    `${PCR_SOURCES.status}.conditions`,
    onRequest('unknownAnnotation', hasReasonAndMessage),
  ),
  must(
    'PCR-15',
    'no two leaves have the same serial',
    'RFC 5280 §4.1.2.2',
    onAll(haveUniqueSerials),
  ),
  must(
    'PCR-16',
    'notBefore and notAfter are the leaf’s own, to the second',
    PCR_SOURCES.validation,
    onOrdinaryLeaf(statusTimesMatchLeaf),
  ),
  must(
    'PCR-17',
    'notBefore is within five minutes of the API server’s clock',
    PCR_SOURCES.validation,
    onOrdinaryLeaf(startsNearIssuance),
  ),
  must(
    'PCR-18',
    'the leaf lives an hour at the least and maxExpirationSeconds at the most',
    `${PCR_SOURCES.spec}.maxExpirationSeconds`,
    onOrdinaryLeaf(hasLifetimeWithinBounds),
  ),
  must(
    'PCR-19',
    'beginRefreshAt keeps ten minutes from both ends',
    PCR_SOURCES.validation,
    onOrdinaryLeaf(hasRefreshMargins),
  ),
  should(
    'PCR-20',
    'beginRefreshAt leaves a tenth of the lifetime for the refresh',
    'KEP-4317; pkg/kubelet/podcertificate: jitter of five minutes',
    onTrialLeafOfDay(),
  ),
  must(
    'PCR-21',
    'of a pod that asks for an hour the leaf lives exactly an hour',
    ONE_HOUR,
    onLeaf('pod', hasExactLifetime),
  ),
  must(
    'PCR-22',
    'of a pod that says nothing the leaf lives 24 hours, or what the signer gives at the most',
    DEFAULT_LIFETIME,
    onLeaf('podDefault', hasExactLifetime),
  ),
  must(
    'PCR-23',
    'so it is with a request for an hour, which nothing else can answer',
    `${ONE_HOUR}; ${PCR_SOURCES.validation}`,
    onLeaf('plain', hasExactLifetime),
  ),
  must(
    'PCR-24',
    'and with one that says nothing',
    DEFAULT_LIFETIME,
    onLeaf('noLifetime', hasExactLifetime),
  ),
  must(
    'PCR-25',
    '91 days are cut to what the signer gives',
    `${PCR_SOURCES.spec}.maxExpirationSeconds`,
    onLeaf('days91', isWithinProfileLifetime),
  ),
  must(
    'PCR-26',
    'of a kubernetes.io signer no leaf lives longer than 24 hours',
    `${PCR_SOURCES.spec}.maxExpirationSeconds`,
    onLeaf('days91', respectsKubernetesMaximum),
  ),
];

/** A leaf of an hour has little room: the ordinary day is looked at, of a kubelet or of the runner. */
function onTrialLeafOfDay(): Case<PcrSnapshot>['evaluate'] {
  return (snapshot) => {
    const scenario = isSkipped(snapshot.scenarios.podDefault) ? 'noLifetime' : 'podDefault';
    return onLeaf<'noLifetime' | 'podDefault'>(scenario, leavesTimeToRefresh)(snapshot);
  };
}
