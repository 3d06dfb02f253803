// SPDX-License-Identifier: Apache-2.0
/** Looks for certificates of our CAs that the ledger does not know: somebody else has the key. */
import { keyOf } from '../../../api/object/object.ts';
import type { ClusterSigner } from '../../../api/signer/cluster-signer.ts';
import { UNRECORDED_CERTIFICATE } from '../../../api/serving/report.ts';
import { isNamespaced } from '../../../api/signer/signer.ts';
import { BoundedMap } from '../../../bounded-map.ts';
import { messageOf } from '../../../errors.ts';
import type { LedgerStore } from '../../../ledger/index.ts';
import type { Resource } from '../../../kube/resource/resource.ts';
import { createWakeup } from '../../../kube/wait/wakeup.ts';
import { fingerprint } from '../../../pki/x509/certificate.ts';
import type { Component } from '../../../runtime/component/component.ts';
import { watchSigners } from '../../../runtime/signers/signers.ts';
import { UnrecordedCertificates, type UnrecordedCertificate } from './unrecorded.ts';
import { candidateOf, explanationOf, signerOf } from './judge.ts';
import type { Candidate, LedgerLimits, MonitoredCa } from './judge.ts';
import { limitsOf, MonitoredCas } from './knowledge.ts';
import { certificatesOf, placeOf, type SeenObject } from './seen.ts';
import { createMonitorWatches } from './watches.ts';

/** What the monitor is made of. */
export interface MonitorInit {
  readonly component: Component;
  readonly store: Pick<LedgerStore, 'find' | 'after' | 'recorded'>;
  /** Of the components. */
  readonly namespace: string;
  readonly podCertificateRequests: Resource | undefined;
  /** Secrets to look at: `namespace/name`. */
  readonly secrets: readonly string[];
  /** How long a record may arrive after its certificate: in the mode `best-effort` it waits in memory. */
  readonly patienceSeconds: number;
  /** Whether this replica leads: one looks. */
  readonly leads: () => boolean;
}

