// SPDX-License-Identifier: Apache-2.0
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { run } from './run.ts';

/** A root file system that is put together by hand, with modes that no umask changes. */
export class RootFileSystem {
  readonly directory: string;

  /** Empty. */
  constructor(directory: string) {
    this.directory = directory;
    rmSync(directory, { recursive: true, force: true });
    mkdirSync(directory, { recursive: true });
  }

  makeDirectory(path: string, mode = 0o755): void {
    if (path === '/') return;
    this.makeDirectory(dirname(path));
    const target = join(this.directory, path);
    mkdirSync(target, { recursive: true });
    chmodSync(target, mode);
  }

  write(path: string, text: string, mode = 0o644): void {
    this.makeDirectory(dirname(path));
    const target = join(this.directory, path);
    writeFileSync(target, text);
    chmodSync(target, mode);
  }

  copy(from: string, path: string, mode = 0o644): void {
    this.makeDirectory(dirname(path));
    const target = join(this.directory, path);
    copyFileSync(from, target);
    chmodSync(target, mode);
  }

  /** @param mode - of each file; undefined: as they are */
  copyTree(from: string, path: string, mode?: number): void {
    this.makeDirectory(dirname(path));
    const target = join(this.directory, path);
    cpSync(from, target, { recursive: true, verbatimSymlinks: true });
    if (mode === undefined) return;
    for (const name of readdirSync(target, { recursive: true, encoding: 'utf8' })) {
      chmodSync(join(target, name), mode);
    }
    chmodSync(target, mode);
  }

  /**
   * The program with the shared libraries that it needs, where the dynamic linker looks for them.
   *
   * @param env - by which the linker of this machine finds them
   */
  async copyProgram(
    from: string,
    path: string,
    env: NodeJS.ProcessEnv = process.env,
  ): Promise<void> {
    this.copy(from, path, 0o755);
    // One line each: `libm.so.6 => /lib/…/libm.so.6 (0x…)`, or `/lib64/ld-linux-x86-64.so.2 (0x…)`.
    const lines = (await run('ldd', [from], env)).split('\n');
    for (const line of lines) {
      const library = /(?:=>|^)\s*(\/\S+) \(0x/.exec(line)?.[1];
      if (library !== undefined) this.copy(library, library, 0o755);
    }
  }
}
