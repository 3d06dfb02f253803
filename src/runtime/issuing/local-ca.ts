// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '../../api/signer/cluster-signer.ts';
import type { KubeObject } from '../../api/object/object.ts';
import type { Authority } from '../../authorities/contract.ts';
import { correspond } from '../../issuance/correspond.ts';
import { prepare } from '../../issuance/prepare.ts';
import type { Validity } from '../../issuance/validity.ts';
import type { Certificate } from '../../pki/x509/certificate.ts';
import { encodePem } from '../../pki/der/pem.ts';
import type { AuthoritySources } from '../ca/authority-sources.ts';
import type { Component } from '../component/component.ts';
import { crossCertificates } from './cross-certificate.ts';
import type { IssuedChain, IssuingCa, IssuingCas, CertificateTemplate } from './issuing-ca.ts';
import { serverTime } from '../component/server-time.ts';

/** What is begun is finished, also while stopping. */
const NEVER = new AbortController().signal;

/** What is delivered with every leaf of a CA, written once. */
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

/**
 * A CA whose key we hold: what it signs is written, linted and verified here.
 *
 * @param crossFor - what goes with a leaf besides the CA's own chain
 */
export function localCa(
  component: Pick<Component, 'clock' | 'client' | 'random' | 'log'>,
  authority: Authority,
  crossFor: (leaf: Validity) => readonly Certificate[] = () => [],
): IssuingCa<KubeObject> {
  const { facts } = authority;

  async function issue(
    wanted: CertificateTemplate,
    { metadata: { uid } }: KubeObject,
  ): Promise<IssuedChain> {
    const prepared = prepare({ ...wanted, issuer: facts, random: component.random });
    const { anchors } = facts;
    const cross = crossFor(wanted.validity);
    const intermediates = [...facts.intermediates, ...cross];
    prepared.requirePath({ intermediates, anchors }, serverTime(component));
    const der = await authority.sign(prepared, NEVER);
    const leaf = prepared.decode(der);
    correspond(prepared, { leaf, intermediates, anchors }, serverTime(component));
    // Before anything is sent: whoever counts what was signed in vain counts these.
    const serial = Buffer.from(leaf.serial).toString('hex');
    component.log.debug({ uid, serial }, 'signed');
    const above = aboveOf(authority);
    const chain = pemOf([leaf]) + above.intermediates + pemOf(cross);
    return { kind: 'chain', chain, anchors: above.anchors, validity: wanted.validity };
  }

  return { validity: facts, identity: facts.fingerprint, issue };
}

/** The CAs of ClusterSigners, which lie in Secrets. */
export function localCas(
  component: Component,
  sources: AuthoritySources,
): IssuingCas<ClusterSigner, KubeObject> {
  return {
    ...sources,
    issuing: (signer) => {
      const authority = sources.usable(signer);
      return localCa(component, authority, (leaf) =>
        crossCertificates(signer, authority.facts, leaf),
      );
    },
  };
}
