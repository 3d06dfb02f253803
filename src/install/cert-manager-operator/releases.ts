// SPDX-License-Identifier: Apache-2.0
import type { PermissionRule } from '#kube/resource/permissions.ts';
import type { FlagSchema } from '../operator/check-flags.ts';
import flagSchemas from './flag-schemas.json' with { type: 'json' };
import releases from './releases.json' with { type: 'json' };
import type { ObjectIdentity } from './rules.ts';

/**
 * A file in a public repository with the SHA-256 of a release's file, which the repository contains
 * or downloads.
 */
export interface ReleaseSource {
  /** `owner/name`. */
  readonly repository: string;
  readonly commit: string;
  readonly path: string;
}

/** One known release. */
export interface ReleaseRow {
  /**
   * The operator accepts a confirmed release. For an unconfirmed one, the user must pass the sum.
   */
  readonly state: 'confirmed' | 'unconfirmed';
  /** SHA-256 of `cert-manager.yaml`, byte for byte, as its Go module makes it. */
  readonly file: string;
  /** Sum of its objects, as `releaseSum` returns it. */
  readonly sum: string;
  /** Repositories that name `file`. */
  readonly sources: readonly ReleaseSource[];
  /** Title of each object → the beginning of its digest. Absent if no source confirms the file. */
  readonly parts?: Readonly<Record<string, string>>;
}

/** Unrelated repositories that confirm a release. */
export const MIN_SOURCES = 3;

/** Reports whether a row has enough sources. Repositories of one owner are related. */
export function isConfirmed({ sources }: Pick<ReleaseRow, 'sources'>): boolean {
  const owners = new Set(sources.map(({ repository }) => repository.split('/')[0]?.toLowerCase()));
  return owners.size >= MIN_SOURCES;
}

/** The releases that this build knows. */
export interface KnownReleases {
  /** Rows by version. */
  readonly rows: Readonly<Record<string, ReleaseRow>>;
  /** Every object in one of them. */
  readonly objects: readonly ObjectIdentity[];
  /** Permissions in their roles. */
  readonly granted: readonly PermissionRule[];
}

/** Created from the releases by `make cert-manager-releases`. */
export const RELEASES = releases as KnownReleases;

/**
 * Minor version → the first minor version of Kubernetes 1 that it supports, by cert-manager's page
 * of supported releases (cert-manager.io/docs/releases, read on 2026-08-22).
 */
export const MIN_KUBERNETES_MINORS: Readonly<Record<string, number>> = { '1.20': 32, '1.21': 33 };

/** Minor version → the flags of each component, for this minor version and the previous one. */
export const CERT_MANAGER_FLAG_SCHEMAS: Readonly<Record<string, FlagSchema>> =
  flagSchemas as Readonly<Record<string, FlagSchema>>;
