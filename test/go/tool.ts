// SPDX-License-Identifier: Apache-2.0
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { progressLine } from './progress.ts';

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

/** Of every build: no C compiler, and no workspace of the user's. */
// The compiler collects garbage for a fifth of its CPU time unless it may use more memory.
const GOGC = process.env['GOGC'] ?? '400';
const ENVIRONMENT = { ...process.env, CGO_ENABLED: '0', GOWORK: 'off', GOGC };

async function run(cwd: string, args: readonly string[]): Promise<string> {
  const child = spawn('go', args, { cwd, env: ENVIRONMENT, stdio: ['ignore', 'pipe', 'pipe'] });
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

/** A program, as `go build` and `go list` take it. */
export interface GoCommand {
  readonly flags: readonly string[];
  /** A package of the module, or of a tool of it. */
  readonly command: string;
}

/**
 * How many packages `go build` compiles: those that are not in Go's cache. It also downloads the
 * modules. undefined if `go list` fails: `go build` then reports the cause.
 */
async function countStale(
  moduleDirectory: string,
  { flags, command }: GoCommand,
): Promise<number | undefined> {
  const format = '{{if .Stale}}{{.ImportPath}}{{end}}';
  try {
    const listed = await run(moduleDirectory, ['list', '-deps', '-f', format, ...flags, command]);
    return listed.split('\n').filter((line) => line !== '').length;
  } catch {
    return undefined;
  }
}

/** Runs `go build` in the module's directory, and logs its progress every ten seconds. */
export async function goBuild(
  moduleDirectory: string,
  { target, ...program }: GoCommand & { readonly target: string },
  log: (line: string) => void,
): Promise<void> {
  const lines: string[] = [];
  let started = Date.now();
  const secondsSince = (): number => Math.round((Date.now() - started) / 1000);
  let report = (): string => `reading modules: ${secondsSince()} s`;
  const timer = setInterval(() => {
    log(report());
  }, progressMilliseconds);
  try {
    const total = await countStale(moduleDirectory, program);
    started = Date.now();
    report = () => {
      const begun = lines.filter((line) => !line.startsWith('go: ')).length;
      return progressLine({
        seconds: secondsSince(),
        begun,
        ...(total !== undefined && { total }),
      });
    };
    const args = ['build', '-v', '-o', target, ...program.flags, program.command];
    const child = spawn('go', args, {
      cwd: moduleDirectory,
      env: ENVIRONMENT,
      stdio: ['ignore', 'inherit', 'pipe'],
    });
    createInterface({ input: child.stderr }).on('line', (line) => lines.push(line));
    await once(child, 'close');
    // With -v the last lines are the packages at work, and the compiler's errors among them.
    if (child.exitCode !== 0) throw new Error(`go build failed:\n${lines.slice(-20).join('\n')}`);
  } finally {
    clearInterval(timer);
  }
}
