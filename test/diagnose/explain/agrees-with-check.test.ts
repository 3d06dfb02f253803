// SPDX-License-Identifier: Apache-2.0
/**
 * What `countersign check` finds of a pod, `countersign explain` says of it: both read the same API
 * server, and of each row either both name the cause, or neither does.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serialText } from '#ca/revocation/serial.ts';
import { encodePem } from '#pki/der/pem.ts';
import { HOUR, MINUTE, at, state } from '../../operations/signer-states.ts';
import { certificateRequest } from '../../support/requests/certificate-request.ts';
import { made } from '../../ca/policy/request.ts';
import {
  SIGNER,
  type World,
  podThat,
  leafOf,
  requested,
  revocation,
  service,
  deployment,
  AFTER_DISTRUST,
  BY_SERVICES,
  checked,
  explained,
} from './world.ts';

const ours = leafOf('a');
const serial = serialText(ours.certificate.serial);

/** A fault, the line of `check`, and the state and the words of `explain`. */
const FAULTS: readonly (World & {
  readonly what: string;
  readonly check: RegExp;
  readonly state: string;
  readonly explain: RegExp;
})[] = [
  {
    what: 'a leaf that the published bundle does not cover',
    signer: AFTER_DISTRUST,
    requests: [requested(MINUTE, ours)],
    check: /^error leaves-trusted .*team-a\/web.*published bundle does not cover/,
    state: 'NotTrusted',
    explain: /the bundle of ClusterSigner workload does not cover it/,
  },
  {
    what: 'a leaf of the CA that signs, whose anchor the bundle lacks',
    signer: state({ authorities: { a: 'Active' }, served: { b: 60 } }),
    requests: [requested(MINUTE, ours)],
    check:
      /^error leaves-trusted .*team-a\/web.*CA sha256:\w+, which signs, .*bundle lacks its anchor/,
    state: 'NotTrusted',
    explain: /the bundle of ClusterSigner workload lacks the anchor of the CA that signs/,
  },
  {
    what: 'a leaf that the bundle does not cover, while the kubelet waits for the next one',
    signer: AFTER_DISTRUST,
    requests: [requested(10 * MINUTE, ours), requested(MINUTE)],
    check: /^error leaves-trusted .*published bundle does not cover/,
    state: 'NotTrusted',
    explain: /the bundle of ClusterSigner workload does not cover it/,
  },
  {
    what: 'a pod that ran before its CA was distrusted, whose requests are gone',
    signer: AFTER_DISTRUST,
    pod: podThat({ age: 13 * HOUR }),
    check: /^error leaves-trusted .*started before CA sha256:\w+ was distrusted/,
    state: 'NotTrusted',
    explain: /started before CA sha256:\w+ was distrusted/,
  },
  {
    what: 'two volumes, one of which may hold the leaf of a distrusted CA',
    signer: AFTER_DISTRUST,
    pod: podThat({ age: 13 * HOUR, projections: 2 }),
    requests: [requested(MINUTE, leafOf('b'))],
    check: /^error leaves-trusted .*started before CA sha256:\w+ was distrusted/,
    state: 'NotTrusted',
    explain: /started before CA sha256:\w+ was distrusted/,
  },
  {
    what: 'a leaf on the CRL',
    requests: [requested(MINUTE, ours)],
    revocations: [revocation(serial, at(HOUR))],
    check: /^error leaves-trusted .*Revocation stolen has the certificate/,
    state: 'NotTrusted',
    explain: /Revocation stolen revoked it at /,
  },
  {
    what: 'a leaf of which nothing shows whether it is on the CRL',
    revocations: [revocation(serial, at(HOUR))],
    check: /^unseen leaves-trusted .*check cannot tell which leaf they hold.* the 1 revoked ones/,
    state: 'Issued',
    explain: /cannot tell which certificates these are, nor whether one of them is among the 1 rev/,
  },
  {
    what: 'a Service whose selector is misspelt',
    signer: BY_SERVICES,
    pod: podThat({ labels: { app: 'web' } }),
    requests: [requested(MINUTE, ours)],
    services: [service('wbe')],
    check:
      /^warning services-select .*no Service selects them.*Service front selects none.*app=wbe/,
    state: 'Issued',
    explain: /no Service selects the pod.*Service front selects app=wbe, and the pod has app=web$/,
  },
  {
    what: 'an annotation that nothing knows, of a pod that gets no certificate because of it',
    pod: podThat({ projections: 0, annotations: { 'countersign.dev/injekt': 'workload' } }),
    check:
      /^warning annotations-known .*countersign\.dev\/injekt, .*; countersign\.dev\/inject exists$/,
    state: 'NotUsed',
    explain: /countersign\.dev\/injekt, .*; countersign\.dev\/inject exists$/,
  },
  {
    what: 'an annotation of a pod that is read on its workload',
    pod: podThat({ annotations: { 'countersign.dev/refresh': 'restart' } }),
    requests: [requested(MINUTE, ours)],
    check: /^warning annotations-known .*countersign\.dev\/refresh, .*it is read on the workload/,
    state: 'Issued',
    explain: /countersign\.dev\/refresh, .*it is read on the workload itself$/,
  },
];

