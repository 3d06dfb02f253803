// SPDX-License-Identifier: Apache-2.0
import { counter, gauge } from '#component/metric.ts';

/** The series of `bundle-endpoint`. `profile`: `https_web` or `https_spiffe`. */
export const ENDPOINT_SERIES = {
  responses: counter(
    'countersign_bundle_endpoint_responses_total',
    'Responses to requests for SPIFFE bundles, by profile of the endpoint and HTTP status.',
    ['profile', 'code'],
  ),
  notAfter: gauge(
    'countersign_bundle_endpoint_certificate_not_after_timestamp_seconds',
    'When the certificate of a bundle endpoint expires, by profile.',
    ['profile'],
  ),
};
