// SPDX-License-Identifier: Apache-2.0
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { until } from '../../cluster/until.ts';
import { MAIN } from './countersign.ts';

/** Those that work in every cluster. */
export const COMPONENTS = ['approver', 'signer', 'pcr-issuer', 'attester', 'authority'] as const;
/** And who sleeps where cert-manager is not installed. */
export const EVERY_COMPONENT = [...COMPONENTS, 'certificate-request'] as const;
export type ComponentName = (typeof EVERY_COMPONENT)[number];
/** Those that an installation has only where it names them, and the operator, which is in none. */
export type OptionalComponentName =
  | 'acme'
  | 'external-signer'
  | 'acme-responder'
  | 'acme-solver'
  | 'operator'
  | 'cert-manager-operator'
  | 'pod-refresher'
  | 'ledger'
  | 'trust-distributor'
  | 'bundle-endpoint'
  | 'federation'
  | 'notifier';

/** A line of a component's log. */
export type LogLine = Readonly<Record<string, unknown>>;

/** One component of Countersign as a process of its own. */
export interface ComponentProcess {
  readonly name: ComponentName | OptionalComponentName;
  readonly pid: number;
  readonly log: readonly LogLine[];
  /** `http://127.0.0.1:<port>` of /healthz, /readyz and /metrics. */
  readonly url: string;
  /** Resolves when /readyz answers 200; rejects with what it says after `timeoutMs`. */
  ready(timeoutMs?: number): Promise<void>;
  readyz(): Promise<{ readonly status: number; readonly text: string }>;
  metrics(): Promise<string>;
  signal(name: NodeJS.Signals): void;
  /** Resolves when it has ended, for whatever reason. */
  readonly exited: Promise<void>;
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
  kill(): Promise<void>;
}

export interface ComponentOptions {
  readonly name: ComponentName | OptionalComponentName;
  readonly kubeconfig: string;
  readonly args?: readonly string[];
  /** The program; default: {@link MAIN}, run by this Node. */
  readonly program?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** Folder for `<name>.log`: the lines of its log, also after it has ended. */
  readonly logs?: string;
}

/** Six at once, on two cores that others use as well. */
const START_MS = 120_000;
const READY_MS = 120_000;

/** Starts a component and waits until it serves HTTP; not until it is ready. */
export async function startComponent(options: ComponentOptions): Promise<ComponentProcess> {
  const [program = '', ...before] = options.program ?? [process.execPath, MAIN];
  const child = spawn(
    program,
    [
      ...before,
      options.name,
      '--kubeconfig',
      options.kubeconfig,
      '--listen',
      '127.0.0.1:0',
      // As in its pod, but that a replica that was killed is not waited for as long.
      '--lease-namespace',
      'countersign-system',
      '--lease-duration',
      '5s',
      ...(options.args ?? []),
    ],
    { stdio: ['ignore', 'ignore', 'pipe'], env: options.env ?? process.env },
  );
  const exited = once(child, 'exit').then(() => undefined);
  const log = gather(child);
  if (options.logs !== undefined) {
    child.stderr.pipe(createWriteStream(join(options.logs, `${options.name}.log`), { flags: 'a' }));
  }
  const serving = until(`${options.name} serves`, START_MS, () => {
    if (child.exitCode !== null)
      throw new Error(`${options.name} ended: ${JSON.stringify(log.slice(-5))}`);
    return Promise.resolve(portOf(log) !== undefined);
  });
  await serving.catch(async (error: unknown) => {
    await end(child, 'SIGKILL');
    throw error;
  });
  const url = `http://127.0.0.1:${portOf(log) ?? 0}`;
  const readyz = async (): Promise<{ status: number; text: string }> => {
    const response = await fetch(`${url}/readyz`);
    return { status: response.status, text: await response.text() };
  };
  return {
    name: options.name,
    pid: child.pid ?? 0,
    log,
    url,
    readyz,
    ready: async (timeoutMs = READY_MS) => {
      let said = '';
      try {
        await until(`${options.name} is ready`, timeoutMs, async () => {
          const { status, text } = await readyz();
          said = text;
          return status === 200;
        });
      } catch (cause) {
        throw new Error(`${options.name} is not ready: ${said}`, { cause });
      }
    },
    metrics: async () => (await fetch(`${url}/metrics`)).text(),
    signal: (name) => child.kill(name),
    exited,
    stop: () => end(child, 'SIGTERM'),
    kill: async () => {
      await end(child, 'SIGKILL');
    },
  };
}

function gather(child: ChildProcess): LogLine[] {
  const log: LogLine[] = [];
  if (child.stderr === null) return log;
  createInterface({ input: child.stderr }).on('line', (line) => {
    try {
      log.push(JSON.parse(line) as LogLine);
    } catch {
      log.push({ raw: line });
    }
  });
  return log;
}

function portOf(log: readonly LogLine[]): number | undefined {
  const started = log.find(({ msg }) => msg === 'started');
  return typeof started?.['port'] === 'number' ? started['port'] : undefined;
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const exited = once(child, 'exit');
  child.kill(signal);
  await exited;
  return child.exitCode;
}
