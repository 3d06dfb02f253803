// SPDX-License-Identifier: Apache-2.0
/** A ClusterSigner whose key is in a key holder: its CA is usable without any Secret. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import type { ClusterSigner, ClusterSignerSpec } from '#api/signer/cluster-signer.ts';
import { SignerError } from '#base/errors.ts';
import { openWithHolder } from '#ca/custody/held.ts';
import type { KeyHolder } from '#ca/custody/holder-client.ts';
import { openLocalAuthority } from '#ca/custody/local.ts';
import { prepare } from '#ca/issuance/prepare.ts';
import { namesOf } from '#component/rbac/permission-names.ts';
import { permissions } from '#requests/pcr-issuer/permissions.ts';
import { resource } from '#kube/resource/resource.ts';
import { createAuthoritySources, type AuthoritySources } from '#requests/ca/authority-sources.ts';
import { publicSecretOf } from '#requests/ca/held-ca.ts';
import { materialFor } from '#requests/ca/usable-authority.ts';
import { leafInput } from '../../support/ca/issuing.ts';
import { certificateAuthority } from '../../support/ca/generated.ts';
import { startStage, type Stage } from '../../support/kube/reflector-fixture.ts';
import { workload } from '../../support/signers/workload-profile.ts';
import { componentOn } from '../loop/controlled.ts';

const ca = await certificateAuthority();
const keyHolder = { namespace: 'countersign-keys', key: 'workload', chain: ca.certificate };

function held(more: Partial<ClusterSignerSpec> = {}): ClusterSigner {
  const conditions = [{ type: 'Ready', status: 'True' as const, reason: 'Checked' }];
  const signer = workload(
    { authority: { keyHolder } },
    { status: { observedGeneration: 1, conditions } },
  );
  const { trustBundle: _, ...spec } = signer.spec;
  return { ...signer, spec: { ...spec, ...more } };
}

const BUNDLES = resource({
  group: 'certificates.k8s.io',
  version: 'v1',
  plural: 'clustertrustbundles',
});

let stage: Stage;
let sources: AuthoritySources;
const listeners: ((fault: string | undefined) => void)[] = [];
const tell = (fault: string | undefined): void => {
  for (const each of listeners) each(fault);
};
const holder: KeyHolder = {
  describe: () => assert.fail(),
  sign: () => assert.fail(),
  probe: () => Promise.resolve(undefined),
  onChange: (listener) => {
    listeners.push(listener);
  },
  stop: () => undefined,
};

beforeEach(async () => {
  listeners.length = 0;
  stage = await startStage();
  const component = componentOn(stage, { clock: Date.now });
  sources = createAuthoritySources(component, BUNDLES, openWithHolder(holder), holder);
});
afterEach(async () => {
  await sources.stop();
  await stage.stop();
});

test('its CA is usable at once, without a watch of a Secret', () => {
  const signer = held();
  sources.serve([signer]);
  assert.ok(sources.listed(signer));
  assert.equal(sources.usable(signer).facts.anchors.length, 1);
  assert.deepEqual(sources.notReady(), []);
});

test('its requests continue when the holder answers again', () => {
  const woken: string[] = [];
  sources.onChange((name) => woken.push(name));
  sources.serve([held()]);
  tell('away');
  assert.deepEqual(woken, []);
  tell(undefined);
  assert.deepEqual(woken, ['example.com/workload']);
});

test('a component without --key-holder says so', () => {
  const signer = held();
  const secret = publicSecretOf(signer) ?? assert.fail();
  assert.throws(
    () => openWithHolder(undefined)(materialFor(secret, signer), Date.now()),
    (error) => error instanceof SignerError && /runs without --key-holder/.test(error.message),
  );
});

test('authority reads the public half, and signs nothing with it', async () => {
  const signer = held();
  const secret = publicSecretOf(signer) ?? assert.fail();
  const authority = openLocalAuthority(materialFor(secret, signer), Date.now());
  assert.equal(authority.signList, undefined);
  await assert.rejects(
    authority.sign(prepare(leafInput(authority)), new AbortController().signal),
    (error) => error instanceof SignerError && error.code === 'AUTHORITY_MISSING',
  );
});

test('it makes no role name a Secret', () => {
  const names = namesOf([held()], { leases: undefined, namespacedSigners: false });
  assert.deepEqual(names.secrets, []);
  const rules = permissions(names).filter(({ resources }) => resources.includes('secrets'));
  assert.deepEqual(rules, []);
});

test('a Secret cannot name a key of the holder, whatever its owner writes into it', () => {
  const signer = workload();
  const secret = publicSecretOf(held()) ?? assert.fail();
  assert.equal(materialFor(secret, signer).heldKey, undefined);
});

test('profile.crl is refused, because authority has no socket', () => {
  const spec = { authority: { keyHolder }, 'profile.crl': {} };
  assert.throws(() => workload(spec), /spec.profile.crl: authority signs no CRL with a key in/);
});
