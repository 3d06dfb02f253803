// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { afterEach, beforeEach, test } from 'node:test';
import type { CallResult } from '#kube/client/client.ts';
import type { KubeError } from '#kube/client/kube-error.ts';
import { resource } from '#kube/resource/resource.ts';
import { until } from '../../cluster/until.ts';
import type { Call } from '../../support/kube/scripted-server.ts';
import { failure, startWire, type Wire } from '../../support/kube/server-and-clients.ts';

const REQUESTS = resource({
  group: 'certificates.k8s.io',
  version: 'v1',
  plural: 'podcertificaterequests',
});
const STATUS = REQUESTS.object({ namespace: 'team-a', name: 'pcr-1' }, 'status');

let wire: Wire;
beforeEach(async () => (wire = await startWire()));
afterEach(() => wire.stop());

test('a request is JSON with a user agent, and its response is returned unchanged', async () => {
  const client = wire.connect({
    connection: wire.connection({
      credentials: () => Promise.resolve({ tls: {}, authorization: 'Bearer t' }),
    }),
  });
  const answered = client.request({
    method: 'PUT',
    path: STATUS,
    query: { fieldManager: 'a b', dryRun: undefined },
    body: { spec: { unknownField: 'ü' } },
    accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
  });
  const call = await wire.server.next();
  assert.equal(call.method, 'PUT');
  assert.equal(
    call.path,
    '/apis/certificates.k8s.io/v1/namespaces/team-a/podcertificaterequests/pcr-1/status',
  );
  assert.deepEqual([...call.query], [['fieldManager', 'a b']]);
  assert.deepEqual(JSON.parse(call.body), { spec: { unknownField: 'ü' } });
  const { authorization, accept } = call.headers;
  assert.deepEqual([authorization, call.headers['user-agent']], ['Bearer t', 'test/1']);
  assert.equal(call.headers['content-type'], 'application/json');
  assert.equal(accept, 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1');
  call.answer(200, { more: { stillUnknown: 1 } });
  assert.deepEqual(await answered, { more: { stillUnknown: 1 } });
});

test('every impersonated group is sent in its own header', async () => {
  const client = wire.connect({ impersonate: { user: 'jane', groups: ['dev', 'ops'] } });
  const answered = client.request({ method: 'GET', path: '/' });
  const call = await wire.server.next();
  assert.equal(call.headers['impersonate-user'], 'jane');
  assert.equal(call.headers['impersonate-group'], 'dev, ops', 'node joins repeated headers');
  call.answer(200, {});
  await answered;
});

test('a path segment from user input is escaped', () => {
  const path = REQUESTS.object({ namespace: '../x', name: 'a/b?c#d' });
  assert.equal(
    path,
    '/apis/certificates.k8s.io/v1/namespaces/..%2Fx/podcertificaterequests/a%2Fb%3Fc%23d',
  );
});

const refusals: readonly [status: number, reason: string, code: string, disposition: string][] = [
  [400, 'BadRequest', 'KUBE_BAD_REQUEST', 'wait'],
  [401, 'Unauthorized', 'KUBE_UNAUTHORIZED', 'retry'],
  [403, 'Forbidden', 'KUBE_FORBIDDEN', 'wait'],
  [404, 'NotFound', 'KUBE_NOT_FOUND', 'retry'],
  [409, 'Conflict', 'KUBE_CONFLICT', 'retry'],
  [409, 'AlreadyExists', 'KUBE_ALREADY_EXISTS', 'retry'],
  [410, 'Expired', 'KUBE_GONE', 'retry'],
  [413, 'RequestEntityTooLarge', 'KUBE_BAD_REQUEST', 'wait'],
  [422, 'Invalid', 'KUBE_INVALID', 'wait'],
  [429, 'TooManyRequests', 'KUBE_THROTTLED', 'retry'],
  [500, 'InternalError', 'KUBE_UNAVAILABLE', 'retry'],
  [503, 'ServiceUnavailable', 'KUBE_UNAVAILABLE', 'retry'],
  [504, 'Timeout', 'KUBE_UNAVAILABLE', 'retry'],
];
for (const [status, reason, code, disposition] of refusals) {
  test(`${status} ${reason} becomes ${code} (${disposition}) with the server’s message`, async () => {
    wire.server.always((call) => {
      call.answer(status, {
        kind: 'Status',
        code: status,
        reason,
        message: 'so it is',
        details: { causes: [{ reason: 'FieldValueForbidden', field: 'spec.signerName' }] },
      });
    });
    const error = await failure(wire.connect().request({ method: 'PUT', path: STATUS, body: {} }));
    assert.deepEqual([error.status, error.code, error.disposition], [status, code, disposition]);
    assert.equal(error.reason, reason);
    assert.equal(error.message, `PUT ${STATUS}: ${status} ${reason}: so it is`);
    assert.deepEqual(error.causes, [{ reason: 'FieldValueForbidden', field: 'spec.signerName' }]);
    assert.equal(error.mayHaveLanded, status >= 500);
  });
}

test('a value of another type is invalid, although the API server answers 500', async () => {
  const message =
    'failed to create typed patch object (a/b; networking.k8s.io/v1, Kind=NetworkPolicy): .spec.ingress[0].from[0].podSelector.matchLabels.app: expected string, got &value.valueUnstructured{Value:7}';
  wire.server.always((call) => {
    call.answer(500, { kind: 'Status', code: 500, message });
  });
  const error = await failure(wire.connect().request({ method: 'PATCH', path: STATUS, body: {} }));
  assert.deepEqual([error.code, error.disposition], ['KUBE_INVALID', 'wait']);
  assert.equal(error.mayHaveLanded, false);
});

test('Retry-After is in milliseconds, from header before body, ten minutes at most', async () => {
  const client = wire.connect();
  const ask = async (header: string | undefined, seconds?: number): Promise<unknown> => {
    const asked = failure(client.request({ method: 'GET', path: '/' }));
    const headers = header === undefined ? {} : { 'retry-after': header };
    (await wire.server.next()).answer(429, { details: { retryAfterSeconds: seconds } }, headers);
    return (await asked).retryAfter;
  };
  assert.equal(await ask('7', 3), 7_000);
  assert.equal(await ask(undefined, 3), 3_000);
  assert.equal(await ask('0'), 0);
  assert.equal(await ask('999999999'), 600_000);
  assert.equal(await ask('Wed, 21 Oct 2015 07:28:00 GMT'), undefined);
  assert.equal(await ask('-1'), undefined);
  assert.equal(await ask(undefined), undefined);
});

test('an error quotes at most 300 characters of a proxy’s response', async () => {
  wire.server.always((call) => {
    call.answer(502, `<html>${'x'.repeat(1_000)}`);
  });
  const error = await failure(wire.connect().request({ method: 'GET', path: '/x' }));
  assert.equal(error.message, `GET /x: 502: <html>${'x'.repeat(294)}`);
});

test('a lost, truncated or non-JSON response has status 0; the write may have landed', async () => {
  const client = wire.connect();
  const lose = async (how: (call: Call) => void): Promise<KubeError> => {
    const lost = failure(client.request({ method: 'PUT', path: STATUS, body: {} }));
    how(await wire.server.next());
    return lost;
  };
  const ways = [
    (call: Call): void => {
      call.cut();
    },
    (call: Call): void => {
      call.lines();
      call.write('{"metadata":');
      setTimeout(call.cut, 20);
    },
    (call: Call): void => {
      call.answer(200, '{"metadata":');
    },
  ];
  for (const way of ways) {
    const error = await lose(way);
    assert.deepEqual([error.status, error.code], [0, 'KUBE_UNAVAILABLE']);
    assert.equal(error.disposition, 'retry');
    assert.equal(error.mayHaveLanded, true);
    assert.match(error.message, /^PUT \/apis.*: no response from the API server: ./);
  }
});

test('a response that trickles in is given up one minute after the request', async () => {
  let steady = 0;
  const client = wire.connect({ monotonic: () => steady });
  const given = failure(client.request({ method: 'PUT', path: STATUS, body: {} }));
  const call = await wire.server.next();
  call.lines();
  const trickle = setInterval(() => {
    steady += 10_000;
    call.write(' ');
  }, 5);
  const error = await given.finally(() => clearInterval(trickle));
  assert.deepEqual([error.status, error.disposition], [0, 'retry']);
  assert.equal(error.mayHaveLanded, true);
  assert.match(error.message, /takes longer than 60 s/);
});

test('a response is read to the limit that its request has, and no further', async () => {
  const client = wire.connect();
  wire.server.always((call) => {
    call.answer(200, { text: 'x'.repeat(1_000) });
  });
  const get = { method: 'GET', path: '/' } as const;
  const error = await failure(client.request({ ...get, maxBytes: 1_000 }));
  assert.match(error.message, /longer than 1000 bytes/);
  await client.request({ ...get, maxBytes: 2_000 });
});

test('the error for an unreachable server names the system’s error code', async () => {
  const client = wire.connect();
  await wire.server.stop();
  const error = await failure(client.request({ method: 'GET', path: '/' }));
  assert.match(error.message, /^GET \/: no response from the API server: .*ECONNREFUSED/);
});

test('an aborted request fails at once, in flight or still queued', async () => {
  const client = wire.connect();
  const abort = new AbortController();
  const sent = failure(client.request({ method: 'GET', path: '/', signal: abort.signal }));
  const call = await wire.server.next();
  abort.abort(new Error('we are going'));
  assert.match((await sent).message, /we are going/);
  await until('the server sees it', 2_000, call.isGone);
  const late = client.request({ method: 'GET', path: '/', signal: abort.signal });
  assert.match((await failure(late)).message, /we are going/);
});

test('an abort ends a request and a stream whose connection is still opening', async (context) => {
  const sockets: Socket[] = [];
  const silent = createServer((socket) => {
    sockets.push(socket.on('error', () => undefined));
  });
  silent.listen(0, '127.0.0.1');
  context.after(() => {
    for (const socket of sockets) socket.destroy();
    silent.close();
  });
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const server = `https://127.0.0.1:${port}`;
  const client = wire.connect({ connection: wire.connection({ server }) });
  const abort = new AbortController();
  const get = { method: 'GET', path: '/', signal: abort.signal } as const;
  const opening = [failure(client.request(get)), failure(client.stream(get))];
  while (sockets.length < opening.length) await once(silent, 'connection');
  abort.abort(new Error('the term is over'));
  for (const error of await Promise.all(opening)) assert.match(error.message, /the term is over/);
});

test('an abort ends a request that waits for its credentials', async () => {
  const abort = new AbortController();
  const client = wire.connect({
    connection: wire.connection({ credentials: () => new Promise(() => undefined) }),
  });
  const waiting = failure(client.request({ method: 'GET', path: '/', signal: abort.signal }));
  abort.abort(new Error('the term is over'));
  assert.match((await waiting).message, /the term is over/);
});

test('requests share connections, and watches do not occupy them', async () => {
  const client = wire.connect();
  const abort = new AbortController();
  const held = Array.from({ length: 80 }, () =>
    client.stream({ method: 'GET', path: '/watch', signal: abort.signal }),
  );
  for (const _each of held) (await wire.server.next('a watch')).lines();
  await Promise.all(held);
  wire.server.always((call) => {
    if (call.path !== '/watch') call.answer(200, {});
  });
  for (let round = 0; round < 20; round += 1) await client.request({ method: 'GET', path: '/' });
  const used = new Set(
    wire.server.calls.filter(({ path }) => path === '/').map((each) => each.connection),
  );
  // The next request may be there before the last one's connection is free again.
  assert.ok(used.size <= 2, `twenty requests in a row took ${used.size} connections`);
  abort.abort();
});

test('a stream yields chunks as they arrive, and ends when its signal aborts', async () => {
  const abort = new AbortController();
  const opening = wire.connect().stream({ method: 'GET', path: '/', signal: abort.signal });
  const call = await wire.server.next();
  call.lines({ n: 1 });
  const chunks = (await opening)[Symbol.asyncIterator]();
  const first = await chunks.next();
  assert.equal(Buffer.from(first.value as Uint8Array).toString(), '{"n":1}\n');
  abort.abort(new Error('enough'));
  await assert.rejects(chunks.next());
  await until('the server sees it', 2_000, call.isGone);
});

test('a refused stream throws a KubeError like any request', async () => {
  wire.server.always((call) => {
    call.answer(410, { reason: 'Expired', message: 'too old' }, { 'retry-after': '2' });
  });
  const error = await failure(wire.connect().stream({ method: 'GET', path: '/w' }));
  assert.deepEqual([error.status, error.code, error.retryAfter], [410, 'KUBE_GONE', 2_000]);
});

test('the error page of a refused stream is not read to its end if it is long', async () => {
  const refused = failure(wire.connect().stream({ method: 'GET', path: '/w' }));
  const call = await wire.server.next();
  call.answer(502, `<html>${'x'.repeat(32 * 1024 * 1024)}`);
  assert.equal((await refused).message, `GET /w: 502: <html>${'x'.repeat(294)}`);
  await until('the connection is closed', 2_000, call.isGone);
});

test('every response and failure is reported, except a request the caller aborts', async () => {
  const answers: CallResult[] = [];
  const client = wire.connect({ onResponse: (each) => answers.push(each) });
  const steps: readonly ((call: Call) => void)[] = [
    (call) => {
      call.answer(200, {});
    },
    (call) => {
      call.answer(429, {}, { 'retry-after': '3' });
    },
    (call) => {
      call.cut();
    },
  ];
  for (const step of steps) {
    const answered = client.request({ method: 'PUT', path: STATUS }).catch(() => undefined);
    step(await wire.server.next());
    await answered;
  }
  const giveUp = new AbortController();
  const given = client.request({ method: 'PUT', path: STATUS, signal: giveUp.signal });
  await wire.server.next();
  giveUp.abort(new Error('given up'));
  await assert.rejects(given);
  assert.deepEqual(
    answers.map(({ method, status, retryAfter }) => [method, status, retryAfter]),
    [
      ['PUT', 200, undefined],
      ['PUT', 429, 3_000],
      ['PUT', 0, undefined],
    ],
  );
});
