// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { connect } from 'node:net';
import { afterEach, test } from 'node:test';
import { Gauge, Registry } from 'prom-client';
import { bind } from '#component/web/bind.ts';
import { createMetrics } from '#component/web/metric-registry.ts';
import { REQUEST_SERIES } from '#requests/loop/metrics.ts';
import { serve, timeoutsOf, type RunningServer, type ServerInit } from '#component/web/server.ts';

type ListeningServer = Parameters<typeof bind>[0];

let server: RunningServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

async function start(more: Partial<ServerInit> = {}): Promise<(path: string) => Promise<Response>> {
  const { registry } = createMetrics('signer', '1.2.3');
  server = await serve({ listen: '127.0.0.1:0', registry, notReady: () => [], ...more });
  const { port } = server;
  return (path) => fetch(`http://127.0.0.1:${port}${path}`);
}

test('a component that is not ready is alive, and /readyz gives the reasons', async () => {
  const reasons = ['CSRs: not listed yet', 'ClusterRole countersign-signer lacks: get secrets'];
  const get = await start({ notReady: () => reasons });
  const live = await get('/healthz');
  assert.deepEqual([live.status, await live.text()], [200, 'ok\n']);
  const ready = await get('/readyz');
  assert.equal(ready.status, 503);
  assert.equal(ready.headers.get('content-type'), 'text/plain; charset=utf-8');
  assert.equal(await ready.text(), `${reasons.join('\n')}\n`);
  reasons.length = 0;
  const then = await get('/readyz');
  assert.deepEqual([then.status, await then.text()], [200, 'ok\n']);
});

test('warnings are shown on /readyz without making the component unready', async () => {
  const get = await start({ warnings: () => ['the policy is not installed'] });
  const ready = await get('/readyz');
  assert.deepEqual(
    [ready.status, await ready.text()],
    [200, 'ok\nwarning: the policy is not installed\n'],
  );
});

