// SPDX-License-Identifier: Apache-2.0
import { randomBytes } from 'node:crypto';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import { openLocalAuthority } from '#ca/custody/local.ts';
import { decide as decidePod } from '#requests/pcr-issuer/decide.ts';
import { decide as decideCsr } from '#requests/signer/decide.ts';
import { correspond } from '#ca/issuance/correspond.ts';
import { copyRequestedNames } from '#ca/issuance/leaf-subject.ts';
import { encodeLeafTbs, type LeafTbsInput } from '#ca/issuance/leaf.ts';
import { podSubject, podVariables } from '#ca/issuance/pod-subject.ts';
import { prepare } from '#ca/issuance/prepare.ts';
import { leafValidity } from '#ca/issuance/validity.ts';
import { decodeCertificate } from '#pki/x509/certificate.ts';
import { decodePemAll, encodePem } from '#pki/der/pem.ts';
import { decodeRequest, type CertificationRequest } from '#pki/x509/pkcs10.ts';
import { readPrivateKey } from '#pki/keys/private-key.ts';
import { signatureAlgorithm } from '#pki/keys/signature-algorithm.ts';
import { encodeCertificate } from '#pki/x509/encode-certificate.ts';
import { csrObject, podObject, profileOf } from './objects.ts';
import type { Step } from './library.ts';
import type { Issue, Kind, Work } from './work.ts';
import type { LeafSubject } from '#base/vocabulary.ts';

const random = (size: number): Uint8Array => randomBytes(size);
const signal = new AbortController().signal;

/** Decode, names, times, write, sign: neither lint nor a look at anybody's signature. */
export function issueUnlinted(work: Work, kind: Kind): Issue {
  const planned = planner(work, kind);
  const { der, sign } = signatureAlgorithm(readPrivateKey(work.key));
  return (index) => {
    const tbs = encodeLeafTbs(planned(index));
    return encodeCertificate(tbs, der, sign(tbs));
  };
}

/** The same through `prepare`, which reads what it wrote and lints it, and the authority. */
export function issueLinted(work: Work, kind: Kind): Issue {
  const planned = planner(work, kind);
  const authority = openLocalAuthority({ ...work, anchors: undefined }, Date.now());
  return (index) => authority.sign(prepare(planned(index)), signal);
}

/** All steps of docs/explanation/issuance-cycle.md but the PUT, as the components run them. */
export function issueWhole(work: Work, kind: Kind): Issue {
  const authority = openLocalAuthority({ ...work, anchors: undefined }, Date.now());
  const { facts } = authority;
  const profile = profileOf(kind);
  const common = { profile, authority: facts, reservedPrefixes: [] };
  const csrs = work.requests.csr.map((request) => csrObject(request));
  const pods = work.requests.pcr.map((request) => podObject(request));
  const decide = (index: number, now: number): ReturnType<typeof decidePod | typeof decideCsr> =>
    kind === 'csr'
      ? decideCsr({ ...common, csr: at(csrs, index), now })
      : decidePod({ ...common, request: at(pods, index), now, random });
  return async (index) => {
    const plan = decide(index, Date.now());
    if (plan.kind !== 'issue') throw new Error(`not issued: ${plan.kind}`);
    const prepared = prepare({ ...plan, issuer: facts, random });
    prepared.requirePath(facts, Date.now());
    const leaf = decodeCertificate(await authority.sign(prepared, signal));
    correspond(prepared, { leaf, ...facts }, Date.now());
    encodePem('CERTIFICATE', leaf.raw);
    return leaf.raw;
  };
}

/**
 * The same by the components' own code, and by the library's with an author who signs with the same
 * key.
 */
export function issueByStep(work: Work, kind: Kind, step: Step): Issue {
  const { facts } = openLocalAuthority({ ...work, anchors: undefined }, Date.now());
  const profile = profileOf(kind);
  const common = { profile, authority: facts, reservedPrefixes: [] };
  const csrs = work.requests.csr.map((request) => csrObject(request));
  const pods = work.requests.pcr.map((request) => podObject(request));
  return async (index) => {
    const now = Date.now();
    const object = kind === 'csr' ? at(csrs, index) : at(pods, index);
    const plan =
      'podUID' in object.spec
        ? decidePod({ ...common, request: at(pods, index), now, random })
        : decideCsr({ ...common, csr: at(csrs, index), now });
    if (plan.kind !== 'issue') throw new Error(`not issued: ${plan.kind}`);
    const { chain } = await step(plan, object);
    return decodePemAll(chain, 'CERTIFICATE')[0] ?? new Uint8Array();
  };
}

/** Everything that a leaf will be, from the bytes of a request. */
function planner(work: Work, kind: Kind): (index: number) => LeafTbsInput {
  const { facts } = openLocalAuthority({ ...work, anchors: undefined }, Date.now());
  const profile = profileOf(kind);
  const requests = work.requests[kind].map((each) => Uint8Array.from(Buffer.from(each, 'base64')));
  const pod = podObject('');
  const subjectOf = (request: CertificationRequest): LeafSubject =>
    profile.pods === undefined
      ? copyRequestedNames(request, profile.copy)
      : podSubject(profile.pods, variablesOf(pod), []);
  const variablesOf = (of: PodCertificateRequest): Readonly<Record<string, unknown>> =>
    profile.pods === undefined ? {} : podVariables(of, profile.pods);
  return (index) => {
    const request = decodeRequest(at(requests, index));
    const validity = leafValidity({
      now: Date.now(),
      lifetimeSeconds: profile.maxDurationSeconds,
      backdateSeconds: profile.backdateSeconds,
      minimumSeconds: 3600,
      issuer: facts,
    });
    return {
      issuer: facts,
      validity,
      subject: subjectOf(request),
      publicKey: request.publicKey,
      usages: profile.usages,
      random,
    };
  };
}

function at<T>(all: readonly T[], index: number): T {
  return all[index % all.length] as T;
}
