// SPDX-License-Identifier: Apache-2.0
import type { HolderRefusal, RefusalInput } from '../../revocation/holders.ts';
import type { SignerError } from '../../errors.ts';
import type { Validity } from '../../issuance/validity.ts';
import type { Resource } from '../../kube/resource/resource.ts';
import type { Component } from '../component/component.ts';
import type { AskedFacts, ProvenBy } from '../recording/asked.ts';
import type { SubresourceWrite } from '../requests/subresource-write.ts';
import type { IssuedChain, NotIssued, IssuingCa, CertificateTemplate } from './issuing-ca.ts';
import type { Settlement, Times } from './not-issued.ts';

/** The decision of a kind of requests about one request. */
export type Decision<T, I> =
  /**
   * Issue a leaf: ask the CA for it. `completed` returns what to remember with the chain. It is called once
   * a signature, because randomly chosen values must be the same in each delivery.
   */
  | {
      readonly kind: 'issue';
      readonly leaf: CertificateTemplate;
      readonly completed: (chain: IssuedChain) => I;
      /** What the request asks for and the leaf does not get: an Event says so. */
      readonly withheld?: string | undefined;
      /** The rule of the signer's spec that allows it, where rules have names. */
      readonly rule?: string | undefined;
      /** By what names of the leaf are proven, where the ledger is to know. */
      readonly proven?: ProvenBy | undefined;
    }
  /** Issue no leaf: one write, or none. */
  | ({ readonly kind: 'settle' } & Settlement<T>)
  /** This version of the API does not show the whole request: read it through another version, once. */
  | { readonly kind: 'reread'; readonly via: Resource }
  /** Something is missing that time or a person can fix; the request stays as it is. */
  | { readonly kind: 'wait'; readonly error: SignerError };

/** What a decision depends on, besides the request and its signer. */
export interface Moment<E = undefined> {
  /** The validity of the CA, or why there is none to sign with now. */
  readonly authority: Validity | SignerError;
  /** The API server's time, in milliseconds. */
  readonly now: number;
  /** The version of the API that the request was read through. */
  readonly via: Resource;
  /** What `gather` returned; undefined where the kind has none. */
  readonly evidence: E | undefined;
}

/**
 * What one kind of requests does differently from the others.
 *
 * `T` is the request, `S` its signer, and `I` what is remembered of an issued leaf: everything that the
 * status contains and that must be the same in each delivery. `E` is what a decision depends on besides the request and
 * its signer.
 */
export interface RequestKindInit<T, S, I extends IssuedChain, E = undefined> {
  readonly component: Component;
  readonly resource: Resource;
  /** @throws SignerError why the signer cannot sign now */
  readonly issuingOf: (signer: S) => IssuingCa<T>;
  /** How long after its creation a request is retried, in milliseconds; undefined: without end. */
  readonly maxRetryMs?: number | undefined;
  /** The flow that is charged for the time of `decide`. */
  readonly flowOf: (request: T) => string;
  /**
   * Reads what `decide` needs to know of other objects.
   *
   * @throws SignerError why the request waits
   */
  readonly gather?: (request: T, signer: S) => Promise<E>;
  /** Synchronous and total. */
  readonly decide: (request: T, signer: S, moment: Moment<E>) => Decision<T, I>;
  /**
   * Looks once more, just before each write, whether what was gathered for a leaf still holds.
   *
   * @returns why the leaf may not be delivered: it is dropped, and the request is decided anew
   * @throws SignerError if that cannot be told now: the leaf stays for a later delivery
   */
  readonly confirm?: (request: T, issued: I) => Promise<SignerError | undefined>;
  /** A leaf was delivered. */
  readonly onDelivered?: (request: T, issued: I) => void;
  /** What a record of the ledger says of the request; asked only where there is a ledger. */
  readonly askedOf: (request: T, signer: S) => AskedFacts;
  /** Whether the request has its final answer, to which no component may add. */
  readonly isFinished: (request: T) => boolean;
  /** The object for PUT /status that delivers a leaf; `now` by the API server's clock. */
  readonly withIssued: (request: T, issued: I, now: number) => T;
  /** The chain in the status of a request, as PEM. */
  readonly chainOf: (request: T) => string | undefined;
  /**
   * When a leaf becomes deliverable, in milliseconds by the API server's clock; default: when it was signed.
   * A PodCertificateRequest has a notBefore that the API server compares with its own time.
   */
  readonly deliverableSince?: (issued: I) => number;
  /** The body to send: as little of the object as the kind's update strategy allows. */
  readonly bodyOf: (request: T) => Pick<SubresourceWrite, 'body' | 'contentType'>;
  /** Why this holder gets no certificate; absent: nobody is refused. @throws SignerError why nobody knows */
  readonly refusalOf?: ((signer: S, input: RefusalInput) => HolderRefusal | undefined) | undefined;
  /** The final answer to a request that a Revocation refuses; `now` by the API server's clock. */
  readonly refused: (request: T, why: HolderRefusal, now: number) => Settlement<T>;
  /** The result for a request for which the CA returned no chain. */
  readonly notIssued: (request: T, held: NotIssued, times: Times) => Settlement<T>;
}
