// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import type { Cluster } from '../cluster/cluster.ts';
import { until } from '../cluster/until.ts';
import { createTeam } from '../support/cluster/pods.ts';
import { apply } from '../support/cluster/apply.ts';
import { NODE } from './shipped.ts';

const TEAM = 'team-mtls';
const IDENTITY = '/run/identity';
const PORT = 8443;

const spiffe = (serviceAccount: string): string =>
  `spiffe://cluster.local/ns/${TEAM}/sa/${serviceAccount}`;

const FILES = `const { readFileSync, readdirSync, existsSync } = require('node:fs');
  const bundle = readFileSync('${IDENTITY}/credentials.pem', 'utf8');
  const own = { key: bundle, cert: bundle, ca: readFileSync('${IDENTITY}/trust-bundle.pem', 'utf8'), minVersion: 'TLSv1.3' };`;

const SERVER = `${FILES}
  require('node:tls').createServer({ ...own, requestCert: true, rejectUnauthorized: true }, (socket) => {
    socket.on('error', () => undefined);
    socket.end('hello, ' + socket.getPeerX509Certificate().subjectAltName);
  }).listen(${PORT})`;

/** Prints what it heard, from whom, and whether it has a token that it does not need. */
const client = (address: string): string => `${FILES}
  const socket = require('node:tls').connect({ ...own, host: '${address}', port: ${PORT},
    checkServerIdentity: (_, { subjectaltname }) => subjectaltname === 'URI:${spiffe('web')}' ? undefined : new Error(subjectaltname) });
  let heard = '';
  socket.on('data', (text) => (heard += text));
  socket.on('close', () => console.log(JSON.stringify({ heard, token: existsSync('/var/run/secrets/kubernetes.io/serviceaccount') })))`;

/** A pod with a credential of its own and without a token of the API server. */
function workload(name: string, script: string, container: object = {}): object {
  const signerName = 'example.com/workload';
  const podCertificate = {
    signerName,
    keyType: 'ED25519',
    credentialBundlePath: 'credentials.pem',
  };
  const clusterTrustBundle = { signerName, labelSelector: {}, path: 'trust-bundle.pem' };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: TEAM, name },
    spec: {
      serviceAccountName: name,
      automountServiceAccountToken: false,
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 0,
      securityContext: { runAsNonRoot: true, runAsUser: 65532, runAsGroup: 65532 },
      containers: [
        {
          name: 'main',
          image: NODE,
          args: ['-e', script],
          volumeMounts: [{ name: 'identity', mountPath: IDENTITY, readOnly: true }],
          securityContext: { readOnlyRootFilesystem: true },
          ...container,
        },
      ],
      volumes: [
        { name: 'identity', projected: { sources: [{ podCertificate }, { clusterTrustBundle }] } },
      ],
    },
  };
}

/**
 * Two pods, each with the identity of its ServiceAccount, by nothing but their files and addresses.
 */
export async function mutualTls(cluster: Cluster, tell: (line: string) => void): Promise<void> {
  const inTeam = ['-n', TEAM];
  const read = async (pod: string, path: string): Promise<string> =>
    (await cluster.kubectl(['get', 'pod', ...inTeam, pod, '-o', `jsonpath={${path}}`])).stdout;
  await createTeam(cluster, TEAM, ['web', 'api']);
  const started = Date.now();
  const readinessProbe = { tcpSocket: { port: PORT }, periodSeconds: 1 };
  await apply(cluster, workload('web', SERVER, { readinessProbe }));
  await cluster.kubectl(['wait', '--for=condition=Ready', '--timeout=50s', ...inTeam, 'pod/web']);
  tell(
    `a pod serves with a credential of its own ${(Date.now() - started) / 1000} s after it was created`,
  );
  const address = await read('web', '.status.podIP');
  await apply(cluster, workload('api', client(address)));
  await until(
    'api has ended',
    60_000,
    async () => (await read('api', '.status.phase')) === 'Succeeded',
  );
  const { stdout } = await cluster.kubectl(['logs', ...inTeam, 'api']);
  assert.deepEqual(JSON.parse(stdout), { heard: `hello, URI:${spiffe('api')}`, token: false });
  tell(`api at ${await read('api', '.status.podIP')} and web at ${address} know each other`);
}
