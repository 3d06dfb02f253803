// SPDX-License-Identifier: Apache-2.0
import type { KubeObject } from '#api/object/object.ts';
import type { IssuerReference } from '#api/request/certificate-request.ts';
import { resolveNameConflicts, type NameClaimant } from '#api/signer/name-conflict.ts';
import { readClusterSigner, readSigner } from '#api/signer/read-signer.ts';
import { namedIssuer, type SignerKind } from '#api/acme/named-issuer.ts';
import { ACME_CLUSTER_SIGNERS, ACME_SIGNERS, acmeDerivedFrom } from '#api/acme/names.ts';
import { readAcmeSigner } from '#api/acme/read-acme-signer.ts';
import { readExternalSigner } from '#api/external/external-signer.ts';
import { READER_SIGNER } from '#api/signer/own-tls.ts';
import { isKubernetesSignerName } from '#api/signer/signer-name.ts';
import { derivedFrom } from '#api/signer/signer.ts';
import { SignerError, attempt } from '#base/errors.ts';
import type { Client } from '#kube/client/client.ts';
import { KubeError, ignoreNotFound, ignoreNotReadable } from '#kube/client/kube-error.ts';
import { resource } from '#kube/resource/resource.ts';
import { listObjects } from '#kube/watch/list-objects.ts';
import { CLUSTER_SIGNERS } from '#component/signers/cluster-signers.ts';
import { EXTERNAL_SIGNERS } from '#component/signers/external-signers.ts';
import { readSignerState, type ReadSignerStateInit } from '#operations/read-signer-state.ts';
import type { SignerState } from '#operations/signer-state.ts';
import { SIGNERS } from '#component/signers/namespaced-signers.ts';
import { describeCommand, editCommand, type SignerView } from './signer-view.ts';

/** API and reader of each kind. */
const KINDS = {
  ClusterSigner: { api: CLUSTER_SIGNERS, read: readClusterSigner },
  Signer: { api: SIGNERS, read: readSigner },
  AcmeClusterSigner: { api: resource(ACME_CLUSTER_SIGNERS), read: readAcmeSigner },
  AcmeSigner: { api: resource(ACME_SIGNERS), read: readAcmeSigner },
  ExternalClusterSigner: { api: EXTERNAL_SIGNERS, read: readExternalSigner },
} as const satisfies Record<SignerKind, object>;

/** Kinds outside of namespaces, in the order of precedence. */
const OF_CLUSTER = ['ClusterSigner', 'AcmeClusterSigner', 'ExternalClusterSigner'] as const;

/**
 * Reads the signer of a signer name with the user's permissions. A signer that the user may not
 * read gets `unusable` with the reason.
 */
export async function readSignerView(client: Client, signerName: string): Promise<SignerView> {
  if (isKubernetesSignerName(signerName) || signerName === READER_SIGNER) {
    return { signerName, signer: undefined, unusable: undefined };
  }
  const what = `the signer of ${signerName}`;
  const own = derivedFrom(signerName);
  if (own !== undefined) return viewOf(signerName, what, await objectOf(client, 'Signer', own));
  const acme = acmeDerivedFrom(signerName);
  if (acme !== undefined) {
    return viewOf(signerName, what, await objectOf(client, 'AcmeSigner', acme));
  }
  const { otherNames, ...lookup } = await claimantOf(client, signerName);
  const view = viewOf(signerName, what, lookup);
  const isUnknown = lookup.object === undefined && otherNames.length > 0;
  return isUnknown ? { ...view, otherNames } : view;
}

/**
 * Finds the signer that serves a name. One of a kind that the user may not list is hidden, unless
 * another kind has it.
 */
async function claimantOf(
  client: Client,
  signerName: string,
): Promise<SignerLookup & { readonly otherNames: readonly string[] }> {
  const otherNames: string[] = [];
  let hidden: SignerLookup | undefined;
  for (const kind of OF_CLUSTER) {
    const claimants = await claimantsOf(client, kind).catch(refusalOf);
    if (claimants instanceof KubeError) {
      hidden ??= { kind, verb: 'list', refusal: claimants };
      continue;
    }
    const object = resolveNameConflicts(claimants).serving.get(signerName);
    if (object !== undefined) return { kind, object, otherNames: [] };
    otherNames.push(...claimants.map(({ spec }) => spec.signerName));
  }
  return { ...(hidden ?? { kind: 'ClusterSigner' }), otherNames: otherNames.sort() };
}

