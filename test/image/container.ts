// SPDX-License-Identifier: Apache-2.0
import { buildah } from './store.ts';

/** An image's root file system, ready to run programs from. */
export interface Container {
  readonly root: string;
  /** What the image says to run, and as whom. */
  readonly entrypoint: readonly string[];
  readonly user: string;
  /** `NAME=value`, as the image sets them. */
  readonly environment: readonly string[];
  remove(): Promise<void>;
}

export async function createContainer(image: string): Promise<Container> {
  const inspected = JSON.parse(await buildah(['inspect', '--type', 'image', image])) as {
    OCIv1: { config: { Entrypoint?: string[]; User?: string; Env?: string[] } };
  };
  const name = (await buildah(['from', '--pull=never', image])).trim();
  // With vfs it is a plain folder: nothing is mounted that could be left behind.
  const root = (await buildah(['mount', name])).trim();
  const {
    Entrypoint: entrypoint = [],
    User: user = '',
    Env: environment = [],
  } = inspected.OCIv1.config;
  const remove = async (): Promise<void> => {
    await buildah(['umount', name]);
    await buildah(['rm', name]);
  };
  return { root, entrypoint, user, environment, remove };
}

const MOUNT_AND_RUN = `
  root=$1 secrets=$2 user=$3; shift 3
  mount --bind "$root" "$root"
  mount --rbind /proc "$root/proc"
  mkdir -p "$root$secrets"
  mount --bind "$secrets" "$root$secrets"
  mount -o remount,bind,ro "$root$secrets"
  mount -o remount,bind,ro "$root"
  exec setpriv --no-new-privs chroot --userspec="$user" --groups= "$root" "$@"`;

/**
 * The argv that runs the image's entrypoint as a kubelet would with our Deployments: its user, a
 * read-only root, no capability, no way to gain one, and one folder of secrets under its own path.
 * Each program becomes the next, so the process that is spawned is the component itself, and its
 * mounts are its own: they end with it.
 */
export function programOf(container: Container, secrets: string): readonly string[] {
  const mountNamespace = ['unshare', '--mount', '--propagation', 'private'];
  const shell = ['sh', '-euc', MOUNT_AND_RUN, 'sh'];
  const { root, user, entrypoint, environment } = container;
  // The programs below are those of this machine.
  const env = ['env', ...environment.filter((each) => !each.startsWith('PATH='))];
  return [...env, ...mountNamespace, ...shell, root, secrets, user, ...entrypoint];
}
