// SPDX-License-Identifier: Apache-2.0
/** `certificates.k8s.io` ClusterTrustBundle: wire type, names and our annotations. */
import type { KubeObject } from './object.ts';

export interface ClusterTrustBundle extends KubeObject {
  readonly spec: {
    readonly signerName?: string;
    /** PEM text of CA certificates. */
    readonly trustBundle: string;
  };
}

/** JSON `{"sha256:…": "RFC 3339", …}`: since when each anchor is served. */
export const SERVED_SINCE = 'countersign.dev/served-since';

/** RFC 3339: when the bundle of a deleted ClusterSigner is deleted. */
export const RETAIN_UNTIL = 'countersign.dev/retain-until';

/** `example.com:workload:primary` for signer `example.com/workload` and name `primary`. */
export function bundleName(signerName: string, name: string): string {
  return `${signerName.replaceAll('/', ':')}:${name}`;
}

/** Fingerprint → milliseconds since the epoch. Malformed entries are dropped, and count as not served. */
export function servedSince(bundle: ClusterTrustBundle): ReadonlyMap<string, number> {
  return timesOf(bundle.metadata.annotations?.[SERVED_SINCE]);
}

/** Reads JSON `{"sha256:…": "RFC 3339", …}` into milliseconds since the epoch, without malformed entries. */
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
