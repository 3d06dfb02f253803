// SPDX-License-Identifier: Apache-2.0
import type { ClusterSignerSpec } from '../api/signer/cluster-signer.ts';
import { parseDuration } from '../api/object/duration.ts';
import type { AuthorityKeyType } from '../vocabulary.ts';

/** What a spec wants of its managed CA. Seconds. */
export interface DesiredCa {
  readonly keyType: AuthorityKeyType;
  /** Without the Unix time that each CA gets. */
  readonly commonName: string;
  readonly durationSeconds: number;
  readonly renewBeforeSeconds: number;
  readonly longestLeafSeconds: number;
  readonly maxRetiring: number;
}

/** `renewBefore` where it is left out, as KubeVirt has it: the last fifth of a CA's life. */
const DEFAULT_RENEW_SHARE = 5;

/** @returns undefined where the CA is the user's own */
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
  };
}
