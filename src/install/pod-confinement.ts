// SPDX-License-Identifier: Apache-2.0
/** The securityContext of pods and containers, and the user and group that they run as. */
import type { Manifest } from './roles.ts';

/** UID and GID of the image's user nonroot. */
const IMAGE_USER = 65_532;

/**
 * securityContext of every pod of Countersign. It names no user: the kubelet takes that of the
 * image, a number, and checks that it is not root. OpenShift's restricted-v2 admits no other user
 * than one of the namespace's range, which it sets itself.
 */
export const POD_CONFINEMENT: Manifest = {
  runAsNonRoot: true,
  seccompProfile: { type: 'RuntimeDefault' },
};

/** securityContext of every container of Countersign. */
export const CONTAINER_CONFINEMENT: Manifest = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};

/** No fsGroup: the cluster's admission sets one, or the volume needs none. */
export const NO_GROUP = 'none';

/** The value `podSecurityContext`. The members are those of core/v1 PodSecurityContext. */
export interface PodIds {
  readonly runAsUser?: number;
  readonly runAsGroup?: number;
  readonly fsGroup?: number | typeof NO_GROUP;
}

/**
 * Returns the fields of a pod's securityContext for these values. The group of volumes is the one
 * given, else that of the given user, else none. A key holder's files belong to root and to this
 * group, so that its pod has the image's group by default.
 */
export function podIds(
  { fsGroup, ...given }: PodIds,
  hasKeyHolder: boolean,
): Omit<PodIds, 'fsGroup'> & { readonly fsGroup?: number } {
  const own = given.runAsGroup ?? given.runAsUser;
  const group = fsGroup ?? own ?? (hasKeyHolder ? IMAGE_USER : NO_GROUP);
  return group === NO_GROUP ? given : { ...given, fsGroup: group };
}
