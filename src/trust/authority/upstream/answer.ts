// SPDX-License-Identifier: Apache-2.0
import type { ChainRefusal } from '#ca/upstream/refusals.ts';

/**
 * Answer of an upstream CA to the request for a key that waits:
 *
 * - `waiting`: it has the request, and has not decided yet.
 * - `refused`: it never signs this request. A new key and request may do better.
 * - `unavailable`: it cannot be reached. `authority` retries the same request.
 * - `chain`: the chain that it returned, not checked yet.
 */
export type UpstreamAnswer = {
  /** `<namespace>/<name>` of the CertificateRequest. */
  readonly certificateRequest?: string;
  /** Milliseconds, by the API server's clock: when to look again. */
  readonly lookAt: number;
} & UpstreamVerdict;

export type UpstreamVerdict =
  | { readonly kind: 'waiting'; readonly message: string }
  | {
      readonly kind: 'refused';
      readonly refusal: ChainRefusal;
      /** Milliseconds: when it refused. Absent if it does not report that. */
      readonly at?: number | undefined;
    }
  | { readonly kind: 'unavailable'; readonly refusal: ChainRefusal }
  /** PEM. */
  | { readonly kind: 'chain'; readonly chain: string };
