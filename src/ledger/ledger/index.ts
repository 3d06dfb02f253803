// SPDX-License-Identifier: Apache-2.0
import type { LedgerStore, LogNaming } from '../index.ts';
import type { OmittableField } from '#base/vocabulary.ts';
import { createWakeup } from '#kube/wait/wakeup.ts';
import type { Component, Controller } from '#component/contract.ts';
import type { PermissionNames } from '#component/rbac/permission-names.ts';
import type { ApiAnswer, ApiRequest } from './api/answer.ts';
import { createFrontProxySource } from './api/front-proxy-source.ts';
import { createLedgerApi } from './api/index.ts';
import { appendFor, type AppendAnswer, type ReadBatch } from './append.ts';
import { createTokenAuthenticator } from './token-review.ts';
import { publishCosigned } from './checkpoints.ts';
import { logFile } from './files.ts';
import type { AppendGrants } from './grants.ts';
import { createLists, type Lists } from './lists.ts';
import { createMonitor, type MonitorInit } from './monitor/index.ts';
import type { Destination } from './publishing/destination.ts';
import { createPublisher, type Publisher } from './publishing/index.ts';
import type { LogKey } from './log-key.ts';
import { permissions } from './permissions.ts';
import { createRemoval } from './removal.ts';
import { WriterState } from './writing.ts';
import * as messages from './messages.ts';

/** Dependencies of the component. */
export interface LedgerInit {
  readonly component: Component;
  readonly store: LedgerStore;
  readonly grants: AppendGrants;
  /** Whether several replicas share the records. Then each appends, and the leader signs. */
  readonly shared: boolean;
  /** Prefix of the logs' origins. */
  readonly prefix: string;
  /** Namespace of the components. */
  readonly namespace: string;
  /** Destinations of checkpoints outside the cluster, and the interval between checkpoints. */
  readonly outside?: {
    readonly destinations: readonly Destination[];
    readonly intervalSeconds: number;
  };
  /** Members of records to leave out. */
  readonly omitted: ReadonlySet<OmittableField>;
  /** Whether the API server serves the API and authenticates callers. */
  readonly aggregated: boolean;
  /** How long to keep records. Default: indefinitely. */
  readonly retentionSeconds?: number | undefined;
  readonly monitor: Pick<
    MonitorInit,
    'podCertificateRequests' | 'secrets' | 'unrecordedGraceSeconds'
  >;
}

/** A controller, and the handlers of its port. */
export interface Ledger extends Controller {
  readonly append: (token: string, read: ReadBatch, address?: string) => Promise<AppendAnswer>;
  readonly file: (path: string) => Promise<Uint8Array | undefined>;
  readonly lists: Pick<Lists, 'listOf' | 'isComplete'>;
  readonly api: (request: ApiRequest) => Promise<ApiAnswer>;
  /**
   * Returns the PEM of the CAs for the API server's client certificate, or undefined before they
   * are known. Absent if no client presents one.
   */
  readonly clientCa?: (() => string | undefined) | undefined;
}

/** Longest time between an append and a checkpoint that covers it. */
const CHECKPOINT_MILLISECONDS = 5_000;

/**
 * Returns the controller of the ledger, which appends records and signs checkpoints. One replica at
 * a time does so.
 */
export function createLedger(init: LedgerInit): Ledger {
  const { component, store } = init;
  const authenticate = createTokenAuthenticator(component);
  const front = init.aggregated ? createFrontProxySource(component) : undefined;
  const wakeup = createWakeup(component.delay);
  const key = (): LogKey | undefined => writing.key;
  const leads = (): boolean => writing.leads && key() !== undefined;
  const naming = (): LogNaming | undefined => {
    const { publicKey } = key() ?? {};
    if (publicKey === undefined) return undefined;
    return { prefix: init.prefix, publicKey, follows: !writing.leads };
  };
  const monitor = createMonitor({ ...init, ...init.monitor, leads });
  const lists = createLists(component);
  const ofLeader = (): LogNaming | undefined => (leads() ? naming() : undefined);
  const { retentionSeconds: seconds } = init;
  const { signers } = monitor;
  const removal = createRemoval({ component, store, seconds, signers, naming: ofLeader });
  const publisher = publisherOf(init, leads);
  const writing = new WriterState(init, () => {
    publisher.wake();
  });
  const parts = [publisher, monitor, removal, lists];
  component.shard.onChange(() => {
    wakeup.wake();
  });

  return {
    permissions: () => permissions({ ...namesOf(init, lists), aggregatedApi: init.aggregated }),
    // The Service routes only to replicas that append.
    notReady: () => (key() === undefined ? [writing.fault ?? messages.NOT_LEADING] : []),
    warnings: () => [...writing.warnings(), ...parts.flatMap((part) => part.warnings())],
    append: (token, read, address) =>
      appendFor({ ...init, authenticate, naming }, token, read, address),
    file: (path) => logFile(store, path),
    lists,
    api: createLedgerApi({
      component,
      store,
      front,
      naming,
      authenticate,
      namespace: init.namespace,
    }),
    clientCa: front && (() => front.current()?.clientCa),
    run: async (signal) => {
      const watching = Promise.all(
        [...parts, ...(front === undefined ? [] : [front])].map((each) => each.run(signal)),
      );
      while (!signal.aborted) {
        await writing.pass();
        await wakeup.wait(CHECKPOINT_MILLISECONDS, signal);
      }
      await watching;
      await writing.pass();
      await store.close();
    },
  };
}

function publisherOf(init: LedgerInit, leads: () => boolean): Publisher {
  const { component, store, outside } = init;
  const { destinations, intervalSeconds } = outside ?? { destinations: [], intervalSeconds: 0 };
  const onCosigned = (head: { readonly log: number; readonly size: number }): Promise<void> =>
    publishCosigned(init, head);
  return createPublisher({ component, store, destinations, intervalSeconds, leads, onCosigned });
}

function namesOf({ component, monitor }: LedgerInit, lists: Lists): PermissionNames {
  const { leases, namespacedSigners } = component;
  const monitoredSecrets = monitor.secrets.map(secretNamed);
  const secrets = lists.secrets();
  return { signerNames: [], bundles: [], secrets, leases, namespacedSigners, monitoredSecrets };
}

function secretNamed(key: string): { readonly namespace: string; readonly name: string } {
  const [namespace = '', name = ''] = key.split('/');
  return { namespace, name };
}
