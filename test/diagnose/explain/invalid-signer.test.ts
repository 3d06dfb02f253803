// SPDX-License-Identifier: Apache-2.0
/**
 * A request whose signer has an invalid spec, or does not exist, waits for its signer, whether it
 * is approved or not: the CSR API has no answer to an approval but a signature.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Condition } from '#api/request/conditions.ts';
import type { CertificateRequest, IssuerReference } from '#api/request/certificate-request.ts';
import { hintsOf } from '#cli/commands/request/run.ts';
import { explainOrder, withOrder } from '#diagnose/explain/acme.ts';
import { approvalRefusal } from '#diagnose/explain/approval-refusal.ts';
import { explainCertificateRequest } from '#diagnose/explain/certificate-request.ts';
import { explainSigningRequest } from '#diagnose/explain/certificate-signing-request.ts';
import type { Diagnosis } from '#diagnose/explain/explanation.ts';
import { explainPodRequest } from '#diagnose/explain/pods/pod-certificate-request.ts';
import { readNamedSigner } from '#diagnose/explain/read-signer-view.ts';
import type { SignerView } from '#diagnose/explain/signer-view.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { order } from '../../acme/acme/requests/build.ts';
import { made } from '../../ca/policy/request.ts';
import { state } from '../../operations/signer-states.ts';
import { recordedClient, type RecordedClient } from '../../support/kube/recorded-client.ts';
import { certificateRequest } from '../../support/requests/certificate-request.ts';
import { podRequest } from '../../support/requests/pod-certificate-request.ts';

const CEL = 'spec.requests.rules[0].when:1:5: there is no field usernam';
const invalid: Condition = {
  type: 'Ready',
  status: 'False',
  reason: 'InvalidSpec',
  message: CEL,
  observedGeneration: 1,
};
const MISSPELLED = [{ name: 'own', when: 'request.usernam == "a"', allow: {} }];
const view = (
  conditions: readonly Condition[] | undefined,
  spec: Record<string, unknown>,
): SignerView => ({
  signerName: 'example.com/workload',
  signer: state({ spec, ...(conditions === undefined ? {} : { conditions }) }).signer,
  unusable: undefined,
});
const sound = state().signer.spec;
/** The Ready condition of the present spec, and the one of the spec before the change. */
const seen = view([invalid], {});
const unseen = view(undefined, { requests: { ...sound.requests, rules: MISSPELLED } });

const { csr } = made({ usages: ['client auth'] });
const approved = {
  ...csr,
  status: { conditions: [{ type: 'Approved', status: 'True', reason: 'ByHand' } as const] },
};
const pending = certificateRequest({ conditions: [] });
const rules = { certificateRequests: { rules: MISSPELLED } };

const ROWS: readonly (readonly [what: string, is: Diagnosis, says: RegExp])[] = [
  ['a CSR', explainSigningRequest(csr, seen), /ClusterSigner workload is not Ready: InvalidSpec: /],
  ['a CSR before authority looks', explainSigningRequest(csr, unseen), /InvalidSpec: .*usernam/],
  ['an approved CSR', explainSigningRequest(approved, seen), /usernam/],
  ['a PCR', explainPodRequest(podRequest(), seen), /usernam/],
  ['a CertificateRequest', explainCertificateRequest(pending, seen), /usernam/],
  [
    'a CertificateRequest before authority looks',
    explainCertificateRequest(pending, view(undefined, rules)),
    /InvalidSpec: .*usernam/,
  ],
  [
    'an approved CertificateRequest',
    explainCertificateRequest(certificateRequest(), seen),
    /usern/,
  ],
];

