// SPDX-License-Identifier: Apache-2.0
/** `certificates.k8s.io` ClusterTrustBundle: wire type, names and our annotations. */
import { selects } from './label-selector.ts';
import type { KubeObject } from './object.ts';
import type { TrustBundleSource } from './pod.ts';

export interface ClusterTrustBundle extends KubeObject {
  readonly spec: {
    readonly signerName?: string;
    /** PEM text of CA certificates. */
    readonly trustBundle: string;
  };
}

/** JSON `{"sha256:…": "RFC 3339", …}`: time since which each anchor is served. */
export const SERVED_SINCE = 'countersign.dev/served-since';

/** RFC 3339: time at which the bundle of a deleted ClusterSigner is deleted. */
export const RETAIN_UNTIL = 'countersign.dev/retain-until';

/**
 * Returns the bundle's name: `example.com:workload:primary` for signer `example.com/workload` and
 * name `primary`.
 */
export function bundleName(signerName: string, name: string): string {
  return `${signerName.replaceAll('/', ':')}:${name}`;
}

/** Reports whether the kubelet writes a bundle for a projection. */
export function isProjected(
  { name, signerName, labelSelector }: TrustBundleSource,
  { metadata, spec }: ClusterTrustBundle,
): boolean {
  if (name !== undefined) return metadata.name === name;
  // core/v1: no selector selects nothing, an empty one everything.
  if (signerName === undefined || labelSelector === undefined) return false;
  return spec.signerName === signerName && selects(labelSelector, metadata.labels);
}

/**
 * Returns since when each anchor is served: fingerprint → milliseconds since the epoch. Drops
 * malformed entries, which then count as not served.
 */
export function servedSince(bundle: ClusterTrustBundle): ReadonlyMap<string, number> {
  return timesOf(bundle.metadata.annotations?.[SERVED_SINCE]);
}

/**
 * Reads JSON `{"sha256:…": "RFC 3339", …}` into milliseconds since the epoch. Drops malformed
 * entries.
 */
export function timesOf(text: string | undefined): ReadonlyMap<string, number> {
  const times = new Map<string, number>();
  for (const [fingerprint, time] of Object.entries(parseObject(text))) {
    const milliseconds = typeof time === 'string' ? Date.parse(time) : NaN;
    if (!Number.isNaN(milliseconds)) times.set(fingerprint, milliseconds);
  }
  return times;
}

function parseObject(text: string | undefined): object {
  try {
    const parsed: unknown = JSON.parse(text ?? '{}');
    return typeof parsed === 'object' && parsed !== null ? parsed : {};
  } catch {
    return {};
  }
}
