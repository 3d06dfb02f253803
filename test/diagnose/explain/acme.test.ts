// SPDX-License-Identifier: Apache-2.0
/**
 * What `countersign explain` says of ACME signers, their Orders and Challenges, and of requests
 * that wait for them.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readChallengeObject, type Challenge } from '#api/acme/challenge.ts';
import {
  explainAcmeSigner,
  explainChallenge,
  explainOrder,
  withOrder,
} from '#diagnose/explain/acme.ts';
import { explainCertificateRequest } from '#diagnose/explain/certificate-request.ts';
import { explainSigningRequest } from '#diagnose/explain/certificate-signing-request.ts';
import type { Explanation, Diagnosis } from '#diagnose/explain/explanation.ts';
import type { SignerView } from '#diagnose/explain/signer-view.ts';
import { order, SIGNER } from '../../acme/acme/requests/build.ts';
import { made } from '../../ca/policy/request.ts';
import { certificateRequest } from '../../support/requests/certificate-request.ts';

function challenge(status: Partial<Challenge['status']>, wildcard = false): Challenge {
  return readChallengeObject({
    apiVersion: 'acme.countersign.dev/v1alpha1',
    kind: 'Challenge',
    metadata: {
      namespace: 'team-a',
      name: 'web-1-0',
      uid: 'c',
      resourceVersion: '1',
      creationTimestamp: '2026-11-22T12:00:00Z',
    },
    spec: {
      signerRef: { kind: 'AcmeClusterSigner', name: 'public' },
      orderRef: { name: 'web-1', uid: 'u' },
      authorizationURL: 'https://acme.example/a',
      url: 'https://acme.example/c',
      type: 'dns-01',
      token: 't',
      key: 'k',
      dnsName: 'a.example',
      solver: 'dns',
      wildcard,
    },
    status,
  });
}

const part = (is: Diagnosis): Explanation => ({
  object: 'order.acme.countersign.dev/web-1',
  ...is,
});
const waits = { reason: 'RateLimited', message: 'too many', nextAttemptAt: '2026-11-22T13:00:00Z' };

const CASES: readonly (readonly [
  what: string,
  is: Diagnosis,
  state: Diagnosis['state'],
  says: RegExp,
])[] = [
  [
    'an Order that waits says why and until when',
    explainOrder(order(1, { state: 'pending', ...waits }), []),
    ...(['WaitingForServer', /pending: RateLimited: too many/] as const),
  ],
  [
    'an Order that is new is queued',
    explainOrder(order(1), []),
    ...(['WaitingForServer', /the Order is queued/] as const),
  ],
  [
    'an Order that ended is followed by another',
    explainOrder(order(1, { state: 'invalid', reason: 'ChallengeFailed', message: 'no' }), []),
    ...(['Failed', /ended as invalid: ChallengeFailed: no/] as const),
  ],
  [
    'an Order that failed is the last one',
    explainOrder(order(1, { state: 'failed', reason: 'BadCsr', message: 'no' }), []),
    ...(['Failed', /ended as failed: BadCsr: no/] as const),
  ],
  [
    'an Order that ended well has its certificate',
    explainOrder(order(1, { state: 'valid', certificate: 'x' }), []),
    ...(['Issued', /it has its certificate/] as const),
  ],
  [
    'a Challenge without a slot waits for one',
    explainChallenge(challenge({})),
    ...(['WaitingForComponent', /waits for a slot/] as const),
  ],
  [
    'a Challenge that its solver cannot present says what the solver says',
    explainChallenge(
      challenge({
        processing: true,
        state: 'pending',
        reason: 'Presenting',
        solver: { presented: false, reason: 'ProviderForbidden', message: 'grant it' },
      }),
    ),
    ...(['WaitingForServer', /ProviderForbidden: grant it/] as const),
  ],
  [
    'a Challenge that is presented says what the look at the name says',
    explainChallenge(
      challenge({
        processing: true,
        presented: true,
        state: 'pending',
        reason: 'SelfCheckFailed',
        message: 'ns1 differs',
        solver: { presented: true },
      }),
    ),
    ...(['WaitingForServer', /is presented: SelfCheckFailed: ns1 differs/] as const),
  ],
  [
    'a wildcard is named as one, and a proved name as proved',
    explainChallenge(challenge({ state: 'valid' }, true)),
    ...(['Ready', /\*\.a\.example.* is proved/] as const),
  ],
  [
    'a refused authorization is final',
    explainChallenge(challenge({ state: 'invalid', reason: 'Unauthorized', message: 'no' })),
    ...(['Failed', /authorization is invalid: Unauthorized: no/] as const),
  ],
  [
    'an ACME signer that is Ready names its server',
    explainAcmeSigner(SIGNER),
    ...(['Ready', /serves example\.com\/public by https:/] as const),
  ],
  [
    'an ACME signer that nobody looked at waits for acme',
    explainAcmeSigner({ ...SIGNER, status: {} }),
    ...(['NotReady', /acme has not looked at it yet/] as const),
  ],
];

for (const [what, is, state, says] of CASES) {
  test(what, () => {
    assert.equal(is.state, state, is.summary);
    assert.match(is.summary, says);
    assert.ok(is.remediation.length > 0 || ['Ready', 'Issued'].includes(state));
  });
}

const ENDS: readonly (readonly [reason: string, says: RegExp])[] = [
  ['ChallengeFailed', /^another Order follows by itself, after a minute at first/],
  ['WrongCertificate', /^no other Order follows until its signer changes.*delete the Order:$/],
  ['CaUnusable', /^the signer tries the CA again after 1 to 24 hours.*delete the Order:$/],
];
for (const [reason, says] of ENDS) {
  test(`an Order that ended as ${reason} says when another follows`, () => {
    const { remediation } = explainOrder(order(1, { state: 'invalid', reason }), []);
    assert.match(remediation[0] ?? '', says);
    assert.match(remediation[1] ?? '', /^kubectl delete order\.acme\.countersign\.dev web-1 -n /);
  });
}

test('when an Order is tried again is next', () => {
  const { next } = explainOrder(order(1, { state: 'pending', ...waits }), []);
  assert.deepEqual(next, { what: 'it is tried again', at: waits.nextAttemptAt });
});

const RULES = {
  rules: [{ name: 'own', when: 'true', allow: { dnsNames: 'true', usages: ['server auth'] } }],
};
const { csr } = made({ usages: ['server auth'], subject: [], dnsNames: ['a.example'] });
const APPROVED = { conditions: [{ type: 'Approved', status: 'True' as const }] };

/** As readAcmeSigner fills it in. */
function view(spec: object): SignerView {
  return {
    signerName: 'example.com/public',
    signer: { ...SIGNER, spec: { ...SIGNER.spec, ...spec } },
    unusable: undefined,
  };
}

