// SPDX-License-Identifier: Apache-2.0
import { formatTime } from '../../../api/object/time.ts';
import { workloadText, type Workload } from '../../../api/workload/workload.ts';
import { refreshSettings, type RefreshOptions } from '../../refresh-options.ts';
import type { Client } from '../../../kube/client/client.ts';
import { structuredText } from '../../../operations/report.ts';
import { columns } from '../../../operations/show/columns.ts';
import { ClusterView, type ClusterStandings } from '../../../refreshing/cluster-view.ts';
import { forecast } from '../../../refreshing/forecast.ts';
import { NAMESPACE_OPTED_IN, REFRESH } from '../../../refreshing/opt-in.ts';
import type { Standing } from '../../../refreshing/standing.ts';
import type { RestartVerdict, WaitReason } from '../../../refreshing/verdict.ts';
import { podsOf } from '../../../controllers/pod-refresher/act.ts';
import { shellWord } from '../../../quote.ts';
import { printDocument, printText, terminalWidth } from '../../terminal.ts';
import { connectUser, type UserOptions } from '../../user-client.ts';
import { readCluster, selectedWorkloads } from './read-cluster.ts';

/** Flags of `countersign refresh plan`. */
export interface RefreshPlanOptions extends UserOptions, RefreshOptions {
  readonly namespace?: string;
  /** Labels. */
  readonly selector?: string;
  readonly output: 'table' | 'name' | 'json' | 'yaml';
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
    const { planned, current } = await planOf(client, options);
    const { output, namespace } = options;
    if (output === 'json' || output === 'yaml') printDocument(structuredText(planned, output));
    else if (output === 'name') printText(namesText(planned));
    else printText(text(planned, current, namespace));
  } finally {
    await client.close();
  }
}

/** What is planned, and how many workloads opted in and are up to date. */
interface Plan {
  readonly planned: readonly PlannedRestart[];
  readonly current: number;
}

async function planOf(client: Client, options: RefreshPlanOptions): Promise<Plan> {
  const now = (): number => Date.now() - client.clockOffset();
  const view = new ClusterView(now);
  await readCluster(client, view);
  const settings = refreshSettings(options);
  // Those of other namespaces take slots, too.
  const found = view.standings(settings);
  const verdicts = await forecast(found.standings, settings.limits, {
    now,
    podsOf: (standing) => podsOf({ client }, standing),
    budgetsOf: (namespace) => view.budgetsOf(namespace),
  });
  const { namespace, selector } = options;
  const selected =
    selector === undefined ? undefined : await selectedWorkloads(client, selector, namespace);
  const shown = chosen(
    found,
    ({ metadata }) =>
      (namespace === undefined || metadata.namespace === namespace) &&
      (selected === undefined || selected.has(metadata.uid)),
  );
  const planned = plannedRestarts(shown, verdicts);
  const named = new Set(planned.map(({ workload }) => workload));
  const current = shown.standings.filter(({ workload }) => !named.has(workloadText(workload)));
  return { planned, current: current.length };
}

function chosen(
  { standings, invalid, unlabelled }: ClusterStandings,
  isShown: (workload: Workload) => boolean,
): ClusterStandings {
  return {
    standings: standings.filter(({ workload }) => isShown(workload)),
    invalid: invalid.filter(({ workload }) => isShown(workload)),
    unlabelled: unlabelled.filter(isShown),
  };
}

function plannedRestarts(
  { standings, invalid, unlabelled }: ClusterStandings,
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
  const ofUnlabelled = unlabelled.map((workload) => ({
    ...{ workload: workloadText(workload), when: 'never' },
    why: `its namespace did not opt in: ${labelCommand(workload.metadata.namespace ?? '')}`,
  }));
  return [...ofStandings, ...ofInvalid, ...ofUnlabelled];
}

function labelCommand(namespace: string): string {
  return `kubectl label namespace ${shellWord(namespace)} ${REFRESH}=${NAMESPACE_OPTED_IN}`;
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

function text(
  planned: readonly PlannedRestart[],
  current: number,
  namespace: string | undefined,
): string {
  if (planned.length === 0) return current === 0 ? nobody(namespace) : allCurrent(current);
  const rows = planned.map((each) => [each.workload, each.when, each.why]);
  return [...columns([['WORKLOAD', 'WHEN', 'WHY'], ...rows], terminalWidth()), ''].join('\n');
}

/** As kubectl names them: `deployment.apps/web`, each once. */
function namesText(planned: readonly PlannedRestart[]): string {
  const names = planned.map(({ workload }) => {
    const [kind = '', name = ''] = workload.split(/ [^/]*\//);
    return `${kind.toLowerCase()}.apps/${name}\n`;
  });
  return [...new Set(names)].join('');
}

function allCurrent(count: number): string {
  const who = count === 1 ? 'the one workload' : `all ${count} workloads`;
  return `${who} that opted in ${count === 1 ? 'has its' : 'have their'} current certificates\n`;
}

/** Both opt-ins are missing, or the annotation is. */
function nobody(namespace: string | undefined): string {
  const where = namespace === undefined ? '' : ` in namespace ${namespace}`;
  const name = shellWord(namespace ?? 'NAMESPACE');
  return [
    `no workload${where} has opted in, so none is restarted. Both are needed:`,
    `  ${labelCommand(namespace ?? 'NAMESPACE')}`,
    `  kubectl annotate deployment NAME --namespace ${name} ${REFRESH}=secrets`,
    '',
  ].join('\n');
}
