// SPDX-License-Identifier: Apache-2.0
import { SINGLETON, type InstallationObject } from '#api/operator/installation.ts';
import { messageOf } from '#base/errors.ts';
import type { PermissionRule } from '#kube/resource/permissions.ts';
import type { StoredObject } from '#kube/resource/object.ts';
import { createReflector, type Reflector } from '#kube/watch/reflector.ts';
import { runLoop, type ReconcileResult } from '#kube/workqueue/run-loop.ts';
import { reconcileAll, type PassReport } from '#kube/apply/reconcile-all.ts';
import { createManagedWatches, type ManagedWatches } from '#kube/apply/watches.ts';
import { titleOf } from '#kube/apply/objects/managed-object.ts';
import { createWriter } from '#kube/apply/writer.ts';
import { requeueAt, serverTime } from '#component/server-time.ts';
import type { Component, Controller } from '#component/contract.ts';
import { recordChanges, warnOfUnexpected, writeStatus } from './act.ts';
import { decideStatus, isUnderWay, type InstallationSnapshot } from './decide.ts';
import {
  isRefusal,
  type DesiredInstallation,
  type InstalledKind,
  type Refusal,
} from './desired.ts';
import { createFormerGrants, type FormerGrants } from './former-grants.ts';
import { createRestoreBackoff, type RestoreBackoff } from './restore-backoff.ts';
import { ASK_AGAIN_MS, createRightsGate, type RightsGate } from './rights.ts';
import { refuseServer } from './server-version.ts';

/** Dependencies of an operator besides its component. */
export interface InstallerInit<T extends InstallationObject> {
  readonly component: Component;
  readonly installs: InstalledKind;
  /**
   * Returns the permissions of its own work. Those on installed objects follow from the singleton.
   */
  readonly permissions: () => readonly PermissionRule[];
  /**
   * Returns the objects of a spec, or a refusal.
   *
   * @throws KubeError
   */
  readonly desiredOf: (
    object: T,
  ) => DesiredInstallation | Refusal | Promise<DesiredInstallation | Refusal>;
  /** Version of this process. */
  readonly version: string;
}

/** Interval of a full comparison, in addition to the watches. */
const RESYNC_MS = 5 * 60_000;

/** Installs what the singleton of a kind describes, and restores it after changes. */
export function createInstaller<T extends InstallationObject>(init: InstallerInit<T>): Controller {
  const { component, permissions, installs } = init;
  const wake = (): void => component.queue.add(SINGLETON);
  const operator = new Installer(init, wake);
  component.shard.onChange(wake);
  return {
    permissions,
    notReady: () => {
      const { synced, failure } = operator.objects;
      return synced && failure === undefined
        ? []
        : [`${installs.kind}s: ${failure ?? 'not listed yet'}`];
    },
    warnings: () => operator.watches.failures(),
    run: async (signal) => {
      const watching = operator.objects.run(signal);
      // The object may arrive before the end of the list, and its event is then too early.
      const listed = operator.objects.whenSynced(signal).then(wake, () => undefined);
      const handle = (): Promise<ReconcileResult> => operator.reconcile(signal);
      const onError = (_key: string, error: unknown): void => {
        component.log.warn({ error: messageOf(error) }, 'the installation is retried');
      };
      await runLoop({ ...component, workers: 1, handle, onError }, signal);
      await Promise.all([watching, listed, operator.watches.stop()]);
    },
  };
}

class Installer<T extends InstallationObject> {
  readonly objects: Reflector<T & StoredObject>;
  readonly watches: ManagedWatches;
  readonly #init: InstallerInit<T>;
  readonly #rights: RightsGate;
  readonly #restoreBackoff: RestoreBackoff;
  readonly #formerGrants: FormerGrants = createFormerGrants();
  /** State of {@link reconcileAll} between passes. */
  readonly #accepted = new Set<string>();
  /** UIDs of unmanaged objects that already have an Event. */
  #unexpected: ReadonlySet<string | undefined> = new Set();

  constructor(init: InstallerInit<T>, wake: () => void) {
    const { component, installs } = init;
    this.#init = init;
    this.#rights = createRightsGate(component, installs);
    this.#restoreBackoff = createRestoreBackoff(component.clock);
    const { label } = installs;
    this.watches = createManagedWatches({ ...component, label, onChange: wake });
    this.objects = createReflector<T & StoredObject>({
      ...component,
      path: installs.resource.collection(),
      // The schema rejects other names, and the watch ignores them if the schema is old.
      fieldSelector: `metadata.name=${SINGLETON}`,
      onEvent: wake,
    });
  }

