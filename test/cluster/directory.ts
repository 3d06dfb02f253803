// SPDX-License-Identifier: Apache-2.0
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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

/** A launcher that was killed removed nothing; its processes end by themselves. */
function removeAbandoned(): void {
  for (const name of readdirSync(tmpdir()).filter((entry) => entry.startsWith(prefix))) {
    const directory = join(tmpdir(), name);
    const owner = join(directory, ownerFile);
    if (existsSync(owner) && !isRunning(Number(readFileSync(owner, 'utf8'))))
      removeDirectory(directory);
  }
}
