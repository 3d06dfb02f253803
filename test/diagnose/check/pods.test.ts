// SPDX-License-Identifier: Apache-2.0
/**
 * What `countersign check` finds of pods: leaves that verifiers reject, kubelets that cannot ask,
 * Services, annotations.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '#api/object/pod.ts';
import type { Service } from '#api/object/service.ts';
import type { InstallationFacts, PodFacts } from '#diagnose/check/facts.ts';
import type { Finding } from '#diagnose/check/finding.ts';
import { INJECTION, profileOf } from '#install/admission/injection/profiles.ts';
import { refusals } from '#install/admission/injection/refusals.ts';
import type { Manifest } from '#install/roles.ts';
import { fullQuotaIn, type ResourceQuota } from '#operations/pods/quota.ts';
import { unreadAnnotations, type AnnotatedObject } from '#operations/pods/unread-annotations.ts';
import { HOUR, MINUTE, at, print, state } from '../../operations/signer-states.ts';
import { findingsOf, installed, signersOf } from './well.ts';

assert.ok('value' in installed.pods);
const NONE: PodFacts = installed.pods.value;

function pod(name: string, phase = 'Running', age = 13 * HOUR, labels = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace: 'team-a',
      name,
      uid: `uid-${name}`,
      resourceVersion: '1',
      labels,
      creationTimestamp: at(-age),
    },
    spec: {
      nodeName: 'node-1',
      volumes: [
        { projected: { sources: [{ podCertificate: { signerName: 'example.com/workload' } }] } },
      ],
    },
    status: { phase, startTime: at(-age) },
  };
}

const distrusted = {
  value: signersOf(state({ authorities: { a: 'Distrusted', b: 'Active' }, served: { b: 60 } })),
};

test('reports pods older than the distrust of their CA on one line, with the command', () => {
  const mounting = ['web-1', 'web-2', 'web-3', 'web-4'].map((name) => pod(name));
  const pods = { value: { ...NONE, mounting } };
  const found = findingsOf('leaves-trusted', { installed: { pods, signers: distrusted } });
  assert.equal(found.length, 1);
  assert.equal(found[0]?.severity, 'error');
  assert.match(
    found[0].why,
    /^4 pods \(team-a\/web-1, team-a\/web-2, team-a\/web-3, 1 more\): they/,
  );
  assert.equal(
    found[0].remediation,
    `countersign authority taint workload ${print('a')} --restart`,
  );
});

test('a pod that started after the distrust of its CA, or waits, holds no leaf of it', () => {
  const mounting = [pod('new', 'Running', HOUR), pod('waits', 'Pending')];
  const pods = { value: { ...NONE, mounting } };
  const found = findingsOf('leaves-trusted', { installed: { pods, signers: distrusted } });
  assert.deepEqual(
    found.map(({ severity }) => severity),
    ['ok'],
  );
});

test('pods of unknown leaf status are neither reported as revoked nor as well', () => {
  const revocation = {
    apiVersion: 'countersign.dev/v1alpha1',
    kind: 'Revocation',
    metadata: { name: 'stolen', uid: 'x', resourceVersion: '1', creationTimestamp: at(0) },
    spec: {
      signerName: 'example.com/workload',
      reason: 'keyCompromise',
      certificates: [{ serial: 'abcdef', notAfter: at(HOUR) }],
    },
  };
  const facts = { ...NONE, mounting: [pod('web')], revocations: [revocation as never] };
  const [found] = findingsOf('leaves-trusted', { installed: { pods: { value: facts } } });
  assert.equal(found?.severity, 'unseen');
  assert.equal(
    found.remediation,
    'countersign ledger search --signer example.com/workload --serial abcdef',
  );
  const over = {
    ...revocation,
    spec: { ...revocation.spec, certificates: [{ serial: 'abcdef', notAfter: at(-HOUR) }] },
  };
  const later = { ...facts, revocations: [over as never] };
  const [ended] = findingsOf('leaves-trusted', { installed: { pods: { value: later } } });
  assert.equal(ended?.severity, 'ok');
});

test('a quota that refuses the kubelet is an error, with the command that raises it', () => {
  for (const [hard, raised] of [
    ['0', '100'],
    ['100', '200'],
    ['1k', '2000'],
  ] as const) {
    const quotas = [{ namespace: 'team-a', name: 'none', hard }];
    const facts = { ...NONE, mounting: [pod('web', 'Pending', 3 * MINUTE)], quotas };
    const found = findingsOf('pods-requested', { installed: { pods: { value: facts } } });
    assert.equal(found[0]?.severity, 'error');
    assert.match(found[0].why, /ResourceQuota none allows no more PodCertificateRequests/);
    assert.equal(
      found[0].remediation,
      `kubectl -n team-a patch resourcequota none --type=merge -p '{"spec":{"hard":{"${COUNTED}":"${raised}"}}}'`,
    );
  }
});

const COUNTED = 'count/podcertificaterequests.certificates.k8s.io';

for (const [used, hard, isFull] of [
  ['0', '0', true],
  ['99', '100', false],
  ['100', '100', true],
  // The API server writes 1000 as 1k.
  ['5', '1k', false],
  ['1k', '1k', true],
  ['1100', '1k', true],
] as const) {
  test(`a quota of ${hard} with ${used} requests is ${isFull ? '' : 'not '}full`, () => {
    const status = { hard: { [COUNTED]: hard }, used: { [COUNTED]: used } };
    const quota = { metadata: { name: 'q' }, status } as unknown as ResourceQuota;
    assert.deepEqual(fullQuotaIn(quota), isFull ? { name: 'q', hard } : undefined);
  });
}

test('pods that wait for one cause are one line, with what their kubelet said', () => {
  const mounting = ['a', 'b', 'c'].map((name) => pod(name, 'Pending', 3 * MINUTE));
  const warnings = new Map(
    mounting.map(({ metadata: { uid } }) => [uid, `MountVolume failed for ${uid}: webhook x`]),
  );
  const facts = { ...NONE, mounting, warnings };
  const found = findingsOf('pods-requested', { installed: { pods: { value: facts } } });
  assert.equal(found.length, 1);
  assert.match(found[0]?.why ?? '', /^3 pods .*: MountVolume failed for UID: webhook x$/);
});

test('a pod that began two minutes ago is on its way', () => {
  const facts = { ...NONE, mounting: [pod('web', 'Pending', 2 * MINUTE)] };
  const [found] = findingsOf('pods-requested', { installed: { pods: { value: facts } } });
  assert.equal(found?.severity, 'ok');
});

const naming = {
  value: signersOf(
    state({
      spec: {
        pods: {
          allow: 'true',
          uris: ['"spiffe://cluster.local/ns/" + pod.namespace + "/sa/" + pod.serviceAccountName'],
          services: {
            select: 'All',
            forms: ['Service'],
            clusterDomain: 'cluster.local',
            required: false,
          },
        },
      },
    }),
  ),
};

const service = (app: string): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: {
    namespace: 'team-a',
    name: 'web',
    uid: 's',
    resourceVersion: '1',
    creationTimestamp: at(0),
  },
  spec: { selector: { app } },
});

test('reports a Service with a misspelt selector, unless one selects the pods', () => {
  const mounting = [pod('web', 'Running', HOUR, { app: 'web' })];
  const [wrong, right] = ['wbe', 'web'].map((app) => {
    const facts = { ...NONE, mounting, services: { value: [service(app)] } };
    return findingsOf('services-select', {
      installed: { signers: naming, pods: { value: facts } },
    });
  });
  assert.equal(wrong?.[0]?.severity, 'warning');
  assert.match(wrong[0].why, /no Service selects them.*Service web selects none of them: app=wbe$/);
  assert.equal(right?.[0]?.severity, 'ok');
});

/** The Deployment `web`, with annotations of its template. */
const annotated = (annotations: Readonly<Record<string, string>>): AnnotatedObject => ({
  kind: 'deployment',
  name: 'web',
  namespace: 'team-a',
  inTemplate: true,
  annotations,
});

