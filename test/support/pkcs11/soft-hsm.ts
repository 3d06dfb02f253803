// SPDX-License-Identifier: Apache-2.0
/** SoftHSM2 from Debian's packages, and the addon that calls it: a PKCS#11 token for tests. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildAddon } from '../../../build/pkcs11/build.ts';
import { unpackDebian } from '../../dns/debian.ts';

const BUILD = join(import.meta.dirname, '../../../build/pkcs11');
const CACHE = join(import.meta.dirname, '../../../.cache/pkcs11');

/** The parts of PKCS#11 in tests. */
export interface SoftHsm {
  readonly addon: string;
  readonly module: string;
  readonly util: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Returns the parts, or the reason that this machine has none. */
export function softHsm(): SoftHsm | string {
  try {
    const { root, env } = unpackDebian(['softhsm2']);
    return {
      addon: addon(),
      module: join(root, 'usr/lib/softhsm/libsofthsm2.so'),
      util: join(root, 'usr/bin/softhsm2-util'),
      env,
    };
  } catch (error) {
    const why = error instanceof Error ? error.message.split('\n')[0] : String(error);
    return `no SoftHSM2 (Debian's packages, npm and a C++ compiler): ${why ?? ''}`;
  }
}

/** Builds the addon once for each version of its sources. */
function addon(): string {
  const digest = createHash('sha256');
  for (const name of ['package-lock.json', 'build.ts'])
    digest.update(readFileSync(join(BUILD, name)));
  const file = join(CACHE, digest.digest('hex').slice(0, 16), 'pkcs11.node');
  if (!existsSync(file)) buildAddon(file);
  return file;
}

/** A token of SoftHSM2 in a folder of its own. */
export interface SoftToken {
  readonly folder: string;
  readonly label: string;
  readonly pinFile: string;
  /** The environment of a process that uses it. */
  readonly env: NodeJS.ProcessEnv;
  /** Imports a private key in PKCS#8. */
  readonly importKey: (pem: string, label: string, id: string) => void;
  /** Takes the token away, as a cable that is pulled, and puts it back. */
  readonly pull: () => void;
  readonly plug: () => void;
  /** Destroys every key. */
  readonly empty: () => void;
  readonly remove: () => void;
}

export const USER_PIN = '24681357';

/** Creates a token with a user PIN. */
export function createSoftToken({ module, util, env: base }: SoftHsm, label = 'ca'): SoftToken {
  const folder = mkdtempSync(join(tmpdir(), 'soft-hsm-'));
  const tokens = join(folder, 'tokens');
  mkdirSync(tokens);
  const configuration = join(folder, 'softhsm2.conf');
  writeFileSync(
    configuration,
    `directories.tokendir = ${tokens}\nobjectstore.backend = file\nlog.level = ERROR\n`,
  );
  const env = { ...base, SOFTHSM2_CONF: configuration };
  const run = (...args: readonly string[]): string =>
    execFileSync(util, ['--module', module, ...args], {
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  run('--init-token', '--free', '--label', label, '--pin', USER_PIN, '--so-pin', '13572468');
  const pinFile = join(folder, 'pin');
  writeFileSync(pinFile, `${USER_PIN}\n`);
  chmodSync(pinFile, 0o600);
  const login = ['--token', label, '--pin', USER_PIN];
  return {
    folder,
    label,
    pinFile,
    env,
    importKey: (pem, name, id) => {
      const file = join(folder, 'import.pem');
      writeFileSync(file, pem, { mode: 0o600 });
      run('--import', file, ...login, '--label', name, '--id', id);
      rmSync(file);
    },
    pull: () => {
      renameSync(tokens, `${tokens}.pulled`);
      mkdirSync(tokens);
    },
    plug: () => {
      rmSync(tokens, { recursive: true });
      renameSync(`${tokens}.pulled`, tokens);
    },
    empty: () => {
      // SoftHSM2 has one file an object, beside that of the token itself.
      const objects = globSync(join(tokens, '*/*.object')).filter(
        (file) => !file.endsWith('/token.object'),
      );
      for (const file of objects) rmSync(file);
    },
    remove: () => {
      rmSync(folder, { recursive: true });
    },
  };
}
