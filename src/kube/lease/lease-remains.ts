// SPDX-License-Identifier: Apache-2.0
import { messageOf } from '../../errors.ts';
import type { Log } from '../../ports.ts';
import type { Client } from '../client/client.ts';
import { LEASES, type Lease } from './lease.ts';

/**
 * Deletes the Lease of a member that never came back, if it is still in the state that was seen: one
 * that renewed it meanwhile keeps it. Never rejects.
 *
 * @returns whether it is gone by that
 */
export async function removeLease(
  { client, log }: { readonly client: Client; readonly log: Log },
  lease: Lease,
  signal: AbortSignal,
): Promise<boolean> {
  const { name, uid, resourceVersion } = lease.metadata;
  const body = { preconditions: { uid, resourceVersion } };
  try {
    await client.request({ method: 'DELETE', path: LEASES.object(lease.metadata), body, signal });
    log.info({ lease: name }, 'deleted the Lease of a replica that has long been gone');
    return true;
  } catch (error) {
    log.debug({ lease: name, error: messageOf(error) }, 'an old Lease could not be deleted');
    return false;
  }
}
