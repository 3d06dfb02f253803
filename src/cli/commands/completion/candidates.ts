// SPDX-License-Identifier: Apache-2.0
/** What may come next on a command line, from the table of commands alone. Pure but for `names`. */
import type { Argument, Command, Option } from 'commander';

/** One completion. */
export interface Suggestion {
  readonly value: string;
  readonly description?: string;
}

/** Cobra's ShellCompDirective, which kubectl and the shells' scripts know. */
const NO_SPACE = 2;
const NO_FILES = 4;

/** What `__complete` prints. */
export interface Completion {
  readonly candidates: readonly Suggestion[];
  /** The sum of directives; 0: files complete as well. */
  readonly directive: number;
}

/** Names that only the cluster or the kubeconfig knows. */
export interface LiveNames {
  /** Of a kind as {@link KINDS} has it. */
  readonly objects: (kind: string) => Promise<readonly string[]>;
  readonly namespaces: () => Promise<readonly string[]>;
  readonly contexts: () => Promise<readonly string[]>;
  readonly signerNames: () => Promise<readonly string[]>;
  readonly clusterSigners: () => Promise<readonly string[]>;
}

/** Kinds that commands take before a slash, and what their objects are. */
const KINDS: ReadonlyMap<string, string> = new Map([
  ['pod', 'what a pod mounts and waits for'],
  ['csr', 'CertificateSigningRequest'],
  ['pcr', 'PodCertificateRequest'],
  ['certificaterequest', 'CertificateRequest of cert-manager'],
  ['signer', 'ClusterSigner'],
  ['order', 'Order of ACME'],
  ['ctb', 'ClusterTrustBundle'],
  ['secret', 'Secret'],
  ['configmap', 'ConfigMap'],
]);

/** Which kinds a command takes; all others take none. */
const KINDS_OF: Readonly<Record<string, readonly string[]>> = {
  explain: ['pod', 'csr', 'pcr', 'certificaterequest', 'secret', 'signer', 'order'],
  approve: ['csr', 'certificaterequest'],
  deny: ['csr', 'certificaterequest'],
  inspect: ['pod', 'csr', 'pcr', 'certificaterequest', 'ctb', 'secret', 'configmap'],
  lint: ['csr', 'pcr', 'certificaterequest', 'ctb', 'secret', 'configmap'],
  'needs-renewal': ['pod', 'csr', 'pcr', 'ctb', 'secret'],
  revoke: ['order'],
};

/** Commands whose arguments may be files, too. */
const TAKES_FILES: ReadonlySet<string> = new Set(['inspect', 'lint', 'needs-renewal']);

/** Values that only a cluster or a kubeconfig knows, by the long flag. */
const VALUES_OF: Readonly<Record<string, Exclude<keyof LiveNames, 'objects'>>> = {
  '--namespace': 'namespaces',
  '--context': 'contexts',
  '--signer': 'signerNames',
  '--signer-name': 'signerNames',
};

/** A value that is no file, and that nobody knows. */
const FREE_TEXT = /(?:name|labels|text|word|user|duration|number|time|address|uri|hex|count|url)/;

/**
 * What may come next.
 *
 * @param words - all words behind the program's name; the last is the one to complete, '' for a new one
 */
export async function complete(
  root: Command,
  words: readonly string[],
  names: LiveNames,
): Promise<Completion> {
  const typed = words.at(-1) ?? '';
  const { command, option } = reached(root, words.slice(0, -1));
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
  return ofArgument(command, typed, names);
}

/** The command that the words lead to, and the flag whose value is next. */
function reached(
  root: Command,
  words: readonly string[],
): { readonly command: Command; readonly option: Option | undefined } {
  let command = root;
  let option: Option | undefined;
  for (const word of words) {
    if (option !== undefined) {
      option = undefined;
    } else if (word.startsWith('-')) {
      const found = command.options.find(({ long, short }) => word === long || word === short);
      option = found !== undefined && found.required ? found : undefined;
    } else command = command.commands.find((each) => each.name() === word) ?? command;
  }
  return { command, option };
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

async function ofArgument(command: Command, typed: string, names: LiveNames): Promise<Completion> {
  const kinds = KINDS_OF[command.name()];
  if (kinds === undefined) return ofNamedArgument(command.registeredArguments[0], typed, names);
  const [, kind] = /^([a-z]+)\//.exec(typed) ?? [];
  if (kind !== undefined && kinds.includes(kind)) {
    const found = await names.objects(kind);
    return matching(
      found.map((name) => `${kind}/${name}`),
      typed,
    );
  }
  const candidates = kinds
    .filter((each) => each.startsWith(typed))
    .map((each) => ({ value: `${each}/`, description: KINDS.get(each) ?? '' }));
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
  const isSigner = /signer/i.test(argument.name());
  return isSigner ? matching(await names.clusterSigners(), typed) : none();
}

function matching(values: readonly string[], typed: string): Completion {
  const candidates = values.filter((each) => each.startsWith(typed)).map((value) => ({ value }));
  return { candidates, directive: NO_FILES };
}

function none(): Completion {
  return { candidates: [], directive: NO_FILES };
}

function files(): Completion {
  return { candidates: [], directive: 0 };
}

/** commander keeps it to itself; a name with underscores is for programs. */
function isHidden(command: Command): boolean {
  return command.name().startsWith('_');
}
