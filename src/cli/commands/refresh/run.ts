// SPDX-License-Identifier: Apache-2.0
import { formatTime } from '../../../api/object/time.ts';
import { workloadText } from '../../../api/workload/workload.ts';
import { refreshSettings, type RefreshOptions } from '../../refresh-options.ts';
import type { Client } from '../../../kube/client/client.ts';
import { columns } from '../../../operations/show/table.ts';
import { ClusterView, type ClusterStandings } from '../../../refreshing/cluster-view.ts';
import { isOutdated, Refresher } from '../../../refreshing/refresher.ts';
import type { Standing } from '../../../refreshing/standing.ts';
import type { RestartVerdict, WaitReason } from '../../../refreshing/verdict.ts';
import { podsOf } from '../../../controllers/pod-refresher/act.ts';
import { printDocument, printText } from '../../terminal.ts';
import { connectUser, type UserOptions } from '../../user-client.ts';
import { readCluster } from './read-cluster.ts';

/** Flags of `countersign refresh plan`. */
export interface RefreshPlanOptions extends UserOptions, RefreshOptions {
  readonly namespace?: string;
  readonly output: 'table' | 'json';
}

/** One workload that is not up to date, or cannot be told. */
interface PlannedRestart {
  readonly workload: string;
  /** `now`, a time, or what it waits for. */
  readonly when: string;
  readonly why: string;
}

/**
 * Prints what pod-refresher would do that is started now.
 *
 * @throws KubeError if something cannot be read
 */
export async function printPlan(options: RefreshPlanOptions): Promise<void> {
  const { client } = await connectUser(options, 'refresh');
  try {
    const planned = await planOf(client, options);
    if (options.output === 'json') printDocument(`${JSON.stringify(planned, null, 2)}\n`);
    else printText(text(planned));
  } finally {
    await client.close();
  }
}

async function planOf(
  client: Client,
  options: RefreshPlanOptions,
): Promise<readonly PlannedRestart[]> {
  const now = (): number => Date.now() - client.clockOffset();
  const view = new ClusterView(now);
  await readCluster(client, view);
  const settings = refreshSettings(options);
  const found = view.standings(settings);
  const passed = await new Refresher(settings.limits).pass(found.standings, {
    now,
    podsOf: (standing) => podsOf({ client }, standing),
    budgetsOf: (namespace) => view.budgetsOf(namespace),
    // Nothing is written: it takes a slot, so that the next one is told to wait for it.
    restart: () => Promise.resolve('begun'),
  });
  const verdicts = new Map(passed);
  for (const standing of found.standings) {
    if (await isCurrentAlready(client, standing, verdicts.get(standing.key))) {
      verdicts.delete(standing.key);
    }
  }
  const { namespace } = options;
  return plannedRestarts(found, verdicts).filter(
    ({ workload }) =>
      namespace === undefined || workload.split(' ')[1]?.startsWith(`${namespace}/`),
  );
}

/**
 * Whether a workload that waits will not be restarted, since all its pods are newer than its certificates: pod-refresher asks
 * for its pods only when it is due.
 */
async function isCurrentAlready(
  client: Client,
  standing: Standing,
  verdict: RestartVerdict | undefined,
): Promise<boolean> {
  if (verdict?.kind !== 'waiting' && verdict?.kind !== 'held') return false;
  return !isOutdated(await podsOf({ client }, standing), standing);
}

function plannedRestarts(
  { standings, invalid }: ClusterStandings,
  verdicts: ReadonlyMap<string, RestartVerdict>,
): readonly PlannedRestart[] {
  const ofStandings = standings.flatMap((standing) => {
    const verdict = verdicts.get(standing.key) ?? { kind: 'current' };
    const workload = workloadText(standing.workload);
    const unknown = standing.unknown.map((why) => ({ workload, when: 'unknown', why }));
    if (verdict.kind === 'current') return unknown;
    return [...unknown, { workload, when: when(verdict), why: why(standing) }];
  });
  const ofInvalid = invalid.map(({ workload, message }) => ({
    ...{ workload: workloadText(workload), when: 'never', why: message },
  }));
  return [...ofStandings, ...ofInvalid];
}

const WAITS: Readonly<Record<WaitReason, string>> = {
  NotDue: 'when it is due',
  RolloutInProgress: 'after its rollout',
  Interval: 'five minutes after the last restart',
  Rate: 'after others',
  NamespaceRate: 'after others of its namespace',
  Conflict: 'now',
};

function when(verdict: Exclude<RestartVerdict, { kind: 'current' }>): string {
  switch (verdict.kind) {
    case 'restarted':
      return 'now';
    case 'waiting':
      return verdict.until === undefined || verdict.reason === 'RolloutInProgress'
        ? WAITS[verdict.reason]
        : `${WAITS[verdict.reason]}, ${formatTime(verdict.until)}`;
    case 'blocked':
      return `when PodDisruptionBudget ${verdict.budget} allows it`;
    case 'held':
      return `never: ${verdict.message}`;
    case 'refused':
      return `unknown: ${verdict.message}`;
  }
}

function why({ changes, deadline }: Standing): string {
  const changed = changes.map(
    ({ credential, leaf }) =>
      `${credential} is ${leaf.hash.slice(0, SHOWN_DIGITS)} since ${formatTime(leaf.issuedAt)}`,
  );
  return `${changed.join(', ')}; no later than ${formatTime(deadline)}`;
}

/** Of a fingerprint: enough to tell two apart. */
const SHOWN_DIGITS = 12;

function text(planned: readonly PlannedRestart[]): string {
  if (planned.length === 0) return 'every workload that opted in has its current certificates\n';
  const rows = planned.map((each) => [each.workload, each.when, each.why]);
  return [...columns([['WORKLOAD', 'WHEN', 'WHY'], ...rows]), ''].join('\n');
}
