// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '../../api/signer/cluster-signer.ts';
import type { KubeObject } from '../../api/object/object.ts';
import type { Authority } from '../../authorities/contract.ts';
import { correspond } from '../../issuance/correspond.ts';
import { prepare } from '../../issuance/prepare.ts';
import { distributionPoints } from '../../revocation/distribution-points.ts';
import type { Certificate } from '../../pki/x509/certificate.ts';
import { encodePem } from '../../pki/der/pem.ts';
import type { AuthoritySources } from '../ca/authority-sources.ts';
import type { Component } from '../component/component.ts';
import { crossCertificates } from './cross-certificate.ts';
import type { IssuedChain, IssuingCa, IssuingCas, CertificateTemplate } from './issuing-ca.ts';
import { serverTime } from '../component/server-time.ts';
import type { Refusals } from './refusals.ts';

/** A started signature is completed, even while the process stops. */
const NEVER = new AbortController().signal;

/** The PEM that goes with every leaf of a CA, encoded once. */
const written = new WeakMap<Authority, { intermediates: string; anchors: string }>();

function aboveOf(authority: Authority): { intermediates: string; anchors: string } {
  const { intermediates, anchors } = authority.facts;
  const known = written.get(authority);
  const above = known ?? { intermediates: pemOf(intermediates), anchors: pemOf(anchors) };
  written.set(authority, above);
  return above;
}

function pemOf(certificates: readonly Certificate[]): string {
  return certificates.map(({ raw }) => encodePem('CERTIFICATE', raw)).join('');
}

/** Issues with a CA whose key we hold: prepares, lints, signs and verifies each leaf here. */
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
    const prepared = prepare({ ...wanted, ...crl, issuer: facts, random: component.random });
    // What verifiers of a leaf with this validity may need.
    const cross = crossCertificates(signer, facts, wanted.validity);
    prepared.requirePath(facts, serverTime(component));
    const der = await authority.sign(prepared, NEVER);
    const leaf = prepared.decode(der);
    // The cross-certificates have no part in this: they are for verifiers with another anchor.
    correspond(prepared, { leaf, ...facts }, serverTime(component));
    // Logged before it is sent: each signature leaves a log line, even if the write then fails.
    const serial = Buffer.from(leaf.serial).toString('hex');
    component.log.debug({ uid, serial }, 'signed');
    const above = aboveOf(authority);
    const chain = pemOf([leaf]) + above.intermediates + pemOf(cross);
    return { kind: 'chain', chain, anchors: above.anchors, validity: wanted.validity };
  }

  return { validity: facts, identity: facts.fingerprint, issue };
}

/** What a component needs to sign with our own CAs. */
type LocalCaInit = Pick<Component, 'clock' | 'client' | 'random' | 'log'>;

/**
 * Issues with the CAs of ClusterSigners and Signers, whose keys are in Secrets.
 *
 * @param sources - opens them; its `usable` throws if a signer cannot sign now
 * @param refusals - who gets no certificate
 */
export function localCas(
  component: LocalCaInit,
  sources: AuthoritySources,
  refusals: Refusals,
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
    issuing: (signer) => localCa(component, sources.usable(signer), signer),
    refusalOf: refusals.refusalOf,
  };
}
