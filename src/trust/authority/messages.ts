// SPDX-License-Identifier: Apache-2.0
/** Texts of the authority, by where users read them. */
import { listInInstallation } from '#api/operator/installation-value.ts';
import { SIGNER_NAME, CLUSTER_SIGNER_UID } from '#api/signer/grant.ts';
import { quote } from '#base/quote.ts';
import { MAX_AUTHORITIES } from '#api/signer/cluster-signer-limits.ts';
import { formatTime } from '#api/object/time.ts';
import type { AuthorityPhase } from '#api/signer/cluster-signer.ts';
import { UNKNOWN_ANCHOR_ADVICE } from '#api/signer/unknown-anchor.ts';
import { FILLED_BY } from '#api/signer/own-tls.ts';

// Condition Ready

export function signing(fingerprint: string): string {
  return `signing with ${fingerprint}`;
}

export function signingEarlierRead(fingerprint: string, problem: string): string {
  return `signing with ${fingerprint}, which was read earlier; ${problem}`;
}

export const SIGNING_EARLIER_READ = 'signing with the CA that was read earlier';

/** @param meanwhile - who signs until then */
export function propagating(fingerprint: string, duration: string, meanwhile: string): string {
  return `${fingerprint} signs once its anchor has been published for ${duration}. ${meanwhile}`;
}

export const SIGNED_FROM_MEMORY =
  'Until then, components that hold the previous CA in memory sign with it, and a component that restarts signs nothing';

export function noneSigns(until: string): string {
  return `No component signs until ${until}. Then components that hold the previous CA in memory sign with it`;
}

export function previousLoaded(fingerprint: string, at: number): string {
  return `${formatTime(at)}, when every kubelet has loaded the anchor of the previous CA ${fingerprint}`;
}

export function previousPublished(fingerprint: string, duration: string): string {
  return `the anchor of the previous CA ${fingerprint} has been published for ${duration}`;
}

/** @param until - the time at which signing resumes, or the event that it waits for */
export function keyLost(fingerprint: string, cause: string, until: string): string {
  return `the key of CA ${fingerprint} is lost: ${cause}. No component signs until ${until}`;
}

export function secretDeleted(secret: string): string {
  return `Secret ${secret} was deleted`;
}

export function secretReplaced(secret: string): string {
  return `Secret ${secret} replaced the Secret that held it`;
}

export const REPLACED_BY_KEY_HOLDER = 'spec.authority.keyHolder replaced the Secret that held it';

export function anchorLoaded(fingerprint: string, at: number): string {
  return `${formatTime(at)}, when every kubelet has loaded the anchor of the new CA ${fingerprint}`;
}

export function anchorPublished(fingerprint: string, duration: string): string {
  return `the anchor of the new CA ${fingerprint} has been published for ${duration}`;
}

export const CA_REPLACED =
  'authority has created a new CA, and its anchor has been published for the propagation time';

export function signerNameTaken(elder: string, signerName: string): string {
  return `ClusterSigner "${elder}" is older and serves ${signerName}; delete this one, and create another with a signer name of its own`;
}

export function creatingCa(secret: string): string {
  return `creating the CA in Secret ${secret}`;
}

/** Returns the next steps of a user while a certificate is awaited. */
export function howToInstall(name: string): string {
  return `the upstream CA must sign a certificate: print the request with countersign authority csr ${name}, have it signed, and install the chain with countersign authority install ${name} --chain FILE`;
}

export function secretNotFound(secret: string, signerName: string): string {
  return `Secret ${secret} does not exist; create it (type kubernetes.io/tls) with the annotation ${SIGNER_NAME}: ${signerName}`;
}

export function secretNotGranted(secret: string, grantee: string, signerName: string): string {
  return `Secret ${secret} does not grant its key to this signer${grantee}; its owner does that with the annotation ${SIGNER_NAME}: ${signerName}`;
}

export function grantee(name: string): string {
  return `, but to ${quote(name)}`;
}

export function secretUnread(secret: string, cause: string, advice: string): string {
  return `Secret ${secret} is not read yet: ${cause}${advice}`;
}

