// SPDX-License-Identifier: Apache-2.0
/**
 * Names whose CNAME is a wildcard's, and names that are delegated, in zones as RFC 4592 has them.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseNetwork } from '#base/egress/networks.ts';
import type { AskDns } from '#acme/solving/dns/client.ts';
import type { DnsRecord } from '#acme/solving/dns/message.ts';
import { checkDns, findPlace } from '#acme/solving/dns01/check-dns.ts';
import { followCnames, type Resolve } from '#acme/solving/dns01/delegation.ts';
import { pathForPeople } from '#acme/solving/dns01/propagation.ts';

type Zone = Readonly<Record<string, Omit<DnsRecord, 'name'>>>;
const NAME = '_acme-challenge.example.com';
const VALUE = 'v'.repeat(43);
const WILDCARD: Zone = { '*.example.com': { type: 'CNAME', value: 'lb.cloud.test' } };
const link = (value: string): Omit<DnsRecord, 'name'> => ({ type: 'CNAME', value });
const txt = (value: string): Omit<DnsRecord, 'name'> => ({ type: 'TXT', value });

/** A wildcard stands in for a name that does not exist (RFC 4592 §2.2). */
function recordOf(zone: Zone, name: string): DnsRecord | undefined {
  const exists = Object.keys(zone).some((each) => each === name || each.endsWith(`.${name}`));
  const own = exists ? zone[name] : zone[`*.${name.split('.').slice(1).join('.')}`];
  return own && { ...own, name };
}

/** A resolver with these records, and a server of each zone at 192.0.2.1. */
function server(zone: Zone, asked: string[] = []): Resolve {
  return (name, type) => {
    asked.push(name);
    const answers: DnsRecord[] = [];
    for (let at = name, record; (record = recordOf(zone, at)) !== undefined; at = record.value) {
      if (record.type === type || record.type === 'CNAME') answers.push(record);
      if (record.type !== 'CNAME' || answers.length > 20) break;
    }
    const apex = name.split('.').slice(-2).join('.');
    if (type === 'SOA') answers.push({ name: apex, type, value: 'ns.example.com' });
    if (type === 'NS') answers.push({ name, type, value: 'ns.example.com' });
    if (type === 'A' && name.startsWith('ns.')) answers.push({ name, type, value: '192.0.2.1' });
    const base = { kind: 'answer', rcode: 'NOERROR', authoritative: true } as const;
    const rest = { truncated: false, authority: [] } as const;
    return Promise.resolve({ ...base, ...rest, answers });
  };
}

async function place(zone: Zone, name = NAME): Promise<string> {
  const found = await findPlace(server(zone), name);
  assert.ok(found.kind === 'place');
  return `${found.path.join(' > ')} in ${found.zone}: ${pathForPeople(found)}`;
}

test('a CNAME of a wildcard delegates nothing: the record is at the name itself', async () => {
  const says = `${NAME} (at the name itself: its CNAME to lb.cloud.test comes from a wildcard)`;
  assert.equal(await place(WILDCARD), `${NAME} in example.com: ${says}`);
  const further = { ...WILDCARD, 'lb.cloud.test': link('deep.cloud.test') };
  assert.equal(await place(further), `${NAME} in example.com: ${says}`);
});

test('a delegation is followed, with and without a wildcard beside it', async () => {
  const delegated: Zone = { [NAME]: link('d1.acme.test') };
  const there = `${NAME} > d1.acme.test in acme.test: ${NAME} (CNAME to d1.acme.test)`;
  assert.equal(await place(delegated), there);
  assert.equal(await place({ ...delegated, ...WILDCARD }), there);
  const behind = { ...delegated, '*.acme.test': link('all.other.test') };
  // The owner of the delegated names may collect them by a wildcard.
  assert.match(await place(behind), /> d1\.acme\.test > all\.other\.test in other\.test: /);
});

test('a record at the name ends the wildcard there, and nothing else is queried', async () => {
  const asked: string[] = [];
  const found = await followCnames(server({ ...WILDCARD, [NAME]: txt(VALUE) }, asked), NAME);
  assert.deepEqual([found, asked], [{ kind: 'delegation', path: [NAME] }, [NAME]]);
});

test('the sibling is another name each time, no longer than the name itself', async () => {
  const asked: string[] = [];
  for (let round = 0; round < 20; round += 1) await followCnames(server(WILDCARD, asked), NAME);
  const siblings = asked.filter((name) => name.endsWith('.example.com') && name !== NAME);
  assert.equal(new Set(siblings).size, 20);
  assert.ok(siblings.every((name) => name.length <= NAME.length));
});

test('a server that does not answer for the sibling leaves the delegation as it is', async () => {
  const whole = server(WILDCARD);
  const resolve: Resolve = (name, type) =>
    name.startsWith('sibling.')
      ? Promise.resolve({ kind: 'none', problem: 'answers SERVFAIL' })
      : whole(name, type);
  const found = await followCnames(resolve, NAME, 'sibling');
  assert.deepEqual(found, { kind: 'delegation', path: [NAME, 'lb.cloud.test'] });
});

for (const [what, zone, isSeen] of [
  ['at the name itself', { ...WILDCARD, [NAME]: txt(VALUE) }, true],
  ['at the target, as acme-dns writes it', { ...WILDCARD, 'lb.cloud.test': txt(VALUE) }, true],
  ['at neither', WILDCARD, false],
] as const) {
  test(`the self-check beside a wildcard sees the record ${what}`, async () => {
    const resolve = server(zone);
    const ask: AskDns = (_server, { name, type }) => resolve(name, type);
    const init = {
      ask,
      askServer: ask,
      allowed: [parseNetwork('192.0.2.1')],
      resolvers: ['r'],
      now: () => 0,
    };
    const proof = { type: 'dns-01', dnsName: 'example.com', wildcard: false } as const;
    const missing = await checkDns(
      { ...init, authoritativePort: 53 },
      { ...proof, value: VALUE, presentedAt: 0 },
      [],
      new AbortController().signal,
    );
    assert.equal(missing === undefined, isSeen, missing);
    if (!isSeen) assert.match(missing ?? '', /its CNAME to lb\.cloud\.test comes from a wildcard/);
  });
}
