// SPDX-License-Identifier: Apache-2.0
/**
 * What AcmeSigners may have called: nothing but what is granted, at no address but those of the
 * Internet.
 */
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { CALL_LIMITS, createExchange } from '#base/egress/exchange.ts';
import { createDnsClient } from '#acme/solving/dns/client.ts';
import { sendByTcp, sendByUdp } from '#acme/solving/dns/transport.ts';
import { OF_ACME_SIGNERS } from '#acme/solving/messages.ts';
import { connectGuard } from '#base/egress/connect-guard.ts';
import { parseNetwork } from '#base/egress/networks.ts';
import { parseSolverGrant } from '#acme/solving/http/grants.ts';
import { nameserversRefusal, solversRefusal } from '#acme/solving/namespaced.ts';
import { createSelfCheck } from '#acme/solving/self-check.ts';
import { readAcmeSigner } from '#api/acme/read-acme-signer.ts';
import { acmeObject } from '../../api/acme/build.ts';

const OWNED = { secret: { name: 'dns' } };
const SOLVERS = {
  rfc2136: { server: 'NS1.example.com' },
  acmeDNS: { server: 'https://auth.example.com', ...OWNED },
  webhook: { groupName: 'acme.example.com', solverName: 'x' },
};
const GRANTS = [
  'rfc2136=ns1.example.com:53',
  'acmeDNS=https://auth.example.com/',
  'webhook=acme.example.com',
];

function refusalOf(
  solver: object,
  grants: readonly string[],
  signerName?: string,
): string | undefined {
  const signer = readAcmeSigner(acmeObject({ solvers: [{ name: 'a', ...solver }] }, signerName));
  return solversRefusal(signer, grants.map(parseSolverGrant));
}

for (const [member, settings] of Object.entries(SOLVERS)) {
  test(`${member} of an AcmeSigner is called where it is granted, and nowhere else`, () => {
    const solver = { [member]: settings };
    assert.equal(refusalOf(solver, GRANTS), undefined);
    const others = GRANTS.filter((each) => !each.startsWith(member));
    for (const grants of [[], others])
      assert.match(
        refusalOf(solver, grants) ?? '',
        new RegExp(`does not allow AcmeSigners the ${member} .*--namespaced-solver`),
      );
    assert.equal(refusalOf(solver, [], 'example.com/public'), undefined);
  });
}

test('a grant of one member is none of another', () => {
  const solver = { rfc2136: { server: 'acme.example.com:53' } };
  assert.ok(refusalOf(solver, ['nameserver=acme.example.com:53']));
});

test('resolvers that a self-check is to ask are granted as well', () => {
  const selfCheck = { nameservers: ['192.0.2.53'] };
  const solver = { webhook: SOLVERS.webhook, selfCheck };
  assert.match(refusalOf(solver, GRANTS) ?? '', /the nameserver "192\.0\.2\.53"/);
  assert.equal(refusalOf(solver, [...GRANTS, 'nameserver=192.0.2.53:53']), undefined);
  const doh = ['https://dns.example.com/dns-query'];
  assert.ok(nameserversRefusal(doh, []));
  assert.equal(
    nameserversRefusal(doh, [parseSolverGrant(`nameserver=${doh[0] ?? ''}`)]),
    undefined,
  );
});

test('a solver that calls nobody needs no grant', () => {
  assert.equal(refusalOf({ http01: {} }, []), undefined);
  assert.equal(refusalOf({ persist: {} }, []), undefined);
});

test('what is not an address of a solver is refused, with what to write', () => {
  for (const text of ['', 'ns1.example.com', 'http01=x', 'rfc2136='])
    assert.throws(
      () => parseSolverGrant(text),
      /write rfc2136=…, acmeDNS=…, webhook=… or nameserver=…/,
    );
});

let port: number;
let asked = 0;
const web = createServer((_request, response) => {
  asked += 1;
  response.end('{}');
});
before(async () => {
  web.listen(0, '127.0.0.1');
  await once(web, 'listening');
  ({ port } = web.address() as AddressInfo);
});
after(() => web.close());

for (const host of ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]', '2130706433']) {
  test(`no connection leads to ${host}, but where its network is allowed`, async () => {
    const send = async (networks: readonly string[]): Promise<string> => {
      const guard = connectGuard(networks.map(parseNetwork), OF_ACME_SIGNERS);
      const exchange = createExchange({
        userAgent: 'test',
        limits: CALL_LIMITS,
        guard,
        proxy: undefined,
      });
      const answer = await exchange.send({ method: 'GET', url: `http://${host}:${port}/` });
      await exchange.close();
      return 'kind' in answer ? answer.detail : String(answer.status);
    };
    const before = asked;
    assert.match(await send([]), /the loopback interface.*--namespaced-network/);
    assert.equal(asked, before);
    assert.equal(await send(['127.0.0.0/8', '::1', '::ffff:127.0.0.0/104']), '200');
  });
}

test('the same holds for DNS, by UDP and TCP', async () => {
  const guard = connectGuard([], OF_ACME_SIGNERS);
  const signal = AbortSignal.timeout(60_000);
  for (const host of ['127.0.0.1', 'localhost']) {
    const answer = await sendByTcp({ host, port }, Buffer.alloc(12), signal, guard);
    assert.match('kind' in answer ? answer.problem : '', /the loopback interface/);
    const http = createExchange({
      userAgent: 'test',
      limits: CALL_LIMITS,
      guard,
      proxy: undefined,
    });
    const ask = createDnsClient(http, guard);
    const question = { name: 'example.com', type: 'TXT', recursive: true } as const;
    const found = await ask(`${host}:${port}`, question, signal);
    assert.match(found.kind === 'none' ? found.problem : '', /the loopback interface/);
    await http.close();
  }
});

test('a guarded socket of UDP reaches what is allowed, and not its own side', async () => {
  const server = createSocket('udp4');
  server.on('message', (message, { port: from, address }) => {
    message.writeUInt16BE(0x8000, 2);
    server.send(message, from, address);
  });
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
  const guard = connectGuard([parseNetwork('127.0.0.0/8')], OF_ACME_SIGNERS);
  const query = Buffer.alloc(12);
  const send = (host: string): Promise<unknown> =>
    sendByUdp({ host, port: server.address().port }, query, AbortSignal.timeout(60_000), guard);
  assert.ok(Buffer.isBuffer(await send('127.0.0.1')));
  for (const host of ['0.0.0.0', '::']) assert.match(JSON.stringify(await send(host)), /this host/);
  server.close();
});

test('a self-check of an AcmeSigner asks no resolver that is not granted', async () => {
  const http = createExchange({ userAgent: 'test', limits: CALL_LIMITS, proxy: undefined });
  const refused = () => Promise.reject(new Error('nobody is to be asked'));
  const check = createSelfCheck({
    http,
    resolvers: [],
    now: Date.now,
    allowed: [],
    named: { ask: refused, grants: [] },
  });
  const challenge = {
    type: 'dns-01',
    dnsName: 'example.com',
    wildcard: false,
    key: 'x',
    presentedAt: 0,
  } as const;
  const settings = { nameservers: ['127.0.0.1:53'] };
  const problem = await check(
    { ...challenge, namespaced: true, settings },
    AbortSignal.timeout(60_000),
  );
  assert.match(problem ?? '', /does not allow AcmeSigners the nameserver/);
  await http.close();
});
