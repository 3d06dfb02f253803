// SPDX-License-Identifier: Apache-2.0
/** The CA of a hub signs the CAs of members, and nothing else signs one. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { compileIntermediates } from '#ca/policy/intermediates.ts';
import { compileProfile } from '#ca/issuance/profile.ts';
import { CSR_RESOURCE, type CertificateSigningRequest } from '#api/request/csr.ts';
import { decodePemAll } from '#pki/der/pem.ts';
import { resource } from '#kube/resource/resource.ts';
import { createExpiries } from '#requests/issuing/expiries.ts';
import { intermediateCa } from '#requests/issuing/intermediate-ca.ts';
import type { CertificateTemplate, IssuingCa } from '#requests/issuing/issuing-ca.ts';
import { createActor } from '#requests/signer/act.ts';
import { decideIntermediate } from '#requests/signer/decide-intermediate.ts';
import { openHub, type Hub } from '../../support/ca/hub.ts';
import { NOW, leafInput } from '../../support/ca/issuing.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';
import { oneObject } from '../../support/kube/single-object-api.ts';
import { hubSigner, memberCsr, type MemberWanted } from '../../support/requests/intermediate.ts';
import { localCaOf } from '../../support/requests/local-ca.ts';
import { workload } from '../../support/signers/workload-profile.ts';

const hub = await openHub();
const APPROVED = { conditions: [{ type: 'Approved', status: 'True' }] } as const;

function templateOf(wanted: MemberWanted = {}): CertificateTemplate {
  const plan = decideIntermediate({
    csr: { ...memberCsr(wanted), status: APPROVED },
    policy: compileIntermediates(hubSigner().spec),
    authority: hub.authority.facts,
    reservedPrefixes: [],
    now: NOW,
  });
  assert.ok(plan.kind === 'issue', JSON.stringify(plan));
  return plan;
}

const caOf = ({ authority }: Hub, signer: ClusterSigner = hubSigner()): IssuingCa<never> =>
  localCaOf(recordedComponent({ clock: () => NOW }), authority, signer, intermediateCa);

function stage(signer: ClusterSigner, wanted: MemberWanted = {}, by: Hub = hub) {
  const request: CertificateSigningRequest = { ...memberCsr(wanted), status: APPROVED };
  const server = oneObject(request);
  const component = recordedComponent({ name: 'signer', clock: () => NOW });
  component.client.answer(server.answer);
  const actor = createActor<ClusterSigner>({
    component,
    resource: resource(CSR_RESOURCE),
    profileOf: ({ spec }) => compileProfile(spec),
    intermediatesOf: ({ spec }) => compileIntermediates(spec),
    signers: { serving: () => signer },
    cas: { issuing: (each) => localCaOf(component, by.authority, each, intermediateCa) },
    expiries: createExpiries(),
  });
  return { server, handle: () => actor.handle(request, signer) };
}

test('an approved request is answered with a CA of path length 0 below the hub', async () => {
  const { server, handle } = stage(hubSigner());
  assert.equal((await handle()).outcome, 'issued');
  const pem = Buffer.from(server.stored?.status?.certificate ?? '', 'base64').toString();
  const [der = new Uint8Array(), ...more] = decodePemAll(pem, 'CERTIFICATE');
  assert.deepEqual(more, [], 'the root is not delivered');
  const ca = new X509Certificate(der);
  const root = new X509Certificate(hub.material.certificate);
  assert.ok(ca.ca && ca.checkIssued(root) && ca.verify(root.publicKey));
  assert.equal(ca.subject, 'O=prod\nCN=Prod CA 1795759200');
  assert.equal(ca.subjectAltName, 'URI:spiffe://prod.fleet.example.com');
});

test('an approved request for the CA of another cluster fails without a signature', async () => {
  const { server, handle } = stage(hubSigner(), { cluster: 'other' });
  assert.deepEqual((await handle()).reason, 'NotAllowedByRule');
  assert.equal(server.stored?.status?.certificate, undefined);
});

test('a hub whose CA certifies leaves only signs no CA, and the request waits', async () => {
  const by = await openHub({ certifiesCas: false });
  const { handle } = stage(hubSigner(), {}, by);
  await assert.rejects(handle(), /pathLenConstraint of 0/);
});

test('the signer of leaves fails the request of a member, even if it is approved', async () => {
  const { server, handle } = stage(workload(), {});
  assert.equal((await handle()).reason, 'CertificateAuthority');
  assert.equal(server.stored?.status?.certificate, undefined);
});

test('a signer of leaves signs no CA, and a signer of CAs no leaf', async () => {
  const { issuer: _issuer, random: _random, ...leaf } = leafInput(hub.authority);
  const csr = memberCsr();
  await assert.rejects(caOf(hub, workload()).issue(templateOf(), csr as never), TypeError);
  await assert.rejects(caOf(hub).issue(leaf, csr as never), TypeError);
});

test('components that sign leaves only have no CA for a signer of CAs', () => {
  assert.throws(() => localCaOf(recordedComponent(), hub.authority, hubSigner()), /signs the CAs/);
});
