// SPDX-License-Identifier: Apache-2.0
import type { KubeObject } from '#api/object/object.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import type { ReconcileResult } from '#kube/workqueue/run-loop.ts';
import type { Component } from '#component/contract.ts';
import { requeueAt, serverTime } from '#component/server-time.ts';
import { FIELD_MANAGER } from './act.ts';
import { ContestedTargets, lastWriter } from './contested-targets.ts';
import type { LaggingTargets } from './lagging-targets.ts';
import * as messages from './messages.ts';

/** Interval at which a report is repeated, because a Lease drops a report after ten minutes. */
const REPEAT_MS = 5 * 60_000;

/** A write of anchors to one target. */
export interface AnchorWrite {
  /** The target in the queue, such as `team-a/example-trust`. */
  readonly key: string;
  /** The target in reports, such as `ConfigMap team-a/example-trust`. */
  readonly label: string;
  /** A text that changes whenever the write would write something else. */
  readonly contents: string;
  /** The object as it was judged, if it exists. */
  readonly object: KubeObject | undefined;
  /** The field that anchors are written to, as the object's `fieldsV1` names it: `data`. */
  readonly field: string;
  /** The ClusterSigner whose condition names a contested target, if it has one. */
  readonly signer: ClusterSigner | undefined;
  readonly write: () => Promise<void>;
}

/** Writes anchors, ever more rarely where another writer replaces them, and names that writer. */
export class RestrainedWrites {
  readonly #component: Pick<Component, 'clock' | 'client' | 'log'>;
  readonly #laggards: LaggingTargets | undefined;
  readonly #contested = new ContestedTargets();
  /** Contested targets by label. */
  readonly #reports = new Map<string, { readonly signer: ClusterSigner; readonly note: string }>();

  /** @param laggards - absent for targets that no ClusterSigner reports */
  constructor(component: Pick<Component, 'clock' | 'client' | 'log'>, laggards?: LaggingTargets) {
    this.#component = component;
    this.#laggards = laggards;
  }

  /** Writes now, or returns when to judge the target again. */
  async apply(target: AnchorWrite): Promise<ReconcileResult> {
    const { key, label, contents } = target;
    const now = serverTime(this.#component);
    const heldUntil = this.#contested.heldUntil(key, contents, now);
    if (heldUntil !== undefined) return this.#remind(label, heldUntil);
    await target.write();
    this.#contested.wrote(key, contents, now);
    if (this.#contested.contestedUntil(key, now) !== undefined) this.#name(target);
    return this.leave(target);
  }

  /** Leaves a target alone. It lags until another writer has left it alone for a while. */
  leave({ key, label }: Pick<AnchorWrite, 'key' | 'label'>): ReconcileResult {
    const until = this.#contested.contestedUntil(key, serverTime(this.#component));
    // Judged again then, because no event of the object may follow.
    if (until !== undefined) return this.#remind(label, until);
    this.#reports.delete(label);
    this.#laggards?.remove(label);
    return undefined;
  }

  #name({ label, object, field, signer }: AnchorWrite): void {
    const writer = object === undefined ? undefined : lastWriter(object, field, FIELD_MANAGER);
    const note = messages.contested(field, writer);
    if (signer !== undefined) this.#reports.set(label, { signer, note });
    this.#component.log.warn({ target: label, writer }, note);
  }

  #remind(label: string, until: number): ReconcileResult {
    const report = this.#reports.get(label);
    if (report !== undefined) this.#laggards?.add(report.signer, label, report.note);
    return requeueAt(this.#component, Math.min(until, serverTime(this.#component) + REPEAT_MS));
  }
}
