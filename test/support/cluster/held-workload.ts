// SPDX-License-Identifier: Apache-2.0
/** The stand of a key holder on a cluster: the manifests of its values, its signer and its pods. */
import assert from 'node:assert/strict';
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Cluster } from '../../cluster/cluster.ts';
import { established } from '../../cluster/established.ts';
import { until } from '../../cluster/until.ts';
import { countersign, MAIN } from './countersign.ts';
import { applySigner, example, waitForReady } from './fixture.ts';
import { KEYS_NAMESPACE, SYSTEM_NAMESPACE } from './installation.ts';
import { createPod, createTeam, filesOf } from './pods.ts';

export const HELD_SIGNER_NAME = 'example.com/workload';

/** The signer name and the leaves that the holder of the key `workload` signs. */
export const HELD_KEY = {
  signerNames: [HELD_SIGNER_NAME],
  leaf: {
    maxDuration: '24h',
    names: { uris: ['spiffe://cluster[.]local/ns/team-[a-z]+/sa/[a-z-]+'] },
  },
};

/** What tests read of the pod that has the key holder as a container of its own. */
export interface HeldPod {
  readonly initContainers?: readonly {
    readonly name: string;
    readonly args: readonly string[];
    readonly env?: readonly { readonly name: string; readonly value: string }[];
  }[];
  readonly containers: readonly {
    readonly args: readonly string[];
    readonly volumeMounts: readonly { readonly name: string }[];
  }[];
}

/**
 * Makes a folder in place of `/run/countersign`, with the files of the Secret of the key `workload`
 * as they are mounted. The test's user is the owner.
 */
export function createHeldFolder(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'key-holder-'));
  mkdirSync(join(folder, 'keys/workload'), { recursive: true });
  mkdirSync(join(folder, 'key-holder'));
  for (const [name, content] of Object.entries(files))
    writeFileSync(join(folder, 'keys/workload', name), content, { mode: 0o440 });
  return folder;
}

/** Returns the text of a container with its paths in the folder. */
function inFolder(folder: string, text: string): string {
  return text.replaceAll('/run/countersign', folder);
}

/** Returns the arguments by which the component finds the sockets of its key holder. */
export function socketArgs({ containers }: HeldPod, folder: string): readonly string[] {
  const [{ args } = { args: [] }] = containers;
  return args
    .filter((each) => each.startsWith('--key-holder='))
    .map((each) => inFolder(folder, each));
}

/** A key holder that runs as its container would, and may be started again. */
export interface KeyHolderProcess {
  /** The log of all its processes. */
  readonly log: () => string;
  readonly pid: () => number | undefined;
  /** Starts it. Resolves when it listens. */
  readonly start: () => Promise<void>;
  /** Kills it. Resolves when it has ended. */
  readonly kill: () => Promise<void>;
}

/**
 * Returns the key holder of a pod, which is not started yet.
 *
 * @param more - arguments and variables besides those of the container
 */
export function keyHolderOf(
  { initContainers = [] }: HeldPod,
  folder: string,
  more: { readonly args?: readonly string[]; readonly env?: NodeJS.ProcessEnv } = {},
): KeyHolderProcess {
  const [{ args, env = [] } = { args: [] }] = initContainers;
  const given = env.map(({ name, value }) => [name, inFolder(folder, value)] as const);
  const program = process.env['COUNTERSIGN_PROGRAM'] ?? MAIN;
  const words = [program, ...args.map((each) => inFolder(folder, each)), ...(more.args ?? [])];
  let running: ChildProcess | undefined;
  let log = '';
  return {
    log: () => log,
    pid: () => running?.pid,
    start: async () => {
      const begin = log.length;
      const started = spawn(process.execPath, words, {
        env: { ...(more.env ?? process.env), ...Object.fromEntries(given) },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      running = started;
      started.stderr.setEncoding('utf8').on('data', (text: string) => (log += text));
      await until('the holder listens', 60_000, () => {
        if (started.exitCode !== null) throw new Error(`it ended: ${log.slice(begin)}`);
        return log.slice(begin).includes('listening');
      });
    },
    kill: async () => {
      if (running === undefined || running.exitCode !== null || running.signalCode !== null) return;
      running.kill('SIGKILL');
      await once(running, 'exit');
    },
  };
}

/** Applies what `countersign manifests` prints for the values. @param folder - for its files */
export async function installHeld(cluster: Cluster, folder: string, values: object): Promise<void> {
  const file = join(folder, 'values.json');
  writeFileSync(file, JSON.stringify(values));
  const { stdout, code } = await countersign(['manifests', '--values', file]);
  assert.equal(code, 0);
  writeFileSync(join(folder, 'all.yaml'), stdout);
  await until('the manifests are applied', 60_000, () =>
    cluster.kubectl(['apply', '--server-side', '-f', join(folder, 'all.yaml')]),
  );
  await established(cluster, 'crd/clustersigners.countersign.dev');
}

/** Returns the spec of the pod of pcr-issuer, which the pod security standard has admitted. */
export function admittedPod(cluster: Cluster): Promise<HeldPod> {
  return until('pcr-issuer has its pod', 60_000, async () => {
    const label = 'app.kubernetes.io/component=pcr-issuer';
    const args = ['get', 'pods', '-n', SYSTEM_NAMESPACE, '-l', label, '-o', 'json'];
    const { stdout } = await cluster.kubectl(args);
    return (JSON.parse(stdout) as { items: { spec: HeldPod }[] }).items[0]?.spec;
  });
}

/** Applies the signer of the held CA, and makes the ServiceAccount of its pods. */
export async function applyHeldSigner(cluster: Cluster, chain: string): Promise<void> {
  const { requests: _requests, certificateRequests: _cert, ...spec } = example('workload').spec;
  const keyHolder = { namespace: KEYS_NAMESPACE, key: 'workload', chain };
  await applySigner(cluster, {
    ...example('workload'),
    spec: { ...spec, authority: { keyHolder } },
  });
  await waitForReady(cluster, 'workload', 'Checked');
  await createTeam(cluster, 'team-a', ['web']);
}

export function createHeldPod(cluster: Cluster, name: string): Promise<void> {
  return createPod(cluster, {
    name,
    namespace: 'team-a',
    serviceAccount: 'web',
    node: 'node-1',
    signerName: HELD_SIGNER_NAME,
    keyType: 'ECDSAP256',
  });
}

/**
 * Returns the serial number of a pod's leaf, once OpenSSL has verified it from the root alone.
 *
 * @param folder - has the root in `keys/workload/ca.crt`
 */
export async function verifiedSerialOf(
  cluster: Cluster,
  folder: string,
  name: string,
): Promise<string> {
  const { credentials } = await filesOf(cluster, { namespace: 'team-a', name });
  const leaf = new X509Certificate(readFileSync(credentials));
  const file = join(folder, `${name}.pem`);
  writeFileSync(file, leaf.toString());
  const root = join(folder, 'keys/workload/ca.crt');
  const output = execFileSync('openssl', ['verify', '-x509_strict', '-CAfile', root, file]);
  assert.match(output.toString(), /: OK/);
  return leaf.serialNumber.toLowerCase();
}

/** Waits for the reason of the condition Served, which pcr-issuer reports by its Lease. */
export function servedBecauseOf(cluster: Cluster, reason: string): Promise<unknown> {
  return until(`Served has the reason ${reason}`, 120_000, async () => {
    const path = 'jsonpath={.status.conditions[?(@.type=="Served")].reason}';
    const { stdout } = await cluster.kubectl(['get', 'clustersigner', 'workload', '-o', path]);
    return stdout === reason ? true : undefined;
  });
}
