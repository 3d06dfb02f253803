// SPDX-License-Identifier: Apache-2.0
import { signingAnchors } from '#ca/rotation/signing-anchors.ts';
import type { ConfigMap, KubeObject } from '#api/object/object.ts';
import { SIGNER_TRUST, signerTrustKey } from '#api/signer/signer.ts';
import type { ClusterSignerStatus } from '#api/signer/cluster-signer.ts';
import { SIGNER_NAME } from '#api/signer/grant.ts';
import { publishedAnchors, writeAnchors } from '#pki/x509/trust-bundle.ts';
import type { StatusedSigner } from '#api/signer/read-signer.ts';

/** The anchors of a namespace's Signers, as their ConfigMap should hold them. */
export interface SignerTrust {
  readonly data: Readonly<Record<string, string>>;
  /** The Signers as owners: Kubernetes deletes the ConfigMap after the last one. */
  readonly ownerReferences: readonly OwnerReference[];
}

/** metav1.OwnerReference of a Signer. */
interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

/** A change of the ConfigMap of a namespace. */
export type SignerTrustChange =
  | { readonly kind: 'ignore' }
  /** Another writer owns the ConfigMap: its annotation does not declare it for Signers. */
  | { readonly kind: 'refused' }
  | ({ readonly kind: 'apply' } & SignerTrust)
  | { readonly kind: 'delete'; readonly existing: ConfigMap };

const IGNORE = { kind: 'ignore' } as const;

/**
 * Decides the ConfigMap of one namespace. Synchronous and total.
 *
 * @param signers - all Signers of the namespace, valid or not
 */
export function decideSignerTrust(
  signers: readonly KubeObject[],
  existing: ConfigMap | undefined,
): SignerTrustChange {
  const wanted = trustOf(signers);
  const isNeeded = wanted.ownerReferences.length > 0;
  if (existing === undefined) return isNeeded ? { kind: 'apply', ...wanted } : IGNORE;
  const isManaged = existing.metadata.annotations?.[SIGNER_NAME] === SIGNER_TRUST;
  if (!isManaged) return isNeeded ? { kind: 'refused' } : IGNORE;
  if (!isNeeded) return { kind: 'delete', existing };
  return holds(existing, wanted) ? IGNORE : { kind: 'apply', ...wanted };
}

function trustOf(signers: readonly StatusedSigner[]): SignerTrust {
  const found = signers
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
    .flatMap((signer) => {
      const { apiVersion, metadata } = signer;
      const { name, uid } = metadata;
      const key = signerTrustKey(name);
      const text = anchorsOf(signer.status);
      if (key === undefined || text === '') return [];
      return [{ key, text, owner: { apiVersion, kind: 'Signer', name, uid } }];
    });
  return {
    data: Object.fromEntries(found.map(({ key, text }) => [key, text])),
    ownerReferences: found.map(({ owner }) => owner),
  };
}

/** Returns the PEM of the anchors of all CAs that are not distrusted, without duplicates, or ''. */
function anchorsOf(status: ClusterSignerStatus | undefined): string {
  const texts = (status?.authorities ?? [])
    .filter(({ phase }) => phase !== 'Distrusted')
    .map(({ anchors = '' }) => anchors);
  const anchors = [...publishedAnchors(texts.join('\n')).values()];
  const read = anchors.filter((each) => each !== undefined);
  return read.length === 0 ? '' : writeAnchors(read, signingAnchors(status));
}

function holds({ data = {}, binaryData = {}, metadata }: ConfigMap, wanted: SignerTrust): boolean {
  // ObjectMeta leaves out owners, which objects in JSON have.
  const { ownerReferences: owners = [] } = metadata as Partial<SignerTrust>;
  return (
    Object.keys(binaryData).length === 0 &&
    Object.keys(data).length === Object.keys(wanted.data).length &&
    Object.entries(wanted.data).every(([key, text]) => data[key] === text) &&
    owners.length === wanted.ownerReferences.length &&
    wanted.ownerReferences.every(({ uid }) => owners.some((each) => each.uid === uid))
  );
}
