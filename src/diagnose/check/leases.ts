// SPDX-License-Identifier: Apache-2.0
/** Facts that a Lease holds about its replica. Pure. */
import { membersOf } from '#base/record.ts';
import { holderOf, leaseMilliseconds, type Lease } from '#kube/lease/lease.ts';
import { LABEL_COMPONENT } from '#kube/resource/labels.ts';

/** Tolerance for a late renewal of a Lease, because an API server may be slow. */
const LEASE_SLACK_MS = 30_000;

/** Returns the components with a replica that holds a Lease. */
export function runningComponents(leases: readonly Lease[], now: number): ReadonlySet<string> {
  return new Set(leases.filter((each) => isHeld(each, now)).map(componentOf));
}

/** Returns the component that a Lease belongs to, or '' for a Lease without the label. */
export function componentOf({ metadata }: Lease): string {
  return metadata.labels?.[LABEL_COMPONENT] ?? '';
}

/**
 * Reports whether a replica holds the Lease.
 *
 * @param now - milliseconds since the epoch, by the API server's clock
 */
export function isHeld(lease: Lease, now: number): boolean {
  const renewed = writtenAt(lease) ?? renewTimeOf(lease);
  if (holderOf(lease.spec) === undefined || renewed === undefined) return false;
  return now - renewed < leaseMilliseconds(lease) + LEASE_SLACK_MS;
}

/**
 * Returns how far the holder's clock is ahead of the API server's, in milliseconds, to about a
 * second.
 *
 * @returns undefined if the API server recorded no time of the renewal
 */
export function offsetOf(lease: Lease): number | undefined {
  const written = writtenAt(lease);
  const renewed = renewTimeOf(lease);
  return written === undefined || renewed === undefined ? undefined : renewed - written;
}

/** Returns the time of the renewal by the holder's clock, which may be wrong. */
function renewTimeOf({ spec }: Lease): number | undefined {
  return timeOf(spec?.renewTime);
}

/**
 * Returns the time of the renewal by the API server's clock: `managedFields` records the last
 * writer of a field and the time.
 */
function writtenAt({ metadata }: Lease): number | undefined {
  const { managedFields = [] } = metadata;
  const times = managedFields
    .filter(({ fieldsV1 }) => membersOf(fieldsV1?.['f:spec'])['f:renewTime'] !== undefined)
    .flatMap(({ time }) => timeOf(time) ?? []);
  return times.length === 0 ? undefined : Math.max(...times);
}

function timeOf(text: string | undefined): number | undefined {
  const milliseconds = Date.parse(text ?? '');
  return Number.isNaN(milliseconds) ? undefined : milliseconds;
}
