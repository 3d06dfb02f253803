// SPDX-License-Identifier: Apache-2.0
/** A real interactive shell at a terminal of its own, in which a test presses keys. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../../cluster/until.ts';

const PATIENCE_MS = 120_000;
const ENDING_MS = 10_000;

/** The shells that completion has a script for. */
export type Shell = 'bash' | 'zsh' | 'fish';

/** A shell that has loaded the script of its completion. */
export interface InteractiveShell {
  readonly press: (keys: string) => void;
  /** Waits until the shell has run all lines before. */
  readonly idle: () => Promise<void>;
  /** What the terminal showed. */
  readonly seen: () => string;
  readonly stop: () => Promise<void>;
}

/** What each shell reads as it starts, and how it is started with it. */
const STARTS: Readonly<
  Record<Shell, { readonly file: string; readonly setup: readonly string[]; readonly run: string }>
> = {
  bash: {
    file: 'bashrc',
    setup: ['source <(countersign completion bash)'],
    run: 'bash --rcfile bashrc -i',
  },
  zsh: {
    file: '.zshrc',
    // compinit comes first, as in everybody's .zshrc.
    setup: ['autoload -Uz compinit', 'compinit -u -D', 'source <(countersign completion zsh)'],
    run: 'zsh -i',
  },
  fish: {
    file: 'setup.fish',
    setup: ['countersign completion fish | source'],
    run: 'fish --no-config -i -C "source setup.fish"',
  },
};

/**
 * Starts a shell in a directory of its own.
 *
 * @param environment - finds `countersign` in PATH
 */
export async function startShell(
  shell: Shell,
  directory: string,
  environment: NodeJS.ProcessEnv,
): Promise<InteractiveShell> {
  const { file, setup, run } = STARTS[shell];
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, file), `${[...setup, 'touch ready'].join('\n')}\n`);
  const child = spawn('script', ['-qec', `stty cols 200 && exec ${run}`, '/dev/null'], {
    cwd: directory,
    env: { ...environment, ZDOTDIR: directory, HOME: directory, TERM: 'xterm' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const closed = once(child, 'close');
  let seen = '';
  child.stdout.on('data', (chunk: Buffer) => (seen += chunk.toString()));
  const made = (name: string): Promise<true> =>
    until(`${shell} makes ${name}; it shows ${JSON.stringify(seen.slice(-500))}`, PATIENCE_MS, () =>
      Promise.resolve(existsSync(join(directory, name)) || undefined),
    );
  await made('ready');
  let lines = 0;
  return {
    press: (keys) => void child.stdin.write(keys),
    idle: async () => {
      lines += 1;
      // What is left of a line, or of a quotation that it began, is given up first.
      child.stdin.write(`\u0003touch idle-${lines}\r`);
      await made(`idle-${lines}`);
    },
    seen: () => seen,
    stop: async () => {
      child.stdin.end('\u0003exit\r');
      const timer = setTimeout(() => child.kill(), ENDING_MS);
      await closed;
      clearTimeout(timer);
    },
  };
}