for (const { what, check, state: wanted, explain: says, ...world } of FAULTS) {
  test(`${what}: check finds it, and explain of the pod says it`, async () => {
    const lines = await checked(world);
    assert.equal(lines.length, 1, lines.join('\n'));
    assert.match(lines[0] ?? '', check);
    const { state: is, summary, remediation } = await explained(world);
    assert.equal(is, wanted, summary);
    assert.match(summary, says);
    assert.ok(remediation.length > 0, 'it says what to do');
  });
}

test('a pod that runs on a kubelet without podCertificate volumes has no certificates', async () => {
  const { state: is, summary } = await explained({ kubelet: 'v1.34.6' });
  assert.equal(is, 'WaitingForNode', summary);
  assert.match(summary, /kubelet of node node-1 is v1\.34\.6.*: it runs without its certificates$/);
  const newer = await explained({ kubelet: 'v1.37.0' });
  assert.match(newer.summary, /its containers run, so it has its certificates/);
});

const WELL: readonly (World & { readonly what: string })[] = [
  { what: 'a leaf of a CA of the bundle', requests: [requested(MINUTE, ours)] },
  {
    what: 'a revoked certificate that has ended',
    revocations: [revocation(serial, at(-HOUR))],
  },
  {
    what: 'a pod that began after its CA was distrusted',
    signer: AFTER_DISTRUST,
    requests: [requested(MINUTE, leafOf('b'))],
  },
  {
    what: 'a Service that selects the pod, among others',
    signer: BY_SERVICES,
    pod: podThat({ labels: { app: 'web' } }),
    requests: [requested(MINUTE, ours)],
    services: [service('wbe'), service('web')],
  },
  {
    what: 'annotations where they are read',
    pod: podThat({
      annotations: {
        'countersign.dev/inject': 'workload',
        'countersign.dev/evict-before-expiry': '10m',
        'example.com/injekt': 'workload',
      },
    }),
    requests: [requested(MINUTE, ours)],
  },
];

for (const { what, ...world } of WELL) {
  test(`${what}: check finds nothing, and explain of the pod says nothing else`, async () => {
    assert.deepEqual(await checked(world), []);
    const { state: is, summary } = await explained(world);
    assert.equal(is, 'Issued', summary);
    assert.doesNotMatch(summary, /reject|revoked|no Service|no component/);
  });
}

test('check and explain both find a pod annotation that is set on the Deployment', async () => {
  const annotations = { 'countersign.dev/inject': 'workload' };
  const world = {
    pod: podThat({ labels: { app: 'web' } }),
    requests: [requested(MINUTE, ours)],
    deployments: [deployment(annotations)],
  };
  const lines = await checked(world);
  assert.equal(lines.length, 1, lines.join('\n'));
  const words = /countersign\.dev\/inject, .*it is read on its pod template$/;
  assert.match(lines[0] ?? '', words);
  const { summary, remediation } = await explained(world, 'deployment');
  assert.match(summary, words);
  assert.deepEqual(remediation.at(-1), MOVED);
});

/** Both objects at once, so that no rollout begins between. */
const MOVED = `kubectl -n team-a patch deployment web --type=merge -p '{"metadata":{"annotations":{"countersign.dev/inject":null}},"spec":{"template":{"metadata":{"annotations":{"countersign.dev/inject":"workload"}}}}}'`;

