// SPDX-License-Identifier: Apache-2.0
import { membersOf } from '#base/record.ts';
import { bundleName, type ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import type { KubeObject } from '#api/object/object.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { inParallel } from '#base/in-parallel.ts';
import type { Client } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { listObjects } from '#kube/watch/list-objects.ts';
import { quote } from '#base/quote.ts';
import { serverTime } from '#component/server-time.ts';
import { CLUSTER_SIGNERS } from '#component/signers/cluster-signers.ts';
import { certificatesResources } from '#component/certificates-resources.ts';
import type { ReadBundle, SignerState } from './signer-state.ts';
import { readClusterSigner } from '#api/signer/read-signer.ts';

/** Client, clock and propagation time for reading. */
export interface ReadSignerStateInit {
  readonly client: Client;
  readonly propagationSeconds: number;
  readonly clock: () => number;
}

/**
 * Reads one ClusterSigner and its bundle with the user's permissions.
 * @param name - of the object, or its signer name, which has a slash and requires `list`
 * @throws SignerError KUBE_NOT_FOUND if no object has the signer name; KubeError of the API server;
 * SignerError SPEC_INVALID (`wait`) if the spec passed the CRD's schema but is invalid
 */
export async function readSignerState(
  init: ReadSignerStateInit,
  name: string,
): Promise<SignerState> {
  if (name.includes('/')) return signerStateOf(init, await signerNamed(init, name));
  const path = CLUSTER_SIGNERS.object({ name });
  const object = await init.client.request<KubeObject>({ method: 'GET', path });
  return signerStateOf(init, readClusterSigner(object));
}

async function signerNamed(
  { client }: ReadSignerStateInit,
  signerName: string,
): Promise<ClusterSigner> {
  const all = await listObjects<KubeObject>(client, CLUSTER_SIGNERS);
  const named = all.find(({ spec }) => membersOf(spec)['signerName'] === signerName);
  if (named !== undefined) return readClusterSigner(named);
  throw new SignerError({
    code: 'KUBE_NOT_FOUND',
    disposition: 'wait',
    message: `no ClusterSigner has the signer name ${quote(signerName)}; countersign authority show lists them`,
  });
}

/**
 * Reads all ClusterSigners and their bundles.
 * @param selector - labels that they must have; undefined for any
 * @param unread - called for each ClusterSigner with an invalid spec, which is omitted
 * @throws KubeError of the API server
 */
export async function readAllSignerStates(
  init: ReadSignerStateInit,
  selector: string | undefined,
  unread: (name: string, error: SignerError) => void,
): Promise<readonly SignerState[]> {
  const objects = await listObjects<KubeObject>(init.client, CLUSTER_SIGNERS, {
    labelSelector: selector,
  });
  const signers = objects.flatMap((object) => {
    const signer = attempt(() => readClusterSigner(object));
    if (!(signer instanceof SignerError)) return [signer];
    if (signer.code !== 'SPEC_INVALID') throw signer;
    unread(object.metadata.name, signer);
    return [];
  });
  return inParallel(signers, (each) => signerStateOf(init, each));
}

async function signerStateOf(
  init: ReadSignerStateInit,
  signer: ClusterSigner,
): Promise<SignerState> {
  const { client, clock, propagationSeconds } = init;
  const bundle = await bundleOf(client, signer);
  // Components wrote the compared times by the API server's clock.
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
