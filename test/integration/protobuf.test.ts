// SPDX-License-Identifier: Apache-2.0
/**
 * What is read of PodCertificateRequests in protobuf is what JSON says; what is written so arrives.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { withDenied, type PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import {
  podStatusBody,
  readPodCertificateRequest,
} from '#api/request/pod-certificate-request-message.ts';
import { createClient, type Client } from '#kube/client/client.ts';
import { loadConnection } from '#kube/client/kubeconfig.ts';
import { resource, type Resource } from '#kube/resource/resource.ts';
import type { WatchEvent } from '#kube/watch/watch-event.ts';
import { watchMediaTypes, decodeWatch } from '#kube/watch/watch-decoder.ts';
import { PROTOBUF, openEnvelope } from '#kube/protobuf/envelope.ts';
import { openCluster, type Cluster } from '../cluster/cluster.ts';
import { stubRequest } from '../support/requests/stub-pkcs10.ts';
import { failure } from '../support/kube/server-and-clients.ts';
import { ACCEPT_METADATA, readPartialObjectMetadata } from '#api/object/object.ts';

const NAMESPACE = 'protobuf';
const signerName = 'protobuf.example.com/x';
type Request = PodCertificateRequest;

let cluster: Cluster;
let admin: Client;
let requests: Resource;
before(async () => {
  cluster = await openCluster();
  const connection = await loadConnection({ kubeconfig: cluster.kubeconfig, clock: Date.now });
  admin = createClient({
    connection,
    clock: Date.now,
    monotonic: () => performance.now(),
    userAgent: 'countersign-test/1',
  });
  requests = resource({
    group: 'certificates.k8s.io',
    version: cluster.version === '1.36' ? 'v1beta1' : 'v1',
    plural: 'podcertificaterequests',
  });
  await cluster.kubectl(['create', 'namespace', NAMESPACE]);
});
after(async () => {
  await admin.close();
  await cluster.kubectl(['delete', 'namespace', NAMESPACE, '--wait=false']);
  await cluster.stop();
});

function create(more: object, spec: object = {}): Promise<Request> {
  return admin.request<Request>({
    method: 'POST',
    path: requests.collection(NAMESPACE),
    body: {
      apiVersion: requests.apiVersion,
      kind: 'PodCertificateRequest',
      metadata: { namespace: NAMESPACE, ...more },
      spec: {
        signerName,
        podName: 'web-0',
        podUID: 'b8a1c1de-0000-4000-8000-000000000001',
        serviceAccountName: 'web',
        serviceAccountUID: 'b8a1c1de-0000-4000-8000-000000000002',
        nodeName: 'node-1',
        nodeUID: 'b8a1c1de-0000-4000-8000-000000000003',
        stubPKCS10Request: stubRequest(),
        ...spec,
      },
    },
  });
}

/** The initial list of a watch, by name, up to its bookmark. */
async function listed(inProtobuf: boolean): Promise<ReadonlyMap<string, Request>> {
  const read = inProtobuf ? readPodCertificateRequest : undefined;
  const end = new AbortController();
  const body = await admin.stream({
    method: 'GET',
    path: requests.collection(NAMESPACE),
    query: {
      watch: true,
      sendInitialEvents: true,
      allowWatchBookmarks: true,
      resourceVersionMatch: 'NotOlderThan',
    },
    accept: watchMediaTypes(read),
    signal: end.signal,
  });
  assert.equal(body.contentType.startsWith(PROTOBUF), inProtobuf);
  const found = new Map<string, Request>();
  await decodeWatch<Request>(body, read, (event) => {
    if (isEnd(event)) end.abort();
    else if (event.type === 'put') found.set(event.object.metadata.name, event.object);
  }).catch((error: unknown) => {
    if (!end.signal.aborted) throw error;
  });
  return found;
}

function isEnd(event: WatchEvent<Request>): boolean {
  return event.type === 'bookmark' && event.initialEnd;
}

/** What is not read in protobuf: who owns what, and what v1beta1 writes as null. */
function comparable({ metadata, spec, ...rest }: Request): object {
  const { managedFields, ownerReferences, finalizers, ...known } = metadata as Request['metadata'] &
    Record<'managedFields' | 'ownerReferences' | 'finalizers', unknown>;
  const given = Object.entries(spec).filter(([, value]) => value !== null);
  return { ...rest, metadata: known, spec: Object.fromEntries(given) };
}

