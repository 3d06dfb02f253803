// SPDX-License-Identifier: Apache-2.0
import { keyOf } from '#api/object/object.ts';
import type { Pod } from '#api/object/pod.ts';
import type { Workload } from '#api/workload/workload.ts';
import { usedCredentials, type UsedCredentials } from './credentials/used-credentials.ts';
import type { ChangedCredential, CredentialSource } from './credential-source.ts';
import type { OptIn, RestartWay } from './opt-in.ts';
import { ownFindings, type OwnFindings } from './own-findings.ts';
import { CERTIFICATES, parseRecord, type CertificateRecord } from './record.ts';
import { nextOpening, type RefreshWindow } from './window.ts';

/** Restart state of an opted-in workload. Times are milliseconds since the epoch. */
export interface RestartState {
  /** `Deployment/team-a/web`. */
  readonly key: string;
  readonly workload: Workload;
  /** Default: `rollout`. */
  readonly way?: RestartWay;
  readonly changes: readonly ChangedCredential[];
  /** Reasons why certificates of its Secrets are unknown. */
  readonly unknown: readonly string[];
  /** Earliest time of a restart: its certificates have settled, and its window is open. */
  readonly dueAt: number;
  /** Latest time of a restart, regardless of the window. */
  readonly deadline: number;
  /** The record that its template will get. */
  readonly record: CertificateRecord;
  /** Check of its pods' own credentials. Undefined if nothing depends on it, or it is done. */
  readonly own?: OwnLook;
}

/** A check that needs the pods of a workload. */
export interface OwnLook {
  /** A text that changes whenever the findings may change. */
  readonly version: string;
  readonly find: (pods: readonly Pod[]) => OwnFindings;
  readonly with: (findings: OwnFindings) => SeenRestartState;
}

/** A restart state with the findings on the workload's pods. */
export type SeenRestartState = RestartState & Omit<OwnFindings, 'changes'>;

/** Settings that decide when workloads become due. */
export interface DueTimes {
  /**
   * Delay after the last change, so that several certificates of one workload cause one rollout.
   */
  readonly debounceMs: number;
  /** Window of workloads without one of their own. */
  readonly window: RefreshWindow | undefined;
}

/** Maximum delay of a restart, in debounces, if a certificate changes again and again. */
const MAX_DEBOUNCES = 10;
/**
 * Share of the previous certificate's remaining validity after which a restart ignores its window.
 */
const WINDOW_SHARE = 1 / 3;

/** Returns the key of a workload among those of all three kinds. */
export function workloadKey({ kind, metadata }: Workload): string {
  return `${kind}/${keyOf(metadata)}`;
}

/** Compares a workload's template record with its current credentials. */
export function restartStateOf(
  workload: Workload,
  { mode, way, window }: Extract<OptIn, { kind: 'in' }>,
  source: CredentialSource,
  { now, ...times }: DueTimes & { readonly now: number },
): RestartState {
  const recorded = parseRecord(workload.spec.template.metadata?.annotations?.[CERTIFICATES]);
  const used = usedCredentials(workload.spec.template);
  const { known, unknown } = secretsOf(workload, used, source);
  const kept = new Map([...recorded].filter(([credential]) => isStillUsed(credential, used)));
  const base = { key: workloadKey(workload), workload, way, unknown };
  const timed = { ...times, window: window ?? times.window, now };
  const state = { ...base, ...timedChanges(known, recorded, kept, timed) };
  if (mode !== 'restart' && !source.isAnyDistrusted) return state;
  const { namespace = '' } = workload.metadata;
  const asked = { namespace, recorded, used, source, now, readsOnce: mode === 'restart' };
  const withFindings = ({ changes, ...findings }: OwnFindings): SeenRestartState => {
    const all = timedChanges([...known, ...changes], recorded, kept, timed);
    // A pod that is accepted until then may have an older credential.
    const unwritten = all.changes.map(({ leaf }) => leaf.writtenBy).filter((time) => time > now);
    const lookAgainAt = Math.min(findings.lookAgainAt, ...unwritten);
    return { ...base, ...all, ...findings, lookAgainAt };
  };
  const find = (pods: readonly Pod[]): OwnFindings => ownFindings(pods, asked);
  return { ...state, own: { version: source.version(namespace), find, with: withFindings } };
}

function timedChanges(
  current: readonly ChangedCredential[],
  recorded: CertificateRecord,
  kept: CertificateRecord,
  times: DueTimes & { readonly now: number },
): Pick<RestartState, 'changes' | 'dueAt' | 'deadline' | 'record'> {
  const changes = current.filter(({ credential, leaf }) => recorded.get(credential) !== leaf.hash);
  const deadline = Math.min(
    Infinity,
    ...changes.map(({ leaf }) => leaf.issuedAt + leaf.remaining * WINDOW_SHARE),
  );
  const record = new Map([
    ...kept,
    ...current.map(({ credential, leaf }) => [credential, leaf.hash] as const),
  ]);
  return { changes, deadline, record, dueAt: dueAt(changes, times, deadline) };
}

function secretsOf(
  { metadata: { namespace = '' } }: Workload,
  { secrets }: UsedCredentials,
  source: CredentialSource,
): { readonly known: readonly ChangedCredential[]; readonly unknown: readonly string[] } {
  const known: ChangedCredential[] = [];
  const unknown: string[] = [];
  for (const [name, use] of secrets) {
    const found = source.secret(namespace, name);
    if (found.kind === 'known') known.push({ credential: `secret/${name}`, leaf: found.leaf, use });
    if (found.kind === 'unknown') unknown.push(found.message);
  }
  return { known, unknown };
}

/**
 * Reports whether a recorded credential stays in the record. A Secret that the template no longer
 * uses is dropped at the next restart. Credentials from the kubelet stay, since admission may add
 * volumes to each pod that the template does not show.
 */
function isStillUsed(credential: string, { secrets }: UsedCredentials): boolean {
  const [, secret] = /^secret\/(.+)$/.exec(credential) ?? [];
  return secret === undefined || secrets.has(secret);
}

function dueAt(
  changes: readonly ChangedCredential[],
  { debounceMs, window, now }: DueTimes & { readonly now: number },
  deadline: number,
): number {
  if (changes.length === 0) return Infinity;
  // A restart gives all pods their own credentials, so waiting for more of those is useless.
  const shared = changes.filter(({ leaf }) => leaf.pods === undefined);
  const times = shared.map(({ leaf }) => leaf.issuedAt);
  const settled = Math.min(
    times.length === 0 ? now : Math.max(...times) + debounceMs,
    Math.min(...times) + debounceMs * MAX_DEBOUNCES,
  );
  if (window === undefined) return settled;
  const opening = nextOpening(window, Math.max(settled, now));
  return Math.max(settled, Math.min(opening, deadline));
}
