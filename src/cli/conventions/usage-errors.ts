// SPDX-License-Identifier: Apache-2.0
/**
 * Errors of a wrong command line: one line with the cause, one with the next command, and one exit
 * code.
 */
import type { Command, Option } from 'commander';
import { SignerError, messageOf } from '#base/errors.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { printableLines } from '#base/quote.ts';

/** The exit code of a wrong command line. */
export const EXIT_USAGE = 2;

/** Next command after an error of the API server. */
const NEXT: Readonly<Record<string, string>> = {
  KUBE_CONFIG: 'kubectl config get-contexts, then --context NAME or --kubeconfig FILE',
  KUBE_UNAUTHORIZED: 'kubectl auth whoami',
  KUBE_FORBIDDEN: 'kubectl auth can-i --list, and show it to who grants permissions',
  KUBE_UNAVAILABLE: 'kubectl get --raw /readyz',
};

/**
 * Adds the next command to usage errors of each command below. Commands for users reject a second
 * value of a single-value flag: given two pods, `revoke` would otherwise ignore one. Components
 * take the last value, as those of Kubernetes do.
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

/** Reports whether the command is a component, by the flags of its log. */
function isComponent(command: Command): boolean {
  return command.options.some(({ long }) => long === '--log-format');
}

/** Flags of the connection. An alias may set them, and the last value wins, as with kubectl. */
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

/**
 * Reports whether an option takes one value. Repeatable flags collect their values, and begin with
 * an empty list or with no names.
 */
function takesOneValue({ long, required, optional, variadic, defaultValue }: Option): boolean {
  if (LAST_COUNTS.includes(long)) return false;
  const before: unknown = defaultValue;
  const isGathered =
    typeof before === 'object' && before !== null && Object.keys(before).length === 0;
  return (required || optional) && !variadic && !isGathered;
}

/** Returns the command that prints the help of a command. */
function helpOf(command: Command): string {
  const names = [];
  for (let each: Command | null = command; each !== null; each = each.parent) {
    names.unshift(each.name());
  }
  return [...names, '--help'].join(' ');
}

/** Reports whether an error means that the command line is wrong. */
export function isUsage(error: unknown): boolean {
  return error instanceof RangeError || (error instanceof SignerError && error.code === 'USAGE');
}

/**
 * Returns the next command after an error.
 *
 * @param typed - the words after the program's name
 * @returns undefined if the error's message is sufficient
 */
export function nextAfter(
  error: unknown,
  root: Command,
  typed: readonly string[],
): string | undefined {
  if (error instanceof SignerError && error.next !== undefined) return error.next;
  const missing = missingObject(error);
  if (missing !== undefined) return `kubectl get ${missing.kind}${missing.flag}`;
  if (isUsage(error)) return helpOf(commandOf(root, typed));
  if (error instanceof KubeError || error instanceof SignerError) return NEXT[error.code];
  return undefined;
}

/**
 * The path of one object in the API, such as
 * `/apis/countersign.dev/v1alpha1/clustersigners/workload`.
 */
const OBJECT_PATH =
  /^[A-Z]+ \/(?:api|apis\/([a-z0-9.-]+))\/v[a-z0-9]+\/(?:namespaces\/([a-z0-9-]+)\/)?([a-z]+)\/([^/\s:]+)/;

interface MissingObject {
  readonly kind: string;
  readonly name: string;
  /** Flag of the namespace after a space, if the kind has a namespace. */
  readonly flag: string;
}

/** Returns the object that the API server does not have. */
function missingObject(error: unknown): MissingObject | undefined {
  if (!(error instanceof KubeError) || error.status !== 404) return undefined;
  const [, group, namespace, plural = '', encoded = ''] = OBJECT_PATH.exec(error.message) ?? [];
  if (plural === '') return undefined;
  return {
    kind: group === undefined ? plural : `${plural}.${group}`,
    name: decodeURIComponent(encoded),
    flag: namespace === undefined ? '' : ` -n ${namespace}`,
  };
}

/**
 * Returns the message of an error. A missing object has its name, and no path of the API. An error
 * about a file has the flag that names the file.
 *
 * @param typed - the words after the program's name
 */
export function plainMessage(error: unknown, typed: readonly string[] = []): string {
  const missing = missingObject(error);
  if (missing === undefined) return messageOf(error) + flagOfFile(error, typed);
  const { kind, name, flag } = missing;
  const where = flag === '' ? '' : ` in namespace ${flag.slice(' -n '.length)}`;
  return `there is no ${kind}/${name}${where}`;
}

/** Returns the flag whose value is the file of an error, in brackets after a space, or ''. */
function flagOfFile(error: unknown, typed: readonly string[]): string {
  if (!(error instanceof Error) || !('path' in error) || typeof error.path !== 'string') return '';
  const { path } = error;
  const joined = typed.find((word) => word.startsWith('--') && word.endsWith(`=${path}`));
  const before = typed[typed.indexOf(path) - 1];
  const flag = joined?.split('=', 1)[0] ?? (before?.startsWith('--') === true ? before : undefined);
  return flag === undefined ? '' : ` (${flag})`;
}

/** Returns the command of the first words. */
function commandOf(root: Command, typed: readonly string[]): Command {
  const [word, ...rest] = typed;
  const found = root.commands.find((each) => each.name() === word);
  return found === undefined ? root : commandOf(found, rest);
}