test('a watch in protobuf delivers the same events as a watch in JSON', async () => {
  await create({ name: 'plain' });
  await create(
    { generateName: 'made-', labels: { 'example.com/a': 'b' }, annotations: { b: '', c: 'ä\ny' } },
    {
      maxExpirationSeconds: 7200,
      unverifiedUserAnnotations: { 'example.com/role': 'web', __proto__: null },
    },
  );
  const denied = await create({ name: 'denied' });
  await write(withDenied(denied, { reason: 'NotAllowed', message: 'nö, never' }, Date.now()));
  const [inProtobuf, inJson] = [await listed(true), await listed(false)];
  assert.equal(inJson.size, 3);
  assert.deepEqual([...inProtobuf.keys()].sort(), [...inJson.keys()].sort());
  for (const [name, request] of inJson) {
    const read = inProtobuf.get(name);
    assert.ok(read !== undefined);
    assert.deepEqual(comparable(read), comparable(request), name);
  }
});

function write(request: Request): Promise<{ readonly metadata: Request['metadata'] }> {
  return admin.request({
    method: 'PUT',
    path: requests.object(request.metadata, 'status'),
    body: podStatusBody(request),
    contentType: PROTOBUF,
    accept: ACCEPT_METADATA,
    read: readPartialObjectMetadata,
  });
}

function get(metadata: Request['metadata']): Promise<Request> {
  return admin.request<Request>({ method: 'GET', path: requests.object(metadata) });
}

test('a status that is written in protobuf changes the status and nothing else', async () => {
  const before = await create({ generateName: 'kept-', labels: { a: 'b' } });
  const wanted = withDenied(before, { reason: 'NotAllowed', message: 'no' }, Date.now());
  const { metadata } = await write(wanted);
  const stored = await get(metadata);
  assert.deepEqual(stored.status, wanted.status);
  assert.deepEqual(stored.spec, before.spec);
  const version = metadata.resourceVersion;
  assert.notEqual(version, before.metadata.resourceVersion);
  assert.deepEqual(comparable(stored), {
    ...comparable(wanted),
    metadata: { ...(comparable(wanted) as Request).metadata, resourceVersion: version },
  });
});

test('a write to another resourceVersion or uid is a conflict, with a message', async () => {
  const { metadata, ...first } = await create({ name: 'fenced' });
  const denied = withDenied(
    { metadata, ...first },
    { reason: 'NotAllowed', message: 'no' },
    Date.now(),
  );
  await cluster.kubectl(['label', 'podcertificaterequest', 'fenced', '-n', NAMESPACE, 'a=b']);
  const stale = await failure(write(denied));
  assert.deepEqual([stale.code, stale.reason], ['KUBE_CONFLICT', 'Conflict']);
  const { resourceVersion } = (await get(metadata)).metadata;
  const uid = 'b8a1c1de-0000-4000-8000-00000000000f';
  const other = await failure(
    write({ ...denied, metadata: { ...metadata, uid, resourceVersion } }),
  );
  assert.equal(other.code, 'KUBE_CONFLICT');
  assert.match(other.message, /UID/);
});

test('a Status in protobuf arrives with code, reason and message', async () => {
  const path = requests.object({ namespace: NAMESPACE, name: 'nobody' });
  const read = (body: Uint8Array): unknown => openEnvelope(body);
  const missing = await failure(admin.request({ method: 'GET', path, accept: PROTOBUF, read }));
  assert.deepEqual([missing.code, missing.reason], ['KUBE_NOT_FOUND', 'NotFound']);
  assert.match(missing.message, /"nobody" not found/);
  const pending = await create({ name: 'pending' });
  const body = podStatusBody({ ...pending, status: { certificateChain: 'none' } });
  const status = requests.object(pending.metadata, 'status');
  const put = {
    method: 'PUT',
    path: status,
    body,
    contentType: PROTOBUF,
    accept: PROTOBUF,
  } as const;
  const invalid = await failure(admin.request({ ...put, read }));
  assert.deepEqual([invalid.status, invalid.code], [422, 'KUBE_INVALID']);
  assert.ok(invalid.causes.some(({ field }) => field?.startsWith('status') === true));
});
