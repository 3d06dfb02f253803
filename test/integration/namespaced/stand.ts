// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { DEMO } from '../../../build/demo-installation.ts';
import { renderAdmission, renderRbac } from '#install/render.ts';
import { applyCrds } from '../../certmanager/crds.ts';
import { startCluster, type Cluster } from '../../cluster/cluster.ts';
import { until } from '../../cluster/until.ts';
import { allowCertificateRequesters } from '../../support/cluster/requests/certificate-request.ts';
import { BUNDLE } from '../../support/cluster/countersign.ts';
import type { ComponentProcess } from '../../support/cluster/component-process.ts';
import {
  applyManifests,
  startComponents,
  type Installation,
} from '../../support/cluster/installation.ts';
import { createPod, createTeam } from '../../support/cluster/pods.ts';
import { allowRequesters, createCsr } from '../../support/cluster/requests/csr.ts';
import { applyText } from '../../support/cluster/apply.ts';

export const SOON = 120_000;
const SERVING = ['approver', 'signer', 'pcr-issuer', 'certificate-request', 'authority'] as const;
/** The Signer of most tests, and its name. */
export const WEB = { namespace: 'team-a', name: 'web' };
export const SIGNER_NAME = 'signers.countersign.dev/team-a.web';
/** Of team-c nothing is granted. */
export const OPTED_IN = {
  ...DEMO,
  namespacedSigners: true,
  signerSecrets: ['team-a', 'team-b', 'team-d'].map((namespace) => ({
    namespace,
    name: 'team-ca',
  })),
};

/** A cluster with teams in it, and the components that serve Signers. */
export interface Stand {
  readonly cluster: Cluster;
  /** Starts the components, each with these flags. */
  start(args?: readonly string[]): Promise<void>;
  stopComponents(): Promise<void>;
  components(): readonly ComponentProcess[];
  everybodyIsReady(): Promise<void>;
  /** The roles, and the policy for pods, with the opt-in. */
  applyRoles(): Promise<void>;
  createPod(namespace: string, name: string, signerName?: string): Promise<void>;
  createCsr(signerName?: string, organizations?: readonly string[]): Promise<string>;
  /** The notes of an object's Events with this reason, once there is one. */
  noted(name: string, reason: string, namespace?: string): Promise<string>;
  stop(): Promise<void>;
}

export async function startStand(): Promise<Stand> {
  const cluster = await startCluster({ version: '1.37' });
  let installation: Installation | undefined;
  const stopComponents = async (): Promise<void> => {
    await installation?.stop();
    installation = undefined;
  };
  const stop = async (): Promise<void> => {
    await stopComponents();
    await cluster.stop();
  };
  try {
    await prepare(cluster);
  } catch (error) {
    await stop();
    throw error;
  }
  const components = (): readonly ComponentProcess[] =>
    Object.values(installation?.components ?? {});
  return {
    cluster,
    start: async (args = []) => {
      const program = [process.execPath, BUNDLE];
      installation = await startComponents(cluster, { only: SERVING, program, args });
    },
    stopComponents,
    components,
    everybodyIsReady: async () => {
      for (const each of components()) {
        const { status, text } = await each.readyz();
        assert.equal(status, 200, `${each.name}: ${text}`);
      }
    },
    applyRoles: async () => {
      const texts = [
        ...renderRbac(OPTED_IN).values(),
        renderAdmission(OPTED_IN).get('pod-certificate-requests.yaml') ?? '',
      ];
      await applyText(cluster, texts.join('---\n'));
    },
    createPod: async (namespace, name, signerName = SIGNER_NAME) => {
      const wanted = { serviceAccount: 'web', node: 'node-1', keyType: 'ED25519' };
      await createPod(cluster, { ...wanted, namespace, name, signerName, trustBundle: false });
    },
    createCsr: (signerName = SIGNER_NAME, organizations = []) =>
      createCsr(cluster, { signerName, organizations }),
    noted: (name, reason, namespace = 'default') =>
      until(`Event ${reason} about ${name}`, SOON, async () => {
        const selector = `regarding.name=${name},reason=${reason}`;
        const { stdout } = await cluster.kubectl([
          'get',
          'events.events.k8s.io',
          '-n',
          namespace,
          '--field-selector',
          selector,
          '-o',
          'jsonpath={.items[*].note}',
        ]);
        return stdout === '' ? undefined : stdout;
      }),
    stop,
  };
}

async function prepare(cluster: Cluster): Promise<void> {
  await applyManifests(cluster);
  for (const namespace of ['team-a', 'team-b', 'team-c', 'team-d']) {
    await createTeam(cluster, namespace, ['web']);
  }
  await applyCrds(cluster);
  await allowCertificateRequesters(cluster);
  await allowRequesters(cluster);
}

/** Where a CertificateRequest goes that is for a Signer. */
export function issuerRef(name = 'web'): { readonly kind: string; readonly name: string } {
  return { kind: 'Signer', name };
}

export function leafOf(chain: string): X509Certificate {
  return new X509Certificate(chain);
}

/** Whether this CA signed it. */
export function isOf(leaf: X509Certificate, ca: string): boolean {
  const issuer = new X509Certificate(ca);
  return leaf.checkIssued(issuer) && leaf.verify(issuer.publicKey);
}

let shared: Promise<Stand> | undefined;

/** The one stand of a run: the files of tests that share it ask for it each. */
export function theStand(): Promise<Stand> {
  return (shared ??= startStand());
}
