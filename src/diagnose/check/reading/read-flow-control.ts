// SPDX-License-Identifier: Apache-2.0
import type { Client } from '#kube/client/client.ts';
import type { StoredObject } from '#kube/resource/object.ts';
import type { ManagedObject } from '#kube/apply/objects/managed-object.ts';
import { FLOW_CONTROL_NAME } from '#install/workloads/availability.ts';
import type { ReadResult } from '../finding.ts';
import { listVisible } from './list-visible.ts';

const GROUP = { group: 'flowcontrol.apiserver.k8s.io', version: 'v1' };
const KINDS = {
  PriorityLevelConfiguration: 'prioritylevelconfigurations',
  FlowSchema: 'flowschemas',
} as const;

/** Reads the FlowSchema and the PriorityLevelConfiguration of the components, by their name. */
export async function readFlowControl(
  client: Client,
): Promise<ReadResult<readonly ManagedObject[]>> {
  const found: ManagedObject[] = [];
  const fieldSelector = `metadata.name=${FLOW_CONTROL_NAME}`;
  for (const [kind, plural] of Object.entries(KINDS)) {
    const seen = await listVisible(
      client,
      { ...GROUP, plural, fieldSelector },
      (object: StoredObject) => [
        { ...object, apiVersion: `${GROUP.group}/${GROUP.version}`, kind },
      ],
    );
    if (!('value' in seen)) return seen;
    found.push(...seen.value);
  }
  return { value: found };
}
