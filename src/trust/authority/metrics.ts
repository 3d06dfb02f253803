// SPDX-License-Identifier: Apache-2.0
import { counter, signerGauge } from '#component/metric.ts';

/** The series of `authority`: CAs and CRLs. */
export const AUTHORITY_SERIES = {
  notAfter: signerGauge(
    'countersign_ca_not_after_timestamp_seconds',
    'When the CA that signs expires.',
  ),
  fullLeaves: signerGauge(
    'countersign_ca_full_leaves_until_timestamp_seconds',
    'Time until which a leaf gets the full validity of the profile. Later leaves end with the CA.',
  ),
  phase: signerGauge('countersign_ca_rotation_phase', 'CAs of a signer, by rotation phase.', [
    'signer',
    'phase',
  ]),
  certificateAwaited: signerGauge(
    'countersign_ca_certificate_awaited',
    '1 if a certificate of the upstream CA is awaited, otherwise 0.',
  ),
  certificateRefused: signerGauge(
    'countersign_ca_certificate_refused',
    '1 if the upstream CA gave no usable certificate: it refused, is not reached, or its chain is refused. Otherwise 0.',
  ),
  certificateInstallBy: signerGauge(
    'countersign_ca_certificate_install_by_timestamp_seconds',
    'Time by which an awaited certificate must be installed, so that no leaf gets shorter.',
  ),
  upstreamCalls: counter(
    'countersign_ca_upstream_calls_total',
    'Calls of Vault for a CA certificate, by outcome: signed, refused, unavailable, or lost, which may have signed.',
    ['outcome'],
  ),
  crlNextUpdate: signerGauge(
    'countersign_crl_next_update_timestamp_seconds',
    'The first nextUpdate of the CRLs of a signer: after it, verifiers refuse its leaves.',
  ),
  crlEntries: signerGauge('countersign_crl_entries', 'Certificates on the CRLs of a signer.'),
  crlFailing: signerGauge(
    'countersign_crl_failing',
    '1 if a CRL of a signer cannot be signed or written, otherwise 0.',
  ),
};
