// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { missingPermissions, permissionText } from '#kube/client/access-review.ts';
import { servedVersions } from '#kube/client/discovery.ts';
import { ignoreNotFound, KubeError } from '#kube/client/kube-error.ts';
import { startWire, type Wire } from '../../support/kube/server-and-clients.ts';

let wire: Wire;
beforeEach(async () => (wire = await startWire()));
afterEach(() => wire.stop());

interface Review {
  readonly spec: { readonly resourceAttributes: Readonly<Record<string, string>> };
}

test('every verb on every resource name is checked, and each missing one is named', async () => {
  const asked: string[] = [];
  wire.server.always((call) => {
    assert.equal(call.path, '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews');
    const attributes = (JSON.parse(call.body) as Review).spec.resourceAttributes;
    const text = ['verb', 'group', 'resource', 'subresource', 'name', 'namespace']
      .map((key) => attributes[key] ?? '?')
      .join(' ');
    asked.push(text);
    call.answer(201, { status: { allowed: attributes['verb'] !== 'update' } });
  });
  const missing = await missingPermissions(wire.connect(), [
    {
      apiGroups: ['certificates.k8s.io'],
      resources: ['certificatesigningrequests/approval'],
      verbs: ['update'],
    },
    {
      apiGroups: [''],
      resources: ['secrets'],
      verbs: ['get', 'update'],
      resourceNames: ['x', 'y'],
      namespace: 'keys',
    },
  ]);
  assert.deepEqual(asked.sort(), [
    'get  secrets  x keys',
    'get  secrets  y keys',
    'update  secrets  x keys',
    'update  secrets  y keys',
    'update certificates.k8s.io certificatesigningrequests approval  ',
  ]);
  assert.deepEqual(missing.map(permissionText), [
    'update certificates.k8s.io/certificatesigningrequests/approval',
    'update secrets "x" in namespace keys',
    'update secrets "y" in namespace keys',
  ]);
});

test('a check sends eight reviews at a time', async () => {
  const resourceNames = Array.from({ length: 30 }, (_, index) => `secret-${index}`);
  let [asked, most] = [0, 0];
  let waiting: (() => void)[] = [];
  const answerAll = (): void => {
    most = Math.max(most, waiting.length);
    const [all] = [waiting, (waiting = [])];
    for (const answer of all) answer();
  };
  wire.server.always((call) => {
    asked += 1;
    waiting.push(() => call.answer(201, { status: { allowed: true } }));
    // Later, so that a ninth could come.
    if (waiting.length === 8 || asked === resourceNames.length) setTimeout(answerAll, 50);
  });
  const rule = { apiGroups: [''], resources: ['secrets'], verbs: ['get'], resourceNames };
  assert.deepEqual(await missingPermissions(wire.connect(), [rule]), []);
  assert.equal(most, 8);
});

/** Answers reviews as RBAC does for these resourceNames: a name is that text, and no pattern. */
function grant(...names: readonly string[]): void {
  wire.server.always((call) => {
    const { name = '' } = (JSON.parse(call.body) as Review).spec.resourceAttributes;
    call.answer(201, { status: { allowed: names.includes(name) } });
  });
}

function missingOnSigners(verb: string, ...resourceNames: readonly string[]): Promise<string[]> {
  const rule = { apiGroups: ['certificates.k8s.io'], resources: ['signers'], verbs: [verb] };
  return missingPermissions(wire.connect(), [{ ...rule, resourceNames }]).then((missing) =>
    missing.map(permissionText),
  );
}

test('a verb on a signer name is granted by its exact name or its domain', async () => {
  for (const verb of ['approve', 'sign', 'attest', 'request']) {
    for (const name of ['example.com/workload', 'example.com/*']) {
      grant(name);
      assert.deepEqual(await missingOnSigners(verb, 'example.com/workload'), [], `${verb} ${name}`);
    }
  }
});

