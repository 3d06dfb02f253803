// SPDX-License-Identifier: Apache-2.0
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseAllDocuments } from 'yaml';
import { buildHelm } from './tools/build.ts';

export const CHART = join(import.meta.dirname, '../../deploy/chart');

/** What a command said. */
export interface Said {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The real helm with a configuration of its own. */
export interface Helm {
  /**
   * Rejects when it fails, with what it said. @param values - a file of values, appended as
   * `--values`
   */
  (args: readonly string[], values?: object): Promise<Said>;
  /** Does not reject. */
  tried(args: readonly string[], values?: object): Promise<Said>;
  close(): void;
}

/** @param kubeconfig - of the cluster; undefined: none, and no command reaches one */
export async function startHelm(kubeconfig?: string): Promise<Helm> {
  const program = await buildHelm((line) => {
    console.error(line);
  });
  const home = mkdtempSync(join(tmpdir(), 'helm-'));
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    HELM_CACHE_HOME: join(home, 'cache'),
    HELM_CONFIG_HOME: join(home, 'config'),
    HELM_DATA_HOME: join(home, 'data'),
    KUBECONFIG: kubeconfig ?? join(home, 'none'),
  };
  let count = 0;
  const tried = async (args: readonly string[], values?: object): Promise<Said> => {
    count += 1;
    const file = join(home, `values-${count}.json`);
    if (values !== undefined) writeFileSync(file, JSON.stringify(values));
    const all = [...args, ...(values === undefined ? [] : ['--values', file])];
    const child = spawn(program, all, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const [stdout, stderr] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      child.exitCode === null ? once(child, 'close') : undefined,
    ]);
    return { code: child.exitCode ?? -1, stdout, stderr };
  };
  const helm = async (args: readonly string[], values?: object): Promise<Said> => {
    const said = await tried(args, values);
    if (said.code !== 0) throw new Error(`helm ${args.join(' ')}: ${said.stderr}${said.stdout}`);
    return said;
  };
  return Object.assign(helm, {
    tried,
    close: () => {
      rmSync(home, { recursive: true, force: true });
    },
  });
}

/** A Kubernetes object as somebody printed it. */
export interface Printed {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

/** The objects of `helm template`, by `Kind namespace/name`; two of one name are an error. */
export function objectsIn(yaml: string): ReadonlyMap<string, Printed> {
  const objects = parseAllDocuments(yaml).flatMap((document) => {
    if (document.errors.length > 0) throw document.errors[0] ?? new Error('no YAML');
    const object = document.toJS() as Printed | null;
    return object === null ? [] : [object];
  });
  return byName(objects);
}

export function byName(objects: readonly Printed[]): ReadonlyMap<string, Printed> {
  const all = new Map<string, Printed>();
  for (const object of objects) {
    const { name, namespace = '' } = object.metadata;
    const key = `${object.kind} ${namespace}/${name}`;
    if (all.has(key)) throw new Error(`${key} is there twice`);
    all.set(key, object);
  }
  return all;
}