test('an approved request of an ACME signer waits for acme, then as its Order does', () => {
  const alone = explainSigningRequest({ ...csr, status: APPROVED }, view({}));
  assert.equal(alone.state, 'WaitingForComponent');
  assert.match(alone.summary, /acme makes an Order/);
  assert.deepEqual(withOrder(alone, undefined), alone);
  const ordered = withOrder(
    alone,
    part(explainOrder(order(1, { state: 'pending', ...waits }), [])),
  );
  assert.equal(ordered.state, 'WaitingForServer');
  assert.match(ordered.summary, /web-1: .*RateLimited/);
  assert.equal(ordered.next?.at, waits.nextAttemptAt);
  assert.equal(ordered.parts?.length, 1);
});

test('an attempt that failed is not the end of its request, which has another one', () => {
  const alone = explainSigningRequest({ ...csr, status: APPROVED }, view({}));
  const failed = part(explainOrder(order(1, { state: 'invalid', reason: 'X' }), []));
  assert.equal(withOrder(alone, failed).state, 'WaitingForServer');
});

test('a CertificateRequest that no rule of its ACME signer allows has no Order', () => {
  const refused = explainCertificateRequest(
    certificateRequest({ dnsNames: ['evil.example'] }),
    view({
      certificateRequests: {
        rules: [{ name: 'own', when: 'true', allow: { dnsNames: "self == 'web'" } }],
      },
    }),
  );
  assert.equal(refused.state, 'WaitingForRule');
  assert.match(refused.summary, /AcmeClusterSigner .*evil\.example/);
  assert.deepEqual(withOrder(refused, part(explainOrder(order(1), []))), refused);
});

test('a CSR that a rule of an ACME signer allows waits for approver', () => {
  const diagnosis = explainSigningRequest(csr, view({ requests: RULES }));
  assert.equal(diagnosis.state, 'WaitingForComponent', diagnosis.summary);
  assert.match(diagnosis.summary, /approver/);
});
