// SPDX-License-Identifier: Apache-2.0
/** Texts about the CAs that requests need, by where users read them. */
import { listInInstallation } from '#api/operator/installation-value.ts';
import { SIGNER_NAME } from '#api/signer/grant.ts';

// Events of requests that wait for the CA

export const SECRET_MISSING = 'its CA Secret does not exist';

export function secretNotGranted(signerName: string): string {
  return `its CA Secret lacks the annotation ${SIGNER_NAME}: ${signerName}`;
}

export const CA_DISTRUSTED =
  'its CA is distrusted (spec.authority.managed.distrusted or status.distrusted of the signer)';
export const CA_EXPIRED = 'its CA certificate has expired';

export function signerNotChecked(kind: string, signer: string): string {
  return `${kind} ${signer} has not been checked by the authority component yet`;
}

export function signerNotReady(
  kind: string,
  signer: string,
  reason: string | undefined,
  fault: string | undefined,
): string {
  return `${kind} ${signer} is not ready: ${reason ?? ''}: ${fault ?? ''}`;
}

export const DOES_NOT_EXIST = 'it does not exist';

export function secretPermissionMissing(
  component: string,
  permission: string,
  advice: string,
): string {
  return `${component} was not granted ${permission}; ${advice}`;
}

export function namespacedPermissionMissing(
  component: string,
  permission: string,
  secret: string,
): string {
  const advice = listInInstallation({
    what: `Secret ${secret}`,
    value: 'namespacedSigners.secrets',
    flag: `--signer-secret ${secret}`,
  });
  return `${component} was not granted ${permission}; ${advice}`;
}

// Logs

export const HOLDER_ANSWERS = 'the key holder answers';
export const HOLDER_AWAY = 'the key holder does not answer; requests wait';
export const HOLDER_UNUSABLE = 'the key holder cannot sign for a signer; its requests wait';

// Condition of a signer, by the report of the component

export function holderFault(fault: string, component: string): string {
  return `${fault}; read the log of its sidecar: kubectl logs deployment/countersign-${component} -c key-holder`;
}

// Conditions of a Signer whose CA is too large

export function tooManyCharacters(keys: readonly string[], size: number, max: number): string {
  return `${keys.join(', ')} have ${size} characters together; the Secret of a Signer may have ${max}`;
}

export function tooManyAnchors(count: number, max: number): string {
  return `ca.crt has ${count} trust anchors; that of a Signer may have ${max}: remove those that its CA does not chain to`;
}

export function rsaKeyTooLong(bits: number, max: number): string {
  return `its CA has an RSA key of ${bits} bits, which signs slowly; the CA of a Signer may have ${max}`;
}

export function tooManyConstraints(count: number, max: number): string {
  return `its CA certificates have ${count} name constraints together, which are compared with each name; those of a Signer may have ${max}`;
}

// /readyz

export function unlistedCa(signer: string, failure: string | undefined): string {
  return `CA of ${signer}: ${failure ?? 'not listed yet'}`;
}

export function unusableCa(signerName: string, fault: string): string {
  return `${signerName}: ${fault}`;
}
