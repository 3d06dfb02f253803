// SPDX-License-Identifier: Apache-2.0
import type { SignerObject } from '../../api/signer/cluster-signer.ts';

/** The signers of a kind that are served, kept up to date. One set may feed several loops. */
export interface SignerSet<S> {
  /** True once all are known, and who serves is settled. */
  readonly settled: boolean;
  /** Why they could not be read last, while they cannot. */
  readonly failure: string | undefined;
  /** Who serves a signer name, if anybody does. */
  readonly serving: (signerName: string) => S | undefined;
  /** All that serve. */
  readonly all: () => readonly S[];
  /** Called after who serves may have changed, with the signer names whose requests are to be looked at. */
  readonly onChange: (listener: (signerNames: readonly string[]) => void) => void;
  /** Watches until `signal` is aborted; never rejects. */
  readonly run: (signal: AbortSignal) => Promise<void>;
  /** What is wrong although everybody else is served. */
  readonly warnings?: () => readonly string[];
}

/** Which requests are a signer's. */
export interface RequestSelector {
  readonly fieldSelector: string;
  /** Of this namespace alone; absent: of all. */
  readonly namespace?: string | undefined;
}

/** Those of its signer name, in all namespaces. */
export function bySignerName({ spec }: SignerObject): RequestSelector {
  return { fieldSelector: `spec.signerName=${spec.signerName}` };
}

/** Of a signer with a namespace only those that lie in it; the others are left untouched. */
export function bySignerNameAndNamespace(signer: SignerObject): RequestSelector {
  return { ...bySignerName(signer), namespace: signer.metadata.namespace };
}
