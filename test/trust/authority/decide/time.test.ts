// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Secret } from '#api/object/object.ts';
import { readClusterSigner } from '#api/signer/read-signer.ts';
import { openLocalAuthority } from '#ca/custody/local.ts';
import { decide, type SignerPlan } from '#trust/authority/decide/decide.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { certificateAuthority } from '../../../support/ca/generated.ts';
import { clusterSigner, workloadSpec } from '../../../support/signers/cluster-signer.ts';

const HOUR = 3_600_000;
const signer = readClusterSigner(clusterSigner(workloadSpec()));

function secret(annotations: Readonly<Record<string, string>>): Secret {
  const { metadata } = clusterSigner({});
  return { apiVersion: 'v1', kind: 'Secret', metadata: { ...metadata, annotations } };
}

/** A look at a CA that was made an hour ahead of `now`, by a clock that was fast. */
async function lookEarly(
  annotations: Readonly<Record<string, string>>,
): Promise<{ readonly plan: SignerPlan; readonly now: number }> {
  const material = await certificateAuthority();
  const now = Date.now() - HOUR;
  const plan = decide({
    signer,
    elder: undefined,
    serving: undefined,
    specError: undefined,
    secret: { kind: 'found', secret: secret(annotations) },
    inspect: () => {
      const opened = attempt(() => openLocalAuthority({ ...material, anchors: undefined }, now));
      return opened instanceof SignerError ? opened : opened.facts;
    },
    bundle: undefined,
    isBundleKnown: false,
    secretNamespace: 'countersign-keys',
    propagationSeconds: 600,
    clocksApart: false,
    now,
  });
  return { plan, now };
}

test('a CA that is not yet valid is looked at again without a change', async () => {
  const granted = { 'countersign.dev/signer-name': signer.spec.signerName };
  const { plan, now } = await lookEarly(granted);
  assert.equal(plan.status.conditions?.[0]?.reason, 'AuthorityUnavailable');
  assert.ok(plan.requeueAt !== undefined && plan.requeueAt > now && plan.requeueAt <= now + 60_000);
});

test('a failure that only a change of the Secret can fix is not retried by time', async () => {
  const { plan } = await lookEarly({});
  assert.equal(plan.status.conditions?.[0]?.reason, 'SecretNotGranted');
  assert.equal(plan.requeueAt, undefined);
});
