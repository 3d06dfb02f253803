// SPDX-License-Identifier: Apache-2.0
/** Sends CloudEvents about certificates and CAs to the targets that an administrator configures. */
import type { ServingFault } from '#api/serving/report.ts';
import { messageOf } from '#base/errors.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import type { Resource } from '#kube/resource/resource.ts';
import { createWakeup, type Wakeup } from '#kube/wait/wakeup.ts';
import type { Component, Controller } from '#component/contract.ts';
import { serverTime } from '#component/server-time.ts';
import { namesOf } from '#component/rbac/permission-names.ts';
import { cursorsObject, readCursors, writeCursors, type Cursor } from './cursor.ts';
import { NotifiedTarget, type TargetInit } from './delivery/target.ts';
import { WatchedCertificates } from './events/expiring.ts';
import type { SeenRequest } from './events/seen-request.ts';
import { permissions } from './permissions.ts';
import { createPodLook } from './pods.ts';
import { faultsOf } from './faults.ts';
import { watchNotifiedSigners, type NotifiedSigners } from './signers.ts';
import { NotificationSession } from './notification-session.ts';
import { createRequestWatches, type RequestWatches } from './watches.ts';
import * as messages from './messages.ts';

/** Dependencies of the component. */
export interface NotifierInit {
  readonly component: Component;
  /** Namespace of the components. */
  readonly namespace: string;
  readonly podCertificateRequests: Resource | undefined;
  /** Whether to read pods, so that events cover the certificates that pods have not renewed. */
  readonly pods: boolean;
  /** URI reference that identifies the installation. */
  readonly source: string;
  /** How long before expiry an event is sent, in seconds. */
  readonly expiringSeconds: number;
  readonly targets: readonly TargetInit[];
}

/** Interval at which cursors are written and due certificates are found. */
const PASS_MS = 5_000;

/** Returns the controller. One replica sends, and the others wait with warm caches. */
export function createNotifier(init: NotifierInit): Controller {
  const notifier = new Notifier(init);
  const { component, pods } = init;
  const { signers, watches } = notifier;
  return {
    permissions: () =>
      permissions({
        ...namesOf(signers.all(), component),
        notifiedPods: pods,
      }),
    signers: signers.all,
    notReady: () => [
      ...signers.notReady(),
      ...watches
        .all()
        .filter(([, { synced }]) => !synced)
        .map(([plural, { failure }]) => messages.unlisted(plural, failure)),
    ],
    warnings: () => notifier.warnings(),
    faults: () => notifier.faults(),
    run: (signal) => notifier.run(signal),
  };
}

class Notifier {
  readonly #init: NotifierInit;
  readonly signers: NotifiedSigners;
  readonly watches: RequestWatches;
  readonly #targets: readonly NotifiedTarget[];
  readonly #certificates: WatchedCertificates;
  readonly #wakeup: Wakeup;
  readonly #isPodThere;
  #telling: NotificationSession | undefined;
  #written = '';
  #fault: string | undefined;
  /** UID of the object with the cursors. */
  #uid: string | undefined;

