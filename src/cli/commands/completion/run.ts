// SPDX-License-Identifier: Apache-2.0
import type { Command } from 'commander';
import { printDocument, printRows, printText } from '#cli/terminal.ts';
import { complete } from './candidates.ts';
import { liveNames } from './live-names.ts';
import { SCRIPTS } from './scripts.ts';

/** Runs `countersign completion`. */
export function printScript(shell: keyof typeof SCRIPTS): void {
  printText(SCRIPTS[shell]);
}

/**
 * Runs `countersign __complete`: prints a line `value<TAB>description` for each, then `:` and the
 * sum of directives.
 */
export async function printCompletions(root: Command, words: readonly string[]): Promise<void> {
  const { candidates, directive } = await complete(root, words, liveNames(words));
  const rows = candidates.map(({ value, description = '' }) => [value, description]);
  printRows([...rows, [`:${directive}`]]);
}

/** Runs `countersign __commands`: prints the command line for documentation and tests. */
export function printCommands(root: Command): void {
  printDocument(`${JSON.stringify(describe(root, []), undefined, 1)}\n`);
}

interface DescribedCommand {
  /** Words of the command, such as `authority show` */
  readonly path: string;
  /** Long flags. */
  readonly flags: readonly string[];
  /** Output of `--help`. */
  readonly help: string;
}

function describe(command: Command, before: readonly string[]): readonly DescribedCommand[] {
  return command.commands
    .filter((each) => !each.name().startsWith('_'))
    .flatMap((each) => {
      const path = [...before, each.name()];
      const flags = each.options.flatMap(({ long }) => long ?? []);
      return [{ path: path.join(' '), flags, help: helpOf(each) }, ...describe(each, path)];
    });
}

function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({
    writeOut: (part) => {
      text += part;
    },
  });
  command.outputHelp();
  return text;
}
