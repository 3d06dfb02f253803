// SPDX-License-Identifier: Apache-2.0
/**
 * Finds certificates of this installation's CAs that the ledger does not know, which indicate a
 * stolen key.
 */
import { keyOf } from '#api/object/object.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { UNRECORDED_CERTIFICATE } from '#api/serving/report.ts';
import { isNamespaced } from '#api/signer/signer.ts';
import { BoundedMap } from '#base/bounded-map.ts';
import { messageOf } from '#base/errors.ts';
import type { LedgerStore } from '#ledger/index.ts';
import type { Resource } from '#kube/resource/resource.ts';
import { createWakeup } from '#kube/wait/wakeup.ts';
import { fingerprint } from '#pki/x509/certificate.ts';
import type { Component } from '#component/contract.ts';
import { watchSigners } from '#component/signers/signers.ts';
import { UnrecordedCertificates, type UnrecordedCertificate } from './unrecorded.ts';
import { candidateOf, explanationOf, signerOf } from './judge.ts';
import type { Candidate, LedgerLimits, MonitoredCa } from './judge.ts';
import { limitsOf, MonitoredCas } from './knowledge.ts';
import { certificatesOf, placeOf, type SeenObject } from './seen.ts';
import { createMonitorWatches } from './watches.ts';
import * as messages from '../messages.ts';
import { LEDGER_SERIES } from '../metrics.ts';

/** Dependencies of the monitor. */
export interface MonitorInit {
  readonly component: Component;
  readonly store: Pick<LedgerStore, 'find' | 'after' | 'recorded'>;
  /** Namespace of the components. */
  readonly namespace: string;
  readonly podCertificateRequests: Resource | undefined;
  /** Secrets to inspect: `namespace/name`. */
  readonly secrets: readonly string[];
  /**
   * How long a record may arrive after its certificate. In the mode `best-effort` it waits in
   * memory.
   */
  readonly unrecordedGraceSeconds: number;
  /** Reports whether this replica leads. Only the leader compares. */
  readonly leads: () => boolean;
}

/** The running monitor. */
export interface Monitor {
  /** Returns the watched signers, or undefined before all are known. */
  readonly signers: () => readonly ClusterSigner[] | undefined;
  readonly warnings: () => readonly string[];
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/** Longest interval between comparisons, and between reports of findings. */
const LOOK_MILLISECONDS = 5_000;
/** Cached certificates that need no further comparison. */
const MAX_SETTLED = 200_000;

/** Certificates of one query to the ledger. */
const LOOKED_AT_TOGETHER = 250;

interface UnconfirmedCertificate {
  readonly der: Uint8Array;
  readonly seenIn: string;
  /** Time of the first query that did not find a record. */
  since: number | undefined;
}

/**
 * Returns a monitor, which watches certificates, compares them with records, and reports findings.
 */
export function createMonitor(init: MonitorInit): Monitor {
  const { component, leads } = init;
  const wakeup = createWakeup(component.delay);
  const signers = watchSigners(component);
  const pass = new Look(init, () => signers.known());
  const watches = createMonitorWatches({
    ...init,
    // The next periodic comparison is soon enough, because a record may arrive minutes after its
    // certificate.
    onSeen: (object) => pass.see(object),
  });
  signers.onChange(() => {
    wakeup.wake();
  });
  let fault: string | undefined;
  async function look(): Promise<void> {
    try {
      if (await pass.refresh()) for (const each of watches.all()) pass.see(each);
      await pass.look();
      fault = undefined;
    } catch (error) {
      const message = messageOf(error);
      if (fault !== message) component.log.warn({ error: message }, messages.CANNOT_COMPARE);
      fault = message;
    }
  }
  return {
    signers: () => (signers.settled ? signers.known() : undefined),
    warnings: () => [
      ...watches.warnings(),
      ...(fault === undefined ? [] : [messages.notCompared(fault)]),
      ...pass.warnings(),
    ],
    run: async (signal) => {
      const watching = [signers.run(signal), watches.run(signal)];
      while (!signal.aborted) {
        if (leads()) await look();
        await wakeup.wait(LOOK_MILLISECONDS, signal);
      }
      await Promise.all(watching);
    },
  };
}

/** The seen certificates and their comparison. */
class Look {
  readonly #init: MonitorInit;
  readonly #signers: () => readonly ClusterSigner[];
  readonly #cas = new MonitoredCas();
  readonly #findings: UnrecordedCertificates;
  readonly #waiting = new Map<string, UnconfirmedCertificate>();
  readonly #settled = new BoundedMap<string, true>(MAX_SETTLED);
  /** Number of certificates that each gap explains. */
  readonly #explained = new Map<string, number>();
  /** Known limits of the ledger, cached for one comparison. */
  #limits: LedgerLimits | undefined;

  constructor(init: MonitorInit, signers: () => readonly ClusterSigner[]) {
    this.#init = init;
    this.#signers = signers;
    this.#findings = new UnrecordedCertificates(init.component, init.namespace);
  }

  see(object: SeenObject): void {
    for (const der of certificatesOf(object)) {
      const print = fingerprint(der);
      if (this.#settled.get(print) === true || this.#waiting.has(print)) continue;
      this.#waiting.set(print, { der, seenIn: placeOf(object), since: undefined });
    }
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

  async look(): Promise<void> {
    this.#limits = undefined;
    const all = [...this.#waiting];
    for (let at = 0; at < all.length; at += LOOKED_AT_TOGETHER) {
      const some = all.slice(at, at + LOOKED_AT_TOGETHER);
      const recorded = new Set(await this.#init.store.recorded(some.map(([print]) => print)));
      for (const [print, waiting] of some) {
        if (recorded.has(print)) this.#settled.set(print, true);
        else if (!(await this.#settle(print, waiting))) continue;
        this.#waiting.delete(print);
      }
    }
    this.#say();
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
    { seenIn }: UnconfirmedCertificate,
  ): Promise<UnrecordedCertificate> {
    this.#limits ??= await limitsOf(this.#init.store);
    const isOpen = this.#findings.has({ fingerprint });
    const explanation = isOpen
      ? undefined
      : explanationOf(certificate, ca, this.#limits, this.#explained);
    return {
      fingerprint,
      serial: certificate.serialNumber.toLowerCase(),
      ca: ca.fingerprint,
      signer: ca.signer,
      seenIn,
      notBefore: certificate.validFromDate.toISOString(),
      notAfter: certificate.validToDate.toISOString(),
      seenAt: new Date(this.#init.component.clock()).toISOString(),
      ...(explanation === undefined ? {} : { explanation }),
    };
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
