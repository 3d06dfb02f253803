// SPDX-License-Identifier: Apache-2.0
/** What `countersign inspect pod/NAME --port` notes about the server that answered. */
import assert from 'node:assert/strict';
import { createServer, type AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import { servedNotes, type PodCredentials } from '#cli/sources/pod-server.ts';
import { readSource } from '#cli/sources/read-source.ts';
import type { Material } from '#diagnose/inspect/read-material.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { encodePem } from '#pki/der/pem.ts';
import { recordedClient } from '../support/kube/recorded-client.ts';
import { ca, link, NOW, type Link } from '../support/pki/chain.ts';

const TARGET = { name: 'web', namespace: 'team-a', host: '10.1.2.3', port: 8443 };
const root = link('root', { extensions: [ca()] });
const leaf = link('web', { by: root });
const renewed = link('web-2', { by: root });
const stranger = link('other');

function material(source: string, ...all: readonly Link[]): Material {
  const pem = all.map(({ certificate }) => encodePem('CERTIFICATE', certificate.raw)).join('');
  return { source, bytes: Buffer.from(pem) };
}

function notesOn(served: Link, more: Partial<PodCredentials> = {}): string {
  const identity = {
    materials: [material('pcr', leaf)],
    bundles: [],
    isPartial: false,
    now: NOW,
    ...more,
  };
  return servedNotes(TARGET, material('served', served), identity).join('\n');
}

const OTHER = /another server may have answered at 10\.1\.2\.3:8443/;

test('each served chain has a note with the dialled address', () => {
  for (const served of [leaf, stranger]) {
    const notes = notesOn(served);
    assert.match(notes, /10\.1\.2\.3:8443, dialled from this machine/);
    assert.match(notes, /kubectl port-forward pod\/web 8443 -n team-a/);
  }
  const [note] = servedNotes({ ...TARGET, host: 'fd00::1' }, material('x', leaf), {
    materials: [],
    bundles: [],
    isPartial: false,
    now: NOW,
  });
  assert.match(note ?? '', /\[fd00::1\]:8443/);
});

test('a leaf of neither the pod nor its CAs may be of another server', () => {
  assert.match(notesOn(stranger), OTHER);
  const bundles = [
    { name: 'ctb/x', pem: Buffer.from(material('', root).bytes).toString(), signer: 's' },
  ];
  assert.match(notesOn(stranger, { materials: [], bundles }), OTHER);
});

test('a leaf that the pod mounts, or of its CAs, has no such note', () => {
  const pem = Buffer.from(material('', root).bytes).toString();
  assert.doesNotMatch(notesOn(leaf), OTHER);
  assert.doesNotMatch(notesOn(renewed, { materials: [material('secret', leaf, root)] }), OTHER);
  const bundles = [{ name: 'ctb/x', pem, signer: 's' }];
  assert.doesNotMatch(notesOn(renewed, { bundles }), OTHER);
  const late = leaf.certificate.notAfter + 1;
  assert.doesNotMatch(notesOn(renewed, { bundles, now: late }), OTHER);
});

test('a pod of which no certificate and no CA is known is not compared', () => {
  assert.doesNotMatch(notesOn(stranger, { materials: [] }), OTHER);
});

const der = (of: Link): Material => ({ source: 'der', bytes: of.certificate.raw });
const keystore: Material = {
  source: 'secret/web keystore.p12',
  bytes: Buffer.from('300400', 'hex'),
};

test('the certificates of a pod that are DER are compared as well', () => {
  assert.match(notesOn(stranger, { materials: [der(leaf)] }), OTHER);
  assert.doesNotMatch(notesOn(renewed, { materials: [der(root)] }), OTHER);
});

test('a pod with a certificate that was not read is not compared', () => {
  const materials = [material('pcr', leaf)];
  assert.doesNotMatch(notesOn(stranger, { materials, isPartial: true }), OTHER);
  assert.doesNotMatch(notesOn(stranger, { materials: [...materials, keystore] }), OTHER);
});

/** Returns a client of a cluster with pod `web` at this address. */
function clusterOf(
  podIP: string,
  volumes: readonly object[] = [],
  objects: Readonly<Record<string, object>> = {},
): ReturnType<typeof recordedClient> {
  const client = recordedClient();
  client.answer(({ path }) => {
    if (path.endsWith('/pods/web'))
      return {
        metadata: { name: 'web', namespace: 'team-a' },
        spec: { volumes },
        status: { podIP },
      };
    const found = objects[path];
    if (found !== undefined) return found;
    throw new KubeError({ status: path.includes('/secrets/') ? 403 : 404, what: path });
  });
  return client;
}

/** Starts a TLS server with a certificate of its own, and returns its port. */
async function strangerPort(context: TestContext): Promise<number> {
  const server = createTlsServer({
    key: root.key.export({ type: 'pkcs8', format: 'pem' }),
    cert: Buffer.from(material('', root).bytes).toString(),
  });
  server.on('tlsClientError', () => undefined);
  context.after(() => server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

test('inspect pod/NAME --port names the address that it dialled', async (context) => {
  const port = await strangerPort(context);
  const connect = (): Promise<ReturnType<typeof recordedClient>> =>
    Promise.resolve(clusterOf('127.0.0.1'));
  const { notes, isOfCluster } = await readSource('pod/web', {
    namespace: 'team-a',
    connect,
    port,
  });
  assert.ok(isOfCluster);
  assert.match(notes.join(), new RegExp(`127\\.0\\.0\\.1:${port}, dialled from this machine`));
});

const pemOf = (of: Link): string => Buffer.from(material('', of).bytes).toString();
const OBJECTS = {
  '/api/v1/namespaces/team-a/configmaps/own-ca': { data: { 'ca.crt': pemOf(root) } },
  '/api/v1/namespaces/team-a/configmaps/other-ca': { data: { 'ca.crt': pemOf(stranger) } },
};

for (const [law, volumes, isOther] of [
  ['the CA of a mounted ConfigMap', [{ configMap: { name: 'own-ca' } }], false],
  ['another CA than the mounted one', [{ configMap: { name: 'other-ca' } }], true],
  [
    'a CA beside a Secret that the user may not read',
    [{ configMap: { name: 'other-ca' } }, { secret: { secretName: 'tls' } }],
    false,
  ],
] as const)
  test(`a server with ${law} ${isOther ? 'may be' : 'is not called'} another one`, async (context) => {
    const port = await strangerPort(context);
    const client = clusterOf('127.0.0.1', volumes, OBJECTS);
    const connect = (): Promise<typeof client> => Promise.resolve(client);
    const { notes } = await readSource('pod/web', { namespace: 'team-a', connect, port });
    assert.equal(/another server may have answered/.test(notes.join()), isOther, notes.join());
  });

test('the bundles that the caller lists are not listed again', async (context) => {
  const port = await strangerPort(context);
  const client = clusterOf('127.0.0.1', [{ configMap: { name: 'other-ca' } }], OBJECTS);
  const connect = (): Promise<typeof client> => Promise.resolve(client);
  const listed = (): Promise<[]> => Promise.resolve([]);
  await readSource('pod/web', { namespace: 'team-a', connect, port, listed });
  const paths = client.requests.map(({ path }) => path);
  assert.deepEqual(
    paths.filter((path) => path.includes('/certificates.k8s.io/')),
    [],
  );
});

test('an unreachable pod has the way through the API server', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  const connect = (): Promise<ReturnType<typeof recordedClient>> =>
    Promise.resolve(clusterOf('127.0.0.1'));
  await assert.rejects(
    readSource('pod/web', { namespace: 'team-a', connect, port }),
    new RegExp(`kubectl port-forward pod/web ${port} -n team-a`),
  );
});
