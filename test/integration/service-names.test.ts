// SPDX-License-Identifier: Apache-2.0
/** Names of Services in the leaves of real pods, by real kubelets, judged by Go. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { DEMO } from '../../build/demo-installation.ts';
import type { Pod } from '#api/object/pod.ts';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { createActor } from '#requests/pcr-issuer/act.ts';
import { createPodReader } from '#requests/pcr-issuer/evidence/pod-reader.ts';
import { createRenewals } from '#requests/pcr-issuer/renewals.ts';
import { createExpiries } from '#requests/issuing/expiries.ts';
import { compileProfile } from '#ca/issuance/profile.ts';
import { createClient, type Client } from '#kube/client/client.ts';
import { loadConnection } from '#kube/client/kubeconfig.ts';
import { resource } from '#kube/resource/resource.ts';
import { renderRbac } from '#install/render.ts';
import { until } from '../cluster/until.ts';
import { openIntermediate } from '../support/ca/intermediate.ts';
import { apply, applyText } from '../support/cluster/apply.ts';
import { applySigner, example, startFixture, type Fixture } from '../support/cluster/fixture.ts';
import { createTeam, podObject } from '../support/cluster/pods.ts';
import { requestsOf, waitForRequest } from '../support/cluster/requests/pod-certificate-request.ts';
import { recordedComponent } from '../support/component/recorded-component.ts';
import { localCaOf } from '../support/requests/local-ca.ts';
import { workload } from '../support/signers/workload-profile.ts';

const WAIT_MS = 120_000;
const SHOP = 'shop';
const SERVICES = { services: {} };

let fixture: Fixture;
let admin: Client;
before(async () => {
  fixture = await startFixture();
  const { cluster } = fixture;
  const connection = await loadConnection({ kubeconfig: cluster.kubeconfig, clock: Date.now });
  const clocks = { clock: Date.now, monotonic: () => performance.now() };
  admin = createClient({ connection, ...clocks, userAgent: 'countersign-test' });
  await createTeam(cluster, SHOP, ['web']);
  const roles = renderRbac({ ...DEMO, podServices: true }).get('pcr-issuer.yaml') ?? '';
  await applyText(cluster, roles);
  const signer = example('workload');
  const pods = { allow: 'true', ...SERVICES };
  await applySigner(cluster, { ...signer, spec: { ...signer.spec, pods } });
});
after(async () => {
  await admin.close();
  await fixture.stop();
});

function service(name: string, spec: object = {}): object {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: SHOP, name },
    spec: { selector: { app: 'web' }, ports: [{ port: 443 }], ...spec },
  };
}

function pod(name: string, labels: Readonly<Record<string, string>>, signerName: string): Pod {
  const made = podObject({
    namespace: SHOP,
    name,
    serviceAccount: 'web',
    node: 'node-1',
    signerName,
    keyType: 'ECDSAP256',
    trustBundle: false,
  }) as Pod;
  return { ...made, metadata: { ...made.metadata, labels } };
}

/** Go's VerifyHostname for each name. */
function judged(
  { status }: PodCertificateRequest,
  names: readonly string[],
): Readonly<Record<string, boolean>> {
  const program = join(import.meta.dirname, 'service-names/verify.go');
  const { stdout, stderr } = spawnSync('go', ['run', program, ...names], {
    input: status?.certificateChain ?? '',
    encoding: 'utf8',
    env: { ...process.env, GOWORK: 'off', GOFLAGS: '-mod=mod' },
  });
  assert.notEqual(stdout, '', stderr);
  return JSON.parse(stdout) as Readonly<Record<string, boolean>>;
}

test('each pod behind two Services gets the names of both, and no other', async () => {
  const { cluster } = fixture;
  await apply(cluster, service('web'), service('api', { clusterIP: 'None' }));
  await apply(cluster, service('other', { selector: { app: 'db' } }));
  const alias = { type: 'ExternalName', externalName: 'www.example.com', ports: [] };
  await apply(cluster, service('alias', { ...alias, selector: { app: 'web' } }));
  const template = pod('', { app: 'web' }, 'example.com/workload');
  await apply(cluster, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: SHOP, name: 'web' },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: template.spec },
    },
  });
  const issued = await until('both pods have their certificate', WAIT_MS, async () => {
    const { stdout } = await cluster.kubectl([
      'get',
      'podcertificaterequests',
      '-n',
      SHOP,
      '-o',
      'json',
    ]);
    const { items } = JSON.parse(stdout) as { items: readonly PodCertificateRequest[] };
    const found = items.filter(({ status }) => status?.certificateChain !== undefined);
    return found.length === 2 ? found : undefined;
  });
  const served = ['web', 'api'].flatMap((name) => [
    `${name}.${SHOP}.svc`,
    `${name}.${SHOP}.svc.cluster.local`,
  ]);
  const refused = ['web', `web.${SHOP}`, `other.${SHOP}.svc`, `alias.${SHOP}.svc`, 'web.team.svc'];
  for (const request of issued) {
    const found = judged(request, [...served, ...refused]);
    for (const name of served) assert.ok(found[name], name);
    for (const name of refused) assert.ok(found[name] === false, name);
  }
});

