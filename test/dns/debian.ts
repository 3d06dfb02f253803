// SPDX-License-Identifier: Apache-2.0
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Programs of Debian that are run without being installed: an installation would start them, on
 * every address.
 */
export interface DebianPrograms {
  /** Where the packages lie unpacked. */
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
}

const ROOM = join(import.meta.dirname, '../../.cache/debian');

/**
 * Unpacks packages, and those that they need and this machine has not, into the cache; once for
 * each set.
 */
export function unpackDebian(packages: readonly string[]): DebianPrograms {
  const root = join(ROOM, packages.join('+'));
  if (!existsSync(root)) fetchInto(root, packages);
  const libraries = join(root, 'usr/lib', `${debianMachine()}-linux-gnu`);
  return { root, env: { ...process.env, LD_LIBRARY_PATH: libraries } };
}

function fetchInto(root: string, packages: readonly string[]): void {
  const building = join(ROOM, `building-${process.pid}`);
  mkdirSync(building, { recursive: true });
  try {
    const missing = missingPackages(packages);
    console.error(`fetching ${missing.join(' ')} from Debian: some seconds, the first time`);
    run('apt-get', ['download', ...missing], building);
    const unpacked = join(building, 'root');
    for (const name of readdirSync(building).filter((each) => each.endsWith('.deb')))
      run('dpkg-deb', ['-x', name, unpacked], building);
    renameSync(unpacked, root);
  } catch (error) {
    // Somebody else unpacked the same meanwhile.
    if (!existsSync(root)) throw error;
  } finally {
    rmSync(building, { recursive: true, force: true });
  }
}

/**
 * What an installation would bring. The lists of packages may have to be fetched first, which takes
 * root.
 */
function missingPackages(packages: readonly string[]): readonly string[] {
  const simulate = (): string =>
    run('apt-get', [
      'install',
      '--simulate',
      '--reinstall',
      '--no-install-recommends',
      ...packages,
    ]);
  let plan: string;
  try {
    plan = simulate();
  } catch {
    run('apt-get', ['update']);
    plan = simulate();
  }
  return [...plan.matchAll(/^Inst (\S+)/gm)].map(([, name = '']) => name);
}

function debianMachine(): string {
  return process.arch === 'arm64' ? 'aarch64' : 'x86_64';
}

function run(command: string, args: readonly string[], cwd = '.'): string {
  return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

if (import.meta.main) for (const name of ['bind9', 'knot']) console.log(unpackDebian([name]).root);
