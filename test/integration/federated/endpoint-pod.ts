// SPDX-License-Identifier: Apache-2.0
/**
 * The X509-SVID of `bundle-endpoint`, by the signer of its own trust domain, as a kubelet keeps it.
 */
import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DEMO_SIGNERS } from '../../../build/demo-installation.ts';
import { planOf } from '#install/values/plan.ts';
import { deployment } from '#install/workloads/deployment.ts';
import { fingerprint } from '#pki/x509/certificate.ts';
import { readAnchors } from '#pki/x509/trust-bundle.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { until } from '../../cluster/until.ts';
import { apply } from '../../support/cluster/apply.ts';
import { SYSTEM_NAMESPACE } from '../../support/cluster/installation.ts';

const MOUNT_MS = 120_000;

/**
 * Makes a pod with the volume of the chart, and waits for its files. @returns the volume's
 * directory on the node
 */
export async function mountSvid(
  cluster: Cluster,
  name: string,
  signerName: string,
): Promise<string> {
  const container = {
    name: 'main',
    image: 'registry.k8s.io/pause:3.10',
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
    volumeMounts: [{ name: 'svid', mountPath: '/run/countersign/svid', readOnly: true }],
  };
  await apply(cluster, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: SYSTEM_NAMESPACE, name },
    spec: {
      serviceAccountName: 'countersign-bundle-endpoint',
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 0,
      nodeSelector: { 'kubernetes.io/hostname': 'node-1' },
      securityContext: {
        runAsNonRoot: true,
        runAsUser: 65532,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      containers: [container],
      volumes: [svidVolume(signerName)],
    },
  });
  const { stdout: uid } = await cluster.kubectl([
    'get',
    'pod',
    name,
    '-n',
    SYSTEM_NAMESPACE,
    '-o',
    'jsonpath={.metadata.uid}',
  ]);
  const node = cluster.nodes.find((each) => each.name === 'node-1');
  const volumes = join(node?.rootDirectory ?? '', 'pods', uid, 'volumes');
  const directory = join(volumes, 'kubernetes.io~projected', 'svid');
  await until(`${name} has its SVID`, MOUNT_MS, () => existsSync(join(directory, 'tls.crt')));
  return directory;
}

/** As the chart has it. */
function svidVolume(signerName: string): object {
  const values = {
    signers: DEMO_SIGNERS,
    components: { 'bundle-endpoint': { enabled: true } },
    bundleEndpoint: { svidSigner: signerName },
  };
  const plan = planOf(values, { namespace: 'default', version: '0.0.0' });
  const { spec } = deployment('bundle-endpoint', plan) as {
    readonly spec: {
      readonly template: { readonly spec: { readonly volumes: readonly Volume[] } };
    };
  };
  const found = spec.template.spec.volumes.find(({ name }) => name === 'svid');
  if (found === undefined) throw new Error('bundle-endpoint has no volume svid');
  return found;
}

interface Volume {
  readonly name: string;
}

/**
 * Which anchor signed the leaf in a file. @param anchors - PEM @returns its fingerprint; '' if none
 * did
 */
export function issuerOf(file: string, anchors: string): string {
  const leaf = new X509Certificate(readFileSync(file));
  const found = readAnchors(anchors).find(({ raw }) =>
    leaf.verify(new X509Certificate(raw).publicKey),
  );
  return found === undefined ? '' : fingerprint(found.raw);
}
