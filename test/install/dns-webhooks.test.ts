// SPDX-License-Identifier: Apache-2.0
/** `--dns-webhook`: what lets acme-solver ask a DNS provider that was written for cert-manager. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEMO } from '../../build/demo-installation.ts';
import type { Installation } from '#install/installation.ts';
import { checkInstallation } from '#install/installation.ts';
import { linesOf } from './roles.ts';

type Webhook = NonNullable<Installation['dnsWebhooks']>[number];

function added(webhook: Webhook): readonly string[] {
  const before = linesOf('acme-solver');
  const after = linesOf('acme-solver', { ...DEMO, dnsWebhooks: [webhook] });
  return after.filter((line) => !before.includes(line));
}

test('acme-solver may create in the named group, or at one solver of it, only', () => {
  const group = 'acme.provider.example';
  assert.deepEqual(added({ group }), [`create ${group}/*`]);
  assert.deepEqual(added({ group, solver: 'dns' }), [`create ${group}/dns`]);
});

test('no group of Kubernetes, of cert-manager or of ours is a DNS provider', () => {
  for (const group of [
    'apps',
    '',
    'rbac.authorization.k8s.io',
    'apps.kubernetes.io',
    "a'.b",
    'A.example',
    'acme.cert-manager.io',
    'cert-manager.io',
    'countersign.dev',
    'acme.countersign.dev',
  ])
    assert.throws(
      () => checkInstallation({ ...DEMO, dnsWebhooks: [{ group }] }),
      { code: 'USAGE' },
      group,
    );
  const wrong = { group: 'acme.provider.example', solver: 'a/b' };
  assert.throws(() => checkInstallation({ ...DEMO, dnsWebhooks: [wrong] }), { code: 'USAGE' });
});
