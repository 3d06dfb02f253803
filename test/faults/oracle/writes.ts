// SPDX-License-Identifier: Apache-2.0
import type { AuditEvent } from '../../cluster/cluster.ts';
import { SYSTEM_NAMESPACE } from '../../support/cluster/installation.ts';

/** One write of a component to a request, as the API server's audit log has it. */
export interface Write {
  readonly subresource: 'status' | 'approval';
  readonly user: string;
  /** 499 and 504: answered to nobody, stored or not. */
  readonly code: number;
  readonly at: string;
}

const PREFIX = `system:serviceaccount:${SYSTEM_NAMESPACE}:countersign-`;
const REQUESTS = ['certificatesigningrequests', 'podcertificaterequests', 'certificaterequests'];

/**
 * UID of a request → the writes of our components to its subresources, in the order of their ends.
 */
export function writesIn(audit: readonly AuditEvent[]): ReadonlyMap<string, readonly Write[]> {
  const writes = new Map<string, Write[]>();
  for (const event of audit) {
    const { resource = '', subresource, uid = '' } = event.objectRef ?? {};
    if (event.stage === 'ResponseStarted' || !['update', 'patch'].includes(event.verb)) continue;
    if (!REQUESTS.includes(resource) || !event.user.username.startsWith(PREFIX)) continue;
    if (subresource !== 'status' && subresource !== 'approval') continue;
    const known = writes.get(uid) ?? [];
    known.push({
      subresource,
      user: event.user.username.slice(PREFIX.length),
      code: event.responseStatus?.code ?? 0,
      at: event.stageTimestamp,
    });
    writes.set(uid, known);
  }
  return writes;
}
