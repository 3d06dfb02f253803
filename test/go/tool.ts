// SPDX-License-Identifier: Apache-2.0
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';

const progressMilliseconds = 10_000;

const remedy =
  'install it, or name a cluster by --kubeconfig or binaries by KUBEBUILDER_ASSETS instead';

/** Rejects with what to do when Go is absent or older than the module asks for. */
export async function checkGo(moduleDirectory: string): Promise<void> {
  const wanted = /^go (\d+)\.(\d+)/m.exec(readFileSync(join(moduleDirectory, 'go.mod'), 'utf8'));
  const [, major = '', minor = ''] = wanted ?? [];
  const found = await run(moduleDirectory, ['env', 'GOVERSION']);
  const [, foundMajor = '0', foundMinor = '0'] = /^go(\d+)\.(\d+)/.exec(found) ?? [];
  if (Number(foundMajor) * 1000 + Number(foundMinor) < Number(major) * 1000 + Number(minor))
    throw new Error(`Go ${major}.${minor} or newer is needed, found ${found.trim()}: ${remedy}`);
}

async function run(cwd: string, args: string[]): Promise<string> {
  const child = spawn('go', args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  try {
    await once(child, 'spawn');
  } catch (cause) {
    throw new Error(`Go is needed to build what the tests run: ${remedy}`, { cause });
  }
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if (child.exitCode === null) await once(child, 'exit');
  if (child.exitCode !== 0) throw new Error(`go ${args.join(' ')}: ${stderr.trim()}; ${remedy}`);
  return stdout;
}

/** Runs `go build` in the module's directory, and says from time to time how far it is. */
export async function goBuild(
  moduleDirectory: string,
  args: readonly string[],
  log: (line: string) => void,
): Promise<void> {
  const child = spawn('go', ['build', '-v', ...args], {
    cwd: moduleDirectory,
    env: { ...process.env, CGO_ENABLED: '0', GOWORK: 'off' },
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  const lines: string[] = [];
  const started = Date.now();
  const timer = setInterval(() => {
    const seconds = Math.round((Date.now() - started) / 1000);
    log(`building: ${seconds} s, ${lines.length} packages, last ${lines.at(-1) ?? 'none yet'}`);
  }, progressMilliseconds);
  createInterface({ input: child.stderr }).on('line', (line) => lines.push(line));
  try {
    await once(child, 'close');
  } finally {
    clearInterval(timer);
  }
  // With -v the last lines are the packages at work, and the compiler's errors among them.
  if (child.exitCode !== 0) throw new Error(`go build failed:\n${lines.slice(-20).join('\n')}`);
}
