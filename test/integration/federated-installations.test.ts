// SPDX-License-Identifier: Apache-2.0
/**
 * Two installations of one cluster, each with a CA and a trust domain of its own, that fetch each
 * other's bundle: ours by `https_spiffe`, with an SVID of our own signer, the partner's by
 * `https_web`. go-spiffe and Go's x509 judge.
 */
import assert from 'node:assert/strict';
import { readFileSync, renameSync, symlinkSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { DEMO } from '../../build/demo-installation.ts';
import { ROTATE_AT } from '#api/signer/rotation-annotations.ts';
import { formatTime } from '#api/object/time.ts';
import { renderRbac } from '#install/render.ts';
import { readAnchors } from '#pki/x509/trust-bundle.ts';
import { fingerprint } from '#pki/x509/certificate.ts';
import { writeBundle } from '#trust/spiffe/write-bundle.ts';
import { until } from '../cluster/until.ts';
import { spiffeJudge } from '../trust/spiffe/build.ts';
import { watchBundle, type BundleWatch } from '../trust/spiffe/watch.ts';
import { applyText } from '../support/cluster/apply.ts';
import { startComponent, type ComponentProcess } from '../support/cluster/component-process.ts';
import { applySigner, example, startFixture, type Fixture } from '../support/cluster/fixture.ts';
import { SYSTEM_NAMESPACE, componentKubeconfig } from '../support/cluster/installation.ts';
import { pemOf, servingDirectory, spiffeCa, svidOf } from '../support/trust/certificates.ts';
import { issuerOf, mountSvid } from './federated/endpoint-pod.ts';
import { servedPort, serves } from './federated/endpoint-process.ts';
import { PARTNER_BUNDLE, applyPartner, startPartner } from './federated/partner.ts';

const WAIT_MS = 240_000;
const [OURS, THEIRS] = ['ours.example', 'partner.example'] as const;
const SIGNER = 'example.com/workload';
const OUR_BUNDLE = 'example.com:workload:primary';
const ENDPOINT_ID = `spiffe://${OURS}/ns/${SYSTEM_NAMESPACE}/sa/countersign-bundle-endpoint`;
/** A rotation is over in seconds. */
const SOON = ['--propagation', '2s'] as const;
const LOOPBACK = ['--federation-network', '127.0.0.0/8', '--federation-network', '::1'] as const;

let fixture: Fixture;
let endpoint: ComponentProcess;
let theirFederation: ComponentProcess;
let watch: BundleWatch;
const started: ComponentProcess[] = [];
/** Where the endpoint reads its SVID: a link to the volume of the pod that is now. */
let svid: string;
/** For files of the judges. */
let directory: string;

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'federated-'));
  svid = join(directory, 'svid');
  fixture = await startFixture({ only: ['authority', 'attester', 'pcr-issuer'], args: SOON });
  await applyOurs();
  await applyPartner(fixture.cluster, [OURS]);
  for (const name of ['authority', 'attester'] as const)
    started.push(await startPartner(fixture.cluster, name, SOON));
  symlinkSync(await mountSvid(fixture.cluster, 'endpoint-1', SIGNER), svid);
  endpoint = await startOur('bundle-endpoint', [
    '--no-leases',
    '--profile',
    'https_spiffe',
    '--trust-domain',
    `${OURS}=${SIGNER}`,
    '--listen-spiffe',
    '127.0.0.1:0',
    '--svid',
    svid,
    '--refresh-hint',
    '1s',
  ]);
  await serves(endpoint);
  await writeFile(join(directory, `${OURS}.pem`), await pemOfBundle(OUR_BUNDLE));
  const theirs = await startTheirEndpoint();
  const ours = `https://localhost:${servedPort(endpoint, 'https_spiffe')}/${OURS}/bundle.json`;
  await startOur('federation', [
    '--own-trust-domain',
    OURS,
    '--federation-files',
    directory,
    '--shortest-refresh',
    '1s',
    '--federate',
    `${THEIRS},https_web,${theirs}`,
    ...LOOPBACK,
  ]);
  theirFederation = await startPartner(fixture.cluster, 'federation', [
    '--own-trust-domain',
    THEIRS,
    '--federation-files',
    directory,
    '--shortest-refresh',
    '1s',
    '--federate',
    `${OURS},https_spiffe,${ENDPOINT_ID},${ours}`,
    ...LOOPBACK,
  ]);
  started.push(theirFederation);
  const first = join(directory, 'first.json');
  const anchors = readAnchors(await pemOfBundle(OUR_BUNDLE));
  await writeFile(first, writeBundle({ anchors, sequence: 1n, refreshSeconds: 1 }));
  watch = await watchBundle(OURS, ours, first, ENDPOINT_ID);
});

after(async () => {
  await watch.stop();
  await Promise.all(started.map((each) => each.stop()));
  await fixture.stop();
});

