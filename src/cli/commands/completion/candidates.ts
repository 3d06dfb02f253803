// SPDX-License-Identifier: Apache-2.0
/** Completions of a command line, from the table of commands. Only `names` has side effects. */
import type { Argument, Command, Option } from 'commander';
import { isPlainWord } from '#base/quote.ts';
import { NAMED_KINDS, type KindName } from '#diagnose/kinds.ts';

/** One completion. */
export interface Suggestion {
  readonly value: string;
  readonly description?: string;
}

/** Cobra's ShellCompDirective, which kubectl and the shells' scripts interpret. */
const NO_SPACE = 2;
const NO_FILES = 4;

/** Output of `__complete`. */
export interface Completion {
  readonly candidates: readonly Suggestion[];
  /** Sum of directives, where 0 also completes files. */
  readonly directive: number;
}

/** Names from the cluster or the kubeconfig. */
export interface LiveNames {
  /** Returns the names of a kind. */
  readonly objects: (kind: KindName) => Promise<readonly string[]>;
  readonly namespaces: () => Promise<readonly string[]>;
  readonly contexts: () => Promise<readonly string[]>;
  readonly signerNames: () => Promise<readonly string[]>;
  readonly clusterSigners: () => Promise<readonly string[]>;
}

/** Kinds that a command takes. All others take none. */
const KINDS_OF: Readonly<Record<string, readonly KindName[]>> = {
  explain: ['pod', 'csr', 'pcr', 'certificaterequest', 'secret', 'signer', 'order'],
  approve: ['csr', 'certificaterequest'],
  deny: ['csr', 'certificaterequest'],
  inspect: ['pod', 'csr', 'pcr', 'certificaterequest', 'ctb', 'secret', 'configmap'],
  lint: ['csr', 'pcr', 'certificaterequest', 'ctb', 'secret', 'configmap'],
  'needs-renewal': ['pod', 'csr', 'pcr', 'ctb', 'secret'],
  revoke: ['order', 'pod', 'csr', 'pcr', 'certificaterequest'],
};

/** Commands whose arguments may also be files. */
const TAKES_FILES: ReadonlySet<string> = new Set(['inspect', 'lint', 'needs-renewal']);

/** Values from a cluster or a kubeconfig, by the long flag. */
const VALUES_OF: Readonly<Record<string, Exclude<keyof LiveNames, 'objects'>>> = {
  '--namespace': 'namespaces',
  '--context': 'contexts',
  '--signer': 'signerNames',
  '--signer-name': 'signerNames',
};

/** Placeholders of values that are neither files nor known names. */
const FREE_TEXT = /(?:name|labels|text|word|user|duration|number|time|address|uri|hex|count|url)/;

/**
 * Returns the completions.
 *
 * @param words - all words after the program's name. The last is the one to complete, '' for a new
 * one.
 */
export async function complete(
  root: Command,
  words: readonly string[],
  names: LiveNames,
): Promise<Completion> {
  const typed = words.at(-1) ?? '';
  const { command, option, position } = reached(root, words.slice(0, -1));
  if (option !== undefined) return ofValue(option, typed, names);
  const [, flag, value] = /^(--[a-z0-9-]+)=(.*)$/.exec(typed) ?? [];
  if (flag !== undefined) {
    const known = command.options.find(({ long }) => long === flag);
    if (known === undefined) return none();
    const { candidates, directive } = await ofValue(known, value ?? '', names);
    const whole = candidates.map((each) => ({ ...each, value: `${flag}=${each.value}` }));
    return { candidates: whole, directive };
  }
  if (typed.startsWith('-')) return ofFlags(command, typed);
  const commands = command.commands
    .filter((each) => !isHidden(each) && each.name().startsWith(typed))
    .map((each) => ({ value: each.name(), description: each.description() }));
  if (commands.length > 0) return { candidates: commands, directive: NO_FILES };
  return ofArgument(command, position, typed, names);
}

interface CompletionContext {
  readonly command: Command;
  /** The flag whose value is next. */
  readonly option: Option | undefined;
  /** The number of arguments before the next one. */
  readonly position: number;
}

function reached(root: Command, words: readonly string[]): CompletionContext {
  let command = root;
  let option: Option | undefined;
  let position = 0;
  for (const word of words) {
    if (option !== undefined) {
      option = undefined;
    } else if (word.startsWith('-')) {
      const found = command.options.find(({ long, short }) => word === long || word === short);
      option = found !== undefined && found.required ? found : undefined;
    } else {
      const below = command.commands.find((each) => each.name() === word);
      if (below === undefined) position += 1;
      command = below ?? command;
    }
  }
  return { command, option, position };
}

async function ofValue(option: Option, typed: string, names: LiveNames): Promise<Completion> {
  if (option.argChoices !== undefined) return matching(option.argChoices, typed);
  const live = VALUES_OF[option.long ?? ''];
  if (live !== undefined) return matching(await names[live](), typed);
  return FREE_TEXT.test(option.flags.replace(/^[^<[]*/, '')) ? none() : files();
}

function ofFlags(command: Command, typed: string): Completion {
  const candidates = command.options
    .filter(({ hidden, long }) => !hidden && long?.startsWith(typed) === true)
    .map(({ long, description }) => ({ value: long ?? '', description }));
  return { candidates, directive: NO_FILES };
}

async function ofArgument(
  command: Command,
  position: number,
  typed: string,
  names: LiveNames,
): Promise<Completion> {
  const kinds = KINDS_OF[command.name()];
  if (kinds === undefined) {
    const { registeredArguments: all } = command;
    return ofNamedArgument(all[position] ?? all.at(-1), typed, names);
  }
  const kind = kinds.find((each) => typed.startsWith(`${each}/`));
  if (kind !== undefined) {
    const found = await names.objects(kind);
    return matching(
      found.map((name) => `${kind}/${name}`),
      typed,
    );
  }
  const candidates = kinds
    .filter((each) => each.startsWith(typed))
    .map((each) => ({ value: `${each}/`, description: NAMED_KINDS[each].description }));
  if (candidates.length === 0) return TAKES_FILES.has(command.name()) ? files() : none();
  return { candidates, directive: NO_SPACE + (TAKES_FILES.has(command.name()) ? 0 : NO_FILES) };
}

async function ofNamedArgument(
  argument: Argument | undefined,
  typed: string,
  names: LiveNames,
): Promise<Completion> {
  if (argument === undefined) return none();
  if (argument.argChoices !== undefined) return matching(argument.argChoices, typed);
  if (argument.name() === 'file') return files();
  const isSigner = /signer/i.test(argument.name());
  return isSigner ? matching(await names.clusterSigners(), typed) : none();
}

/**
 * Returns the matching values, without names that a shell would interpret: users who create objects
 * choose their names.
 */
function matching(values: readonly string[], typed: string): Completion {
  const candidates = values
    .filter((each) => each.startsWith(typed) && isPlainWord(each))
    .map((value) => ({ value }));
  return { candidates, directive: NO_FILES };
}

function none(): Completion {
  return { candidates: [], directive: NO_FILES };
}

function files(): Completion {
  return { candidates: [], directive: 0 };
}

/**
 * Reports whether a command is hidden, which commander does not expose. A name with underscores is
 * for programs.
 */
function isHidden(command: Command): boolean {
  return command.name().startsWith('_');
}
