// SPDX-License-Identifier: Apache-2.0
/** What a Lease tells of the replica that holds it. Pure. */
import { holderOf, leaseMilliseconds, type Lease } from '../kube/lease/lease.ts';
import { COMPONENT_LABEL } from '../runtime/component/leases.ts';

/** How much longer than a Lease lasts a renewal may be ago: an API server may be slow. */
const LEASE_SLACK_MS = 30_000;

/** metav1.ManagedFieldsEntry, as far as it is read: `time` is by the API server's clock. */
interface FieldsEntry {
  readonly time?: string;
  readonly fieldsV1?: { readonly 'f:spec'?: { readonly 'f:renewTime'?: unknown } };
}

/** The components of which a replica holds its Lease. */
export function runningComponents(leases: readonly Lease[], now: number): ReadonlySet<string> {
  return new Set(leases.filter((each) => isHeld(each, now)).map(componentOf));
}

/** The component whose replica a Lease belongs to; empty for a Lease without the label. */
export function componentOf({ metadata }: Lease): string {
  return metadata.labels?.[COMPONENT_LABEL] ?? '';
}

/**
 * Whether a replica holds the Lease.
 *
 * @param now - milliseconds since the epoch, by the API server's clock
 */
export function isHeld(lease: Lease, now: number): boolean {
  const renewed = writtenAt(lease) ?? renewTimeOf(lease);
  if (holderOf(lease.spec) === undefined || renewed === undefined) return false;
  return now - renewed < leaseMilliseconds(lease) + LEASE_SLACK_MS;
}

/**
 * How far the holder's clock is ahead of the API server's, in milliseconds, to a second or so.
 *
 * @returns undefined where the API server did not note when it was renewed
 */
export function offsetOf(lease: Lease): number | undefined {
  const written = writtenAt(lease);
  const renewed = renewTimeOf(lease);
  return written === undefined || renewed === undefined ? undefined : renewed - written;
}

/** When it was renewed, by the holder's clock, which may be wrong. */
function renewTimeOf({ spec }: Lease): number | undefined {
  return timeOf(spec?.renewTime);
}

/** When it was renewed, by the clock of the API server, which notes who wrote a field last, and when. */
function writtenAt({ metadata }: Lease): number | undefined {
  const { managedFields = [] } = metadata as { readonly managedFields?: readonly FieldsEntry[] };
  const times = managedFields
    .filter(({ fieldsV1 }) => fieldsV1?.['f:spec']?.['f:renewTime'] !== undefined)
    .flatMap(({ time }) => timeOf(time) ?? []);
  return times.length === 0 ? undefined : Math.max(...times);
}

function timeOf(text: string | undefined): number | undefined {
  const milliseconds = Date.parse(text ?? '');
  return Number.isNaN(milliseconds) ? undefined : milliseconds;
}
