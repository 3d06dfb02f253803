// SPDX-License-Identifier: Apache-2.0
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from '../cluster/cluster.ts';
import { until } from '../cluster/until.ts';
import { NAMESPACE } from '../faults/lab/wanted.ts';
import { NODE } from './shipped.ts';
import { create } from './stand.ts';

/** What became of pods that cannot start without a credential. */
export interface AskingPods {
  /** Ends after the present pod. Rejects if one of them did not get its credential. */
  end(): Promise<{ readonly pods: number; readonly longestMs: number }>;
}

/** A kubelet asks again after a mount that failed, ever later. */
const STARTED_MS = 180_000;
const PAUSE_MS = 1_000;

/**
 * Starts one pod after the other in the namespace of the load, each with a `podCertificate` volume
 * that it reads.
 */
export function askAsPods(cluster: Cluster): AskingPods {
  const stopped = new AbortController();
  const running = run(cluster, stopped.signal);
  // Told to whoever ends it.
  running.catch(() => undefined);
  return {
    end: () => {
      stopped.abort();
      return running;
    },
  };
}

async function run(
  cluster: Cluster,
  signal: AbortSignal,
): Promise<{ readonly pods: number; readonly longestMs: number }> {
  let pods = 0;
  let longestMs = 0;
  while (!signal.aborted) {
    const name = `asks-${pods}`;
    const from = Date.now();
    await create(cluster, askingPod(name));
    await until(`${name} has read its credential`, STARTED_MS, async () => {
      const args = ['get', 'pod', name, '-n', NAMESPACE, '-o', 'jsonpath={.status.phase}'];
      return (await cluster.kubectl(args)).stdout === 'Succeeded';
    });
    pods += 1;
    longestMs = Math.max(longestMs, Date.now() - from);
    await cluster.kubectl(['delete', 'pod', name, '-n', NAMESPACE, '--wait=false']);
    await sleep(PAUSE_MS, undefined, { signal }).catch(() => undefined);
  }
  return { pods, longestMs };
}

const READ = `const { X509Certificate } = require('node:crypto');
  new X509Certificate(require('node:fs').readFileSync('/run/identity/credentials.pem'));`;

/** Ends well if it has a certificate. */
function askingPod(name: string): object {
  const podCertificate = {
    signerName: 'example.com/workload',
    keyType: 'ED25519',
    credentialBundlePath: 'credentials.pem',
  };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: NAMESPACE, name },
    spec: {
      serviceAccountName: 'web',
      automountServiceAccountToken: false,
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 0,
      securityContext: { runAsNonRoot: true, runAsUser: 65532, runAsGroup: 65532 },
      containers: [
        {
          name: 'main',
          image: NODE,
          args: ['-e', READ],
          volumeMounts: [{ name: 'identity', mountPath: '/run/identity', readOnly: true }],
        },
      ],
      volumes: [{ name: 'identity', projected: { sources: [{ podCertificate }] } }],
    },
  };
}