/** Reads the signer of an issuerRef of cert-manager. An issuer of another project is not read. */
export async function readNamedSigner(
  client: Client,
  issuerRef: IssuerReference,
  namespace: string,
): Promise<SignerView> {
  const { kind, name, signerKind } = namedIssuer(issuerRef);
  const isNamespaced = kind === 'Signer' || kind === 'AcmeSigner';
  const key = isNamespaced ? `${namespace}/${name}` : name;
  const text = `${kind} ${key}`;
  const view =
    signerKind === undefined
      ? { signerName: text, signer: undefined, unusable: undefined }
      : viewOf(text, text, await objectOf(client, signerKind, key));
  return { ...view, isReference: true };
}

/**
 * Reads the ClusterSigner of a view. Users who may only list, or only get, find it as well.
 *
 * @returns undefined for other kinds
 * @throws KubeError, or SignerError KUBE_NOT_FOUND if it was deleted since
 */
export async function readVisibleState(
  init: ReadSignerStateInit,
  signer: SignerView['signer'],
): Promise<SignerState | undefined> {
  if (signer?.kind !== 'ClusterSigner') return undefined;
  const state = await readSignerState(init, signer.metadata.name).catch(ignoreNotReadable);
  return state ?? readSignerState(init, signer.spec.signerName);
}

/** The answer of the API server: an object, none, or the refusal of a verb. */
interface SignerLookup {
  readonly kind: SignerKind;
  readonly object?: KubeObject | undefined;
  readonly verb?: string;
  readonly refusal?: KubeError;
}

function viewOf(
  signerName: string,
  what: string,
  { kind, object, verb = 'get', refusal }: SignerLookup,
): SignerView {
  if (refusal !== undefined) {
    const unusable = `you may not read ${what}: ${refusal.message}`;
    const { plural, group } = KINDS[kind].api;
    const fix = `kubectl auth can-i ${verb} ${plural}.${group}   # ask a cluster administrator for this permission`;
    return { signerName, signer: undefined, unusable, fix, isHidden: true };
  }
  if (object === undefined) return { signerName, signer: undefined, unusable: undefined };
  const { name, deletionTimestamp } = object.metadata;
  if (deletionTimestamp !== undefined) {
    const unusable = `${object.kind} ${name} is being deleted since ${deletionTimestamp}, so it issues no certificate`;
    return { signerName, signer: undefined, unusable, fix: describeCommand(object) };
  }
  const signer = attempt(() => KINDS[kind].read(object));
  if (!(signer instanceof SignerError)) return { signerName, signer, unusable: undefined };
  const unusable = `${object.kind} ${name} is invalid: ${signer.message}`;
  return { signerName, signer: undefined, unusable, fix: editCommand(object) };
}

/** Returns a 403, for `.catch`. Throws every other error again. */
function refusalOf(error: unknown): KubeError {
  if (error instanceof KubeError && error.status === 403) return error;
  throw error;
}

/** Returns the objects of a kind. They are few, unlike requests. */
async function claimantsOf(
  client: Client,
  kind: (typeof OF_CLUSTER)[number],
): Promise<readonly NameClaimant[]> {
  const found = listObjects<NameClaimant>(client, KINDS[kind].api);
  // The other kinds are optional.
  return kind === 'ClusterSigner' ? found : ((await found.catch(ignoreNotFound)) ?? []);
}

/**
 * Looks up one object.
 *
 * @param key - a name, or `namespace/name`
 */
async function objectOf(client: Client, kind: SignerKind, key: string): Promise<SignerLookup> {
  const [first = '', second] = key.split('/');
  const reference = second === undefined ? { name: first } : { namespace: first, name: second };
  const path = KINDS[kind].api.object(reference);
  const found = await client
    .request<KubeObject>({ method: 'GET', path })
    .catch(ignoreNotFound)
    .catch(refusalOf);
  return found instanceof KubeError ? { kind, refusal: found } : { kind, object: found };
}
