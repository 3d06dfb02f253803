// SPDX-License-Identifier: Apache-2.0
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isRunning } from './pids.ts';

const prefix = 'countersign-cluster-';
const ownerFile = 'owner.pid';
// What was killed a moment ago may still be writing.
const removal = { recursive: true, force: true, maxRetries: 10, retryDelay: 50 };

/** A directory that is removed at the latest by the next caller after this process has ended. */
export function makeDirectory(): string {
  removeAbandoned();
  const directory = mkdtempSync(join(tmpdir(), prefix));
  writeFileSync(join(directory, ownerFile), String(process.pid));
  return directory;
}

export function removeDirectory(directory: string): void {
  rmSync(directory, removal);
}

/**
 * Removes the directories of launchers that were killed, once their processes have ended: a kubelet
 * makes its folders again. A launcher renames a directory before it removes it. Only one rename
 * succeeds, so no launcher finds a half-removed directory.
 */
function removeAbandoned(): void {
  for (const name of readdirSync(tmpdir()).filter((entry) => entry.startsWith(prefix))) {
    const directory = join(tmpdir(), name);
    const owner = ownerOf(directory);
    if (owner === undefined || isRunning(owner) || isUsed(directory)) continue;
    const claimed = join(tmpdir(), `removed-${name}`);
    if (isRenamed(directory, claimed)) removeDirectory(claimed);
  }
}

function ownerOf(directory: string): number | undefined {
  try {
    return Number(readFileSync(join(directory, ownerFile), 'utf8'));
  } catch (error) {
    requireMissing(error);
    return undefined;
  }
}

/** Reports whether an argument of a process names the directory. */
function isUsed(directory: string): boolean {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.some((pid) => commandOf(pid).includes(directory));
}

/** Returns the arguments of a process; empty if it has ended. */
function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

/** Reports whether this process has renamed it: false if another one was first. */
function isRenamed(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    requireMissing(error);
    return false;
  }
}

/** @throws the error unless there is no such file or directory */
function requireMissing(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
}