test('the signers of a domain share one review of its wildcard', async () => {
  const asked: string[] = [];
  wire.server.always((call) => {
    const { name = '' } = (JSON.parse(call.body) as Review).spec.resourceAttributes;
    asked.push(name);
    call.answer(201, { status: { allowed: name === 'example.com/*' } });
  });
  const names = ['example.com/a', 'example.com/b', 'example.com/c'];
  assert.deepEqual(await missingOnSigners('sign', ...names), []);
  assert.deepEqual(asked.sort(), ['example.com/*', ...names]);
});

test('no other pattern grants a verb on a signer name', async () => {
  const patterns = ['*/*', '*.com/*', 'example.com/work*', 'example.com/', '*', 'a.example.com/*'];
  grant(...patterns);
  const name = 'example.com/workload';
  const lacks = [`sign certificates.k8s.io/signers "${name}"`];
  assert.deepEqual(await missingOnSigners('sign', name), lacks);
});

test('our own verbs do not take a tenant domain’s wildcard, Kubernetes’ verbs do', async () => {
  grant('signers.countersign.dev/*', 'acmesigners.acme.countersign.dev/*');
  const names = ['signers.countersign.dev/a.b', 'acmesigners.acme.countersign.dev/a.b'];
  for (const verb of ['request', 'revoke', 'request-on-behalf'])
    assert.equal((await missingOnSigners(verb, ...names)).length, names.length, verb);
  for (const verb of ['approve', 'sign', 'attest'])
    assert.deepEqual(await missingOnSigners(verb, ...names), [], verb);
});

test('a name of another resource has no wildcard, also if it has a slash', async () => {
  grant('example.com/*');
  const rule = { apiGroups: ['cert-manager.io'], resources: ['signers'], verbs: ['approve'] };
  const rules = [{ ...rule, resourceNames: ['example.com/workload'] }];
  assert.equal((await missingPermissions(wire.connect(), rules)).length, 1);
});

test('a failed access review is not a refusal', async () => {
  wire.server.always((call) => {
    call.answer(503, 'away');
  });
  const rules = [{ apiGroups: [''], resources: ['events'], verbs: ['create'] }];
  await assert.rejects(missingPermissions(wire.connect(), rules), { code: 'KUBE_UNAVAILABLE' });
});

test('the served versions are those that have the resource, in order of preference', async () => {
  const kinds: Record<string, string[] | undefined> = {
    '/apis/certificates.k8s.io/v1': ['certificatesigningrequests'],
    '/apis/certificates.k8s.io/v1beta1': [
      'podcertificaterequests',
      'podcertificaterequests/status',
    ],
  };
  wire.server.always((call) => {
    const names = kinds[call.path];
    if (names === undefined) call.answer(404, { reason: 'NotFound' });
    else call.answer(200, { resources: names.map((name) => ({ name })) });
  });
  const wanted = { group: 'certificates.k8s.io', plural: 'podcertificaterequests' };
  const found = servedVersions(wire.connect(), wanted, ['v1', 'v1beta1', 'v1alpha1']);
  assert.deepEqual(await found, ['v1beta1']);
});

test('failed discovery does not mean that no version is served', async () => {
  wire.server.always((call) => {
    call.answer(503, 'away');
  });
  const wanted = { group: 'certificates.k8s.io', plural: 'podcertificaterequests' };
  await assert.rejects(servedVersions(wire.connect(), wanted, ['v1']), { status: 503 });
});

test('forbidden discovery has the kinds that it affects, and the role that grants it', async () => {
  wire.server.always((call) => {
    call.answer(403, { reason: 'Forbidden', message: 'User "x" cannot get path' });
  });
  const wanted = { group: 'certificates.k8s.io', plural: 'podcertificaterequests' };
  await assert.rejects(servedVersions(wire.connect(), wanted, ['v1']), {
    status: 403,
    message: /may not read the API discovery .* podcertificaterequests .* system:discovery grants/,
  });
});

test('discovery takes only a 404 for an absent API group', async () => {
  const ask = (status: number): Promise<unknown> =>
    Promise.reject(new KubeError({ status, what: 'GET /x' })).catch(ignoreNotFound);
  assert.equal(await ask(404), undefined);
  for (const status of [0, 403, 410, 500]) await assert.rejects(ask(status), { status });
});
