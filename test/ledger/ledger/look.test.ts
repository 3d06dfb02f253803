// SPDX-License-Identifier: Apache-2.0
/** The monitor misses no certificate of a stolen key, whatever other certificates it sees. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { SignerError } from '#base/errors.ts';
import { MonitoredCas } from '#ledger/ledger/monitor/knowledge.ts';
import type { RecordQuery } from '#ledger/store/index-scan.ts';
import { fingerprint } from '#pki/x509/certificate.ts';
import { workload } from '../../support/signers/workload-profile.ts';
import {
  gapRecord,
  monitored,
  OURS,
  recordOf,
  stolen,
  type Monitored,
} from '../../support/ledger/monitored.ts';
import { generalizedTime, seq, tlv, utcTime } from '../../support/pki/der.ts';

const GRACE = 70_000;
const MALFORMED = seq(utcTime('260101000000Z'), generalizedTime('20601301000000Z'));
const MIB = 1024 * 1024;

const STAYS = stolen(99);

const serials = (stand: Monitored): readonly string[] =>
  stand.findings().map(({ serial }) => serial);

test('a certificate with a malformed time is found, and hides none behind it', async () => {
  const stand = monitored();
  stand.request('a', stolen(1, { validity: MALFORMED }));
  stand.request('b', stolen(2));
  await stand.time.advance(GRACE);
  assert.deepEqual(serials(stand), ['01', '02']);
  const [first, second] = stand.findings();
  assert.deepEqual([first?.notBefore, first?.notAfter], ['unreadable', 'unreadable']);
  assert.equal(second?.notBefore, '2026-01-01T00:00:00.000Z');
  // Reported, as each comparison does.
  assert.ok(
    stand.component.counted.some(([name, , count]) => name === 'unrecorded' && count === 2),
  );
  await stand.stop();
});

test('a serial number of a MiB becomes a short finding', async () => {
  const stand = monitored();
  stand.request('a', stolen(1, { serial: tlv(0x02, Buffer.alloc(MIB, 1)) }));
  await stand.time.advance(GRACE);
  assert.deepEqual(serials(stand), ['01'.repeat(64)]);
  await stand.stop();
});

test('an error about one certificate keeps no other from being reported', async () => {
  const stand = monitored();
  const { log, events } = stand.component;
  let isFirst = true;
  Object.assign(events, {
    recordOnce: () => {
      if (!isFirst) return Promise.resolve();
      isFirst = false;
      return Promise.reject(new TypeError('one fault'));
    },
  });
  stand.request('a', stolen(1));
  stand.request('b', stolen(2));
  await stand.time.advance(62_000);
  assert.deepEqual(serials(stand), ['01', '02']);
  assert.ok(log.lines.some((line) => JSON.stringify(line).includes('one fault')));
  assert.ok(
    stand.component.counted.some(([name, , count]) => name === 'unrecorded' && count === 2),
  );
  await stand.stop();
});

test('a standby holds no certificate, and finds stolen ones once it leads', async () => {
  const stand = monitored(false);
  for (let n = 1; n <= 50; n += 1) {
    stand.request(`gone-${n}`, stolen(n));
    await stand.time.advance(0);
    stand.remove(`gone-${n}`);
  }
  stand.request('stays', STAYS);
  await stand.time.advance(GRACE);
  assert.deepEqual([stand.asked, stand.findings()], [[], []]);
  stand.state.leads = true;
  await stand.time.advance(GRACE + 5_000);
  assert.deepEqual([...new Set(stand.asked)], [fingerprint(STAYS)]);
  assert.deepEqual(serials(stand), ['63']);
  await stand.stop();
});

test('a former leader forgets, and sees all objects when it leads again', async () => {
  const stand = monitored();
  stand.request('gone', stolen(1));
  stand.request('stays', stolen(2));
  await stand.time.advance(6_000);
  stand.state.leads = false;
  await stand.time.advance(6_000);
  stand.remove('gone');
  stand.state.leads = true;
  await stand.time.advance(GRACE + 5_000);
  assert.deepEqual(serials(stand), ['02']);
  await stand.stop();
});

test('a former leader counts no finding, which a person may acknowledge meanwhile', async () => {
  const stand = monitored();
  stand.request('a', STAYS);
  await stand.time.advance(GRACE);
  const last = (): unknown =>
    stand.component.counted.findLast(([name]) => name === 'unrecorded')?.[2];
  assert.equal(last(), 1);
  stand.state.leads = false;
  await stand.time.advance(6_000);
  assert.equal(last(), 0);
  await stand.stop();
});

test('a former leader warns of no comparison, which another replica makes', async () => {
  const stand = monitored();
  stand.state.isAway = true;
  stand.request('a', STAYS);
  await stand.time.advance(6_000);
  assert.match(stand.warnings().join(), /the database is away/);
  stand.state.leads = false;
  await stand.time.advance(6_000);
  assert.deepEqual(stand.warnings(), []);
  await stand.stop();
});

test('under pressure a stolen certificate is found, and a dropped one is seen later', async () => {
  const stand = monitored();
  await stand.time.advance(6_000);
  stand.state.isAway = true;
  const others = Array.from({ length: 40 }, () => randomBytes(MIB));
  for (const [n, other] of others.entries()) {
    stand.request(`other-${n}`, other);
    await stand.time.advance(0);
    // Deleted while it waits, so that only its copy in memory remains.
    if (n === 0) stand.remove('other-0');
  }
  stand.request('ours', stolen(1));
  await stand.time.advance(0);
  stand.remove('ours');
  stand.request('last', randomBytes(100));
  await stand.time.advance(6_000);
  stand.state.isAway = false;
  const before = stand.asked.length;
  await stand.time.advance(1_000 + 5_000);
  const first = new Set(stand.asked.slice(before));
  assert.ok(first.size < others.length, String(first.size));
  await stand.time.advance(GRACE);
  const asked = new Set(stand.asked);
  for (const other of others) assert.ok(asked.has(fingerprint(other)));
  assert.deepEqual(serials(stand), ['01']);
  await stand.stop();
});

test('a new leader compares each certificate once, however many there are', async () => {
  const stand = monitored(false);
  for (let n = 0; n < 40; n += 1)
    stand.request(`other-${n}`, randomBytes(1.5 * MIB), randomBytes(0.2 * MIB));
  await stand.time.advance(6_000);
  stand.state.leads = true;
  await stand.time.advance(6_000);
  assert.equal(new Set(stand.asked).size, 80);
  await stand.time.advance(6_000);
  const before = stand.asked.length;
  await stand.time.advance(30_000);
  assert.equal(stand.asked.length, before);
  await stand.stop();
});

test('a CA is new until it is reported, even if the query for another one failed', async () => {
  const cas = new MonitoredCas();
  const print = fingerprint(OURS.certificate.raw);
  const authorities = [print, `${print}0`].map(
    (each) => ({ fingerprint: each, longestLeaf: '1h' }) as never,
  );
  const signers = [{ ...workload(), status: { authorities } }];
  let isAway = true;
  const store = {
    after: () => Promise.resolve([]),
    find: ({ terms }: RecordQuery) => {
      if (terms.some(({ value }) => value === print))
        return Promise.resolve({ records: [recordOf(OURS)] });
      return isAway ? Promise.reject(new Error('away')) : Promise.resolve({ records: [] });
    },
  };
  await assert.rejects(cas.refresh(store, signers));
  isAway = false;
  assert.equal(await cas.refresh(store, signers), true);
  assert.equal(await cas.refresh(store, signers), false);
});

test('a gap explains no more certificates than it has lost, across restarts', async () => {
  const validity = seq(utcTime('260531235000Z'), utcTime('260601004000Z'));
  const data: Record<string, string> = {};
  const first = monitored(true, data, [gapRecord()]);
  const lost = stolen(1, { validity });
  first.request('a', lost);
  await first.time.advance(GRACE);
  await first.stop();
  const second = monitored(true, data, [gapRecord()]);
  second.request('b', stolen(2, { validity }));
  second.request('a', lost);
  await second.time.advance(GRACE);
  assert.deepEqual(
    second.findings().map(({ serial, explanation }) => [serial, explanation]),
    [
      ['01', 'CountedGap'],
      ['02', undefined],
    ],
  );
  await second.stop();
});

for (const [law, losesLease] of [
  ['a finding of a gap stays explained after its write failed once', false],
  ['a finding of a gap stays explained after a failed write and a lost Lease', true],
] as const) {
  test(law, async () => {
    const validity = seq(utcTime('260531235000Z'), utcTime('260601004000Z'));
    let failures = 1;
    const away = { code: 'KUBE_UNAVAILABLE', disposition: 'retry', message: 'away' } as const;
    const data = new Proxy<Record<string, string>>(
      {},
      {
        set: (kept, name: string, value: string) => {
          failures -= 1;
          if (failures >= 0) throw new SignerError(away);
          kept[name] = value;
          return true;
        },
      },
    );
    const stand = monitored(true, data, [gapRecord()]);
    stand.request('a', stolen(1, { validity }));
    for (let waited = 0; waited < 2 * GRACE && failures > 0; waited += 1_000)
      await stand.time.advance(1_000);
    assert.equal(failures, 0);
    if (losesLease) {
      stand.state.leads = false;
      await stand.time.advance(10_000);
      stand.state.leads = true;
    }
    await stand.time.advance(GRACE + 20_000);
    assert.deepEqual(
      stand.findings().map(({ explanation }) => explanation),
      ['CountedGap'],
    );
    await stand.stop();
  });
}