test('metrics have the Prometheus text format and current values', async () => {
  const metrics = createMetrics('signer', '1.2.3');
  const get = await start({ registry: metrics.registry });
  metrics.of(REQUEST_SERIES).requestPending.set({ kind: 'k', signer: 's' }, 4);
  const answer = await get('/metrics');
  assert.match(answer.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
  assert.equal(answer.headers.get('cache-control'), 'no-store');
  const text = await answer.text();
  assert.match(text, /^countersign_request_pending\{kind="k",signer="s",component="signer"\} 4$/m);
  assert.match(text, /^countersign_build_info\{version="1\.2\.3",component="signer"\} 1$/m);
});

test('other paths and methods give 404', async () => {
  const get = await start();
  const missing = await get('/<script>');
  assert.deepEqual([missing.status, await missing.text()], [404, 'not found\n']);
  const { port } = server ?? { port: 0 };
  const posted = await fetch(`http://127.0.0.1:${port}/healthz`, { method: 'POST' });
  assert.equal(posted.status, 404);
  assert.equal(missing.headers.get('x-powered-by'), null);
});

test('an internal error shows no details to the client', async () => {
  const registry = new Registry();
  const broken = new Gauge({
    name: 'broken',
    help: 'x',
    registers: [registry],
    collect: () => {
      throw new Error('s3cret');
    },
  });
  assert.ok(broken);
  const get = await start({ registry });
  const answer = await get('/metrics');
  assert.deepEqual([answer.status, await answer.text()], [500, 'internal error\n']);
});

test('closing does not wait for open connections', async () => {
  await start();
  const { port } = server ?? { port: 0 };
  const socket = connect(port, '127.0.0.1');
  await new Promise((resolve) => socket.once('connect', resolve));
  socket.on('error', () => undefined);
  await server?.close();
  server = undefined;
  await assert.rejects(fetch(`http://127.0.0.1:${port}/healthz`));
});

for (const [what, sent] of [
  ['sends nothing', ''],
  ['sends half of a request', 'GET /healthz HTTP/1.1\r\nHost: a\r\n'],
] as const) {
  test(`a client that ${what} is disconnected after the timeout`, { timeout: 10_000 }, async () => {
    await start({ requestTimeoutMs: 200 });
    const socket = connect(server?.port ?? 0, '127.0.0.1');
    socket.write(sent);
    socket.resume();
    await new Promise((resolve) => socket.once('close', resolve));
  });
}

test('late clients are looked for often enough for a timeout of 10 s', () => {
  const { requestTimeout, headersTimeout, connectionsCheckingInterval } = timeoutsOf();
  assert.deepEqual([requestTimeout, headersTimeout], [10_000, 10_000]);
  assert.ok((connectionsCheckingInterval ?? 30_000) <= 1_000);
});

const faulty = [
  '',
  '8080',
  'localhost',
  '127.0.0.1:',
  '127.0.0.1:65536',
  '127.0.0.1:x',
  '::1:80',
  'a:b:1',
];
for (const listen of faulty) {
  test(`--listen "${listen}" is refused, with a valid example`, async () => {
    await assert.rejects(start({ listen }), {
      code: 'USAGE',
      message: `--listen ${listen}: must be host:port, such as 127.0.0.1:8080`,
    });
  });
}

test('a port in use or a foreign address is named in the error', async () => {
  await start();
  const listen = `127.0.0.1:${server?.port ?? 0}`;
  const { registry } = createMetrics('signer', '1');
  const init = { registry, notReady: () => [] };
  await assert.rejects(serve({ ...init, listen }), {
    code: 'USAGE',
    message: new RegExp(`^--listen ${listen}: listen EADDRINUSE`),
  });
  await assert.rejects(serve({ ...init, listen: '192.0.2.1:0' }), { code: 'USAGE' });
});

const V4 = '127.0.0.1';
const V6 = '[::1]';
const addresses: readonly [listen: string, answering: readonly string[]][] = [
  [':0', [V4, V6]],
  ['[::]:0', [V4, V6]],
  ['0.0.0.0:0', [V4]],
  ['127.0.0.1:0', [V4]],
  ['[::1]:0', [V6]],
];
for (const [listen, answering] of addresses) {
  test(`--listen ${listen} answers on ${answering.join(' and ')} only`, async () => {
    await start({ listen });
    const answered = [];
    for (const host of [V4, V6]) {
      const url = `http://${host}:${server?.port}/healthz`;
      const status = await fetch(url).then(
        (answer) => answer.status,
        () => 0,
      );
      if (status === 200) answered.push(host);
    }
    assert.deepEqual(answered, answering);
  });
}

/** A kernel that refuses to open a port at `::` with this error. */
function withoutIpv6(code: string): { readonly asked: string[]; readonly server: ListeningServer } {
  const asked: string[] = [];
  const emitter = new EventEmitter();
  const listen = ({ host }: { readonly host: string }, onListening: () => void): void => {
    asked.push(host);
    const error = Object.assign(new Error(`listen ${code}: ${host}`), { code });
    if (host === '::') queueMicrotask(() => emitter.emit('error', error));
    else queueMicrotask(onListening);
  };
  return { asked, server: Object.assign(emitter, { listen }) as unknown as ListeningServer };
}

test('without IPv6 in the kernel the port opens on IPv4, and the log says so', async () => {
  for (const code of ['EAFNOSUPPORT', 'EADDRNOTAVAIL', 'EINVAL']) {
    const { asked, server: kernel } = withoutIpv6(code);
    const lines: string[] = [];
    const keep = (_: unknown, line: string): number => lines.push(line);
    const log = { debug: keep, info: keep, warn: keep, error: keep };
    await bind(kernel, { host: '', port: 8080 }, log);
    assert.deepEqual(asked, ['::', '0.0.0.0']);
    assert.match(lines.join('\n'), /^this kernel has no IPv6, so the port is open on IPv4 only/);
  }
});

test('a port in use is no reason for IPv4 alone, nor is an IPv6 address that is named', async () => {
  const used = withoutIpv6('EADDRINUSE');
  await assert.rejects(bind(used.server, { host: '', port: 8080 }), { code: 'EADDRINUSE' });
  const named = withoutIpv6('EAFNOSUPPORT');
  await assert.rejects(bind(named.server, { host: '::', port: 8080 }), { code: 'EAFNOSUPPORT' });
  assert.deepEqual([used.asked, named.asked], [['::'], ['::']]);
});
