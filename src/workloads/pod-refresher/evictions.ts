// SPDX-License-Identifier: Apache-2.0
import { isAlive, recreatingOwner, type Pod } from '#api/object/pod.ts';
import { evict } from '#kube/client/eviction.ts';
import { ignoreNotFound } from '#kube/client/kube-error.ts';
import { PODS } from '#kube/resource/core-v1.ts';
import { evictionLeadOf } from '../refresh/opt-in.ts';
import { podKey, type EndangeredPod } from '../refresh/credentials/pod-certificates.ts';
import type { Component } from '#component/contract.ts';
import * as messages from './messages.ts';
import { REFRESH_SERIES } from './metrics.ts';

/** Delay before an eviction is retried after a blocking budget or a missing response. */
const RETRY_MS = 15_000;

/**
 * Time at which a pod is evicted. `never` for a pod without the annotation, or without a controller
 * that recreates it.
 */
type DueTime = number | 'never';

/**
 * Evicts pods whose last credential is about to expire because its renewal was denied. The
 * replacement requests again, so a repeated denial becomes visible. Affects only pods with
 * `countersign.dev/evict-before-expiry` that a controller recreates.
 */
export class Evictions {
  readonly #component: Component;
  /** Due times by pod and signer, since each credential of a pod has its own expiry. */
  readonly #due = new Map<string, DueTime>();
  /** Retry times by pod. An evicted pod is never retried. */
  readonly #retryAt = new Map<string, number>();

  constructor(component: Component) {
    this.#component = component;
  }

  /** @returns when to run again, in milliseconds since the epoch, or Infinity if nothing is due */
  async pass(endangered: readonly EndangeredPod[], now: number): Promise<number> {
    this.#forget(endangered);
    let next = Infinity;
    for (const pod of endangered) {
      const due = await this.#dueTime(pod);
      if (due === 'never') continue;
      const at = Math.max(due, this.#retryAt.get(podUidKey(pod)) ?? 0);
      if (at > now) next = Math.min(next, at);
      else next = Math.min(next, await this.#evict(pod, now));
    }
    return next;
  }

  async #dueTime(pod: EndangeredPod): Promise<DueTime> {
    const known = this.#due.get(podKey(pod));
    if (known !== undefined) return known;
    const { namespace, name } = pod;
    const path = PODS.object({ namespace, name });
    const found = await this.#component.client
      .request<Pod>({ method: 'GET', path })
      .catch(ignoreNotFound);
    const due = dueTimeOf(pod, found);
    this.#due.set(podKey(pod), due);
    return due;
  }

  async #evict(pod: EndangeredPod, now: number): Promise<number> {
    const { client, log, metrics } = this.#component;
    const outcome = await evict(client, pod, false);
    metrics.of(REFRESH_SERIES).evictions.inc({ outcome: outcome.kind });
    log.info({ ...pod, outcome }, messages.EVICTION);
    if (outcome.kind === 'evicted') this.#tell(pod);
    const isGone = outcome.kind === 'evicted' || outcome.kind === 'gone';
    const at = isGone ? Infinity : now + RETRY_MS;
    this.#retryAt.set(podUidKey(pod), at);
    return at;
  }

  #tell({ namespace, name, uid, signerName, notAfter, message }: EndangeredPod): void {
    this.#component.events.record({
      regarding: { apiVersion: 'v1', kind: 'Pod', namespace, name, uid },
      type: 'Warning',
      reason: 'CredentialExpiring',
      action: 'Evict',
      note: messages.evicted(signerName, notAfter, message),
    });
  }

  #forget(endangered: readonly EndangeredPod[]): void {
    const there = new Set(endangered.flatMap((pod) => [podKey(pod), podUidKey(pod)]));
    for (const memory of [this.#due, this.#retryAt]) {
      for (const key of memory.keys()) if (!there.has(key)) memory.delete(key);
    }
  }
}

function podUidKey({ namespace, uid }: EndangeredPod): string {
  return `${namespace} ${uid}`;
}

function dueTimeOf({ uid, notAfter }: EndangeredPod, found: Pod | undefined): DueTime {
  if (found === undefined || found.metadata.uid !== uid || !isAlive(found)) return 'never';
  const lead = evictionLeadOf(found);
  if (lead === undefined || recreatingOwner(found) === undefined) return 'never';
  return notAfter - lead;
}
