// SPDX-License-Identifier: Apache-2.0
/** Tracks what each target was sent while this replica leads. */
import { createHash } from 'node:crypto';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { isNewer } from '#kube/resource/object.ts';
import { cursorOf, type Cursor } from './cursor.ts';
import type { Mark } from './delivery/outbox.ts';
import type { NotifiedTarget } from './delivery/target.ts';
import { authorityOccurrences } from './events/authority-events.ts';
import { cloudEvent, type Occurrence } from './events/event.ts';
import type { WatchedCertificate } from './events/expiring.ts';
import { endOccurrence, expiringOccurrence } from './events/request-events.ts';
import type { RequestPlural, SeenRequest } from './events/seen-request.ts';

/** Dependencies of a session. */
export interface NotificationSessionInit {
  readonly source: string;
  readonly targets: readonly NotifiedTarget[];
  /** Cursors of earlier sessions, by target. */
  readonly cursors: ReadonlyMap<string, Cursor>;
  readonly expiringMs: number;
  /** Returns the name of the managed signer of a request, or undefined for another signer. */
  readonly signerNameOf: (request: SeenRequest) => string | undefined;
  /** Start of the session, in milliseconds since 1970. */
  readonly now: number;
}

interface SentEvent {
  readonly target: NotifiedTarget;
  readonly start: Cursor | undefined;
  /** Short names of the sent events about CAs. */
  states: Set<string>;
  /** The last known cursor. */
  cursor: Cursor | undefined;
}

const AUTHORITY_FLOW = 'authorities';
/**
 * Characters of a short name: enough to distinguish some thousand ids, and short in a ConfigMap.
 */
const SHORT_NAME_LENGTH = 16;
/**
 * Short names in a cursor at most, because a ConfigMap has one MiB. The next process may repeat
 * events beyond it.
 */
const MAX_STATES = 4_000;

/** A session of the leader. It starts from the stored cursors, and provides the new ones. */
export class NotificationSession {
  readonly #init: NotificationSessionInit;
  readonly #told: readonly SentEvent[];
  /**
   * Resources whose first list was processed in this session, and the versions that their caches
   * have reached.
   */
  readonly #reached = new Map<RequestPlural, string>();
  #lookedAt: number | undefined;
  #authoritiesKnown = false;

  constructor(init: NotificationSessionInit) {
    this.#init = init;
    this.#told = init.targets.map((target) => {
      const kept = init.cursors.get(target.name);
      // A fast clock or another client may have written a time in the future, which would suppress
      // later events.
      const start = kept && { ...kept, due: Math.min(kept.due, init.now) };
      return { target, start, states: new Set(start?.told), cursor: start };
    });
  }

  /** Reports whether requests of this resource are processed. */
  joined(plural: RequestPlural): boolean {
    return this.#reached.has(plural);
  }

  /**
   * Processes the first list of a resource. A target gets events about requests that changed after
   * its cursor. A target without a cursor begins now. A cursor ahead of the cache predates the
   * restore of an etcd backup, so all requests are sent.
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

  /** Processes a changed request. */
  changed(now: SeenRequest, before: SeenRequest | undefined): void {
    const isSame =
      before?.metadata.uid === now.metadata.uid && before.end?.stage === now.end?.stage;
    if (!isSame) this.#tellEnd(now, this.#init.targets);
  }

  /** Records the version that the cache of a resource has reached. */
  reach(plural: RequestPlural, version: string): void {
    this.#reached.set(plural, version);
  }

  /** Sends the event about a due certificate without a successor. */
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
    // Another threshold made other certificates due.
    return start?.expiring === this.#init.expiringMs && at <= start.due;
  }

  /** Records that all due certificates were processed. */
  looked(now: number): void {
    this.#lookedAt = now;
  }

  /** Sends the new events about the CAs of all signers. */
  authorities(signers: readonly ClusterSigner[], now: number): void {
    const found = new Map<string, Occurrence>();
    for (const signer of signers)
      for (const each of authorityOccurrences(signer, now, this.#init.expiringMs))
        found.set(shortName(each.id), each);
    for (const told of this.#told) {
      // A target without a cursor begins now.
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

  /** Returns the progress of each target, by name. */
  cursors(): ReadonlyMap<string, Cursor> {
    return new Map(this.#told.map((told) => [told.target.name, this.#cursorOf(told)]));
  }

  #cursorOf(told: SentEvent): Cursor {
    const { target, start, states, cursor } = told;
    // A retired target takes no events, which the next process has to send.
    if (target.isGone && cursor !== undefined) return cursor;
    const reached = new Map<string, string>([
      ...Object.entries(start?.versions ?? {}),
      ...this.#reached,
    ]);
    const lookedAt = this.#lookedAt ?? start?.due ?? this.#init.now;
    // The `due` of a start is of its own threshold.
    const isExamined = this.#lookedAt !== undefined || start === undefined;
    const expiring = isExamined ? this.#init.expiringMs : start.expiring;
    const progress = {
      reached,
      expiring,
      lookedAt,
      told: new Set([...states].slice(0, MAX_STATES)),
    };
    told.cursor = cursorOf(progress, target.pending());
    return told.cursor;
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
    // All targets share one text.
    const body = cloudEvent(this.#init.source, occurrence);
    for (const target of wanting) target.push({ id, body, ...of });
  }
}

function shortName(id: string): string {
  return createHash('sha256').update(id).digest('hex').slice(0, SHORT_NAME_LENGTH);
}