test('warns of a misspelt annotation, with the right name and the command to set it', () => {
  const object = annotated({
    'countersign.dev/injekt': 'workload',
    'countersign.dev/evict-before-expiry': '10m',
  });
  const found = findingsOf('annotations-known', { installed: { annotated: { value: [object] } } });
  assert.equal(found.length, 1);
  assert.match(
    found[0]?.why ?? '',
    /countersign\.dev\/injekt, .*; countersign\.dev\/inject exists$/,
  );
  assert.equal(
    found[0]?.remediation,
    `kubectl -n team-a patch deployment web --type=merge -p '{"spec":{"template":{"metadata":{"annotations":{"countersign.dev/injekt":null,"countersign.dev/inject":"workload"}}}}}'`,
  );
});

/** The policies of injection for these profiles. */
const injecting = (...names: readonly string[]): InstallationFacts['policies'] => {
  const profiles = names.map((name) =>
    profileOf({ name, signerName: `example.com/${name}`, trustBundle: false }),
  );
  const [policy] = refusals(profiles);
  return { value: new Map([[INJECTION, { policy: policy as Manifest, binding: undefined }]]) };
};

/** A value of the annotation, the reported profiles, and the remediation. */
const UNKNOWN_PROFILES: readonly (readonly [value: string, named: string, remedy: RegExp])[] = [
  ['wrokload', 'the profile "wrokload", which does', /"countersign.dev\/inject":"workload"/],
  ['db, wrokload', 'the profile "wrokload", which does', /"countersign.dev\/inject":"db,workload"/],
  ['proxy', 'the profile "proxy", which does', /^kubectl -n team-a edit deployment web$/],
  ['a,proxy', 'the profiles "a", "proxy", which do', /^kubectl -n team-a edit deployment web$/],
];

