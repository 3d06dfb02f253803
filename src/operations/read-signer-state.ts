// SPDX-License-Identifier: Apache-2.0
import { bundleName, type ClusterTrustBundle } from '../api/object/cluster-trust-bundle.ts';
import type { KubeObject } from '../api/object/object.ts';
import type { ClusterSigner } from '../api/signer/cluster-signer.ts';
import { SignerError, attempt } from '../errors.ts';
import type { Client } from '../kube/client/client.ts';
import { KubeError } from '../kube/client/kube-error.ts';
import { listPages } from '../kube/watch/list-pages.ts';
import { quote } from '../quote.ts';
import { serverTime } from '../runtime/component/server-time.ts';
import { CLUSTER_SIGNERS } from '../runtime/signers/cluster-signers.ts';
import { certificatesResources } from '../app/certificates-resources.ts';
import type { ReadBundle, SignerState } from './signer-state.ts';
import { readClusterSigner } from '../api/signer/read-signer.ts';

/** Bundles that are read together. */
const AT_ONCE = 16;

/** How to read: with whose permissions, and by which clock. */
export interface ReadSignerStateInit {
  readonly client: Client;
  readonly propagationSeconds: number;
  readonly clock: () => number;
}

/**
 * Reads one ClusterSigner and its bundle with the user's permissions.
 *
 * @param name - of the object, or its signer name, which has a slash and takes `list`
 * @throws SignerError KUBE_NOT_FOUND where no object has the signer name; KubeError of the API server; SignerError SPEC_INVALID (`wait`) when the spec passed the CRD's
 * schema and is invalid all the same
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
  const all = await listSigners(client, undefined);
  const named = all.find(
    (object) =>
      (object as { readonly spec?: { readonly signerName?: unknown } }).spec?.signerName ===
      signerName,
  );
  if (named !== undefined) return readClusterSigner(named);
  throw new SignerError({
    code: 'KUBE_NOT_FOUND',
    disposition: 'wait',
    message: `no ClusterSigner has the signer name ${quote(signerName)}; countersign authority show lists them`,
  });
}

async function listSigners(
  client: Client,
  labelSelector: string | undefined,
): Promise<readonly KubeObject[]> {
  const objects: KubeObject[] = [];
  const path = CLUSTER_SIGNERS.collection();
  const init = { client, path, ...(labelSelector === undefined ? {} : { labelSelector }) };
  await listPages(init, (object) => {
    objects.push(object as KubeObject);
  });
  return objects;
}

/**
 * Reads all ClusterSigners and their bundles.
 *
 * @param selector - labels that they must have; undefined: any
 * @param unread - called for each ClusterSigner with an invalid spec, which is left out
 * @throws KubeError of the API server
 */
export async function readAllSignerStates(
  init: ReadSignerStateInit,
  selector: string | undefined,
  unread: (name: string, error: SignerError) => void,
): Promise<readonly SignerState[]> {
  const signers = (await listSigners(init.client, selector)).flatMap((object) => {
    const signer = attempt(() => readClusterSigner(object));
    if (!(signer instanceof SignerError)) return [signer];
    if (signer.code !== 'SPEC_INVALID') throw signer;
    unread(object.metadata.name, signer);
    return [];
  });
  const found: SignerState[] = [];
  for (let from = 0; from < signers.length; from += AT_ONCE) {
    const some = signers.slice(from, from + AT_ONCE);
    found.push(...(await Promise.all(some.map((each) => signerStateOf(init, each)))));
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