export const GRANT_ADVICE =
  '; a permission is missing in Role countersign-authority (countersign check prints how to grant it in this installation)';

export function unusableSecret(secret: string, fault: string): string {
  return `Secret ${secret}: ${fault}`;
}

export function unusableChain(fault: string): string {
  return `spec.authority.keyHolder: ${fault}`;
}

export function distrustedBySpec(fingerprint: string): string {
  return `it holds ${fingerprint}, which spec.authority.managed.distrusted names`;
}

export function distrustedBefore(fingerprint: string): string {
  return `it holds ${fingerprint}, which left trust by distrust (status.distrusted) and never returns`;
}

/** @param omitted - the texts of sortAnchors, at least one */
export function anchorsOmitted(omitted: readonly string[]): string {
  const [first = '', ...more] = omitted;
  const others = more.length === 0 ? '' : `; and ${more.length} more`;
  return `ca.crt: ${first}${others}; the other anchors are published, and leaves that chain to this one alone are not trusted`;
}

/** @param omitted - number, subject, fingerprint and fault of each certificate, at least one */
export function certificatesOmitted(omitted: readonly string[]): string {
  return `leaves come without these certificates of tls.crt: ${omitted.join('; ')}; remove them, or put the missing ones beside them`;
}

export function anchorsDistrusted(fingerprint: string, anchors: readonly string[]): string {
  return `it holds ${fingerprint}, and no verifier may trust its anchor ${anchors.join(', ')} any more (status.distrusted)`;
}

export function authoritiesFull(fingerprint: string): string {
  return `it holds ${fingerprint}, and status.authorities is full: leaves of all ${MAX_AUTHORITIES} CAs may be valid`;
}

// Condition RotationDue

export function dueAt(what: string, at: number): string {
  return `${what} ${formatTime(at)}`;
}

export const SUCCESSOR_DUE = 'its successor is due at';
export const OWN_SUCCESSOR_DUE = 'put its successor into its Secret by';

export function ownCaEnds(notAfter: string, namespace: string, name: string): string {
  return `the CA ends at ${notAfter}; put its successor into Secret ${namespace}/${name}`;
}

export function heldCaEnds(notAfter: string): string {
  return `the CA ends at ${notAfter}; put its successor into spec.authority.keyHolder, and its key into the key holder`;
}

export function waiting(cause: string): string {
  return `; it waits: ${cause}`;
}

export function successorWaits(due: string, since: number, cause: string): string {
  return `${due}; a successor was requested for ${formatTime(since)} and waits: ${cause}`;
}

export const CLOCKS_APART =
  'the clocks of this process and of the API server differ too much; correct the wrong one';
export const SECRET_NOT_OWNED =
  'its Secret was not created for this ClusterSigner, so Countersign does not write it';
export const SECRET_IMMUTABLE = 'its Secret is immutable';

// Condition AwaitingCertificate

export const WAITS_FOR_CERTIFICATE =
  'the certificate from the upstream CA is not installed (condition AwaitingCertificate)';

export const REQUESTING_CERTIFICATE =
  'its certificate is requested from the upstream CA (condition AwaitingCertificate)';

export const NO_CERTIFICATE_AWAITED = 'no certificate is awaited from the upstream CA';

export function installBy(until: number): string {
  return `; leaves get shorter if it is not installed by ${formatTime(until)}`;
}

export function chainRefused(problem: string): string {
  return `the chain in spec.authority.managed.upstream is refused: ${problem}`;
}

export function upstreamRefused(problem: string, retryAt: number | undefined): string {
  const retry =
    retryAt === undefined ? '' : `; a new request replaces it at ${formatTime(retryAt)}`;
  return `the upstream CA gave no usable certificate: ${problem}${retry}`;
}

export function requestNotApproved(request: string): string {
  return `${request} is not approved yet; wait for the approver of cert-manager, or run cmctl approve`;
}

export function requestNotIssued(request: string, issuer: string, problem: string): string {
  return `${request} is approved and waits for ${issuer}: ${problem}`;
}

