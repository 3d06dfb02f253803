// SPDX-License-Identifier: Apache-2.0
import { chownSync, copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { NONROOT } from './bundle.ts';

/** Copies a ServiceAccount's kubeconfig and token to where the image's user may read them. */
export function giveToNonRoot(kubeconfig: string, directory: string): string {
  const from = dirname(kubeconfig);
  for (const name of readdirSync(from)) copyFileSync(join(from, name), join(directory, name));
  const copy = join(directory, 'kubeconfig');
  writeFileSync(copy, readFileSync(kubeconfig, 'utf8').replaceAll(from, directory));
  if (process.getuid?.() !== 0) return copy;
  for (const path of [directory, copy, join(directory, 'token')]) chownSync(path, NONROOT, NONROOT);
  return copy;
}
