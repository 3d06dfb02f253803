// SPDX-License-Identifier: Apache-2.0
import type { Condition } from '../../api/request/conditions.ts';
import type { Validity } from '../../issuance/validity.ts';
import type { PublicKeyInfo } from '../../pki/keys/public-key.ts';
import type { KeyUsage, LeafSubject } from '../../vocabulary.ts';
import type { Sources } from '../requests/request-controller-init.ts';

/** What was decided of a leaf: it may say this and nothing else. */
export interface CertificateTemplate {
  readonly subject: LeafSubject;
  readonly publicKey: PublicKeyInfo;
  readonly usages: readonly KeyUsage[];
  readonly validity: Validity;
}

/** What is delivered, as PEM; and how long the leaf itself lasts. */
export interface IssuedChain {
  readonly kind: 'chain';
  /** Leaf first, without the root. */
  readonly chain: string;
  /** The anchors that it leads to; '' where nobody said which. */
  readonly anchors: string;
  readonly validity: Validity;
}

/**
 * Why there is no chain now, in the words of a CA that is not ours. `retry`: again with backoff, as
 * long as a request's kind has it; `permanent`: never for this request; `issuer`: the CA itself is at
 * fault; `pending`: it is at work, ask again.
 */
export interface NotIssued {
  readonly kind: 'notIssued';
  readonly how: 'retry' | 'permanent' | 'issuer' | 'pending';
  readonly message: string;
  /** For `pending`: milliseconds until the next call. */
  readonly afterMs?: number;
  /** A condition for the request, if its kind allows one. */
  readonly condition?: Condition;
}

/**
 * The CA behind a signer, as the controller of requests `R` sees it. The caller retries, and keeps what is
 * issued until it is delivered. Calls may run concurrently.
 */
export interface IssuingCa<R> {
  /** The CA's own validity, which no leaf may exceed. */
  readonly validity: Validity;
  /** Identifies the CA: after it changes, chains of the CA before are not delivered. */
  readonly identity: string;
  /** @throws SignerError if the CA is ours: `authority`, `wait` or `retry` */
  issue(wanted: CertificateTemplate, request: R): Promise<IssuedChain | NotIssued>;
}

/** The CAs behind the signers of a kind. */
export interface IssuingCas<S, R> extends Sources<S> {
  /** @throws SignerError (`authority`) why the signer cannot sign now */
  readonly issuing: (signer: S) => IssuingCa<R>;
}
