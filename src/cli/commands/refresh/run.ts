// SPDX-License-Identifier: Apache-2.0
import { formatTime } from '#api/object/time.ts';
import { workloadText, type Workload } from '#api/workload/workload.ts';
import type { Client } from '#kube/client/client.ts';
import { structuredText } from '#operations/structured-text.ts';
import { columns } from '#operations/show/columns.ts';
import { ClusterView, type RestartStates } from '#workloads/refresh/cluster-view.ts';
import { DISTRUSTED } from '#workloads/refresh/credentials/own-leaves.ts';
import type { ChangedCredential } from '#workloads/refresh/credential-source.ts';
import { forecast, type Forecast } from '#workloads/refresh/forecast.ts';
import { NAMESPACE_OPTED_IN, REFRESH } from '#workloads/refresh/opt-in.ts';
import type { RestartState } from '#workloads/refresh/restart-state.ts';
import type { RestartVerdict, WaitReason } from '#workloads/refresh/verdict.ts';
import { podsOf } from '#workloads/pod-refresher/act.ts';
import { shellWord } from '#base/quote.ts';
import { printDocument, printText, terminalWidth } from '#cli/terminal.ts';
import { connectUser } from '#cli/user-client.ts';
import type { UserOptions } from '#cli/user-options.ts';
import { readCluster, selectedWorkloads } from './read-cluster.ts';
import { refreshSettings, type RefreshFlags } from '#workloads/refresh/flags.ts';

/** Flags of `countersign refresh plan`. */
export interface RefreshPlanOptions extends UserOptions, RefreshFlags {
  readonly namespace?: string;
  /** Label selector. */
  readonly selector?: string;
  readonly output: 'table' | 'name' | 'json' | 'yaml';
}

/** One workload with an old certificate, or with an unknown state. */
interface PlannedRestart {
  readonly workload: string;
  /** `now`, a time, or the cause of the wait. */
  readonly when: string;
  readonly why: string;
}

/**
 * Prints what a pod-refresher that starts now would do.
 *
 * @throws KubeError if something cannot be read
 */
export async function printPlan(options: RefreshPlanOptions): Promise<void> {
  const { client } = await connectUser(options, 'refresh');
  try {
    const { planned, current } = await planRestarts(client, options);
    const { output, namespace } = options;
    if (output === 'json' || output === 'yaml') printDocument(structuredText(planned, output));
    else if (output === 'name') printText(namesText(planned));
    else printText(text(planned, current, namespace));
  } finally {
    await client.close();
  }
}

/** The planned restarts, and the number of opted-in workloads that are up to date. */
interface RestartPlan {
  readonly planned: readonly PlannedRestart[];
  readonly current: number;
}

/**
 * Plans as a pod-refresher that starts now with these flags.
 *
 * @throws KubeError if something cannot be read
 */
export async function planRestarts(
  client: Client,
  options: RefreshFlags & Pick<RefreshPlanOptions, 'namespace' | 'selector'>,
): Promise<RestartPlan> {
  const now = (): number => Date.now() - client.clockOffset();
  const view = new ClusterView(now);
  await readCluster(client, view);
  const settings = refreshSettings(options);
  // Workloads of other namespaces take slots, too.
  const found = view.states(settings);
  const forecasts = await forecast(found.states, settings.limits, {
    now,
    podsOf: (state) => podsOf({ client }, state),
    budgetsOf: (namespace) => view.budgetsOf(namespace),
  });
  const { namespace, selector } = options;
  const selected =
    selector === undefined ? undefined : await selectedWorkloads(client, selector, namespace);
  const isShown = ({ metadata }: Workload): boolean =>
    (namespace === undefined || metadata.namespace === namespace) &&
    (selected === undefined || selected.has(metadata.uid));
  const shown = forecasts.filter(({ state }) => isShown(state.workload));
  const planned = plannedRestarts(shown, {
    invalid: found.invalid.filter(({ workload }) => isShown(workload)),
    unlabelled: found.unlabelled.filter(isShown),
  });
  const named = new Set(planned.map(({ workload }) => workload));
  const current = shown.filter(({ state }) => !named.has(workloadText(state.workload)));
  return { planned, current: current.length };
}

function plannedRestarts(
  forecasts: readonly Forecast[],
  { invalid, unlabelled }: Pick<RestartStates, 'invalid' | 'unlabelled'>,
): readonly PlannedRestart[] {
  const ofStates = forecasts.flatMap(({ state, verdict, unseen }) => {
    const workload = workloadText(state.workload);
    const unknown = [...state.unknown, ...unseen].map((each) => ({
      workload,
      when: 'unknown',
      why: each,
    }));
    if (verdict.kind === 'current' || verdict.kind === 'unknown') return unknown;
    return [...unknown, { workload, when: when(verdict), why: why(state) }];
  });
  const ofInvalid = invalid.map(({ workload, message }) => ({
    workload: workloadText(workload),
    when: 'never',
    why: message,
  }));
  const ofUnlabelled = unlabelled.map((workload) => ({
    workload: workloadText(workload),
    when: 'never',
    why: `its namespace did not opt in: ${labelCommand(workload.metadata.namespace ?? '')}`,
  }));
  return [...ofStates, ...ofInvalid, ...ofUnlabelled];
}

function labelCommand(namespace: string): string {
  return `kubectl label namespace ${shellWord(namespace)} ${REFRESH}=${NAMESPACE_OPTED_IN}`;
}

const WAITS: Readonly<Record<WaitReason, string>> = {
  NotDue: 'when it is due',
  RolloutInProgress: 'after the rollout in progress',
  Interval: 'five minutes after the last restart',
  Rate: 'after others',
  NamespaceRate: 'after others of its namespace',
  Conflict: 'now',
  NoAuthority: 'when its signer has a CA that signs',
};

function when(verdict: Exclude<RestartVerdict, { kind: 'current' | 'unknown' }>): string {
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
    case 'reverted':
      return `never: ${verdict.message}`;
    case 'refused':
      return `unknown: ${verdict.message}`;
  }
}

function why({ changes, deadline }: RestartState): string {
  const changed = changes.map(changeText);
  const end = Number.isFinite(deadline) ? `; no later than ${formatTime(deadline)}` : '';
  return `${changed.join(', ')}${end}`;
}

function changeText({ credential, leaf, cause }: ChangedCredential): string {
  const shown = leaf.hash.slice(0, SHOWN_DIGITS);
  const since = formatTime(leaf.issuedAt);
  if (cause === 'Outlived') {
    return `${credential}: the credential that its containers read ends before ${since}`;
  }
  if (cause !== 'Distrusted') return `${credential} is ${shown} since ${since}`;
  return credential.startsWith(DISTRUSTED)
    ? `its pods use or may use CA ${shown} of ${credential.slice(DISTRUSTED.length)}, which is distrusted`
    : `${credential} is ${shown}, of a distrusted CA`;
}

/** Digits of a fingerprint that distinguish two. */
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

/** Returns the names as kubectl prints them: `deployment.apps/web`, each once. */
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

/** Returns the hint that both opt-ins or the annotation are missing. */
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
