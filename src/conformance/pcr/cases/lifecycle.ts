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
    'there is one condition, Issued, Denied or Failed, which is True and has a reason and a time',
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
    'the signer leaves a request for another signer name alone',
    `${PCR_SOURCES.spec}.signerName`,
    onRequest('foreign', isUntouched),
  ),
  must(
    'PCR-05',
    'the signer leaves a request alone whose signer name only starts with its own',
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
    'the signer leaves labels, annotations, finalizers and owners unchanged',
    'Kubernetes API conventions: metadata is the creator’s',
    onOrdinary(keepsImmutableFields),
  ),
  must(
    'PCR-09',
    'the signer ignores unknown labels and annotations of the object',
    'Kubernetes API conventions: unknown annotations are ignored',
    onRequest('labelled', isAnswered),
  ),
  must(
    'PCR-10',
    'a second key of the same pod is answered as well: kubelets request one after a restart',
    'pkg/kubelet/podcertificate',
    onRequest('again', isAnswered),
  ),
  must(
    'PCR-11',
    'a deleted request does not delay others',
    'Kubernetes API conventions: objects may go at any time',
    afterDeletion(onOrdinary(isAnswered)),
  ),
  must(
    'PCR-12',
    'requests created at the same time are all answered',
    PCR_SOURCES.status,
    onBurst(areAllIssued),
  ),
  should(
    'PCR-13',
    'each certificate arrives within the latency of the profile, because the pod waits for it',
    'profile: latency (default 10 s)',
    onAll(areWithinLatency),
  ),
  should(
    'PCR-14',
    'a denial has a reason and a message',
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
    'the leaf lives at least an hour and at most maxExpirationSeconds',
    `${PCR_SOURCES.spec}.maxExpirationSeconds`,
    onOrdinaryLeaf(hasLifetimeWithinBounds),
  ),
  must(
    'PCR-19',
    'beginRefreshAt is at least ten minutes from notBefore and from notAfter',
    PCR_SOURCES.validation,
    onOrdinaryLeaf(hasRefreshMargins),
  ),
  should(
    'PCR-20',
    'at least a tenth of the lifetime remains after beginRefreshAt',
    'KEP-4317; pkg/kubelet/podcertificate: jitter of five minutes',
    onTrialLeafOfDay(),
  ),
  must(
    'PCR-21',
    'a pod that requests an hour gets a leaf for exactly an hour',
    ONE_HOUR,
    onLeaf('pod', hasExactLifetime),
  ),
  must(
    'PCR-22',
    "a pod that requests no lifetime gets 24 hours, or the signer's maximum",
    DEFAULT_LIFETIME,
    onLeaf('podDefault', hasExactLifetime),
  ),
  must(
    'PCR-23',
    'a request of the runner for an hour gets exactly an hour',
    `${ONE_HOUR}; ${PCR_SOURCES.validation}`,
    onLeaf('plain', hasExactLifetime),
  ),
  must(
    'PCR-24',
    "a request of the runner without a lifetime gets 24 hours, or the signer's maximum",
    DEFAULT_LIFETIME,
    onLeaf('noLifetime', hasExactLifetime),
  ),
  must(
    'PCR-25',
    "a request for 91 days gets at most the signer's maximum",
    `${PCR_SOURCES.spec}.maxExpirationSeconds`,
    onLeaf('days91', isWithinProfileLifetime),
  ),
  must(
    'PCR-26',
    'a leaf of a kubernetes.io signer lives at most 24 hours',
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