/** Roles with the partner's trust domain, and a signer that gives the endpoint its SVID. */
async function applyOurs(): Promise<void> {
  const optional = ['bundle-endpoint', 'federation'];
  const printed = renderRbac({ ...DEMO, optionalComponents: optional, federated: [THEIRS] });
  for (const name of optional) await applyText(fixture.cluster, printed.get(`${name}.yaml`) ?? '');
  const { spec, ...object } = example('workload');
  const pods = {
    allow: `pod.namespace == '${SYSTEM_NAMESPACE}' && pod.serviceAccount == 'countersign-bundle-endpoint'`,
    uris: [`'spiffe://${OURS}/ns/' + pod.namespace + '/sa/' + pod.serviceAccount`],
  };
  await applySigner(fixture.cluster, { ...object, spec: { ...spec, pods } });
}

async function startOur(
  name: 'bundle-endpoint' | 'federation',
  args: readonly string[],
): Promise<ComponentProcess> {
  const kubeconfig = await componentKubeconfig(fixture.cluster, name);
  const process = await startComponent({ name, kubeconfig, args });
  started.push(process);
  return process;
}

/** @returns its URL; its certificate is of a CA that our `federation` has a file of */
async function startTheirEndpoint(): Promise<string> {
  const web = spiffeCa('web');
  await writeFile(join(directory, `${THEIRS}.crt`), pemOf(web));
  const certificate = await servingDirectory(svidOf(web, 'spiffe://any.example/web'));
  const process = await startPartner(fixture.cluster, 'bundle-endpoint', [
    '--no-leases',
    '--profile',
    'https_web',
    '--trust-domain',
    `${THEIRS}=example.org/workload`,
    '--listen-web',
    '127.0.0.1:0',
    '--web-certificate',
    certificate,
    '--refresh-hint',
    '1s',
  ]);
  started.push(process);
  await serves(process);
  return `https://localhost:${servedPort(process, 'https_web')}/${THEIRS}/bundle.json`;
}

