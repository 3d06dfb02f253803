// SPDX-License-Identifier: Apache-2.0
/** Where a file of src is: paths are relative to src. */
import { globSync } from 'node:fs';
import { join } from 'node:path';

const SRC = join(import.meta.dirname, '../../src');
/** The folders of the components, as `requests/signer`: each holds what its component may do. */
export function componentFolders(): readonly string[] {
  return globSync('*/*/component.ts', { cwd: SRC })
    .map((path) => path.replace('/component.ts', ''))
    .sort();
}

/** Reports whether a file holds texts that users read: `messages.ts`, `denial-messages.ts`. */
export function isCatalogue(path: string): boolean {
  return /(?:^|[/-])messages\.ts$/.test(path);
}

export function withoutComments(text: string): string {
  return text.replace(/\/\*[^]*?\*\/|\/\/.*$/gm, '');
}

/** Reports whether a file is one of `places`: rooms, folders of the second level, and files. */
export function isIn(path: string, places: readonly string[]): boolean {
  return [path, roomOf(path), folderOf(path)].some((place) => places.includes(place));
}

/** The room: `kube` of `kube/client/pools.ts`. */
export function roomOf(path: string): string {
  return path.split('/')[0] ?? '';
}

/**
 * The folder of the second level: `kube/client` of `kube/client/pools.ts`, `kube/` of a file of the
 * room itself.
 */
export function folderOf(path: string): string {
  const [room = '', folder = '', ...rest] = path.split('/');
  return rest.length > 0 ? `${room}/${folder}` : `${room}/`;
}
