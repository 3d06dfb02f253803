// SPDX-License-Identifier: Apache-2.0
import type { Condition } from '../../api/request/conditions.ts';
import type { Validity } from '../../issuance/validity.ts';
import type { PublicKeyInfo } from '../../pki/keys/public-key.ts';
import type { KeyUsage, LeafSubject } from '../../vocabulary.ts';
import type { Sources } from '../requests/request-controller-init.ts';
import type { HolderRefusal, RefusalInput } from '../../revocation/holders.ts';

/** The decided contents of a leaf: the leaf has these and nothing else. */
export interface CertificateTemplate {
  readonly subject: LeafSubject;
  readonly publicKey: PublicKeyInfo;
  readonly usages: readonly KeyUsage[];
  readonly validity: Validity;
}

/** The chain to deliver, as PEM, and the validity of the leaf. */
export interface IssuedChain {
  readonly kind: 'chain';
  /** Leaf first, without the root. */
  readonly chain: string;
  /** The anchors that the chain leads to; '' if they are not known. */
  readonly anchors: string;
  readonly validity: Validity;
}

/**
 * Why there is no chain now, as a CA outside Countersign reports it. `retry`: try again with backoff, as long
 * as the request's kind allows; `permanent`: never for this request; `issuer`: the CA itself has a fault;
 * `pending`: the CA is still working, ask again.
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
  /**
   * Why this holder gets no certificate of the signer; undefined: nothing refuses them.
   *
   * @throws SignerError (`authority`) why nobody can know
   */
  readonly refusalOf?: ((signer: S, input: RefusalInput) => HolderRefusal | undefined) | undefined;
}