const answered = Buffer.from(encodePem('CERTIFICATE', ours.certificate.raw)).toString('base64');
const csr = made({ usages: ['client auth'] }).csr;
const answers: World = {
  csrs: [
    {
      ...csr,
      metadata: { ...csr.metadata, name: 'web' },
      spec: { ...csr.spec, signerName: SIGNER },
      status: { certificate: answered },
    },
  ],
  certificateRequests: [
    {
      ...certificateRequest(),
      metadata: { ...certificateRequest().metadata, name: 'web' },
      status: { certificate: answered, conditions: [] },
    },
  ],
};
const LISTED = { revokedAt: at(-MINUTE), holders: [{ user: 'jane' }] };

/** The Revocation of our leaf, as `countersign revoke` writes it, on a CRL. */
function listed(more: Readonly<Record<string, unknown>> = {}): object {
  const one = revocation(serial, at(HOUR)) as { readonly spec: object };
  return { ...one, spec: { ...one.spec, ...more }, status: { crlNumber: 7 } };
}

for (const kind of ['csr', 'certificaterequest']) {
  test(`${kind}: a revoked certificate is not said to be issued and no more`, async () => {
    const is = await explained({ ...answers, revocations: [listed(LISTED)] }, kind);
    assert.equal(is.state, 'NotTrusted');
    const since = at(-MINUTE);
    assert.ok(is.summary.includes(`Revocation stolen revoked it at ${since} (keyCompromise)`));
    // kube-apiserver has no flag for CRLs: only bindings and its --client-ca-file end the access.
    assert.match(is.summary, /kube-apiserver reads no CRL: if its --client-ca-file has the CA/);
    const todo = is.remediation.join('\n');
    assert.match(todo, /^kubectl auth can-i --list --as 'leaf of a' {3}# /);
    assert.match(
      todo,
      /RoleBindings and ClusterRoleBindings \(bind .* by name first\), or replace the CA/,
    );
    assert.match(todo, /holders in spec\.holders get no new certificate/);
    assert.ok(is.timeline.some((each) => each.at === since && each.what.includes('stolen')));
  });

  test(`${kind}: without its Revocation, a certificate is issued`, async () => {
    const other = revocation('0badcafe', at(HOUR));
    assert.equal((await explained({ ...answers, revocations: [other] }, kind)).state, 'Issued');
  });

  test(`${kind}: a certificate that no bundle covers is not trusted`, async () => {
    const is = await explained({ ...answers, signer: AFTER_DISTRUST }, kind);
    assert.equal(is.state, 'NotTrusted');
    assert.match(is.summary, /the bundle of ClusterSigner workload does not cover it/);
  });
}

test('certificaterequest: one without a spec is of no issuer of ours', async () => {
  const { spec: _none, ...request } = certificateRequest();
  const stored = { ...request, metadata: { ...request.metadata, name: 'web' } };
  const is = await explained({ certificateRequests: [stored] }, 'certificaterequest');
  assert.match(is.summary, /Countersign does not answer it: its issuer is Issuer/);
});

// KEP-4317: the kubelet requests again at beginRefreshAt, and for another pod.
test('a pod with a revoked leaf is not promised a new one before its kubelet asks', async () => {
  const refreshed = requested(MINUTE, ours) as { readonly status: object };
  const requests = [{ ...refreshed, status: { ...refreshed.status, beginRefreshAt: at(HOUR) } }];
  const own = { pod: { namespace: 'team-a', name: 'web', uid: 'web' } };
  const is = await explained({ requests, revocations: [listed({ holders: [own] })] });
  assert.equal(is.state, 'NotTrusted');
  assert.match(is.summary, /the Revocation does not make the kubelet replace it earlier/);
  assert.deepEqual(is.next?.at, at(HOUR));
  assert.match(is.next.what, /which Revocation stolen may refuse$/);
  assert.deepEqual(is.remediation, [
    'kubectl -n team-a delete pod web   # its controller makes another pod, which requests a new certificate; create a pod without one again',
  ]);
  const shared = { serviceAccount: { namespace: 'team-a', name: 'web' } };
  const both = await explained({ requests, revocations: [listed({ holders: [shared] })] });
  assert.match(both.remediation[1] ?? '', /spec\.holders may match the new pod, too/);
});
