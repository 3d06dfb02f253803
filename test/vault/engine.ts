// SPDX-License-Identifier: Apache-2.0
/** Engines of a real Vault below a company's root, and the login of components. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Cluster } from '../cluster/cluster.ts';
import { apply } from '../support/cluster/apply.ts';
import type { Vault } from './server.ts';

function openssl(...args: readonly string[]): void {
  const { status, stderr } = spawnSync('openssl', args, { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
}

/** A root for ten years: `root.key` and `root.crt` of the directory. */
export function makeRoot(directory: string): void {
  const at = (name: string): string => join(directory, name);
  openssl('ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', at('root.key'));
  const root = ['-x509', '-key', at('root.key'), '-days', '3650', '-subj', '/CN=Company root'];
  const usages = ['-addext', 'keyUsage=critical,keyCertSign,cRLSign'];
  openssl('req', ...root, ...usages, '-out', at('root.crt'));
}

/** A secrets engine with an intermediate that the root signs for ten years less a day. */
export async function makeEngine(
  vault: Vault,
  directory: string,
  mount: string,
  pathLength: number,
): Promise<void> {
  const at = (name: string): string => join(directory, name);
  await vault.call('POST', `sys/mounts/${mount}`, {
    type: 'pki',
    config: { max_lease_ttl: '175200h' },
  });
  const made = await vault.call('POST', `${mount}/intermediate/generate/internal`, {
    common_name: `Vault ${mount}`,
    key_type: 'ec',
    key_bits: 256,
  });
  writeFileSync(at(`${mount}.csr`), String(made['csr']));
  writeFileSync(
    at(`${mount}.ext`),
    [
      `basicConstraints = critical, CA:TRUE, pathlen:${pathLength}`,
      'keyUsage = critical, keyCertSign, cRLSign',
      'subjectKeyIdentifier = hash',
      'authorityKeyIdentifier = keyid',
      '',
    ].join('\n'),
  );
  const by = ['-CA', at('root.crt'), '-CAkey', at('root.key'), '-CAcreateserial'];
  const what = ['-in', at(`${mount}.csr`), '-days', '3649', '-extfile', at(`${mount}.ext`)];
  openssl('x509', '-req', ...what, ...by, '-out', at(`${mount}.crt`));
  const chain = [`${mount}.crt`, 'root.crt'].map((each) => readFileSync(at(each), 'utf8'));
  await vault.call('POST', `${mount}/intermediate/set-signed`, { certificate: chain.join('') });
}

/** As docs/how-to/vault.md says, with a reviewer's token, since Vault is outside of the cluster. */
export async function letLogIn(
  vault: Vault,
  cluster: Cluster,
  { component, role, policy }: Record<'component' | 'role' | 'policy', string>,
): Promise<void> {
  await apply(
    cluster,
    {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { namespace: 'team-a', name: 'vault' },
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'vault-reviews-tokens' },
      roleRef: {
        apiGroup: 'rbac.authorization.k8s.io',
        kind: 'ClusterRole',
        name: 'system:auth-delegator',
      },
      subjects: [{ kind: 'ServiceAccount', namespace: 'team-a', name: 'vault' }],
    },
  );
  const reviewer = await cluster.kubectl(['create', 'token', 'vault', '-n', 'team-a']);
  const view = ['config', 'view', '--raw', '--minify', '--flatten', '-o', 'json'];
  const { clusters } = JSON.parse((await cluster.kubectl(view)).stdout) as {
    readonly clusters: readonly [{ readonly cluster: Readonly<Record<string, string>> }];
  };
  const { server, 'certificate-authority-data': ca = '' } = clusters[0].cluster;
  await vault.call('POST', 'sys/auth/kubernetes', { type: 'kubernetes' });
  await vault.call('POST', 'auth/kubernetes/config', {
    kubernetes_host: server,
    kubernetes_ca_cert: Buffer.from(ca, 'base64').toString(),
    token_reviewer_jwt: reviewer.stdout.trim(),
    disable_local_ca_jwt: true,
  });
  await vault.call('PUT', `sys/policies/acl/${role}`, { policy });
  await vault.call('POST', `auth/kubernetes/role/${role}`, {
    bound_service_account_names: `countersign-${component}`,
    bound_service_account_namespaces: 'countersign-system',
    audience: vault.url,
    token_policies: role,
    token_ttl: '5m',
  });
}

/** What the kubelet would project for this audience. */
export async function tokenFor(
  cluster: Cluster,
  component: string,
  audience: string,
): Promise<string> {
  const of = [`countersign-${component}`, '-n', 'countersign-system', '--audience', audience];
  const { stdout } = await cluster.kubectl(['create', 'token', ...of]);
  return stdout.trim();
}
