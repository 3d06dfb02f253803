// SPDX-License-Identifier: Apache-2.0
/** The flags that commands share with kubectl: what is printed, of which namespaces, and of which objects. */
import { Option, type Command } from 'commander';
import { OUTPUTS } from '../operations/report.ts';

/** Forms of `-o` besides text, JSON and YAML. */
type MoreOutput = 'wide' | 'name' | 'pem' | 'csv' | 'junit';

/**
 * `-o`: every command that has a result prints it for people, as JSON and as YAML.
 *
 * @param forPeople - what the first form is called
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
 * @param what - that is listed: `certificates`
 */
export function addScopeOptions(command: Command, what: string): Command {
  return command
    .option('-n, --namespace <name>', `only ${what} of this namespace (default: of all)`)
    .addOption(allNamespacesOption());
}

/** `-A`, for people who type it: it is what holds where no `-n` is given. */
export function allNamespacesOption(): Option {
  return new Option('-A, --all-namespaces', 'of all namespaces, which is the default').conflicts(
    'namespace',
  );
}

/** `-l` as kubectl has it: the API server evaluates it. */
export function selectorOption(what: string): Option {
  return new Option(
    '-l, --selector <labels>',
    `only ${what} with these labels: a=b,c!=d, 'e in (f,g)'`,
  );
}
