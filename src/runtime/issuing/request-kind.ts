// SPDX-License-Identifier: Apache-2.0
import type { SignerError } from '../../errors.ts';
import type { Validity } from '../../issuance/validity.ts';
import type { Resource } from '../../kube/resource/resource.ts';
import type { Component } from '../component/component.ts';
import type { SubresourceWrite } from '../requests/subresource-write.ts';
import type { IssuedChain, NotIssued, IssuingCa, CertificateTemplate } from './issuing-ca.ts';
import type { Settlement, Times } from './not-issued.ts';

/** What a kind of requests decides of one of them. */
export type Decision<T, I> =
  /**
   * A leaf: the CA is asked for it. `completed` says what is remembered of its chain; it is called once a
   * signature, because what is chosen at random must be the same in each delivery.
   */
  | {
      readonly kind: 'issue';
      readonly leaf: CertificateTemplate;
      readonly completed: (chain: IssuedChain) => I;
    }
  /** No leaf: one write, or none. */
  | ({ readonly kind: 'settle' } & Settlement<T>)
  /** This version of the API does not show all of it: read it through another one, once. */
  | { readonly kind: 'reread'; readonly via: Resource }
  /** Something is missing that time or a person mends; the request stays as it is. */
  | { readonly kind: 'wait'; readonly error: SignerError };

/** What a decision rests on besides the request and its signer. */
export interface Moment {
  /** The validity of the CA, or why there is none to sign with now. */
  readonly authority: Validity | SignerError;
  /** The API server's time, in milliseconds. */
  readonly now: number;
  /** The version of the API that the request was read through. */
  readonly via: Resource;
}

/**
 * What one kind of requests does in its own way.
 *
 * `T` is the request, `S` its signer, `I` what is remembered of an issued leaf: all that the status carries
 * and that must be the same in each delivery.
 */
export interface RequestKindInit<T, S, I extends IssuedChain> {
  readonly component: Component;
  readonly resource: Resource;
  /** @throws SignerError why the signer cannot sign now */
  readonly issuingOf: (signer: S) => IssuingCa<T>;
  /** How long after its creation a request is retried, in milliseconds; undefined: without end. */
  readonly maxRetryMs?: number | undefined;
  /** The flow that pays for the time of `decide`. */
  readonly flowOf: (request: T) => string;
  /** Synchronous and total. */
  readonly decide: (request: T, signer: S, moment: Moment) => Decision<T, I>;
  /** Whether the request has its answer: nobody may add to it any more. */
  readonly isFinished: (request: T) => boolean;
  /** The object for PUT /status that delivers a leaf; `now` by the API server's clock. */
  readonly withIssued: (request: T, issued: I, now: number) => T;
  /** The chain that a request carries, as PEM. */
  readonly chainOf: (request: T) => string | undefined;
  /**
   * Since when a leaf is deliverable, in milliseconds by the API server's clock; default: since it was
   * signed. A PodCertificateRequest has a notBefore that the API server compares with its own time.
   */
  readonly deliverableSince?: (issued: I) => number;
  /** What is sent: as little of the object as its kind's strategy lets us. */
  readonly bodyOf: (request: T) => Pick<SubresourceWrite, 'body' | 'contentType'>;
  /** What becomes of a request that the CA gave no chain for. */
  readonly notIssued: (request: T, held: NotIssued, times: Times) => Settlement<T>;
}
