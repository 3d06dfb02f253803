// SPDX-License-Identifier: Apache-2.0
/** Which certificates end soon, and nobody has renewed them. */
import { BoundedMap } from '../../../bounded-map.ts';
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

/** The newest certificate of each thing that has one, as far as this process has seen it. */
export class WatchedCertificates {
  readonly #expiringMs: number;
  readonly #kept: BoundedMap<string, Kept>;
  /** How many went for newer ones before their end. */
  forgotten = 0;

  constructor(expiringMs: number, most = MOST_WATCHED) {
    this.#expiringMs = expiringMs;
    this.#kept = new BoundedMap(most);
  }

  get size(): number {
    return this.#kept.size;
  }

  observe(request: SeenRequest): void {
    const { certificate, renews, metadata } = request;
    if (certificate === undefined) return;
    const askedAt = Date.parse(metadata.creationTimestamp);
    const before = this.#kept.get(renews);
    // A list has no order: an older request may follow a newer one.
    if (before !== undefined && before.request.metadata.uid === metadata.uid) return;
    if (before !== undefined && before.askedAt > askedAt) return;
    const { notAfter } = certificate;
    const kept = { request, askedAt, notAfter, isTold: false };
    const due = dueAt(certificate, this.#expiringMs);
    if (this.#kept.set(renews, { ...kept, dueAt: due }) !== undefined) this.forgotten += 1;
  }

  /** Those that are due and were not told of, the soonest end first. Forgets those that have ended. */
  due(now: number): readonly WatchedCertificate[] {
    const found: Kept[] = [];
    for (const [key, kept] of this.#kept.entries()) {
      if (kept.notAfter <= now) this.#kept.delete(key);
      else if (!kept.isTold && kept.dueAt <= now) found.push(kept);
    }
    return found.sort((a, b) => a.notAfter - b.notAfter);
  }

  /** It is not looked at again, unless a newer one takes its place. */
  told({ request }: WatchedCertificate): void {
    const kept = this.#kept.get(request.renews);
    if (kept?.request.metadata.uid === request.metadata.uid) kept.isTold = true;
  }
}
