// SPDX-License-Identifier: Apache-2.0
import { FairMap } from '#base/fair-map.ts';
import type { Component } from '#component/contract.ts';
import { serverTime } from '#component/server-time.ts';
import { EXPIRY_SERIES } from './metrics.ts';

/** The expiry of the certificates of one owner. Times are Unix seconds. */
interface ExpirySeries {
  readonly signer: string;
  /** The namespace, or '' for owners without one. */
  readonly namespace: string;
  /** A ServiceAccount for pods, a username for CertificateSigningRequests. */
  readonly owner: string;
  /** The first notAfter. */
  readonly soonest: number;
  /**
   * The first notAfter of those whose renewal was denied or failed. Undefined if there are none.
   */
  readonly refused: number | undefined;
}

/** The owner of a certificate, as the API server knows it. */
export type CertificateOwner = Pick<ExpirySeries, 'signer' | 'namespace' | 'owner'>;

/** An issued certificate. Times are in milliseconds. */
export interface KnownCertificate {
  /** Time of its request. */
  readonly askedAt: number;
  readonly notAfter: number;
  /** Due time of its renewal, if it is scheduled. */
  readonly beginRefreshAt?: number;
}

/** The newest certificate of each holder, as far as this process has seen them. */
export interface Expiries {
  /** Records a certificate, which replaces the previous one with the same key. */
  issued(key: string, owner: CertificateOwner, certificate: KnownCertificate): void;
  /**
   * Records that the renewal requested at `askedAt` was denied or failed, and will not be repeated.
   */
  refused(key: string, askedAt: number): void;
  get(key: string): KnownCertificate | undefined;
  /** Returns the expiry times by owner. Forgets expired certificates. */
  series(now: number): readonly ExpirySeries[];
}

/**
 * Maximum number of certificates, of some 250 bytes each. Beyond it the oldest of the tenant with
 * the most is dropped, so it is not counted or prioritized. Nodes choose how often they request for
 * a pod, so a flood from one tenant must not drop certificates of others.
 */
const MAX_KNOWN_CERTIFICATES = 50_000;

/** Maximum number of owners with their own series. Later owners of a signer share one. */
const MAX_NAMED_OWNERS = 500;

/** Namespace and owner of a shared series. No namespace or user of the API server has this name. */
const OTHER = 'other';

interface CountedCertificate extends KnownCertificate {
  readonly owner: OwnerTotals;
  refusedAt: number;
}

interface OwnerTotals extends CertificateOwner {
  certificates: number;
  /** Earliest expiry in milliseconds at the last update, or Infinity. */
  soonest: number;
  /** Earliest expiry of those whose renewal was refused, or Infinity. */
  refused: number;
}

export function createExpiries(): Expiries {
  return new KnownExpiries();
}

class KnownExpiries implements Expiries {
  readonly #certificates = new FairMap<CountedCertificate>(MAX_KNOWN_CERTIFICATES);
  /** Owners in the order of arrival. */
  readonly #owners = new Map<string, OwnerTotals>();

  issued(key: string, of: CertificateOwner, certificate: KnownCertificate): void {
    const before = this.#certificates.get(key);
    // Lists are unordered, so an older request may follow a newer one.
    if (before !== undefined && isNewer(before, certificate)) return;
    this.#drop(key);
    const owner = this.#owner(of);
    owner.certificates += 1;
    const refusedAt = before?.refusedAt ?? -Infinity;
    const counted = { ...certificate, owner, refusedAt };
    const evicted = this.#certificates.set(key, counted, { tenant: tenantOf(of) });
    for (const each of evicted) this.#uncount(each);
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
    const shared = new Map<string, OwnerTotals>();
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

  /** Updates the earliest expiries of all owners, and forgets expired certificates. */
  #lookAt(now: number): void {
    for (const owned of this.#owners.values()) {
      owned.soonest = Infinity;
      owned.refused = Infinity;
    }
    for (const [key, kept] of this.#certificates.entries()) {
      const { notAfter, refusedAt, askedAt, owner } = kept;
      if (notAfter > now) takeSooner(owner, notAfter, refusedAt > askedAt ? notAfter : Infinity);
      else this.#drop(key);
    }
  }

  #owner(of: CertificateOwner): OwnerTotals {
    const key = JSON.stringify([of.signer, of.namespace, of.owner]);
    const known = this.#owners.get(key);
    if (known !== undefined) return known;
    const made = { ...of, certificates: 0, soonest: Infinity, refused: Infinity };
    this.#owners.set(key, made);
    return made;
  }

  #drop(key: string): void {
    const dropped = this.#certificates.delete(key);
    if (dropped !== undefined) this.#uncount(dropped);
  }

  #uncount({ owner }: CountedCertificate): void {
    owner.certificates -= 1;
    const { signer, namespace, owner: name } = owner;
    if (owner.certificates === 0) this.#owners.delete(JSON.stringify([signer, namespace, name]));
  }
}

/** Returns the tenant that may own many certificates: a namespace, or a user without one. */
function tenantOf({ namespace, owner }: CertificateOwner): string {
  return namespace === '' ? `user ${owner}` : `namespace ${namespace}`;
}

function isNewer(one: KnownCertificate, other: KnownCertificate): boolean {
  if (one.askedAt !== other.askedAt) return one.askedAt > other.askedAt;
  return one.notAfter > other.notAfter;
}

function seriesOf({ signer, namespace, owner, soonest, refused }: OwnerTotals): ExpirySeries {
  return {
    signer,
    namespace,
    owner,
    soonest: soonest / 1000,
    refused: refused === Infinity ? undefined : refused / 1000,
  };
}

/**
 * Keeps the earlier times, in milliseconds. Changes `owned` in place, since this runs for each
 * certificate.
 */
function takeSooner(owned: OwnerTotals, soonest: number, refused: number): void {
  owned.soonest = Math.min(owned.soonest, soonest);
  owned.refused = Math.min(owned.refused, refused);
}

/** Interval for rebuilding the series, which iterates over all certificates. */
const REPORT_EVERY_MS = 15_000;

/** Reports the series until `signal` is aborted. */
export async function reportExpiries(
  component: Component,
  expiries: Expiries,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    measure(component, expiries.series(serverTime(component)));
    await component.delay(REPORT_EVERY_MS, signal).catch(() => undefined);
  }
}

/** Replaces the values of all owners. */
function measure({ metrics }: Component, all: readonly ExpirySeries[]): void {
  const { certificateExpiry, refusedExpiry } = metrics.of(EXPIRY_SERIES);
  certificateExpiry.reset();
  refusedExpiry.reset();
  for (const { signer, namespace, owner, soonest, refused } of all) {
    const labels = { signer, owner_namespace: namespace, owner };
    certificateExpiry.set(labels, soonest);
    if (refused !== undefined) refusedExpiry.set(labels, refused);
  }
}
