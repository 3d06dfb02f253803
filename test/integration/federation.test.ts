// SPDX-License-Identifier: Apache-2.0
/**
 * Bundles of foreign trust domains, by the printed roles and policy, from endpoints of the test.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { DEMO } from '../../build/demo-installation.ts';
import { renderRbac } from '#install/render.ts';
import { readAnchors } from '#pki/x509/trust-bundle.ts';
import { writeBundle } from '#trust/spiffe/write-bundle.ts';
import { until } from '../cluster/until.ts';
import { applyText } from '../support/cluster/apply.ts';
import { startComponent, type ComponentProcess } from '../support/cluster/component-process.ts';
import { startFixture, type Fixture } from '../support/cluster/fixture.ts';
import { componentKubeconfig } from '../support/cluster/installation.ts';
import { eachRuleIsNeeded, rolesIn } from '../support/cluster/without-rule.ts';
import type { Link } from '../support/pki/chain.ts';
import { keyOf, pemOf, spiffeCa, svidOf } from '../support/trust/certificates.ts';

const WAIT_MS = 120_000;
const [WEB, SPIFFE, OWNED] = ['web.example', 'spiffe.example', 'owned.example'] as const;
const ID = `spiffe://${SPIFFE}/bundle-endpoint`;
const [first, second] = [spiffeCa('first'), spiffeCa('second')];

interface Found {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: { readonly signerName?: string; readonly trustBundle: string };
}

/** A foreign endpoint: what it says can be changed. */
interface Endpoint {
  readonly server: Server;
  readonly port: number;
  say(links: readonly Pick<Link, 'certificate'>[], sequence: bigint): void;
}

let fixture: Fixture;
let federation: ComponentProcess;
let web: Endpoint;
let spiffe: Endpoint;
/** Its spec. */
let policy: string;
const POLICY = ['validatingadmissionpolicy', 'countersign-federated-bundles'] as const;
const roleText = renderRbac({
  ...DEMO,
  optionalComponents: ['federation'],
  federated: [WEB, SPIFFE, OWNED],
}).get('federation.yaml');

async function endpointOf(leaf: Link): Promise<Endpoint> {
  const state = { text: documentOf([first], 5n) };
  const server = createServer({ cert: pemOf(leaf), key: keyOf(leaf) }, (_request, response) => {
    response.end(state.text);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const say: Endpoint['say'] = (links, sequence) => {
    state.text = documentOf(links, sequence);
  };
  return { server, port: (server.address() as AddressInfo).port, say };
}

function documentOf(links: readonly Pick<Link, 'certificate'>[], sequence: bigint): string {
  const anchors = links.map(({ certificate }) => certificate);
  return writeBundle({ anchors, sequence, refreshSeconds: 1 });
}

before(async () => {
  fixture = await startFixture({ only: ['authority', 'attester'], args: ['--propagation', '2s'] });
  await applyText(fixture.cluster, roleText ?? '');
  policy = await kubectl('get', ...POLICY, '-o', 'jsonpath={.spec}');
  await kubectl('delete', ...POLICY);
  const server = spiffeCa('server of the web');
  web = await endpointOf(svidOf(server, 'spiffe://any.example/web'));
  spiffe = await endpointOf(svidOf(first, ID));
  const directory = await mkdtemp(join(tmpdir(), 'federation-'));
  await writeFile(join(directory, `${WEB}.crt`), pemOf(server));
  await writeFile(join(directory, `${OWNED}.crt`), pemOf(server));
  await writeFile(join(directory, `${SPIFFE}.json`), documentOf([first], 1n));
  await applyText(
    fixture.cluster,
    JSON.stringify({
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'ClusterTrustBundle',
      metadata: { name: `federated.${OWNED}` },
      spec: { trustBundle: pemOf(second) },
    }),
  );
  const url = (endpoint: Endpoint): string => `https://localhost:${endpoint.port}/`;
  federation = await startComponent({
    name: 'federation',
    kubeconfig: await componentKubeconfig(fixture.cluster, 'federation'),
    args: [
      '--own-trust-domain',
      'prod.example.com',
      '--federation-files',
      directory,
      '--federate',
      `${WEB},https_web,${url(web)}`,
      '--federate',
      `${SPIFFE},https_spiffe,${ID},${url(spiffe)}`,
      '--federate',
      `${OWNED},https_web,${url(web)}`,
      '--shortest-refresh',
      '1s',
      '--keep',
      '30s',
      '--federation-network',
      '127.0.0.0/8',
      '--federation-network',
      '::1',
    ],
  });
  await federation.ready(WAIT_MS);
});

after(async () => {
  for (const { server } of [web, spiffe]) {
    server.closeAllConnections();
    server.close();
  }
  await federation.stop();
  await fixture.stop();
});

async function kubectl(...args: readonly string[]): Promise<string> {
  return (await fixture.cluster.kubectl(args)).stdout;
}

async function bundle(domain: string): Promise<Found | undefined> {
  const text = await kubectl(
    'get',
    'clustertrustbundle',
    `federated.${domain}`,
    '--ignore-not-found',
    '-o',
    'json',
  );
  return text === '' ? undefined : (JSON.parse(text) as Found);
}

/** Waits until a bundle has these CAs, of this sequence. */
function holds(domain: string, links: readonly Link[], sequence: string): Promise<Found> {
  return until(`${domain} has ${sequence}`, WAIT_MS, async () => {
    const found = await bundle(domain);
    const isNew = found?.metadata.annotations?.['countersign.dev/spiffe-sequence'] === sequence;
    const blocks = found?.spec.trustBundle.match(/BEGIN/g)?.length;
    const hasAll = links.every((each) => found?.spec.trustBundle.includes(pemOf(each)));
    return isNew && blocks === links.length && hasAll ? found : undefined;
  });
}

/** Waits until a look had this outcome, and an Event says so. */
async function warned(domain: string, outcome: string, event: string): Promise<void> {
  const series = new RegExp(
    `countersign_federation_fetches_total\\{[^}]*trust_domain="${domain}",outcome="${outcome}"[^}]*\\} [1-9]`,
  );
  await until(`${domain}: ${outcome}`, WAIT_MS, async () =>
    series.test(await federation.metrics()),
  );
  await until(`an Event ${event}`, WAIT_MS, async () => {
    const reasons = await kubectl(
      'get',
      'events.events.k8s.io',
      '-n',
      'default',
      '-o',
      'jsonpath={range .items[*]}{.regarding.name} {.reason}{"\\n"}{end}',
    );
    return reasons.split('\n').includes(`federated.${domain} ${event}`);
  });
}

test('without its policy it warns, and counts what differs; with it, no more', async () => {
  const says = async (): Promise<boolean> =>
    /warning: .*countersign-federated-bundles/.test((await federation.readyz()).text);
  await until('it says so', WAIT_MS, says);
  assert.match(
    await federation.metrics(),
    /countersign_admission_policy_differences\{[^}]*policy="countersign-federated-bundles"[^}]*\} [1-9]/,
  );
  const [, name] = POLICY;
  const object = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name },
    spec: JSON.parse(policy) as object,
  };
  await applyText(fixture.cluster, JSON.stringify(object));
  await until('it is good', WAIT_MS, async () => !(await says()));
});

