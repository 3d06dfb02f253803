// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SERVED_SINCE, type ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import { SIGNER_NAME } from '#api/signer/grant.ts';
import type { Authority } from '#ca/custody/contract.ts';
import { openLocalAuthority } from '#ca/custody/local.ts';
import { fingerprint } from '#pki/x509/certificate.ts';
import { usableAuthority } from '#requests/ca/usable-authority.ts';
import { certificateAuthority } from '../../support/ca/generated.ts';
import { workload } from '../../support/signers/workload-profile.ts';

const NOW = Date.now();
const SIGNER = workload(
  {},
  {
    status: {
      observedGeneration: 1,
      conditions: [{ type: 'Ready', status: 'True', reason: 'Checked', message: '' }],
    },
  },
);

async function newAuthority(): Promise<{ authority: Authority; pem: string; print: string }> {
  const { certificate, key } = await certificateAuthority();
  const authority = openLocalAuthority({ certificate, key, anchors: certificate }, NOW);
  return { authority, pem: certificate, print: fingerprint(authority.facts.certificate.raw) };
}

function bundleOf(pem: string, since: Readonly<Record<string, number>>): ClusterTrustBundle {
  const times = Object.entries(since).map(([print, at]) => [print, new Date(at).toISOString()]);
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'ClusterTrustBundle',
    metadata: {
      ...SIGNER.metadata,
      annotations: { [SERVED_SINCE]: JSON.stringify(Object.fromEntries(times)) },
    },
    spec: { trustBundle: pem },
  };
}

function use(authority: Authority, bundle: ClusterTrustBundle | undefined, now = NOW): Authority {
  const annotations = { [SIGNER_NAME]: SIGNER.spec.signerName };
  return usableAuthority({
    signer: SIGNER,
    secret: { apiVersion: 'v1', kind: 'Secret', metadata: { ...SIGNER.metadata, annotations } },
    bundle,
    open: () => authority,
    last: () => undefined,
    propagationSeconds: 600,
    now,
  });
}

test('a replaced bundle is read again, and each use checks the time', async () => {
  const [old, next] = [await newAuthority(), await newAuthority()];
  const without = bundleOf(old.pem, { [old.print]: NOW - 3_600_000 });
  assert.equal(use(old.authority, without), old.authority);
  assert.throws(() => use(next.authority, undefined), { code: 'ANCHOR_NOT_SERVED' });
  assert.throws(() => use(next.authority, without), { code: 'ANCHOR_NOT_SERVED' });
  const both = bundleOf(`${old.pem}\n${next.pem}`, {
    [old.print]: NOW - 3_600_000,
    [next.print]: NOW,
  });
  assert.throws(() => use(next.authority, both), /starts at/);
  assert.equal(use(next.authority, both, NOW + 600_000), next.authority);
  assert.throws(() => use(next.authority, without, NOW + 600_000), { code: 'ANCHOR_NOT_SERVED' });
});
