// SPDX-License-Identifier: Apache-2.0
/**
 * Issues the CAs of other clusters. No other code signs a CA for a requester, and only the
 * component `signer` loads it (test/architecture/intermediates.test.ts).
 */
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import type { KubeObject } from '#api/object/object.ts';
import type { Authority } from '#ca/custody/contract.ts';
import { correspond } from '#ca/issuance/correspond.ts';
import { encodeIntermediateTbs, requireCertifiesCas } from '#ca/issuance/intermediate.ts';
import { prepareIntermediate } from '#ca/issuance/prepare.ts';
import { distributionPoints } from '#ca/revocation/distribution-points.ts';
import { serverTime } from '#component/server-time.ts';
import type { CertificateTemplate, IssuedChain, IssuingCa } from './issuing-ca.ts';
import { aboveOf, pemOf, type LocalCaInit } from './local-ca.ts';
import * as messages from './messages.ts';

/** A started signature is completed, even while the process stops. */
const NEVER = new AbortController().signal;

/** Issues with a managed CA that certifies CAs: prepares, lints, signs and verifies each. */
export function intermediateCa(
  component: LocalCaInit,
  authority: Authority,
  signer: ClusterSigner,
): IssuingCa<KubeObject> {
  const { facts } = authority;
  const crlUrls = distributionPoints(signer.spec.profile, facts.fingerprint) ?? [];

  async function issue(
    wanted: CertificateTemplate,
    { metadata: { uid } }: KubeObject,
  ): Promise<IssuedChain> {
    const { intermediate, publicKey, usages, validity } = wanted;
    if (intermediate === undefined) throw new TypeError(messages.NO_LEAF_OF_HUB);
    const now = serverTime(component);
    requireCertifiesCas(facts, now);
    const { random } = component;
    const tbs = encodeIntermediateTbs({
      ...intermediate,
      publicKey,
      usages,
      validity,
      issuer: facts,
      crlUrls,
      random,
    });
    const prepared = prepareIntermediate(tbs, facts);
    prepared.requirePath(facts, now);
    const der = await authority.sign(prepared, NEVER);
    const leaf = prepared.decode(der);
    correspond(prepared, { leaf, ...facts }, serverTime(component));
    const serial = Buffer.from(leaf.serial).toString('hex');
    // At info, unlike leaves: each is a CA, and there are few.
    component.log.info({ uid, serial, cluster: intermediate.cluster }, messages.SIGNED_CA);
    const above = aboveOf(authority, serverTime(component));
    const chain = pemOf([leaf]) + above.intermediates;
    return { kind: 'chain', chain, anchors: above.anchors, validity };
  }

  return { validity: facts, identity: facts.fingerprint, issue };
}
