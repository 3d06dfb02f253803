// SPDX-License-Identifier: Apache-2.0
import type { KubeObject } from '../api/object/object.ts';
import { resolveNameConflicts, type NameClaimant } from '../api/signer/name-conflict.ts';
import { readClusterSigner, readSigner } from '../api/signer/read-signer.ts';
import {
  ACME_CLUSTER_SIGNERS,
  ACME_DERIVED_PREFIX,
  ACME_SIGNERS,
  readAcmeSigner,
} from '../api/acme/index.ts';
import { derivedFrom } from '../api/signer/signer.ts';
import { SignerError, attempt, messageOf } from '../errors.ts';
import type { Client } from '../kube/client/client.ts';
import { KubeError, ignoreNotFound } from '../kube/client/kube-error.ts';
import { resource } from '../kube/resource/resource.ts';
import { listPages } from '../kube/watch/list-pages.ts';
import { CLUSTER_SIGNERS } from '../runtime/signers/cluster-signers.ts';
import { SIGNERS } from '../runtime/signers/namespaced-signers.ts';
import type { SignerView } from './signer-view.ts';

/** How the objects of each kind are found and read. */
const KINDS = {
  ClusterSigner: { api: CLUSTER_SIGNERS, read: readClusterSigner },
  Signer: { api: SIGNERS, read: readSigner },
  AcmeClusterSigner: { api: resource(ACME_CLUSTER_SIGNERS), read: readAcmeSigner },
  AcmeSigner: { api: resource(ACME_SIGNERS), read: readAcmeSigner },
} as const;

type SignerKind = keyof typeof KINDS;

/** Reads the signer of a signer name with the user's permissions: one that may not be read is unusable, and says so. */
export async function readSignerView(client: Client, signerName: string): Promise<SignerView> {
  return seen(signerName, `the signer of ${signerName}`, async () => {
    const own = derivedFrom(signerName);
    if (own !== undefined) return ['Signer', await objectOf(client, 'Signer', own)];
    if (signerName.startsWith(ACME_DERIVED_PREFIX)) {
      const [namespace = '', ...name] = signerName.slice(ACME_DERIVED_PREFIX.length).split('.');
      const key = `${namespace}/${name.join('.')}`;
      return ['AcmeSigner', await objectOf(client, 'AcmeSigner', key)];
    }
    const found = await clusterSignerOf(client, 'ClusterSigner', signerName);
    if (found !== undefined) return ['ClusterSigner', found];
    return ['AcmeClusterSigner', await clusterSignerOf(client, 'AcmeClusterSigner', signerName)];
  });
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
  const known: SignerKind = kind in KINDS ? (kind as SignerKind) : 'ClusterSigner';
  const isNamespaced = known === 'Signer' || known === 'AcmeSigner';
  const key = isNamespaced ? `${namespace}/${name}` : name;
  const text = `${kind} ${name}`;
  return seen(text, text, async () => [known, await objectOf(client, known, key)]);
}

type Found = readonly [kind: SignerKind, object: KubeObject | undefined];

async function seen(
  signerName: string,
  what: string,
  find: () => Promise<Found>,
): Promise<SignerView> {
  try {
    return viewOf(signerName, await find());
  } catch (error) {
    if (!(error instanceof KubeError) || error.status !== 403) throw error;
    const unusable = `you may not read ${what}: ${messageOf(error)}`;
    return { signerName, signer: undefined, unusable };
  }
}

function viewOf(signerName: string, [kind, object]: Found): SignerView {
  if (object === undefined) return { signerName, signer: undefined, unusable: undefined };
  const signer = attempt(() => KINDS[kind].read(object));
  if (!(signer instanceof SignerError)) return { signerName, signer, unusable: undefined };
  const unusable = `${object.kind} ${object.metadata.name} is invalid: ${signer.message}`;
  return { signerName, signer: undefined, unusable };
}

/** Of those with the name, the one that serves. */
async function clusterSignerOf(
  client: Client,
  kind: 'ClusterSigner' | 'AcmeClusterSigner',
  signerName: string,
): Promise<KubeObject | undefined> {
  const found: NameClaimant[] = [];
  try {
    await listPages({ client, path: KINDS[kind].api.collection() }, (object) => {
      const signer = object as NameClaimant;
      if (signer.spec.signerName === signerName) found.push(signer);
    });
  } catch (error) {
    // The kinds of ACME need not be installed, and who asks for another one need not see them.
    const isOptional = kind === 'AcmeClusterSigner' && error instanceof KubeError;
    if (!isOptional || (error.status !== 404 && error.status !== 403)) throw error;
  }
  return resolveNameConflicts(found).serving.get(signerName);
}

/** @param key - a name, or `namespace/name` */
function objectOf(client: Client, kind: SignerKind, key: string): Promise<KubeObject | undefined> {
  const [first = '', second] = key.split('/');
  const reference = second === undefined ? { name: first } : { namespace: first, name: second };
  const path = KINDS[kind].api.object(reference);
  return client.request<KubeObject>({ method: 'GET', path }).catch(ignoreNotFound);
}