test('each trust domain gets its own bundle without signer names, by either profile', async () => {
  for (const domain of [WEB, SPIFFE]) {
    const { metadata, spec } = await holds(domain, [first], '5');
    assert.equal(spec.signerName, undefined);
    assert.equal(metadata.annotations?.['countersign.dev/trust-domain'], domain);
  }
});

test('a new bundle replaces the old one, and verifies the server from then on', async () => {
  for (const endpoint of [web, spiffe]) endpoint.say([first, second], 6n);
  for (const domain of [WEB, SPIFFE]) await holds(domain, [first, second], '6');
  const leaf = svidOf(second, ID);
  spiffe.server.setSecureContext({ cert: pemOf(leaf), key: keyOf(leaf) });
  spiffe.say([second], 7n);
  await holds(SPIFFE, [second], '7');
});

test('an older sequence is refused, with an Event, and changes nothing', async () => {
  web.say([second], 5n);
  await warned(WEB, 'SequenceDecreased', 'FederatedSequenceDecreased');
  await holds(WEB, [first, second], '6');
  assert.match((await federation.readyz()).text, /warning: trust domain web\.example: Sequence/);
  web.say([first, second], 6n);
  // `second` is an anchor of spiffe.example, too: that warning of web.example stays.
  await until('it is good again', WAIT_MS, async () => {
    return !(await federation.readyz()).text.includes('web.example: Sequence');
  });
});

test('what somebody changes or deletes is as the endpoint says again', async () => {
  const name = `federated.${WEB}`;
  const patch = JSON.stringify({ spec: { trustBundle: pemOf(spiffeCa('stranger')) } });
  await kubectl('patch', 'clustertrustbundle', name, '--type=merge', '-p', patch);
  await holds(WEB, [first, second], '6');
  await kubectl('delete', 'clustertrustbundle', name);
  await holds(WEB, [first, second], '6');
});

test('a CA of ours in a foreign bundle is refused, and what was there stays', async () => {
  const own = await until('our own bundle', WAIT_MS, async () => {
    const text = await kubectl(
      'get',
      'clustertrustbundle',
      'example.com:workload:primary',
      '--ignore-not-found',
      '-o',
      'jsonpath={.spec.trustBundle}',
    );
    return text === '' ? undefined : readAnchors(text);
  });
  web.say([first, ...own.map((certificate) => ({ certificate }))], 8n);
  await warned(WEB, 'OwnAnchor', 'FederatedOwnAnchor');
  await holds(WEB, [first, second], '6');
  web.say([first, second], 8n);
  await holds(WEB, [first, second], '8');
});

test('a bundle without keys ends trust at once, with an Event; keys restore it', async () => {
  web.say([], 9n);
  await warned(WEB, 'Revoked', 'FederatedBundleDropped');
  await until('it is gone', WAIT_MS, async () => (await bundle(WEB)) === undefined);
  web.say([first, second], 8n);
  await warned(WEB, 'SequenceDecreased', 'FederatedSequenceDecreased');
  web.say([first, second], 10n);
  await holds(WEB, [first, second], '10');
});

test('what somebody else made under the name is left alone', async () => {
  await warned(OWNED, 'ManagedElsewhere', 'FederatedManagedElsewhere');
  assert.equal((await bundle(OWNED))?.spec.trustBundle, pemOf(second));
});

test('without its endpoint a bundle stays until its bound and is dropped with an Event', async () => {
  spiffe.server.closeAllConnections();
  spiffe.server.close();
  await warned(SPIFFE, 'FetchFailed', 'FederatedFetchFailed');
  await warned(SPIFFE, 'Stale', 'FederatedBundleDropped');
  await until('it is gone', WAIT_MS, async () => (await bundle(SPIFFE)) === undefined);
  await holds(WEB, [first, second], '10');
});

eachRuleIsNeeded('federation', rolesIn(roleText ?? ''), () => ({
  cluster: fixture.cluster,
  component: federation,
}));
