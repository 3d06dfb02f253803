// SPDX-License-Identifier: Apache-2.0
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { checkGo, goBuild } from '../cluster/go.ts';

const moduleDirectory = join(import.meta.dirname, 'program');
const cacheDirectory = join(import.meta.dirname, '../../.cache/certmanager');
/** One package at a time: its build beside others' work is not to take the machine. */
const flags = ['-p=1', '-trimpath', '-ldflags=-s -w'];

/** The path of the program that is cert-manager; it is built only when it is missing. */
export async function buildCertManager(log: (line: string) => void): Promise<string> {
  const name = `certmanager-${hashOfSources()}`;
  const target = join(cacheDirectory, name);
  if (existsSync(target)) return target;
  await checkGo();
  log('building cert-manager: minutes the first time');
  mkdirSync(cacheDirectory, { recursive: true });
  const building = join(cacheDirectory, `building-${process.pid}`);
  try {
    await goBuild(['-o', building, ...flags, '.'], log, moduleDirectory);
    renameSync(building, target);
  } finally {
    rmSync(building, { force: true });
  }
  for (const other of readdirSync(cacheDirectory))
    if (other.startsWith('certmanager-') && other !== name) rmSync(join(cacheDirectory, other));
  return target;
}

function hashOfSources(): string {
  const hash = createHash('sha256').update(flags.join('\0'));
  for (const file of readdirSync(moduleDirectory).sort())
    hash.update(`\0${file}\0`).update(readFileSync(join(moduleDirectory, file)));
  return hash.digest('hex').slice(0, 12);
}

if (import.meta.main) console.log(await buildCertManager((line) => console.error(line)));
