// SPDX-License-Identifier: Apache-2.0
/** Which specs sign the CAs of other clusters. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { certifiesCas, servedKinds } from '#api/signer/cluster-signer.ts';
import { readClusterSigner, readSigner } from '#api/signer/read-signer.ts';
import { refuses } from '../../support/pki/refuses.ts';
import { OWN_CLUSTER, hubSigner } from '../../support/requests/intermediate.ts';

const managed = {
  secret: { namespace: 'countersign-keys', name: 'members-ca' },
  commonName: 'Fleet CA',
};
const secret = { namespace: 'countersign-keys', name: 'own-ca' };
const upstream = { manual: {} };

test('a hub answers CertificateSigningRequests alone, and its CA certifies CAs', () => {
  const { spec } = hubSigner();
  assert.deepEqual(servedKinds(spec), ['requests']);
  assert.equal(certifiesCas(spec), true);
  const { intermediates: _, ...leaves } = spec;
  assert.equal(certifiesCas(leaves), false);
});

const rows: Readonly<Record<string, readonly [Readonly<Record<string, unknown>>, RegExp]>> = {
  'pods beside them': [{ pods: { allow: 'true', commonName: 'pod.name' } }, /leaves or CAs/],
  'requests beside them': [{ requests: {} }, /leaves or CAs/],
  'certificateRequests beside them': [
    { certificateRequests: { rules: [{ name: 'a', when: 'true', allow: {} }] } },
    /leaves or CAs/,
  ],
  'a CA of the user': [{ authority: { secret } }, /needs authority\.managed/],
  'a key in a key holder': [
    { authority: { keyHolder: { namespace: 'keys', key: 'a', chain: 'x' } } },
    /needs authority\.managed/,
  ],
  'cross-certificates': [
    { authority: { managed: { ...managed, crossSigned: true } } },
    /crossSigned: cannot be true/,
  ],
  'an upstream CA': [{ authority: { managed: { ...managed, upstream } } }, /upstream: cannot be/],
  'a CA of less than six lives': [{ profile: { maxDuration: '1461h' } }, /set at least 8766h/],
  'no rule': [{ intermediates: { rules: [] } }, />=1/],
  'two rules of one name': [{ intermediates: { rules: [OWN_CLUSTER, OWN_CLUSTER] } }, /rename one/],
};

for (const [name, [more, message]] of Object.entries(rows)) {
  test(`intermediates are refused with ${name}`, () => {
    refuses(() => hubSigner([{}], more), 'SPEC_INVALID', message, 'wait');
  });
}

test('a rule must choose a URI constraint, and its usages contain cert sign', () => {
  const { uriConstraint: _, ...without } = OWN_CLUSTER;
  const more = { intermediates: { rules: [without] } };
  refuses(() => hubSigner([{}], more), 'SPEC_INVALID', /uriConstraint/, 'wait');
  const usages = ['crl sign'] as const;
  refuses(() => hubSigner([{ usages }]), 'SPEC_INVALID', /must contain cert sign/, 'wait');
  const others = { rules: [{ ...OWN_CLUSTER, usages: ['cert sign', 'any'] }] };
  refuses(() => hubSigner([{}], { intermediates: others }), 'SPEC_INVALID', /usages/, 'wait');
});

test('a Signer of a namespace signs no CAs', () => {
  const { metadata, ...hub } = hubSigner();
  const signer = {
    ...hub,
    kind: 'Signer',
    metadata: { ...metadata, namespace: 'team-a' },
    spec: {
      authority: { secret: { name: 'own-ca' } },
      intermediates: { rules: [OWN_CLUSTER] },
    },
  };
  const read = (): unknown => readSigner(signer);
  refuses(read, 'SPEC_INVALID', /intermediates/, 'wait');
});

test('the API reads back what a hub has', () => {
  const { spec } = hubSigner();
  assert.deepEqual(readClusterSigner(hubSigner()).spec, spec);
});
