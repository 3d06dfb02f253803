// SPDX-License-Identifier: Apache-2.0
import type { ClusterSignerSpec } from '#api/signer/cluster-signer.ts';
import { parseDuration } from '#api/object/duration.ts';
import type { AuthorityKeyType } from '#base/vocabulary.ts';

/** The settings of a managed CA in the spec, in seconds. */
export interface DesiredCa {
  readonly keyType: AuthorityKeyType;
  /** The common name without the Unix time that each CA gets. */
  readonly commonName: string;
  readonly durationSeconds: number;
  readonly renewBeforeSeconds: number;
  readonly longestLeafSeconds: number;
  readonly maxRetiring: number;
  /** True if another CA signs its certificate. */
  readonly hasUpstream?: boolean;
}

/** The default of `renewBefore`, as in KubeVirt: the last fifth of a CA's life. */
const DEFAULT_RENEW_SHARE = 5;

/** @returns undefined if the user provides the CA */
export function desiredCaOf({ authority, profile }: ClusterSignerSpec): DesiredCa | undefined {
  const { managed } = authority;
  if (managed === undefined) return undefined;
  const durationSeconds = parseDuration(managed.duration);
  return {
    keyType: managed.keyType,
    commonName: managed.commonName,
    durationSeconds,
    renewBeforeSeconds:
      managed.renewBefore === undefined
        ? Math.floor(durationSeconds / DEFAULT_RENEW_SHARE)
        : parseDuration(managed.renewBefore),
    longestLeafSeconds: parseDuration(profile.maxDuration),
    maxRetiring: managed.maxRetiring,
    hasUpstream: managed.upstream !== undefined,
  };
}