test('a pod of a StatefulSet serves its own name below the headless Service', async () => {
  const { cluster } = fixture;
  await apply(cluster, service('db', { clusterIP: 'None', selector: { app: 'db' } }));
  const template = pod('', { app: 'db' }, 'example.com/workload');
  await apply(cluster, {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { namespace: SHOP, name: 'db' },
    spec: {
      serviceName: 'db',
      selector: { matchLabels: { app: 'db' } },
      template: { metadata: { labels: { app: 'db' } }, spec: template.spec },
    },
  });
  const issued = await waitForRequest(cluster, SHOP, 'db-0', 'Issued');
  const own = `db-0.db.${SHOP}.svc`;
  const found = judged(issued, [own, `${own}.cluster.local`, `db-1.db.${SHOP}.svc`]);
  assert.deepEqual(Object.values(found), [true, true, false]);
});

test('a pod gets no certificate until a Service selects it; an Event says so', async () => {
  const { cluster } = fixture;
  await apply(cluster, pod('late', { app: 'late' }, 'example.com/workload'));
  await until('an Event tells of it', WAIT_MS, async () => {
    const of = ['-n', SHOP, '--field-selector', 'reason=ServiceDoesNotSelectPod'];
    const { stdout } = await cluster.kubectl(['get', 'events', ...of, '-o', 'name']);
    return stdout.trim() === '' ? undefined : true;
  });
  for (const { status } of await requestsOf(cluster, SHOP, 'late'))
    assert.equal(status?.conditions, undefined);
  await apply(cluster, service('late', { selector: { app: 'late' } }));
  const issued = await waitForRequest(cluster, SHOP, 'late', 'Issued');
  assert.ok(judged(issued, [`late.${SHOP}.svc`])[`late.${SHOP}.svc`]);
});

/** Nobody serves it but the test. */
const RACED = 'raced.example.com/x';
const REQUESTS = resource({
  group: 'certificates.k8s.io',
  version: 'v1',
  plural: 'podcertificaterequests',
});

function racedSigner(): ClusterSigner {
  const signer = workload({ pods: { allow: 'true', ...SERVICES } });
  return { ...signer, spec: { ...signer.spec, signerName: RACED } };
}

test('a certificate is not delivered if a label is removed between decision and write', async () => {
  const { cluster } = fixture;
  await apply(cluster, service('raced', { selector: { app: 'raced' } }));
  await apply(cluster, pod('raced', { app: 'raced' }, RACED));
  const asked = await until('its kubelet asks', WAIT_MS, async () => {
    const [request] = await requestsOf(cluster, SHOP, 'raced');
    return request;
  });
  const label = (change: string): Promise<unknown> =>
    cluster.kubectl(['label', 'pod', 'raced', '-n', SHOP, '--overwrite', change]);
  const signer = racedSigner();
  const component = recordedComponent({
    client: admin,
    clock: Date.now,
    monotonic: () => performance.now(),
    delay: (milliseconds, signal) => delay(milliseconds, undefined, { signal, ref: false }),
  });
  const regarding = { apiVersion: 'v1', kind: 'Pod', namespace: SHOP, name: 'raced' };
  const reader = createPodReader(component, () => ({ regarding }));
  const ca = localCaOf(component, openIntermediate(), signer);
  let isSigned = (): Promise<unknown> => label('app-');
  const actor = createActor<ClusterSigner>({
    component,
    reader,
    resource: REQUESTS,
    legacy: undefined,
    renewals: createRenewals(createExpiries()),
    profileOf: ({ spec }) => compileProfile(spec),
    signers: { serving: () => signer },
    cas: {
      issuing: () => ({
        ...ca,
        issue: async (wanted, request) => {
          const chain = await ca.issue(wanted, request);
          await isSigned();
          return chain;
        },
      }),
    },
  });
  const handled = async (): Promise<string> => {
    const now = await admin.request<PodCertificateRequest>({
      method: 'GET',
      path: REQUESTS.object(asked.metadata),
    });
    assert.equal(now.status?.certificateChain, undefined);
    return actor.handle(now, signer).then(
      ({ outcome }) => outcome,
      (error: unknown) => (error as { readonly code: string }).code,
    );
  };
  reader.serve([signer]);
  try {
    await until('Services are listed', WAIT_MS, () =>
      Promise.resolve(reader.notReady().length === 0 ? true : undefined),
    );
    assert.equal(await handled(), 'POD_CHANGED');
    assert.equal(await handled(), 'SERVICE_DOES_NOT_SELECT_POD');
    isSigned = () => Promise.resolve();
    await label('app=raced');
    assert.equal(await handled(), 'issued');
  } finally {
    await reader.stop();
  }
});
