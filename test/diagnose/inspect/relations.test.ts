// SPDX-License-Identifier: Apache-2.0
/** A revoked leaf is not called trusted, and a kubelet's stub request is no faulty request. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Revocation } from '#api/revocation/revocation.ts';
import { serialText } from '#ca/revocation/serial.ts';
import { readMaterial } from '#diagnose/inspect/read-material.ts';
import { relationsOf, type NamedBundle } from '#diagnose/inspect/relations.ts';
import { longText, relationsText } from '#diagnose/inspect/text.ts';
import { encodePem } from '#pki/der/pem.ts';
import { encodeRequest } from '#pki/x509/encode-request.ts';
import { generatePrivateKey } from '#pki/keys/private-key.ts';
import { LINKS, NOW, at } from '../../operations/signer-states.ts';
import { link } from '../../support/pki/chain.ts';

const SECRETS = { pkcs12Password: () => Promise.resolve('nothing asks for it') };
const leaf = link('web', { by: LINKS.a });
const bundle = {
  name: 'ctb/example.com:workload:primary',
  pem: encodePem('CERTIFICATE', LINKS.a.certificate.raw),
};
const source = 'pcr/web status.certificateChain';
const chain = Buffer.from(encodePem('CERTIFICATE', leaf.certificate.raw));

function revocation(serial: string): Revocation {
  return {
    apiVersion: 'countersign.dev/v1alpha1',
    kind: 'Revocation',
    metadata: { name: 'stolen', uid: 's', resourceVersion: '1', creationTimestamp: at(0) },
    spec: {
      signerName: 'example.com/workload',
      reason: 'keyCompromise',
      certificates: [{ serial }],
    },
  };
}

async function relationsWith(serial: string): Promise<string> {
  const found = await readMaterial({ source, bytes: chain }, SECRETS);
  return relationsText(relationsOf(found, [bundle], NOW, [revocation(serial)]));
}

test('a leaf that a Revocation has is revoked, and not trusted', async () => {
  const text = await relationsWith(serialText(leaf.certificate.serial).padStart(40, '0'));
  assert.match(text, new RegExp(`^revoked: ${source} since ${at(0)} by Revocation stolen`, 'm'));
  assert.match(text, /^not trusted: .* is revoked; verifiers that read no CRL trust it by ctb\//m);
  assert.doesNotMatch(text, /^trusted:/m);
});

test('a leaf that no Revocation has is trusted by its bundle', async () => {
  const text = await relationsWith('0badcafe');
  assert.match(text, /^trusted: pcr\/web .* by ctb\/example/m);
  assert.doesNotMatch(text, /revoked/);
});

/** What is said of the leaf, which this signer signed, with these bundles. */
async function trustBy(...bundles: readonly NamedBundle[]): Promise<string> {
  const found = await readMaterial({ source, bytes: chain, signer: 'example.com/web' }, SECRETS);
  return relationsText(relationsOf(found, bundles, NOW));
}

const stranger = { name: 'ctb/b', pem: encodePem('CERTIFICATE', LINKS.b.certificate.raw) };

test('a leaf whose signer has no bundle is not verified', async () => {
  const said = `not verified: ${source}: its signer example.com/web has no ClusterTrustBundle, and no other bundle trusts it\n`;
  for (const bundles of [
    [],
    [
      { ...stranger, signer: '' },
      { ...stranger, signer: 'a.b/c' },
    ],
  ])
    assert.equal(await trustBy(...bundles), said);
});

test('a leaf that has expired is not trusted, whether its signer has a bundle or not', async () => {
  const found = await readMaterial({ source, bytes: chain, signer: 'example.com/web' }, SECRETS);
  const expired = leaf.certificate.notAfter + 1_000;
  assert.match(relationsText(relationsOf(found, [], expired)), /^not trusted: /m);
});

test('a leaf that its signer’s or the named bundle does not cover is not trusted', async () => {
  for (const more of [{ signer: 'example.com/web' }, {}])
    assert.match(await trustBy({ ...stranger, ...more }), /^not trusted: .* by any bundle: /m);
});

test('a leaf whose signer has no bundle is trusted by another that covers it', async () => {
  assert.match(await trustBy({ ...bundle, signer: 'a.b/c' }), /^trusted: .* by ctb\/example/m);
});

// KEP-4317: a stub has no subject, no name and no extension: those are in spec.
test('the stub request of a kubelet is not called refused', async () => {
  const { key } = await generatePrivateKey('ECDSAP256');
  const bytes = encodeRequest({
    subject: { commonName: '', organizations: [], organizationalUnits: [] },
    sans: { dnsNames: [], ipAddresses: [], uris: [], emails: [] },
    key,
  });
  const stub = await readMaterial({ source: 'pcr/web', bytes, isStub: true }, SECRETS);
  const text = longText(
    stub.map(({ what }) => what),
    NOW,
  );
  assert.doesNotMatch(text, /refused|not for us/);
  assert.match(text, /proves +the key; the PodCertificateRequest has the names/);
  const [alone] = await readMaterial({ source: 'x.csr', bytes }, SECRETS);
  assert.ok(alone?.what.kind === 'request' && alone.what.refusedBecause !== undefined);
});
