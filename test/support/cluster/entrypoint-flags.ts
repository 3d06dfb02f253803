// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const DOCKERFILE = join(import.meta.dirname, '../../../Dockerfile');

/** What the image's ENTRYPOINT passes to Node, before the program. */
export function entrypointFlags(): readonly string[] {
  const [, argv] = /^ENTRYPOINT (\[.*\])$/m.exec(readFileSync(DOCKERFILE, 'utf8')) ?? [];
  if (argv === undefined) throw new Error('Dockerfile: there is no ENTRYPOINT of one line');
  return (JSON.parse(argv) as readonly string[]).slice(1, -1);
}

/**
 * MiB of old space: Node takes half of what the container has by itself, 640Mi
 * (deploy/deployments.yaml).
 */
export const POD_OLD_SPACE = 320;

/** As Node runs in a pod, where no container bounds its memory. @param oldSpace - MiB */
export function podFlags(oldSpace: number | string = POD_OLD_SPACE): readonly string[] {
  return [...entrypointFlags(), `--max-old-space-size=${oldSpace}`];
}
