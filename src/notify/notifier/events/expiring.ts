// SPDX-License-Identifier: Apache-2.0
/** Finds certificates that expire soon without a renewal. */
import type { SeenCertificate, SeenRequest } from './seen-request.ts';

/** A certificate whose renewal is awaited. */
export interface WatchedCertificate {
  readonly request: SeenRequest;
  readonly notAfter: number;
  /** Time of the event, in milliseconds since 1970. */
  readonly dueAt: number;
}

interface TrackedCertificate extends WatchedCertificate {
  readonly askedAt: number;
  isTold: boolean;
}

/** Maximum of watched certificates, some 700 bytes each. */
const MAX_WATCHED = 100_000;
/** Longest notice, as a share of the lifetime. */
const SHARE_OF_LIFE = 1 / 3;

/**
 * Returns the time of the event. If the kubelet renews the certificate, this is halfway between the
 * planned renewal and the expiry. Otherwise it is the threshold before the expiry, but at most a
 * third of the lifetime.
 */
function eventTime(certificate: SeenCertificate, expiringMs: number): number {
  const { notBefore, notAfter, beginRefreshAt } = certificate;
  if (beginRefreshAt !== undefined) return notAfter - (notAfter - beginRefreshAt) / 2;
  return notAfter - Math.min(expiringMs, (notAfter - notBefore) * SHARE_OF_LIFE);
}

/** Watched certificates of one flow, the oldest first: renewal key → newest certificate. */
type Flow = Map<string, TrackedCertificate>;

const NO_FLOW: Flow = new Map();

/**
 * Tracks the newest certificate for each renewal key, as far as this process has seen it. Beyond
 * the limit, the largest flow loses its oldest, so that a requester of many certificates displaces
 * only its own.
 */
export class WatchedCertificates {
  readonly #expiringMs: number;
  readonly #most: number;
  readonly #flows = new Map<string, Flow>();
  #size = 0;
  #forgotten = 0;

  constructor(expiringMs: number, most = MAX_WATCHED) {
    this.#expiringMs = expiringMs;
    this.#most = most;
  }

  /** Number of watched certificates. */
  get size(): number {
    return this.#size;
  }

  /** Number of certificates that were dropped before their expiry. */
  get forgotten(): number {
    return this.#forgotten;
  }

  observe(request: SeenRequest): void {
    const { certificate, renews, metadata, flow } = request;
    if (certificate === undefined) return;
    const askedAt = Date.parse(metadata.creationTimestamp);
    const before = this.#flows.get(flow)?.get(renews);
    // A list has no order, so an older request may follow a newer one.
    if (before !== undefined && before.request.metadata.uid === metadata.uid) return;
    if (before !== undefined && before.askedAt > askedAt) return;
    const { notAfter } = certificate;
    this.#delete(flow, renews);
    this.#set(flow, renews, {
      request,
      askedAt,
      notAfter,
      isTold: false,
      dueAt: eventTime(certificate, this.#expiringMs),
    });
    if (this.#size > this.#most) this.#forgetOldest(flow);
  }

  /**
   * Returns the due certificates without an event, the soonest expiry first. It drops expired ones.
   */
  due(now: number): readonly WatchedCertificate[] {
    const found: TrackedCertificate[] = [];
    for (const [name, flow] of this.#flows) {
      for (const [key, kept] of flow) {
        if (kept.notAfter <= now) this.#delete(name, key);
        else if (!kept.isTold && kept.dueAt <= now) found.push(kept);
      }
    }
    return found.sort((a, b) => a.notAfter - b.notAfter);
  }

  /** Marks a certificate as done, until a newer one replaces it. */
  markTold({ request }: WatchedCertificate): void {
    const kept = this.#flows.get(request.flow)?.get(request.renews);
    if (kept?.request.metadata.uid === request.metadata.uid) kept.isTold = true;
  }

  #set(name: string, key: string, kept: TrackedCertificate): void {
    const flow = this.#flows.get(name) ?? new Map<string, TrackedCertificate>();
    flow.set(key, kept);
    this.#flows.set(name, flow);
    this.#size += 1;
  }

  #delete(name: string, key: string): void {
    const flow = this.#flows.get(name);
    if (flow?.delete(key) !== true) return;
    this.#size -= 1;
    if (flow.size === 0) this.#flows.delete(name);
  }

  /**
   * Drops the oldest certificate of the largest flow. Among equals, it prefers the flow of the
   * newest.
   */
  #forgetOldest(newest: string): void {
    let [name, longest] = [newest, this.#flows.get(newest) ?? NO_FLOW];
    for (const [each, flow] of this.#flows)
      if (flow.size > longest.size) [name, longest] = [each, flow];
    const [oldest] = longest.keys();
    if (oldest === undefined) return;
    this.#delete(name, oldest);
    this.#forgotten += 1;
  }
}
