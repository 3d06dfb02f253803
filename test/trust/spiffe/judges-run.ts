// SPDX-License-Identifier: Apache-2.0
/** Our bundle endpoint in the hands of go-spiffe and of Node's TLS client. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import type { IncomingMessage } from 'node:http';
import { openEndpointPorts, type EndpointPorts } from '#trust/bundle-endpoint/bundle-server.ts';
import type { EndpointFlags } from '#trust/bundle-endpoint/flags.ts';
import { isReadable, writeBundle } from '#trust/spiffe/write-bundle.ts';
import { until } from '../../cluster/until.ts';
import { recordedLog } from '../../support/component/recorded-log.ts';
import { privateKey } from '../../support/pki/keys.ts';
import { ca, link, type Link } from '../../support/pki/chain.ts';
import {
  keyOf,
  pemOf,
  servingDirectory,
  spiffeCa,
  svidOf,
} from '../../support/trust/certificates.ts';
import { delay } from '#app/process.ts';
import { connectGuard } from '#base/egress/connect-guard.ts';
import { parseNetwork } from '#base/egress/networks.ts';
import { fetchBundle } from '#trust/federation/fetch.ts';
import type { ForeignDomain } from '#trust/spiffe/foreign-domain.ts';
import { readBundle } from '#trust/spiffe/read-bundle.ts';
import { buildSpiffeJudge, spiffeJudge } from './build.ts';

const DOMAIN = 'prod.example.com';
const ENDPOINT = `spiffe://${DOMAIN}/bundle-endpoint`;
const WAIT_MS = 60_000;

const root = spiffeCa('root');
const next = spiffeCa('next');
const anchors = [root, next];
const state = { document: documentOf(anchors, 7n) as string | undefined };
const answered: string[] = [];
const stop = new AbortController();

let directory: string;
let ports: EndpointPorts;
let running: Promise<void>;

function documentOf(links: readonly Link[], sequence: bigint): string {
  const certificates = links.map(({ certificate }) => certificate);
  return writeBundle({ anchors: certificates, sequence, refreshSeconds: 120 });
}

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'spiffe-'));
  const serving = await servingDirectory(svidOf(root, ENDPOINT));
  const options = {
    trustDomain: new Map([[DOMAIN, ['example.com/workload']]]),
    profile: [],
    listenWeb: '127.0.0.1:0',
    webCertificate: serving,
    listenSpiffe: '127.0.0.1:0',
    svid: serving,
  } as unknown as EndpointFlags;
  const init = {
    clock: Date.now,
    delay,
    log: recordedLog(),
    documentOf: () => state.document,
    onAnswered: (profile: string, status: number) => answered.push(`${profile} ${status}`),
    onCertificate: () => undefined,
  };
  ports = await openEndpointPorts(options, init);
  running = ports.run(stop.signal);
  await until('the certificates are read', WAIT_MS, () => ports.warnings().length === 0);
  await writeFile(join(directory, 'ca.pem'), pemOf(root));
  await writeFile(join(directory, 'bundle.json'), documentOf([root], 1n));
  await writeFile(join(directory, 'other.json'), documentOf([next], 1n));
});

after(async () => {
  stop.abort(new Error('stopped'));
  await running;
});

function urlOf(profile: 'https_web' | 'https_spiffe', path = `/${DOMAIN}/bundle.json`): string {
  return `https://localhost:${ports.ports.get(profile) ?? 0}${path}`;
}

const expected = {
  sequence: 7,
  hasSequence: true,
  refreshHint: 120,
  authorities: anchors.map(({ certificate }) =>
    createHash('sha256').update(certificate.raw).digest('hex'),
  ),
};

test('go-spiffe fetches the bundle by https_web', async () => {
  const ca = join(directory, 'ca.pem');
  const { output, refused } = await spiffeJudge('fetch', 'web', DOMAIN, urlOf('https_web'), ca);
  assert.equal(refused, '');
  assert.deepEqual(JSON.parse(output), expected);
});

test('go-spiffe fetches the bundle by https_spiffe with its known bundle and ID', async () => {
  const fetched = (known: string, id: string): ReturnType<typeof spiffeJudge> =>
    spiffeJudge('fetch', 'spiffe', DOMAIN, urlOf('https_spiffe'), join(directory, known), id);
  const { output, refused } = await fetched('bundle.json', ENDPOINT);
  assert.equal(refused, '');
  assert.deepEqual(JSON.parse(output), expected);
  assert.match((await fetched('bundle.json', `${ENDPOINT}/other`)).refused, /unexpected ID/);
  assert.match((await fetched('other.json', ENDPOINT)).refused, /could not verify leaf/);
});

test('what go-spiffe read verifies an X509-SVID of its trust domain only', async () => {
  const [chain, foreign] = ['chain.pem', 'foreign.pem'].map((name) => join(directory, name));
  await writeFile(chain ?? '', pemOf(svidOf(root, `spiffe://${DOMAIN}/ns/a/sa/b`)));
  await writeFile(
    foreign ?? '',
    pemOf(svidOf(spiffeCa('foreign'), `spiffe://${DOMAIN}/ns/a/sa/b`)),
  );
  const bundle = join(directory, 'bundle.json');
  const good = await spiffeJudge('verify', DOMAIN, bundle, chain ?? '');
  assert.equal(good.output.trim(), `spiffe://${DOMAIN}/ns/a/sa/b`);
  assert.match((await spiffeJudge('verify', DOMAIN, bundle, foreign ?? '')).refused, /verify leaf/);
});

test('go-spiffe reads every kind of key that a bundle has, and none that it leaves out', async () => {
  const kinds = ['P-256', 'P-384', 'P-521', 'RSA-2048', 'Ed25519', 'ML-DSA-65'] as const;
  const links = kinds.map((kind) => link(kind, { key: privateKey(kind), extensions: [ca()] }));
  const [file, svid] = [join(directory, 'kinds.json'), join(directory, 'svid.pem')];
  await writeFile(svid, pemOf(svidOf(root, `spiffe://${DOMAIN}/a`)));
  const refusal = async (known: readonly Link[]): Promise<string> => {
    await writeFile(file, documentOf([...known, root], 1n));
    return (await spiffeJudge('verify', DOMAIN, file, svid)).refused;
  };
  for (const each of links) {
    const refused = await refusal([each]);
    assert.equal(refused === '', isReadable(each.certificate), `${each.name}: ${refused}`);
  }
  assert.equal(await refusal(links.filter(({ certificate }) => isReadable(certificate))), '');
});

interface Fetched {
  readonly response: IncomingMessage;
  readonly body: string;
}

function fetched(
  url: string,
  options: { readonly method?: string; readonly maxVersion?: 'TLSv1.2' | 'TLSv1.1' } = {},
): Promise<Fetched> {
  return new Promise((resolve, reject) => {
    const minVersion = options.maxVersion ?? 'TLSv1.2';
    const outgoing = request(url, { ...options, minVersion, ca: pemOf(root), agent: false });
    outgoing.once('error', reject);
    outgoing.once('response', (response) => {
      text(response).then((body) => {
        resolve({ response, body });
      }, reject);
    });
    outgoing.end();
  });
}

for (const profile of ['https_web', 'https_spiffe'] as const) {
  test(`${profile}: the answer is JSON in UTF-8, the newest there is, for every client`, async () => {
    const { response, body } = await fetched(urlOf(profile));
    assert.equal(response.statusCode, 200);
    assert.equal(response.headers['content-type'], 'application/json');
    assert.equal(response.headers['cache-control'], 'no-store');
    assert.equal(body, state.document);
  });

  test(`${profile}: clients of TLS 1.2 are served, older ones are not`, async () => {
    const { response } = await fetched(urlOf(profile), { maxVersion: 'TLSv1.2' });
    assert.equal(response.statusCode, 200);
    await assert.rejects(fetched(urlOf(profile), { maxVersion: 'TLSv1.1' }));
  });
}

test('another path, trust domain or method gets nothing', async () => {
  for (const path of [
    '/',
    '/bundle.json',
    '/other.example.com/bundle.json',
    `/${DOMAIN}/`,
    '/metrics',
  ])
    assert.equal((await fetched(urlOf('https_web', path))).response.statusCode, 404, path);
  const { response } = await fetched(urlOf('https_web'), { method: 'POST' });
  assert.equal(response.statusCode, 405);
  assert.equal(response.headers.allow, 'GET, HEAD');
  assert.ok(answered.includes('https_web 405'));
});

test('what cannot be served is 503, never an empty bundle', async () => {
  const before = state.document;
  state.document = undefined;
  const { response, body } = await fetched(urlOf('https_web'));
  state.document = before;
  assert.equal(response.statusCode, 503);
  assert.ok(!body.includes('keys'));
});

test('a certificate that is not an X509-SVID is not used, with a warning', async () => {
  const wrong = await servingDirectory(svidOf(root, ENDPOINT, `${ENDPOINT}/second`));
  const options = {
    trustDomain: new Map(),
    profile: ['https_spiffe'],
    listenSpiffe: '127.0.0.1:0',
    svid: wrong,
  } as unknown as EndpointFlags;
  const end = new AbortController();
  const init = {
    clock: Date.now,
    delay,
    log: recordedLog(),
    documentOf: () => undefined,
    onAnswered: () => undefined,
    onCertificate: () => undefined,
  };
  const opened = await openEndpointPorts(options, init);
  const ended = opened.run(end.signal);
  await until('it says so', WAIT_MS, () => /2 URI names/.test(opened.warnings().join()));
  await assert.rejects(fetched(`https://localhost:${opened.ports.get('https_spiffe') ?? 0}/`));
  await writeFile(join(wrong, 'tls.crt'), '');
  const good = svidOf(root, ENDPOINT);
  await writeFile(join(wrong, 'tls.key'), keyOf(good));
  await writeFile(join(wrong, 'tls.crt'), pemOf(good));
  await until('it is used once it is one', WAIT_MS, () => opened.warnings().length === 0);
  end.abort(new Error('stopped'));
  await ended;
});

/** What our client says of go-spiffe's handler. */
async function ourFetch(
  port: number,
  anchors: string,
  endpointId?: string,
): Promise<Awaited<ReturnType<typeof fetchBundle>>> {
  const url = `https://localhost:${port}/`;
  const domain: ForeignDomain =
    endpointId === undefined
      ? { trustDomain: DOMAIN, profile: 'https_web', url }
      : { trustDomain: DOMAIN, profile: 'https_spiffe', url, endpointId };
  const { signal } = stop;
  const guard = connectGuard([parseNetwork('127.0.0.0/8'), parseNetwork('::1')], {
    called: 'bundle endpoints',
    flag: '--federation-network',
  });
  return fetchBundle(domain, anchors, { guard, signal });
}

