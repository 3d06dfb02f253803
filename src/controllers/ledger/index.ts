// SPDX-License-Identifier: Apache-2.0
import type { LedgerStore, LogNaming } from '../../ledger/index.ts';
import type { OmittableField } from '../../vocabulary.ts';
import { createWakeup } from '../../kube/wait/wakeup.ts';
import type { Component, Controller } from '../../runtime/component/component.ts';
import type { PermissionNames } from '../../runtime/rbac/permission-names.ts';
import type { ApiAnswer, ApiRequest } from './api/answer.ts';
import { createFrontProxySource } from './api/front-proxy-source.ts';
import { createLedgerApi } from './api/index.ts';
import { appendFor, type AppendAnswer, type ReadBatch } from './append.ts';
import { createWhoIs } from './callers.ts';
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
import { NOT_LEADING, Writing } from './writing.ts';

/** What the component is made of. */
export interface LedgerInit {
  readonly component: Component;
  readonly store: LedgerStore;
  readonly grants: AppendGrants;
  /** Whether several replicas have the same records: then each appends, and who leads signs. */
  readonly shared: boolean;
  /** What the origins of logs begin with. */
  readonly prefix: string;
  /** Of the components. */
  readonly namespace: string;
  /** Where checkpoints go outside the cluster, and how often. */
  readonly outside?: {
    readonly destinations: readonly Destination[];
    readonly intervalSeconds: number;
  };
  /** Members of records that are not kept. */
  readonly omitted: ReadonlySet<OmittableField>;
  /** How long records are kept; absent: for ever. */
  readonly retentionSeconds?: number | undefined;
  readonly monitor: Pick<MonitorInit, 'podCertificateRequests' | 'secrets' | 'patienceSeconds'>;
}

/** A controller, and what its port answers. */
export interface Ledger extends Controller {
  readonly append: (token: string, read: ReadBatch) => Promise<AppendAnswer>;
  readonly file: (path: string) => Promise<Uint8Array | undefined>;
  readonly lists: Pick<Lists, 'listOf' | 'isComplete'>;
  readonly api: (request: ApiRequest) => Promise<ApiAnswer>;
  /** PEM of the CAs of the API server's certificate for that; nothing before it is known. */
  readonly clientCa: () => string | undefined;
}

/** How long a record may wait for a checkpoint that covers it. */
const CHECKPOINT_MILLISECONDS = 5_000;

/** Keeps the ledger: appends what components send, and signs checkpoints. One replica at a time does. */
export function createLedger(init: LedgerInit): Ledger {
  const { component, store } = init;
  const whoIs = createWhoIs(component);
  const front = createFrontProxySource(component);
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
  const writing = new Writing(init, () => {
    publisher.wake();
  });
  const parts = [publisher, monitor, removal, lists];
  component.shard.onChange(() => {
    wakeup.wake();
  });

  return {
    permissions: () => permissions(namesOf(init, lists)),
    // The Service leads to nobody who does not append.
    notReady: () => (key() === undefined ? [writing.fault ?? NOT_LEADING] : []),
    warnings: () => [...writing.warnings(), ...parts.flatMap((part) => part.warnings())],
    append: (token, read) => appendFor({ ...init, whoIs, naming }, token, read),
    file: (path) => logFile(store, path),
    lists,
    api: createLedgerApi({ component, store, front, naming }),
    clientCa: () => front.current()?.clientCa,
    run: async (signal) => {
      const watching = Promise.all([...parts, front].map((each) => each.run(signal)));
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
