// SPDX-License-Identifier: Apache-2.0
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** Builds the Go contender; it has no dependencies. @returns the path of the program */
export function buildGoIssuer(directory: string): string {
  const target = join(directory, 'issue-go');
  execFileSync('go', ['build', '-trimpath', '-ldflags=-s -w', '-o', target, '.'], {
    cwd: join(import.meta.dirname, 'program'),
    env: { ...process.env, CGO_ENABLED: '0', GOWORK: 'off' },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  return target;
}
