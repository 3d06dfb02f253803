// SPDX-License-Identifier: Apache-2.0
import { ACME_CLUSTER_SIGNERS } from '#api/acme/names.ts';
import { isKubernetesSignerName } from '#api/signer/signer-name.ts';
import { isDerivedName } from '#api/signer/signer.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import type { Client } from '#kube/client/client.ts';
import { KubeError, ignoreNotFound } from '#kube/client/kube-error.ts';
import { resource, type Resource } from '#kube/resource/resource.ts';
import { quote, quoteList } from '#base/quote.ts';
import { CLUSTER_SIGNERS } from '#component/signers/cluster-signers.ts';
import { unanswerable } from '#diagnose/explain/certificate-signing-request.ts';
import { readSignerView } from '#diagnose/explain/read-signer-view.ts';
import { EXTERNAL_SIGNERS } from '#component/signers/external-signers.ts';

const ACME_SIGNERS_OF_CLUSTER = resource(ACME_CLUSTER_SIGNERS);

/**
 * Returns a hint for a user whose request has a signer name that no signer of the cluster has, such
 * as a misspelled one.
 *
 * @returns undefined if one serves it, or if the user may not list them
 */
export async function unservedMessage(
  client: Client,
  signerName: string,
): Promise<string | undefined> {
  if (isKubernetesSignerName(signerName) || isDerivedName(signerName)) return undefined;
  const found = await Promise.all([
    namesOf(client, CLUSTER_SIGNERS),
    namesOf(client, ACME_SIGNERS_OF_CLUSTER),
    namesOf(client, EXTERNAL_SIGNERS),
  ]).catch(() => undefined);
  if (found === undefined) return undefined;
  const names = found.flat().sort();
  if (names.includes(signerName)) return undefined;
  const there = names.length === 0 ? 'there are none' : `there are ${quoteList(names)}`;
  return `no ClusterSigner, AcmeClusterSigner or ExternalClusterSigner serves ${quote(signerName)} (${there}); unless another signer answers, the request waits indefinitely`;
}

/**
 * Returns the fault of a signer whose spec is invalid: no approval helps a request until then.
 *
 * @returns undefined without such a fault, or if the user may not read the signer
 */
export async function invalidMessage(
  client: Client,
  signerName: string,
): Promise<string | undefined> {
  if (isKubernetesSignerName(signerName)) return undefined;
  const view = await readSignerView(client, signerName).catch((error: unknown) => {
    // A hint is not worth a failed request.
    if (error instanceof KubeError) return undefined;
    throw error;
  });
  if (view === undefined || view.isHidden === true) return undefined;
  // `unservedMessage` is about signers that do not exist.
  if (view.signer === undefined && view.unusable === undefined) return undefined;
  return unanswerable(view)?.summary;
}

/** None where the kind is not installed. */
async function namesOf(client: Client, kind: Resource): Promise<readonly string[]> {
  const signers = await client
    .request<{ readonly items: readonly Pick<ClusterSigner, 'spec'>[] }>({
      method: 'GET',
      path: kind.collection(),
    })
    .catch(ignoreNotFound);
  return (signers?.items ?? []).map(({ spec }) => spec.signerName);
}