test('warns of an injection profile that does not exist, and names those that do', () => {
  const policies = injecting('workload', 'db');
  const found = (change: Partial<AnnotatedObject>, value: string): readonly Finding[] => {
    const annotations = { 'countersign.dev/inject': value };
    const object = { ...annotated(annotations), isInjected: true, ...change };
    return findingsOf('annotations-known', {
      installed: { policies, annotated: { value: [object] } },
    });
  };
  for (const [value, named, remedy] of UNKNOWN_PROFILES) {
    const [first, ...more] = found({}, value);
    assert.deepEqual([first?.severity, more], ['warning', []]);
    assert.equal(
      first?.why,
      `annotation countersign.dev/inject names ${named} not exist (profiles: workload, db): the API server rejects its new pods`,
    );
    assert.match(first.remediation ?? '', remedy);
  }
  const [bare] = found({ kind: 'pod', inTemplate: false }, 'wrokload');
  assert.match(bare?.remediation ?? '', /manifest of the pod$/);
  for (const value of ['workload', ' db ,workload', ''])
    assert.equal(found({}, value)[0]?.severity, 'ok', value);
  // No policy acts there.
  assert.equal(found({ isInjected: false }, 'wrokload')[0]?.severity, 'ok');
});

/** An annotation, and the patch of the command. */
const REMEDIES: readonly (readonly [
  what: string,
  change: Partial<AnnotatedObject>,
  patch: string,
])[] = [
  [
    'a name that resembles none is taken away',
    { annotations: { 'countersign.dev/something-else': 'x' } },
    '{"spec":{"template":{"metadata":{"annotations":{"countersign.dev/something-else":null}}}}}',
  ],
  [
    'a value that is there under the right name stays',
    { annotations: { 'countersign.dev/injekt': 'x', 'countersign.dev/inject': 'y' } },
    '{"spec":{"template":{"metadata":{"annotations":{"countersign.dev/injekt":null}}}}}',
  ],
  [
    'what the template has for the workload moves there',
    { annotations: { 'countersign.dev/refresh': 'restart' } },
    '{"metadata":{"annotations":{"countersign.dev/refresh":"restart"}},"spec":{"template":{"metadata":{"annotations":{"countersign.dev/refresh":null}}}}}',
  ],
  [
    'a misspelt name in the wrong place gets both',
    { annotations: { 'countersign.dev/refrehs': 'restart' } },
    '{"metadata":{"annotations":{"countersign.dev/refresh":"restart"}},"spec":{"template":{"metadata":{"annotations":{"countersign.dev/refrehs":null}}}}}',
  ],
  [
    'what a pod without a workload has for one is taken away',
    {
      kind: 'pod',
      inTemplate: false,
      annotations: { 'countersign.dev/refresh': 'restart' },
    },
    '{"metadata":{"annotations":{"countersign.dev/refresh":null}}}',
  ],
];

