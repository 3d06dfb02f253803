// SPDX-License-Identifier: Apache-2.0
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { entrypointFlags } from '../support/cluster/entrypoint-flags.ts';

const ROOT = join(import.meta.dirname, '../..');
/** What `make dist/countersign.mjs` makes. */
export const BUNDLE = join(ROOT, 'dist/countersign.mjs');
/** The directory of the files that the bundle imports. */
export const PARTS = join(ROOT, 'dist/countersign');

/** The user of the image, who owns nothing. */
export const NONROOT = 65532;

/**
 * The argv that runs the bundle where no image can be built: in a folder that holds nothing else,
 * in the way that the image's entrypoint says. Root becomes the image's user.
 */
export function programOfBundle(directory: string): readonly string[] {
  if (!existsSync(BUNDLE)) throw new Error(`no ${BUNDLE}: run make dist/countersign.mjs`);
  const [bin, alone] = [join(directory, 'bin'), join(directory, 'alone')];
  const [node, bundle] = [join(bin, 'node'), join(alone, 'countersign.mjs')];
  for (const place of [bin, alone]) mkdirSync(place);
  // The other user may not enter the folder that the sources lie in.
  copyFileSync(process.execPath, node);
  copyFileSync(BUNDLE, bundle);
  cpSync(PARTS, join(alone, 'countersign'), { recursive: true });
  for (const place of [directory, bin, alone, node, bundle]) chmodSync(place, 0o755);
  return [...becomeNonRoot(), node, ...entrypointFlags(), bundle];
}

function becomeNonRoot(): string[] {
  if (process.getuid?.() !== 0) return ['setpriv', '--no-new-privs'];
  const user = [`--reuid=${NONROOT}`, `--regid=${NONROOT}`, '--clear-groups'];
  return ['setpriv', ...user, '--bounding-set=-all', '--inh-caps=-all', '--no-new-privs'];
}
