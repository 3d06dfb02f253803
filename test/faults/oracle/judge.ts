// SPDX-License-Identifier: Apache-2.0
import type { X509Certificate } from 'node:crypto';
import { hasTrueCondition } from '#api/request/conditions.ts';
import { isEnded } from '../lab/ended.ts';
import type { AnyRequest, Kind, Wanted } from '../lab/wanted.ts';
import { faultOfLeaf, leafOf, serialOf } from './leaf.ts';
import type { Signatures } from './signatures.ts';
import type { Write } from './writes.ts';

/** Everything that a verdict rests on: three books that know nothing of each other. */
export interface Evidence {
  readonly wanted: readonly Wanted[];
  /** UID → the request as it is in the end. */
  readonly objects: ReadonlyMap<string, AnyRequest>;
  /** UID → what the API server's audit log says. */
  readonly writes: ReadonlyMap<string, readonly Write[]>;
  /** UID → what our own log says. */
  readonly signatures: Signatures;
  /** The same, of the processes that still run. */
  readonly signaturesOfRunning: Signatures;
  readonly anchors: Readonly<Record<Kind, X509Certificate>>;
  /** An API server that is killed may have stored what it never wrote into its log. */
  readonly auditMayMiss: boolean;
}

export interface Violation {
  readonly wanted: Wanted;
  readonly what: string;
}

export interface Verdict {
  readonly requests: number;
  readonly delivered: number;
  readonly signed: number;
  /**
   * Signatures that nobody got although the process that made them still runs: it remembers what it
   * signed, so that it delivers that or another process does its work.
   */
  readonly wastedByRunning: number;
  readonly violations: readonly Violation[];
}

/** Signatures that nobody got. */
export function wastedOf({ signed, delivered }: Verdict): number {
  return signed - delivered;
}

export function judge(evidence: Evidence): Verdict {
  const violations: Violation[] = [];
  let delivered = 0;
  let signed = 0;
  let wastedByRunning = 0;
  for (const wanted of evidence.wanted) {
    const object = evidence.objects.get(wanted.uid);
    signed += evidence.signatures.get(wanted.uid)?.length ?? 0;
    const leaf = object && leafOf(wanted.kind, object);
    delivered += Number(leaf !== undefined);
    const serial = leaf && serialOf(leaf);
    const byRunning = evidence.signaturesOfRunning.get(wanted.uid) ?? [];
    wastedByRunning += byRunning.filter((each) => each !== serial).length;
    for (const what of faultsOf(evidence, wanted, object)) violations.push({ wanted, what });
  }
  return { requests: evidence.wanted.length, delivered, signed, wastedByRunning, violations };
}

function faultsOf(
  evidence: Evidence,
  { kind, uid }: Wanted,
  object: AnyRequest | undefined,
): readonly string[] {
  const written = faultsOfWrites(evidence.writes.get(uid) ?? []);
  if (object === undefined) return [...written, 'lost: it is gone'];
  if (!isEnded(kind, object)) return [...written, 'lost: it has not ended'];
  for (const type of ['Denied', 'Failed', 'InvalidRequest']) {
    if (hasTrueCondition(object.status?.conditions, type)) {
      return [...written, `ended as ${type}: ${JSON.stringify(object.status?.conditions)}`];
    }
  }
  return [...written, ...faultsOfDelivery(evidence, kind, object)];
}

/** Each subresource is written with success once at most. */
function faultsOfWrites(writes: readonly Write[]): readonly string[] {
  return (['approval', 'status'] as const).flatMap((subresource) => {
    const successes = writes.filter(
      (each) => each.subresource === subresource && each.code === 200,
    );
    return successes.length > 1 ? [`its ${subresource} was written ${successes.length} times`] : [];
  });
}

function faultsOfDelivery(
  { writes, signatures, anchors, auditMayMiss }: Evidence,
  kind: Kind,
  object: AnyRequest,
): readonly string[] {
  const leaf = leafOf(kind, object);
  if (leaf === undefined) return ['it ended without a certificate'];
  const faults: string[] = [];
  const { uid } = object.metadata;
  const fault = faultOfLeaf(kind, object, leaf, anchors[kind]);
  if (fault !== undefined) faults.push(`bad certificate: ${fault}`);
  if (signatures.get(uid)?.includes(serialOf(leaf)) !== true) {
    faults.push('its certificate is in no log of ours');
  }
  const status = (writes.get(uid) ?? []).filter(({ subresource }) => subresource === 'status');
  if (!auditMayMiss && !status.some(mayHaveLanded))
    faults.push('no write of it is in the audit log');
  return faults;
}

/**
 * 499 and 5xx: the API server does not know whether anybody was told, nor always what was stored.
 */
function mayHaveLanded({ code }: Write): boolean {
  return code === 200 || code === 0 || code >= 499;
}
