// SPDX-License-Identifier: Apache-2.0
/** The directory of a pod that outlives its process, in its Deployment. */
import { COMPONENTS, type ComponentName } from '../component-list.ts';
import type { Manifest } from '../roles.ts';

const VOLUME = 'scratch';
/** Size limit, which is more than the program writes. The kubelet evicts a pod that exceeds it. */
const LIMIT = '128Mi';

export function scratchArguments(component: ComponentName): readonly string[] {
  const { scratch } = COMPONENTS.get(component) ?? {};
  return scratch === undefined ? [] : [`${scratch.flag}=${scratch.mountPath}`];
}

/** A new container of the pod has the same directory. A new pod has an empty one. */
export function scratchVolumes(component: ComponentName): readonly Manifest[] {
  if (COMPONENTS.get(component)?.scratch === undefined) return [];
  return [{ name: VOLUME, emptyDir: { sizeLimit: LIMIT } }];
}

export function scratchMounts(component: ComponentName): readonly Manifest[] {
  const { scratch } = COMPONENTS.get(component) ?? {};
  return scratch === undefined ? [] : [{ name: VOLUME, mountPath: scratch.mountPath }];
}
