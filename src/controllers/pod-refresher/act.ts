// SPDX-License-Identifier: Apache-2.0
import { labelSelectorText } from '../../api/object/label-selector.ts';
import type { Pod } from '../../api/object/pod.ts';
import {
  WORKLOAD_RESOURCES,
  workloadText,
  type Workload,
  type WorkloadKind,
} from '../../api/workload/workload.ts';
import { messageOf, SignerError } from '../../errors.ts';
import { PODS } from '../../kube/resource/core-v1.ts';
import { resource } from '../../kube/resource/resource.ts';
import {
  CERTIFICATES,
  formatRecord,
  formatRestartedAt,
  RESTARTED_AT,
} from '../../refreshing/record.ts';
import type { RefreshWorld, RestartOutcome } from '../../refreshing/refresher.ts';
import type { Standing } from '../../refreshing/standing.ts';
import type { Component } from '../../runtime/component/component.ts';
import { serverTime } from '../../runtime/component/server-time.ts';
import { reducedWorkload } from './reduced.ts';

/** The field manager of the annotation and the label; GitOps tools are told to leave its fields alone. */
const FIELD_MANAGER = 'countersign-pod-refresher';

/** How many pods a page has. */
const PAGE = 500;

/** The pods of a workload, from the API server: they are asked for only where a restart may be due. */
export async function podsOf(
  { client }: Pick<Component, 'client'>,
  { workload }: Standing,
): Promise<readonly Pod[]> {
  const { namespace } = workload.metadata;
  const labelSelector = labelSelectorText(workload.spec.selector ?? {});
  const pods: Pod[] = [];
  let from: string | undefined;
  do {
    const page = await client.request<{
      readonly items: readonly Pod[];
      readonly metadata: { readonly continue?: string };
    }>({
      method: 'GET',
      path: PODS.collection(namespace),
      query: { labelSelector, limit: PAGE, continue: from },
    });
    pods.push(...page.items);
    from = page.metadata.continue;
  } while (from !== undefined && from !== '');
  return pods;
}

/**
 * Changes the template's annotation and the workload's label by server-side apply, which leaves all other fields to their
 * owners. The resourceVersion fences it: what was judged is what is changed.
 *
 * @param written - takes the workload as it is now
 */
async function restart(
  component: Component,
  standing: Standing,
  written: (workload: Workload) => void,
): Promise<RestartOutcome> {
  const { workload, record } = standing;
  const { apiVersion, kind, metadata } = workload;
  const { name, namespace, uid, resourceVersion } = metadata;
  const at = formatRestartedAt(serverTime(component));
  try {
    const answer = await component.client.request<Workload>({
      method: 'PATCH',
      path: resource(WORKLOAD_RESOURCES[kind as WorkloadKind]).object({ namespace, name }),
      query: { fieldManager: FIELD_MANAGER, force: true },
      contentType: 'application/apply-patch+yaml',
      body: {
        ...{ apiVersion, kind },
        metadata: { name, namespace, uid, resourceVersion, labels: { [RESTARTED_AT]: at } },
        spec: {
          template: { metadata: { annotations: { [CERTIFICATES]: formatRecord(record) } } },
        },
      },
    });
    written(reducedWorkload(answer));
    tell(component, standing);
    return 'begun';
  } catch (error) {
    if (isOutdated(error)) return 'conflict';
    component.metrics.restarted('refused');
    return { refused: messageOf(error) };
  }
}

/** The workload has changed, or another replica leads by now. */
function isOutdated(error: unknown): boolean {
  return error instanceof SignerError && ['KUBE_CONFLICT', 'NOT_LEADING'].includes(error.code);
}

function tell({ log, events, metrics }: Component, { workload, changes }: Standing): void {
  const changed = changes.map(({ credential }) => credential).join(', ');
  const { apiVersion, kind, metadata } = workload;
  const { name, namespace = '', uid } = metadata;
  log.info({ workload: workloadText(workload), changed }, 'restarted: its certificates changed');
  metrics.restarted('begun');
  events.record({
    regarding: { apiVersion, kind, name, namespace, uid },
    ...{ type: 'Normal', reason: 'CertificateChanged', action: 'Restart' },
    note: `restarting its pods, which have an older certificate of ${changed}`,
  });
}

/** What a pass asks and does, on this cluster. */
export function refreshWorld(
  component: Component,
  budgetsOf: RefreshWorld['budgetsOf'],
  written: (workload: Workload) => void,
): RefreshWorld {
  return {
    podsOf: (standing) => podsOf(component, standing),
    budgetsOf,
    restart: (standing) => restart(component, standing, written),
    now: () => serverTime(component),
  };
}