interface Found {
  readonly metadata: {
    readonly resourceVersion: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: { readonly signerName?: string; readonly trustBundle: string };
}

async function bundle(name: string): Promise<Found | undefined> {
  const { stdout } = await fixture.cluster.kubectl([
    'get',
    'clustertrustbundle',
    name,
    '--ignore-not-found',
    '-o',
    'json',
  ]);
  return stdout === '' ? undefined : (JSON.parse(stdout) as Found);
}

async function pemOfBundle(name: string): Promise<string> {
  return (await bundle(name))?.spec.trustBundle ?? '';
}

/** Fingerprints, in an order of their own. */
async function anchorsOf(name: string): Promise<readonly string[]> {
  const found = readAnchors(await pemOfBundle(name));
  return found.map(({ raw }) => fingerprint(raw)).toSorted();
}

/** Waits until a foreign bundle is what the other installation publishes, in that version. */
function follows(domain: string, published: string): Promise<Found> {
  const name = `federated.${domain}`;
  return until(`${name} is ${published}`, WAIT_MS, async () => {
    const [found, source] = [await bundle(name), await bundle(published)];
    const sequence = found?.metadata.annotations?.['countersign.dev/spiffe-sequence'];
    const isNew = sequence !== undefined && sequence === source?.metadata.resourceVersion;
    const isSame = (await anchorsOf(name)).join() === (await anchorsOf(published)).join();
    return isNew && isSame ? found : undefined;
  });
}

/**
 * What go-spiffe and Go's x509 say of an SVID of ours, by a bundle as the partner's workloads mount
 * it.
 */
async function verdict(chain: string, name: string, domain: string = OURS): Promise<string> {
  const file = join(directory, 'mounted.pem');
  await writeFile(file, await pemOfBundle(name));
  const { output, refused } = await spiffeJudge('verify', domain, file, chain);
  return refused === '' ? output.trim() : refused;
}

test('each has the other’s bundle as it is published, in one that names no signer', async () => {
  for (const [domain, published] of [
    [OURS, OUR_BUNDLE],
    [THEIRS, PARTNER_BUNDLE],
  ] as const) {
    const { metadata, spec } = await follows(domain, published);
    assert.equal(spec.signerName, undefined);
    assert.equal(metadata.annotations?.['countersign.dev/trust-domain'], domain);
  }
});

test('our SVID verifies only by the bundle that the partner fetched', async () => {
  const chain = join(svid, 'tls.crt');
  assert.equal(await verdict(chain, `federated.${OURS}`), ENDPOINT_ID);
  assert.match(await verdict(chain, PARTNER_BUNDLE), /could not verify leaf/);
  assert.match(await verdict(chain, `federated.${OURS}`, THEIRS), /no X\.509 bundle/);
});

test('a partner and go-spiffe’s WatchBundle follow our new CA by a higher sequence', async () => {
  const first = await until('go-spiffe saw it', WAIT_MS, () => watch.seen[0]);
  assert.equal(first.authorities.length, 1);
  await annotate(`${ROTATE_AT}=${formatTime(Date.now() + 2_000)}`);
  await until(
    'both CAs are there',
    WAIT_MS,
    async () => (await anchorsOf(OUR_BUNDLE)).length === 2,
  );
  const now = await follows(OURS, OUR_BUNDLE);
  const sequence = Number(now.metadata.annotations?.['countersign.dev/spiffe-sequence']);
  assert.ok(sequence > first.sequence);
  const last = await until('go-spiffe sees both', WAIT_MS, () =>
    watch.seen.find(({ authorities }) => authorities.length === 2),
  );
  assert.ok(last.sequence > first.sequence);
});

test('the new CA renews the endpoint’s SVID without restart; distrust ends old leaves', async () => {
  const old = join(directory, 'old.crt');
  await writeFile(old, readFileSync(join(svid, 'tls.crt')));
  await becomesActive();
  const volume = await mountSvid(fixture.cluster, 'endpoint-2', SIGNER);
  const issuer = issuerOf(old, await pemOfBundle(OUR_BUNDLE));
  assert.notEqual(issuerOf(join(volume, 'tls.crt'), await pemOfBundle(OUR_BUNDLE)), issuer);
  swap(volume);
  await until('it is in use', WAIT_MS, () => usedCertificates() === 2);
  const distrusted = JSON.stringify({ spec: { authority: { managed: { distrusted: [issuer] } } } });
  await kubectl('patch', 'clustersigner', 'workload', '--type=merge', '-p', distrusted);
  await until('it left', WAIT_MS, async () => !(await anchorsOf(OUR_BUNDLE)).includes(issuer));
  await follows(OURS, OUR_BUNDLE);
  assert.match(await verdict(old, `federated.${OURS}`), /could not verify leaf/);
  assert.equal(await verdict(join(svid, 'tls.crt'), `federated.${OURS}`), ENDPOINT_ID);
  // By now both consumers verify the endpoint by the new CA alone.
  await kubectl('annotate', 'clustertrustbundle', OUR_BUNDLE, 'example.com/touched=once');
  await follows(OURS, OUR_BUNDLE);
  const touched = Number((await bundle(OUR_BUNDLE))?.metadata.resourceVersion);
  await until('go-spiffe follows', WAIT_MS, () => watch.seen.at(-1)?.sequence === touched);
  // go-spiffe does not look at the status: 503, while a bundle still holds a distrusted CA, is no
  // JSON to it.
  assert.deepEqual(
    watch.errors.filter((each) => !each.includes('unable to parse JWKS')),
    [],
  );
});

test('when a partner ends the federation its bundle is dropped and warned of', async () => {
  const name = `federated.${OURS}`;
  await restartTheirFederation([]);
  const leftOver = /warning: trust domain ours\.example: LeftOver: .*--ended-trust-domain/;
  await until('it warns', WAIT_MS, async () =>
    leftOver.test((await theirFederation.readyz()).text),
  );
  assert.ok(await bundle(name), 'what nobody ended stays');
  await restartTheirFederation(['--ended-trust-domain', OURS]);
  await until('it is gone', WAIT_MS, async () => (await bundle(name)) === undefined);
  await until('an Event says so', WAIT_MS, async () => {
    const path = `jsonpath={range .items[*]}{.regarding.name} {.reason} {.note}{"\\n"}{end}`;
    const notes = await kubectl('get', 'events.events.k8s.io', '-n', 'default', '-o', path);
    return notes.includes(`${name} FederatedBundleDropped trust domain ${OURS}: Ended: `);
  });
  assert.doesNotMatch((await theirFederation.readyz()).text, /LeftOver/);
  await follows(THEIRS, PARTNER_BUNDLE);
});

/** As after a change of its flags. */
async function restartTheirFederation(args: readonly string[]): Promise<void> {
  await theirFederation.stop();
  theirFederation = await startPartner(fixture.cluster, 'federation', args);
  started.push(theirFederation);
}

async function kubectl(...args: readonly string[]): Promise<string> {
  return (await fixture.cluster.kubectl(args)).stdout;
}

async function annotate(text: string): Promise<void> {
  await kubectl('annotate', 'clustersigner', 'workload', '--overwrite', text);
}

/** The CA that was made last signs. */
function becomesActive(): Promise<unknown> {
  return until('the old CA retires', WAIT_MS, async () => {
    const path = 'jsonpath={.status.authorities[*].phase}';
    const phases = (await kubectl('get', 'clustersigner', 'workload', '-o', path)).split(' ');
    return phases.includes('Active') && phases.includes('Retiring');
  });
}

/** As a kubelet does when it renews: the name leads elsewhere at once. */
function swap(volume: string): void {
  symlinkSync(volume, `${svid}.next`);
  renameSync(`${svid}.next`, svid);
}

function usedCertificates(): number {
  return endpoint.log.filter(({ msg }) => msg === 'serving certificate in use').length;
}
