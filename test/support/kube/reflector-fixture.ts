// SPDX-License-Identifier: Apache-2.0
import type { Client } from '#kube/client/client.ts';
import { createReflector, type Reflector, type ReflectorInit } from '#kube/watch/reflector.ts';
import { until } from '../../cluster/until.ts';
import { fakeTime, type FakeTime } from './fake-time.ts';
import { recordedLog } from '../component/recorded-log.ts';
import type { Call, ScriptedServer } from './scripted-server.ts';
import { startWire } from './server-and-clients.ts';

export interface Thing {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: { name: string; uid: string; resourceVersion: string };
  readonly done?: boolean;
}

/** A reflector of `/things` at work, and what it told, counted and logged. */
export interface Running {
  readonly reflector: Reflector<Thing>;
  /** `+name` for what is there, `-name` for what is gone. */
  readonly told: string[];
  readonly restarts: string[];
  /** Watches that are over for good. */
  readonly over: string[];
  /** Unix seconds of every line. */
  readonly heard: number[];
  readonly log: ReturnType<typeof recordedLog>;
  readonly ended: Promise<void>;
  readonly stop: () => void;
}

/** Reflectors against a scripted server, under a clock that stands still. */
export interface Stage {
  readonly server: ScriptedServer;
  readonly client: Client;
  readonly time: FakeTime;
  /**
   * Reads of the collection's version alone, as they came: answered with the last of what
   * `hasVersion` was told.
   */
  readonly comparisons: readonly Call[];
  /** Undefined: the server is unavailable. */
  hasVersion(version: string | undefined): void;
  start(more?: Partial<ReflectorInit<Thing>>): Running;
  /** A reflector whose watch is established at version 10, and older than a second. */
  established(
    objects: readonly Thing[],
    more?: Partial<ReflectorInit<Thing>>,
  ): Promise<{ run: Running; call: Call }>;
  /** Waits until this very backoff is waited for, and lets it pass. */
  backoff(wait: number): Promise<void>;
  stop(): Promise<void>;
}

export const PATIENCE_MS = 30_000;

export async function startStage(): Promise<Stage> {
  const wire = await startWire();
  const time = fakeTime();
  const client = wire.connect({ clock: time.clock });
  const running: Running[] = [];
  const comparisons: Call[] = [];
  let version: string | undefined = '1000';
  wire.server.aside((call) => {
    if (call.query.get('limit') !== '1') return false;
    comparisons.push(call);
    if (version === undefined) call.answer(503, 'no endpoints');
    else call.answer(200, { kind: 'ThingList', metadata: { resourceVersion: version } });
    return true;
  });

  function start(more: Partial<ReflectorInit<Thing>> = {}): Running {
    const made = run({ ...time, client, ...more });
    running.push(made);
    return made;
  }

  return {
    server: wire.server,
    client,
    time,
    comparisons,
    hasVersion: (now) => {
      version = now;
    },
    start,
    established: async (objects, more) => {
      const run = start(more);
      const call = await wire.server.next('the first watch');
      call.lines(...objects.map(added), bookmark(10, true));
      await synced(run);
      await time.advance(2_000);
      return { run, call };
    },
    backoff: async (wait) => {
      await until(`a wait of ${wait} ms`, PATIENCE_MS, () => time.waits().includes(wait));
      await time.advance(wait);
    },
    stop: async () => {
      for (const each of running) each.stop();
      await Promise.all(running.map(({ ended }) => ended));
      await wire.stop();
    },
  };
}

function run(
  init: Pick<ReflectorInit<Thing>, 'clock' | 'delay' | 'client'> & Partial<ReflectorInit<Thing>>,
): Running {
  const [told, restarts, over]: [string[], string[], string[]] = [[], [], []];
  const heard: number[] = [];
  const log = recordedLog();
  const reflector = createReflector<Thing>({
    log,
    path: '/things',
    random: (size) => new Uint8Array(size),
    metrics: {
      watchRestart: ({ resource }, reason) => restarts.push(`${resource} ${reason}`),
      watchEvent: (_watched, seconds) => heard.push(seconds),
      watchStopped: ({ resource, selector }) => over.push(`${resource} ${selector}`.trim()),
    },
    onEvent: (key, now) => told.push(`${now === undefined ? '-' : '+'}${key}`),
    ...init,
  });
  const abort = new AbortController();
  const ended = reflector.run(abort.signal);
  const stop = (): void => {
    abort.abort(new Error('stopped'));
  };
  return { reflector, told, restarts, over, heard, log, ended, stop };
}

export async function synced({ reflector }: Running): Promise<void> {
  await reflector.whenSynced(AbortSignal.timeout(PATIENCE_MS));
}

export function thing(
  name: string,
  version: number,
  more: { uid?: string; done?: boolean } = {},
): Thing {
  const { uid = `${name}-1`, ...rest } = more;
  return { metadata: { name, uid, resourceVersion: String(version) }, ...rest };
}

/** Lines of a watch. */
export const added = (object: Thing): object => ({ type: 'ADDED', object });

export const bookmark = (version: number, initialEnd = false): object => ({
  type: 'BOOKMARK',
  object: {
    metadata: {
      resourceVersion: String(version),
      ...(initialEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}),
    },
  },
});

export const EXPIRED = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' };
