// SPDX-License-Identifier: Apache-2.0
/** The key holder of a component: a sidecar with the keys, and the socket between the two. */
import type { ComponentName } from '../component-list.ts';
import { COMPONENTS } from '../component-list.ts';
import type { InstallationPlan } from '../installation-plan.ts';
import {
  HELD_KEY_MODE,
  HOLDER_SOCKET,
  KEYS_DIRECTORY,
  SOCKETS_DIRECTORY,
  type SidecarPlan,
} from '../key-holder-sidecar.ts';
import type { Manifest } from '../roles.ts';

const SIDECAR = 'key-holder';
/** Names of the volumes. */
const KEYS = 'key-holder-keys';
const SOCKETS = 'key-holder-sockets';
const NO_TOKEN = 'key-holder-no-token';

/** The program in the image. The kubelet starts it without the image's entry point. */
const PROGRAM = ['/nodejs/bin/node', '/countersign.mjs', SIDECAR];

/** Returns the holder of a component, or undefined if it has none. */
export function holderOf(
  component: ComponentName,
  { components }: InstallationPlan,
): SidecarPlan | undefined {
  if (COMPONENTS.get(component)?.signsByKeyHolder !== true) return undefined;
  return components.get(component)?.keyHolder;
}

/** Returns the sidecar, which the kubelet starts before the component, and restarts if it ends. */
export function holderContainers(
  holder: SidecarPlan,
  { image }: InstallationPlan,
  confinement: Manifest,
): readonly Manifest[] {
  const probe: Manifest = { exec: { command: [...PROGRAM, `--probe=${HOLDER_SOCKET}`] } };
  return [
    {
      name: SIDECAR,
      image: holder.image ?? image.reference,
      ...(image.pullPolicy === undefined ? {} : { imagePullPolicy: image.pullPolicy }),
      restartPolicy: 'Always',
      args: [SIDECAR, ...holder.args],
      ...(holder.env.length === 0 ? {} : { env: holder.env }),
      volumeMounts: [
        { name: KEYS, mountPath: KEYS_DIRECTORY, readOnly: true },
        { name: SOCKETS, mountPath: SOCKETS_DIRECTORY },
        ...holder.mounts,
        // Replaces the token that Kubernetes mounts into every container.
        {
          name: NO_TOKEN,
          mountPath: '/var/run/secrets/kubernetes.io/serviceaccount',
          readOnly: true,
        },
      ],
      // Each probe starts a process, so they are few. The component does not wait for a readiness.
      startupProbe: { ...probe, periodSeconds: 2, timeoutSeconds: 10, failureThreshold: 30 },
      livenessProbe: { ...probe, periodSeconds: 60, timeoutSeconds: 10, failureThreshold: 3 },
      resources: holder.resources,
      securityContext: confinement,
    },
  ];
}

/** Returns the volumes of the keys, the socket and a module, and an empty one for the token. */
export function holderVolumes(holder: SidecarPlan | undefined): readonly Manifest[] {
  if (holder === undefined) return [];
  return [
    { name: KEYS, projected: { defaultMode: HELD_KEY_MODE, sources: holder.sources } },
    { name: SOCKETS, emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
    { name: NO_TOKEN, emptyDir: { sizeLimit: '1Ki' } },
    ...holder.volumes,
  ];
}

/** Returns the mount of the component: the socket, which it may use and not replace. */
export function holderMounts(holder: SidecarPlan | undefined): readonly Manifest[] {
  if (holder === undefined) return [];
  return [{ name: SOCKETS, mountPath: SOCKETS_DIRECTORY, readOnly: true }];
}

/** Returns the argument of the component. */
export function holderArguments(holder: SidecarPlan | undefined): readonly string[] {
  return holder === undefined ? [] : [`--key-holder=${HOLDER_SOCKET}`];
}
