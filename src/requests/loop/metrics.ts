// SPDX-License-Identifier: Apache-2.0
import { counter, histogram, signerGauge } from '#component/metric.ts';

/** A kind of requests, as a label. */
export type RequestKind =
  'CertificateSigningRequest' | 'PodCertificateRequest' | 'CertificateRequest';

/** Seconds, from one status write to an outage of the signer that a kubelet still tolerates. */
const REQUEST_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900];

/** The series of components that answer requests. */
export const REQUEST_SERIES = {
  requests: counter('countersign_requests_total', 'Requests decided, by outcome.', [
    'kind',
    'signer',
    'outcome',
    'reason',
  ]),
  requestDuration: histogram(
    'countersign_request_duration_seconds',
    'Time from the creation of a request to the write of its result.',
    ['kind', 'signer'],
    REQUEST_BUCKETS,
  ),
  requestPending: signerGauge(
    'countersign_request_pending',
    'Requests that still need this component.',
    ['kind', 'signer'],
  ),
};
