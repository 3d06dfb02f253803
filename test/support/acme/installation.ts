// SPDX-License-Identifier: Apache-2.0
import { join } from 'node:path';
import { DEMO } from '../../../build/demo-installation.ts';
import { renderAdmission, renderRbac } from '#install/render.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { established } from '../../cluster/established.ts';
import { KEYS_NAMESPACE } from '../ca/ca-secret.ts';
import { applyText } from '../cluster/apply.ts';
import { SIGNER_NAME } from './signer.ts';

const ROOT = join(import.meta.dirname, '../../..');

/** The components that there may be for ACME. */
export const ACME_COMPONENTS = ['acme', 'acme-responder', 'acme-solver'] as const;

export interface AcmeInstallation {
  /** Default: all. */
  readonly components?: readonly (typeof ACME_COMPONENTS)[number][];
  /** Default: `example.com/public`. */
  readonly signers?: readonly string[];
  /** Names of the Secrets with account keys and keys of external accounts; default: `account`. */
  readonly accounts?: readonly string[];
  /** Whether `acme` may mark Certificates of cert-manager. */
  readonly renewCertificates?: boolean;
  /** Secrets of AcmeSigners; named, their namespaces are served, too. */
  readonly teamAccounts?: readonly { readonly namespace: string; readonly name: string }[];
  /** Credentials of solvers. */
  readonly solverSecrets?: readonly { readonly namespace: string; readonly name: string }[];
  /** Default: true. Who makes Orders in the place of `acme` goes without the policies. */
  readonly policies?: boolean;
}

/** The namespaces and the definitions of our kinds, as they are shipped. */
export async function applyAcmeKinds(cluster: Cluster): Promise<void> {
  const files = ['clustersigners.yaml', 'signers.yaml', 'acme'];
  const named = files.flatMap((each) => ['-f', join(ROOT, 'deploy/crds', each)]);
  await cluster.kubectl(['apply', '-f', join(ROOT, 'deploy/namespaces.yaml')]);
  await cluster.kubectl(['apply', '--server-side', ...named]);
  await established(cluster, ...named);
}

/**
 * The kinds, and the roles and policies of every component. What grants people their requests is a
 * test's own.
 */
export async function installAcme(cluster: Cluster, wanted: AcmeInstallation = {}): Promise<void> {
  await applyAcmeKinds(cluster);
  const { components = ACME_COMPONENTS, signers = [SIGNER_NAME], accounts = ['account'] } = wanted;
  const { renewCertificates = false, teamAccounts } = wanted;
  const ofKeys = accounts.map((name) => ({ namespace: KEYS_NAMESPACE, name }));
  const secrets = [...ofKeys, ...(teamAccounts ?? [])];
  const installation = {
    ...DEMO,
    acme: { signers, secrets, renewCertificates },
    ...(teamAccounts === undefined ? {} : { namespacedSigners: true }),
    optionalComponents: components,
    ...(wanted.solverSecrets === undefined ? {} : { solverSecrets: wanted.solverSecrets }),
  };
  const policies = wanted.policies === false ? [] : renderAdmission(installation).values();
  const texts = [...renderRbac(installation).values(), ...policies];
  const applied = texts.filter((text) => !text.includes('who-may-request'));
  // One call: what takes the time of kubectl is to start.
  await applyText(cluster, applied.join('\n---\n'));
}
