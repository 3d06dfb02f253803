// SPDX-License-Identifier: Apache-2.0
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const moduleDirectory = join(import.meta.dirname, 'program');
const cacheDirectory = join(import.meta.dirname, '../../.cache/oracle');
const flags = ['-trimpath', '-ldflags=-s -w'];

/** The path of the oracle's program; it is built only when its sources have changed. */
export async function buildOracle(): Promise<string> {
  const name = `oracle-${hashOfSources()}`;
  const target = join(cacheDirectory, name);
  if (existsSync(target)) return target;
  mkdirSync(cacheDirectory, { recursive: true });
  const building = join(cacheDirectory, `building-${process.pid}`);
  try {
    await goBuild(building);
    renameSync(building, target);
  } finally {
    rmSync(building, { force: true });
  }
  for (const other of readdirSync(cacheDirectory))
    if (other.startsWith('oracle-') && other !== name) rmSync(join(cacheDirectory, other));
  return target;
}

function hashOfSources(): string {
  const hash = createHash('sha256').update(flags.join('\0'));
  for (const file of readdirSync(moduleDirectory).sort())
    hash.update(`\0${file}\0`).update(readFileSync(join(moduleDirectory, file)));
  return hash.digest('hex').slice(0, 12);
}

async function goBuild(target: string): Promise<void> {
  const child = spawn('go', ['build', ...flags, '-o', target, '.'], {
    cwd: moduleDirectory,
    env: { ...process.env, CGO_ENABLED: '0', GOWORK: 'off' },
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  const [said] = await Promise.all([text(child.stderr), once(child, 'close')]);
  if (child.exitCode !== 0) throw new Error(`go build failed:\n${said}`);
}

if (import.meta.main) console.log(await buildOracle());
