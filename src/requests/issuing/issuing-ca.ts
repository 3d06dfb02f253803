// SPDX-License-Identifier: Apache-2.0
import type { Condition } from '#api/request/conditions.ts';
import type { Validity } from '#ca/issuance/validity.ts';
import type { IntermediateNames } from '#ca/policy/intermediates.ts';
import type { PublicKeyInfo } from '#pki/keys/public-key.ts';
import type { KeyUsage, LeafSubject } from '#base/vocabulary.ts';
import type { Sources } from '../loop/request-controller-init.ts';
import type { HolderRefusal, RefusalInput } from '#ca/revocation/holders.ts';

/** The decided contents of a leaf. The leaf has nothing else. */
export interface CertificateTemplate {
  readonly subject: LeafSubject;
  readonly publicKey: PublicKeyInfo;
  readonly usages: readonly KeyUsage[];
  readonly validity: Validity;
  /** Set for the CA of another cluster, which no CA of leaves issues. */
  readonly intermediate?: IntermediateTemplate;
}

/** Additional contents of the certificate of another cluster's CA. */
export interface IntermediateTemplate extends IntermediateNames {
  readonly cluster: string;
  readonly commonName: string;
}

/** The chain to deliver as PEM, and the validity of the leaf. */
export interface IssuedChain {
  readonly kind: 'chain';
  /** The leaf first, without the root. */
  readonly chain: string;
  /** The anchors that the chain leads to, or '' if they are not known. */
  readonly anchors: string;
  readonly validity: Validity;
  /** Called once the chain is delivered, or its request needs none any more. */
  readonly settled?: (() => void) | undefined;
}

/**
 * Reason why a CA outside Countersign returned no chain:
 * - `retry`: try again with backoff, as long as the request's kind allows
 * - `permanent`: never for this request
 * - `issuer`: the CA itself has a fault
 * - `pending`: the CA is still working, call again
 */
export interface NotIssued {
  readonly kind: 'notIssued';
  readonly how: 'retry' | 'permanent' | 'issuer' | 'pending';
  readonly message: string;
  /** Milliseconds until the next call if `pending`. */
  readonly afterMs?: number;
  /** A condition for the request, if its kind allows one. */
  readonly condition?: Condition;
}

/**
 * The CA behind a signer, as the controller of requests `R` uses it. The caller retries, and keeps
 * issued chains until they are delivered. Calls may run concurrently.
 */
export interface IssuingCa<R> {
  /** The CA's own validity, which no leaf may exceed. */
  readonly validity: Validity;
  /** Identifies the CA. After a change, chains of the previous CA are not delivered. */
  readonly identity: string;
  /** @throws SignerError if the CA is one of ours: `authority`, `wait` or `retry` */
  issue(wanted: CertificateTemplate, request: R): Promise<IssuedChain | NotIssued>;
}

/** The CAs behind the signers of a kind. */
export interface IssuingCas<S, R> extends Sources<S> {
  /** @throws SignerError (`authority`) if the signer cannot sign now */
  readonly issuing: (signer: S) => IssuingCa<R>;
  /**
   * Returns why this holder gets no certificate of the signer, or undefined if nothing refuses it.
   *
   * @throws SignerError (`authority`) if that cannot be determined
   */
  readonly refusalOf?: ((signer: S, input: RefusalInput) => HolderRefusal | undefined) | undefined;
}
