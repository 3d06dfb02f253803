// SPDX-License-Identifier: Apache-2.0
import type { ClusterSignerSpec } from '../api/signer/cluster-signer.ts';
import { formatDuration, parseDuration } from '../api/object/duration.ts';
import type { AuthorityKeyType } from '../vocabulary.ts';
import type { Held } from './held.ts';

/** What a spec wants of its managed CA. Seconds. */
export interface Wish {
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
export function wishOf({ authority, profile }: ClusterSignerSpec): Wish | undefined {
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

/** Why a CA is not the one that is wanted; undefined where it is. Its age is not looked at. */
export function unlike(held: Held, wish: Wish): Due | undefined {
  if (held.durationSeconds !== wish.durationSeconds) {
    const was = formatDuration(held.durationSeconds);
    return changed('DurationChanged', 'duration', was, formatDuration(wish.durationSeconds));
  }
  if (held.keyType !== wish.keyType) {
    return changed('KeyTypeChanged', 'keyType', held.keyType ?? 'another', wish.keyType);
  }
  if (!isNamed(held.commonName, wish.commonName)) {
    return changed('SubjectChanged', 'commonName', held.commonName, wish.commonName);
  }
  return undefined;
}

/** `<common name> <unix seconds>` (issuance/ca-certificate.ts). */
function isNamed(commonName: string, wanted: string): boolean {
  return commonName.startsWith(`${wanted} `) && /^\d+$/.test(commonName.slice(wanted.length + 1));
}

function changed(reason: Due['reason'], field: string, was: string, is: string): Due {
  return {
    reason,
    message: `spec.authority.managed.${field} is ${is}, and the CA was made for ${was}`,
    canWait: true,
  };
}

/** Why a CA must be replaced; the words of the condition RotationDue. */
export interface Due {
  readonly reason:
    | 'KeyLost'
    | 'KeyUnusable'
    | 'Distrusted'
    | 'LongestLeaf'
    | 'RenewBefore'
    | 'DurationChanged'
    | 'KeyTypeChanged'
    | 'SubjectChanged'
    | 'Requested';
  readonly message: string;
  /** Nothing breaks when it waits until old CAs are gone. */
  readonly canWait: boolean;
}
