// SPDX-License-Identifier: Apache-2.0
import { SINGLETON, type Countersign } from '../../api/operator/countersign.ts';
import { messageOf } from '../../errors.ts';
import type { StoredObject } from '../../kube/resource/object.ts';
import { createReflector, type Reflector } from '../../kube/watch/reflector.ts';
import { runLoop, type ReconcileResult } from '../../kube/workqueue/run-loop.ts';
import { runPass, type PassReport } from '../../reconciling/pass.ts';
import { createManagedWatches, type ManagedWatches } from '../../reconciling/watches.ts';
import { createWriter } from '../../reconciling/writer.ts';
import { requeueAt, serverTime } from '../../runtime/component/server-time.ts';
import type { Component, Controller } from '../../runtime/component/component.ts';
import { COUNTERSIGN_RESOURCE, FIELD_MANAGER, recordChanges, writeStatus } from './act.ts';
import { decideStatus, type InstallationSnapshot } from './decide.ts';
import {
  isRefusal,
  type DesiredInstallation,
  type InstallationOf,
  type Refusal,
} from './desired.ts';
import { permissions } from './permissions.ts';
import { createRestraint, type Restraint } from './restraint.ts';
import { createRightsGate, type RightsGate } from './rights.ts';
import { refuseServer } from './server-version.ts';

/** What the operator needs besides a component. */
export interface OperatorInit {
  readonly component: Component;
  readonly installationOf: InstallationOf;
  /** Of this process. */
  readonly version: string;
}

/** Value of the label on every object of the installation. */
const LABEL = 'countersign';

/** Everything is compared anew so often, whatever the watches say. */
const RESYNC_MS = 5 * 60_000;

/** A permission that was granted is noticed so soon. */
const REFUSED_AGAIN_MS = 10_000;

type Stored = Countersign & StoredObject;

/** Installs what the Countersign `cluster` says, and keeps it that way. */
export function createOperator(init: OperatorInit): Controller {
  const { component } = init;
  const wake = (): void => component.queue.add(SINGLETON);
  const operator = new Operator(init, wake);
  component.shard.onChange(wake);
  return {
    permissions: () => permissions(component),
    notReady: () => {
      const { synced, failure } = operator.countersigns;
      return synced && failure === undefined
        ? []
        : [`Countersigns: ${failure ?? 'not listed yet'}`];
    },
    warnings: () => operator.watches.failures(),
    run: async (signal) => {
      const watching = operator.countersigns.run(signal);
      const handle = (): Promise<ReconcileResult> => operator.reconcile(signal);
      const onError = (_key: string, error: unknown): void => {
        component.log.warn({ error: messageOf(error) }, 'the installation is retried');
      };
      await runLoop({ ...component, workers: 1, handle, onError }, signal);
      await Promise.all([watching, operator.watches.stop()]);
    },
  };
}

class Operator {
  readonly countersigns: Reflector<Stored>;
  readonly watches: ManagedWatches;
  readonly #init: OperatorInit;
  readonly #rights: RightsGate;
  readonly #restraint: Restraint;
  readonly #accepted = new Set<string>();

  constructor(init: OperatorInit, wake: () => void) {
    const { component } = init;
    this.#init = init;
    this.#rights = createRightsGate(component);
    this.#restraint = createRestraint(component.clock);
    this.watches = createManagedWatches({ ...component, label: LABEL, onChange: wake });
    this.countersigns = createReflector<Stored>({
      ...component,
      path: COUNTERSIGN_RESOURCE.collection(),
      // Other names are refused by the schema, and ignored where it is an old one.
      fieldSelector: `metadata.name=${SINGLETON}`,
      onEvent: wake,
    });
  }

  async reconcile(signal: AbortSignal): Promise<ReconcileResult> {
    const { component } = this.#init;
    if (!component.shard.owns(SINGLETON) || !this.countersigns.synced) return undefined;
    const object = this.countersigns.get(SINGLETON);
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) {
      this.watches.follow([]);
      return undefined;
    }
    const outcome = await this.#outcomeFor(object, signal);
    if (signal.aborted) return undefined;
    const { version: operatorVersion } = this.#init;
    const now = serverTime(component);
    await writeStatus(component, object, decideStatus({ object, outcome, operatorVersion, now }));
    return this.#next(object, outcome);
  }

  async #outcomeFor(
    object: Countersign,
    signal: AbortSignal,
  ): Promise<InstallationSnapshot['outcome']> {
    const desired = this.#init.installationOf(object.spec);
    if (isRefusal(desired)) return desired;
    const refusal = await this.#preflight(desired);
    if (refusal !== undefined) return refusal;
    return { desired, report: await this.#pass(object, desired, signal) };
  }

  /** What only the API server can say. */
  async #preflight({ rules }: DesiredInstallation): Promise<Refusal | undefined> {
    const { client } = this.#init.component;
    return (await refuseServer(client)) ?? (await this.#rights.refuse(rules));
  }

  async #pass(
    object: Countersign,
    { objects }: DesiredInstallation,
    signal: AbortSignal,
  ): Promise<PassReport> {
    const { component } = this.#init;
    this.watches.follow(objects);
    const { apiVersion, kind, metadata } = object;
    const owner = { apiVersion, kind, name: metadata.name, uid: metadata.uid, label: LABEL };
    const writer = createWriter(component.client, FIELD_MANAGER);
    const { watches } = this;
    const report = await runPass({
      ...{ objects, owner, writer, watches, signal },
      ...{ accepted: this.#accepted, heldUntil: this.#restraint.until },
      installing: object.status?.version !== object.spec.version,
    });
    recordChanges(component, object, report.changes);
    if (report.forbidden) this.#rights.forget();
    const restored = report.changes.filter(
      ({ kind: change }) => change === 'restored' || change === 'corrected',
    );
    for (const title of new Set(restored.map((each) => each.object)))
      this.#restraint.restored(title);
    return report;
  }

  #next(object: Countersign, outcome: InstallationSnapshot['outcome']): ReconcileResult {
    const { component } = this.#init;
    if ('reason' in outcome) {
      const { apiVersion, kind, metadata } = object;
      const regarding = { apiVersion, kind, name: metadata.name, uid: metadata.uid };
      const { reason, message: note } = outcome;
      component.log.warn({ reason, error: note }, 'the Countersign is refused, nothing is changed');
      component.events.record({ type: 'Warning', reason, action: 'Preflight', note, regarding });
      return { backoffUntil: component.clock() + REFUSED_AGAIN_MS };
    }
    const { failed, heldUntil } = outcome.report;
    if (failed) return 'backoff';
    if (heldUntil !== undefined) return { requeueAt: heldUntil };
    return requeueAt(component, serverTime(component) + RESYNC_MS);
  }
}
