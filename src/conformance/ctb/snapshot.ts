// SPDX-License-Identifier: Apache-2.0
import { PATCHES } from '../calls.ts';
import type { Profile } from '../profile.ts';
import type { Scene, Skipped } from '../observed-request.ts';
import type { Operation } from '../snapshot.ts';

/** A ClusterTrustBundle, and how often it was written while the kit looked. */
export interface SeenBundle {
  readonly name: string;
  readonly signerName: string;
  readonly pem: string;
  readonly writes: number;
}

/** Bundles of the kit that are none of the signer's business. */
export const NEIGHBOURS = ['foreign', 'unlinked'] as const;
export type Neighbour = (typeof NEIGHBOURS)[number];

/** Bundles that the API server must refuse. */
export const REFUSALS = [
  'wrongPrefix',
  'prefixWithoutSigner',
  'signerChange',
  'noCertificate',
  'otherBlock',
  'headers',
  'noAuthority',
  'duplicate',
] as const;
export type Refusal = (typeof REFUSALS)[number];

/** Calls of the API itself, as upstream's conformance test makes them. */
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
export type CtbCall = (typeof CTB_CALLS)[number];

/** Pods that mount bundles, as upstream's conformance tests make them. */
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
export type Mount = (typeof MOUNTS)[number];

/** What was observed of a signer's ClusterTrustBundles. */
export interface CtbWorld {
  readonly signerName: string;
  readonly profile: Profile;
  readonly bundles: readonly SeenBundle[] | Skipped;
  /** By the field selector; undefined where the kit may not list all. */
  readonly bundlesOfAll?: readonly string[];
  /** A certificate of the same signer. */
  readonly leaf: Scene;
  /** How often somebody else wrote the kit's own bundles. */
  readonly neighbours: Readonly<Record<Neighbour, { readonly writes: number } | Skipped>>;
  readonly refusals: Readonly<Record<Refusal, Operation>>;
  readonly calls: Readonly<Record<CtbCall, Operation>>;
  readonly mounts: Readonly<Record<Mount, Operation>>;
  /** The server's clock: milliseconds since the epoch. */
  readonly now: number;
}
