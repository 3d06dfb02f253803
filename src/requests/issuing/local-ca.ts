// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import type { KubeObject } from '#api/object/object.ts';
import type { Authority } from '#ca/custody/contract.ts';
import { correspond } from '#ca/issuance/correspond.ts';
import { prepare } from '#ca/issuance/prepare.ts';
import { distributionPoints } from '#ca/revocation/distribution-points.ts';
import type { Certificate } from '#pki/x509/certificate.ts';
import { encodePem } from '#pki/der/pem.ts';
import type { AuthoritySources } from '../ca/authority-sources.ts';
import type { Component } from '#component/contract.ts';
import { crossCertificates } from './cross-certificate.ts';
import type { IssuedChain, IssuingCa, IssuingCas, CertificateTemplate } from './issuing-ca.ts';
import { serverTime } from '#component/server-time.ts';
import { SignerError } from '#base/errors.ts';
import * as messages from './messages.ts';
import type { Refusals } from './refusals.ts';

/** A started signature is completed, even while the process stops. */
const NEVER = new AbortController().signal;

interface Above {
  readonly intermediates: string;
  readonly anchors: string;
}

/** PEM that goes with every leaf of a CA, encoded once until one of its certificates expires. */
const written = new WeakMap<Authority, Above & { readonly until: number }>();

/**
 * Returns the PEM above a certificate of this CA, without certificates that have expired since it
 * was opened: a cross-certificate may end before its CA.
 *
 * @param now - milliseconds since 1970
 */
export function aboveOf(authority: Authority, now: number): Above {
  const known = written.get(authority);
  if (known !== undefined && now <= known.until) return known;
  const { intermediates, anchors } = authority.facts;
  const valid = intermediates.filter(({ notAfter }) => now <= notAfter);
  const until = Math.min(Infinity, ...valid.map(({ notAfter }) => notAfter));
  const above = { intermediates: pemOf(valid), anchors: pemOf(anchors), until };
  written.set(authority, above);
  return above;
}

export function pemOf(certificates: readonly Certificate[]): string {
  return certificates.map(({ raw }) => encodePem('CERTIFICATE', raw)).join('');
}

/** Issues with a CA whose key we hold: prepares, lints, signs and verifies each leaf. */
function localCa(
  component: LocalCaInit,
  authority: Authority,
  signer: ClusterSigner,
): IssuingCa<KubeObject> {
  const { facts } = authority;
  const urls = distributionPoints(signer.spec.profile, facts.fingerprint);
  const crl = urls === undefined ? {} : { crlUrls: urls };

  async function issue(
    wanted: CertificateTemplate,
    { metadata: { uid } }: KubeObject,
  ): Promise<IssuedChain> {
    if (wanted.intermediate !== undefined) throw new TypeError(messages.NO_CA_OF_LEAVES);
    const prepared = prepare({ ...wanted, ...crl, issuer: facts, random: component.random });
    // Verifiers of a leaf with this validity may need these.
    const cross = crossCertificates(signer, facts, wanted.validity);
    prepared.requirePath(facts, serverTime(component));
    const der = await authority.sign(prepared, NEVER);
    const leaf = prepared.decode(der);
    // Cross-certificates are for verifiers with another anchor, so they are not checked here.
    correspond(prepared, { leaf, ...facts }, serverTime(component));
    // Logged before it is sent, so each signature leaves a log line even if the write then fails.
    const serial = Buffer.from(leaf.serial).toString('hex');
    component.log.debug({ uid, serial }, 'signed');
    const above = aboveOf(authority, serverTime(component));
    const chain = pemOf([leaf]) + above.intermediates + pemOf(cross);
    return { kind: 'chain', chain, anchors: above.anchors, validity: wanted.validity };
  }

  return { validity: facts, identity: facts.fingerprint, issue };
}

/** Returns the CA of a signer. */
export type LocalCaOf = (
  component: LocalCaInit,
  authority: Authority,
  signer: ClusterSigner,
) => IssuingCa<KubeObject>;

/** Refuses to sign: this component signs leaves only. */
const noIntermediateCa: LocalCaOf = () => {
  throw new SignerError({
    code: 'AUTHORITY_INVALID',
    disposition: 'authority',
    message: messages.SIGNS_CAS_ONLY,
  });
};

/** Dependencies of signing with our own CAs. */
export type LocalCaInit = Pick<Component, 'clock' | 'client' | 'random' | 'log'>;

/**
 * Issues with the CAs of ClusterSigners and Signers, whose keys are in Secrets.
 *
 * @param sources - opens the CAs. Its `usable` throws if a signer cannot sign now.
 * @param refusals - returns the holders that get no certificate
 * @param intermediateCa - issues the CAs of other clusters. Only `signer` has it.
 */
export function localCas(
  component: LocalCaInit,
  sources: AuthoritySources,
  refusals: Refusals,
  intermediateCa?: LocalCaOf,
): IssuingCas<ClusterSigner, KubeObject> {
  return {
    serve: (signers) => {
      sources.serve(signers);
      refusals.serve(signers);
    },
    listed: (signer) => sources.listed(signer) && refusals.listed(signer),
    onChange: (listener) => {
      sources.onChange(listener);
      refusals.onChange(listener);
    },
    notReady: () => [...sources.notReady(), ...refusals.notReady()],
    stop: async () => {
      await Promise.all([sources.stop(), refusals.stop()]);
    },
    issuing: (signer) => {
      // A signer of CAs signs no leaf, and a signer of leaves no CA.
      const isOfCas = signer.spec.intermediates !== undefined;
      const open = isOfCas ? (intermediateCa ?? noIntermediateCa) : localCa;
      return open(component, sources.usable(signer), signer);
    },
    refusalOf: refusals.refusalOf,
  };
}
