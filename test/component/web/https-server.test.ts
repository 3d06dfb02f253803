// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { connect as connectPlain } from 'node:net';
import { connect, TLSSocket } from 'node:tls';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { createHttpsServer, type HttpsServer } from '#component/web/https-server.ts';
import { createMetrics } from '#component/web/metric-registry.ts';
import { fakeTime, type FakeTime } from '../../support/kube/fake-time.ts';
import { recordedLog } from '../../support/component/recorded-log.ts';
import { tlsCertificate } from '../../support/pki/tls-certificate.ts';

type Pair = Awaited<ReturnType<typeof tlsCertificate>>;

let first: Pair;
let second: Pair;
before(async () => {
  [first, second] = [await tlsCertificate('first'), await tlsCertificate('second')];
});

let directory = '';
let time: FakeTime;
let server: HttpsServer;
let running: Promise<void>;
const measured: number[] = [];
const agents: Agent[] = [];
const stop = { now: new AbortController() };

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'https-'));
  time = fakeTime(Date.now());
  stop.now = new AbortController();
  const { registry } = createMetrics('signer', '1.2.3');
  server = await createHttpsServer({
    listen: '127.0.0.1:0',
    registry,
    notReady: () => [],
    requestTimeoutMs: 1_000,
    directory,
    ...time,
    log: recordedLog(),
    measureNotAfter: (seconds) => measured.push(seconds),
  });
  running = server.run(stop.now.signal);
});
afterEach(async () => {
  for (const agent of agents.splice(0)) agent.destroy();
  stop.now.abort(new Error('stopped'));
  await running;
  await rm(directory, { recursive: true });
});
after(() => measured.splice(0));

/** As a kubelet does it: a directory of its own, and one swap of a symbolic link. */
async function write(files: Readonly<Record<string, string>>): Promise<void> {
  const version = await mkdtemp(join(directory, '..v-'));
  for (const [name, content] of Object.entries(files))
    await writeFile(join(version, name), content);
  await symlink(version, join(directory, '..data_tmp'));
  await rename(join(directory, '..data_tmp'), join(directory, '..data'));
  for (const name of ['tls.crt', 'tls.key']) {
    await symlink(join('..data', name), join(directory, name)).catch(() => undefined);
  }
}

const put = ({ cert, key }: Pair): Promise<void> => write({ 'tls.crt': cert, 'tls.key': key });

/** Until the files have been looked at once more: real reads under a clock that stands still. */
async function looked(until: () => boolean): Promise<void> {
  for (let turn = 0; turn < 400 && !until(); turn += 1) {
    await time.advance(5_000);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  assert.ok(until(), server.warnings().join());
}

function agent(more: object = {}): Agent {
  const made = new Agent({
    keepAlive: true,
    maxSockets: 1,
    ca: [first.cert, second.cert],
    ...more,
  });
  agents.push(made);
  return made;
}

interface Got {
  readonly status: number | undefined;
  readonly body: string;
  readonly subject: string | undefined;
}

async function get(path: string, by: Agent): Promise<Got> {
  const asked = request({ host: '127.0.0.1', port: server.port, path, agent: by });
  asked.end();
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  const { socket } = response;
  // Told by the handshake: empty for a later request of the same connection.
  const subject = socket instanceof TLSSocket ? socket.getPeerX509Certificate()?.subject : '';
  return { status: response.statusCode, body: await text(response), subject };
}

const isQuiet = (): boolean => server.warnings().length === 0;

test('without a certificate no connection is served, and a warning says so', async () => {
  await looked(() => server.warnings().some((each) => each.includes('ENOENT')));
  await assert.rejects(get('/metrics', agent()));
  await put(first);
  await looked(isQuiet);
  const { status, body, subject } = await get('/metrics', agent());
  assert.equal(status, 200);
  assert.match(body, /countersign_build_info/);
  assert.equal(subject, 'CN=first');
  assert.equal(measured.at(-1), Date.parse(new X509Certificate(first.cert).validTo) / 1000);
});

test('a new certificate applies to new connections; existing ones continue', async () => {
  await put(first);
  await looked(isQuiet);
  const kept = connect({ host: '127.0.0.1', port: server.port, ca: [first.cert] });
  await once(kept, 'secureConnect');
  await put(second);
  const notAfters = measured.length;
  await looked(() => measured.length > notAfters);
  kept.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n');
  assert.match(await text(kept), /^HTTP\/1\.1 200 OK/);
  assert.equal((await get('/healthz', agent())).subject, 'CN=second');
});

test(
  'a client that does not begin its handshake is disconnected',
  { timeout: 10_000 },
  async () => {
    await put(first);
    await looked(isQuiet);
    const silent = connectPlain({ host: '127.0.0.1', port: server.port });
    silent.resume();
    await once(silent, 'close');
  },
);

test('unusable files change nothing, and the server recovers by itself', async () => {
  await put(first);
  await looked(isQuiet);
  const faults: [files: Readonly<Record<string, string>>, says: RegExp][] = [
    [{ 'tls.crt': second.cert, 'tls.key': first.key }, /not the key of tls\.crt/],
    [{ 'tls.crt': second.cert, 'tls.key': '' }, /older certificate/],
    [{ 'tls.crt': second.cert.slice(0, 100), 'tls.key': second.key }, /older certificate/],
    [{ 'tls.crt': '' }, /older certificate/],
  ];
  for (const [files, says] of faults) {
    await write(files);
    await looked(() => says.test(server.warnings().join()));
    assert.equal((await get('/healthz', agent())).subject, 'CN=first');
  }
  await put(second);
  await looked(isQuiet);
  assert.equal((await get('/healthz', agent())).subject, 'CN=second');
});

test('an expired certificate is not loaded', async () => {
  await put(first);
  await time.advance(2 * 3_600_000);
  await looked(() => server.warnings().some((each) => each.includes('expired at')));
});

test('TLS below 1.3 is refused, before and after a certificate change', async () => {
  for (const pair of [first, second]) {
    await put(pair);
    const count = measured.length;
    await looked(() => measured.length > count);
    await assert.rejects(get('/healthz', agent({ maxVersion: 'TLSv1.2' })), /protocol version/);
  }
});
