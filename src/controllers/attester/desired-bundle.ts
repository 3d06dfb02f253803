// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '../../api/cluster-signer.ts';
import {
  bundleName,
  servedSince,
  type ClusterTrustBundle,
} from '../../api/cluster-trust-bundle.ts';
import { fingerprint } from '../../pki/certificate.ts';
import { anchorFingerprints, readAnchors, writeAnchors } from '../../pki/trust-bundle.ts';
import { bundleAnnotations } from './annotations.ts';

export interface DesiredInput {
  readonly signer: ClusterSigner;
  /** The bundle as served, if there is one. */
  readonly bundle: ClusterTrustBundle | undefined;
  readonly secretNamespace: string;
  readonly now: number;
}

const MANAGED_BY = { 'app.kubernetes.io/managed-by': 'countersign' } as const;

/** What a new bundle has of metadata before the API server fills in the rest. */
const UNBORN = { uid: '', resourceVersion: '', creationTimestamp: '' } as const;

/**
 * The bundle that the ClusterSigner's authorities make, or undefined while there is no anchor: CA
 * certificates only, no duplicates, stable order.
 */
export function desiredBundle(input: DesiredInput): ClusterTrustBundle | undefined {
  const { signer, bundle } = input;
  const { signerName, trustBundle } = signer.spec;
  const authorities = signer.status?.authorities ?? [];
  const anchors = readAnchors(authorities.map((each) => each.anchors).join('\n'));
  if (trustBundle === undefined || anchors.length === 0) return undefined;
  const annotations = bundleAnnotations({
    ...input,
    anchors: anchors.map((anchor) => fingerprint(anchor.raw)),
  });
  return {
    apiVersion: bundle?.apiVersion ?? '',
    kind: 'ClusterTrustBundle',
    metadata: {
      ...(bundle?.metadata ?? UNBORN),
      name: bundleName(signerName, trustBundle.name),
      labels: { ...bundle?.metadata.labels, ...trustBundle.labels, ...MANAGED_BY },
      annotations,
    },
    spec: { signerName, trustBundle: writeAnchors(anchors) },
  };
}

/** Nothing to write: same text, same labels, same annotations. */
export function isSameBundle(served: ClusterTrustBundle, desired: ClusterTrustBundle): boolean {
  return (
    served.spec.trustBundle === desired.spec.trustBundle &&
    sameMap(served.metadata.labels, desired.metadata.labels) &&
    sameMap(served.metadata.annotations, desired.metadata.annotations)
  );
}

/** It serves an anchor of whose publication we know nothing: somebody else wrote it. */
export function isForeignEdit(served: ClusterTrustBundle): boolean {
  const since = servedSince(served);
  const anchors = [...anchorFingerprints(served.spec.trustBundle)];
  return anchors.length === 0 || anchors.some((anchor) => !since.has(anchor));
}

function sameMap(
  a: Readonly<Record<string, string>> = {},
  b: Readonly<Record<string, string>> = {},
): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}
