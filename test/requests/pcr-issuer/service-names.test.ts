// SPDX-License-Identifier: Apache-2.0
/** Which Services name a pod, and that a leaf is delivered only while they do. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '#api/object/pod.ts';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import type { Service } from '#api/object/service.ts';
import { decide } from '#requests/pcr-issuer/decide.ts';
import { createConfirm } from '#requests/pcr-issuer/evidence/confirm.ts';
import type { PodPlan } from '#requests/pcr-issuer/plan.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { NOW, random } from '../../support/ca/issuing.ts';
import { recordedClient } from '../../support/kube/recorded-client.ts';
import { podRequest } from '../../support/requests/pod-certificate-request.ts';
import { workloadProfile } from '../../support/signers/workload-profile.ts';

const DAY = 86_400_000;
const ANNOTATION = 'example.com/service';

type Changes = Readonly<Record<string, unknown>>;

function service(name: string, spec: Service['spec'] = {}, metadata: Changes = {}): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      namespace: 'team-a',
      name,
      uid: `uid-${name}`,
      resourceVersion: '1',
      creationTimestamp: '2026-11-21T06:00:00Z',
      ...metadata,
    },
    spec: { type: 'ClusterIP', clusterIP: '10.0.0.1', selector: { app: 'web' }, ...spec },
  };
}

function pod(spec: Partial<Pod['spec']> = {}, more: Changes = {}): Pod {
  const { podName, podUID, nodeName, serviceAccountName } = podRequest().spec;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace: 'team-a',
      name: podName,
      uid: podUID,
      resourceVersion: '1',
      creationTimestamp: '2026-11-21T06:00:00Z',
      labels: { app: 'web' },
      ...more,
    },
    spec: { nodeName, serviceAccountName, ...spec },
  };
}

interface Case {
  readonly pods?: Changes;
  readonly pod?: Pod;
  readonly services?: readonly Service[] | undefined;
  readonly annotations?: Readonly<Record<string, string>>;
}

function planOf({ pods = {}, pod: read = pod(), annotations = {}, ...given }: Case): PodPlan {
  const services = 'services' in given ? given.services : [service('web')];
  return decide({
    request: podRequest({ unverifiedUserAnnotations: annotations, maxExpirationSeconds: 86_400 }),
    profile: workloadProfile({ pods: { allow: 'true', services: {}, ...pods } }),
    evidence: { pod: read, services },
    authority: { notBefore: NOW - DAY, notAfter: NOW + 30 * DAY },
    reservedPrefixes: [],
    now: NOW,
    random,
  });
}

function namesOf(plan: PodPlan): readonly string[] {
  if (plan.kind !== 'issue') assert.fail(JSON.stringify(plan));
  return plan.subject.dnsNames;
}

function waitsWith(plan: PodPlan, code: string, message: RegExp): void {
  if (plan.kind !== 'wait') assert.fail(JSON.stringify(plan));
  assert.equal(plan.error.code, code);
  assert.match(plan.error.message, message);
}

const NAMED = { services: { select: 'FromAnnotation', annotation: ANNOTATION } };
const asking = (name: string): Readonly<Record<string, string>> => ({ [ANNOTATION]: name });

test('the leaf has the names of every Service that selects the pod, and of no other', () => {
  const services = [
    service('web'),
    service('canary', { selector: { app: 'web', track: 'canary' } }),
    service('db', { selector: { app: 'db' } }),
    service('api', { clusterIP: 'None' }),
  ];
  assert.deepEqual(namesOf(planOf({ services })), [
    'api.team-a.svc',
    'api.team-a.svc.cluster.local',
    'web.team-a.svc',
    'web.team-a.svc.cluster.local',
  ]);
});

/** A selector of this many labels, and the labels of a pod that it selects. */
function manyLabels(count: number): Readonly<Record<string, string>> {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`label-${at}`, 'a']));
}

test('a Service whose selector has more than 32 labels names no pod', () => {
  const selector = manyLabels(32);
  const labels = { ...selector, more: 'a' };
  const plan = (wanted: typeof selector): PodPlan =>
    planOf({ services: [service('web', { selector: wanted })], pod: pod({}, { labels }) });
  assert.equal(namesOf(plan(selector))[0], 'web.team-a.svc');
  waitsWith(plan(labels), 'SERVICE_DOES_NOT_SELECT_POD', /no Service of namespace team-a selects/);
});

