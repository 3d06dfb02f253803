// SPDX-License-Identifier: Apache-2.0
/**
 * `bundle-endpoint`, which proves itself by an X509-SVID that a signer of the same release issues.
 */
import { X509Certificate } from 'node:crypto';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import { until } from '../cluster/until.ts';
import { apply } from '../support/cluster/apply.ts';
import { ONE, SYSTEM, type Stand } from './stand.ts';

const SIGNER = 'example.com/workload';
const ACCOUNT = 'countersign-bundle-endpoint';
const ASKING = 'asks-for-the-bundle';
const ANCHORS = '/run/anchors';
const WAIT_MS = 120_000;

/**
 * The ID that the rules of the ClusterSigner in the notes give to the component, once they allow
 * it.
 */
export const SVID = `spiffe://cluster.local/ns/${SYSTEM}/sa/${ACCOUNT}`;

/** With the component, and the signer of its SVID. */
export const SERVED = {
  ...ONE,
  components: {
    'bundle-endpoint': {
      enabled: true,
      extraArgs: [`--trust-domain=cluster.local=${SIGNER}`, '--profile=https_spiffe'],
    },
  },
  bundleEndpoint: { svidSigner: SIGNER },
};

/** Lets the ClusterSigner of the notes issue to the component's pods as well. */
export async function allowEndpoint({ cluster }: Stand): Promise<void> {
  const allow = `pod.namespace == 'team-a' || pod.namespace == '${SYSTEM}' && pod.serviceAccount == '${ACCOUNT}'`;
  const patch = JSON.stringify({ spec: { pods: { allow } } });
  await cluster.kubectl(['patch', 'clustersigner', 'workload', '--type=merge', '-p', patch]);
}

/** The subject alternative names of the leaf that a kubelet got for a pod of the component. */
export function issuedNames({ cluster }: Stand): Promise<string> {
  return until('a pod of bundle-endpoint has its SVID', WAIT_MS, async () => {
    const args = ['get', 'podcertificaterequests', '-n', SYSTEM, '-o', 'json'];
    const { items } = JSON.parse((await cluster.kubectl(args)).stdout) as {
      readonly items: readonly PodCertificateRequest[];
    };
    const [chain] = items
      .filter(({ spec }) => spec.serviceAccountName === ACCOUNT)
      .flatMap(({ status }) => status?.certificateChain ?? []);
    if (chain === undefined) throw new Error(JSON.stringify(items.map(({ status }) => status)));
    return new X509Certificate(chain).subjectAltName;
  });
}

/**
 * Connects to the Service for `https_spiffe`, believes the anchors of our bundle alone, and prints
 * who answered and what.
 */
const CLIENT = `
  const { readFileSync } = require('node:fs');
  const https = require('node:https');
  let peer;
  https.get('https://countersign-bundle-endpoint-spiffe.${SYSTEM}.svc/cluster.local/bundle.json', {
    ca: readFileSync('${ANCHORS}/ca.pem', 'utf8'),
    checkServerIdentity: (_, { subjectaltname }) => void (peer = subjectaltname),
  }, async (response) => {
    const { spiffe_sequence: sequence, keys } = await new Response(response).json();
    console.log(JSON.stringify({ peer, status: response.statusCode, hasSequence: sequence > 0, uses: keys.map(({ use }) => use) }));
  });
`;

/** What a pod of another namespace hears at the Service, and from whom. Needs pods that run. */
export async function heardBy({ cluster }: Stand, namespace: string): Promise<unknown> {
  const clusterTrustBundle = { signerName: SIGNER, labelSelector: {}, path: 'ca.pem' };
  await apply(cluster, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name: ASKING },
    spec: {
      automountServiceAccountToken: false,
      restartPolicy: 'OnFailure',
      terminationGracePeriodSeconds: 0,
      containers: [
        {
          name: 'main',
          image: 'registry.k8s.io/pause:3.10',
          command: ['/nodejs/bin/node', '-e', CLIENT],
          volumeMounts: [{ name: 'anchors', mountPath: ANCHORS, readOnly: true }],
        },
      ],
      volumes: [{ name: 'anchors', projected: { sources: [{ clusterTrustBundle }] } }],
    },
  });
  const one = ['-n', namespace, ASKING];
  await until('the pod has heard it', WAIT_MS, async () => {
    const args = ['get', 'pod', ...one, '-o', 'jsonpath={.status.phase}'];
    const { stdout: phase } = await cluster.kubectl(args);
    if (phase === 'Succeeded') return true;
    const { stdout } = await cluster.kubectl(['logs', ...one], { allowFailure: true });
    throw new Error(`${phase}: ${stdout}`);
  });
  return JSON.parse((await cluster.kubectl(['logs', ...one])).stdout);
}