export function requestNotCreated(request: string, problem: string): string {
  const advice = listInInstallation({
    what: 'the issuer',
    value: 'upstreamIssuers',
    flag: '--upstream-issuer <issuer>',
  });
  return `cannot read or create CertificateRequest ${request}: ${problem}; install cert-manager, and ${advice}`;
}

// Condition AwaitingCertificate, and log, for upstream.vault

export function vaultNotListed(server: string): string {
  return `${server} is not listed in this installation; list it in upstreamVaults of the chart (--upstream-vault of authority)`;
}

export function vaultSignDenied(server: string, path: string, problem: string): string {
  return `${server} denied ${path}: ${problem}; a policy of the role must allow update on this path`;
}

export function vaultSignFailed(server: string, path: string, problem: string): string {
  return `${server} did not sign by ${path}: ${problem}`;
}

export const VAULT_REFUSED_BEFORE =
  'the certificate for this key was refused before this process started';
export const VAULT_CALLED = 'requested a CA certificate from Vault';

// Condition Rotating

export const NO_CA_PREPARED = 'no CA is prepared';

export function preparedAndHeld(fingerprint: string): string {
  return `${fingerprint} is prepared and does not sign until a rotation is due`;
}

export function publishing(fingerprint: string): string {
  return `${fingerprint} signs once its anchor has been published for the propagation time`;
}

// Condition Degraded

export const IMMUTABLE_CA =
  'authority cannot replace the CA, because its Secret is immutable. Scale authority to 0 replicas, or it creates a new CA once you delete the Secret. Recreate the Secret without immutable, with the same data and annotations. Then scale authority up again';

export function foreignSecret(uid: string): string {
  return `the Secret was not created for this ClusterSigner, so its CA is never replaced; to have it replaced, set the Secret's annotation ${CLUSTER_SIGNER_UID}: ${uid}`;
}

export function leavesCutShort(notAfter: string): string {
  return `leaves are shorter than the profile allows, because their CA expires at ${notAfter}`;
}

export function rejectedTrust(finding: string): string {
  return `${finding}; docs/reference/verifiers.md has what to do`;
}

export function unreadTimes(annotations: readonly string[]): string {
  return `${annotations.join(' and ')}: not an RFC 3339 time; write it as 2026-11-21T09:00:00Z`;
}

// Conditions Served and Recorded

export function servedBy(components: string): string {
  return `served by ${components}`;
}

export function unserved(cause: string, components: readonly string[]): string {
  return `${cause}: ${components.join(', ')}`;
}

export const NOT_OBSERVED = 'have not observed it yet';
export const NOT_REPORTED =
  'not known whether these serve it, since they do not report (Leases are off, or an older version)';

export function componentDown(component: string): string {
  return `no replica of ${component} is alive; look at Deployment countersign-${component}`;
}

export function optionalDown(component: string): string {
  return `no replica of ${component} is alive; look at Deployment countersign-${component}. If your values disable it, set components.${component}.enabled: true`;
}

export function namespacedSignersOff(component: string): string {
  return `${component} runs without --namespaced-signers`;
}

export function affectedReplicas(affected: number, total: number): string {
  return ` (${affected} of ${total} replicas)`;
}

export function componentFault(component: string, part: string, faults: readonly string[]): string {
  return `${component}${part}: ${faults.join('; ')}`;
}

export function expressionFault(expression: string, fault: string): string {
  return `${expression}: ${fault}`;
}

export const LEDGER_SILENT = 'ledger is not reporting: certificates are not compared with records';

// Condition Listed of a Revocation

export const ALL_LISTED = 'every certificate is on the CRL of its CA';

/** Message about a Revocation with a certificate whose CA it does not name. */
export const LISTED_BY_EACH =
  'every certificate is on a CRL. Those without spec.certificates[].authority are on that of at least one CA of this ClusterSigner: if another CA issued them, verifiers may still accept them';

export function unsignedCertificates(count: number): string {
  return `authority has not signed a CRL with ${count} of the certificates. See countersign check --explain crls-signed`;
}

export function unlistedCertificates(count: number): string {
  return `${count} of the certificates are of a CA whose key this ClusterSigner does not have: no CRL lists them`;
}

// Events and log of a CA

