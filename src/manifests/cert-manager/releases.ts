// SPDX-License-Identifier: Apache-2.0
import type { PermissionRule } from '../../kube/resource/permissions.ts';
import type { Mould } from '../operator/mould.ts';
import moulds from './moulds.json' with { type: 'json' };
import releases from './releases.json' with { type: 'json' };
import type { ObjectIdentity } from './rules.ts';

/** What is known of releases before one is at hand. */
export interface KnownReleases {
  /** Version → sum, as `releaseSum` makes it. */
  readonly sums: Readonly<Record<string, string>>;
  /** Every object that is in one of them. */
  readonly objects: readonly ObjectIdentity[];
  /** What their roles grant. */
  readonly granted: readonly PermissionRule[];
}

/** Made of the releases by `make cert-manager-releases`. */
export const RELEASES: KnownReleases = releases;

/** Minor version → the flags of each component: this minor version and the one before. */
export const CERT_MANAGER_MOULDS: Readonly<Record<string, Mould>> = moulds as Readonly<
  Record<string, Mould>
>;
