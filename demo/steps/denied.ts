// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { until } from '../../test/cluster/until.ts';
import { createPod } from '../../test/support/cluster/pods.ts';
import type { Tell } from '../story.ts';
import { TEAM, type Cast } from '../cast/cast.ts';

const WAIT_MS = 30_000;

interface Request {
  readonly spec: { readonly podName: string };
  readonly status?: {
    readonly conditions?: readonly { type: string; reason: string; message: string }[];
  };
}

/** A pod that asks for a key type outside the profile never starts, and people can read why. */
export async function denied({ cluster, nodes }: Cast, tell: Tell): Promise<void> {
  await createPod(cluster, {
    namespace: TEAM,
    name: 'legacy',
    serviceAccount: 'web',
    node: nodes[1],
    signerName: 'example.com/workload',
    keyType: 'RSA3072',
  });
  const condition = await until('the request is denied', WAIT_MS, async () => {
    const { stdout } = await cluster.kubectl([
      'get',
      'podcertificaterequests',
      '-n',
      TEAM,
      '-o',
      'json',
    ]);
    const { items } = JSON.parse(stdout) as { items: readonly Request[] };
    const found = items.find(({ spec }) => spec.podName === 'legacy');
    return found?.status?.conditions?.find(({ type }) => type === 'Denied');
  });
  assert.equal(condition.reason, 'UnsupportedKeyType');
  assert.match(condition.message, /ECDSAP256, ED25519/);
  tell(`PodCertificateRequest: Denied, ${condition.reason}: ${condition.message}`);
  const note = await until('the pod’s Event is there', WAIT_MS, async () => {
    const selector = 'regarding.kind=Pod,regarding.name=legacy,reason=UnsupportedKeyType';
    const { stdout } = await cluster.kubectl([
      'get',
      'events.events.k8s.io',
      '-n',
      TEAM,
      '--field-selector',
      selector,
      '-o',
      'jsonpath={.items[*].note}',
    ]);
    return stdout === '' ? undefined : stdout;
  });
  tell(`Event of pod legacy: ${note}`);
  const { stdout } = await cluster.kubectl([
    'get',
    'pod',
    'legacy',
    '-n',
    TEAM,
    '-o',
    'jsonpath={.status.phase}',
  ]);
  assert.equal(stdout, 'Pending');
  tell(`pod legacy is ${stdout} and will stay so`);
}
