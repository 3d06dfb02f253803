// SPDX-License-Identifier: Apache-2.0
/** Diagnoses of issued certificates that verifiers reject. Pure. */
import { formatTime } from '#api/object/time.ts';
import { revokedSince, type Revocation } from '#api/revocation/revocation.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { shellWord } from '#base/quote.ts';
import { revocationEffect } from '#operations/pods/revocation-effect.ts';
import { apiServerIdentity } from '#operations/revoking/api-server.ts';
import { chainTrust } from '#operations/pods/leaf-trust.ts';
import { readCertificates } from '#pki/x509/certificate.ts';
import type { SignerState } from '#operations/signer-state.ts';
import type { Diagnosis } from './explanation.ts';

/** Evidence for the trust in leaves of one ClusterSigner. */
export interface TrustEvidence {
  readonly state: SignerState;
  readonly revocations: readonly Revocation[];
}

/** Returns the Revocation of a certificate, its time and its reason. */
export function revokedText(by: Revocation): string {
  return `Revocation ${by.metadata.name} revoked it at ${revokedSince(by)} (${by.spec.reason})`;
}

/**
 * Adds to the diagnosis of an issued request that its certificate is revoked, or that the bundle
 * does not cover it. Other diagnoses stay.
 *
 * @param pem - the chain, leaf first
 */
export function withChainTrust(
  diagnosis: Diagnosis,
  pem: string,
  evidence: TrustEvidence | undefined,
): Diagnosis {
  if (diagnosis.state !== 'Issued' || evidence === undefined) return diagnosis;
  const trust = chainTrust({ status: { certificateChain: pem } }, evidence);
  if (trust?.kind === 'revoked') return revokedDiagnosis(diagnosis, pem, trust.by);
  if (trust?.kind !== 'untrusted') return diagnosis;
  const { name } = evidence.state.signer.metadata;
  const why = `the bundle of ClusterSigner ${name} does not cover it: verifiers reject it`;
  return {
    ...diagnosis,
    state: 'NotTrusted',
    summary: `${diagnosis.summary}; ${why}`,
    remediation: ['request another certificate'],
  };
}

function revokedDiagnosis(diagnosis: Diagnosis, pem: string, by: Revocation): Diagnosis {
  const { metadata, spec } = by;
  const access = accessLeft(pem);
  const isRefused = (spec.holders ?? []).length > 0;
  return {
    ...diagnosis,
    state: 'NotTrusted',
    summary: [
      diagnosis.summary,
      `${revokedText(by)}: ${revocationEffect(by)}`,
      ...(access === undefined ? [] : [access.text]),
    ].join('; '),
    timeline: [
      ...diagnosis.timeline,
      { at: revokedSince(by), what: `Revocation ${metadata.name} revokes it` },
    ],
    remediation: [
      ...(access?.remediation ?? []),
      isRefused
        ? `kubectl get revocation ${shellWord(metadata.name)} -o yaml   # the holders in spec.holders get no new certificate while it exists`
        : 'request another certificate: the Revocation has no spec.holders, so it does not prevent that',
    ],
  };
}

/** Returns until when the API server accepts the certificate, and how to end the access. */
function accessLeft(
  pem: string,
): { readonly text: string; readonly remediation: readonly string[] } | undefined {
  const chain = attempt(() => readCertificates(pem));
  const leaf = chain instanceof SignerError ? undefined : chain[0];
  const identity = leaf && apiServerIdentity(leaf);
  if (leaf === undefined || identity === undefined) return undefined;
  const groups = identity.groups.map((group) => ` --as-group ${shellWord(group)}`).join('');
  return {
    text: `kube-apiserver reads no CRL: if its --client-ca-file has the CA, it accepts the certificate until ${formatTime(leaf.notAfter)}`,
    remediation: [
      `kubectl auth can-i --list --as ${shellWord(identity.user)}${groups}   # what the user may still do`,
      'remove the user and its groups from all RoleBindings and ClusterRoleBindings (bind the other members of a group by name first), or replace the CA in --client-ca-file, which ends the access of all its certificates (docs/how-to/revoke.md#end-the-access-to-the-api-server)',
    ],
  };
}
