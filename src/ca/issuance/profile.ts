// SPDX-License-Identifier: Apache-2.0
import type { SignerSpec } from '#api/signer/cluster-signer.ts';
import { parseDuration } from '#api/object/duration.ts';
import type { Deadline } from '#base/ports.ts';
import type { KeyType, KeyUsage, RequestField } from '#base/vocabulary.ts';
import { type PodProfile, compilePodProfile } from './pod-profile.ts';

/** `spec.profile` with the compiled parts of a spec, created once per generation. Immutable. */
export interface Profile {
  readonly signerName: string;
  readonly keyTypes: readonly KeyType[];
  readonly usages: readonly KeyUsage[];
  readonly maxDurationSeconds: number;
  readonly backdateSeconds: number;
  /** The fields that a leaf gets from an approved CertificateSigningRequest, and no others. */
  readonly copy: readonly RequestField[];
  /** Undefined if the signer serves no PodCertificateRequests. */
  readonly pods: PodProfile | undefined;
}

/**
 * Compiles `spec.profile`, `spec.pods` and `spec.requests.copy` of a valid spec.
 *
 * @param deadline - limits its compilation and its runs. Default: no limit.
 * @throws SignerError CEL_INVALID, CEL_COST or SPEC_INVALID (`wait`) with the field, and for CEL
 *   the line, the column and the offending name
 */
export function compileProfile(spec: SignerSpec, deadline?: Deadline): Profile {
  const { profile } = spec;
  return Object.freeze({
    signerName: spec.signerName,
    keyTypes: Object.freeze([...profile.keyTypes]),
    usages: Object.freeze([...profile.usages]),
    maxDurationSeconds: parseDuration(profile.maxDuration),
    backdateSeconds: parseDuration(profile.backdate),
    copy: Object.freeze([...(spec.requests?.copy ?? [])]),
    pods: spec.pods === undefined ? undefined : compilePodProfile(spec.pods, deadline),
  });
}
