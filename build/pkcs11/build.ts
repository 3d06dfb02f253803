// SPDX-License-Identifier: Apache-2.0
/**
 * Builds the native addon by which a key holder calls PKCS#11 modules: `node build.ts <file>`. Its
 * sources are those of the npm package pkcs11js, by the lock file beside this one, and no script of
 * a package runs. It takes a C++ compiler, and no headers of Node. The Dockerfile beside this file
 * runs it, so it imports nothing of Countersign.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

const SOURCES = ['dl', 'common', 'main'];
const OPTIONS = [
  '-O2',
  '-fPIC',
  '-shared',
  '-std=c++17',
  // Distroless images of Node have another C++ library than the compiler.
  '-static-libstdc++',
  '-static-libgcc',
  '-fstack-protector-strong',
  '-D_FORTIFY_SOURCE=2',
  '-Wl,-z,relro,-z,now',
  '-DNODE_GYP_MODULE_NAME=pkcs11',
  '-DBUILDING_NODE_EXTENSION',
  '-DNAPI_DISABLE_CPP_EXCEPTIONS',
];

/**
 * Builds the addon.
 *
 * @throws Error if npm or the compiler fails
 */
export function buildAddon(file: string): void {
  const folder = `${file}.building-${process.pid}`;
  mkdirSync(folder, { recursive: true });
  try {
    for (const name of ['package.json', 'package-lock.json']) {
      copyFileSync(join(import.meta.dirname, name), join(folder, name));
    }
    run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], folder);
    const pkcs11 = join(folder, 'node_modules/pkcs11js');
    const built = join(folder, 'pkcs11.node');
    run(process.env['CXX'] ?? 'c++', [
      ...OPTIONS,
      `-I${join(folder, 'node_modules/node-api-headers/include')}`,
      `-I${join(pkcs11, 'includes')}`,
      ...SOURCES.map((name) => join(pkcs11, 'src', `${name}.cpp`)),
      '-o',
      built,
    ]);
    mkdirSync(dirname(file), { recursive: true });
    renameSync(built, file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function run(command: string, args: readonly string[], cwd = '.'): void {
  execFileSync(command, args, { cwd, stdio: ['ignore', 'ignore', 'pipe'] });
}

if (import.meta.main) {
  const [, , file] = process.argv;
  if (file === undefined) throw new Error('name the file of the addon');
  buildAddon(file);
}
