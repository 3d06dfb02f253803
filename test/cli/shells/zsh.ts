// SPDX-License-Identifier: Apache-2.0
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../../cluster/until.ts';

const PATIENCE_MS = 120_000;
const ENDING_MS = 10_000;

/** What zsh made of a line once Tab was pressed behind it. */
export interface Completed {
  /** The line as it stands then. */
  readonly line: string;
  /** All that was seen meanwhile: candidates with their descriptions. */
  readonly seen: string;
}

/**
 * Types a line and Tab into an interactive zsh with its own completion system. A widget writes the
 * line into a file, once zsh has done all that came before.
 *
 * @param directory - where it runs; `bin` in it is first in PATH
 */
export async function zsh(
  directory: string,
  line: string,
  environment: NodeJS.ProcessEnv,
): Promise<Completed> {
  const told = join(directory, 'told');
  writeFileSync(told, '');
  // compinit comes first, as in everybody's .zshrc.
  const setup = [
    'autoload -Uz compinit',
    'compinit -u -D',
    'source <(countersign completion zsh)',
    `tell() { print -r -- "LINE<$BUFFER>" >> ${told} }`,
    'zle -N tell',
    "bindkey '^X' tell",
    "bindkey '^I' complete-word",
    `print ready >> ${told}`,
  ];
  writeFileSync(join(directory, '.zshrc'), `${setup.join('\n')}\n`);
  const child = spawn('script', ['-qec', 'stty cols 200 && exec zsh -i', '/dev/null'], {
    cwd: directory,
    env: { ...environment, ZDOTDIR: directory, TERM: 'xterm' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const closed = once(child, 'close');
  let seen = '';
  child.stdout.on('data', (chunk: Buffer) => (seen += chunk.toString()));
  const says = (pattern: RegExp): Promise<RegExpExecArray> =>
    until(`zsh says ${String(pattern)}`, PATIENCE_MS, () => {
      const found = existsSync(told) ? pattern.exec(readFileSync(told, 'utf8')) : null;
      return Promise.resolve(found ?? undefined);
    });
  try {
    await says(/ready/);
    child.stdin.write(`${line}\t\u0018`);
    const [, whole = ''] = await says(/LINE<(.*)>\n/);
    return { line: whole, seen };
  } finally {
    // The line is discarded. A shell that does not end by itself is killed by `script`.
    child.stdin.end('\u0015exit\r');
    const timer = setTimeout(() => child.kill(), ENDING_MS);
    await closed;
    clearTimeout(timer);
  }
}
