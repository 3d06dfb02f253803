// SPDX-License-Identifier: Apache-2.0
/** An installation names the servers of Vault that may sign its managed CAs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEMO } from '../../build/demo-installation.ts';
import { admissionDifferences } from '#install/admission/compare.ts';
import { COMPONENTS } from '#install/component-list.ts';
import { deployment } from '#install/workloads/deployment.ts';
import { planOf } from '#install/values/plan.ts';
import { printedAdmission } from '../support/install/printed-admission.ts';

const VAULT = 'https://vault.example.com:8200';
const BAO = 'https://bao.example.com';
const RELEASE = { namespace: 'countersign-system', version: '1.0.0' };

/** The pod of a component's Deployment. */
function podOf(component: Parameters<typeof deployment>[0], upstreamVaults: readonly string[]) {
  const values = { signers: [{ name: 'example.com/a' }], upstreamVaults };
  const { spec } = deployment(component, planOf(values, RELEASE)) as unknown as {
    readonly spec: {
      readonly template: {
        readonly spec: {
          readonly volumes: readonly { readonly name: string }[];
          readonly containers: readonly [
            {
              readonly args: readonly string[];
              readonly volumeMounts: readonly { readonly name: string }[];
            },
          ];
        };
      };
    };
  };
  const { containers, volumes } = spec.template.spec;
  const [{ args, volumeMounts }] = containers;
  return { args, volumes, volumeMounts };
}

test('authority gets a token for each server, whose audience is that server alone', () => {
  const { args, volumes, volumeMounts } = podOf('authority', [VAULT, BAO]);
  const directory = '/run/countersign/vault';
  assert.deepEqual(
    args.filter((each) => each.startsWith('--upstream-vault')),
    [`--upstream-vault=${VAULT}=${directory}/0`, `--upstream-vault=${BAO}=${directory}/1`],
  );
  const token = (audience: string, path: string): object => ({
    serviceAccountToken: { audience, expirationSeconds: 600, path },
  });
  assert.deepEqual(
    volumes.filter(({ name }) => name === 'vault'),
    [{ name: 'vault', projected: { sources: [token(VAULT, '0'), token(BAO, '1')] } }],
  );
  assert.deepEqual(
    volumeMounts.filter(({ name }) => name === 'vault'),
    [{ name: 'vault', mountPath: directory, readOnly: true }],
  );
});

test('no other component, and no installation without a server, has such a token', () => {
  const all = [...COMPONENTS]
    .filter(([, { optional }]) => optional === undefined)
    .map(([component]) => component);
  const having = (servers: readonly string[]): readonly string[] =>
    all.filter((each) => JSON.stringify(podOf(each, servers)).includes('vault'));
  assert.deepEqual(having([VAULT]), ['authority']);
  assert.deepEqual(having([]), []);
});

for (const wrong of [
  'http://vault.example.com',
  'https://vault.example.com/',
  'https://Vault.example.com',
  'https://user:password@vault.example.com',
  'https://vault.example.com=/run/countersign',
  'https://vault.example.com:0',
]) {
  test(`rejects the server ${wrong}`, () => {
    assert.throws(() => podOf('authority', [wrong]), /upstreamVaults/);
  });
}

test('rejects a server that is listed twice', () => {
  assert.throws(() => podOf('authority', [VAULT, BAO, VAULT]), /upstreamVaults\[2\]: .* twice/);
});

test('the policy for secrets engines is the one that rbac prints', () => {
  const name = 'countersign-cluster-signer-vaults';
  const live = printedAdmission().get(name);
  assert.ok(live !== undefined);
  assert.match(JSON.stringify(live), /resource\('vaultengines'\)/);
  const context = { namespace: DEMO.namespace, secretNamespace: 'keys', signerNames: [] };
  assert.deepEqual(admissionDifferences(name, live, context), []);
});
