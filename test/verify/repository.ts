// SPDX-License-Identifier: Apache-2.0
/** The repository as git and the work tree have it. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Tree } from './import-graph.ts';

export const ROOT = join(import.meta.dirname, '../..');

/** @throws if git does, with what it printed */
function git(...args: readonly string[]): string {
  return execFileSync('git', args, {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

function linesOf(output: string): readonly string[] {
  return output.split('\0').filter((line) => line !== '');
}

/**
 * Returns the files of the work tree: those that git knows, and new ones that it does not ignore.
 */
export function readTree(): Tree {
  const listed = linesOf(git('ls-files', '-z', '--cached', '--others', '--exclude-standard'));
  return {
    files: [...new Set(listed)].filter((path) => existsSync(join(ROOT, path))).sort(),
    read: (path) => readFileSync(join(ROOT, path), 'utf8'),
  };
}

/** Returns the paths that differ between a commit and the work tree, committed or not. */
export function changedSince(commit: string): readonly string[] {
  return [
    ...linesOf(git('diff', '--name-only', '--no-renames', '-z', commit, '--')),
    ...linesOf(git('ls-files', '-z', '--others', '--exclude-standard')),
  ];
}

/** Returns the commit of a name; undefined if there is none in this clone. */
export function commitOf(name: string): string | undefined {
  try {
    return git('rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`).trim();
  } catch {
    return undefined;
  }
}

/** Returns the newest commit that HEAD shares with a branch; undefined without such a branch. */
export function mergeBase(branch: string): string | undefined {
  try {
    return git('merge-base', 'HEAD', branch).trim();
  } catch {
    return undefined;
  }
}

export function fileAt(commit: string, path: string): string {
  return git('show', `${commit}:${path}`);
}
