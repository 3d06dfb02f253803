// SPDX-License-Identifier: Apache-2.0
import { findCondition, type Condition } from '#api/request/conditions.ts';
import type { AcmeSigner } from '#api/acme/acme-signer.ts';
import { generatePrivateKey } from '#pki/keys/private-key.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { until } from '../../cluster/until.ts';
import { KEYS_NAMESPACE } from '../ca/ca-secret.ts';

/** The signer of tests that have one only: an AcmeClusterSigner named `public`. */
export const SIGNER_NAME = 'example.com/public';

const READY_MS = 120_000;

export interface AcmeSignerWanted {
  /** Default: `public`. */
  readonly name?: string;
  /** Default: `example.com/<name>`. */
  readonly signerName?: string;
  /** Where the ACME server's directory is, and the PEM of who certified that address. */
  readonly server: { readonly directory: string; readonly ca: string };
  /** Name of the Secret with the account key; default: `account`. */
  readonly account?: string;
  readonly solvers: readonly object[];
  /** Further members of `spec.acme`. */
  readonly acme?: object;
  /** Further members of `spec`. */
  readonly spec?: object;
}

/** An AcmeClusterSigner whose terms are agreed to. */
export function acmeClusterSigner(wanted: AcmeSignerWanted): object {
  const { name = 'public', account = 'account', server, solvers } = wanted;
  const { signerName = `example.com/${name}`, acme, spec } = wanted;
  return {
    apiVersion: 'acme.countersign.dev/v1alpha1',
    kind: 'AcmeClusterSigner',
    metadata: { name },
    spec: {
      signerName,
      acme: {
        server: server.directory,
        caBundle: server.ca,
        termsOfServiceAgreed: true,
        accountKey: { secret: { name: account } },
        solvers,
        ...acme,
      },
      ...spec,
    },
  };
}

/**
 * A new account key with its owner's consent to the signer, as `countersign account-key` makes it.
 */
export async function accountSecret(signerName = SIGNER_NAME, name = 'account'): Promise<object> {
  const { pem } = await generatePrivateKey('ECDSAP256');
  const annotations = { 'countersign.dev/signer-name': signerName };
  const metadata = { name, namespace: KEYS_NAMESPACE, annotations };
  return { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { 'tls.key': pem } };
}

export async function getAcmeSigner(cluster: Cluster, name = 'public'): Promise<AcmeSigner> {
  const found = await cluster.kubectl(['get', 'acmeclustersigner', name, '-o', 'json']);
  const signer = JSON.parse(found.stdout) as AcmeSigner & { readonly status?: object };
  return { ...signer, status: { ...signer.status } };
}

/** The condition `Ready` once it is of that status. */
export function waitForAcmeSigner(
  cluster: Cluster,
  name = 'public',
  status = 'True',
): Promise<Condition> {
  return until(`AcmeClusterSigner ${name} is ${status}`, READY_MS, async () => {
    const signer = await getAcmeSigner(cluster, name);
    const ready = findCondition(signer.status.conditions, 'Ready');
    if (ready?.status === status) return ready;
    throw new Error(JSON.stringify(signer.status));
  });
}
