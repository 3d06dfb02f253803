// SPDX-License-Identifier: Apache-2.0
/** Texts of the acme-solver, by where users read them. */
import { listInInstallation } from '#api/operator/installation-value.ts';
import { quote } from '#base/quote.ts';

// Conditions and Events of a Challenge

export function solverNotFound(kind: string, name: string, what: string): string {
  return `${kind} ${name} ${what}; delete the Order to have another Challenge made`;
}

export const SIGNER_MISSING = 'does not exist';

export function solverMissing(solver: string): string {
  return `has no solver ${quote(solver)}`;
}

export function unsupportedSolver(solver: string): string {
  return `this version has no solver for ${quote(solver)}`;
}

export function unreadableSecret(
  secret: string,
  fault: string,
  namespace: string,
  name: string,
): string {
  const advice = listInInstallation({
    what: 'it',
    value: 'acme.solverSecrets',
    flag: `--solver-secret ${namespace}/${name}`,
  });
  return `${secret} cannot be read: ${fault}; ${advice}`;
}

export function secretText(namespace: string, name: string): string {
  return `Secret ${namespace}/${name}`;
}

export function keyMissing(secret: string, key: string): string {
  return `${secret} has no key ${quote(key)}`;
}

export const NO_SOLVER = 'there is no solver';

// Log

export const LEFT_BEHIND = 'a record or route is left behind';
export const SOLVER_FAILED = 'solver failed, retrying';
export const CLEANED_UP = 'cleaned up';
export const ROUTES_REMOVED = 'removed routes without a Challenge';
export const ROUTES_UNKNOWN = 'cannot look for routes without a Challenge';

// /readyz

export function unlisted(failure: string | undefined): string {
  return `Challenges or ACME signers: ${failure ?? 'not listed yet'}`;
}
