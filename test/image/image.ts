// SPDX-License-Identifier: Apache-2.0
import { join } from 'node:path';
import { VERSION } from '#app/version.ts';
import {
  builderVolumes,
  buildBuilderStandIn,
  buildRuntimeStandIn,
  SAME_BYTES,
} from './stand-ins.ts';
import { buildah, prepareStore } from './store.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Pulling it is what a node waits for when a component moves there. */
export const MAX_MEGABYTES = 130;

export interface Image {
  /** The hash of its configuration, which names the hash of every layer. */
  readonly id: string;
  readonly name: string;
  /** Unpacked; 10^6 bytes each. */
  readonly megabytes: number;
}

/**
 * Builds the Dockerfile on stand-ins for its public base images; `times` 2 wants one image of two
 * builds.
 */
export async function buildImage(times = 1): Promise<Image> {
  await prepareStore();
  const [base, builder] = [await buildRuntimeStandIn(), await buildBuilderStandIn()];
  const ids = new Set<string>();
  let image: Image;
  do {
    image = await buildOn(base, builder);
    ids.add(image.id);
  } while (--times > 0);
  await buildah(['rmi', builder]);
  if (ids.size > 1) throw new Error(`the same sources became ${[...ids].join(' and ')}`);
  if (image.megabytes > MAX_MEGABYTES)
    throw new Error(`the image has ${image.megabytes} MB; want at most ${MAX_MEGABYTES}`);
  return image;
}

async function buildOn(base: string, builder: string): Promise<Image> {
  const name = `localhost/countersign:${VERSION}`;
  await buildah([
    'build',
    ...SAME_BYTES,
    '--pull=never',
    '--no-cache',
    '--tag',
    name,
    '--build-arg',
    `BUILD=${builder}`,
    '--build-arg',
    `BASE=${base}`,
    ...(await builderVolumes()),
    ROOT,
  ]);
  const [listed] = JSON.parse(await buildah(['images', '--json', '--no-trunc', name])) as [
    { id: string; size: string },
  ];
  return { id: listed.id, name, megabytes: toMegabytes(listed.size) };
}

/** `114 MB`, as buildah has it. */
function toMegabytes(size: string): number {
  const [, digits, unit] = /^([\d.]+) ?(kB|MB|GB)$/.exec(size) ?? [];
  const factor = { kB: 1e-3, MB: 1, GB: 1e3 }[unit ?? ''];
  if (factor === undefined) throw new Error(`${size}: no size that buildah writes`);
  return Number(digits) * factor;
}
