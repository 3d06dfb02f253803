// SPDX-License-Identifier: Apache-2.0
/** The images of `make cluster ARGS=--real-pods`: all that a how-to page or an example names. */
import { join } from 'node:path';
import packageJson from '../../../package.json' with { type: 'json' };
import { exampleImages } from '../../examples/images.ts';
import { mapImages } from '../../image/mapped.ts';
import type { PodImage, PodImages } from './types.ts';

const PAUSE = 'registry.k8s.io/pause:3.10';

/** This checkout, as the chart, README.md and the pages about installing name it. */
export const COUNTERSIGN_IMAGES: readonly string[] = [
  'countersign',
  'registry.example/countersign',
  'registry.internal/countersign',
].map((repository) => `${repository}:${packageJson.version}`);

/** Images of others that pods can name. */
export const SERVER_IMAGES: readonly string[] = [PAUSE, ...Object.keys(exampleImages)];

/** What was laid out, and what could not be. */
export interface ClusterImages {
  readonly images: PodImages;
  /** By name, with the reason. */
  readonly missing: Readonly<Record<string, string>>;
}

/**
 * Lays out every image below a directory. One whose program cannot be had here, as on a system
 * without Debian's packages, is missing, and a pod that names it says so.
 */
export async function layClusterImages(directory: string): Promise<ClusterImages> {
  const { countersign, node } = await mapImages(join(directory, 'countersign'));
  const idle = ['-e', 'setInterval(() => undefined, 1e6)'];
  const images: Record<string, PodImage> = {
    [PAUSE]: { ...node, entrypoint: [...(node.entrypoint ?? []), ...idle] },
  };
  for (const name of COUNTERSIGN_IMAGES) images[name] = countersign;
  const missing: Record<string, string> = {};
  for (const [index, [name, lay]] of Object.entries(exampleImages).entries()) {
    try {
      images[name] = await lay(join(directory, `example-${index}`));
    } catch (error) {
      missing[name] = error instanceof Error ? error.message : String(error);
    }
  }
  return { images, missing };
}
