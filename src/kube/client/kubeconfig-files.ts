// SPDX-License-Identifier: Apache-2.0
/**
 * Reads the files of a kubeconfig as kubectl does. client-node 2.0.1 refuses missing files and
 * entries with one name in two files, and makes no path of an exec plugin absolute.
 */
import { readFile } from 'node:fs/promises';
import { dirname, resolve, sep } from 'node:path';
import { parseDocument } from 'yaml';
import { isRecord, membersOf } from '#base/record.ts';

export type Members = Readonly<Record<string, unknown>>;

/** One named cluster, user or context of a kubeconfig, with its members below its kind. */
interface Entry extends Members {
  readonly name: string;
}

/** A kubeconfig whose paths are absolute. */
export interface KubeconfigFile {
  readonly clusters: readonly Entry[];
  readonly users: readonly Entry[];
  readonly contexts: readonly Entry[];
  readonly 'current-context': string;
}

/** Members with a path: client-go, clientcmd/loader.go, GetClusterFileReferences and its like. */
const PATHS = ['certificate-authority', 'client-certificate', 'client-key', 'tokenFile'];

/**
 * Reads files and merges them as kubectl does (client-go, ClientConfigLoadingRules.Load). The first
 * file that sets the current context or has an entry of a name wins, and a missing file counts as
 * none if there are several.
 *
 * @throws Error of a file that cannot be read or parsed, without its text
 */
export async function readKubeconfigs(files: readonly string[]): Promise<KubeconfigFile> {
  const read: KubeconfigFile[] = [];
  for (const file of files) {
    try {
      read.push(await readKubeconfig(file));
    } catch (error) {
      if (files.length === 1 || membersOf(error)['code'] !== 'ENOENT') throw error;
    }
  }
  if (read.length === 0) throw new Error('none of its files exists');
  const current = read.map((each) => each['current-context']).find((name) => name !== '');
  return {
    clusters: firstOfEachName(read.flatMap(({ clusters }) => clusters)),
    users: firstOfEachName(read.flatMap(({ users }) => users)),
    contexts: firstOfEachName(read.flatMap(({ contexts }) => contexts)),
    'current-context': current ?? '',
  };
}

async function readKubeconfig(file: string): Promise<KubeconfigFile> {
  const members = membersOf(parseYaml(await readFile(file, 'utf8')));
  const current = members['current-context'];
  const directory = dirname(resolve(file));
  const entries = (list: unknown, kind: string): readonly Entry[] =>
    (Array.isArray(list) ? list : []).flatMap((entry: unknown) => {
      const { name, [kind]: value } = membersOf(entry);
      return isText(name) ? [{ name, [kind]: withAbsolutePaths(membersOf(value), directory) }] : [];
    });
  return {
    clusters: entries(members['clusters'], 'cluster'),
    users: entries(members['users'], 'user'),
    contexts: entries(members['contexts'], 'context'),
    'current-context': isText(current) ? current : '',
  };
}

/** @throws Error with the position alone: the text may be a secret */
function parseYaml(text: string): unknown {
  // client-node read merge keys (`<<`) as well.
  const document = parseDocument(text, { merge: true });
  const [error] = document.errors;
  if (error !== undefined) {
    const [position] = error.linePos ?? [];
    const at = position === undefined ? '' : ` at line ${position.line}, column ${position.col}`;
    throw new Error(`it is not valid YAML${at}`);
  }
  try {
    return document.toJS();
  } catch {
    throw new Error('it is not valid YAML: an alias has no anchor');
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function withAbsolutePaths(members: Members, directory: string): Members {
  const absolute = (key: string, value: unknown): unknown => {
    if (key === 'exec' && isRecord(value)) return withAbsoluteCommand(value, directory);
    return PATHS.includes(key) && isText(value) ? resolve(directory, value) : value;
  };
  return Object.fromEntries(
    Object.entries(members).map(([key, value]) => [key, absolute(key, value)]),
  );
}

/** A command without a separator is found by PATH. */
function withAbsoluteCommand(exec: Members, directory: string): Members {
  const { command } = exec;
  if (typeof command !== 'string' || !command.includes(sep)) return exec;
  return { ...exec, command: resolve(directory, command) };
}

function firstOfEachName(entries: readonly Entry[]): readonly Entry[] {
  const byName = new Map<string, Entry>();
  for (const entry of entries) if (!byName.has(entry.name)) byName.set(entry.name, entry);
  return [...byName.values()];
}
