// SPDX-License-Identifier: Apache-2.0
import { isDerivedName } from '../../../api/signer/signer.ts';
import type { ClusterSigner } from '../../../api/signer/cluster-signer.ts';
import type { Client } from '../../../kube/client/client.ts';
import { quote, quoteList } from '../../../quote.ts';
import { CLUSTER_SIGNERS } from '../../../runtime/signers/cluster-signers.ts';

/** Signers of Kubernetes itself: kube-controller-manager and people answer for them. */
const KUBERNETES = /^kubernetes\.io\//;

/**
 * A line for a person whose request waits for a signer name that no ClusterSigner has, such as one with a typing error.
 *
 * @returns undefined if one serves it, or if the person may not list ClusterSigners
 */
export async function whyNobodyServes(
  client: Client,
  signerName: string,
): Promise<string | undefined> {
  if (KUBERNETES.test(signerName) || isDerivedName(signerName)) return undefined;
  const path = CLUSTER_SIGNERS.collection();
  const names = await client
    .request<{ readonly items: readonly Pick<ClusterSigner, 'spec'>[] }>({ method: 'GET', path })
    .then(({ items }) => items.map(({ spec }) => spec.signerName).sort())
    .catch(() => undefined);
  if (names === undefined || names.includes(signerName)) return undefined;
  const there = names.length === 0 ? 'there are none' : `there are ${quoteList(names)}`;
  return `no ClusterSigner serves ${quote(signerName)} (${there}); unless another signer answers, the request waits for ever`;
}
