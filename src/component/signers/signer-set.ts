// SPDX-License-Identifier: Apache-2.0
import type { KubeObject } from '#api/object/object.ts';
import type { ClusterSigner, SignerObject } from '#api/signer/cluster-signer.ts';
import type { SignerError } from '#base/errors.ts';

/** The serving signers of a kind, kept up to date. One set may feed several loops. */
export interface SignerSet<S> {
  /** True once all signers are known, and the serving ones are determined. */
  readonly settled: boolean;
  /** The error of the last attempt to read them, or undefined if it succeeded. */
  readonly failure: string | undefined;
  /** Returns the signer that serves a signer name, if any. */
  readonly serving: (signerName: string) => S | undefined;
  /** Returns all serving signers. */
  readonly all: () => readonly S[];
  /**
   * Calls the listener after objects or the serving signers changed, with the signer names whose
   * requests to reconcile.
   */
  readonly onChange: (listener: (signerNames: readonly string[]) => void) => void;
  /** Watches until `signal` is aborted. Never rejects. */
  readonly run: (signal: AbortSignal) => Promise<void>;
  /** Returns faults that do not keep the other signers from serving. */
  readonly warnings?: () => readonly string[];
}

/** Returns the same signers for a loop that does not run their watch, because another loop does. */
export function watchedElsewhere<S>(signers: SignerSet<S>): SignerSet<S> {
  return {
    get settled() {
      return signers.settled;
    },
    get failure() {
      return signers.failure;
    },
    serving: signers.serving,
    all: signers.all,
    onChange: signers.onChange,
    run: () => Promise.resolve(),
  };
}

/**
 * ClusterSigners and Signers, including those that do not serve. The key is `namespace/name`, or
 * the bare name.
 */
export interface Signers extends SignerSet<ClusterSigner> {
  /**
   * The listener of {@link SignerSet}, with the keys of the signers that changed or begin or cease
   * to serve.
   */
  readonly onChange: (listener: SignersListener) => void;
  readonly warnings: () => readonly string[];
  /** Returns all signers of this installation with a valid spec. */
  readonly known: () => readonly ClusterSigner[];
  /** Returns one of {@link known}. */
  readonly get: (key: string) => ClusterSigner | undefined;
  /** Returns the object with its error, if its spec is invalid. */
  readonly faulty: (key: string) => FaultySigner | undefined;
  /** Returns the older signer of the same signer name, which keeps this one from serving. */
  readonly elderOf: (key: string) => string | undefined;
  /** Returns the keys of all objects, valid or not. */
  readonly keys: () => readonly string[];
}

/**
 * Called with the signer names concerned, and the keys of each signer that changed or that began or
 * ceased to serve.
 */
export type SignersListener = (signerNames: readonly string[], keys: readonly string[]) => void;

/** A ClusterSigner or Signer that passed the CRD's schema, but is invalid. */
export interface FaultySigner {
  readonly object: KubeObject;
  readonly error: SignerError;
}

/** The selector of a signer's requests for a watch. */
export interface RequestSelector {
  readonly fieldSelector: string;
  /** The namespace of the requests. Undefined for all namespaces. */
  readonly namespace?: string | undefined;
  /** True if users of a namespace write the signer. Default: administrators write it. */
  readonly isOfNamespace?: boolean;
}

/** Returns the selector of requests with its signer name, in all namespaces. */
export function bySignerName({ spec }: SignerObject): RequestSelector {
  return { fieldSelector: `spec.signerName=${spec.signerName}` };
}

/**
 * Returns the selector of requests with its signer name. A namespaced signer selects only those in
 * its namespace.
 */
export function bySignerNameAndNamespace(signer: SignerObject): RequestSelector {
  return { ...bySignerName(signer), namespace: signer.metadata.namespace };
}
