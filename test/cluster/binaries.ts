// SPDX-License-Identifier: Apache-2.0
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { buildControlPlane } from './build.ts';
import type { Version } from './releases.ts';

/** How a component is run: a program and the arguments before its own. */
export type Command = readonly [program: string, ...args: string[]];
export type Binaries = (component: string) => Command;

/**
 * Programs named by KUBEBUILDER_ASSETS come first: a `controlplane` that is all of them, or one for
 * each component. What is not there comes from the one that we build.
 */
export async function findBinaries(
  version: Version,
  log: (line: string) => void,
): Promise<Binaries> {
  const assets = process.env['KUBEBUILDER_ASSETS'];
  const named = (name: string): string | undefined => {
    const path = assets === undefined || assets === '' ? undefined : join(assets, name);
    return path !== undefined && existsSync(path) ? path : undefined;
  };
  const all = named('controlplane') ?? (await buildControlPlane(version, log));
  return (component) => {
    const own = named(component);
    return own === undefined ? [all, component] : [own];
  };
}
