// SPDX-License-Identifier: Apache-2.0
import { messageOf, SignerError } from '../../errors.ts';
import type { LedgerStore, LogNaming } from '../../ledger/index.ts';
import type { OmittableField } from '../../vocabulary.ts';
import { createWakeup } from '../../kube/wait/wakeup.ts';
import type { Component, Controller } from '../../runtime/component/component.ts';
import type { PermissionNames } from '../../runtime/rbac/permission-names.ts';
import type { ApiAnswer, ApiRequest } from './api/answer.ts';
import { createFrontProxySource } from './api/front-proxy-source.ts';
import { createLedgerApi } from './api/index.ts';
import { appendFor, type AppendAnswer } from './append.ts';
import { createWhoIs } from './callers.ts';
import {
  compareWithPublished,
  publishCheckpoints,
  publishCosigned,
  type Published,
} from './checkpoints.ts';
import { logFile } from './files.ts';
import type { AppendGrants } from './grants.ts';
import { createLists, type Lists } from './lists.ts';
import { createMonitor, type MonitorInit } from './monitor/index.ts';
import type { Destination } from './publishing/destination.ts';
import { createPublisher, type Publisher } from './publishing/index.ts';
import { loadLogKey, type LogKey } from './log-key.ts';
import { permissions } from './permissions.ts';
import { createRetention } from './retention.ts';

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
  readonly append: (token: string, body: string) => Promise<AppendAnswer>;
  readonly file: (path: string) => Promise<Uint8Array | undefined>;
  readonly lists: Pick<Lists, 'listOf' | 'isComplete'>;
  readonly api: (request: ApiRequest) => Promise<ApiAnswer>;
  /** PEM of the CAs of the API server's certificate for that; nothing before it is known. */
  readonly clientCa: () => string | undefined;
}

/** How long a record may wait for a checkpoint that covers it. */
const CHECKPOINT_MILLISECONDS = 5_000;
const NOT_LEADING = 'this replica does not lead: it appends nothing';
/** One key: the leader alone appends and signs. */
const WHOLE = 'ledger';

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
  const { retentionSeconds: seconds } = init;
  const { signers } = monitor;
  const ofLeader = (): LogNaming | undefined => (leads() ? naming() : undefined);
  const retention = createRetention({ component, store, seconds, signers, naming: ofLeader });
  const publisher = publisherOf(init, leads);
  const writing = new Writing(init, () => {
    publisher.wake();
  });
  const parts = [publisher, monitor, retention, lists];
  component.shard.onChange(() => {
    wakeup.wake();
  });

  return {
    permissions: () => permissions(namesOf(init, lists)),
    // The Service leads to nobody who does not append.
    notReady: () => (key() === undefined ? [writing.fault ?? NOT_LEADING] : []),
    warnings: () => [...faultOf(writing), ...parts.flatMap((part) => part.warnings())],
    append: (token, body) => appendFor({ ...init, whoIs, naming }, token, body),
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

function faultOf({ fault }: { readonly fault: string | undefined }): readonly string[] {
  return fault === undefined ? [] : [`no checkpoint is signed: ${fault}`];
}

function publisherOf(init: LedgerInit, leads: () => boolean): Publisher {
  const { component, store, outside } = init;
  const { destinations, intervalSeconds } = outside ?? { destinations: [], intervalSeconds: 0 };
  const onCosigned = (head: { readonly log: number; readonly size: number }): Promise<void> =>
    publishCosigned(init, head);
  return createPublisher({ component, store, destinations, intervalSeconds, leads, onCosigned });
}

/** Whether this replica appends, and whether it signs. */
class Writing {
  readonly #init: LedgerInit;
  readonly #onPublished: () => void;
  #key: LogKey | undefined;
  #published: Published = new Map();
  /** Whether it led when the key was read. */
  #led = false;
  /** Why it does not append, or signs no checkpoint. */
  fault: string | undefined = NOT_LEADING;

  /** @param onPublished - called when checkpoints are in the ConfigMap */
  constructor(init: LedgerInit, onPublished: () => void) {
    this.#init = init;
    this.#onPublished = onPublished;
  }

  /** Nothing while another replica leads, unless the records are shared. */
  get key(): LogKey | undefined {
    return this.leads || this.#init.shared ? this.#key : undefined;
  }

  get leads(): boolean {
    return this.#init.component.shard.owns(WHOLE);
  }

  async pass(): Promise<void> {
    const { leads } = this;
    // Another one may have appended meanwhile: what is published is compared again.
    if (leads !== this.#led) this.#key = undefined;
    this.#led = leads;
    if (!leads && !this.#init.shared) {
      this.fault = NOT_LEADING;
      return;
    }
    try {
      await this.#work(leads);
      this.fault = undefined;
    } catch (error) {
      const fault = messageOf(error);
      if (error instanceof SignerError && error.code === 'LEDGER_INCONSISTENT')
        this.#key = undefined;
      if (this.fault !== fault) {
        this.#init.component.log.error({ error: fault }, 'no checkpoint is signed');
      }
      this.fault = fault;
    }
  }

  async #work(leads: boolean): Promise<void> {
    const isNew = this.#key === undefined;
    if (this.#key === undefined) {
      const { key, published } = await begun(this.#init);
      [this.#key, this.#published] = [key, published];
    }
    if (leads) {
      this.#published = await publishCheckpoints(this.#init, this.#key, this.#published);
      this.#onPublished();
      // Who leads has signed of these records: who follows looks whether they are what was signed.
    } else if (!isNew) await compareWithPublished(this.#init);
  }
}

/** The key, after the store was found to continue what was published. */
async function begun(
  init: LedgerInit,
): Promise<{ readonly key: LogKey; readonly published: Published }> {
  const { component, namespace, prefix } = init;
  const key = await loadLogKey(component, namespace);
  const published = await compareWithPublished(init);
  component.log.info({ prefix }, 'appends to the ledger');
  return { key, published };
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
