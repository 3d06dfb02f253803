// SPDX-License-Identifier: Apache-2.0
/** What a receiver of OTLP gets: https://opentelemetry.io/docs/specs/otlp/#otlphttp */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { SignerError } from '#base/errors.ts';
import { openTracing, type OpenTracing } from '#app/tracing/open-tracing.ts';
import { traceCalls } from '#app/tracing/traced-client.ts';
import type { Client } from '#kube/client/client.ts';
import { traced, type TracedRequest } from '#component/tracing.ts';
import { startOtlpReceiver, type OtlpReceiver } from '../../support/app/otlp-receiver.ts';
import { recordedLog } from '../../support/component/recorded-log.ts';

let receiver: OtlpReceiver;
before(async () => {
  receiver = await startOtlpReceiver();
});
after(() => receiver.stop());

const REQUEST: TracedRequest = {
  key: 'example.com/a ns/web',
  kind: 'PodCertificateRequest',
  namespace: 'ns',
  name: 'web',
  uid: 'uid-1',
  signer: 'example.com/a',
};

/** `printf uid-1 | sha256sum` */
const UID_SHA256 = '4a49acf8a6bd727728495d1e541a840898fcc36747cdcdb9e8e68effc62bb15c';

/** The exporter reads the process's environment by itself. */
async function opened(
  component: string,
  more: Readonly<Record<string, string>> = {},
): Promise<OpenTracing & { readonly log: ReturnType<typeof recordedLog> }> {
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    ...more,
  };
  const log = recordedLog();
  Object.assign(process.env, env);
  try {
    return { ...(await openTracing(component, env, log)), log };
  } finally {
    for (const name of Object.keys(env)) Reflect.deleteProperty(process.env, name);
  }
}

test('a request is one trace from watch to write, with each step as a child span', async () => {
  const { tracing, close } = await opened('pcr-issuer');
  assert.ok(tracing !== undefined);
  const client = traceCalls({ request: () => Promise.resolve({}) } as unknown as Client, tracing);
  const path = '/apis/certificates.k8s.io/v1/namespaces/ns/podcertificaterequests/web/status';
  tracing.arrived(REQUEST.key);
  await tracing.reconciliation(REQUEST, async () => {
    await traced({ tracing }, 'sign', () => Promise.resolve());
    await client.request({ method: 'PUT', path });
    return { outcome: 'issued', reason: 'Issued' };
  });
  await close();
  const [first] = receiver.received;
  assert.equal(first?.path, '/v1/traces');
  assert.equal(first.type, 'application/json');
  const sent = receiver.take();
  const root = sent.find(({ name }) => name === 'PodCertificateRequest reconcile');
  assert.ok(root !== undefined);
  assert.equal(root.parentSpanId ?? '', '');
  assert.equal(root.attributes['countersign.outcome'], 'issued');
  assert.equal(root.attributes['k8s.namespace.name'], 'ns');
  for (const name of ['queue', 'sign', 'PUT']) {
    const part = sent.find((each) => each.name === name);
    assert.equal(part?.parentSpanId, root.spanId, name);
    assert.ok(BigInt(part.startTimeUnixNano) >= BigInt(root.startTimeUnixNano), name);
    assert.ok(BigInt(part.endTimeUnixNano) <= BigInt(root.endTimeUnixNano), name);
  }
  assert.equal(sent.find(({ name }) => name === 'PUT')?.attributes['url.path'], path);
});

test('two components share a request’s trace, each under its own service name', async () => {
  for (const component of ['approver', 'signer']) {
    const { tracing, close } = await opened(component);
    await tracing?.reconciliation(REQUEST, () =>
      Promise.resolve({ outcome: 'approved', reason: 'Approved' }),
    );
    await close();
  }
  const spans = receiver.take();
  const services = new Set(spans.map(({ service }) => service));
  assert.deepEqual([...services], ['countersign-approver', 'countersign-signer']);
  assert.deepEqual([...new Set(spans.map(({ traceId }) => traceId))], [UID_SHA256.slice(0, 32)]);
});

test('a failed reconciliation records its error code, without its message', async () => {
  const { tracing, close } = await opened('signer');
  const message = 'the request of CN=s3cret cannot be read';
  const error = new SignerError({ code: 'KUBE_CONFIG', disposition: 'wait', message });
  await assert.rejects(
    tracing?.reconciliation(REQUEST, () => Promise.reject(error)) ?? Promise.resolve(),
    error,
  );
  await close();
  assert.ok(receiver.received.every(({ body }) => !body.includes('s3cret')));
  const failed = receiver.take().find(({ name }) => name !== 'queue');
  assert.equal(failed?.status.code, 2);
  assert.equal(failed.attributes['error.type'], 'KUBE_CONFIG');
});

test('ignored requests leave no reconciliation, and unsampled ones nothing', async () => {
  const ignored = await opened('signer');
  await ignored.tracing?.reconciliation(REQUEST, () =>
    Promise.resolve({ outcome: 'ignored', reason: 'Gone' }),
  );
  await ignored.close();
  assert.ok(receiver.take().every(({ name }) => name === 'queue'));
  const off = await opened('signer', { OTEL_TRACES_SAMPLER: 'always_off' });
  await off.tracing?.reconciliation(REQUEST, () =>
    Promise.resolve({ outcome: 'issued', reason: 'Issued' }),
  );
  await off.close();
  assert.equal(receiver.received.length, 0);
});

test('outside a reconciliation nothing is a span: watches and Leases are not traced', async () => {
  const { tracing, close } = await opened('signer');
  assert.equal(await tracing?.part('PUT', {}, () => Promise.resolve('done')), 'done');
  await close();
  assert.equal(receiver.received.length, 0);
});

test('http/protobuf is the default, as the specification has it', async () => {
  const { tracing, close } = await opened('signer', { OTEL_EXPORTER_OTLP_PROTOCOL: '' });
  await tracing?.reconciliation(REQUEST, () =>
    Promise.resolve({ outcome: 'issued', reason: 'Issued' }),
  );
  await close();
  const [first] = receiver.received.splice(0);
  assert.equal(first?.type, 'application/x-protobuf');
  assert.ok(first.body.includes('PodCertificateRequest reconcile'));
});

test('reports a refusing receiver once, and still answers the request', async () => {
  receiver.answer = 400;
  try {
    const { tracing, close, log } = await opened('signer');
    const end = { outcome: 'issued', reason: 'Issued' };
    assert.equal(await tracing?.reconciliation(REQUEST, () => Promise.resolve(end)), end);
    await close();
    assert.equal(log.lines.filter(({ message }) => message === 'traces cannot be sent').length, 1);
  } finally {
    receiver.answer = 200;
    receiver.received.splice(0);
  }
});

test('without a setting nothing is made', async () => {
  const { tracing } = await openTracing('signer', {}, recordedLog());
  assert.equal(tracing, undefined);
});
