// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCaRequest } from '#ca/custody/managed.ts';
import { encodePem, decodePem } from '#pki/der/pem.ts';
import { fingerprint } from '#pki/x509/certificate.ts';
import { decodeRequest } from '#pki/x509/pkcs10.ts';
import type { ChangePlan } from '#operations/change-plan.ts';
import type { SignerState } from '#operations/signer-state.ts';
import { checkRotations } from '#diagnose/check/signers.ts';
import { summarizeSigner } from '#operations/show/signer-summary.ts';
import { remedyCommand } from '#operations/signer-remedy.ts';
import { install, type GivenChain } from '#operations/verbs/install.ts';
import { ca, keyIds, link, usage } from '../support/pki/chain.ts';
import { rdn, seq, utf8 } from '../support/pki/der.ts';
import { COMMON_NAME } from '../support/pki/certificate-der.ts';
import { HOUR, NOW, state } from './signer-states.ts';

const ROOT = link('root', { extensions: [ca(), usage(), ...keyIds('root')] });
const requested = await createCaRequest({
  keyType: 'ECDSAP256',
  commonName: 'Example workload CA',
  crossSigned: false,
  now: NOW,
});
const request = decodeRequest(decodePem(requested.request, 'CERTIFICATE REQUEST'));
const commonName = request.subject.attributes[0]?.value ?? '';
const CA = link('ca', {
  extensions: [ca(0), usage(), ...keyIds('ca')],
  subject: seq(rdn(COMMON_NAME, utf8(commonName))),
  spki: request.publicKey.spki,
  by: ROOT,
});
const chain = [CA, ROOT]
  .map(({ certificate }) => encodePem('CERTIFICATE', certificate.raw))
  .join('');
const root = fingerprint(ROOT.certificate.raw);

/** A signer that awaits a certificate, at a time within the validity of the test certificates. */
function awaiting(isAwaited = true): SignerState {
  const found = state({
    managed: { upstream: { manual: { anchor: 'Root', trustEverythingBelow: false } } },
  });
  const { status } = found.signer;
  const upstream = { request: requested.request, requestedAt: '2026-01-01T00:00:00Z' };
  const signer = { ...found.signer, status: { ...status, ...(isAwaited ? { upstream } : {}) } };
  return { ...found, signer, now: NOW + 24 * HOUR };
}

const plan = (given: Partial<GivenChain>, of: SignerState = awaiting()): ChangePlan =>
  install(of, { text: chain, trustEverythingBelow: true, rootFingerprint: root, ...given });

const problemOf = ({ preflightErrors }: ChangePlan): string =>
  preflightErrors.map(({ message }) => message).join('\n');

test('a checked chain is written with its root and the consent', () => {
  const { change, target, preflightErrors, notes } = plan({ text: `as OpenSSL prints\n${chain}` });
  assert.deepEqual(preflightErrors, []);
  assert.equal(target, fingerprint(CA.certificate.raw));
  const { trustEverythingBelow, rootFingerprint } = change?.upstream ?? {};
  assert.deepEqual([change?.upstream?.chain, rootFingerprint], [chain, root]);
  assert.equal(trustEverythingBelow, true);
  assert.match(notes.join('\n'), /accept every certificate below "CN=root"/);
});

test('an unknown root needs its fingerprint', () => {
  const { signer, ...rest } = awaiting();
  const given = { text: chain, trustEverythingBelow: true };
  assert.match(problemOf(install({ ...rest, signer }, given)), /--root-fingerprint sha256:/);
});

test('a root that the signer knows needs no fingerprint', () => {
  const found = awaiting();
  const [active] = found.signer.status?.authorities ?? [];
  assert.ok(active !== undefined);
  const anchors = encodePem('CERTIFICATE', ROOT.certificate.raw);
  const status = { ...found.signer.status, authorities: [{ ...active, anchors }] };
  const known = { ...found, signer: { ...found.signer, status } };
  const { change } = install(known, { text: chain, trustEverythingBelow: true });
  assert.equal(change?.upstream?.rootFingerprint, root);
});

test('an intermediate as anchor has a warning about OpenSSL and Node', () => {
  const { notes } = plan({ anchor: 'Authority', trustEverythingBelow: false });
  assert.match(notes.join('\n'), /OpenSSL and Node refuse it by default/);
});

test('a refused chain is not written, with --force neither', () => {
  const { change, preflightErrors } = plan({ trustEverythingBelow: false });
  assert.equal(change, undefined);
  assert.match(preflightErrors[0]?.message ?? '', /^ConsentMissing: /);
  assert.equal(preflightErrors[0]?.fatal, true);
});

test('without an awaited certificate nothing is written', () => {
  assert.match(problemOf(plan({}, awaiting(false))), /no certificate is awaited/);
});

test('without an upstream nothing is written', () => {
  assert.match(problemOf(plan({}, state())), /signs its own CA certificates/);
});

test('show warns while a certificate is awaited, and check names the command', () => {
  const message = 'the upstream CA must sign a certificate';
  const status = 'True' as const;
  const reason = 'CertificateRequested';
  const found = state({ conditions: [{ type: 'AwaitingCertificate', status, reason, message }] });
  assert.ok(summarizeSigner(found).warnings.includes(`${reason}: ${message}`));
  const facts = { signers: { value: { invalid: [], states: [found] } } } as never;
  const [outcome] = checkRotations(facts);
  assert.equal(outcome?.severity, 'warning');
  assert.match(outcome.remediation ?? '', /^countersign authority csr /);
});

test('no command asks a user to carry the request that Vault signs', () => {
  const upstream = {
    vault: {
      server: 'https://vault.example.com',
      mount: 'pki',
      auth: { mount: 'kubernetes', role: 'countersign' },
      rootFingerprint: root,
      anchor: 'Root',
      trustEverythingBelow: true,
    },
  } as const;
  const conditions = [
    {
      type: 'AwaitingCertificate',
      status: 'True',
      reason: 'UpstreamUnavailable',
      message: 'sealed',
    },
    { type: 'Ready', status: 'False', reason: 'AwaitingCertificate', message: 'no CA' },
  ] as const;
  const found = state({ managed: { upstream }, conditions });
  const facts = { signers: { value: { invalid: [], states: [found] } } } as never;
  const [outcome] = checkRotations(facts);
  assert.match(outcome?.remediation ?? '', /^countersign authority show /);
  assert.match(
    remedyCommand(found.signer) ?? '',
    /^kubectl describe clustersigner .* answer of Vault/,
  );
  assert.match(problemOf(plan({}, found)), /its upstream is not manual/);
});
