// SPDX-License-Identifier: Apache-2.0
/**
 * The only writer of this command line to stdout and stderr. Messages contain untrusted text
 * (conditions, names of requests, errors of the API server), so it removes characters that a
 * terminal would interpret.
 */
import type { Interface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { usageError } from '#base/errors.ts';
import { colorMarks } from './mark-colors.ts';
import { printable, printableJson, printableLines } from '#base/quote.ts';

/** Writes text with trusted line ends to stdout. */
export function printText(text: string): void {
  process.stdout.write(printableLines(text));
}

/** Writes JSON, or YAML of `structuredText` or the manifests, to stdout. */
export function printDocument(text: string): void {
  process.stdout.write(printableJson(text));
}

/**
 * Returns the columns of the terminal that shows stdout, or undefined for a file or program, whose
 * output is not cut or wrapped.
 */
export function terminalWidth(): number | undefined {
  return process.stdout.isTTY ? process.stdout.columns : undefined;
}

/** Writes rows to stdout, for programs. A tab separates cells, and no cell contains one. */
export function printRows(rows: readonly (readonly string[])[]): void {
  process.stdout.write(rows.map((row) => `${row.map(printable).join('\t')}\n`).join(''));
}

const SIGN_OF_LIFE_MS = 1_000;
let slow: NodeJS.Timeout | undefined;

/**
 * Prints on a terminal, after a second, that a command is still running. Programs read nothing of
 * it.
 */
export function sayWhenSlow(command: string): void {
  if (!process.stderr.isTTY) return;
  slow = setTimeout(() => {
    printProgress(`countersign ${command} is at work; Ctrl-C ends it`);
  }, SIGN_OF_LIFE_MS).unref();
}

/**
 * 128 + SIGPIPE (13): the shell's exit code of a program whose reader has exited, such as
 * `kubectl get … | head`.
 */
const EXIT_WITHOUT_READER = 141;

/**
 * Ends this process silently once the reader of its stdout has exited, such as `| head` or a pager.
 */
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
 * Writes text to stdout as {@link printText}, with colors on the marks at the start of its lines.
 * It colors only on a terminal with colors, and not if NO_COLOR is set (https://no-color.org).
 */
export function printMarked(text: string): void {
  const { NO_COLOR = '', TERM } = process.env;
  const isColored = process.stdout.isTTY && NO_COLOR === '' && TERM !== 'dumb';
  const printed = printableLines(text);
  process.stdout.write(isColored ? colorMarks(printed) : printed);
}

/**
 * Prompts the user at the terminal for a secret, without echo.
 *
 * @throws SignerError USAGE (`fail`) if stdin is not a terminal
 */
export async function askSecret(question: string): Promise<string> {
  requireTerminal(question, 'name a file with the password');
  // Discard the echo of readline, which edits the line.
  const nowhere = new Writable({
    write(_chunk, _encoding, done) {
      done();
    },
  });
  const input = await openLine(nowhere);
  try {
    // The prompt comes last: before, the terminal itself would echo what is typed.
    process.stderr.write(printable(question));
    return await input.question('');
  } finally {
    input.close();
    process.stderr.write('\n');
  }
}

/**
 * Prompts the user at the terminal, with echo.
 *
 * @param otherwise - what to do without a terminal, for the error
 * @throws SignerError USAGE (`fail`) if stdin is not a terminal
 */
export async function askLine(question: string, otherwise: string): Promise<string> {
  requireTerminal(question, otherwise);
  const input = await openLine(process.stderr);
  try {
    return await input.question(printable(question));
  } finally {
    input.close();
  }
}

function requireTerminal(question: string, otherwise: string): void {
  if (!process.stdin.isTTY) {
    throw usageError(
      `cannot prompt for "${printable(question.trim())}": stdin is not a terminal; ${otherwise}`,
    );
  }
  clearTimeout(slow);
}

async function openLine(output: NodeJS.WritableStream): Promise<Interface> {
  const { createInterface } = await import('node:readline/promises');
  return createInterface({ input: process.stdin, output, terminal: true });
}