  constructor(init: NotifierInit) {
    const { component } = init;
    this.#init = init;
    this.#wakeup = createWakeup(component.delay);
    this.#targets = init.targets.map((each) => {
      const onGone = (): void => {
        this.#gone(each.name);
      };
      return new NotifiedTarget(component, { ...each, onGone });
    });
    this.#certificates = new WatchedCertificates(init.expiringSeconds * 1000);
    this.#isPodThere = createPodLook(component);
    this.signers = watchNotifiedSigners(component);
    this.signers.onChange(() => {
      this.#wakeup.wake();
    });
    component.shard.onChange(() => {
      this.#wakeup.wake();
    });
    this.watches = createRequestWatches({
      ...init,
      onEvent: (now, before) => {
        this.#observe(now, before);
      },
    });
  }

  warnings(): readonly string[] {
    return [
      ...(this.#targets.length === 0 ? [messages.NO_TARGET] : []),
      ...this.#targets.flatMap(({ name, fault }) =>
        fault === undefined ? [] : [messages.failingTarget(name, fault)],
      ),
      ...(this.#fault === undefined ? [] : [messages.notificationsLate(this.#fault)]),
      ...unwatched(this.#certificates),
      ...[...this.watches.all()].flatMap(([plural, { failure }]) =>
        failure === undefined ? [] : [messages.brokenWatch(plural, failure)],
      ),
    ];
  }

  faults(): readonly ServingFault[] {
    return faultsOf(this.#targets, this.#fault);
  }

  async run(signal: AbortSignal): Promise<void> {
    const running = [
      this.signers.run(signal),
      this.watches.run(signal),
      ...this.#targets.map((each) => each.run(signal)),
    ];
    while (!signal.aborted) {
      await this.#pass(signal);
      await this.#wakeup.wait(PASS_MS, signal);
    }
    await Promise.all(running);
    // Prevents the next process from repeating the last deliveries.
    await this.#save().catch(() => undefined);
  }

  #observe(now: SeenRequest | undefined, before: SeenRequest | undefined): void {
    if (now === undefined) return;
    if (now.certificate !== undefined && this.#isWatched(now)) this.#certificates.observe(now);
    if (this.#telling?.joined(now.plural) === true) this.#telling.changed(now, before);
  }

  /**
   * Reports whether expiry of the request's certificate is watched. Without reading pods, a
   * certificate of a deleted pod looks like one that was not renewed.
   */
  #isWatched({ plural }: SeenRequest): boolean {
    return plural !== 'podcertificaterequests' || this.#init.pods;
  }

  #gone(target: string): void {
    const { component, namespace } = this.#init;
    component.events.record({
      regarding: cursorsObject(namespace, this.#uid),
      type: 'Warning',
      reason: 'TargetGone',
      action: 'Notify',
      note: messages.targetReturnedGone(target),
    });
  }

  async #pass(signal: AbortSignal): Promise<void> {
    try {
      await this.#lead();
      if (this.#telling !== undefined) await this.#tell(this.#telling, signal);
      this.#fault = undefined;
    } catch (error) {
      const message = this.#explained(error);
      if (this.#fault !== message && !signal.aborted)
        this.#init.component.log.warn({ error: message }, messages.NOTIFICATIONS_LATE);
      this.#fault = message;
    }
  }

  #explained(error: unknown): string {
    // A missing pod is handled elsewhere, so this is the ConfigMap.
    const isMissing = error instanceof KubeError && error.code === 'KUBE_NOT_FOUND';
    return isMissing ? messages.cursorsMissing(this.#init.namespace) : messageOf(error);
  }

  /** Begins or ends a session as the leader. */
  async #lead(): Promise<void> {
    const { component, namespace, source, expiringSeconds } = this.#init;
    if (!component.shard.owns('')) {
      if (this.#telling !== undefined) for (const each of this.#targets) each.clear();
      this.#telling = undefined;
      return;
    }
    if (this.#telling !== undefined || !this.signers.settled()) return;
    const { cursors, uid } = await readCursors(component, namespace);
    this.#uid = uid;
    this.#written = '';
    // The earlier session lost the events that were still pending.
    this.#certificates.unmarkAll();
    this.#telling = new NotificationSession({
      source,
      cursors,
      targets: this.#targets,
      signerNameOf: this.signers.nameOf,
      expiringMs: expiringSeconds * 1000,
      now: serverTime(component),
    });
    await this.#forget(cursors);
  }

  /** Removes the cursors of targets that are no longer configured. */
  async #forget(cursors: ReadonlyMap<string, Cursor>): Promise<void> {
    const names = new Set(this.#targets.map(({ name }) => name));
    const gone = [...cursors.keys()].filter((name) => !names.has(name));
    if (gone.length === 0) return;
    const none = new Map(gone.map((name) => [name, undefined]));
    await writeCursors(this.#init.component, this.#init.namespace, none);
  }

  async #tell(telling: NotificationSession, signal: AbortSignal): Promise<void> {
    for (const [plural, watch] of this.watches.all()) {
      if (watch.version === undefined || !watch.synced) continue;
      if (telling.joined(plural)) telling.reach(plural, watch.version);
      else telling.join(plural, watch.version, watch.list());
    }
    const now = serverTime(this.#init.component);
    telling.authorities(this.signers.all(), now);
    await this.#tellExpiring(telling, now, signal);
    await this.#save();
  }

  async #tellExpiring(
    telling: NotificationSession,
    now: number,
    signal: AbortSignal,
  ): Promise<void> {
    if (this.watches.all().some(([, { synced }]) => !synced)) return;
    const isThere = this.#isPodThere(signal);
    for (const each of this.#certificates.due(now)) {
      const found = await isThere(each.request);
      // The next pass examines the rest.
      if (found === undefined) return;
      if (found && this.#telling === telling) telling.expiring(each, now);
      this.#certificates.markTold(each);
    }
    telling.looked(now);
  }

  async #save(): Promise<void> {
    const cursors = this.#telling?.cursors();
    if (cursors === undefined || cursors.size === 0) return;
    const text = JSON.stringify([...cursors]);
    if (text === this.#written) return;
    await writeCursors(this.#init.component, this.#init.namespace, cursors);
    this.#written = text;
  }
}

function unwatched({ forgotten, size }: WatchedCertificates): readonly string[] {
  if (forgotten === 0) return [];
  return [messages.unwatchedExpiries(forgotten, size)];
}