test('a Service whose selector has more than 2,048 characters names no pod', () => {
  const filler = (length: number): Readonly<Record<string, string>> =>
    Object.fromEntries(
      Array.from({ length: 16 }, (_, at) => [`${at}`.padStart(2, '0'), 'v'.repeat(length)]),
    );
  const longest = filler(126);
  const tooLong = { ...filler(126), more: '' };
  for (const [selector, names] of [
    [longest, true],
    [tooLong, false],
  ] as const) {
    const plan = planOf({
      services: [service('web', { selector })],
      pod: pod({}, { labels: selector }),
    });
    assert.equal(plan.kind === 'issue', names);
  }
  const named = { pods: NAMED, annotations: asking('web') };
  const plan = planOf({ ...named, services: [service('web', { selector: tooLong })] });
  waitsWith(plan, 'SERVICE_DOES_NOT_SELECT_POD', /at most 2048 characters/);
});

for (const [law, found] of [
  ['an ExternalName', service('web', { type: 'ExternalName' })],
  ['a Service without selector', service('web', { selector: {} })],
  ['a Service that is being deleted', service('web', {}, { deletionTimestamp: 'now' })],
  ['a Service of other pods', service('web', { selector: { app: 'db' } })],
] as const) {
  test(`${law} names no pod, requested with all or by name`, () => {
    const code = 'SERVICE_DOES_NOT_SELECT_POD';
    waitsWith(planOf({ services: [found] }), code, /no Service of namespace team-a selects pod/);
    const named = planOf({ services: [found], pods: NAMED, annotations: asking('web') });
    waitsWith(named, code, /Service team-a\/web /);
  });
}

test('the annotation picks one Service; one that does not exist is waited for', () => {
  const services = [service('web'), service('api')];
  const named = { services, pods: NAMED };
  assert.deepEqual(namesOf(planOf({ ...named, annotations: asking('api') })), [
    'api.team-a.svc',
    'api.team-a.svc.cluster.local',
  ]);
  const missing = planOf({ ...named, annotations: asking('gone') });
  waitsWith(missing, 'SERVICE_NOT_FOUND', /team-a\/gone does not exist/);
});

for (const [law, annotations] of [
  ['without the annotation', {}],
  ['with a qualified name', asking('web.team-b')],
  ['with a name of another namespace', asking('team-b/web')],
  ['with a wildcard', asking('*')],
] as const) {
  test(`a pod ${law} is denied: its request can never name a Service`, () => {
    const plan = planOf({ pods: NAMED, annotations });
    assert.ok(plan.kind === 'deny' && plan.reason === 'InvalidUnverifiedUserAnnotations');
  });
}

test('where Services need not be, a pod without one gets its other names', () => {
  const pods = { services: { required: false }, dnsNames: ["'own.example'"] };
  assert.deepEqual(namesOf(planOf({ pods, services: [] })), ['own.example']);
});

test('names are for the pod of the request alone: of its UID, node and ServiceAccount', () => {
  for (const other of [
    pod({}, { uid: 'another' }),
    pod({ nodeName: 'node-2' }),
    pod({ serviceAccountName: 'admin' }),
  ])
    waitsWith(planOf({ pod: other }), 'POD_NOT_FOUND', /team-a\/web-0 with UID/);
});

test('a request waits for the list of Services, and if too many select its pod', () => {
  waitsWith(planOf({ services: undefined }), 'SERVICES_NOT_LISTED', /not listed yet/);
  const many = Array.from({ length: 33 }, (_, index) => service(`s${index}`));
  waitsWith(planOf({ services: many }), 'NAME_INVALID', /33 Services select/);
});

test('allow decides over the names of Services and the labels that are listed', () => {
  const pods = { labels: ['app'], allow: "services == ['web'] && pod.labels.app == 'web'" };
  assert.deepEqual(namesOf(planOf({ pods })).length, 2);
  const plan = planOf({ pods: { ...pods, allow: "'db' in services" } });
  assert.ok(plan.kind === 'deny' && plan.reason === 'NotAllowed');
});

