// SPDX-License-Identifier: Apache-2.0
import { shellWord } from '#base/quote.ts';
import { evict } from '#kube/client/eviction.ts';
import { podsOfCa } from '#operations/holder-reads.ts';
import type { AffectedPod } from '#operations/pods/affected-pods.ts';
import { evictPods, nameOf, type EvictionSummary } from '#operations/pods/evict-pods.ts';
import type { PodScan } from '#operations/pods/find-pods.ts';
import { stillSigning } from '#operations/pods/wait-until-stopped.ts';
import { evictionsText, podsText, podsTitle } from '#operations/report.ts';
import { authoritiesOf } from '#operations/signer-state.ts';
import {
  outdated,
  type ActionChoice,
  type ActionInit,
  type Confirmation,
  type PlannedAction,
} from './action.ts';
import { stateOf } from './ca-change.ts';

/** The defaults of `countersign authority taint --restart`. */
const EVICTIONS_A_MINUTE = 60;
const TIMEOUT_MS = 30 * 60_000;
/** Pods that the page lists. */
const PODS_A_PLAN = 100;

/** The pods that may hold a leaf, and the reason against their eviction. */
interface AffectedPods {
  readonly scan: PodScan;
  readonly refused?: string;
}

/**
 * Plans the evictions of `countersign authority taint --restart`, for a CA that no longer signs.
 *
 * @returns undefined if the choice names no signer and CA
 * @throws KubeError of the API server
 */
export async function planRestart(
  init: ActionInit,
  { signer, ca }: ActionChoice,
): Promise<PlannedAction | undefined> {
  if (signer === undefined || ca === undefined) return undefined;
  const seen = await find(init, signer, ca);
  const [first] = evictable(seen.scan);
  const refused = seen.refused ?? (first && (await refusalOf(init, first)));
  return {
    plan: {
      verb: 'restart',
      title: `Restart pods with leaves of a CA of ${signer}`,
      command: `countersign authority taint ${shellWord(signer)} ${shellWord(ca)} --restart`,
      lines: refused === undefined ? planLines(signer, seen.scan) : [`refused: ${refused}`],
      isReady: refused === undefined && first !== undefined,
    },
    run: async (confirmation) => {
      const now = await find(init, signer, ca);
      if (now.refused !== undefined) return outdated(now.refused);
      if (podsKey(now.scan) !== podsKey(seen.scan))
        return outdated('the pods that may hold a leaf of this CA have changed');
      const summary = await evictAll(init, now.scan.affected, confirmation);
      return { outcome: 'done', lines: linesOf(evictionsText(summary, false)) };
    },
  };
}

async function find(init: ActionInit, signer: string, ca: string): Promise<AffectedPods> {
  const state = await stateOf(init, signer);
  const authority = authoritiesOf(state).find(({ fingerprint }) => fingerprint === ca);
  const refuse = (refused: string): AffectedPods => ({
    refused,
    scan: { mounts: 0, affected: [] },
  });
  if (authority === undefined) return refuse(`${ca} is not a CA of ${signer}`);
  if (authority.phase === 'Prepared') return refuse(`${ca} has not signed anything yet`);
  const signs = stillSigning(state, ca);
  if (signs !== undefined) return refuse(`a new pod could get a leaf of this CA again: ${signs}`);
  return { scan: await podsOfCa(init.client, state, authority) };
}

/** Identifies the pods of a plan, in any order, and which of them a controller replaces. */
function podsKey({ affected }: PodScan): string {
  return JSON.stringify(affected.map(({ uid, remadeBy }) => [uid, remadeBy ?? '']).sort());
}

/** Checks the permission on one of the pods by a dry run, which evicts nothing. */
async function refusalOf({ client }: ActionInit, pod: AffectedPod): Promise<string | undefined> {
  const tried = await evict(client, pod, true);
  return tried.kind === 'refused' ? `${nameOf(pod)}: ${tried.message}` : undefined;
}

function planLines(signer: string, scan: PodScan): readonly string[] {
  const { mounts, affected } = scan;
  const listed = podsText(signer, { mounts, affected: affected.slice(0, PODS_A_PLAN) });
  const bare = affected.length - evictable(scan).length;
  return [
    podsTitle(signer, scan),
    ...linesOf(listed).slice(1),
    ...(affected.length > PODS_A_PLAN ? [`and ${affected.length - PODS_A_PLAN} more pods`] : []),
    ...(bare > 0 ? [`${bare} stay, because no controller would replace them`] : []),
    `at most ${EVICTIONS_A_MINUTE} evictions a minute, within disruption budgets, until 30 minutes have passed`,
  ];
}

function evictable({ affected }: PodScan): readonly AffectedPod[] {
  return affected.filter(({ remadeBy }) => remadeBy !== undefined);
}

function evictAll(
  { client, clock, delay }: ActionInit,
  pods: readonly AffectedPod[],
  { progress, signal }: Confirmation,
): Promise<EvictionSummary> {
  return evictPods(pods, {
    clock,
    delay,
    progress,
    signal,
    deadline: clock() + TIMEOUT_MS,
    perMinute: EVICTIONS_A_MINUTE,
    dryRun: false,
    barePods: false,
    evict: (pod) => evict(client, pod, false),
  });
}

function linesOf(text: string): readonly string[] {
  return text.split('\n').filter((line) => line !== '');
}
