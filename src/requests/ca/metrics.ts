// SPDX-License-Identifier: Apache-2.0
import { counter, gauge, histogram, limitedCounter, signerGauge } from '#component/metric.ts';

/** Seconds: a signature in memory takes less than a millisecond, and one attempt five seconds. */
const SIGNATURE_BUCKETS = [0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5];

/** A holder has some thirty rules. Another program at the socket could send any name. */
const MAX_HOLDER_RULES = 64;

/** The series of components that sign with a key holder. They have no values without one. */
export const HOLDER_SERIES = {
  up: gauge(
    'countersign_key_holder_up',
    'Whether the key holder beside this component answers: 1, or 0.',
    ['socket'],
  ),
  signatures: counter(
    'countersign_key_holder_signatures_total',
    'Signatures that the key holder made for this component.',
    ['socket'],
  ),
  refusals: limitedCounter(
    'countersign_key_holder_refusals_total',
    'Requests of this component that its key holder refused, by the rule.',
    ['socket', 'reason'],
    { label: 'reason', to: MAX_HOLDER_RULES },
  ),
  duration: histogram(
    'countersign_key_holder_signature_duration_seconds',
    'Time from the request of a signature to its arrival, with all attempts.',
    ['socket'],
    SIGNATURE_BUCKETS,
  ),
  keyEnd: signerGauge(
    'countersign_key_holder_key_not_after_timestamp_seconds',
    'When the CA certificate in the key holder ends, for each signer that uses its key.',
  ),
  keyUsable: signerGauge(
    'countersign_key_holder_key_usable',
    'Whether the key holder answers and has the key of the signer’s CA: 1, or 0.',
  ),
};
