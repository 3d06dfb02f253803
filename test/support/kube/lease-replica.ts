// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach } from 'node:test';
import type { LeasedShardFilter } from '#kube/lease/shard-filter.ts';
import type { LeaderElectionInit } from '#kube/lease/leader-election.ts';
import { recordedLog } from '../component/recorded-log.ts';
import { fakeTime, type FakeTime } from './fake-time.ts';
import { leaseApi, type LeaseApi } from './lease-api.ts';

/** One replica of a component that shares its work by Leases. */
export interface Replica<F extends LeasedShardFilter> {
  readonly filter: F;
  readonly log: ReturnType<typeof recordedLog>;
  /** What the metrics received, in order: leads, [members, part], and 'failed' for a Lease. */
  readonly counted: readonly unknown[];
  readonly stop: () => Promise<void>;
  /** As SIGSTOP: its clock runs on while it does nothing. Never resumed, it is as SIGKILL. */
  readonly pause: (paused: boolean) => void;
  /** Short of CPU: each of its delays ends so many milliseconds late. */
  readonly starve: (lateMs: number) => void;
}

/** What each kind of shard filter takes from the replica that it is part of. */
export type ReplicaPorts = Pick<
  LeaderElectionInit,
  'client' | 'clock' | 'monotonic' | 'delay' | 'random' | 'log' | 'metrics' | 'namespace' | 'labels'
>;

/** A pause withholds the end of every delay; starving makes it late. */
interface Pausable extends Pick<Replica<LeasedShardFilter>, 'pause' | 'starve'> {
  readonly delay: FakeTime['delay'];
}

/** One API server, one clock, and the replicas of a test. */
export interface LeaseStage {
  readonly api: LeaseApi;
  readonly time: FakeTime;
  /** Starts a replica that the end of the test stops. */
  readonly start: <F extends LeasedShardFilter>(
    user: string,
    create: (ports: ReplicaPorts) => F,
  ) => Replica<F>;
}

/** @returns the stage of the current test: each test of the file has a new one */
export function leaseStagePerTest(): LeaseStage {
  let stage: Pick<LeaseStage, 'api' | 'time'>;
  let replicas: Replica<LeasedShardFilter>[];
  beforeEach(() => {
    stage = { api: leaseApi(), time: fakeTime() };
    replicas = [];
  });
  afterEach(() => Promise.all(replicas.map(({ stop }) => stop())));
  return {
    get api() {
      return stage.api;
    },
    get time() {
      return stage.time;
    },
    start: (user, create) => {
      const replica = startReplica(stage, user, create);
      replicas.push(replica);
      return replica;
    },
  };
}

/**
 * Runs the shard filter that `create` makes as `user` of the API server.
 *
 * @returns the replica, already running: the caller stops it
 */
function startReplica<F extends LeasedShardFilter>(
  { api, time }: { readonly api: LeaseApi; readonly time: FakeTime },
  user: string,
  create: (ports: ReplicaPorts) => F,
): Replica<F> {
  const log = recordedLog();
  const counted: unknown[] = [];
  const { delay, pause: hold, starve } = pausable(time);
  const filter = create({
    client: api.client(user),
    clock: time.clock,
    monotonic: time.clock,
    delay,
    random: (size) => new Uint8Array(size),
    log,
    metrics: recordedMetrics(counted),
    namespace: 'ns',
    labels: { app: 'x' },
  });
  const abort = new AbortController();
  const running = filter.run(abort.signal);
  const pause = (paused: boolean): void => {
    api.deafen(user, paused);
    hold(paused);
  };
  const stop = async (): Promise<void> => {
    pause(false);
    abort.abort(new Error('stopped'));
    await time.advance(0);
    await running;
  };
  return { filter, log, counted, pause, starve, stop };
}

function pausable(time: FakeTime): Pausable {
  const held: (() => void)[] = [];
  let paused = false;
  let late = 0;
  return {
    delay: async (ms, signal) => {
      await time.delay(ms, signal);
      if (late > 0) await time.delay(late, signal);
      if (paused) await new Promise<void>((resolve) => held.push(resolve));
    },
    pause: (now) => {
      paused = now;
      for (const go of held.splice(0)) go();
    },
    starve: (lateMs) => {
      late = lateMs;
    },
  };
}

function recordedMetrics(counted: unknown[]): LeaderElectionInit['metrics'] {
  return {
    leads: (leads) => counted.push(leads),
    shares: (members, part) => counted.push([members, part]),
    leaseFailed: () => counted.push('failed'),
    watchRestart: () => undefined,
    watchEvent: () => undefined,
    watchStopped: () => undefined,
  };
}
