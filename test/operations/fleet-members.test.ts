// SPDX-License-Identifier: Apache-2.0
/** What a hub says of its members. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FleetMember, FleetMemberStatus } from '#api/signer/fleet-member.ts';
import { memberRows, membersTable } from '#operations/fleet/member-rows.ts';

const NOW = Date.parse('2026-11-27T12:00:00Z');
const fingerprint = (digit: string): string => `sha256:${digit.repeat(64)}`;
const [OLD, NEW] = [fingerprint('a'), fingerprint('b')];

function member(name: string, status?: FleetMemberStatus): FleetMember {
  return {
    apiVersion: 'countersign.dev/v1alpha1',
    kind: 'FleetMember',
    metadata: { name, namespace: 'countersign-fleet', uid: name, resourceVersion: '1' },
    spec: { signerName: 'fleet.example.com/members' },
    ...(status === undefined ? {} : { status }),
  } as FleetMember;
}

const GOOD: FleetMemberStatus = {
  reportedAt: '2026-11-27T11:30:00Z',
  version: '0.1.0',
  authority: { fingerprint: fingerprint('c'), notAfter: '2026-12-27T12:00:00Z' },
  anchors: [OLD, NEW],
};

test('a member is late after two missing reports, and not after one', () => {
  const reports = ['11:00', '10:00', '09:00'].map((time, index) =>
    member(String(index), { ...GOOD, reportedAt: `2026-11-27T${time}:00Z` }),
  );
  const rows = memberRows(reports, [], NOW);
  assert.deepEqual(
    rows.map(({ report }) => report),
    ['current', 'current', 'late'],
  );
});

test('a report without a valid time is late', () => {
  const [row] = memberRows([member('x', { ...GOOD, reportedAt: 'soon' })], [], NOW);
  assert.equal(row?.report, 'late');
});

test('a member whose bundle lacks an anchor of the hub is named, with that anchor', () => {
  const rows = memberRows(
    [member('b', { ...GOOD, anchors: [OLD] }), member('a', GOOD)],
    [OLD, NEW],
    NOW,
  );
  assert.deepEqual(
    rows.map(({ cluster, missingAnchors }) => [cluster, missingAnchors]),
    [
      ['a', []],
      ['b', [NEW]],
    ],
  );
});

test('the table has a line a member, also for one that never reported', () => {
  const never = member('new');
  const waits = member('prod', { ...GOOD, anchors: [OLD], waitsFor: 'the hub\nis down\u001b[2J' });
  const rows = memberRows([waits, never], [OLD, NEW], NOW);
  assert.equal(
    membersTable(rows, NOW),
    `CLUSTER   CA                    EXPIRES   ANCHORS                     REPORTED   VERSION   WAITS FOR
new       -                     -         -                           never      -         -
prod      sha256:cccccccccccc   in 30d    lacks sha256:bbbbbbbbbbbb   30m ago    0.1.0     the hub\\u{a}is down\\u{1b}[2J
`,
  );
  assert.equal(membersTable([], NOW), 'the hub has no members\n');
});
