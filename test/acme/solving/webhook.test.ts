// SPDX-License-Identifier: Apache-2.0
/**
 * The solver for providers of cert-manager: what is sent, and what is made of answers. A real one
 * is in webhook-run.ts.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createWebhookSolver } from '#acme/solving/dns01/webhook.ts';
import type { AskDns } from '#acme/solving/dns/client.ts';
import type { SolverOutcome } from '#acme/solving/solver.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import type { RequestInit } from '#kube/client/client.ts';
import { challengeFor, contextWith, openHttp } from './solver-context.ts';

const SETTINGS = {
  groupName: 'acme.provider.example',
  solverName: 'dns',
  config: { zone: 'z', apiKeySecretRef: { name: 's' }, resourceNamespace: 'kube-system' },
};
const never = new AbortController().signal;
const http = openHttp();
after(() => http.close());

const ask: AskDns = (_server, { name, type }) => {
  const soa = { name: 'example.net', type: 'SOA', value: 'ns' } as const;
  const cname = { name, type: 'CNAME', value: 'x.example.net' } as const;
  return Promise.resolve({
    kind: 'answer',
    rcode: 'NOERROR',
    authoritative: false,
    truncated: false,
    answers: name.startsWith('_acme-challenge.') ? [cname] : [],
    authority: type === 'SOA' ? [soa] : [],
  });
};

async function attempt(
  respond: (request: RequestInit) => unknown,
  what: 'present' | 'cleanUp' = 'present',
): Promise<{ outcome: SolverOutcome; sent: RequestInit | undefined }> {
  let sent: RequestInit | undefined;
  const base = contextWith(http, ['r'], {});
  const request = <T>(init: RequestInit): Promise<T> => {
    sent = init;
    return Promise.resolve().then(() => respond(init) as T);
  };
  const context = { ...base, ask, client: { ...base.client, request } };
  const solver = createWebhookSolver(SETTINGS, context);
  const outcome = await solver[what](challengeFor('example.com', 'value', true), never);
  return { outcome, sent };
}

async function problemOf(respond: () => unknown): Promise<string> {
  const { outcome } = await attempt(respond);
  return outcome.kind === 'problem' ? `${outcome.reason}: ${outcome.message}` : outcome.kind;
}

test('the payload is cert-manager’s, and the credentials namespace ignores the config', async () => {
  const { outcome, sent } = await attempt(() => ({ response: { uid: 'value', success: true } }));
  assert.deepEqual(outcome, {
    kind: 'done',
    at: '_acme-challenge.example.com (CNAME to x.example.net)',
  });
  assert.equal(sent?.method, 'POST');
  assert.equal(sent.path, '/apis/acme.provider.example/v1alpha1/dns');
  assert.equal(sent.isAggregated, true, 'the clock of a provider counts for nothing');
  assert.deepEqual(sent.body, {
    apiVersion: 'webhook.acme.cert-manager.io/v1alpha1',
    kind: 'ChallengePayload',
    request: {
      action: 'Present',
      uid: 'value',
      type: 'dns-01',
      dnsName: '*.example.com',
      key: 'value',
      resolvedFQDN: 'x.example.net.',
      resolvedZone: 'example.net.',
      allowAmbientCredentials: false,
      resourceNamespace: 'countersign-dns',
      config: SETTINGS.config,
    },
  });
  const cleaned = await attempt(() => ({ response: { success: true } }), 'cleanUp');
  assert.equal((cleaned.sent?.body as { request: { action: string } }).request.action, 'CleanUp');
});

test('what goes wrong is said with what to do', async () => {
  const provider = 'the provider acme.provider.example/"dns"';
  const failing = (status: number) => () => {
    throw new KubeError({ status, what: 'POST /apis', body: { message: 'no\u202e' } });
  };
  for (const [respond, says] of [
    [
      () => ({ response: { success: false, status: { message: 'no zone\n' } } }),
      `ProviderRefused: ${provider} could not do it: "no zone\\n"`,
    ],
    [() => ({}), `ProviderUnusable: ${provider} answers no ChallengePayload with a response`],
    [
      failing(403),
      `ProviderForbidden: ${provider} was not called: POST /apis: 403: no\\u{202e}; an administrator adds acme.provider.example to acme.dnsWebhooks in the values of the installation (without values: --dns-webhook acme.provider.example, beside all flags that countersign rbac got before, because its output replaces the roles)`,
    ],
    [
      failing(404),
      `ProviderMissing: ${provider} was not called: POST /apis: 404: no\\u{202e}; install the provider, or correct webhook.groupName or solverName`,
    ],
    [failing(503), `ProviderUnavailable: ${provider} was not called: POST /apis: 503: no\\u{202e}`],
  ] as const)
    assert.equal(await problemOf(respond), says);
});
