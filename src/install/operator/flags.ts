// SPDX-License-Identifier: Apache-2.0
import type { Flag } from '#component/flag.ts';

/** The flags that the administrator sets, beyond the control of authors of a Countersign. */
export interface OperatorFlags {
  /** Repository of the image. */
  readonly image: string;
  readonly allowImage: readonly string[];
  readonly allowDangerZone: boolean;
}

/**
 * Flags of `countersign rbac --operator` that every call repeats. Its output has the operator's
 * Deployment: without a flag the operator loses it, and without the namespace it is another one.
 */
export const OPERATOR_RBAC_FLAGS =
  '--namespace, --image, --allow-image, --allow-danger-zone, --secret-namespace';

/** Flag of both operators. */
export const DANGER_ZONE_FLAG: Flag = {
  flag: '--allow-danger-zone',
  help: 'let writers of the object use spec.dangerZone, and choose whom components call and trust, what keys sign, and what is recorded',
  default: false,
};

/** {@link OperatorFlags} */
export const OPERATOR_FLAGS: readonly Flag[] = [
  {
    flag: '--image <repository>',
    help: 'image of the components, without a tag',
    default: 'countersign',
  },
  {
    flag: '--allow-image <repository>',
    help: 'another repository that spec.image.reference may name (repeatable); choosing the image grants access to CA keys',
    repeatable: true,
  },
  DANGER_ZONE_FLAG,
];
