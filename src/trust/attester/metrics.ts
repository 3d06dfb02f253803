// SPDX-License-Identifier: Apache-2.0
import { limitedCounter, signerGauge } from '#component/metric.ts';

/** Unexpected anchors with a series of their own. */
const MAX_STRANGERS = 64;

/** The series of `attester`: the published bundles. */
export const BUNDLE_SERIES = {
  foreign: signerGauge(
    'countersign_trust_bundle_foreign',
    'ClusterTrustBundles under a signer name of this installation that it does not publish.',
  ),
  // A client that adds an anchor each second must not exhaust memory.
  strangers: limitedCounter(
    'countersign_trust_bundle_unexpected_anchors_total',
    'Foreign anchors that were removed from a published bundle, by fingerprint.',
    ['signer', 'anchor'],
    { label: 'anchor', to: MAX_STRANGERS },
  ),
  certificates: signerGauge(
    'countersign_trust_bundle_certificates',
    'Trust anchors in the published bundle.',
  ),
  notAfter: signerGauge(
    'countersign_trust_bundle_not_after_timestamp_seconds',
    'When the first of the published trust anchors expires.',
  ),
  published: signerGauge(
    'countersign_trust_bundle_published_timestamp_seconds',
    'Time of the last addition of a trust anchor to the published bundle.',
  ),
};
