// SPDX-License-Identifier: Apache-2.0
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildGoProgram } from '../go/build.ts';
import { checkGo } from '../go/tool.ts';

const PROGRAM = join(import.meta.dirname, 'program');
const ROOM = join(import.meta.dirname, '../../.cache/vault');
const SDK = 'github.com/hashicorp/vault/sdk';
const SDK_VERSION = 'v0.9.2';

/** The path of the program that is a server of Vault. */
export async function buildVault(log: (line: string) => void): Promise<string> {
  await checkGo(PROGRAM);
  return buildGoProgram(
    {
      name: 'vault',
      moduleDirectory: PROGRAM,
      onePackageAtATime: true,
      flags: [`-modfile=${await moduleFile()}`],
      words: 'building Vault: five minutes the first time',
    },
    log,
  );
}

/** A module file like the program's, with the SDK that its server runs with. */
async function moduleFile(): Promise<string> {
  const sdk = await mendedSdk();
  const own = await readFile(join(PROGRAM, 'go.mod'), 'utf8');
  const file = join(ROOM, 'program.mod');
  await writeFile(file, `${own}\nreplace ${SDK} => ${sdk}\n`);
  await cp(join(PROGRAM, 'go.sum'), join(ROOM, 'program.sum'));
  return file;
}

/**
 * The SDK without two panics. Vault's own repository builds the server with a later SDK than the
 * one that it publishes, which refuses paths of the server.
 */
async function mendedSdk(): Promise<string> {
  const target = join(ROOM, `sdk-${SDK_VERSION}`);
  if (existsSync(target)) return target;
  const args = ['mod', 'download', '-json', `${SDK}@${SDK_VERSION}`];
  const { stdout } = await promisify(execFile)('go', args, { cwd: PROGRAM });
  const { Dir: directory } = JSON.parse(stdout) as { readonly Dir: string };
  const copy = join(ROOM, `sdk-copying-${process.pid}`);
  await mkdir(ROOM, { recursive: true });
  await rm(copy, { recursive: true, force: true });
  await cp(directory, copy, { recursive: true });
  const file = join(copy, 'framework/backend.go');
  await chmod(file, 0o644);
  const text = await readFile(file, 'utf8');
  const mended = text.replaceAll(PANIC, '_ = $1');
  if (mended === text) throw new Error(`${SDK} ${SDK_VERSION} has no such panic`);
  await writeFile(file, mended);
  await rename(copy, target);
  return target;
}

const PANIC = /panic\((fmt\.Sprintf\([^\n]*ExistenceCheck[^\n]*\))\)/g;

if (import.meta.main) console.log(await buildVault((line) => console.error(line)));