for (const [what, is, says] of ROWS) {
  test(`${what} of a signer with an invalid spec waits for the signer`, () => {
    assert.equal(is.state, 'WaitingForSigner');
    assert.match(is.summary, says);
    assert.match(is.remediation[0] ?? '', /^kubectl edit clustersigner workload {3}# correct/);
    assert.doesNotMatch(is.remediation.join('\n'), /approve/);
  });
}

test('a corrected spec is judged by itself, not by the condition before', () => {
  const before = { ...invalid, observedGeneration: 0 };
  assert.notEqual(explainSigningRequest(csr, view([before], {})).state, 'WaitingForSigner');
});

test('a request that waits for a person is also told that its signer is not Ready', () => {
  const missing = { ...invalid, reason: 'SecretNotFound', message: 'no Secret' };
  const unruled = view([missing], { requests: { copy: ['commonName'] } });
  const is = explainSigningRequest(csr, unruled);
  assert.equal(is.state, 'WaitingForApproval');
  assert.match(is.summary, /waits for a person; and ClusterSigner workload is not Ready: SecretN/);
});

test('no one is told to approve a request whose signer serves no such requests', () => {
  const is = explainSigningRequest(csr, view(undefined, { requests: undefined }));
  assert.doesNotMatch(is.remediation.join('\n'), /certificate approve/);
});

const workloads = { ...csr, spec: { ...csr.spec, signerName: 'example.com/workload' } };

const listed = (signer: object | undefined): object => ({
  apiVersion: 'countersign.dev/v1alpha1',
  kind: 'ClusterSignerList',
  metadata: {},
  items: [signer],
});

/** A cluster with these objects by path. Other objects are not found. */
function cluster(objects: Readonly<Record<string, object>>): RecordedClient {
  const client = recordedClient();
  client.answer(({ path }) => {
    const found = objects[path.split('/').at(-1) ?? ''];
    if (found === undefined) throw new KubeError({ status: 404, what: path });
    return found;
  });
  return client;
}

const GROUP = 'countersign.dev';
const referring = (
  request: CertificateRequest,
  issuerRef: IssuerReference,
): CertificateRequest => ({
  ...request,
  spec: { ...request.spec, issuerRef },
});

test('a CertificateRequest of a signer that does not exist waits for it, unapproved', async () => {
  const named = { group: GROUP, kind: 'Signer', name: 'web' };
  const is = explainCertificateRequest(
    referring(pending, named),
    await readNamedSigner(cluster({}), named, 'team-a'),
  );
  assert.equal(is.state, 'WaitingForSigner');
  assert.equal(is.summary, 'there is no Signer team-a/web');
  assert.doesNotMatch(is.remediation.join('\n'), /signerName/);
});

for (const issuerRef of [
  { name: 'workload' },
  { group: 'cert-manager.io', kind: 'Issuer', name: 'workload' },
  { group: 'other.example', kind: 'ClusterSigner', name: 'workload' },
]) {
  const { group = 'no group', kind = 'no kind' } = issuerRef;
  test(`${kind} of ${group} is not judged by the ClusterSigner of the same name`, async () => {
    const certificateRequests = { rules: [{ name: 'all', when: 'true', allow: {} }] };
    const { signer } = view(undefined, { certificateRequests });
    const client = cluster({ workload: signer ?? {} });
    const seenView = await readNamedSigner(client, issuerRef, 'team-a');
    assert.equal(seenView.signer, undefined);
    assert.deepEqual(client.requests, []);
    const ca = { isCA: true };
    const undecided = certificateRequest({ ...ca, conditions: [] });
    const is = explainCertificateRequest(referring(undecided, issuerRef), seenView);
    assert.equal(is.state, 'WaitingForApproval');
    assert.equal(approvalRefusal(is), undefined);
    const after = explainCertificateRequest(referring(certificateRequest(ca), issuerRef), seenView);
    assert.equal(after.state, 'WaitingForComponent');
    assert.match(after.summary, /Countersign does not answer it: its issuer is \w+ workload of /);
  });
}

for (const reason of ['SignerNotFound', 'SignerNotReady']) {
  test(`an Order with ${reason}, and its request, wait for the signer`, () => {
    const of = explainOrder(order(1, { reason, message: 'SpecInvalid: no server' }), []);
    assert.equal(of.state, 'WaitingForSigner');
    const request: Diagnosis = {
      state: 'WaitingForComponent',
      summary: '',
      timeline: [],
      remediation: [],
    };
    assert.equal(withOrder(request, { object: 'order/a', ...of }).state, 'WaitingForSigner');
  });
}

test('countersign request names the fault of the signer, and no approval', async () => {
  const { signer } = seen;
  const client = cluster({ clustersigners: listed(signer) });
  const lines = await hintsOf(client, workloads);
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? '', /InvalidSpec: .*usernam.*countersign explain csr\//);
  assert.doesNotMatch(lines[0] ?? '', /kubectl certificate approve/);
});

test('countersign request still hints at approval where the signer is sound', async () => {
  const { signer } = view(undefined, {});
  const client = cluster({ clustersigners: listed(signer) });
  assert.match((await hintsOf(client, workloads)).join('\n'), /kubectl certificate approve/);
});
