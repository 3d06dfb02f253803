// SPDX-License-Identifier: Apache-2.0
/** Lists the members of a hub by the reports that they write. */
import {
  REPORT_INTERVAL_MS,
  type FleetMember,
  type FleetMemberStatus,
} from '#api/signer/fleet-member.ts';
import { parseTime } from '#api/object/time.ts';
import { columns } from '../show/columns.ts';
import { distanceText } from '../show/table.ts';

/** A member as `countersign fleet list` prints it. */
export interface MemberRow {
  readonly cluster: string;
  /** `late` if two reports in a row are missing. */
  readonly report: 'current' | 'late' | 'none';
  /** RFC 3339. */
  readonly reportedAt: string | undefined;
  readonly version: string | undefined;
  readonly authority: FleetMemberStatus['authority'];
  /** Fingerprints of the anchors of the hub that the bundle of the member does not have. */
  readonly missingAnchors: readonly string[];
  readonly waitsFor: string | undefined;
}

/** Tolerates one missing report: a restart, or an outage of minutes. */
const LATE_MS = 2 * REPORT_INTERVAL_MS + REPORT_INTERVAL_MS / 4;

/**
 * Returns the members of a signer, by name.
 *
 * @param anchors - fingerprints of the anchors of the hub
 * @param now - milliseconds, by the clock of the hub
 */
export function memberRows(
  members: readonly FleetMember[],
  anchors: readonly string[],
  now: number,
): readonly MemberRow[] {
  return members
    .map((member) => rowOf(member, anchors, now))
    .sort((a, b) => (a.cluster < b.cluster ? -1 : 1));
}

function rowOf(
  { metadata, status }: FleetMember,
  anchors: readonly string[],
  now: number,
): MemberRow {
  const { reportedAt, version, authority, waitsFor, anchors: reported = [] } = status ?? {};
  const known = new Set(reported);
  return {
    cluster: metadata.name,
    report: reportedAt === undefined ? 'none' : isLate(reportedAt, now) ? 'late' : 'current',
    missingAnchors: reportedAt === undefined ? [] : anchors.filter((each) => !known.has(each)),
    reportedAt,
    version,
    authority,
    waitsFor,
  };
}

/** A report with a time in the future is current until then. One without a valid time is late. */
function isLate(reportedAt: string, now: number): boolean {
  return !(now - parseTime(reportedAt) <= LATE_MS);
}

const TITLES = ['CLUSTER', 'CA', 'EXPIRES', 'ANCHORS', 'REPORTED', 'VERSION', 'WAITS FOR'];

/** Characters of a fingerprint that tell CAs apart. */
const SHORT = 'sha256:'.length + 12;

/**
 * Formats the members as a table.
 *
 * @param width - columns of the terminal
 */
export function membersTable(rows: readonly MemberRow[], now: number, width?: number): string {
  if (rows.length === 0) return 'the hub has no members\n';
  const cells = rows.map((row) => [
    row.cluster,
    row.authority?.fingerprint.slice(0, SHORT) ?? '-',
    row.authority === undefined ? '-' : distanceText(row.authority.notAfter, now),
    anchorsText(row),
    reportText(row, now),
    row.version ?? '-',
    row.waitsFor ?? '-',
  ]);
  return [...columns([TITLES, ...cells], width), ''].join('\n');
}

function anchorsText({ report, missingAnchors }: MemberRow): string {
  if (report === 'none') return '-';
  if (missingAnchors.length === 0) return 'complete';
  return `lacks ${missingAnchors.map((each) => each.slice(0, SHORT)).join(', ')}`;
}

function reportText({ report, reportedAt }: MemberRow, now: number): string {
  if (reportedAt === undefined) return 'never';
  const text = distanceText(reportedAt, now);
  return report === 'late' ? `${text}, late` : text;
}
