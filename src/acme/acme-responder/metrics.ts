// SPDX-License-Identifier: Apache-2.0
import { counter } from '#component/metric.ts';

/** The series of `acme-responder`. */
export const RESPONDER_SERIES = {
  challengeResponses: counter(
    'countersign_acme_challenge_responses_total',
    'Responses to requests for files of HTTP-01, by HTTP status.',
    ['code'],
  ),
};
