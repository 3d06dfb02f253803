// SPDX-License-Identifier: Apache-2.0
import type { ConfigMap, KubeObject } from '../../api/object/object.ts';
import { SIGNER_TRUST, signerTrustKey } from '../../api/signer/signer.ts';
import type { ClusterSignerStatus } from '../../api/signer/cluster-signer.ts';
import { SIGNER_NAME } from '../../api/signer/grant.ts';
import { publishedAnchors, writeAnchors } from '../../pki/x509/trust-bundle.ts';

/** The anchors of a namespace's Signers, as their ConfigMap should hold them. */
export interface SignerTrust {
  readonly data: Readonly<Record<string, string>>;
  /** These Signers: once the last is gone, Kubernetes deletes the ConfigMap. */
  readonly ownerReferences: readonly OwnerReference[];
}

/** metav1.OwnerReference of a Signer. */
interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

/** What is to be done with the ConfigMap of a namespace. */
export type SignerTrustChange =
  | { readonly kind: 'ignore' }
  /** It is somebody's own: its annotation does not say that it is for Signers. */
  | { readonly kind: 'refused' }
  | ({ readonly kind: 'apply' } & SignerTrust)
  | { readonly kind: 'delete'; readonly existing: ConfigMap };

const IGNORE = { kind: 'ignore' } as const;

/** Decides the ConfigMap of one namespace. Synchronous and total. @param signers - all of the namespace, valid or not */
export function decideSignerTrust(
  signers: readonly KubeObject[],
  existing: ConfigMap | undefined,
): SignerTrustChange {
  const wanted = trustOf(signers);
  const isNeeded = wanted.ownerReferences.length > 0;
  if (existing === undefined) return isNeeded ? { kind: 'apply', ...wanted } : IGNORE;
  const isOurs = existing.metadata.annotations?.[SIGNER_NAME] === SIGNER_TRUST;
  if (!isOurs) return isNeeded ? { kind: 'refused' } : IGNORE;
  if (!isNeeded) return { kind: 'delete', existing };
  return holds(existing, wanted) ? IGNORE : { kind: 'apply', ...wanted };
}

function trustOf(signers: readonly KubeObject[]): SignerTrust {
  const found = signers
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
    .flatMap(({ apiVersion, metadata: { name, uid }, ...rest }) => {
      const key = signerTrustKey(name);
      const text = anchorsOf((rest as { readonly status?: ClusterSignerStatus }).status);
      if (key === undefined || text === '') return [];
      return [{ key, text, owner: { apiVersion, kind: 'Signer', name, uid } }];
    });
  return {
    data: Object.fromEntries(found.map(({ key, text }) => [key, text])),
    ownerReferences: found.map(({ owner }) => owner),
  };
}

/** PEM of the anchors of all CAs that `authority` names and that are not distrusted, each once; '' where there is none. */
function anchorsOf(status: ClusterSignerStatus | undefined): string {
  const texts = (status?.authorities ?? [])
    .filter(({ phase }) => phase !== 'Distrusted')
    .map(({ anchors = '' }) => anchors);
  const anchors = [...publishedAnchors(texts.join('\n')).values()];
  const read = anchors.filter((each) => each !== undefined);
  return read.length === 0 ? '' : writeAnchors(read);
}

function holds({ data = {}, binaryData = {}, metadata }: ConfigMap, wanted: SignerTrust): boolean {
  const { ownerReferences: owners = [] } = metadata as Partial<SignerTrust>;
  return (
    Object.keys(binaryData).length === 0 &&
    Object.keys(data).length === Object.keys(wanted.data).length &&
    Object.entries(wanted.data).every(([key, text]) => data[key] === text) &&
    owners.length === wanted.ownerReferences.length &&
    wanted.ownerReferences.every(({ uid }) => owners.some((each) => each.uid === uid))
  );
}
