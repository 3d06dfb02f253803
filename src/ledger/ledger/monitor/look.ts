// SPDX-License-Identifier: Apache-2.0
/** Compares the seen certificates with the records, and reports those without one. */
import { keyOf } from '#api/object/object.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { UNRECORDED_CERTIFICATE } from '#api/serving/report.ts';
import { isNamespaced } from '#api/signer/signer.ts';
import { BoundedMap } from '#base/bounded-map.ts';
import { SignerError } from '#base/errors.ts';
import type { Component } from '#component/contract.ts';
import type { LedgerStore } from '#ledger/index.ts';
import { fingerprint } from '#pki/x509/certificate.ts';
import { validityOf } from '#pki/x509/validity.ts';
import { UnrecordedCertificates, type UnrecordedCertificate } from './unrecorded.ts';
import { candidateOf, explainedBefore, explanationOf, signerOf } from './judge.ts';
import type { Candidate, LedgerLimits, MonitoredCa } from './judge.ts';
import { limitsOf, MonitoredCas } from './knowledge.ts';
import { certificatesOf, placeOf, type SeenObject } from './seen.ts';
import { WaitingCertificates, type UnconfirmedCertificate } from './waiting.ts';
import * as messages from '../messages.ts';
import { LEDGER_SERIES } from '../metrics.ts';

/** Dependencies of a comparison. */
export interface LookInit {
  readonly component: Component;
  readonly store: Pick<LedgerStore, 'find' | 'after' | 'recorded'>;
  /** Namespace of the components. */
  readonly namespace: string;
  /**
   * How long a record may arrive after its certificate. In the mode `best-effort` it waits in
   * memory.
   */
  readonly unrecordedGraceSeconds: number;
}

/** Cached certificates that need no further comparison. */
const MAX_SETTLED = 200_000;

/** Certificates of one query to the ledger. */
const LOOKED_AT_TOGETHER = 250;

/**
 * Characters of a serial number in a finding. OpenSSL reads one of a MiB, for which no ConfigMap
 * has room.
 */
const MAX_SERIAL = 128;

/** The seen certificates and their comparison. */
export class Look {
  readonly #init: LookInit;
  readonly #signers: () => readonly ClusterSigner[];
  readonly #cas = new MonitoredCas();
  readonly #findings: UnrecordedCertificates;
  readonly #waiting = new WaitingCertificates();
  readonly #settled = new BoundedMap<string, true>(MAX_SETTLED);
  /** Number of certificates that each gap explains. */
  readonly #explained = new Map<string, number>();
  /** Known limits of the ledger, cached for one comparison. */
  #limits: LedgerLimits | undefined;

  constructor(init: LookInit, signers: () => readonly ClusterSigner[]) {
    this.#init = init;
    this.#signers = signers;
    this.#findings = new UnrecordedCertificates(init.component, init.namespace);
  }

