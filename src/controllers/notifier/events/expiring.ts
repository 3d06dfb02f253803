// SPDX-License-Identifier: Apache-2.0
/** Which certificates end soon, and nobody has renewed them. */
import type { SeenCertificate, SeenRequest } from './seen-request.ts';

/** A certificate that waits for its renewal. */
export interface WatchedCertificate {
  readonly request: SeenRequest;
  readonly notAfter: number;
  /** When it is told of, in milliseconds since 1970. */
  readonly dueAt: number;
}

interface Kept extends WatchedCertificate {
  readonly askedAt: number;
  isTold: boolean;
}

/** Some 700 bytes each. */
const MOST_WATCHED = 100_000;
/** A third of its life is soon, whatever the threshold. */
const SHARE_OF_LIFE = 1 / 3;

/**
 * When a certificate is told of: where the kubelet renews it, when half of the time between the beginning of its renewal
 * and its end is over; else the threshold before its end, but no more than a third of its life.
 */
function dueAt(certificate: SeenCertificate, expiringMs: number): number {
  const { notBefore, notAfter, beginRefreshAt } = certificate;
  if (beginRefreshAt !== undefined) return notAfter - (notAfter - beginRefreshAt) / 2;
  return notAfter - Math.min(expiringMs, (notAfter - notBefore) * SHARE_OF_LIFE);
}

/** What is watched of one flow, the oldest first: what is renewed → its newest certificate. */
type Flow = Map<string, Kept>;

/**
 * The newest certificate of each thing that has one, as far as this process has seen it. Where there are too many, the flow
 * that has most loses its oldest: who gets many certificates hides those of nobody else.
 */
export class WatchedCertificates {
  readonly #expiringMs: number;
  readonly #most: number;
  readonly #flows = new Map<string, Flow>();
  /** How many there are. */
  size = 0;
  /** How many went for newer ones before their end. */
  forgotten = 0;

  constructor(expiringMs: number, most = MOST_WATCHED) {
    this.#expiringMs = expiringMs;
    this.#most = most;
  }

  observe(request: SeenRequest): void {
    const { certificate, renews, metadata, flow } = request;
    if (certificate === undefined) return;
    const askedAt = Date.parse(metadata.creationTimestamp);
    const before = this.#flows.get(flow)?.get(renews);
    // A list has no order: an older request may follow a newer one.
    if (before !== undefined && before.request.metadata.uid === metadata.uid) return;
    if (before !== undefined && before.askedAt > askedAt) return;
    const { notAfter } = certificate;
    this.#delete(flow, renews);
    this.#set(flow, renews, {
      ...{ request, askedAt, notAfter, isTold: false },
      dueAt: dueAt(certificate, this.#expiringMs),
    });
    if (this.size > this.#most) this.#forgetOldest(flow);
  }

  /** Those that are due and were not told of, the soonest end first. Forgets those that have ended. */
  due(now: number): readonly WatchedCertificate[] {
    const found: Kept[] = [];
    for (const [name, flow] of this.#flows)
      for (const [key, kept] of flow)
        if (kept.notAfter <= now) this.#delete(name, key);
        else if (!kept.isTold && kept.dueAt <= now) found.push(kept);
    return found.sort((a, b) => a.notAfter - b.notAfter);
  }

  /** It is not looked at again, unless a newer one takes its place. */
  told({ request }: WatchedCertificate): void {
    const kept = this.#flows.get(request.flow)?.get(request.renews);
    if (kept?.request.metadata.uid === request.metadata.uid) kept.isTold = true;
  }

  #set(name: string, key: string, kept: Kept): void {
    const flow = this.#flows.get(name) ?? new Map<string, Kept>();
    flow.set(key, kept);
    this.#flows.set(name, flow);
    this.size += 1;
  }

  #delete(name: string, key: string): void {
    const flow = this.#flows.get(name);
    if (flow?.delete(key) !== true) return;
    this.size -= 1;
    if (flow.size === 0) this.#flows.delete(name);
  }

  /** Of the flow that has most; of equals, of the one that has just got one more. */
  #forgetOldest(newest: string): void {
    let [name, longest] = [newest, this.#flows.get(newest) as Flow];
    for (const [each, flow] of this.#flows)
      if (flow.size > longest.size) [name, longest] = [each, flow];
    for (const oldest of longest.keys()) {
      this.#delete(name, oldest);
      this.forgotten += 1;
      return;
    }
  }
}
