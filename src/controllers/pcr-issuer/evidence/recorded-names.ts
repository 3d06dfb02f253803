// SPDX-License-Identifier: Apache-2.0
/** Names of Services in leaves that were delivered before this process began, or by another replica: the ledger knows them. */
import { parseDuration } from '../../../api/object/duration.ts';
import type { Service } from '../../../api/object/service.ts';
import { formatTime, parseTime } from '../../../api/object/time.ts';
import type { PodCertificateRequest } from '../../../api/request/pod-certificate-request.ts';
import type { SignerObject } from '../../../api/signer/cluster-signer.ts';
import type { ListedRecord } from '../../../ledger/records/listed.ts';
import type { Component } from '../../../runtime/component/component.ts';
import { serverTime } from '../../../runtime/component/server-time.ts';
import {
  createFacts,
  deliveredLeaf,
  recordPages,
  selectorValue,
  type FactsReader,
} from '../../../runtime/recording/facts.ts';
import { podRequestOf } from '../../../runtime/recording/recorded-pod.ts';
import { createOutdatedNames, type OutdatedNames, type SayOfPod } from './outdated-names.ts';

export interface RecordedNamesInit {
  readonly component: Component;
  /** Signers that ask for Services. */
  readonly signers: () => readonly SignerObject[];
  /** Before that each Service would look as if it were gone. */
  readonly areServicesListed: () => boolean;
  readonly serviceOf: (namespace: string, name: string) => Service | undefined;
  readonly say: SayOfPod;
  readonly count: (signerName: string, leaves: number) => void;
  /** The ledger no longer counts for a signer name. */
  readonly onAway: (signerName: string) => void;
}

/** What the ledger says of names, and what became of it since. */
export interface RecordedNames
  extends
    Pick<OutdatedNames, 'refused' | 'changed' | 'listed' | 'sweep'>,
    Pick<FactsReader, 'warnings' | 'run'> {
  /** Whether everything is known that the ledger has of a signer name: then this counts, and not what one process has seen. */
  readonly isCurrent: (signerName: string) => boolean;
}

/** One replica reads; the others count what they delivered. */
const KEY = 'recorded-names';

export function createRecordedNames(init: RecordedNamesInit): RecordedNames {
  return new Recorded(init);
}

class Recorded implements RecordedNames {
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
      // Of later ones it is said by who delivered them.
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

  /** Returns the signer names of which everything is known. */
  async #read(signal: AbortSignal): Promise<readonly string[]> {
    const { component, signers, areServicesListed } = this.#init;
    if (!areServicesListed() || !component.shard.owns(KEY)) return [];
    const served = signers();
    for (const signer of served) if (!(await this.#readOf(signer, signal))) return [];
    return served.map(({ spec }) => spec.signerName);
  }

  /** From now on the ledger counts for these signer names, and for no others: a number of before must not stay. */
  #turn(names: readonly string[]): void {
    const { count, onAway } = this.#init;
    const before = this.#current;
    this.#current = new Set(names);
    for (const name of before) if (!this.#current.has(name)) onAway(name);
    for (const name of names) if (!before.has(name)) count(name, 0);
    this.#names.sweep();
  }

  /** Returns false where it cannot be told what became of the Services. */
  async #readOf({ spec }: SignerObject, signal: AbortSignal): Promise<boolean> {
    const { component, areServicesListed } = this.#init;
    const name = spec.signerName;
    const since = serverTime(component) - parseDuration(spec.profile.maxDuration) * 1000;
    const selector = `kind=issued,signer=${selectorValue(name)},since=${formatTime(since)}`;
    const query = { selector, after: this.#after.get(name) };
    for await (const page of recordPages(component, query, signal)) {
      // The last signer that asks for Services may have gone meanwhile, and their watch with it.
      if (!areServicesListed()) return false;
      for (const listed of page) {
        // A name that nobody serves would be a series of its own.
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

interface Found {
  readonly request: PodCertificateRequest;
  readonly services: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly notAfter: number;
}

/** A leaf with names of Services, as the ledger has it; nothing of others, and of those that reached nobody. */
function provenIn(listed: ListedRecord): Found | undefined {
  const { record } = listed;
  if (record?.kind !== 'issued') return undefined;
  const { services, labels = {} } = record.decision ?? {};
  const request = podRequestOf(record);
  if (services === undefined || request === undefined) return undefined;
  const leaf = deliveredLeaf(listed);
  return leaf && { request, services, labels, notAfter: leaf.notAfter };
}