  /**
   * Adds the certificates of an object to those that wait. Returns false if there was no room for
   * one: the caller has to show the object again.
   */
  see(object: SeenObject): boolean {
    let isWhole = true;
    for (const der of certificatesOf(object)) {
      const print = fingerprint(der);
      if (this.#settled.get(print) === true || this.#waiting.has(print)) continue;
      const waiting = { der, seenIn: placeOf(object), since: undefined };
      isWhole = this.#waiting.add(print, waiting, () => this.#isManaged(der)) && isWhole;
    }
    return isWhole;
  }

  #isManaged(der: Uint8Array): boolean {
    const candidate = candidateOf(der, this.#cas.all());
    return candidate !== undefined && signerOf(candidate) !== undefined;
  }

  /** Reports whether only certificates of managed CAs have room. */
  get isFull(): boolean {
    return this.#waiting.isFull;
  }

  /** Drops the waiting certificates and the counts, because another replica compares. */
  forget(): void {
    this.#waiting.clear();
    // The next comparison counts those of the stored findings again.
    this.#explained.clear();
    const { unrecorded, explained } = this.#init.component.metrics.of(LEDGER_SERIES);
    unrecorded.set({}, 0);
    explained.set({}, 0);
  }

  /** Reads the findings and CAs. Returns whether there is a new CA. */
  async refresh(): Promise<boolean> {
    await this.#findings.read();
    return this.#cas.refresh(this.#init.store, this.#signers());
  }

  warnings(): readonly string[] {
    const { missing } = this.#cas;
    const count = missing.length;
    return count === 0 ? [] : [messages.unrecordedCas(count)];
  }

  /**
   * Compares the waiting certificates, and reports the findings. A certificate that cannot be
   * compared does not keep the others from it.
   * @throws SignerError of the ledger or the API server, which concerns all certificates, or the
   *   first error about one of them
   */
  async look(): Promise<void> {
    this.#limits = undefined;
    const failures: unknown[] = [];
    try {
      const all = this.#waiting.entries();
      for (let at = 0; at < all.length; at += LOOKED_AT_TOGETHER)
        failures.push(...(await this.#compare(all.slice(at, at + LOOKED_AT_TOGETHER))));
    } finally {
      this.#say();
    }
    if (failures.length > 0) throw failures[0];
  }

  /** Returns the errors about single certificates. */
  async #compare(
    some: readonly (readonly [print: string, waiting: UnconfirmedCertificate])[],
  ): Promise<readonly unknown[]> {
    const failures: unknown[] = [];
    const recorded = new Set(await this.#init.store.recorded(some.map(([print]) => print)));
    for (const [print, waiting] of some) {
      try {
        if (recorded.has(print)) this.#settled.set(print, true);
        else if (!(await this.#settle(print, waiting))) continue;
        this.#waiting.delete(print);
      } catch (error) {
        if (error instanceof SignerError) throw error;
        failures.push(error);
      }
    }
    return failures;
  }

  /**
   * Settles a certificate without a record: reports it once its grace period is over. Returns false
   * while that lasts. A certificate of another CA is seen again when there is a new CA.
   */
  async #settle(print: string, waiting: UnconfirmedCertificate): Promise<boolean> {
    const { component, unrecordedGraceSeconds } = this.#init;
    const candidate = candidateOf(waiting.der, this.#cas.all());
    if (candidate === undefined) return true;
    const ca = signerOf(candidate);
    if (ca !== undefined) {
      waiting.since ??= component.clock();
      if (component.clock() - waiting.since < unrecordedGraceSeconds * 1000) return false;
      await this.#found(await this.#findingOf(candidate, ca, waiting));
    }
    this.#settled.set(print, true);
    return true;
  }

  async #findingOf(
    { certificate, fingerprint }: Candidate,
    ca: MonitoredCa,
    waiting: UnconfirmedCertificate,
  ): Promise<UnrecordedCertificate> {
    const limits = await this.#readLimits();
    const isOpen = this.#findings.has({ fingerprint });
    const known = this.#findings.explanationOf(fingerprint) ?? waiting.explanation;
    const explanation = isOpen
      ? undefined
      : (known ?? explanationOf(certificate, ca, limits, this.#explained));
    waiting.explanation = explanation;
    const validity = validityOf(certificate);
    return {
      fingerprint,
      serial: certificate.serialNumber.toLowerCase().slice(0, MAX_SERIAL),
      ca: ca.fingerprint,
      signer: ca.signer,
      seenIn: waiting.seenIn,
      notBefore: textOf(validity?.notBefore),
      notAfter: textOf(validity?.notAfter),
      seenAt: new Date(this.#init.component.clock()).toISOString(),
      ...(explanation === undefined ? {} : { explanation }),
    };
  }

  /** Reads the limits once for each comparison, and what their gaps explained before. */
  async #readLimits(): Promise<LedgerLimits> {
    if (this.#limits !== undefined) return this.#limits;
    const limits = await limitsOf(this.#init.store);
    for (const [key, count] of explainedBefore(this.#findings.explained(), limits.gaps))
      this.#explained.set(key, Math.max(count, this.#explained.get(key) ?? 0));
    this.#limits = limits;
    return limits;
  }

  async #found(finding: UnrecordedCertificate): Promise<void> {
    const { component } = this.#init;
    const isNew = !this.#findings.has(finding);
    await this.#findings.add(finding);
    if (!isNew || finding.explanation !== undefined) return;
    const { serial, ca, signer, seenIn } = finding;
    component.log.error({ serial, ca, signer, seenIn }, messages.NO_RECORD);
    const about = this.#signers().find(({ metadata }) => keyOf(metadata) === signer);
    // The ledger may not record Events in a Signer's namespace. The Signer's status reports it.
    if (about === undefined || isNamespaced(about)) return;
    const { apiVersion, kind, metadata } = about;
    await component.events.recordOnce(
      {
        regarding: { apiVersion, kind, name: metadata.name, uid: metadata.uid },
        type: 'Warning',
        reason: UNRECORDED_CERTIFICATE,
        action: 'Monitor',
        note: messages.unrecordedCertificate(seenIn, serial, ca),
      },
      finding.fingerprint,
    );
  }

  /**
   * Reports open findings. It repeats the reports with each comparison, because a report expires
   * after ten minutes.
   */
  #say(): void {
    const { component } = this.#init;
    const open = this.#findings.open();
    const counts = this.#findings.counts();
    const { unrecorded, explained } = component.metrics.of(LEDGER_SERIES);
    unrecorded.set({}, counts.open);
    explained.set({}, counts.explained);
    const bySigner = Map.groupBy(open, ({ signer }) => signer);
    for (const signer of this.#signers()) {
      const found = bySigner.get(keyOf(signer.metadata)) ?? [];
      const [first] = found;
      if (first === undefined) continue;
      const more = found.length === 1 ? '' : messages.moreFindings(found.length - 1);
      component.serving.report(signer, {
        reason: UNRECORDED_CERTIFICATE,
        message: messages.openFindings(first.serial, first.seenIn, more),
        stops: false,
      });
    }
  }
}

/** Formats a time of a certificate. */
function textOf(time: number | undefined): string {
  return time === undefined ? 'unreadable' : new Date(time).toISOString();
}
