// SPDX-License-Identifier: Apache-2.0
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { BUNDLE } from './countersign.ts';

const ROOT = join(import.meta.dirname, '../../..');

/** A package of somebody else's, with ours in its node_modules as `npm pack` makes it. */
export interface Outsider {
  readonly directory: string;
  readonly remove: () => void;
}

/**
 * Packs Countersign and unpacks it beside `files`. The dependencies are found in the repository's
 * own node_modules, above: nothing is downloaded.
 */
export function packOutsider(files: readonly string[]): Outsider {
  if (!existsSync(join(ROOT, 'dist/library/index.mjs'))) node(join(ROOT, 'build/library.ts'));
  if (!existsSync(BUNDLE)) node(join(ROOT, 'build/bundle.ts'));
  const cache = join(ROOT, '.cache');
  mkdirSync(cache, { recursive: true });
  const directory = mkdtempSync(join(cache, 'outsider-'));
  const installed = join(directory, 'node_modules/countersign');
  mkdirSync(installed, { recursive: true });
  // Its prepack would build both bundles again.
  const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', directory];
  execFileSync('npm', pack, { cwd: ROOT, stdio: ['ignore', 'pipe', 'ignore'] });
  const archive = join(directory, 'countersign-0.1.0.tgz');
  execFileSync('tar', ['-xzf', archive, '-C', installed, '--strip-components=1']);
  for (const file of files) cpSync(join(ROOT, file), join(directory, file.split('/').at(-1) ?? ''));
  return {
    directory,
    remove: () => {
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Runs a program to its end. @returns what it wrote on stdout */
export function node(file: string, args: readonly string[] = []): string {
  return execFileSync(process.execPath, [file, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

/** A program at work. */
export interface Program {
  readonly log: readonly Readonly<Record<string, unknown>>[];
  /** SIGTERM. @returns its exit code */
  readonly stop: () => Promise<number | null>;
}

/** Starts a program of the package's; its lines of JSON on stderr are its log. */
export function startProgram(file: string, env: Readonly<Record<string, string>>): Program {
  const child = spawn(process.execPath, [file], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exited = once(child, 'exit');
  const log: Readonly<Record<string, unknown>>[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    try {
      log.push(JSON.parse(line) as Readonly<Record<string, unknown>>);
    } catch {
      log.push({ line });
    }
  });
  return {
    log,
    stop: async () => {
      child.kill('SIGTERM');
      const [code] = (await exited) as [number | null];
      return code;
    },
  };
}