/** The monitor as the ledger runs it. */
export interface Monitor {
  /** The signers that it sees; nothing before all are known. */
  readonly signers: () => readonly ClusterSigner[] | undefined;
  readonly warnings: () => readonly string[];
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/** How often to look again, at least: at what waits for its record, and to say what was found. */
const LOOK_MILLISECONDS = 5_000;
/** Certificates of our CAs that are not looked at again. */
const MOST_SETTLED = 200_000;

/** Certificates that the ledger is asked for at once. */
const LOOKED_AT_TOGETHER = 250;

interface Waiting {
  readonly der: Uint8Array;
  readonly seenIn: string;
  /** When the ledger was first asked in vain. */
  since: number | undefined;
}

/** Watches, asks, and says what it has found. */
export function createMonitor(init: MonitorInit): Monitor {
  const { component, leads } = init;
  const wakeup = createWakeup(component.delay);
  const signers = watchSigners(component);
  const pass = new Look(init, () => signers.known());
  const watches = createMonitorWatches({
    ...init,
    // The next look is soon enough: a record may arrive minutes after its certificate.
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
      if (fault !== message)
        component.log.warn({ error: message }, 'cannot look for certificates without a record');
      fault = message;
    }
  }
  return {
    signers: () => (signers.settled ? signers.known() : undefined),
    warnings: () => [
      ...watches.warnings(),
      ...(fault === undefined
        ? []
        : [`certificates without a record are not looked for: ${fault}`]),
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

/** What was seen, and what became of it. */
class Look {
  readonly #init: MonitorInit;
  readonly #signers: () => readonly ClusterSigner[];
  readonly #cas = new MonitoredCas();
  readonly #findings: UnrecordedCertificates;
  readonly #waiting = new Map<string, Waiting>();
  readonly #settled = new BoundedMap<string, true>(MOST_SETTLED);
  /** Certificates that each gap explains. */
  readonly #explained = new Map<string, number>();
  /** What the ledger cannot know, as of this look. */
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

  /** Returns whether there is a CA that was not known before. */
  async refresh(): Promise<boolean> {
    await this.#findings.read();
    return this.#cas.refresh(this.#init.store, this.#signers());
  }

  warnings(): readonly string[] {
    const { missing } = this.#cas;
    const count = missing.length;
    return count === 0
      ? []
      : [`certificates of ${count} CAs are not looked for: no record has the CA`];
  }

  async look(): Promise<void> {
    this.#limits = undefined;
    const all = [...this.#waiting];
    for (let at = 0; at < all.length; at += LOOKED_AT_TOGETHER) {
      const some = all.slice(at, at + LOOKED_AT_TOGETHER);
      const recorded = new Set(await this.#init.store.recorded(some.map(([print]) => print)));
      for (const [print, waiting] of some) {
        if (recorded.has(print)) this.#settled.set(print, true);
        else if (!(await this.#isSettled(print, waiting))) continue;
        this.#waiting.delete(print);
      }
    }
    this.#say();
  }

  /**
   * Whether nothing more is to be found out of a certificate without a record. One of another CA is seen again when there is
   * a new one.
   */
  async #isSettled(print: string, waiting: Waiting): Promise<boolean> {
    const { component, patienceSeconds } = this.#init;
    const candidate = candidateOf(waiting.der, this.#cas.all());
    if (candidate === undefined) return true;
    const ca = signerOf(candidate);
    if (ca !== undefined) {
      waiting.since ??= component.clock();
      if (component.clock() - waiting.since < patienceSeconds * 1000) return false;
      await this.#found(await this.#findingOf(candidate, ca, waiting));
    }
    this.#settled.set(print, true);
    return true;
  }

  async #findingOf(
    { certificate, fingerprint }: Candidate,
    ca: MonitoredCa,
    { seenIn }: Waiting,
  ): Promise<UnrecordedCertificate> {
    this.#limits ??= await limitsOf(this.#init.store);
    const isOpen = this.#findings.has({ fingerprint });
    const explanation = isOpen
      ? undefined
      : explanationOf(certificate, ca, this.#limits, this.#explained);
    return {
      ...{ fingerprint, serial: certificate.serialNumber.toLowerCase() },
      ...{ ca: ca.fingerprint, signer: ca.signer, seenIn },
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
    component.log.error({ serial, ca, signer, seenIn }, 'a certificate of our CA has no record');
    const about = this.#signers().find(({ metadata }) => keyOf(metadata) === signer);
    // There is no permission to record Events in a Signer's namespace: its status says it.
    if (about === undefined || isNamespaced(about)) return;
    const { apiVersion, kind, metadata } = about;
    await component.events.recordOnce(
      {
        regarding: { apiVersion, kind, name: metadata.name, uid: metadata.uid },
        type: 'Warning',
        reason: UNRECORDED_CERTIFICATE,
        action: 'Monitor',
        note: `${seenIn} has a certificate with the serial ${serial} of CA ${ca}, and the ledger has no record of it: somebody else has the CA's key, or a record was withheld. Distrust the CA; see ConfigMap countersign-ledger-findings`,
      },
      finding.fingerprint,
    );
  }

  /** A report lapses after ten minutes: it is said again with each look. */
  #say(): void {
    const { component } = this.#init;
    const open = this.#findings.open();
    const counts = this.#findings.counts();
    component.metrics.ledgerUnrecorded(counts.open, counts.explained);
    const bySigner = Map.groupBy(open, ({ signer }) => signer);
    for (const signer of this.#signers()) {
      const found = bySigner.get(keyOf(signer.metadata)) ?? [];
      const [first] = found;
      if (first === undefined) continue;
      const more = found.length === 1 ? '' : ` and ${found.length - 1} more`;
      component.serving.report(signer, {
        reason: UNRECORDED_CERTIFICATE,
        message: `the certificate ${first.serial} (${first.seenIn})${more} of its CA has no record: somebody else may have the CA's key; see ConfigMap countersign-ledger-findings`,
        stops: false,
      });
    }
  }
}
