// SPDX-License-Identifier: Apache-2.0
/** A CA outside Countersign, whatever API it has. */
import type { Validity } from '#ca/issuance/validity.ts';
import type { CertificateTemplate } from '../issuing/issuing-ca.ts';

/** Result of a check that orders nothing. */
export type BackendState =
  | {
      readonly ready: true;
      /** Validity of the issuer, which no leaf may exceed. */
      readonly validity: Validity;
    }
  | {
      readonly ready: false;
      /** CamelCase, for the condition Ready. */
      readonly reason: string;
      readonly message: string;
      /** Milliseconds that the server requests as a delay. */
      readonly retryAfterMs?: number | undefined;
    };

/**
 * The end of an order:
 *
 * - `issued`: the CA returned a chain, which is not checked yet
 * - `refused`: the CA issued nothing for this request. Others may succeed.
 * - `denied`: the CA issued nothing, for a reason that may concern every request
 * - `throttled`: the CA issued nothing, for no reason of the request
 * - `unavailable`: the CA issued nothing, and the request is seldom the cause
 * - `unusable`: the CA answered and may have issued, but its answer has no usable chain
 * - `lost`: the CA may have issued, but no complete answer arrived
 * - `unorderable`: nothing was called, since the CA cannot issue such a certificate
 */
export type OrderResult =
  | { readonly outcome: 'issued'; readonly chain: string }
  | { readonly outcome: 'unusable'; readonly message: string }
  | {
      readonly outcome: FailedOrder;
      readonly message: string;
      readonly retryAfterMs?: number | undefined;
    };

/** Outcomes of an order that brought no certificate. */
export type FailedOrder =
  'refused' | 'denied' | 'throttled' | 'unavailable' | 'lost' | 'unorderable';

/** A certificate to order. */
export interface WantedCertificate {
  readonly wanted: CertificateTemplate;
  /** PEM of the PKCS#10 request. Undefined if an old kubelet sent a bare key. */
  readonly csr: string | undefined;
}

/** The CA of one signer in one generation. */
export interface Backend {
  /** Checks whether it can issue for the signer. Orders nothing. */
  readonly check: () => Promise<BackendState>;
  /** Orders one certificate. Never throws. */
  readonly order: (wanted: WantedCertificate) => Promise<OrderResult>;
  /** Ends its connections and its login. */
  readonly close: () => Promise<void>;
}
