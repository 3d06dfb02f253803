// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import type { ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import type { ConfigMap } from '#api/object/object.ts';
import { TRUST_KEY, TRUST_STORE_KEY } from '#api/object/trust-config-map.ts';
import { SIGNER_NAME } from '#api/signer/grant.ts';
import { distrustedAnchors } from '#ca/rotation/distrusted-cas.ts';
import { publishedAnchors, withoutAnchors } from '#pki/x509/trust-bundle.ts';
import { wantedAnchors } from '#requests/ca/distributed-anchors.ts';
import { UNKEPT_VALUE } from './unkept-value.ts';

/** State of one ConfigMap in one namespace, and the inputs for its contents. */
export interface TargetSnapshot {
  /** True if the namespace exists and has the label. */
  readonly consents: boolean;
  /** True if the namespace is being deleted. The API server then rejects a new ConfigMap. */
  readonly isTerminating: boolean;
  /** The signer name of the bundle. */
  readonly signerName: string;
  /** The ClusterSigner that serves the signer name, if there is one. */
  readonly signer: ClusterSigner | undefined;
  /** False for a retired bundle, which no ClusterSigner publishes any more. */
  readonly isPublished: boolean;
  readonly bundle: ClusterTrustBundle | undefined;
  readonly existing: ConfigMap | undefined;
  /**
   * The truststore of {@link wantedText} in standard base64, or undefined if the namespace requests
   * none.
   */
  readonly store?: string | undefined;
  readonly secretNamespace: string;
  readonly now: number;
  /** Our clock contradicts the API server's, so trust ends by neither. */
  readonly clocksApart: boolean;
}

/** A change of a ConfigMap. */
export type TargetChange =
  | { readonly kind: 'ignore' }
  /** Another writer owns the ConfigMap: its annotation does not name our signer. */
  | { readonly kind: 'refused' }
  | {
      readonly kind: 'apply';
      readonly signerName: string;
      readonly text: string;
      readonly store?: string;
    }
  | { readonly kind: 'delete'; readonly existing: ConfigMap };

/** Decides the change of one target. Synchronous and total. */
export function decide(snapshot: TargetSnapshot): TargetChange {
  const { existing, signerName, isPublished, consents } = snapshot;
  if (!isCopy(existing, signerName)) {
    return consents && isPublished ? { kind: 'refused' } : IGNORE;
  }
  const text = nextText(snapshot);
  if (text === undefined) return IGNORE;
  if (text === '') return existing === undefined ? IGNORE : { kind: 'delete', existing };
  if (holdsOnly(snapshot, text)) return IGNORE;
  return { kind: 'apply', signerName, text, ...storeOf(snapshot) };
}

const IGNORE = { kind: 'ignore' } as const;

/** Returns the anchors to write, '' for none, or undefined to leave the target as it is. */
function nextText(snapshot: TargetSnapshot): string | undefined {
  if (snapshot.existing === undefined && snapshot.isTerminating) return undefined;
  return snapshot.consents ? wantedText(snapshot) : '';
}

/** Reports whether we may write the ConfigMap: it is missing, or its owner consented. */
function isCopy(existing: ConfigMap | undefined, signerName: string): boolean {
  return existing === undefined || existing.metadata.annotations?.[SIGNER_NAME] === signerName;
}

function storeOf({ store }: TargetSnapshot): { readonly store?: string } {
  return store === undefined ? {} : { store };
}

function holdsOnly({ existing, store }: TargetSnapshot, text: string): boolean {
  const { data = {}, binaryData = {} } = existing ?? {};
  const keys = [...Object.keys(data), ...Object.keys(binaryData)];
  const hasAll = data[TRUST_KEY] === text && binaryData[TRUST_STORE_KEY] === store;
  return hasAll && keys.length === (store === undefined ? 1 : 2);
}

/**
 * Returns the anchors for the target, as {@link wantedAnchors} does, or undefined if nothing is
 * known. The copy of a retired bundle only shrinks.
 */
export function wantedText(snapshot: TargetSnapshot): string | undefined {
  const { signer, existing, isPublished, bundle } = snapshot;
  const text = existing?.data?.[TRUST_KEY];
  const before = text === UNKEPT_VALUE ? undefined : text;
  if (!isPublished) return remainingText(before, bundle, signer);
  return signer === undefined ? undefined : wantedAnchors({ ...snapshot, signer }, before);
}

/**
 * Returns what remains of the copy of a retired bundle: the anchors that the bundle still has,
 * without the distrusted ones. The attester deletes the bundle once no leaf needs it.
 */
function remainingText(
  before: string | undefined,
  bundle: ClusterTrustBundle | undefined,
  signer: ClusterSigner | undefined,
): string | undefined {
  if (bundle === undefined) return '';
  if (before === undefined) return undefined;
  const held = publishedAnchors(bundle.spec.trustBundle);
  const isOut = signer === undefined ? (): boolean => false : distrustedAnchors(before, signer);
  return withoutAnchors(before, (print) => !held.has(print) || isOut(print));
}
