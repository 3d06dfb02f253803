// SPDX-License-Identifier: Apache-2.0
import { refOfAcmeSigner, type AcmeSigner } from '#api/acme/acme-signer.ts';
import { SIGNER_VERSION_ANNOTATION } from '#api/acme/names.ts';
import { CA_UNUSABLE, type Order } from '#api/acme/order.ts';
import { BoundedMap } from '#base/bounded-map.ts';
import { keyOfRef } from '#component/signers/acme-signers.ts';
import { signerVersionOf } from './signer-version.ts';
import * as messages from '../messages.ts';

/** Reason that a signer orders nothing new. */
export interface SignerHold {
  /** Time of the next Order that tries the CA, in milliseconds since 1970. */
  readonly until: number;
  readonly message: string;
}

/**
 * Signers whose CA returns certificates that they allow no request. One Order at a time tries the
 * CA again, because each uses up a share of its limits.
 */
export interface SignerHolds {
  /** Records a change of an Order. Undefined: it does not exist. */
  readonly observe: (now: Order | undefined, before: Order | undefined) => void;
  /**
   * Returns the hold of a signer in its present version, or undefined if it may order.
   *
   * @param now - milliseconds since 1970
   */
  readonly of: (signer: AcmeSigner, now: number) => SignerHold | undefined;
  /** Counts a new Order from before its creation. @returns call it after the creation */
  readonly creating: (signer: AcmeSigner, uid: string, now: number) => () => void;
}

/** Wait for the first Order that tries the CA again. It doubles with each one that ends alike. */
const FIRST_PROBE_MS = 3600_000;
const MAX_PROBE_MS = 24 * FIRST_PROBE_MS;
/** Limit on remembered versions of signers, a few hundred bytes each. */
const MAX_SIGNERS = 1_000;

/** Results of the CA for one version of a signer. */
interface Failures {
  /** Orders that ended alike, one after another. Orders that were live together count once. */
  readonly count: number;
  /** End of the last one, in milliseconds since 1970. */
  readonly at: number;
  readonly message: string;
}

/** Ends of Orders, by the version of their signer. A list of Orders has them in any order. */
interface Ends {
  readonly failed: BoundedMap<string, Failures>;
  /** Time of the last issued certificate. */
  readonly issued: BoundedMap<string, number>;
}

/** Creates holds of no signer. */
export function createSignerHolds(): SignerHolds {
  const ends: Ends = {
    failed: new BoundedMap(MAX_SIGNERS),
    issued: new BoundedMap(MAX_SIGNERS),
  };
  const live = createLiveOrders();
  return {
    observe: (now, before) => {
      const order = now ?? before;
      if (order === undefined) return;
      const key = keyOfOrder(order);
      // A user may have changed the annotation in the key.
      if (before !== undefined) live.forget(keyOfOrder(before), before.metadata.uid);
      if (!hasEnded(now))
        live.remember(key, order.metadata.uid, Date.parse(order.metadata.creationTimestamp));
      // Another change of an ended Order has no news of the CA.
      if (now !== undefined && hasEnded(now) && (before === undefined || !hasEnded(before)))
        noteEnd(ends, key, now);
    },
    of: (signer, now) => {
      const failed = ends.failed.get(keyOfSigner(signer));
      if (failed === undefined) return undefined;
      const waitMs = Math.min(FIRST_PROBE_MS * 2 ** (failed.count - 1), MAX_PROBE_MS);
      // An Order that tries the CA keeps others back only as long as one that has ended.
      const tried = live.of(keyOfSigner(signer)).filter((at) => at > failed.at);
      const until = Math.max(failed.at + waitMs, ...tried.map((at) => at + FIRST_PROBE_MS));
      if (until <= now) return undefined;
      return { until, message: messages.signerHeld(failed.message, new Date(until).toISOString()) };
    },
    creating: (signer, uid, now) => {
      const key = keyOfSigner(signer);
      live.remember(key, `creating ${uid}`, now);
      return () => {
        live.forget(key, `creating ${uid}`);
      };
    },
  };
}

/** Times of the creation of live Orders, by a version of their signer and their uid. */
interface LiveOrders {
  readonly remember: (key: string, uid: string, at: number) => void;
  readonly forget: (key: string, uid: string) => void;
  readonly of: (key: string) => readonly number[];
}

function createLiveOrders(): LiveOrders {
  const live = new Map<string, Map<string, number>>();
  return {
    remember: (key, uid, at) => {
      live.set(key, (live.get(key) ?? new Map<string, number>()).set(uid, at));
    },
    forget: (key, uid) => {
      const orders = live.get(key);
      orders?.delete(uid);
      if (orders?.size === 0) live.delete(key);
    },
    of: (key) => [...(live.get(key)?.values() ?? [])],
  };
}

/** Reports whether an Order changes no more. A deleted one has ended. */
function hasEnded(order: Order | undefined): boolean {
  return order?.status.finalAt !== undefined || order === undefined;
}

function keyOfSigner(signer: AcmeSigner): string {
  const key = keyOfRef(refOfAcmeSigner(signer), signer.metadata.namespace ?? '');
  return `${key} ${signerVersionOf(signer)}`;
}

/** Includes the signer: no user may change the spec, unlike the annotation. */
function keyOfOrder({ metadata, spec }: Order): string {
  const version = metadata.annotations?.[SIGNER_VERSION_ANNOTATION] ?? '';
  return `${keyOfRef(spec.signerRef, metadata.namespace ?? '')} ${version}`;
}

function noteEnd({ failed, issued }: Ends, key: string, { metadata, status }: Order): void {
  const { state, reason, message = '', finalAt = '' } = status;
  const at = Date.parse(finalAt);
  const known = failed.get(key);
  const issuedAt = issued.get(key) ?? -Infinity;
  if (state === 'valid') {
    issued.set(key, Math.max(at, issuedAt));
    if (known !== undefined && at > known.at) failed.delete(key);
  }
  if (reason === CA_UNUSABLE && at >= issuedAt)
    failed.set(
      key,
      oneMore(known, { at, message, createdAt: Date.parse(metadata.creationTimestamp) }),
    );
}

function oneMore(
  { count, at: last }: Pick<Failures, 'count' | 'at'> = { count: 0, at: -Infinity },
  { at, message, createdAt }: Omit<Failures, 'count'> & { readonly createdAt: number },
): Failures {
  return { count: count + (createdAt > last ? 1 : 0), at: Math.max(at, last), message };
}
