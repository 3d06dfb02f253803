// SPDX-License-Identifier: Apache-2.0
import { federatedBundleName } from '#api/object/federated-bundle.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { areClocksApart, serverTime } from '#component/server-time.ts';
import type { ReconcileResult } from '#kube/workqueue/run-loop.ts';
import type { ForeignDomain } from '../spiffe/foreign-domain.ts';
import type { BundleCriteria } from '../spiffe/judge-bundle.ts';
import { act } from './act.ts';
import {
  confirmedSince,
  decideEnded,
  decideFetched,
  decideHeld,
  fetchedAt,
  isOwn,
  sequenceOf,
  sharedAmong,
  type AgeStart,
  type FederatedChange,
  type FetchDecision,
  type FederatedState,
} from './decide.ts';
import type { FetchResult } from './fetch.ts';
import type { Federation } from './federation.ts';
import { ownCas } from './own-cas.ts';
import { secondsToNextFetch } from './schedule.ts';
import { NEVER_FETCHED, reportChange, type FetchState } from './report-change.ts';
import * as messages from './messages.ts';
import { FEDERATION_SERIES } from './metrics.ts';

/**
 * Reconciles one foreign trust domain: first what time changes, then the answer of its endpoint.
 */
export async function reconcile(federation: Federation, key: string): Promise<ReconcileResult> {
  const { component, init, signers, bundles, fetchStates, fetcher } = federation;
  const domain = init.domains.find(({ trustDomain }) => trustDomain === key);
  if (!component.shard.owns(key)) {
    // Another replica leads, so the state of this one is outdated.
    fetchStates.delete(key);
    fetcher.take(key);
    const { anchors, confirmed } = component.metrics.of(FEDERATION_SERIES);
    for (const each of [anchors, confirmed]) each.remove({ trust_domain: key });
    return undefined;
  }
  // The own CAs are unknown until both lists are complete.
  if (!signers.settled || !bundles.synced) return 'backoff';
  const state = stateOf(federation, key);
  const before = withAgeFrom(fetchStates.get(key) ?? NEVER_FETCHED, state);
  if (domain === undefined) return ended(federation, state);
  if (state.existing !== undefined && !isOurOwn(federation, state))
    return again(federation, domain, managedElsewhere(federation, state, before));
  const isManaged = ownCas(signers.known(), bundles.list(), component.secretNamespace);
  const held = await hold(federation, state, before, isManaged);
  const fetched = fetcher.take(key);
  if (fetched === undefined) return again(federation, domain, held);
  // Stored before the write, so a failed write does not cause another fetch at once.
  const lastFetch = component.clock();
  fetchStates.set(key, { ...held, lastFetch, nextFetch: lastFetch + init.shortestSeconds * 1000 });
  const answer = { trustDomain: key, fetched, isManaged };
  const now = await answered(federation, held, answer);
  return again(federation, domain, await heldAfterFirst(federation, before, now, answer));
}

/** Applies what {@link hold} left until the first answer of this process. */
async function heldAfterFirst(
  federation: Federation,
  before: FetchState,
  now: FetchState,
  { trustDomain, isManaged }: Answer,
): Promise<FetchState> {
  if (before.hasAnswer === true) return now;
  const state = stateOf(federation, trustDomain);
  return hold(federation, state, withAgeFrom(now, state), isManaged);
}

/** Starts the age of a bundle when clocks that were apart at its last good answer agree. */
function withAgeFrom(before: FetchState, { clocksApart, now }: FederatedState): FetchState {
  return before.ageFrom === 'unknown' && !clocksApart ? { ...before, ageFrom: now } : before;
}

/** Stores no state, so an object that another writer later creates under the name is left alone. */
async function ended(federation: Federation, state: FederatedState): Promise<undefined> {
  const isEnded = federation.init.endedDomains.includes(state.trustDomain);
  if (!isEnded || !isOurOwn(federation, state)) return;
  const change = decideEnded(state);
  await write(federation, state, change);
  reportChange(federation.component, state, { change, before: undefined });
}

function managedElsewhere(
  { component, init }: Federation,
  state: FederatedState,
  before: FetchState,
): FetchState {
  const { trustDomain: key } = state;
  const message = messages.managedElsewhere(federatedBundleName(key), key);
  const change = { kind: 'keep', reason: 'ManagedElsewhere', message } as const;
  const problem = reportChange(component, state, { change, before: before.problem });
  const nextFetch = component.clock() + init.shortestSeconds * 1000;
  return { ...before, nextFetch, problem, text: undefined };
}

/**
 * Applies what time and our own CAs change. A bundle becomes stale after the first answer in this
 * process: an earlier process may have had good answers while the clocks were apart, and then the
 * time in the bundle does not show them. Until then it verifies no endpoint.
 */
async function hold(
  federation: Federation,
  state: FederatedState,
  before: FetchState,
  isManaged: BundleCriteria['isManaged'],
): Promise<FetchState> {
  const aged = { ...state, ageFrom: before.ageFrom };
  const change = decideHeld(aged, isManaged);
  if (!isStale(change) || before.hasAnswer === true)
    return carryOut(federation, state, before, change);
  // Without an age: our own CAs leave the bundle at once.
  const early = await carryOut(
    federation,
    state,
    before,
    decideHeld({ ...aged, clocksApart: true }, isManaged),
  );
  return { ...early, text: undefined, dropped: state.existing?.metadata.uid };
}

