// SPDX-License-Identifier: Apache-2.0
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '#kube/client/client.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { until } from '../cluster/until.ts';
import { createLoad } from '../faults/lab/load.ts';
import { NAMESPACE } from '../faults/lab/wanted.ts';
import { connect } from '../ca/rotation/cluster/stand.ts';
import { listen, type Story } from '../ca/rotation/cluster/story.ts';
import { createTeam } from '../support/cluster/pods.ts';
import { allowRequesters } from '../support/cluster/requests/csr.ts';

/** What became of the requests of a while. */
export interface Tally {
  readonly requests: number;
  readonly lost: readonly string[];
  readonly refused: readonly string[];
  readonly longestWaitMs: number;
  /** Who waited longest: `steady-12 (csr), created 3.1 s after the beginning`. */
  readonly slowest: string;
}

const ANSWERED_MS = 120_000;
/**
 * No part of an upgrade explains a longer wait: the duration of a Lease, and the time after which
 * another takes over.
 */
const LONG_MS = 20_000;

/** Requests of people and of kubelets take turns. */
function kindOf(name: string): 'csr' | 'pcr' {
  return Number(name.slice(name.lastIndexOf('-') + 1)) % 2 === 0 ? 'csr' : 'pcr';
}

/** Of people and of kubelets by turns, at a steady rate, whatever becomes of them. */
export class SteadyLoad {
  readonly #admin: Client;
  readonly #requester: Client;
  readonly #story: Story;
  /** Name → when the API server had it: Unix milliseconds. */
  readonly #created = new Map<string, number>();
  readonly #stopped = new AbortController();
  #running: Promise<unknown> = Promise.resolve();

  private constructor(admin: Client, requester: Client, story: Story) {
    this.#admin = admin;
    this.#requester = requester;
    this.#story = story;
  }

  static async start(cluster: Cluster, perSecond: number): Promise<SteadyLoad> {
    await allowRequesters(cluster);
    await createTeam(cluster, NAMESPACE, ['web']);
    const admin = await connect(cluster);
    const requester = await connect(cluster, { user: 'jane', groups: ['dev'] });
    const load = new SteadyLoad(admin, requester, await listen(admin));
    load.#running = load.#run(perSecond);
    return load;
  }

  /** Of the requests from that moment on, once all are answered or no answer comes. */
  async tally(from: number): Promise<Tally> {
    const wanted = [...this.#created].filter(([, at]) => at >= from);
    const waits = (): Map<string, number> =>
      new Map(this.#story.deliveries.map(({ name, heardAt }) => [name, heardAt]));
    await until('every request has its certificate', ANSWERED_MS, () => {
      const heard = waits();
      return wanted.every(([name]) => heard.has(name));
    }).catch(() => undefined);
    const heard = waits();
    const waited = wanted
      .map(([name, at]) => ({ name, at, ms: (heard.get(name) ?? at) - at }))
      .sort((a, b) => b.ms - a.ms);
    const [longest = { name: 'nobody', at: from, ms: 0 }] = waited;
    return {
      requests: wanted.length,
      lost: wanted.filter(([name]) => !heard.has(name)).map(([name]) => name),
      refused: this.#story.refusals,
      longestWaitMs: Math.max(0, longest.ms),
      slowest: `${longest.name} (${kindOf(longest.name)}), created ${(longest.at - from) / 1000} s after the beginning; ${waited.filter(({ ms }) => ms > LONG_MS).length} waited more than ${LONG_MS / 1000} s`,
    };
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
    await this.#story.stop();
    await Promise.all([this.#admin.close(), this.#requester.close()]);
  }

  async #run(perSecond: number): Promise<void> {
    const { signal } = this.#stopped;
    const load = createLoad(this.#requester, this.#admin);
    const under: Promise<void>[] = [];
    for (let number = 0; !signal.aborted; number += 1) {
      const name = `steady-${number}`;
      under.push(
        load.create(kindOf(name), name).then(
          () => void this.#created.set(name, Date.now()),
          () => undefined,
        ),
      );
      await sleep(1000 / perSecond, undefined, { signal }).catch(() => undefined);
    }
    load.stop();
    await Promise.all(under);
  }
}
