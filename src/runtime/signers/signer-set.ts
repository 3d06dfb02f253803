// SPDX-License-Identifier: Apache-2.0
import type { KubeObject } from '../../api/object/object.ts';
import type { ClusterSigner, SignerObject } from '../../api/signer/cluster-signer.ts';
import type { SignerError } from '../../errors.ts';

/** The serving signers of a kind, kept up to date. One set may feed several loops. */
export interface SignerSet<S> {
  /** True once all are known and it is decided which of them serve. */
  readonly settled: boolean;
  /** Why the last attempt to read them failed; undefined if it did not. */
  readonly failure: string | undefined;
  /** The signer that serves a signer name, if any. */
  readonly serving: (signerName: string) => S | undefined;
  /** All that serve. */
  readonly all: () => readonly S[];
  /**
   * Calls the listener after objects changed or which of them serve, with the signer names whose requests to
   * reconcile.
   */
  readonly onChange: (listener: (signerNames: readonly string[]) => void) => void;
  /** Watches until `signal` is aborted; never rejects. */
  readonly run: (signal: AbortSignal) => Promise<void>;
  /** Faults that do not keep the other signers from serving. */
  readonly warnings?: () => readonly string[];
}

/** The same signers for a loop that does not run their watch: another one does. */
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

/** The signers of our own kinds, those that do not serve included. By key: `namespace/name`, or the bare name. */
export interface Signers extends SignerSet<ClusterSigner> {
  /** As {@link SignerSet}'s, and with the keys of the signers that changed or begin or cease to serve. */
  readonly onChange: (listener: SignersListener) => void;
  readonly warnings: () => readonly string[];
  /** All of this installation with a valid spec. */
  readonly known: () => readonly ClusterSigner[];
  /** One of {@link known}. */
  readonly get: (key: string) => ClusterSigner | undefined;
  /** The object with its error, if its spec is invalid. */
  readonly faulty: (key: string) => FaultySigner | undefined;
  /** The older one of the same signer name, which keeps this one from serving. */
  readonly elderOf: (key: string) => string | undefined;
  /** The keys of all objects, valid or not. */
  readonly keys: () => readonly string[];
}

/**
 * Called with the signer names concerned, and the keys of each signer that changed or that began or ceased to
 * serve.
 */
export type SignersListener = (signerNames: readonly string[], keys: readonly string[]) => void;

/** A ClusterSigner or Signer that passed the CRD's schema and is invalid all the same. */
export interface FaultySigner {
  readonly object: KubeObject;
  readonly error: SignerError;
}

/** The requests of a signer, as its watch selects them. */
export interface RequestSelector {
  readonly fieldSelector: string;
  /** Only of this namespace; undefined: of all. */
  readonly namespace?: string | undefined;
}

/** The requests with its signer name, in all namespaces. */
export function bySignerName({ spec }: SignerObject): RequestSelector {
  return { fieldSelector: `spec.signerName=${spec.signerName}` };
}

/** The requests with its signer name; for a namespaced signer only those in its namespace. */
export function bySignerNameAndNamespace(signer: SignerObject): RequestSelector {
  return { ...bySignerName(signer), namespace: signer.metadata.namespace };
}
