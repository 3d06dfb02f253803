// SPDX-License-Identifier: Apache-2.0
import type { ConformanceProfile } from '../profile.ts';
import type { ScenarioResult, SkippedScenario } from '../observed-request.ts';
import { type Operation, PATCHES } from '../snapshot.ts';

/** A ClusterTrustBundle, and its number of writes during the run. */
export interface ObservedBundle {
  readonly name: string;
  readonly signerName: string;
  readonly pem: string;
  readonly writes: number;
}

/**
 * Bundles of the runner that do not belong to the signer: one of another signer, and one without a
 * signer.
 */
export const UNRELATED_BUNDLES = ['foreign', 'unlinked'] as const;
/** One of {@link UNRELATED_BUNDLES}. */
export type UnrelatedBundle = (typeof UNRELATED_BUNDLES)[number];

/** Bundles that the API server must reject (ValidateClusterTrustBundle). */
export const INVALID_BUNDLES = [
  'wrongPrefix',
  'prefixWithoutSigner',
  'signerChange',
  'noCertificate',
  'otherBlock',
  'headers',
  'noAuthority',
  'duplicate',
] as const;
/** One of {@link INVALID_BUNDLES}. */
export type InvalidBundle = (typeof INVALID_BUNDLES)[number];

/** Calls of the API itself, as in upstream's test/e2e/auth/projected_clustertrustbundle.go. */
export const CTB_CALLS = [
  'discovery',
  'create',
  'read',
  'listAndWatch',
  'update',
  ...PATCHES,
  'delete',
  'deleteCollection',
] as const;
/** One of {@link CTB_CALLS}. */
export type CtbCall = (typeof CTB_CALLS)[number];

/** Pods that mount bundles, as in upstream's conformance tests. */
export const MOUNTS = [
  'byName',
  'absentOptional',
  'byLabels',
  'nilSelectorOptional',
  'noMatchOptional',
  'emptySelector',
  'noMatchRequired',
  'absentRequired',
  'severalVolumes',
  'manySources',
  'manyVolumes',
  'manyJoined',
] as const;
/** One of {@link MOUNTS}. */
export type Mount = (typeof MOUNTS)[number];

/** The observations of a signer's ClusterTrustBundles. */
export interface CtbSnapshot {
  readonly signerName: string;
  readonly profile: ConformanceProfile;
  readonly bundles: readonly ObservedBundle[] | SkippedScenario;
  /** The names by the field selector. Undefined if the runner may not list all. */
  readonly listedNames?: readonly string[];
  /** A certificate of the same signer. */
  readonly leaf: ScenarioResult;
  /** The number of writes of another client to the runner's own bundles. */
  readonly unrelatedBundles: Readonly<
    Record<UnrelatedBundle, { readonly writes: number } | SkippedScenario>
  >;
  readonly invalidBundles: Readonly<Record<InvalidBundle, Operation>>;
  readonly calls: Readonly<Record<CtbCall, Operation>>;
  readonly mounts: Readonly<Record<Mount, Operation>>;
  /** The server's clock: milliseconds since the epoch. */
  readonly now: number;
}
