// SPDX-License-Identifier: Apache-2.0
/**
 * ADR 0082: leaves of the members of a fleet, before verifiers that have the root of the hub alone.
 * Go, OpenSSL and Node are the judges. docs/how-to/fleet.md quotes what they enforce.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { IntermediateRule } from '#api/signer/cluster-signer.ts';
import { openLocalAuthority } from '#ca/custody/local.ts';
import { EMPTY_SUBJECT } from '#ca/issuance/leaf-subject.ts';
import { leafInput, NOW } from '../support/ca/issuing.ts';
import { openHub, type Hub } from '../support/ca/hub.ts';
import { signedMember } from '../support/ca/signed-member.ts';
import { decodePemAll } from '#pki/der/pem.ts';
import { prepare } from '#ca/issuance/prepare.ts';
import type { LeafSubject } from '#base/vocabulary.ts';
import { Openssl } from './openssl.ts';
import { ACCEPTED, chainOf, openOracle } from './oracle.ts';
import { ourChain } from './ours.ts';

const oracle = await openOracle();
const openssl = new Openssl();
after(async () => {
  openssl[Symbol.dispose]();
  await oracle[Symbol.asyncDispose]();
});

const hub = await openHub();
const other = await openHub();

/** Who believes a leaf of member prod with these names, whatever its own signer would allow. */
async function believers(
  rule: Partial<IntermediateRule>,
  names: Partial<LeafSubject>,
  root: Hub = hub,
): Promise<readonly string[]> {
  const { chain, key } = await signedMember(hub, rule);
  const anchors = hub.material.certificate;
  const authority = openLocalAuthority({ certificate: chain + anchors, key, anchors }, NOW);
  const input = leafInput(authority, { subject: { ...EMPTY_SUBJECT, ...names } });
  // Without requirePath: a compromised member does not check.
  const leaf = await authority.sign(prepare(input), new AbortController().signal);
  const roots = decodePemAll(root.material.certificate, 'CERTIFICATE');
  const parts = { leaf, intermediates: decodePemAll(chain, 'CERTIFICATE'), roots, now: NOW };
  const verdicts = {
    ours: ourChain(parts).level === ACCEPTED,
    go: (await oracle.ask('v', chainOf(parts))).level === ACCEPTED,
    openssl: await openssl.acceptsChain(parts),
  };
  return Object.entries(verdicts).flatMap(([who, accepts]) => (accepts ? [who] : []));
}

const ALL = ['ours', 'go', 'openssl'];
const OWN = { uris: ['spiffe://prod.fleet.example.com/ns/a/sa/b'] };
const FOREIGN = { uris: ['spiffe://other.fleet.example.com/ns/a/sa/b'] };

test('all accept a leaf of a member from the root of the hub alone, and from no other', async () => {
  for (const uriConstraint of ['TrustDomain', 'None'] as const) {
    assert.deepEqual(await believers({ uriConstraint }, OWN), ALL);
    assert.deepEqual(await believers({ uriConstraint }, OWN, other), []);
  }
});

test('with TrustDomain, none accepts the URI of another member', async () => {
  assert.deepEqual(await believers({}, FOREIGN), []);
});

test('with None, all accept the URI of another member', async () => {
  assert.deepEqual(await believers({ uriConstraint: 'None' }, FOREIGN), ALL);
});

test('with DNS constraints, none accepts a DNS name outside them', async () => {
  const rule = { dnsConstraints: ["cluster + '.example.com'"] };
  assert.deepEqual(await believers(rule, { dnsNames: ['web.prod.example.com'] }), ALL);
  assert.deepEqual(await believers(rule, { dnsNames: ['web.other.example.com'] }), []);
});

test('no verifier accepts a CA that a member certifies', async () => {
  const { chain, key } = await signedMember(hub, {});
  const anchors = hub.material.certificate;
  const member = openLocalAuthority({ certificate: chain + anchors, key, anchors }, NOW);
  // A compromised member checks neither the path length nor the life of what it signs.
  const below = await signedMember({ material: hub.material, authority: member }, {});
  const certificate = below.chain + chain + anchors;
  const authority = openLocalAuthority(
    { certificate, key: below.key, anchors: below.chain, anchorChosen: true },
    NOW,
  );
  const leaf = await authority.sign(prepare(leafInput(authority)), new AbortController().signal);
  const intermediates = [below.chain, chain].flatMap((pem) => decodePemAll(pem, 'CERTIFICATE'));
  const roots = decodePemAll(anchors, 'CERTIFICATE');
  const parts = { leaf, intermediates, roots, now: NOW };
  assert.notEqual(ourChain(parts).level, ACCEPTED);
  assert.notEqual((await oracle.ask('v', chainOf(parts))).level, ACCEPTED);
  assert.equal(await openssl.acceptsChain(parts), false);
});
