// SPDX-License-Identifier: Apache-2.0
import { must, should, type Case } from '../../case.ts';
import {
  areAllIssued,
  isAnswered,
  areWithinLatency,
  hasReasonAndMessage,
} from '../../assertions/answer.ts';
import {
  isAnsweredInOneWrite,
  haveDifferentSerials,
  isUntouched,
  issuesOnlyApproved,
  keepsImmutableFields,
  refusesWithoutCertificate,
  isNotWrittenAfterAnswer,
  waitsForApproval,
} from '../../assertions/writes.ts';
import { CSR_SOURCES } from '../../sources.ts';
import { onAll, onPair, onBurst, onRequest, afterDeletion } from '../../snapshot.ts';
import type { CsrScenario, CsrSnapshot } from '../snapshot.ts';

/** What the signer does with a request, when, and how often. */
export const CSR_LIFECYCLE: readonly Case<CsrSnapshot>[] = [
  must(
    'CSR-01',
    'an approved request gets its certificate',
    CSR_SOURCES.certificate,
    onRequest('plain', isAnswered),
  ),
  must(
    'CSR-02',
    'no certificate without the condition Approved',
    CSR_SOURCES.certificate,
    onAll(issuesOnlyApproved),
  ),
  must(
    'CSR-03',
    'a request that nobody approved is left alone',
    CSR_SOURCES.conditions,
    onRequest('unapproved', waitsForApproval),
  ),
  must(
    'CSR-04',
    'a denied request is left alone',
    CSR_SOURCES.conditions,
    onRequest('denied', isUntouched),
  ),
  must(
    'CSR-05',
    'a request of another signer name is left alone',
    CSR_SOURCES.signer,
    onRequest('foreign', isUntouched),
  ),
  must(
    'CSR-06',
    'a request of a signer name that only begins like its own is left alone',
    CSR_SOURCES.signer,
    onRequest('longerName', isUntouched),
  ),
  must(
    'CSR-07',
    'a refused request has no certificate',
    CSR_SOURCES.certificate,
    onAll(refusesWithoutCertificate),
  ),
  should(
    'CSR-08',
    'an answered request is not written again',
    CSR_SOURCES.certificate,
    onRequest('plain', isNotWrittenAfterAnswer),
  ),
  should(
    'CSR-09',
    'one write takes an approved request to its certificate',
    'Kubernetes API conventions: each write is an event for every watcher',
    onRequest('plain', isAnsweredInOneWrite),
  ),
  should(
    'CSR-10',
    'labels, annotations, finalizers and owners stay as the requester wrote them',
    'Kubernetes API conventions: metadata is the creator’s',
    onRequest('plain', keepsImmutableFields),
  ),
  must(
    'CSR-11',
    'labels and annotations that nobody knows are no obstacle',
    'Kubernetes API conventions: unknown annotations are ignored',
    onRequest('annotated', isAnswered),
  ),
  must(
    'CSR-12',
    'the same bytes requested twice are two certificates',
    'RFC 5280 §4.1.2.2',
    onPair('plain', 'again', haveDifferentSerials),
  ),
  must(
    'CSR-13',
    'a request that was deleted holds up no other',
    'Kubernetes API conventions: objects may go at any time',
    afterDeletion(onRequest<CsrScenario>('plain', isAnswered)),
  ),
  must(
    'CSR-14',
    'requests made at once are all answered',
    CSR_SOURCES.certificate,
    onBurst(areAllIssued),
  ),
  should(
    'CSR-15',
    'each certificate comes within the latency of the profile',
    'profile: latency (default 10 s)',
    onAll(areWithinLatency),
  ),
  should(
    'CSR-16',
    'who is refused a CA certificate is told why',
    CSR_SOURCES.conditions,
    onRequest('certSign', hasReasonAndMessage),
  ),
  should(
    'CSR-17',
    'who is refused a key type is told why',
    CSR_SOURCES.conditions,
    onRequest('RSA1024', hasReasonAndMessage),
  ),
];
