// SPDX-License-Identifier: Apache-2.0
import { BoundedMap } from '../../bounded-map.ts';
import type { ExpirySeries } from '../component/metrics.ts';
import type { Component } from '../component/component.ts';
import { serverTime } from '../component/server-time.ts';

/** Whose certificate it is, as the API server knows it. */
export type CertificateOwner = Pick<ExpirySeries, 'signer' | 'namespace' | 'owner'>;

/** A certificate that was issued. Times are in milliseconds. */
export interface KnownCertificate {
  /** When it was asked for. */
  readonly askedAt: number;
  readonly notAfter: number;
  /** When its renewal is due; absent: nobody renews it by a plan. */
  readonly beginRefreshAt?: number;
}

/** The newest certificate of each thing that has one, as far as this process has seen it. */
export interface Expiries {
  /** A certificate takes the place of the one before with the same key. */
  issued(key: string, owner: CertificateOwner, certificate: KnownCertificate): void;
  /** The request at `askedAt` for the next one was denied or failed: nobody asks again. */
  refused(key: string, askedAt: number): void;
  get(key: string): KnownCertificate | undefined;
  /** When they expire, by owner. Forgets those that have. */
  series(now: number): readonly ExpirySeries[];
}

/** Some 200 bytes each. Above this number the oldest is dropped: it is neither counted nor served first. */
const MAX_KNOWN_CERTIFICATES = 50_000;

/** Owners with a series of their own, the first come; the others of a signer share one. */
const MAX_NAMED_OWNERS = 500;

/** Namespace and owner of those that share a series. No namespace or user that the API server knows is called so. */
const OTHER = 'other';

interface Kept extends KnownCertificate {
  readonly owner: Owned;
  refusedAt: number;
}

interface Owned extends CertificateOwner {
  certificates: number;
  /** The soonest end when it was last looked at, in milliseconds; Infinity: none. */
  soonest: number;
  /** The soonest end of those whose renewal was refused; Infinity: none. */
  refused: number;
}

export function createExpiries(): Expiries {
  return new KnownExpiries();
}

class KnownExpiries implements Expiries {
  readonly #certificates = new BoundedMap<string, Kept>(MAX_KNOWN_CERTIFICATES);
  /** In the order in which they came. */
  readonly #owners = new Map<string, Owned>();

  issued(key: string, of: CertificateOwner, certificate: KnownCertificate): void {
    const before = this.#certificates.get(key);
    // A list has no order: an older request may follow a newer one.
    if (before !== undefined && isNewer(before, certificate)) return;
    if (before !== undefined) this.#release(before);
    const owner = this.#owner(of);
    owner.certificates += 1;
    const refusedAt = before?.refusedAt ?? -Infinity;
    const evicted = this.#certificates.set(key, { ...certificate, owner, refusedAt });
    if (evicted !== undefined) this.#release(evicted);
  }

  refused(key: string, askedAt: number): void {
    const kept = this.#certificates.get(key);
    if (kept !== undefined) kept.refusedAt = Math.max(kept.refusedAt, askedAt);
  }

  get(key: string): KnownCertificate | undefined {
    return this.#certificates.get(key);
  }

  series(now: number): readonly ExpirySeries[] {
    this.#lookAt(now);
    const shared = new Map<string, Owned>();
    const series: ExpirySeries[] = [];
    for (const owned of this.#owners.values()) {
      if (series.length < MAX_NAMED_OWNERS) {
        series.push(seriesOf(owned));
        continue;
      }
      const rest = shared.get(owned.signer);
      if (rest === undefined)
        shared.set(owned.signer, { ...owned, namespace: OTHER, owner: OTHER });
      else takeSooner(rest, owned.soonest, owned.refused);
    }
    return [...series, ...[...shared.values()].map(seriesOf)];
  }

  /** Brings the soonest ends of all owners up to date, and forgets what has expired. */
  #lookAt(now: number): void {
    for (const owned of this.#owners.values()) {
      owned.soonest = Infinity;
      owned.refused = Infinity;
    }
    for (const [key, kept] of this.#certificates.entries()) {
      const { notAfter, refusedAt, askedAt, owner } = kept;
      if (notAfter > now) takeSooner(owner, notAfter, refusedAt > askedAt ? notAfter : Infinity);
      else {
        this.#certificates.delete(key);
        this.#release(kept);
      }
    }
  }

  #owner(of: CertificateOwner): Owned {
    const key = JSON.stringify([of.signer, of.namespace, of.owner]);
    const known = this.#owners.get(key);
    if (known !== undefined) return known;
    const made = { ...of, certificates: 0, soonest: Infinity, refused: Infinity };
    this.#owners.set(key, made);
    return made;
  }

  #release({ owner }: Kept): void {
    owner.certificates -= 1;
    const { signer, namespace, owner: name } = owner;
    if (owner.certificates === 0) this.#owners.delete(JSON.stringify([signer, namespace, name]));
  }
}

function isNewer(one: KnownCertificate, other: KnownCertificate): boolean {
  if (one.askedAt !== other.askedAt) return one.askedAt > other.askedAt;
  return one.notAfter > other.notAfter;
}

function seriesOf({ signer, namespace, owner, soonest, refused }: Owned): ExpirySeries {
  return {
    ...{ signer, namespace, owner, soonest: soonest / 1000 },
    refused: refused === Infinity ? undefined : refused / 1000,
  };
}

/** Keeps the sooner ends, in milliseconds. In place: this runs for each certificate. */
function takeSooner(owned: Owned, soonest: number, refused: number): void {
  owned.soonest = Math.min(owned.soonest, soonest);
  owned.refused = Math.min(owned.refused, refused);
}

/** How often the series are made anew: each time walks over all certificates. */
const REPORT_EVERY_MS = 15_000;

/** Reports the series until `signal` is aborted. */
export async function reportExpiries(
  component: Component,
  expiries: Expiries,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    component.metrics.expiries(expiries.series(serverTime(component)));
    await component.delay(REPORT_EVERY_MS, signal).catch(() => undefined);
  }
}
