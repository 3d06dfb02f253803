// SPDX-License-Identifier: Apache-2.0
import { FINGERPRINT_TEXT } from '#api/signer/cluster-signer-limits.ts';
import type { RequestInit } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { serverTime } from '#component/server-time.ts';
import type { Component } from '#component/contract.ts';
import type { Dice } from '../../../oracle/dice.ts';
import { recordedComponent } from '../../../support/component/recorded-component.ts';
import { silentLog } from './silent-log.ts';
import type { Kind, Objects, World } from './world.ts';

/** What may happen to one call: nothing, or it is lost on one of its two ways. */
export type Fate = 'well' | 'lost before' | 'lost after' | 'killed before' | 'killed after';

/** The process is gone in the middle of what it did. */
export class Killed extends Error {}

export interface ProcessInit {
  readonly world: World;
  readonly name: string;
  readonly dice: Dice;
  readonly propagationSeconds: number;
  /** Asked before each call. */
  readonly fate: (request: RequestInit) => Fate;
}

/**
 * One process of ours: what it has seen of the objects, its clock, and its way to the API server.
 */
export class Process {
  readonly component: Component;
  /** What its watches have told it. */
  readonly seen: { [K in Kind]: Objects[K] | undefined };
  /** Milliseconds that its clock is ahead. */
  offset = 0;
  /** Milliseconds: how late its watches are. */
  lag = 0;
  /** When its watches are done with what has happened so far. */
  heardAt = 0;
  /** Milliseconds that its machine slept, until an answer tells it the time. */
  slept = 0;
  /** When it looks again by itself. */
  lookAt: number;
  readonly #world: World;

  constructor(init: ProcessInit) {
    const { world } = init;
    this.#world = world;
    this.seen = { ...world.objects };
    this.lookAt = world.now;
    const call = (request: RequestInit): unknown => {
      const fate = init.fate(request);
      if (fate === 'killed before') throw new Killed();
      if (fate === 'lost before') throw noAnswer(request);
      const answer = world.answer(request);
      if (fate === 'killed after') throw new Killed();
      if (fate === 'lost after') throw noAnswer(request);
      this.slept = 0;
      return answer ?? {};
    };
    const { client, ...component } = recordedComponent({
      name: init.name,
      clock: () => world.now + this.offset,
      propagationSeconds: init.propagationSeconds,
      log: silentLog,
      random: (size) => Uint8Array.from({ length: size }, () => init.dice.roll(256)),
      events: {
        record: () => undefined,
        recordOnce: ({ reason, note }) => {
          world.told.add(`${reason} ${note.slice(0, FINGERPRINT_TEXT)}`);
          return Promise.resolve();
        },
        flush: () => Promise.resolve(),
      },
    });
    this.component = {
      ...component,
      client: {
        ...client,
        request: <T>(request: RequestInit) =>
          new Promise<T>((resolve) => {
            resolve(call(request) as T);
          }),
        // Reckoned by the monotonic clock: nobody sets that, but it stands still in sleep.
        clockOffset: () => this.offset + this.slept,
      },
    };
  }

  /** A new process in its place: it lists everything, and remembers nothing. */
  restart(downMs: number): void {
    Object.assign(this.seen, this.#world.objects);
    this.slept = 0;
    this.lookAt = this.#world.now + downMs;
  }

  /** Its machine stands still, and its timers with it; then it goes on as if nothing had been. */
  sleep(milliseconds: number): void {
    this.slept += milliseconds;
    this.heardAt = Math.max(this.heardAt, this.#world.now + milliseconds);
    this.lookAt = Math.max(this.lookAt, this.#world.now) + milliseconds;
  }

  /** How long its timer runs, which looks again each hour whatever it waits for. */
  pause(next: number | undefined): number {
    // It has just asked, or nothing changed: what an hourly look would find takes the simulation
    // long.
    return next === undefined ? Infinity : Math.max(1, next - serverTime(this.component));
  }

  /** Its watch, or the answer to a write of its own, tells of an object. */
  observe<K extends Kind>(kind: K, object: Objects[K] | undefined): void {
    const known = Number(this.seen[kind]?.metadata.resourceVersion ?? 0);
    if (object !== undefined && Number(object.metadata.resourceVersion) < known) return;
    this.seen[kind] = object;
    this.lookAt = Math.min(this.lookAt, this.#world.now);
  }
}

function noAnswer({ method, path }: RequestInit): KubeError {
  return new KubeError({ status: 0, what: `${method} ${path}`, cause: new Error('reset') });
}
