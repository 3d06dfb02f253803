// SPDX-License-Identifier: Apache-2.0
/** Finds certificates that expire soon without a renewal. */
import { FairMap } from '#base/fair-map.ts';
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

/**
 * Tracks the newest certificate for each renewal key, as far as this process has seen it. Beyond
 * the limit, the largest flow loses its oldest, so that a requester of many certificates displaces
 * only its own.
 */
export class WatchedCertificates {
  readonly #expiringMs: number;
  readonly #certificates: FairMap<TrackedCertificate>;
  #forgotten = 0;

  constructor(expiringMs: number, most = MAX_WATCHED) {
    this.#expiringMs = expiringMs;
    this.#certificates = new FairMap(most);
  }

  /** Number of watched certificates. */
  get size(): number {
    return this.#certificates.size;
  }

  /** Number of certificates that were dropped before their expiry. */
  get forgotten(): number {
    return this.#forgotten;
  }

  observe(request: SeenRequest): void {
    const { certificate, metadata, flow } = request;
    if (certificate === undefined) return;
    const askedAt = Date.parse(metadata.creationTimestamp);
    const before = this.#certificates.get(renewalKey(request));
    // A list has no order, so an older request may follow a newer one.
    if (before !== undefined && before.request.metadata.uid === metadata.uid) return;
    if (before !== undefined && before.askedAt > askedAt) return;
    const { notAfter } = certificate;
    const dueAt = eventTime(certificate, this.#expiringMs);
    const tracked = { request, askedAt, notAfter, isTold: false, dueAt };
    const dropped = this.#certificates.set(renewalKey(request), tracked, { tenant: flow });
    this.#forgotten += dropped.length;
  }

  /**
   * Returns the due certificates without an event, the soonest expiry first. It drops expired ones.
   */
  due(now: number): readonly WatchedCertificate[] {
    const found: TrackedCertificate[] = [];
    for (const [key, kept] of this.#certificates.entries()) {
      if (kept.notAfter <= now) this.#certificates.delete(key);
      else if (!kept.isTold && kept.dueAt <= now) found.push(kept);
    }
    return found.sort((a, b) => a.notAfter - b.notAfter);
  }

  /** Marks a certificate as done, until a newer one replaces it. */
  markTold({ request }: WatchedCertificate): void {
    const kept = this.#certificates.get(renewalKey(request));
    if (kept?.request.metadata.uid === request.metadata.uid) kept.isTold = true;
  }

  /** Makes all certificates due again, because the cursors decide what a new session sends. */
  unmarkAll(): void {
    for (const [, kept] of this.#certificates.entries()) kept.isTold = false;
  }
}

/** Returns the key of a certificate and its renewals. Users choose both parts. */
function renewalKey({ flow, renews }: SeenRequest): string {
  return JSON.stringify([flow, renews]);
}
