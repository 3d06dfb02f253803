// SPDX-License-Identifier: Apache-2.0
/** Renders docs/reference/ledger-commands.md from the commands. */
import { join } from 'node:path';
import { Command, type Option } from 'commander';
import { addLedgerVerbs } from '#cli/commands/ledger/flags.ts';
import { applyConventions } from '#cli/conventions/conventions.ts';

/** Path of the page. */
export const LEDGER_COMMANDS_PAGE = join(
  import.meta.dirname,
  '../docs/reference/ledger-commands.md',
);

const HEAD = `# countersign ledger

Made by \`make ledger-docs\` from \`src/cli/commands/ledger/flags.ts\`. \`countersign ledger\` alone runs the component. With a verb it is
for people, and acts with the permissions of your kubeconfig: reading takes \`get\` and \`list\` on \`records.ledger.countersign.dev\`
([Find out who has a certificate](../how-to/audit.md)). What they read is [the ledger's API](ledger-api.md).

An error of usage exits with 2, another one with 1, and stderr says what to type next. Results are on stdout, all else on stderr.
`;

/** Flags of every verb. */
const COMMON: ReadonlySet<string> = new Set(['--kubeconfig', '--context', '--as', '--as-group']);

/** Returns the Markdown of the page. */
export function renderLedgerCommands(): string {
  const root = new Command('countersign');
  const ledger = root.command('ledger');
  addLedgerVerbs(ledger);
  applyConventions(root);
  const common = ledger.commands[0]?.options.filter(({ long }) => COMMON.has(long ?? '')) ?? [];
  const sections = ledger.commands.map(sectionOf);
  return [HEAD, '## Flags of all of them\n', tableOf(common), ...sections].join('\n');
}

function sectionOf(command: Command): string {
  const usage = command.registeredArguments
    .map((each) => ` <${each.name()}${each.variadic ? '…' : ''}>`)
    .join('');
  const own = command.options.filter(({ long }) => !COMMON.has(long ?? ''));
  const { before, after } = extrasOf(command);
  const description = command.description();
  const sentence = `${description.charAt(0).toUpperCase()}${description.slice(1)}.`;
  return [
    `## ledger ${command.name()}${usage}\n`,
    `${sentence}\n`,
    ...(before === '' ? [] : [`\`\`\`sh\n${before}\n\`\`\`\n`]),
    ...(own.length === 0 ? [] : [tableOf(own)]),
    `${after === '' ? 'Exit code: 0 done; 1 an error.' : after}\n`,
  ].join('\n');
}

/** Returns the examples and the text below the flags. */
function extrasOf(command: Command): { readonly before: string; readonly after: string } {
  let text = '';
  command.configureOutput({ writeOut: (part) => void (text += part) });
  command.outputHelp();
  const before = /Examples:\n((?: {2}.*\n)+)/.exec(text)?.[1] ?? '';
  const [, after = ''] = /display help for command\n([^]*)$/.exec(text) ?? [];
  return {
    before: before.replaceAll(/^ {2}/gm, '').trimEnd(),
    after: after.trim().split('\n').join('\n\n'),
  };
}

function tableOf(options: readonly Option[]): string {
  const rows = options.map((option) => {
    const { flags, description, argChoices } = option;
    const defaultValue: unknown = option.defaultValue;
    const choices = argChoices === undefined ? '' : `: ${argChoices.join(', ')}`;
    const byDefault = isSaid(defaultValue) ? ` (default: ${String(defaultValue)})` : '';
    return `| \`${flags}\` | ${cell(`${description}${choices}${byDefault}`)} |`;
  });
  return `${['| flag | what it means |', '| --- | --- |', ...rows].join('\n')}\n`;
}

function isSaid(value: unknown): boolean {
  return value !== undefined && !Array.isArray(value);
}

/** Escapes bars, which would end the cell, and angle brackets, which would begin HTML. */
function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '\\<');
}