test('a leaf with an address lives an hour; one without lives as long as it may', () => {
  const hours = (of: Case): number => {
    const plan = planOf(of);
    return plan.kind === 'issue'
      ? (plan.validity.notAfter - plan.validity.notBefore) / 3_600_000
      : NaN;
  };
  const pods = { ipAddresses: ['pod.ip'] };
  const running = { ...pod(), status: { podIP: '10.1.2.3' } };
  assert.equal(hours({ pods }), 24);
  assert.equal(hours({ pods, pod: running }), 1);
});

test('a pod in its node’s network waits for the address its kubelet will report', () => {
  const pods = { ipAddresses: ['pod.ip'] };
  const host = pod({ hostNetwork: true });
  waitsWith(planOf({ pods, pod: host }), 'POD_ADDRESS_UNKNOWN', /has not reported/);
});

test('a kubelet gets no leaf for an address no pod has, such as a metadata service’s', () => {
  const pods = { ipAddresses: ['pod.ip'] };
  for (const podIP of [
    '127.0.0.1',
    '0.0.0.0',
    '169.254.169.254',
    '224.0.0.1',
    '255.255.255.255',
    '::1',
    '::',
    'fe80::1',
    'ff02::1',
    '::ffff:127.0.0.1',
    '::ffff:10.0.0.1',
    'no address',
  ]) {
    const plan = planOf({ pods, pod: { ...pod(), status: { podIP } } });
    waitsWith(plan, 'POD_ADDRESS_UNKNOWN', /which is not a pod address/);
  }
  for (const podIP of ['10.1.2.3', '100.64.0.7', '192.0.2.1', 'fd00::1', '2001:db8::1'])
    assert.equal(planOf({ pods, pod: { ...pod(), status: { podIP } } }).kind, 'issue', podIP);
});

/** What the API server has when the leaf is to be delivered. */
async function confirmed(now: readonly (Pod | Service)[]): Promise<string | undefined> {
  const client = recordedClient();
  client.answer(({ path }) => {
    const found = now.find(({ kind, metadata }) =>
      path.endsWith(`/${kind.toLowerCase()}s/${metadata.name}`),
    );
    if (found !== undefined) return found;
    throw new KubeError({ status: 404, message: 'not found' } as never);
  });
  const services = [service('web')];
  const proof = { pod: pod(), services, labels: ['tier'], hasAddress: true };
  return (await createConfirm(client)(proof))?.message;
}

const ANEW = { resourceVersion: '2' };

test('what did not change, or changed in what does not matter, is delivered', async () => {
  assert.equal(await confirmed([pod(), service('web')]), undefined);
  const noted = { ...ANEW, annotations: { seen: 'yes' } };
  const still = [pod({}, noted), service('web', {}, noted)];
  assert.equal(await confirmed(still), undefined);
});

for (const [law, now, message] of [
  [
    'a label that the Service selects by went',
    [pod({}, { ...ANEW, labels: {} }), service('web')],
    /does not select/,
  ],
  [
    'a label that expressions see changed',
    [pod({}, { ...ANEW, labels: { app: 'web', tier: 'x' } }), service('web')],
    /label of the pod/,
  ],
  ['the pod is another one', [pod({}, { uid: 'new' }), service('web')], /pod is gone/],
  ['the pod is gone', [service('web')], /pod is gone/],
  ['the Service is gone', [pod()], /Service web is gone/],
  [
    'the Service is another one',
    [pod(), service('web', {}, { uid: 'new' })],
    /Service web is gone/,
  ],
  [
    'the Service selects others',
    [pod(), service('web', { selector: { app: 'db' } }, ANEW)],
    /does not select/,
  ],
  [
    'the Service is headless now',
    [pod(), service('web', { clusterIP: 'None' }, ANEW)],
    /another kind/,
  ],
  [
    'the pod has another address',
    [{ ...pod({}, ANEW), status: { podIP: '10.9.9.9' } }, service('web')],
    /another address/,
  ],
] as const) {
  test(`a signed leaf is dropped where ${law}`, async () => {
    assert.match((await confirmed(now)) ?? '', message);
  });
}

test('a request says nothing of its pod that would be believed for names', () => {
  const request: PodCertificateRequest = podRequest();
  const profile = workloadProfile({ pods: { allow: 'true', services: {} } });
  const plan = decide({
    request,
    profile,
    reservedPrefixes: [],
    now: NOW,
    random,
    authority: { notBefore: NOW - DAY, notAfter: NOW + DAY },
  });
  assert.equal(plan.kind, 'wait');
});
