// SPDX-License-Identifier: Apache-2.0
/** Where a file of src is: paths are relative to src. */

export function withoutComments(text: string): string {
  return text.replace(/\/\*[^]*?\*\/|\/\/.*$/gm, '');
}

/** `places` are folders of the first or second level, and files. */
export function isIn(path: string, places: readonly string[]): boolean {
  return [path, folderOf(path), roomOf(path)].some((place) => places.includes(place));
}

/** The folder of the first level: `kube` of `kube/client/pools.ts`. */
export function folderOf(path: string): string {
  return path.includes('/') ? (path.split('/')[0] ?? '') : '';
}

/** The folder of the second level, `kube/client` of `kube/client/pools.ts`; empty above it. */
export function roomOf(path: string): string {
  const parts = path.split('/');
  return parts.length > 2 ? parts.slice(0, 2).join('/') : '';
}

/** Controllers never import each other: `wrongImports` says so. */
export function isController(room: string): boolean {
  return room.startsWith('controllers/');
}

/** What counts as one: a folder, but each controller by itself. */
export function unitOf(path: string): string {
  return isController(path) ? roomOf(path) : folderOf(path);
}
