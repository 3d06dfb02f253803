// SPDX-License-Identifier: Apache-2.0
import { isKeyOf } from '#base/object-keys.ts';
import type { KubeObject } from '#api/object/object.ts';
import { resolveNameConflicts, type NameClaimant } from '#api/signer/name-conflict.ts';
import { readClusterSigner, readSigner } from '#api/signer/read-signer.ts';
import { ACME_CLUSTER_SIGNERS, ACME_DERIVED_PREFIX, ACME_SIGNERS } from '#api/acme/names.ts';
import { readAcmeSigner } from '#api/acme/read-acme-signer.ts';
import { readExternalSigner } from '#api/external/external-signer.ts';
import { isKubernetesSignerName } from '#api/signer/signer-name.ts';
import { derivedFrom } from '#api/signer/signer.ts';
import { SignerError, attempt, messageOf } from '#base/errors.ts';
import type { Client } from '#kube/client/client.ts';
import { KubeError, ignoreNotFound } from '#kube/client/kube-error.ts';
import { resource } from '#kube/resource/resource.ts';
import { listObjects, listReadable } from '#kube/watch/list-objects.ts';
import { CLUSTER_SIGNERS } from '#component/signers/cluster-signers.ts';
import { EXTERNAL_SIGNERS } from '#component/signers/external-signers.ts';
import { SIGNERS } from '#component/signers/namespaced-signers.ts';
import { editCommand, type SignerView } from './signer-view.ts';

/** API and reader of each kind. */
const KINDS = {
  ClusterSigner: { api: CLUSTER_SIGNERS, read: readClusterSigner },
  Signer: { api: SIGNERS, read: readSigner },
  AcmeClusterSigner: { api: resource(ACME_CLUSTER_SIGNERS), read: readAcmeSigner },
  AcmeSigner: { api: resource(ACME_SIGNERS), read: readAcmeSigner },
  ExternalClusterSigner: { api: EXTERNAL_SIGNERS, read: readExternalSigner },
} as const;

type SignerKind = keyof typeof KINDS;

/** Kinds outside of namespaces, in the order of precedence. */
const OF_CLUSTER = ['ClusterSigner', 'AcmeClusterSigner', 'ExternalClusterSigner'] as const;

/**
 * Reads the signer of a signer name with the user's permissions. A signer that the user may not
 * read gets `unusable` with the reason.
 */
export async function readSignerView(client: Client, signerName: string): Promise<SignerView> {
  if (isKubernetesSignerName(signerName)) {
    return { signerName, signer: undefined, unusable: undefined };
  }
  const otherNames: string[] = [];
  const view = await seen(signerName, `the signer of ${signerName}`, async () => {
    const own = derivedFrom(signerName);
    if (own !== undefined) return ['Signer', await objectOf(client, 'Signer', own)];
    if (signerName.startsWith(ACME_DERIVED_PREFIX)) {
      const [namespace = '', ...name] = signerName.slice(ACME_DERIVED_PREFIX.length).split('.');
      const key = `${namespace}/${name.join('.')}`;
      return ['AcmeSigner', await objectOf(client, 'AcmeSigner', key)];
    }
    for (const kind of OF_CLUSTER) {
      const claimants = await claimantsOf(client, kind);
      const found = resolveNameConflicts(claimants).serving.get(signerName);
      if (found !== undefined) return [kind, found];
      otherNames.push(...claimants.map(({ spec }) => spec.signerName));
    }
    return ['ClusterSigner', undefined];
  });
  const isAbsent = view.signer === undefined && view.unusable === undefined;
  return isAbsent && otherNames.length > 0 ? { ...view, otherNames: otherNames.sort() } : view;
}

/** Reads a signer by kind and name, as in an issuerRef of cert-manager. */
export async function readNamedSigner(
  client: Client,
  {
    kind,
    name,
    namespace,
  }: { readonly kind: string; readonly name: string; readonly namespace: string },
): Promise<SignerView> {
  const known = isKeyOf(KINDS, kind) ? kind : 'ClusterSigner';
  const isNamespaced = known === 'Signer' || known === 'AcmeSigner';
  const key = isNamespaced ? `${namespace}/${name}` : name;
  const text = `${kind} ${key}`;
  const view = await seen(text, text, async () => [known, await objectOf(client, known, key)]);
  return { ...view, isReference: true };
}

type SignerLookup = readonly [kind: SignerKind, object: KubeObject | undefined];

async function seen(
  signerName: string,
  what: string,
  find: () => Promise<SignerLookup>,
): Promise<SignerView> {
  try {
    return viewOf(signerName, await find());
  } catch (error) {
    if (!(error instanceof KubeError) || error.status !== 403) throw error;
    const unusable = `you may not read ${what}: ${messageOf(error)}`;
    const fix =
      'kubectl auth can-i list clustersigners   # ask a cluster administrator for this permission';
    return { signerName, signer: undefined, unusable, fix, isHidden: true };
  }
}

function viewOf(signerName: string, [kind, object]: SignerLookup): SignerView {
  if (object === undefined) return { signerName, signer: undefined, unusable: undefined };
  const signer = attempt(() => KINDS[kind].read(object));
  if (!(signer instanceof SignerError)) return { signerName, signer, unusable: undefined };
  const unusable = `${object.kind} ${object.metadata.name} is invalid: ${signer.message}`;
  return { signerName, signer: undefined, unusable, fix: editCommand(object) };
}

/** Returns the objects of a kind. They are few, unlike requests. */
function claimantsOf(
  client: Client,
  kind: (typeof OF_CLUSTER)[number],
): Promise<readonly NameClaimant[]> {
  // The other kinds are optional, and requesters of ClusterSigners need no permission for them.
  const list = kind === 'ClusterSigner' ? listObjects : listReadable;
  return list<NameClaimant>(client, KINDS[kind].api);
}

/**
 * Reads an object. Undefined if it does not exist.
 *
 * @param key - a name, or `namespace/name`
 */
function objectOf(client: Client, kind: SignerKind, key: string): Promise<KubeObject | undefined> {
  const [first = '', second] = key.split('/');
  const reference = second === undefined ? { name: first } : { namespace: first, name: second };
  const path = KINDS[kind].api.object(reference);
  return client.request<KubeObject>({ method: 'GET', path }).catch(ignoreNotFound);
}
