// SPDX-License-Identifier: Apache-2.0
import type { KubeObject } from '../api/object/object.ts';
import { GROUP, VERSION } from '../api/signer/cluster-signer.ts';
import { resolveNameConflicts, type NameClaimant } from '../api/signer/name-conflict.ts';
import { readClusterSigner, readSigner } from '../api/signer/read-signer.ts';
import { derivedFrom } from '../api/signer/signer.ts';
import { SignerError, attempt, messageOf } from '../errors.ts';
import type { Client } from '../kube/client/client.ts';
import { KubeError, ignoreNotFound } from '../kube/client/kube-error.ts';
import { resource } from '../kube/resource/resource.ts';
import { listPages } from '../kube/watch/list-pages.ts';
import { CLUSTER_SIGNERS } from '../runtime/signers/cluster-signers.ts';
import type { SignerView } from './signer-view.ts';

const SIGNERS = resource({ group: GROUP, version: VERSION, plural: 'signers' });

/** Reads the signer of a signer name with the user's permissions: one that may not be read is unusable, and says so. */
export async function readSignerView(client: Client, signerName: string): Promise<SignerView> {
  const key = derivedFrom(signerName);
  try {
    const object =
      key === undefined ? await clusterSignerOf(client, signerName) : await signerOf(client, key);
    return viewOf(signerName, object, key !== undefined);
  } catch (error) {
    if (!(error instanceof KubeError) || error.status !== 403) throw error;
    const unusable = `you may not read the signer of ${signerName}: ${messageOf(error)}`;
    return { signerName, signer: undefined, unusable };
  }
}

/** By kind and name, as an issuerRef of cert-manager names it. */
export async function readNamedSigner(
  client: Client,
  {
    kind,
    name,
    namespace,
  }: { readonly kind: string; readonly name: string; readonly namespace: string },
): Promise<SignerView> {
  const namespaced = kind === 'Signer';
  const signerName = `${kind} ${name}`;
  try {
    const object = namespaced
      ? await signerOf(client, `${namespace}/${name}`)
      : await client
          .request<KubeObject>({ method: 'GET', path: CLUSTER_SIGNERS.object({ name }) })
          .catch(ignoreNotFound);
    return viewOf(signerName, object, namespaced);
  } catch (error) {
    if (!(error instanceof KubeError) || error.status !== 403) throw error;
    return { signerName, signer: undefined, unusable: `you may not read ${signerName}` };
  }
}

function viewOf(
  signerName: string,
  object: KubeObject | undefined,
  namespaced: boolean,
): SignerView {
  if (object === undefined) return { signerName, signer: undefined, unusable: undefined };
  const signer = attempt(() => (namespaced ? readSigner(object) : readClusterSigner(object)));
  if (!(signer instanceof SignerError)) return { signerName, signer, unusable: undefined };
  const unusable = `${object.kind} ${object.metadata.name} is invalid: ${signer.message}`;
  return { signerName, signer: undefined, unusable };
}

/** Of those with the name, the one that serves. */
async function clusterSignerOf(
  client: Client,
  signerName: string,
): Promise<KubeObject | undefined> {
  const found: NameClaimant[] = [];
  await listPages({ client, path: CLUSTER_SIGNERS.collection() }, (object) => {
    const signer = object as NameClaimant;
    if (signer.spec.signerName === signerName) found.push(signer);
  });
  return resolveNameConflicts(found).serving.get(signerName);
}

/** @param key - `namespace/name` */
function signerOf(client: Client, key: string): Promise<KubeObject | undefined> {
  const [namespace = '', name = ''] = key.split('/');
  const path = SIGNERS.object({ namespace, name });
  return client.request<KubeObject>({ method: 'GET', path }).catch(ignoreNotFound);
}
