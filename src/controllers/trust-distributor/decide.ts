// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '../../api/signer/cluster-signer.ts';
import type { ClusterTrustBundle } from '../../api/object/cluster-trust-bundle.ts';
import type { ConfigMap } from '../../api/object/object.ts';
import { TRUST_KEY, TRUST_STORE_KEY } from '../../api/object/trust-config-map.ts';
import { SIGNER_NAME } from '../../api/signer/grant.ts';
import { wantedAnchors } from '../../runtime/ca/distributed-anchors.ts';

/** One ConfigMap of one namespace: what is there, and what it should hold. */
export interface TargetSnapshot {
  /** Whether the namespace has the label; false where it is gone. */
  readonly consents: boolean;
  /** The ClusterSigner that publishes the bundle, if it is served. */
  readonly signer: ClusterSigner | undefined;
  readonly bundle: ClusterTrustBundle | undefined;
  readonly existing: ConfigMap | undefined;
  /** The truststore of {@link wantedText}, standard base64; undefined where the namespace wants none. */
  readonly store?: string | undefined;
  readonly secretNamespace: string;
  readonly now: number;
  /** Our clock contradicts the API server's: no trust ends by either clock. */
  readonly clocksApart: boolean;
}

/** What is to be done with a ConfigMap. */
export type TargetChange =
  | { readonly kind: 'ignore' }
  /** It is somebody's own: its annotation does not name our signer. */
  | { readonly kind: 'refused' }
  | {
      readonly kind: 'apply';
      readonly signerName: string;
      readonly text: string;
      readonly store?: string;
    }
  | { readonly kind: 'delete'; readonly existing: ConfigMap };

/** Decides one target. Synchronous and total. */
export function decide(snapshot: TargetSnapshot): TargetChange {
  const { existing, signer, consents } = snapshot;
  // The bundle itself outlives its signer; what it holds then is the attester's to say.
  if (signer === undefined) return IGNORE;
  if (!isCopy(existing, signer)) return consents ? { kind: 'refused' } : IGNORE;
  const text = consents ? wantedText(snapshot) : '';
  if (text === undefined) return IGNORE;
  if (text === '') return existing === undefined ? IGNORE : { kind: 'delete', existing };
  if (holdsOnly(snapshot, text)) return IGNORE;
  const { signerName } = signer.spec;
  return { kind: 'apply', signerName, text, ...storeOf(snapshot) };
}

const IGNORE = { kind: 'ignore' } as const;

/** Whether the ConfigMap is ours to write: there is none, or its owner says so. */
function isCopy(existing: ConfigMap | undefined, { spec }: ClusterSigner): boolean {
  return existing === undefined || existing.metadata.annotations?.[SIGNER_NAME] === spec.signerName;
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

/** The anchors that the target should hold: as {@link wantedAnchors}; undefined where nobody publishes it. */
export function wantedText(snapshot: TargetSnapshot): string | undefined {
  const { signer, existing } = snapshot;
  if (signer === undefined) return undefined;
  return wantedAnchors({ ...snapshot, signer }, existing?.data?.[TRUST_KEY]);
}
