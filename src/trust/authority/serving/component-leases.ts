// SPDX-License-Identifier: Apache-2.0
import { LABEL_COMPONENT } from '#kube/resource/labels.ts';
import { SERVING_REPORT, readReport, type ServingReport } from '#api/serving/report.ts';
import { LEASES, type Lease } from '#kube/lease/lease.ts';
import { createPeers } from '#kube/lease/peers.ts';
import { createWakeup, type Wakeup } from '#kube/wait/wakeup.ts';
import { createReflector, type Reflector } from '#kube/watch/reflector.ts';
import type { Component } from '#component/contract.ts';
import { installationLabels } from '#component/leases.ts';
import * as messages from '../messages.ts';

/** One live replica of a component. */
export interface LiveReplica {
  /** Name of its Lease. */
  readonly name: string;
  /** Undefined if it reports nothing readable. */
  readonly report: ServingReport | undefined;
}

/** State of one component by its Leases. */
export interface ComponentState {
  /** True if it has a Lease, live or not. */
  readonly installed: boolean;
  /**
   * True if a replica is live, or was within the last seconds, since a single replica may be
   * replaced.
   */
  readonly alive: boolean;
  readonly replicas: readonly LiveReplica[];
}

/** The Leases of this installation's components. */
export interface ComponentLeases {
  /** Returns undefined if Leases are off, cannot be read, or are not listed yet. */
  readonly of: (component: string) => ComponentState | undefined;
  readonly run: (signal: AbortSignal) => Promise<void>;
  readonly warnings: () => readonly string[];
}

/** Typical duration of the rollout of a single replica. */
const REPLACEMENT_MS = 10_000;
/** Maximum interval between checks for expired Leases. */
const LEASE_CHECK_MS = 1_000;
/** Maximum time to trust the last state while the watch is broken. */
const BLIND_MS = 30_000;

const UNKNOWN: ComponentLeases = {
  of: () => undefined,
  run: () => Promise.resolve(),
  warnings: () => [],
};

/**
 * Watches the Leases of all components of this installation, by their labels. The policy
 * `countersign-leases` lets a component write only its own.
 *
 * @param names - the components
 * @param onChange - called soon after the state of a component or `subject()` has changed
 */
export function createComponentLeases(
  component: Component,
  names: readonly string[],
  subject: () => string,
  onChange: () => void,
): ComponentLeases {
  const { leases } = component;
  return leases === undefined
    ? UNKNOWN
    : new WatchedLeases({ component, names, namespace: leases.namespace, subject, onChange });
}

interface WatchedLeasesInit {
  readonly component: Component;
  readonly names: readonly string[];
  readonly namespace: string;
  readonly subject: () => string;
  readonly onChange: () => void;
}

class WatchedLeases implements ComponentLeases {
  readonly #init: WatchedLeasesInit;
  readonly #peers = createPeers();
  readonly #leases = new Map<string, Lease>();
  readonly #reports = new WeakMap<Lease, ServingReport>();
  /** Last time at which each component had a live replica. */
  readonly #lastAlive = new Map<string, number>();
  readonly #wakeup: Wakeup;
  readonly #watch: Reflector<Lease>;
  #listedAt: number | undefined;
  #blindSince: number | undefined;
  #shown = '';

  constructor(init: WatchedLeasesInit) {
    const { component, namespace } = init;
    this.#init = init;
    this.#wakeup = createWakeup(component.delay);
    this.#watch = createReflector<Lease>({
      ...component,
      path: LEASES.collection(namespace),
      labelSelector: Object.entries(installationLabels(component.secretNamespace))
        .map(([key, value]) => `${key}=${value}`)
        .join(),
      onEvent: (_key, lease, before) => {
        this.#observe(lease, before);
      },
    });
  }

  readonly of = (name: string): ComponentState | undefined => {
    const asOf = this.#blindSince ?? this.#now();
    if (this.#listedAt === undefined || this.#now() - asOf > BLIND_MS) return undefined;
    const replicas = this.#replicas(name, asOf);
    const last = this.#lastAlive.get(name) ?? this.#listedAt;
    return {
      installed: this.#lastAlive.has(name) || this.#leasesOf(name).length > 0,
      alive: replicas.length > 0 || asOf - last < REPLACEMENT_MS,
      replicas,
    };
  };

  readonly warnings = (): readonly string[] => {
    const { failure } = this.#watch;
    if (failure === undefined) return [];
    return [messages.leasesUnknown(this.#init.namespace, failure)];
  };

  readonly run = async (signal: AbortSignal): Promise<void> => {
    const watching = this.#watch.run(signal);
    while (!signal.aborted) {
      await this.#wakeup.wait(LEASE_CHECK_MS, signal);
      this.#reportChange();
    }
    await watching;
  };

  #now(): number {
    return this.#init.component.monotonic();
  }

  #observe(lease: Lease | undefined, before: Lease | undefined): void {
    const name = (lease ?? before)?.metadata.name ?? '';
    this.#peers.observe(name, lease, this.#now());
    if (lease === undefined) this.#leases.delete(name);
    else this.#leases.set(name, lease);
    this.#wakeup.wake();
  }

  /** Calls `onChange` if a state differs from the reported one. */
  #reportChange(): void {
    const now = this.#now();
    if (this.#watch.failure !== undefined) this.#blindSince ??= now;
    else if (this.#watch.synced) this.#recordAlive(now);
    const states = this.#init.names.map(this.of);
    const shown = JSON.stringify([this.#init.subject(), states]);
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.#init.onChange();
  }

  #recordAlive(now: number): void {
    // A Lease may have been renewed while the watch was broken, so it counts for one more duration.
    if (this.#blindSince !== undefined) this.#peers.extend(this.#blindSince, now);
    this.#blindSince = undefined;
    this.#listedAt ??= now;
    for (const each of this.#init.names) {
      if (this.#replicas(each, now).length > 0) this.#lastAlive.set(each, now);
    }
  }

  #leasesOf(name: string): readonly Lease[] {
    return [...this.#leases.values()].filter(
      ({ metadata }) => metadata.labels?.[LABEL_COMPONENT] === name,
    );
  }

  #replicas(name: string, now: number): readonly LiveReplica[] {
    const live = new Set(this.#peers.live(now));
    return this.#leasesOf(name)
      .filter((each) => live.has(each.metadata.name))
      .map((each) => ({ name: each.metadata.name, report: this.#reportOf(each) }))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  #reportOf(lease: Lease): ServingReport | undefined {
    const known = this.#reports.get(lease);
    const text = lease.metadata.annotations?.[SERVING_REPORT];
    if (known !== undefined || text === undefined) return known;
    const report = readReport(text);
    if (report !== undefined) this.#reports.set(lease, report);
    return report;
  }
}