export function caCreated(namespace: string, name: string, cause: string): string {
  return `created a new CA in Secret ${namespace}/${name}${cause}`;
}

export function certificateRequested(namespace: string, name: string, cause: string): string {
  return `created a key in Secret ${namespace}/${name}, and its request for the upstream CA in status.upstream${cause}`;
}

export function certificateInstalled(namespace: string, name: string): string {
  return `installed the chain of the upstream CA in Secret ${namespace}/${name}`;
}

export function stepWritten(step: string, cause: string): string {
  return `rotation step ${step} written to the CA Secret${cause}`;
}

export function due(message: string): string {
  return `: ${message}`;
}

export const CROSS_SIGNED =
  'the previous CA certified the key of the active CA: verifiers that have only the old root accept its leaves';
export const NOT_CROSS_SIGNED =
  'verifiers that have only the old root reject the leaves of the active CA: the previous CA was created without crossSigned, can no longer be used, or status.crossCertificates is full';

export function retainedAnchor(fingerprint: string, until: string): string {
  return `the bundle keeps ${fingerprint} until ${until}: it was published for an earlier ClusterSigner. ${UNKNOWN_ANCHOR_ADVICE}`;
}

export function relearnedAnchor(fingerprint: string, until: string): string {
  return `the bundle keeps ${fingerprint} until ${until}: the status of this ClusterSigner was lost, and the bundle still had it. ${UNKNOWN_ANCHOR_ADVICE}`;
}

const PHASES: Readonly<Record<AuthorityPhase, string>> = {
  Prepared:
    'is prepared: attester publishes its anchor. It signs once the anchor has been published for the propagation time. If it was prepared ahead of a rotation, it signs when the rotation is due or requested',
  Active: 'is active and signs from now on',
  Retiring: 'no longer signs; it is trusted until its last leaf has expired',
  Distrusted:
    'is distrusted: it no longer signs, and attester removes its anchor from the bundle now',
};

/** @param leavesExpireBy - the end of the last leaf, at which a Retiring CA leaves the bundle */
export function phaseEntered(
  fingerprint: string,
  phase: AuthorityPhase,
  leavesExpireBy: string | undefined,
): string {
  const end =
    phase === 'Retiring' && leavesExpireBy !== undefined
      ? `, at ${leavesExpireBy} at the latest`
      : '';
  return `${fingerprint} ${PHASES[phase]}${end}`;
}

export function preparedGone(fingerprint: string): string {
  return `${fingerprint} was prepared and is removed: it never signed`;
}

export function caGone(fingerprint: string, phase: string): string {
  return `${fingerprint}, which was ${phase}, is removed: its last leaf has expired`;
}

export function conditionChanged(kind: string, type: string, value: string): string {
  return `${kind} ${type}=${value}`;
}

// Events and log of an ACME account key

export const ACCOUNT_KEY_MADE = 'a new account key was made';
export const ACCOUNT_KEY_PREPARED = 'a new account key was prepared beside the one in use';
export const ACCOUNT_KEY_REPLACED = 'the new account key is in use, the old one was removed';

export function inSecret(what: string, secret: string): string {
  return `${what}, in Secret ${secret}`;
}

export function accountKeyLost(secret: string, url: string, advice: string): string {
  return `${secret} has no key any more, and the account ${url} had one; restore the Secret from a copy, or give up the account: ${advice}`;
}

export function secretText(secret: string): string {
  return `Secret ${secret}`;
}

export function keyCommand(signer: string): string {
  return `countersign account-key ${signer} makes a new key`;
}

export function deleteAndKeyCommand(signer: string): string {
  return `delete the Secret, and countersign account-key ${signer} makes a new key`;
}

// CRLs: log and /readyz

export const CRL_SIGNED = 'signed a CRL';

export function crlNotSigned(fingerprint: string, fault: string): string {
  return `authority cannot sign the CRL of ${fingerprint}: ${fault}`;
}

