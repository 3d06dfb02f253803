// SPDX-License-Identifier: Apache-2.0
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import type { ContainerMemory, PodHost, PodHostState, PodImages } from './types.ts';

export function podHostOf(state: PodHostState): PodHost {
  const { program, imagesFile, sockets, networkFile } = state;
  return {
    addImages(images) {
      const before = JSON.parse(readFileSync(imagesFile, 'utf8')) as PodImages;
      writeImages(imagesFile, { ...before, ...images });
    },
    async memory() {
      const { stdout } = await promisify(execFile)(program, ['stats', ...sockets]);
      return JSON.parse(stdout) as readonly ContainerMemory[];
    },
    async kill(namespace, pod) {
      await promisify(execFile)(program, ['kill', namespace, pod, ...sockets]);
    },
    within: (command) => [program, 'enter', networkFile, ...command],
  };
}

export function writeImages(file: string, images: PodImages): void {
  writeFileSync(file, JSON.stringify(images, null, 2));
}
