// SPDX-License-Identifier: Apache-2.0
/** Explains errors of SQLite for a database that cannot be written: they name no directory. */
import { statSync } from 'node:fs';

/** Owner and permissions of a directory. */
interface DirectoryStat {
  readonly uid: number;
  readonly gid: number;
  readonly mode: number;
}

/** The user and groups of a process. */
interface Identity {
  readonly uid: number;
  /** All groups, the primary one included. */
  readonly groups: readonly number[];
}

const ROOT = 0;
/** Create files (write) and reach them (search), of the last three bits of a mode. */
const WRITE_AND_SEARCH = 0o3;

const REMEDY =
  'give the volume to this user, or set podSecurityContext.fsGroup of the ledger to a group of its pod';

/** Sources of {@link directoryFault}, which a test replaces. */
interface Sources {
  /** Returns undefined if there is no such directory. */
  readonly stat: (directory: string) => DirectoryStat | undefined;
  /** Returns undefined on systems without users, such as Windows. */
  readonly identity: () => Identity | undefined;
}

const SYSTEM: Sources = {
  stat: (directory) => statSync(directory, { throwIfNoEntry: false }),
  identity: () => {
    const { getuid, getgid, getgroups } = process;
    if (getuid === undefined || getgid === undefined) return undefined;
    return { uid: getuid(), groups: [getgid(), ...(getgroups?.() ?? [])] };
  },
};

/**
 * Returns why this process cannot create files in a directory and what to do, or undefined if it
 * can (POSIX.1-2017 §4.5, file access permissions).
 */
export function directoryFault(directory: string, from = SYSTEM): string | undefined {
  const stat = from.stat(directory);
  if (stat === undefined) return `the directory ${directory} does not exist; mount a volume there`;
  const own = from.identity();
  if (own === undefined || own.uid === ROOT) return undefined;
  const { uid, gid, mode } = stat;
  const shift = own.uid === uid ? 6 : own.groups.includes(gid) ? 3 : 0;
  if (((mode >> shift) & WRITE_AND_SEARCH) === WRITE_AND_SEARCH) return undefined;
  const permissions = (mode & 0o7777).toString(8).padStart(4, '0');
  const groups = [...new Set(own.groups)].join(', ');
  return `the user ${own.uid} (groups ${groups}) may not write the directory ${directory}, which belongs to the user ${uid} and the group ${gid} with mode ${permissions}; ${REMEDY}`;
}
