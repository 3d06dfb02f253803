// SPDX-License-Identifier: Apache-2.0
import { Elector } from '#kube/lease/elector.ts';
import {
  heldSpec,
  type Lease,
  type LeaseSpec,
  type LeaseTimes,
  releasedSpec,
} from '#kube/lease/lease.ts';

/** What may go wrong, all of it decided by `random`. */
export interface WorldInit {
  readonly times: LeaseTimes;
  /** How fast the clock of each candidate runs; 1 is right. */
  readonly rates: readonly number[];
  /** From 0 to 1, the same sequence every time. */
  readonly random: () => number;
  /**
   * Until then requests are lost and late, watches lag, and processes are stopped; milliseconds.
   */
  readonly troubleUntil: number;
  readonly until: number;
}

interface Candidate {
  readonly election: Elector;
  readonly now: () => number;
  /** Nothing of it runs before. */
  stoppedUntil: number;
  busy: boolean;
}

/** What a run came to. */
export interface WorldEnd {
  /** Most that held the Lease at one moment. */
  readonly most: number;
  /** Who holds it in the end. */
  readonly holders: readonly number[];
  /** How often another one came to hold it. */
  readonly changes: number;
}

const MAX_LATENCY_MS = 4_000;
const MAX_LAG_MS = 20_000;
const MAX_STOP_MS = 40_000;

/**
 * One Lease, one API server and candidates whose clocks run at rates of their own, on a clock that
 * is simulated: requests and answers are lost or late, watches lag, processes are stopped and go
 * on.
 */
export function runWorld(init: WorldInit): WorldEnd {
  const events: { at: number; run: () => void }[] = [];
  let time = 0;
  let version = 1;
  let stored: Lease | undefined;
  const troubled = (chance: number): boolean => time < init.troubleUntil && init.random() < chance;
  const late = (most: number): number => (troubled(0.3) ? init.random() * most : 5);
  const at = (moment: number, run: () => void): void => {
    events.push({ at: moment, run });
  };
  const candidates = init.rates.map((rate, index): Candidate => {
    const offset = init.random() * 1e9;
    return {
      election: new Elector({
        identity: `candidate-${index}`,
        times: init.times,
        exclusive: false,
        random: () => new Uint8Array([Math.floor(init.random() * 256)]),
      }),
      now: () => offset + time * rate,
      stoppedUntil: 0,
      busy: false,
    };
  });

  /** As soon as the process runs. */
  function when(one: Candidate, moment: number, run: () => void): void {
    at(moment, () => {
      if (time < one.stoppedUntil) when(one, one.stoppedUntil, run);
      else run();
    });
  }

  function store(spec: LeaseSpec | undefined): Lease | undefined {
    version += 1;
    const metadata = { name: 'l', namespace: 'n', uid: 'u', resourceVersion: String(version) };
    stored = spec && { metadata, spec };
    const told = stored;
    for (const one of candidates) {
      when(one, time + late(MAX_LAG_MS), () => {
        one.election.observe(told, one.now());
        wake(one);
      });
    }
    return stored;
  }

  /** Sends a request; `done` gets the answer, or undefined where none came in time. */
  function call<T>(one: Candidate, work: () => T, done: (answer: T | undefined) => void): void {
    one.busy = true;
    let open = true;
    const settle = (answer: T | undefined): void => {
      if (!open) return;
      open = false;
      one.busy = false;
      done(answer);
      wake(one);
    };
    // The server's own time: a late request lands however long ago its sender gave up on it.
    if (!troubled(0.1)) {
      at(time + late(MAX_LATENCY_MS), () => {
        const answer = work();
        if (!troubled(0.1)) when(one, time + late(MAX_LATENCY_MS), () => settle(answer));
      });
    }
    when(one, time + init.times.periodMs, () => settle(undefined));
  }

  function attempt(one: Candidate, from: Lease | undefined): void {
    const sentAt = one.now();
    const identity = `candidate-${candidates.indexOf(one)}`;
    one.election.onAttempt(sentAt);
    const spec = heldSpec(
      from?.spec,
      { identity, durationSeconds: init.times.durationSeconds },
      time,
    );
    call(
      one,
      () =>
        stored?.metadata.resourceVersion === from?.metadata.resourceVersion
          ? store(spec)
          : 'conflict',
      (answer) => {
        if (answer === 'conflict') read(one);
        else if (answer !== undefined) one.election.onRenewed(answer, sentAt, one.now());
      },
    );
  }

  function read(one: Candidate): void {
    one.election.onAttempt(one.now());
    call(
      one,
      () => ({ lease: stored }),
      (answer) => {
        if (answer !== undefined) one.election.observe(answer.lease, one.now());
      },
    );
  }

  function wake(one: Candidate): void {
    if (one.busy) return;
    if (troubled(0.02)) one.stoppedUntil = time + init.random() * MAX_STOP_MS;
    const step = one.election.next(one.now());
    if (step.kind === 'read') read(one);
    else if (step.kind === 'create') attempt(one, undefined);
    else if (step.kind === 'update' && troubled(0.02)) release(one);
    else if (step.kind === 'update') attempt(one, step.from);
    else when(one, time + Math.max(1, Math.ceil(step.ms)), () => wake(one));
  }

  /** Gives it back, and stands again. */
  function release(one: Candidate): void {
    const from = one.election.resign();
    one.election.onAttempt(one.now());
    if (from === undefined) {
      wake(one);
      return;
    }
    const given = releasedSpec(from.spec ?? {}, time);
    call(
      one,
      () => (stored?.metadata.resourceVersion === from.metadata.resourceVersion ? store(given) : 0),
      () => undefined,
    );
  }

  const holding = (): number[] =>
    candidates.flatMap((one, index) => (one.election.holds(one.now()) ? [index] : []));
  for (const one of candidates) when(one, init.random() * 1_000, () => wake(one));
  let [most, changes, last] = [0, 0, -1];
  while (events.length > 0) {
    events.sort((a, b) => a.at - b.at);
    const next = events.shift();
    if (next === undefined || next.at > init.until) break;
    time = next.at;
    next.run();
    // Between events nobody comes to hold it: time alone only takes away.
    const holders = holding();
    most = Math.max(most, holders.length);
    if (holders[0] !== undefined && holders[0] !== last)
      [last, changes] = [holders[0], changes + 1];
  }
  return { most, holders: holding(), changes };
}
