// SPDX-License-Identifier: Apache-2.0
import { bundleName, type ClusterTrustBundle } from '../api/object/cluster-trust-bundle.ts';
import type { KubeObject } from '../api/object/object.ts';
import type { ClusterSigner } from '../api/signer/cluster-signer.ts';
import { SignerError } from '../errors.ts';
import type { Client } from '../kube/client/client.ts';
import { KubeError } from '../kube/client/kube-error.ts';
import { listPages } from '../kube/watch/list-pages.ts';
import { serverTime } from '../runtime/component/server-time.ts';
import { CLUSTER_SIGNERS } from '../runtime/signers/cluster-signers.ts';
import { certificatesResources } from '../app/certificates-resources.ts';
import type { ReadBundle, SignerState } from './signer-state.ts';
import { readClusterSigner } from '../api/signer/read-signer.ts';

/** How to read: with whose permissions, and by which clock. */
export interface ReadSignerStateInit {
  readonly client: Client;
  readonly propagationSeconds: number;
  readonly clock: () => number;
}

/**
 * Reads one ClusterSigner and its bundle with the user's permissions.
 *
 * @throws KubeError of the API server; SignerError SPEC_INVALID (`wait`) when the spec passed the CRD's
 * schema and is invalid all the same
 */
export async function readSignerState(
  init: ReadSignerStateInit,
  name: string,
): Promise<SignerState> {
  const path = CLUSTER_SIGNERS.object({ name });
  const object = await init.client.request<KubeObject>({ method: 'GET', path });
  return signerStateOf(init, readClusterSigner(object));
}

/**
 * Reads all ClusterSigners and their bundles.
 *
 * @param unread - called for each ClusterSigner with an invalid spec, which is left out
 * @throws KubeError of the API server
 */
export async function readAllSignerStates(
  init: ReadSignerStateInit,
  unread: (name: string, error: SignerError) => void,
): Promise<readonly SignerState[]> {
  const objects: KubeObject[] = [];
  await listPages({ client: init.client, path: CLUSTER_SIGNERS.collection() }, (object) => {
    objects.push(object as KubeObject);
  });
  const found: SignerState[] = [];
  for (const object of objects) {
    try {
      found.push(await signerStateOf(init, readClusterSigner(object)));
    } catch (error) {
      if (!(error instanceof SignerError) || error.code !== 'SPEC_INVALID') throw error;
      unread(object.metadata.name, error);
    }
  }
  return found;
}

async function signerStateOf(
  init: ReadSignerStateInit,
  signer: ClusterSigner,
): Promise<SignerState> {
  const { client, clock, propagationSeconds } = init;
  const bundle = await bundleOf(client, signer);
  // Compared with times that the components wrote, so by the clock they share: the API server's.
  const now = serverTime({ clock, client });
  return { signer, bundle, propagationSeconds, now };
}

async function bundleOf(client: Client, { spec }: ClusterSigner): Promise<ReadBundle> {
  const { signerName, trustBundle } = spec;
  if (trustBundle === undefined) return undefined;
  try {
    const [bundles] = await certificatesResources(client, 'clustertrustbundles');
    const path = bundles.object({ name: bundleName(signerName, trustBundle.name) });
    return await client.request<ClusterTrustBundle>({ method: 'GET', path });
  } catch (error) {
    if (error instanceof KubeError && error.status === 403) return 'unread';
    if (error instanceof SignerError && error.code === 'KUBE_NOT_FOUND') return undefined;
    throw error;
  }
}
