// SPDX-License-Identifier: Apache-2.0
import { federatedBundleName } from '../../api/object/federated-bundle.ts';
import { KubeError } from '../../kube/client/kube-error.ts';
import type { ReconcileResult } from '../../kube/workqueue/run-loop.ts';
import type { ForeignDomain } from '../../spiffe/foreign-domain.ts';
import type { JudgedBy } from '../../spiffe/judge-bundle.ts';
import { act } from './act.ts';
import {
  decideEnded,
  decideFetched,
  decideHeld,
  fetchedAt,
  isOwn,
  sequenceOf,
  sharedAmong,
  type FederatedChange,
  type FederatedLook,
  type FederatedState,
} from './decide.ts';
import type { Fetched } from './fetch.ts';
import type { Federation } from './federation.ts';
import { ownCas } from './own-cas.ts';
import { nextLook } from './schedule.ts';
import { NOTHING_TOLD, tell, type Told } from './tell.ts';

/** One look at one foreign trust domain: what time changes, then what its endpoint answered, if it did. */
export async function reconcile(federation: Federation, key: string): Promise<ReconcileResult> {
  const { component, init, signers, bundles, told, looks } = federation;
  const domain = init.domains.find(({ trustDomain }) => trustDomain === key);
  if (!component.shard.owns(key)) {
    // Another replica leads: what this one knew grows old.
    told.delete(key);
    looks.take(key);
    component.metrics.federatedState(key, undefined);
    return undefined;
  }
  // Before both lists are complete, nobody knows what is ours.
  if (!signers.settled || !bundles.synced) return 'backoff';
  const before = told.get(key) ?? NOTHING_TOLD;
  const state = stateOf(federation, key);
  if (domain === undefined) return ended(federation, state);
  if (state.existing !== undefined && !isOurOwn(federation, state))
    return again(federation, domain, notOurs(federation, state, before));
  const isOurs = ownCas(signers.known(), bundles.list(), component.secretNamespace);
  const held = await hold(federation, state, before, isOurs);
  const fetched = looks.take(key);
  if (fetched === undefined) return again(federation, domain, held);
  // Remembered now: should the write fail, the endpoint is not asked again at once.
  const lastFetch = component.clock();
  told.set(key, { ...held, lastFetch, nextFetch: lastFetch + init.shortestSeconds * 1000 });
  const now = await answered(federation, held, { trustDomain: key, fetched, isOurs });
  return again(federation, domain, now);
}

/** Nothing is remembered of it: what somebody else makes under the name is left alone. */
async function ended(federation: Federation, state: FederatedState): Promise<undefined> {
  const isEnded = federation.init.endedDomains.includes(state.trustDomain);
  if (!isEnded || !isOurOwn(federation, state)) return;
  const change = decideEnded(state);
  await write(federation, state, change);
  tell(federation.component, state, { change, before: undefined });
}

function notOurs({ component, init }: Federation, state: FederatedState, before: Told): Told {
  const { trustDomain: key } = state;
  const message = `ClusterTrustBundle ${federatedBundleName(key)} is somebody's own: delete it, or annotate it with countersign.dev/trust-domain=${key}`;
  const change = { kind: 'keep', reason: 'NotOurs', message } as const;
  const problem = tell(component, state, { change, before: before.problem });
  const nextFetch = component.clock() + init.shortestSeconds * 1000;
  return { ...before, nextFetch, problem, text: undefined };
}

/** What time and our own CAs change. */
async function hold(
  federation: Federation,
  state: FederatedState,
  before: Told,
  isOurs: JudgedBy['isOurs'],
): Promise<Told> {
  const change = decideHeld(state, isOurs);
  if (change.kind === 'keep') return before;
  await write(federation, state, change);
  const problem = tell(federation.component, state, { change, before: before.problem });
  const text = change.kind === 'write' ? change.text : undefined;
  return { ...before, problem, text, dropped: droppedBy(change, state) ?? before.dropped };
}

/** What an endpoint answered. */
interface Answer {
  readonly trustDomain: string;
  readonly fetched: Fetched;
  readonly isOurs: JudgedBy['isOurs'];
}

