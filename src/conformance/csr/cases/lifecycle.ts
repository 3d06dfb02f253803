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
    'the signer leaves an unapproved request alone',
    CSR_SOURCES.conditions,
    onRequest('unapproved', waitsForApproval),
  ),
  must(
    'CSR-04',
    'the signer leaves a denied request alone',
    CSR_SOURCES.conditions,
    onRequest('denied', isUntouched),
  ),
  must(
    'CSR-05',
    'the signer leaves a request for another signer name alone',
    CSR_SOURCES.signer,
    onRequest('foreign', isUntouched),
  ),
  must(
    'CSR-06',
    'the signer leaves a request alone whose signer name only starts with its own',
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
    'one write adds the certificate to an approved request',
    'Kubernetes API conventions: each write is an event for every watcher',
    onRequest('plain', isAnsweredInOneWrite),
  ),
  should(
    'CSR-10',
    'the signer leaves labels, annotations, finalizers and owners unchanged',
    'Kubernetes API conventions: metadata is the creator’s',
    onRequest('plain', keepsImmutableFields),
  ),
  must(
    'CSR-11',
    'the signer ignores unknown labels and annotations',
    'Kubernetes API conventions: unknown annotations are ignored',
    onRequest('annotated', isAnswered),
  ),
  must(
    'CSR-12',
    'two requests with the same bytes get two certificates',
    'RFC 5280 §4.1.2.2',
    onPair('plain', 'again', haveDifferentSerials),
  ),
  must(
    'CSR-13',
    'a deleted request does not delay others',
    'Kubernetes API conventions: objects may go at any time',
    afterDeletion(onRequest<CsrScenario>('plain', isAnswered)),
  ),
  must(
    'CSR-14',
    'requests created at the same time are all answered',
    CSR_SOURCES.certificate,
    onBurst(areAllIssued),
  ),
  should(
    'CSR-15',
    'each certificate arrives within the latency of the profile',
    'profile: latency (default 10 s)',
    onAll(areWithinLatency),
  ),
  should(
    'CSR-16',
    'the refusal of a CA certificate has a reason and a message',
    CSR_SOURCES.conditions,
    onRequest('certSign', hasReasonAndMessage),
  ),
  should(
    'CSR-17',
    'the refusal of a key type has a reason and a message',
    CSR_SOURCES.conditions,
    onRequest('RSA1024', hasReasonAndMessage),
  ),
];
