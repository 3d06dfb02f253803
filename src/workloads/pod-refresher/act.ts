// SPDX-License-Identifier: Apache-2.0
import { labelSelectorText } from '#api/object/label-selector.ts';
import type { Pod } from '#api/object/pod.ts';
import {
  WORKLOAD_RESOURCES,
  workloadText,
  type Workload,
  type WorkloadKind,
} from '#api/workload/workload.ts';
import { messageOf, SignerError } from '#base/errors.ts';
import { evict } from '#kube/client/eviction.ts';
import { PODS } from '#kube/resource/core-v1.ts';
import { resource } from '#kube/resource/resource.ts';
import {
  CERTIFICATES,
  FIELD_MANAGER,
  formatRecord,
  formatRestartedAt,
  RESTARTED_AT,
} from '../refresh/record.ts';
import type { RefresherDeps, RestartOutcome } from '../refresh/refresher.ts';
import { listObjects } from '#kube/watch/list-objects.ts';
import { isControlledBy } from '../refresh/controlled-pods.ts';
import type { RestartState } from '../refresh/restart-state.ts';
import type { Component } from '#component/contract.ts';
import { serverTime } from '#component/server-time.ts';
import { reducedWorkload } from './reduced.ts';
import * as messages from './messages.ts';
import { REFRESH_SERIES } from './metrics.ts';

/** Lists the pods of a workload from the API server, only if a restart may be due. */
export async function podsOf(
  { client }: Pick<Component, 'client'>,
  { workload }: RestartState,
): Promise<readonly Pod[]> {
  const { namespace } = workload.metadata;
  const labelSelector = labelSelectorText(workload.spec.selector ?? {});
  return listObjects<Pod>(client, PODS, {
    namespace,
    labelSelector,
    keep: (pod) => isControlledBy(pod, workload),
  });
}

/**
 * Changes the template's annotation and the workload's label by server-side apply, which leaves all
 * other fields to their owners. The resourceVersion ensures that the judged version is the one that
 * changes.
 *
 * @param written - receives the changed workload
 */
async function restart(
  component: Component,
  state: RestartState,
  written: (workload: Workload) => void,
): Promise<RestartOutcome> {
  const { workload, record } = state;
  const { apiVersion, kind, metadata } = workload;
  const { name, namespace, uid, resourceVersion } = metadata;
  const at = formatRestartedAt(serverTime(component));
  try {
    const answer = await component.client.request<Workload>({
      method: 'PATCH',
      // These kinds alone are watched.
      path: resource(WORKLOAD_RESOURCES[kind as WorkloadKind]).object({ namespace, name }),
      query: { fieldManager: FIELD_MANAGER, force: true },
      contentType: 'application/apply-patch+yaml',
      body: {
        apiVersion,
        kind,
        metadata: { name, namespace, uid, resourceVersion, labels: { [RESTARTED_AT]: at } },
        spec: {
          template: { metadata: { annotations: { [CERTIFICATES]: formatRecord(record) } } },
        },
      },
    });
    written(reducedWorkload(answer));
    tell(component, state);
    return 'begun';
  } catch (error) {
    if (isOutdated(error)) return 'conflict';
    component.metrics.of(REFRESH_SERIES).restarts.inc({ outcome: 'refused' });
    return { refused: messageOf(error) };
  }
}

/** Reports whether the workload has changed, or another replica leads by now. */
function isOutdated(error: unknown): boolean {
  return error instanceof SignerError && ['KUBE_CONFLICT', 'NOT_LEADING'].includes(error.code);
}

function tell({ log, events, metrics }: Component, { workload, changes }: RestartState): void {
  const changed = changes.map(({ credential }) => credential).join(', ');
  const isDistrust = changes.some(({ cause }) => cause === 'Distrusted');
  const { apiVersion, kind, metadata } = workload;
  const { name, namespace = '', uid } = metadata;
  const why = isDistrust ? messages.CA_DISTRUSTED : messages.CERTIFICATES_CHANGED;
  log.info({ workload: workloadText(workload), changed }, messages.restarted(why));
  metrics.of(REFRESH_SERIES).restarts.inc({ outcome: 'begun' });
  events.record({
    regarding: { apiVersion, kind, name, namespace, uid },
    type: 'Normal',
    action: 'Restart',
    reason: isDistrust ? 'CertificateDistrusted' : 'CertificateChanged',
    note: isDistrust
      ? messages.restartingDistrusted(changed)
      : messages.restartingOutdated(changed),
  });
}

/** Evicts one pod by its UID. The API server holds the eviction to its PodDisruptionBudgets. */
async function evictOlder(
  { client, log, events, metrics }: Component,
  { workload, changes }: RestartState,
  { metadata: { namespace = '', name, uid } }: Pod,
): Promise<RestartOutcome> {
  const outcome = await evict(client, { namespace, name, uid }, false);
  metrics.of(REFRESH_SERIES).evictions.inc({ outcome: outcome.kind });
  if (outcome.kind === 'gone') return 'conflict';
  if ('message' in outcome) return { refused: outcome.message };
  const changed = changes.map(({ credential }) => credential).join(', ');
  log.info({ workload: workloadText(workload), pod: name, changed }, messages.EVICTED_OLDER);
  events.record({
    regarding: { apiVersion: 'v1', kind: 'Pod', namespace, name, uid },
    type: 'Normal',
    reason: 'CertificateChanged',
    action: 'Evict',
    note: messages.evictedOlder(changed),
  });
  return 'begun';
}

/** Returns the calls of a pass to this cluster. */
export function refresherDeps(
  component: Component,
  budgetsOf: RefresherDeps['budgetsOf'],
  written: (workload: Workload) => void,
): RefresherDeps {
  return {
    podsOf: (state) => podsOf(component, state),
    budgetsOf,
    restart: (state) => restart(component, state, written),
    evict: (state, pod) => evictOlder(component, state, pod),
    now: () => serverTime(component),
  };
}
