// SPDX-License-Identifier: Apache-2.0
/** SPIFFE bundles of a real installation, by the printed roles. */
import assert from 'node:assert/strict';
import { createHash, X509Certificate } from 'node:crypto';
import { request } from 'node:https';
import { json } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { DEMO } from '../../build/demo-installation.ts';
import { renderRbac } from '#install/render.ts';
import { until } from '../cluster/until.ts';
import { applyText } from '../support/cluster/apply.ts';
import { startComponent, type ComponentProcess } from '../support/cluster/component-process.ts';
import { startFixture, type Fixture } from '../support/cluster/fixture.ts';
import { componentKubeconfig } from '../support/cluster/installation.ts';
import { eachRuleIsNeeded, rolesIn } from '../support/cluster/without-rule.ts';
import { pemOf, servingDirectory, spiffeCa, svidOf } from '../support/trust/certificates.ts';

const WAIT_MS = 120_000;
const BUNDLE = 'example.com:workload:primary';
const DOMAIN = 'prod.example.com';
const CA = spiffeCa('endpoint');

interface SpiffeBundle {
  readonly spiffe_sequence: number;
  readonly spiffe_refresh_hint: number;
  readonly keys: readonly { readonly use: string; readonly x5c: readonly string[] }[];
}

let fixture: Fixture;
let endpoint: ComponentProcess;
const roleText = renderRbac({ ...DEMO, optionalComponents: ['bundle-endpoint'] }).get(
  'bundle-endpoint.yaml',
);

before(async () => {
  fixture = await startFixture({ only: ['authority', 'attester'], args: ['--propagation', '2s'] });
  await applyText(fixture.cluster, roleText ?? '');
  const directory = await servingDirectory(svidOf(CA, `spiffe://${DOMAIN}/bundle-endpoint`));
  endpoint = await startComponent({
    name: 'bundle-endpoint',
    kubeconfig: await componentKubeconfig(fixture.cluster, 'bundle-endpoint'),
    args: [
      '--no-leases',
      '--trust-domain',
      `${DOMAIN}=example.com/workload`,
      '--trust-domain',
      'none.example.com=example.com/nobody',
      '--listen-web',
      '127.0.0.1:0',
      '--web-certificate',
      directory,
      '--listen-spiffe',
      '127.0.0.1:0',
      '--svid',
      directory,
      '--refresh-hint',
      '90s',
    ],
  });
  await endpoint.ready(WAIT_MS);
});

after(async () => {
  await endpoint.stop();
  await fixture.stop();
});

async function kubectl(...args: readonly string[]): Promise<string> {
  return (await fixture.cluster.kubectl(args)).stdout;
}

/** The ports, as the log names them. */
function portOf(profile: 'https_web' | 'https_spiffe'): number {
  const line = endpoint.log.find((each) => each['msg'] === 'serves SPIFFE bundles');
  return (line?.['ports'] as Readonly<Record<string, number>> | undefined)?.[profile] ?? 0;
}

async function fetched(
  profile: 'https_web' | 'https_spiffe',
  domain = DOMAIN,
): Promise<SpiffeBundle | number> {
  const url = `https://localhost:${portOf(profile)}/${domain}/bundle.json`;
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { ca: pemOf(CA), agent: false }, (response) => {
      const { statusCode = 0 } = response;
      if (statusCode === 200) json(response).then((body) => resolve(body as SpiffeBundle), reject);
      else resolve(statusCode);
      if (statusCode !== 200) response.resume();
    });
    outgoing.once('error', reject);
    outgoing.end();
  });
}

interface Published {
  readonly resourceVersion: string;
  readonly fingerprints: readonly string[];
}

async function published(): Promise<Published> {
  const text = await kubectl('get', 'clustertrustbundle', BUNDLE, '-o', 'json');
  const { metadata, spec } = JSON.parse(text) as {
    readonly metadata: { readonly resourceVersion: string };
    readonly spec: { readonly trustBundle: string };
  };
  const blocks = spec.trustBundle.match(/-----BEGIN[^-]+-----[^-]+-----END[^-]+-----/g) ?? [];
  const fingerprints = blocks.map((each) => fingerprintOf(new X509Certificate(each).raw));
  return { resourceVersion: metadata.resourceVersion, fingerprints };
}

const fingerprintOf = (der: Uint8Array): string => createHash('sha256').update(der).digest('hex');

/** Waits until the endpoint serves what is published, in this version. */
function servesPublished(profile: 'https_web' | 'https_spiffe'): Promise<SpiffeBundle> {
  return until(`${profile} serves what is published`, WAIT_MS, async () => {
    const found = await fetched(profile);
    const { resourceVersion, fingerprints } = await published();
    if (typeof found === 'number') return undefined;
    const keys = found.keys.map(({ x5c: [first = ''] }) =>
      fingerprintOf(Buffer.from(first, 'base64')),
    );
    const isSame = keys.length > 0 && keys.toSorted().join() === fingerprints.toSorted().join();
    return isSame && String(found.spiffe_sequence) === resourceVersion ? found : undefined;
  });
}

test('both profiles serve the published anchors, with resourceVersion as sequence', async () => {
  const web = await servesPublished('https_web');
  assert.equal(web.spiffe_refresh_hint, 90);
  assert.deepEqual(await servesPublished('https_spiffe'), web);
});

test('a CA that is prepared is served once it is published, with a higher sequence', async () => {
  const before = await servesPublished('https_web');
  const rotate = `countersign.dev/prepare-at=${new Date().toISOString()}`;
  await kubectl('annotate', 'clustersigner', 'workload', '--overwrite', rotate);
  await until('it is published', WAIT_MS, async () => (await published()).fingerprints.length > 1);
  const now = await servesPublished('https_web');
  assert.equal(now.keys.length, before.keys.length + 1);
  assert.ok(now.spiffe_sequence > before.spiffe_sequence);
});

test('a trust domain with a missing signer gets 503 and a warning; an unnamed one 404', async () => {
  assert.equal(await fetched('https_web', 'none.example.com'), 503);
  assert.equal(await fetched('https_web', 'other.example.com'), 404);
  const { status, text } = await endpoint.readyz();
  assert.equal(status, 200);
  assert.match(text, /warning: trust domain none\.example\.com: no bundle of signer/);
  assert.match(
    await endpoint.metrics(),
    /countersign_bundle_endpoint_responses_total\{[^}]*profile="https_web",code="503"[^}]*\} [1-9]/,
  );
});

eachRuleIsNeeded('bundle-endpoint', rolesIn(roleText ?? ''), () => ({
  cluster: fixture.cluster,
  component: endpoint,
}));
