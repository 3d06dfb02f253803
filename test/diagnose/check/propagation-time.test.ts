// SPDX-License-Identifier: Apache-2.0
/** Anchors are judged by the propagation time of the components, as `--propagation` names it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSigners } from '#diagnose/check/reading/read-signers.ts';
import { NOW, state } from '../../operations/signer-states.ts';
import { recordedClient } from '../../support/kube/recorded-client.ts';
import { findingsOf } from './well.ts';

// Another anchor is older, so the one of the CA must propagate.
const { signer, bundle } = state({ served: { a: 4, b: 60 } });

for (const [propagationSeconds, severity] of [
  [600, 'error'],
  [120, 'ok'],
] as const) {
  test(`an anchor of four minutes is ${severity} if it needs ${propagationSeconds} s`, async () => {
    assert.ok(typeof bundle === 'object');
    const metadata = { ...bundle.metadata, name: 'example.com:workload:primary' };
    const client = recordedClient();
    client.answer(({ path }) => {
      if (path === '/apis/certificates.k8s.io/v1') {
        return { resources: [{ name: 'clustertrustbundles' }] };
      }
      const isSigners = path.endsWith('/clustersigners');
      return {
        kind: isSigners ? 'ClusterSignerList' : 'ClusterTrustBundleList',
        metadata: { resourceVersion: '1' },
        items: [isSigners ? signer : { ...bundle, metadata }],
      };
    });
    const signers = await readSigners({
      client,
      clock: () => NOW,
      propagationSeconds,
      namespace: 'countersign-system',
      secretNamespace: 'countersign-keys',
      servingSigner: 'countersign.dev/serving',
    });
    const found = findingsOf('signers-ready', { installed: { signers } });
    assert.deepEqual(
      found.map((each) => each.severity),
      [severity],
    );
  });
}
