// SPDX-License-Identifier: Apache-2.0
/** Flags that commands share with kubectl: output format, namespaces, and selectors. */
import { Option, type Command } from 'commander';
import { OUTPUTS } from '#operations/report.ts';

/** Formats of `-o` besides text, JSON and YAML. */
type MoreOutput = 'wide' | 'name' | 'pem' | 'csv' | 'junit';

/**
 * Returns `-o`: every command with a result prints it for people, as JSON and as YAML.
 *
 * @param forPeople - name of the first format
 */
export function outputOption(
  more: readonly MoreOutput[] = [],
  forPeople: 'text' | 'table' = 'text',
): Option {
  const choices = [forPeople, ...OUTPUTS.slice(1), ...more];
  return new Option('-o, --output <format>', 'output format').choices(choices).default(forPeople);
}

/**
 * Adds `-n` and `-A` to a command that lists.
 *
 * @param what - the listed objects, such as `certificates`
 */
export function addScopeOptions(command: Command, what: string): Command {
  return command
    .option('-n, --namespace <name>', `only ${what} of this namespace (default: of all)`)
    .addOption(allNamespacesOption());
}

/** Returns `-A`, for users who type it. It is the default without `-n`. */
export function allNamespacesOption(): Option {
  return new Option('-A, --all-namespaces', 'of all namespaces, which is the default').conflicts(
    'namespace',
  );
}

/** Returns `-l`. The API server evaluates it, as with kubectl. */
export function selectorOption(what: string): Option {
  return new Option(
    '-l, --selector <labels>',
    `only ${what} with these labels: a=b,c!=d, 'e in (f,g)'`,
  );
}
