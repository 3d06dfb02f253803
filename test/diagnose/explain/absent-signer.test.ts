// SPDX-License-Identifier: Apache-2.0
/** A signer name that no object of the cluster has: whose it is, and whether an approval helps. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explainAbsentSigner } from '#diagnose/explain/absent-signer.ts';
import { approvalRefusal } from '#diagnose/explain/approval-refusal.ts';
import { explainCertificateRequest } from '#diagnose/explain/certificate-request.ts';
import { explainSigningRequest } from '#diagnose/explain/certificate-signing-request.ts';
import { readSignerView } from '#diagnose/explain/read-signer-view.ts';
import type { SignerView } from '#diagnose/explain/signer-view.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { made } from '../../ca/policy/request.ts';
import { state } from '../../operations/signer-states.ts';
import { recordedClient } from '../../support/kube/recorded-client.ts';
import { certificateRequest } from '../../support/requests/certificate-request.ts';

const { csr } = made({ usages: ['client auth'] });
const APPROVED = { type: 'Approved', status: 'True', reason: 'ByHand' } as const;
const approved = { ...csr, status: { conditions: [APPROVED] } };

const absent = (signerName: string, ...otherNames: readonly string[]): SignerView => ({
  signerName,
  signer: undefined,
  unusable: undefined,
  otherNames,
});

for (const name of ['kube-apiserver-client', 'kubelet-serving', 'kube-apiserver-client-kubelet']) {
  test(`kubernetes.io/${name} is a name that kube-controller-manager serves`, () => {
    const view = absent(`kubernetes.io/${name}`, 'example.com/serving');
    for (const request of [csr, approved]) {
      const { state: is, summary, remediation } = explainSigningRequest(request, view);
      const isUndecided = request === csr && name !== 'kube-apiserver-client-kubelet';
      assert.equal(is, isUndecided ? 'WaitingForApproval' : 'WaitingForComponent');
      assert.match(summary, /^Countersign does not serve .*: kube-controller-manager /);
      assert.doesNotMatch(remediation.join('\n'), /ClusterSigner/);
    }
    assert.equal(approvalRefusal(explainSigningRequest(csr, view)), undefined);
  });
}

test('a misspelled name of Kubernetes is not blamed on a missing ClusterSigner', () => {
  const { summary, remediation } = explainAbsentSigner(absent('kubernetes.io/kubelet-servng'));
  assert.match(summary, /did you mean kubernetes\.io\/kubelet-serving\?/);
  assert.doesNotMatch(remediation.join('\n'), /ClusterSigner/);
});

test('the nearest name is printed, and otherwise the command that lists them', () => {
  const names = ['example.com/people', 'example.com/serving'];
  const near = explainAbsentSigner(absent('example.com/servng', ...names));
  assert.match(near.summary, /did you mean example\.com\/serving\?/);
  assert.doesNotMatch(near.remediation.join('\n'), /kubectl get/);
  const far = explainAbsentSigner(absent('example.com/of-another-kind', ...names));
  assert.match(far.notices?.join() ?? '', /"example\.com\/people", "example\.com\/serving"/);
  assert.match(far.remediation.join('\n'), /kubectl get/);
});

const MEANT: readonly (readonly [name: string, meant: string | undefined])[] = [
  ['example.com/db', undefined],
  ['example.com/dev', undefined],
  ['example.com/web2', 'example.com/web'],
  ['example.com/peolpe', 'example.com/people'],
  ['exmaple.com/web', 'example.com/web'],
  ['other.example/web', undefined],
];

for (const [name, meant] of MEANT) {
  test(`${name} is ${meant === undefined ? 'near no name' : `probably ${meant}`}`, () => {
    const is = explainAbsentSigner(absent(name, 'example.com/people', 'example.com/web'));
    assert.equal(/did you mean (\S+)\?/.exec(is.summary)?.[1], meant);
    assert.equal(is.remediation.join('\n').includes('kubectl get'), meant === undefined);
  });
}

for (const [name, other] of [
  ['istio.corp.example.com/workload', 'mesh.corp.example.com/workload'],
  ['prod.example.com/serving', 'dev.example.com/serving'],
  ['team-b.corp/tls', 'team-a.corp/tls'],
  ['exampel.com/workload', 'example.com/workload'],
] as const) {
  test(`${name} may be of another program: ${other} is a hint, and no refusal`, () => {
    const is = explainAbsentSigner(absent(name, other));
    assert.equal(is.noApprovalHelps, undefined);
    const [notice = ''] = is.notices ?? [];
    assert.ok(notice.includes(`(did you mean ${other}?)`), notice);
    assert.match(notice, /; approve it if another program serves that name$/);
  });
}

test('a domain without a close path hides no close path of a close domain', () => {
  const is = explainAbsentSigner(
    absent('example.com/workload', 'example.com/db', 'examplf.com/workload'),
  );
  assert.match(is.summary, /did you mean examplf\.com\/workload\?/);
});

test('an approval is refused for a likely typo and for a derived name alone', () => {
  for (const name of ['istio.example/x', 'example.com/of-another-controller']) {
    const other = explainAbsentSigner(absent(name, 'example.com/people'));
    assert.equal(other.noApprovalHelps, undefined);
    assert.match(other.notices?.join('\n') ?? '', /if another program serves/);
  }
  for (const name of [
    'example.com/peple',
    'signers.countersign.dev/team-a.web',
    'acmesigners.acme.countersign.dev/team-a.web',
  ]) {
    const own = explainAbsentSigner(absent(name, 'example.com/people'));
    assert.match(
      own.noApprovalHelps ?? '',
      /no component of Countersign answers the request, even/,
    );
  }
});

for (const [name, object] of [
  ['signers.countersign.dev/team-a.web.v2', 'Signer web.v2 in namespace team-a'],
  ['acmesigners.acme.countersign.dev/team-a.web', 'AcmeSigner web in namespace team-a'],
] as const) {
  test(`${name} is the name of ${object}, and of no ClusterSigner`, async () => {
    const client = recordedClient();
    client.answer(({ path }) => {
      throw new KubeError({ status: 404, what: path });
    });
    const { remediation, noApprovalHelps = '' } = explainAbsentSigner(
      await readSignerView(client, name),
    );
    for (const text of [noApprovalHelps, remediation.join('\n')]) {
      assert.ok(text.includes(`or ${object}`), text);
      assert.doesNotMatch(text, /ClusterSigner/);
    }
    assert.match(remediation.join('\n'), /kubectl get .*\bacmesigners\b/);
  });
}

test('a name of the derived domain that names no namespace is of no signer', async () => {
  const client = recordedClient();
  client.answer(() => ({ kind: 'ClusterSignerList', metadata: {}, items: [] }));
  const view = await readSignerView(client, 'acmesigners.acme.countersign.dev/web');
  assert.deepEqual([view.signer, view.unusable], [undefined, undefined]);
  assert.match(explainAbsentSigner(view).noApprovalHelps ?? '', /with the correct signerName$/);
});

test('the pass of a reader of the ledger needs no approval', async () => {
  const view = await readSignerView(recordedClient(), 'ledger.countersign.dev/reader');
  for (const request of [csr, approved]) {
    const { state: is, summary, remediation } = explainSigningRequest(request, view);
    assert.equal(is, 'Ready');
    assert.match(summary, /reads the ledger .* needs no approval/);
    assert.deepEqual(remediation, []);
  }
  assert.equal(approvalRefusal(explainSigningRequest(csr, view)), undefined);
});

test('a signer that you may not read, or with an invalid spec, refuses no approval', () => {
  const hidden = { ...absent('example.com/x'), unusable: 'you may not read it' };
  const { noApprovalHelps, notices } = explainSigningRequest(csr, hidden);
  assert.equal(noApprovalHelps, undefined);
  assert.deepEqual(notices, ['you may not read it']);
});

test('a signer that is being deleted answers no request, and the explanation shows it', async () => {
  const { signer } = state();
  const metadata = { ...signer.metadata, deletionTimestamp: '2026-11-21T07:00:00Z' };
  const client = recordedClient();
  client.answer(() => ({
    kind: 'ClusterSignerList',
    metadata: {},
    items: [{ ...signer, metadata }],
  }));
  const is = explainSigningRequest(approved, await readSignerView(client, 'example.com/workload'));
  assert.equal(is.state, 'WaitingForSigner');
  assert.match(is.summary, /^ClusterSigner workload is being deleted since 2026-11-21T07:00:00Z/);
  assert.deepEqual(is.remediation, ['kubectl describe clustersigner workload']);
});

test('the names of the cluster are read with the signer', async () => {
  const client = recordedClient();
  client.answer(({ path }) => {
    if (!path.endsWith('/clustersigners')) throw new KubeError({ status: 404, what: path });
    return { kind: 'ClusterSignerList', metadata: {}, items: [state().signer] };
  });
  const view = await readSignerView(client, 'example.com/wrkload');
  assert.deepEqual(view.otherNames, ['example.com/workload']);
});

for (const hidden of ['acmeclustersigners', 'externalclustersigners']) {
  test(`a signer name may be of ${hidden}, which you may not list`, async () => {
    const client = recordedClient();
    client.answer(({ path }) => {
      if (path.endsWith(`/${hidden}`)) throw new KubeError({ status: 403, what: path });
      if (!path.endsWith('/clustersigners')) throw new KubeError({ status: 404, what: path });
      return { kind: 'ClusterSignerList', metadata: {}, items: [state().signer] };
    });
    const is = explainSigningRequest(csr, await readSignerView(client, 'example.com/public'));
    assert.equal(approvalRefusal(is), undefined);
    assert.match(
      is.notices?.join() ?? '',
      /^you may not read the signer of example\.com\/public: /,
    );
    assert.doesNotMatch(is.summary, /no signer in the cluster/);
    assert.match(is.remediation[0] ?? '', new RegExp(`^kubectl auth can-i list ${hidden}\\.`));
    const near = explainSigningRequest(csr, await readSignerView(client, 'example.com/wrkload'));
    assert.match(near.summary, /\(did you mean example\.com\/workload\?\)$/);
    const view = await readSignerView(client, 'example.com/workload');
    assert.equal(view.signer?.metadata.name, 'workload');
  });
}

test('no approval helps a request whose signer serves no requests of its kind', () => {
  const { certificateRequests: _, requests: __, ...spec } = state().signer.spec;
  const signer = { ...state().signer, spec };
  const view = { signerName: spec.signerName, signer, unusable: undefined };
  const pending = certificateRequest({ conditions: [] });
  for (const is of [explainSigningRequest(csr, view), explainCertificateRequest(pending, view)]) {
    assert.equal(is.state, 'WaitingForRule');
    assert.match(approvalRefusal(is) ?? '', /not even approved ones; add spec\./);
    assert.doesNotMatch(is.remediation.join('\n'), /approve/);
  }
  const after = explainSigningRequest(approved, view);
  assert.equal(after.noApprovalHelps, undefined);
});

test('no one is told to add rules that an ExternalClusterSigner cannot have', () => {
  const { certificateRequests: _, ...spec } = state().signer.spec;
  const signer = { ...state().signer, kind: 'ExternalClusterSigner', spec };
  const view = { signerName: spec.signerName, signer, unusable: undefined };
  const is = explainCertificateRequest(certificateRequest({ conditions: [] }), view);
  const said = [is.summary, approvalRefusal(is), ...is.remediation].join('\n');
  assert.match(said, /^ExternalClusterSigner workload does not serve CertificateRequests/);
  assert.doesNotMatch(said, /spec\.certificateRequests/);
  assert.match(said, /spec\.issuerRef/);
});
