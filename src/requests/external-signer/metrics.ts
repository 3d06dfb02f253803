// SPDX-License-Identifier: Apache-2.0
import { counter, gauge, signerGauge } from '#component/metric.ts';

/** Calls to foreign CAs. `countersign_requests_total` counts the delivered certificates. */
export const EXTERNAL_SERIES = {
  orders: counter(
    'countersign_external_orders_total',
    'Certificates ordered from CAs outside Countersign, by outcome. Issued, unusable and lost ones may be paid.',
    ['signer', 'outcome'],
  ),
  refusedAnswers: counter(
    'countersign_external_refused_answers_total',
    'Certificates of CAs outside Countersign that external-signer refused, because they do not match the request.',
    ['signer'],
  ),
  reusedChains: counter(
    'countersign_external_reused_chains_total',
    'Chains that external-signer delivered without another order, since an earlier attempt or process received them.',
    ['signer'],
  ),
  pauses: counter(
    'countersign_external_pauses_total',
    'Pauses of all calls to a CA outside Countersign, after a call that it did not serve.',
    ['reason'],
  ),
  keptBytes: gauge(
    'countersign_external_kept_bytes',
    'Bytes of the chains that external-signer keeps. At 64 MiB it evicts delivered ones. If all are undelivered, orders wait.',
  ),
  ready: signerGauge(
    'countersign_external_signer_ready',
    'Whether the CA of an ExternalClusterSigner can issue (1) or not (0).',
  ),
};
