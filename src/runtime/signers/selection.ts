// SPDX-License-Identifier: Apache-2.0
import type { SignerObject } from '../../api/signer/cluster-signer.ts';

/** Which requests are a signer's. */
export interface Selection {
  readonly fieldSelector: string;
  /** Of this namespace alone; absent: of all. */
  readonly namespace?: string | undefined;
}

/** Those of its signer name, in all namespaces. */
export function bySignerName({ spec }: SignerObject): Selection {
  return { fieldSelector: `spec.signerName=${spec.signerName}` };
}

/** Of a signer with a namespace only those that lie in it; the others are left untouched. */
export function inItsNamespace(signer: SignerObject): Selection {
  return { ...bySignerName(signer), namespace: signer.metadata.namespace };
}
