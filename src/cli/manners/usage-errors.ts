// SPDX-License-Identifier: Apache-2.0
/** What a wrong command line ends with: one line that says what happened, one with what to type next, and one code. */
import type { Command, Option } from 'commander';
import { SignerError } from '../../errors.ts';
import { KubeError } from '../../kube/client/kube-error.ts';
import { printableLines } from '../../quote.ts';

/** The exit code of a wrong command line. */
export const EXIT_USAGE = 2;

/** What to type after an error of the API server. */
const NEXT: Readonly<Record<string, string>> = {
  KUBE_CONFIG: 'kubectl config get-contexts, then --context NAME or --kubeconfig FILE',
  KUBE_UNAUTHORIZED: 'kubectl auth whoami',
  KUBE_FORBIDDEN: 'kubectl auth can-i --list, and show it to who grants permissions',
  KUBE_UNAVAILABLE: 'kubectl get --raw /readyz',
};

/**
 * Lets each command below say what to type after an error of usage. Commands that people run refuse a second value of a
 * flag that takes one: of two pods to revoke, the first would stay. Components take the last one, as those of Kubernetes do.
 */
export function applyUsageErrors(command: Command): void {
  command.showHelpAfterError(`next: ${helpOf(command)}`).configureOutput({
    outputError: (text, write) => {
      write(printableLines(text));
    },
  });
  if (!isComponent(command)) refuseSecondValues(command);
  command.commands.forEach(applyUsageErrors);
}

/** A component has the flags of its log. */
function isComponent(command: Command): boolean {
  return command.options.some(({ long }) => long === '--log-format');
}

/** How the API server is called. An alias may set it, and what is typed after it counts, as kubectl has it. */
const LAST_COUNTS: readonly (string | undefined)[] = ['--kubeconfig', '--context', '--timeout'];

function refuseSecondValues(command: Command): void {
  for (const option of command.options.filter(takesOneValue)) {
    let times = 0;
    command.on(`option:${option.name()}`, () => {
      times += 1;
      if (times < 2) return;
      command.error(`error: option '${option.flags}' is given twice, and takes one value`);
    });
  }
}

/** Repeatable flags gather what they are given, beginning with an empty list or with no names. */
function takesOneValue({ long, required, optional, variadic, defaultValue }: Option): boolean {
  if (LAST_COUNTS.includes(long)) return false;
  const isGathered =
    typeof defaultValue === 'object' && Object.keys(defaultValue as object).length === 0;
  return (required || optional) && !variadic && !isGathered;
}

/** The help of a command, as it is typed. */
function helpOf(command: Command): string {
  const names = [];
  for (let each: Command | null = command; each !== null; each = each.parent) {
    names.unshift(each.name());
  }
  return [...names, '--help'].join(' ');
}

/** Whether an error says that the command line is wrong. */
export function isUsage(error: unknown): boolean {
  return error instanceof RangeError || (error instanceof SignerError && error.code === 'USAGE');
}

/**
 * What to type after an error.
 *
 * @param typed - the words behind the program's name
 * @returns undefined where its message says all
 */
export function nextAfter(
  error: unknown,
  root: Command,
  typed: readonly string[],
): string | undefined {
  if (isUsage(error)) return helpOf(commandOf(root, typed));
  if (error instanceof KubeError || error instanceof SignerError) return NEXT[error.code];
  return undefined;
}

/** The command that the first words name. */
function commandOf(root: Command, typed: readonly string[]): Command {
  const [word, ...rest] = typed;
  const found = root.commands.find((each) => each.name() === word);
  return found === undefined ? root : commandOf(found, rest);
}