function isStale({ kind, reason }: FederatedChange): boolean {
  return kind === 'drop' && reason === 'Stale';
}

/** Writes and reports a change of a published bundle. */
async function carryOut(
  federation: Federation,
  state: FederatedState,
  before: FetchState,
  change: FederatedChange,
): Promise<FetchState> {
  if (change.kind === 'keep') return before;
  await write(federation, state, change);
  const problem = reportChange(federation.component, state, { change, before: before.problem });
  const text = change.kind === 'write' ? change.text : undefined;
  return { ...before, problem, text, dropped: droppedBy(change, state) ?? before.dropped };
}

/** Answer of an endpoint. */
interface Answer {
  readonly trustDomain: string;
  readonly fetched: FetchResult;
  readonly isManaged: BundleCriteria['isManaged'];
}

/** Applies an answer and schedules the next fetch. */
async function answered(
  federation: Federation,
  before: FetchState,
  answer: Answer,
): Promise<FetchState> {
  const { component, init } = federation;
  const { trustDomain: key, fetched, isManaged } = answer;
  const state = stateOf(federation, key);
  // An edit of the bundle must not lock out the other side, so the stored sequence number wins.
  const sequence = before.sequence ?? sequenceOf(state.existing);
  const { ownDomains } = init;
  const sharedWith = sharedAmong(others(federation, key));
  const judging = { trustDomain: key, sequence, ownDomains, isManaged, sharedWith };
  const decision = await carriedOut(federation, state, decideFetched(state, fetched, judging));
  const { change } = decision;
  const problem = reportChange(component, state, { ...decision, before: before.problem });
  const isGood = decision.taken === true;
  const failures = isGood ? 0 : before.failures + 1;
  const hint = isGood ? decision.refreshSeconds : before.hint;
  const now = component.clock();
  return {
    nextFetch: now + secondsToNextFetch(hint, failures, init) * 1000,
    lastFetch: now,
    hasAnswer: true,
    failures,
    hint,
    problem,
    dropped: droppedBy(change, state) ?? before.dropped,
    sequence: highest(sequence, decision.sequence),
    text: textAfter(change, isGood ? state.existing?.spec.trustBundle : before.text),
    confirmedAt: isGood ? state.now : (before.confirmedAt ?? knownSince(state)),
    ageFrom: isGood ? ageFromNow(state) : before.ageFrom,
  };
}

function ageFromNow({ clocksApart }: FederatedState): AgeStart {
  return clocksApart ? 'unknown' : undefined;
}

/** Treats a bundle that the API server rejects with 422 as malformed, even if we decode it. */
async function carriedOut(
  federation: Federation,
  state: FederatedState,
  decision: FetchDecision,
): Promise<FetchDecision> {
  try {
    await write(federation, state, decision.change);
    return decision;
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

/** Stores the state, updates metrics, starts a due fetch, and returns when to requeue. */
function again(federation: Federation, domain: ForeignDomain, now: FetchState): ReconcileResult {
  const { component, init, fetchStates, fetcher } = federation;
  const { trustDomain: key } = domain;
  const state = stateOf(federation, key);
  fetchStates.set(key, now);
  count(federation, state, now);
  const at = component.clock();
  // Another writer changed or deleted the bundle.
  const isDrifted = now.text !== undefined && state.existing?.spec.trustBundle !== now.text;
  const soonest = now.lastFetch + init.shortestSeconds * 1000;
  const planned = isDrifted ? Math.min(now.nextFetch, soonest) : now.nextFetch;
  // The clock was set back, so the planned time may be years away.
  const due = now.lastFetch > at ? at : planned;
  if (at >= due) fetcher.begin(domain);
  const isAsked = fetcher.isUnderWay(key);
  const offset = component.client.clockOffset();
  const dropAt = isOurOwn(federation, state)
    ? confirmedSince({ ...state, ageFrom: now.ageFrom }) + state.keepMs + offset
    : NaN;
  const times = [...(isAsked ? [] : [due]), ...(dropAt > at ? [dropAt] : [])];
  return times.length === 0 ? undefined : { requeueAt: Math.max(at + 1, Math.min(...times)) };
}

function count(federation: Federation, state: FederatedState, now: FetchState): void {
  const { component } = federation;
  const { trustDomain, existing } = state;
  const series = component.metrics.of(FEDERATION_SERIES);
  const anchors = isOurOwn(federation, state)
    ? (existing?.spec.trustBundle.match(/BEGIN/g) ?? []).length
    : 0;
  const confirmedAt = (now.confirmedAt ?? knownSince(state)) / 1000;
  series.anchors.set({ trust_domain: trustDomain }, anchors);
  series.confirmed.set({ trust_domain: trustDomain }, confirmedAt);
}

/** Returns when another leader's bundle was confirmed, or 0 if there is none. */
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
    now: serverTime(component),
    clocksApart: areClocksApart(component),
    keepMs: init.keepSeconds * 1000,
  };
}

/** Returns the PEM of the bundles of the other foreign trust domains. */
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