/** @param nextUpdate - of the published CRL, or undefined if there is none */
export function crlKeyGone(
  fingerprint: string,
  nextUpdate: number | undefined,
  leavesExpireBy: string | undefined,
): string {
  const effect =
    nextUpdate === undefined
      ? 'Verifiers that check CRLs find none and reject its leaves'
      : `Verifiers that check CRLs reject its leaves after ${formatTime(nextUpdate)}, the nextUpdate of its last CRL`;
  const end = leavesExpireBy === undefined ? '' : `. Its last leaf expires by ${leavesExpireBy}`;
  return `authority cannot sign the CRL of CA ${fingerprint}: the CA Secret does not have its key. No CRL lists certificates of this CA that you revoke from now on. ${effect}${end}. See countersign check --explain crls-signed`;
}

export const CRL_SIGN_NOT_ALLOWED = 'the CA signs no CRLs here';

export function crlsNotWritten(fault: string): string {
  return `the CRLs could not be written: ${fault}`;
}

export const NO_CA_SECRET = 'no CRL can be signed: the CA Secret does not exist';

// Own serving certificates: log and /readyz

export const OWN_CA_PUBLISHED = 'published the CA of our own ports';
export const LEDGER_CA_PUBLISHED = 'published the CA of the ledger';
export const SERVING_CERTIFICATE_ISSUED = 'issued a serving certificate';

/** A single file of the manifests would create the objects of components that are not installed. */
const INSTALL_AGAIN =
  'repeat helm upgrade, countersign install or kubectl apply -k ., which creates it empty; the operator does so by itself';

export function configMapMissing(name: string): string {
  return `ConfigMap ${name} does not exist; ${INSTALL_AGAIN}`;
}

export function configMapNotGranted(name: string, signerName: string): string {
  return `ConfigMap ${name} may not be filled in by Countersign; its owner allows that with the annotation ${FILLED_BY}: ${signerName}`;
}

export function configMapImmutable(name: string): string {
  return `ConfigMap ${name} is immutable; recreate it without immutable`;
}

export function servingSecretMissing(name: string): string {
  return `Secret ${name} does not exist; ${INSTALL_AGAIN}`;
}

export function servingSecretNotGranted(name: string, signerName: string): string {
  return `Secret ${name} may not be filled in by Countersign; its owner allows that with the annotation ${FILLED_BY}: ${signerName}`;
}

export function servingSecretType(name: string, type: string): string {
  return `Secret ${name} is of type ${type}; recreate it as Opaque`;
}

export function servingSecretImmutable(name: string): string {
  return `Secret ${name} is immutable; recreate it without immutable`;
}

export function caCannotSign(signerName: string, fault: string): string {
  return `the CA of ${signerName} cannot sign: ${fault}`;
}

export function servingSecretWaits(name: string): string {
  return `Secret ${name} waits until its CA has been in the ConfigMap for the propagation time`;
}

export function usagesMissing(signer: string, usages: readonly string[]): string {
  return `spec.profile.usages of ClusterSigner ${signer} lacks ${usages.join(' and ')}, which serving certificates need`;
}

export function signsNoLeaf(signer: string): string {
  return `ClusterSigner ${signer} signs the CAs of other clusters only (spec.intermediates); choose another for serving certificates`;
}

// /readyz

export function unlisted(failure: string | undefined): string {
  return `ClusterSigners, CA Secrets or bundles: ${failure ?? 'not listed yet'}`;
}

export function unlistedCrlObject(key: string, failure: string | undefined): string {
  return `${key}: ${failure ?? 'not listed yet'}`;
}

export function unlistedObject(
  namespace: string,
  name: string,
  failure: string | undefined,
): string {
  return `${namespace}/${name}: ${failure ?? 'not listed yet'}`;
}

export function unlistedAcmeSigners(failure: string): string {
  return `AcmeClusterSigners, for their account keys: ${failure}`;
}

export function leasesUnknown(namespace: string, failure: string): string {
  return `Leases in ${namespace}: ${failure}; which components serve is unknown`;
}

export function howToGrantAccountKey(secret: string): string {
  const advice = listInInstallation({
    what: 'it',
    value: 'acme.signers[].accountSecret',
    flag: `--acme-account-key ${secret}`,
  });
  return `${advice}. Or make the key yourself (countersign account-key)`;
}