  async reconcile(signal: AbortSignal): Promise<ReconcileResult> {
    const { component, installs } = this.#init;
    if (!component.shard.owns(SINGLETON) || !this.objects.synced) return undefined;
    const object = this.objects.get(SINGLETON);
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) {
      this.watches.follow([]);
      return undefined;
    }
    const outcome = await this.#outcomeFor(object, signal);
    if (signal.aborted) return undefined;
    const { version: operatorVersion } = this.#init;
    const now = serverTime(component);
    const status = decideStatus({ object, outcome, operatorVersion, now });
    await writeStatus(component, installs, object, status);
    return this.#next(object, outcome);
  }

  async #outcomeFor(object: T, signal: AbortSignal): Promise<InstallationSnapshot['outcome']> {
    const desired = await this.#init.desiredOf(object);
    if (isRefusal(desired)) return desired;
    const { component, version } = this.#init;
    const refusal = await refuseServer(component.client, desired);
    if (refusal !== undefined) return refusal;
    const lacking = await this.#rights.refuse(desired.rules);
    if (lacking !== undefined && !isUnderWay(object, version)) return lacking;
    const report = await this.#pass(object, desired, signal);
    // Check the permissions again after a forbidden write. A quota forbids too, and no role would
    // help against that.
    return { desired, report, lacking: await this.#rights.refuse(desired.rules) };
  }

  async #pass(
    object: InstallationObject,
    { objects, removable, watched }: DesiredInstallation,
    signal: AbortSignal,
  ): Promise<PassReport> {
    const { component, installs } = this.#init;
    const former = this.#formerGrants.besides(objects, this.watches);
    this.watches.follow([...watched, ...former]);
    const { apiVersion, kind, metadata } = object;
    const owner = {
      apiVersion,
      kind,
      name: metadata.name,
      uid: metadata.uid,
      label: installs.label,
    };
    const writer = createWriter(component.client, installs.fieldManager);
    const { watches } = this;
    const report = await reconcileAll({
      objects,
      removable: new Set([...removable, ...former.map(titleOf)]),
      owner,
      writer,
      watches,
      signal,
      accepted: this.#accepted,
      heldUntil: this.#restoreBackoff.until,
      installing: object.status?.version !== object.spec.version,
    });
    recordChanges(component, object, report.changes);
    const { unexpected } = report;
    const seen = this.#unexpected;
    warnOfUnexpected(
      component,
      object,
      unexpected.filter((each) => !seen.has(each.metadata.uid)),
    );
    this.#unexpected = new Set(unexpected.map((each) => each.metadata.uid));
    if (report.forbidden) this.#rights.doubt();
    const restored = report.changes.filter(
      ({ kind: change }) => change === 'restored' || change === 'corrected',
    );
    for (const title of new Set(restored.map((each) => each.object)))
      this.#restoreBackoff.restored(title);
    return report;
  }

  #next(object: InstallationObject, outcome: InstallationSnapshot['outcome']): ReconcileResult {
    const { component } = this.#init;
    if (isRefusal(outcome)) {
      const { apiVersion, kind, metadata } = object;
      const regarding = { apiVersion, kind, name: metadata.name, uid: metadata.uid };
      const { reason, message: note } = outcome;
      component.log.warn({ reason, error: note }, 'the spec is refused, nothing is changed');
      component.events.record({ type: 'Warning', reason, action: 'Preflight', note, regarding });
      return { backoffUntil: component.clock() + ASK_AGAIN_MS };
    }
    // Poll, because no watch reports a changed role.
    if (outcome.lacking !== undefined) return { backoffUntil: component.clock() + ASK_AGAIN_MS };
    const { failed, heldUntil, problems } = outcome.report;
    if (failed) return 'backoff';
    if (heldUntil !== undefined) return { requeueAt: heldUntil };
    // Poll, because an unchanged object may lack the label of this installation, so that no watch
    // reports its fix.
    if (problems.length > 0) return { requeueAt: component.clock() + ASK_AGAIN_MS };
    return requeueAt(component, serverTime(component) + RESYNC_MS);
  }
}