test('our client reads what go-spiffe serves by both profiles, from no other server', async () => {
  const [crt, key] = [join(directory, 'go.crt'), join(directory, 'go.key')];
  const leaf = svidOf(root, ENDPOINT);
  await writeFile(crt, pemOf(leaf));
  await writeFile(key, keyOf(leaf));
  const bundle = join(directory, 'bundle.json');
  const server = spawn(await buildSpiffeJudge(), ['serve', DOMAIN, bundle, crt, key]);
  const [line] = (await once(server.stdout, 'data')) as [Buffer];
  const port = Number(line.toString().trim());
  for (const id of [undefined, ENDPOINT]) {
    const answer = await ourFetch(port, pemOf(root), id);
    assert.ok('text' in answer, JSON.stringify(answer));
    const read = readBundle(answer.text);
    assert.ok(typeof read !== 'string', JSON.stringify(answer));
    assert.deepEqual([read.anchors.length, read.sequence, read.refreshSeconds], [1, 1n, 120]);
  }
  const problem = async (anchors: Link, id?: string): Promise<string> =>
    JSON.stringify(await ourFetch(port, pemOf(anchors), id));
  assert.match(await problem(root, `${ENDPOINT}/other`), /the server is .*, not spiffe/);
  assert.match(await problem(next, ENDPOINT), /problem.*(?:issuer|verify)/i);
  assert.match(await problem(next), /problem.*(?:issuer|verify)/i);
  server.kill();
  await once(server, 'exit');
});
