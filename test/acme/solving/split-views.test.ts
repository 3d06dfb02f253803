// SPDX-License-Identifier: Apache-2.0
/**
 * Zones with two views (split horizon, BIND's `view`): clients inside the network get other records
 * than the CA. The self-check reads the view of the resolvers that the solver names.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseNetwork } from '#base/egress/networks.ts';
import type { AskDns } from '#acme/solving/dns/client.ts';
import type { DnsRecord } from '#acme/solving/dns/message.ts';
import { checkDns } from '#acme/solving/dns01/check-dns.ts';

const NAME = '_acme-challenge.app.example.com';
const VALUE = 'v'.repeat(43);
const SERVER = '192.0.2.1';
const INSIDE = '10.0.0.53:53';
const OUTSIDE = '198.51.100.53:53';

type View = Readonly<Record<string, Omit<DnsRecord, 'name'>>>;
/** The wildcard leads to the ingress of the cluster (cert-manager/cert-manager#820). */
const INGRESS: View = { [NAME]: { type: 'CNAME', value: 'ingress.example.com' } };
const SEEN: View = { [NAME]: { type: 'TXT', value: VALUE } };

interface Views {
  readonly inside: View;
  readonly outside: View;
}

/** Answers by the view of the server that is queried. The zone's own server is inside. */
function servers({ inside, outside }: Views, queried: string[]): AskDns {
  return (server, { name, type }) => {
    queried.push(server);
    const own = (server === OUTSIDE ? outside : inside)[name];
    const answers: DnsRecord[] = [];
    if (own !== undefined && [type, 'CNAME'].includes(own.type)) answers.push({ ...own, name });
    const apex = { name: 'example.com', value: 'ns.example.com' };
    if (type === 'SOA' || type === 'NS') answers.push({ ...apex, type });
    if (type === 'A' && name === apex.value) answers.push({ name, type, value: SERVER });
    const base = { kind: 'answer', rcode: 'NOERROR', authoritative: true } as const;
    return Promise.resolve({ ...base, truncated: false, authority: [], answers });
  };
}

async function check(
  views: Views,
  nameservers: readonly string[],
): Promise<{ readonly missing: string | undefined; readonly queried: readonly string[] }> {
  const queried: string[] = [];
  const ask = servers(views, queried);
  const missing = await checkDns(
    {
      ask,
      askServer: ask,
      allowed: [parseNetwork(SERVER)],
      resolvers: [INSIDE],
      now: () => 0,
      authoritativePort: 53,
    },
    {
      type: 'dns-01',
      dnsName: 'app.example.com',
      wildcard: false,
      value: VALUE,
      presentedAt: 0,
    },
    nameservers,
    new AbortController().signal,
  );
  return { missing, queried: [...new Set(queried)] };
}

test('a record that only the view outside has fails, with the server that was queried', async () => {
  const { missing } = await check({ inside: {}, outside: SEEN }, []);
  assert.match(missing ?? '', /ns\.example\.com \(192\.0\.2\.1\) answers that the name has no TXT/);
});

for (const [what, inside] of [
  ['lacks the record', {}],
  ['has a CNAME to the ingress', INGRESS],
] as const) {
  test(`a resolver outside decides alone where the view inside ${what}`, async () => {
    const views = { inside, outside: SEEN };
    assert.deepEqual(await check(views, [OUTSIDE]), { missing: undefined, queried: [OUTSIDE] });
  });
}

test('a record that only the view inside has fails by a resolver outside', async () => {
  const { missing } = await check({ inside: SEEN, outside: {} }, [OUTSIDE]);
  assert.match(missing ?? '', /198\.51\.100\.53:53 answers that the name has no TXT record/);
});

test('each of several resolvers must see the record', async () => {
  const { missing } = await check({ inside: {}, outside: SEEN }, [OUTSIDE, INSIDE]);
  assert.match(
    missing ?? '',
    /is not seen on 1 of 2 servers that the solver names: 10\.0\.0\.53:53/,
  );
});