for (const [what, change, patch] of REMEDIES) {
  test(`an annotation that no component reads: ${what}`, () => {
    const [found, ...more] = unreadAnnotations({ ...annotated({}), ...change });
    assert.deepEqual(more, []);
    assert.ok(found?.remediation.endsWith(` -p '${patch}'`), found?.remediation);
  });
}

test('names the right annotation for a bare pod, which must be created again', () => {
  const annotations = { 'countersign.dev/injekt': 'workload' };
  const [found] = unreadAnnotations({ ...annotated(annotations), kind: 'pod', inTemplate: false });
  assert.equal(
    found?.remediation,
    "kubectl -n team-a get pod web -o yaml | sed 's#countersign.dev/injekt#countersign.dev/inject#' | kubectl replace --force -f -",
  );
});

/** A value that its component rejects, and the command. */
const VALUES: readonly (readonly [
  change: Partial<AnnotatedObject>,
  why: RegExp,
  remedy: RegExp,
])[] = [
  [
    { inTemplate: false, annotations: { 'countersign.dev/refresh': 'restrat' } },
    /^annotation countersign\.dev\/refresh is "restrat"; .*: pod-refresher does not restart it$/,
    / patch deployment web --type=merge -p '\{"metadata":.*"countersign\.dev\/refresh":"restart"/,
  ],
  [
    { inTemplate: false, annotations: { 'countersign.dev/refresh': 'at night' } },
    /^annotation countersign\.dev\/refresh is "at night"/,
    /^kubectl -n team-a edit deployment web$/,
  ],
  [
    {
      inTemplate: false,
      annotations: {
        'countersign.dev/refresh': 'restart',
        'countersign.dev/refresh-window': 'at night',
      },
    },
    /^annotation countersign\.dev\/refresh-window: /,
    /^kubectl -n team-a edit deployment web$/,
  ],
  [
    { annotations: { 'countersign.dev/evict-before-expiry': '10 minutes' } },
    /^annotation countersign\.dev\/evict-before-expiry: .*: the pod is not evicted$/,
    /^kubectl -n team-a edit deployment web$/,
  ],
];

test('warns of a value that its component rejects, with the command that corrects it', () => {
  for (const [change, why, remedy] of VALUES) {
    const object = { ...annotated({}), ...change };
    const [found, ...more] = findingsOf('annotations-known', {
      installed: { annotated: { value: [object] } },
    });
    assert.deepEqual([found?.severity, more], ['warning', []]);
    assert.match(found?.why ?? '', why);
    assert.match(found?.remediation ?? '', remedy);
  }
  for (const value of ['off', 'secrets', 'restart'])
    assert.deepEqual(
      unreadAnnotations({ ...annotated({ 'countersign.dev/refresh': value }), inTemplate: false }),
      [],
    );
});