/** What an answer changes, and when the next look is due. */
async function answered(federation: Federation, before: Told, answer: Answer): Promise<Told> {
  const { component, init } = federation;
  const { trustDomain: key, fetched, isOurs } = answer;
  const state = stateOf(federation, key);
  // Whoever edits the bundle must not lock the other side out: what is remembered counts, if anything is.
  const sequence = before.sequence ?? sequenceOf(state.existing);
  const { ownDomains } = init;
  const sharedWith = sharedAmong(others(federation, key));
  const judging = { trustDomain: key, sequence, ownDomains, isOurs, sharedWith };
  const look = await carriedOut(federation, state, decideFetched(state, fetched, judging));
  const { change } = look;
  const problem = tell(component, state, { ...look, before: before.problem });
  const isGood = look.taken === true;
  const failures = isGood ? 0 : before.failures + 1;
  const hint = isGood ? look.refreshSeconds : before.hint;
  const now = component.clock();
  return {
    nextFetch: now + nextLook(hint, failures, init) * 1000,
    ...{ lastFetch: now, failures, hint, problem },
    dropped: droppedBy(change, state) ?? before.dropped,
    sequence: highest(sequence, look.sequence),
    text: textAfter(change, isGood ? state.existing?.spec.trustBundle : before.text),
    confirmedAt: isGood ? now : (before.confirmedAt ?? knownSince(state)),
  };
}

/** What the API server takes for no certificate is no certificate, whatever we decode. */
async function carriedOut(
  federation: Federation,
  state: FederatedState,
  look: FederatedLook,
): Promise<FederatedLook> {
  try {
    await write(federation, state, look.change);
    return look;
  } catch (error) {
    if (!(error instanceof KubeError) || error.status !== 422) throw error;
    return { change: { kind: 'keep', reason: 'Malformed', message: error.message } };
  }
}

async function write(
  { component, resource, bundles }: Federation,
  state: FederatedState,
  change: FederatedChange,
): Promise<void> {
  const written = await act(component, resource, state, change);
  if (written !== undefined) bundles.applyWrite(written);
}

function droppedBy({ kind }: FederatedChange, { existing }: FederatedState): string | undefined {
  return kind === 'drop' ? existing?.metadata.uid : undefined;
}

function textAfter(change: FederatedChange, kept: string | undefined): string | undefined {
  if (change.kind === 'keep') return kept;
  return change.kind === 'write' ? change.text : undefined;
}

/** Remembers, counts, looks where a look is due, and says when to come back. */
function again(federation: Federation, domain: ForeignDomain, now: Told): ReconcileResult {
  const { component, init, told, looks } = federation;
  const { trustDomain: key } = domain;
  const state = stateOf(federation, key);
  told.set(key, now);
  count(federation, state, now);
  const at = component.clock();
  // Somebody changed or deleted what we wrote.
  const isDrifted = now.text !== undefined && state.existing?.spec.trustBundle !== now.text;
  const soonest = now.lastFetch + init.shortestSeconds * 1000;
  const planned = isDrifted ? Math.min(now.nextFetch, soonest) : now.nextFetch;
  // The clock was set back: what was planned may be hours or years away.
  const due = now.lastFetch > at ? at : planned;
  if (at >= due) looks.begin(domain);
  const isAsked = looks.isUnderWay(key);
  const dropAt = isOurOwn(federation, state) ? fetchedAt(state.existing) + state.keepMs : NaN;
  const times = [...(isAsked ? [] : [due]), ...(dropAt > at ? [dropAt] : [])];
  return times.length === 0 ? undefined : { requeueAt: Math.max(at + 1, Math.min(...times)) };
}

function count(federation: Federation, state: FederatedState, now: Told): void {
  const { component } = federation;
  const { trustDomain, existing } = state;
  const anchors = isOurOwn(federation, state)
    ? (existing?.spec.trustBundle.match(/BEGIN/g) ?? []).length
    : 0;
  const confirmedAt = (now.confirmedAt ?? knownSince(state)) / 1000;
  component.metrics.federatedState(trustDomain, { anchors, confirmedAt });
}

/** When a bundle that another leader wrote was confirmed; 0 where there is none. */
function knownSince({ existing }: FederatedState): number {
  const at = existing === undefined ? NaN : fetchedAt(existing);
  return Number.isNaN(at) ? 0 : at;
}

function isOurOwn(
  { component }: Pick<Federation, 'component'>,
  state: FederatedState,
): state is FederatedState & { readonly existing: NonNullable<FederatedState['existing']> } {
  const { existing, trustDomain } = state;
  return existing !== undefined && isOwn(existing, trustDomain, component.secretNamespace);
}

function stateOf({ component, bundles, init }: Federation, trustDomain: string): FederatedState {
  return {
    trustDomain,
    existing: bundles.get(federatedBundleName(trustDomain)),
    now: component.clock(),
    keepMs: init.keepSeconds * 1000,
  };
}

/** PEM of the bundles of the other foreign trust domains. */
function others({ bundles, init }: Federation, key: string): ReadonlyMap<string, string> {
  const found = init.domains.flatMap(({ trustDomain }) => {
    const existing = bundles.get(federatedBundleName(trustDomain));
    if (trustDomain === key || existing === undefined) return [];
    return [[trustDomain, existing.spec.trustBundle] as const];
  });
  return new Map(found);
}

function highest(a: bigint | undefined, b: bigint | undefined): bigint | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a > b ? a : b;
}
