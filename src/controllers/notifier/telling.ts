// SPDX-License-Identifier: Apache-2.0
/** What each target is told in the term of one leader, and how far it has got. */
import { createHash } from 'node:crypto';
import type { ClusterSigner } from '../../api/signer/cluster-signer.ts';
import { isNewer } from '../../kube/resource/object.ts';
import { cursorOf, type Cursor } from './cursor.ts';
import type { Mark } from './delivery/outbox.ts';
import type { NotifiedTarget } from './delivery/target.ts';
import { authorityOccurrences } from './events/authority-events.ts';
import { cloudEvent, type Occurrence } from './events/event.ts';
import type { WatchedCertificate } from './events/expiring.ts';
import { endOccurrence, expiringOccurrence } from './events/request-events.ts';
import type { RequestPlural, SeenRequest } from './events/seen-request.ts';

/** What a term is made of. */
export interface TellingInit {
  readonly source: string;
  readonly targets: readonly NotifiedTarget[];
  /** What was kept of the terms before, by target. */
  readonly cursors: ReadonlyMap<string, Cursor>;
  readonly expiringMs: number;
  /** The name of the signer of ours that a request asks; undefined: it asks none. */
  readonly signerNameOf: (request: SeenRequest) => string | undefined;
  /** When the term begins, in milliseconds since 1970. */
  readonly now: number;
}

interface Told {
  readonly target: NotifiedTarget;
  readonly start: Cursor | undefined;
  /** Short names of what was told of CAs. */
  states: Set<string>;
}

const AUTHORITY_FLOW = 'authorities';
/** Of an id of a CA's event: enough to tell some thousand apart, and short in a ConfigMap. */
const SHORT_NAME_LENGTH = 16;
/** A ConfigMap has a MiB. Beyond it a CA may be told of again by the next process. */
const MOST_STATES = 4_000;

/** The term of a leader: from the cursors to the cursors. */
export class Telling {
  readonly #init: TellingInit;
  readonly #told: readonly Told[];
  /** Resources whose first list was looked at in this term, and the version that their caches have reached. */
  readonly #reached = new Map<RequestPlural, string>();
  #lookedAt: number | undefined;
  #authoritiesKnown = false;

  constructor(init: TellingInit) {
    this.#init = init;
    this.#told = init.targets.map((target) => {
      const kept = init.cursors.get(target.name);
      // By a clock that was ahead, or whoever else may write it: it hides nothing that is still to come.
      const start = kept && { ...kept, due: Math.min(kept.due, init.now) };
      return { target, start, states: new Set(start?.told) };
    });
  }

  /** Whether requests of this resource are told of. */
  joined(plural: RequestPlural): boolean {
    return this.#reached.has(plural);
  }

  /**
   * Begins with a resource: of what is there, a target is told what has changed since its cursor. One that has none begins
   * now. A cursor ahead of the cache is of an etcd that was restored since: everything that is there is told.
   */
  join(plural: RequestPlural, reached: string, requests: readonly SeenRequest[]): void {
    this.#reached.set(plural, reached);
    for (const { target, start } of this.#told) {
      const kept = start?.versions[plural];
      if (kept === undefined) continue;
      const from = isNewer(kept, reached) ? '0' : kept;
      for (const request of requests)
        if (isNewer(request.metadata.resourceVersion, from)) this.#tellEnd(request, [target]);
    }
  }

  /** A request has changed. */
  changed(now: SeenRequest, before: SeenRequest | undefined): void {
    const isSame =
      before?.metadata.uid === now.metadata.uid && before.end?.stage === now.end?.stage;
    if (!isSame) this.#tellEnd(now, this.#init.targets);
  }

  /** The cache of a resource has got so far. */
  reach(plural: RequestPlural, version: string): void {
    this.#reached.set(plural, version);
  }

  /** A certificate is due and has no successor. */
  expiring(certificate: WatchedCertificate, now: number): void {
    const signerName = this.#init.signerNameOf(certificate.request);
    if (signerName === undefined) return;
    const { request, dueAt: at } = certificate;
    const targets = this.#told.filter(({ start }) => !this.#wasDue(start, at));
    this.#push(
      expiringOccurrence(request, signerName, now),
      { flow: request.flow, mark: { kind: 'due', at } },
      targets.map(({ target }) => target),
    );
  }

  #wasDue(start: Cursor | undefined, at: number): boolean {
    // By another threshold, other certificates were due.
    return start?.expiring === this.#init.expiringMs && at <= start.due;
  }

  /** All certificates that are due have been looked at. */
  looked(now: number): void {
    this.#lookedAt = now;
  }

  /** Tells what is new of the CAs of all signers. */
  authorities(signers: readonly ClusterSigner[], now: number): void {
    const found = new Map<string, Occurrence>();
    for (const signer of signers)
      for (const each of authorityOccurrences(signer, now, this.#init.expiringMs))
        found.set(shortName(each.id), each);
    for (const told of this.#told) {
      // Who has no cursor begins now.
      const isFirst = !this.#authoritiesKnown && told.start === undefined;
      for (const [key, occurrence] of found)
        if (!isFirst && !told.states.has(key))
          this.#push(occurrence, { flow: AUTHORITY_FLOW, mark: { kind: 'state', key } }, [
            told.target,
          ]);
      told.states = new Set(found.keys());
    }
    this.#authoritiesKnown = true;
  }

  /** How far each target has got, by name. */
  cursors(): ReadonlyMap<string, Cursor> {
    return new Map(
      this.#told.map(({ target, start, states }) => {
        const reached = new Map<string, string>([
          ...Object.entries(start?.versions ?? {}),
          ...this.#reached,
        ]);
        const progress = {
          ...{ reached, expiring: this.#init.expiringMs },
          lookedAt: this.#lookedAt ?? start?.due ?? this.#init.now,
          told: new Set([...states].slice(0, MOST_STATES)),
        };
        return [target.name, cursorOf(progress, target.pending())];
      }),
    );
  }

  #tellEnd(request: SeenRequest, targets: readonly NotifiedTarget[]): void {
    if (request.end === undefined) return;
    const signerName = this.#init.signerNameOf(request);
    const occurrence = signerName === undefined ? undefined : endOccurrence(request, signerName);
    if (occurrence === undefined) return;
    const { plural: resource, metadata, flow } = request;
    const mark: Mark = { kind: 'version', resource, version: BigInt(metadata.resourceVersion) };
    this.#push(occurrence, { flow, mark }, targets);
  }

  #push(
    occurrence: Occurrence,
    of: { readonly flow: string; readonly mark: Mark },
    targets: readonly NotifiedTarget[],
  ): void {
    const wanting = targets.filter(({ events }) => events.has(occurrence.name));
    if (wanting.length === 0) return;
    const { id } = occurrence;
    // One text for all.
    const body = cloudEvent(this.#init.source, occurrence);
    for (const target of wanting) target.push({ id, body, ...of });
  }
}

function shortName(id: string): string {
  return createHash('sha256').update(id).digest('hex').slice(0, SHORT_NAME_LENGTH);
}
