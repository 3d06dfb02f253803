// SPDX-License-Identifier: Apache-2.0
/**
 * Names of Services in leaves that were delivered before this process began, or by another replica.
 * The ledger records them.
 */
import { parseDuration } from '#api/object/duration.ts';
import type { Service } from '#api/object/service.ts';
import { formatTime, parseTime } from '#api/object/time.ts';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import type { SignerObject } from '#api/signer/cluster-signer.ts';
import type { ListedRecord } from '#ledger/records/listed.ts';
import type { LedgerReader } from '#ledger/sender/reader.ts';
import type { Component } from '#component/contract.ts';
import { serverTime } from '#component/server-time.ts';
import {
  createFacts,
  deliveredLeaf,
  recordPages,
  selectorValue,
  type FactsReader,
} from '#requests/recording/facts.ts';
import { podRequestOf } from '#requests/recording/recorded-pod.ts';
import { createOutdatedNames, type OutdatedNames, type SayOfPod } from './outdated-names.ts';

export interface RecordedNamesInit {
  readonly component: Component;
  readonly ledger: LedgerReader;
  /** Signers that need Services. */
  readonly signers: () => readonly SignerObject[];
  /** False while Services would appear to be missing. */
  readonly areServicesListed: () => boolean;
  readonly serviceOf: (namespace: string, name: string) => Service | undefined;
  readonly say: SayOfPod;
  readonly count: (signerName: string, leaves: number) => void;
  /** Called when the ledger no longer counts for a signer name. */
  readonly onAway: (signerName: string) => void;
}

/** Tracks the names that the ledger records, and their changes since. */
export interface RecordedNames
  extends
    Pick<OutdatedNames, 'refused' | 'changed' | 'listed' | 'sweep'>,
    Pick<FactsReader, 'warnings' | 'run'> {
  /**
   * Reports whether all records of a signer name are read. Then they count instead of what this
   * process delivered.
   */
  readonly isCurrent: (signerName: string) => boolean;
}

/** Shard key: one replica reads, the others count what they delivered. */
const KEY = 'recorded-names';

export function createRecordedNames(init: RecordedNamesInit): RecordedNames {
  return new LedgerRecordedNames(init);
}

class LedgerRecordedNames implements RecordedNames {
  readonly #init: RecordedNamesInit;
  readonly #names: OutdatedNames;
  readonly #facts: FactsReader;
  /** The last record that was read, by signer name. */
  readonly #after = new Map<string, string>();
  /** Signer names that the ledger counts for. */
  #current: ReadonlySet<string> = new Set();

  constructor(init: RecordedNamesInit) {
    const { component } = init;
    const begun = serverTime(component);
    this.#init = init;
    this.#names = createOutdatedNames({
      now: () => serverTime(component),
      // The delivering replica reports later ones.
      say: (request, said) => {
        if (parseTime(request.metadata.creationTimestamp) < begun) init.say(request, said);
      },
      count: (signerName, leaves) => {
        if (this.isCurrent(signerName)) init.count(signerName, leaves);
      },
    });
    this.#facts = createFacts(component, async (signal) => {
      try {
        this.#turn(await this.#read(signal));
      } catch (error) {
        this.#turn([]);
        throw error;
      }
      return this.#current.size > 0;
    });
  }

  isCurrent(signerName: string): boolean {
    return this.#current.has(signerName);
  }

  refused(request: PodCertificateRequest): void {
    this.#names.refused(request);
  }

  changed(namespace: string, name: string, now: Service | undefined): void {
    this.#names.changed(namespace, name, now);
  }

  listed(now: Parameters<OutdatedNames['listed']>[0]): void {
    this.#names.listed(now);
  }

  sweep(): void {
    this.#names.sweep();
  }

  warnings(): readonly string[] {
    return this.#facts.warnings();
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#facts.run(signal);
  }

  /** Returns the signer names whose records are all read. */
  async #read(signal: AbortSignal): Promise<readonly string[]> {
    const { component, signers, areServicesListed } = this.#init;
    if (!areServicesListed() || !component.shard.owns(KEY)) return [];
    const served = signers();
    for (const signer of served) if (!(await this.#readOf(signer, signal))) return [];
    return served.map(({ spec }) => spec.signerName);
  }

  /** Makes the ledger count for these signer names only, so that no old number stays. */
  #turn(names: readonly string[]): void {
    const { count, onAway } = this.#init;
    const before = this.#current;
    this.#current = new Set(names);
    for (const name of before) if (!this.#current.has(name)) onAway(name);
    for (const name of names) if (!before.has(name)) count(name, 0);
    this.#names.sweep();
  }

  /** Reads the records of a signer. Returns false if the Services are not listed. */
  async #readOf({ spec }: SignerObject, signal: AbortSignal): Promise<boolean> {
    const { component, ledger, areServicesListed } = this.#init;
    const name = spec.signerName;
    const since = serverTime(component) - parseDuration(spec.profile.maxDuration) * 1000;
    const selector = `kind=issued,signer=${selectorValue(name)},since=${formatTime(since)}`;
    const query = { ledger, selector, after: this.#after.get(name) };
    for await (const page of recordPages(component, query, signal)) {
      // The last signer that needs Services may be gone meanwhile, and their watch with it.
      if (!areServicesListed()) return false;
      for (const listed of page) {
        // Other signer names would create their own series.
        if (listed.record?.signer.name === name) this.#see(listed);
        this.#after.set(name, listed.name);
      }
    }
    return true;
  }

  #see(listed: ListedRecord): void {
    const found = provenIn(listed);
    if (found === undefined || found.notAfter <= serverTime(this.#init.component)) return;
    const { namespace = '' } = found.request.metadata;
    this.#names.recorded(found.request, found, (name) => this.#init.serviceOf(namespace, name));
  }
}

interface ProvenRequest {
  readonly request: PodCertificateRequest;
  readonly services: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly notAfter: number;
}

/** Returns a delivered leaf with names of Services from the ledger, or undefined. */
function provenIn(listed: ListedRecord): ProvenRequest | undefined {
  const { record } = listed;
  if (record?.kind !== 'issued') return undefined;
  const { services, labels = {} } = record.decision ?? {};
  const request = podRequestOf(record);
  if (services === undefined || request === undefined) return undefined;
  const leaf = deliveredLeaf(listed);
  return leaf && { request, services, labels, notAfter: leaf.notAfter };
}
