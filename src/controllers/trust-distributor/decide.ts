// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '../../api/signer/cluster-signer.ts';
import type { ClusterTrustBundle } from '../../api/object/cluster-trust-bundle.ts';
import type { ConfigMap } from '../../api/object/object.ts';
import { TRUST_KEY } from '../../api/object/trust-config-map.ts';
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
  | { readonly kind: 'apply'; readonly signerName: string; readonly text: string }
  | { readonly kind: 'delete'; readonly existing: ConfigMap };

/** Decides one target. Synchronous and total. */
export function decide(snapshot: TargetSnapshot): TargetChange {
  const { existing, signer, consents } = snapshot;
  // The bundle itself outlives its signer; what it holds then is the attester's to say.
  if (signer === undefined) return IGNORE;
  if (!isCopy(existing, signer)) return consents ? { kind: 'refused' } : IGNORE;
  const text = consents ? wantedText({ ...snapshot, signer }) : '';
  if (text === undefined) return IGNORE;
  if (text === '') return existing === undefined ? IGNORE : { kind: 'delete', existing };
  if (holdsOnly(existing, text)) return IGNORE;
  return { kind: 'apply', signerName: signer.spec.signerName, text };
}

const IGNORE = { kind: 'ignore' } as const;

/** Whether the ConfigMap is ours to write: there is none, or its owner says so. */
function isCopy(existing: ConfigMap | undefined, { spec }: ClusterSigner): boolean {
  return existing === undefined || existing.metadata.annotations?.[SIGNER_NAME] === spec.signerName;
}

function holdsOnly(existing: ConfigMap | undefined, text: string): boolean {
  const { data = {}, binaryData = {} } = existing ?? {};
  const keys = [...Object.keys(data), ...Object.keys(binaryData)];
  return keys.length === 1 && data[TRUST_KEY] === text;
}

function wantedText(
  snapshot: TargetSnapshot & { readonly signer: ClusterSigner },
): string | undefined {
  return wantedAnchors(snapshot, snapshot.existing?.data?.[TRUST_KEY]);
}
