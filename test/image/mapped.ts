// SPDX-License-Identifier: Apache-2.0
import type { PodImage } from '../cluster/real-pods/types.ts';
import { entrypointFlags } from '../support/cluster/entrypoint-flags.ts';
import { BUNDLE, NONROOT, PARTS } from './bundle.ts';
import { RootFileSystem } from './root-file-system.ts';
import { layRuntime } from './runtime.ts';

const NODE = '/nodejs/bin/node';
const PROGRAM = '/countersign.mjs';

/** Directories that stand for images, with what their configurations say. */
export interface MappedImages {
  /** What the Dockerfile makes: its files, entrypoint and user. */
  readonly countersign: PodImage;
  /** The same files with Node itself as the entrypoint: for workloads. */
  readonly node: PodImage;
}

/**
 * Lays out the files of the image in a directory, without the tools that build images and without
 * the compile cache.
 *
 * @param more - files besides: path in the image → file of this machine
 */
export async function mapImages(
  directory: string,
  more: Readonly<Record<string, string>> = {},
): Promise<MappedImages> {
  const root = new RootFileSystem(directory);
  await layRuntime(root);
  root.copy(BUNDLE, PROGRAM, 0o555);
  root.copyTree(PARTS, '/countersign', 0o555);
  for (const [path, from] of Object.entries(more)) root.copy(from, path);
  const image = { root: directory, uid: NONROOT };
  return {
    countersign: {
      ...image,
      entrypoint: [NODE, ...entrypointFlags(), PROGRAM],
      cmd: ['--help'],
    },
    node: { ...image, entrypoint: [NODE] },
  };
}
