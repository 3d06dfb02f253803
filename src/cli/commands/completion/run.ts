// SPDX-License-Identifier: Apache-2.0
import type { Command } from 'commander';
import { printable } from '../../../quote.ts';
import { printRows, printText } from '../../terminal.ts';
import { complete } from './candidates.ts';
import { liveNames } from './live-names.ts';
import { SCRIPTS } from './scripts.ts';

/** Runs `countersign completion`. */
export function printScript(shell: keyof typeof SCRIPTS): void {
  printText(SCRIPTS[shell]);
}

/**
 * Runs `countersign __complete`: a line `value<TAB>description` for each, then `:` and the sum of directives. What a
 * shell would interpret in a name is no completion.
 */
export async function printCompletions(root: Command, words: readonly string[]): Promise<void> {
  const { candidates, directive } = await complete(root, words, liveNames(words));
  const rows = candidates
    .filter(({ value }) => printable(value) === value)
    .map(({ value, description = '' }) => [value, description]);
  printRows([...rows, [`:${directive}`]]);
}
