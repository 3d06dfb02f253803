// SPDX-License-Identifier: Apache-2.0
/**
 * The only way of this command line to stdout and stderr. Messages repeat what others wrote (conditions,
 * names of requests, errors of the API server), so that no character reaches a terminal that it would interpret.
 */
import { printable, printableJson, printableLines } from '../quote.ts';

/** Writes text whose line ends are ours to stdout. */
export function printText(text: string): void {
  process.stdout.write(printableLines(text));
}

/** Writes JSON, or YAML of `structuredText` or the manifests, to stdout. */
export function printDocument(text: string): void {
  process.stdout.write(printableJson(text));
}

/** Writes one line of progress or an error to stderr. */
export function printProgress(line: string): void {
  process.stderr.write(`${printable(line)}\n`);
}
