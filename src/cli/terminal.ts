// SPDX-License-Identifier: Apache-2.0
/**
 * The only way of this command line to stdout and stderr. Messages repeat what others wrote (conditions,
 * names of requests, errors of the API server), so that no character reaches a terminal that it would interpret.
 */
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { usageError } from '../errors.ts';
import { colorMarks } from './mark-colors.ts';
import { printable, printableJson, printableLines } from '../quote.ts';

/** Writes text whose line ends are ours to stdout. */
export function printText(text: string): void {
  process.stdout.write(printableLines(text));
}

/** Writes JSON, or YAML of `structuredText` or the manifests, to stdout. */
export function printDocument(text: string): void {
  process.stdout.write(printableJson(text));
}

/** Columns of the terminal that reads stdout; undefined: a file or a program does, for which nothing is cut or wrapped. */
export function terminalWidth(): number | undefined {
  return process.stdout.isTTY ? process.stdout.columns : undefined;
}

/** Writes rows to stdout, for programs: cells end with a tab, and no cell holds one. */
export function printRows(rows: readonly (readonly string[])[]): void {
  process.stdout.write(rows.map((row) => `${row.map(printable).join('\t')}\n`).join(''));
}

const SIGN_OF_LIFE_MS = 1_000;
let slow: NodeJS.Timeout | undefined;

/** Says on a terminal that a command is still at work after a second: programs read nothing of it. */
export function sayWhenSlow(command: string): void {
  if (!process.stderr.isTTY) return;
  slow = setTimeout(() => {
    printProgress(`countersign ${command} is at work; Ctrl-C ends it`);
  }, SIGN_OF_LIFE_MS).unref();
}

/** 128 + SIGPIPE (13): what a shell says of every other program whose reader has gone, such as `kubectl get … | head`. */
const EXIT_WITHOUT_READER = 141;

/** Ends this process without a word once nobody reads its stdout any more: `| head`, or a pager that was left. */
export function endWithReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(EXIT_WITHOUT_READER);
  });
}

/** Writes one line of progress or an error to stderr. */
export function printProgress(line: string): void {
  process.stderr.write(`${printable(line)}\n`);
}

/**
 * Writes text to stdout as {@link printText}, with colors on the marks that begin its lines: only on a terminal that
 * knows colors, and not where NO_COLOR is set (https://no-color.org).
 */
export function printMarked(text: string): void {
  const { NO_COLOR = '', TERM } = process.env;
  const isColored = process.stdout.isTTY && NO_COLOR === '' && TERM !== 'dumb';
  const printed = printableLines(text);
  process.stdout.write(isColored ? colorMarks(printed) : printed);
}

/**
 * Asks the person at the terminal, who sees nothing of what they type.
 *
 * @throws SignerError USAGE (`fail`) where nobody is there to answer
 */
export async function askSecret(question: string): Promise<string> {
  if (!process.stdin.isTTY) {
    throw usageError(
      `nobody can be asked "${printable(question.trim())}" here: stdin is no terminal; name a file with the password`,
    );
  }
  clearTimeout(slow);
  process.stderr.write(printable(question));
  // Readline edits the line; its echo goes nowhere.
  const nowhere = new Writable({
    write(_chunk, _encoding, done) {
      done();
    },
  });
  const input = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  try {
    return await input.question('');
  } finally {
    input.close();
    process.stderr.write('\n');
  }
}
