// SPDX-License-Identifier: Apache-2.0
/** Texts of the component acme, by where users read them. */
import { listInInstallation } from '#api/operator/installation-value.ts';
import { quoteList, quote } from '#base/quote.ts';
import { SIGNER_NAME } from '#api/signer/grant.ts';
import { NEXT_KEY } from '#api/signer/rotation-annotations.ts';
import { ACCOUNT_KEY } from '#api/acme/account-key.ts';

// Conditions and Events of an Order

export function noSolver(kind: string, signer: string, name: string, types: string): string {
  return `no solver of ${kind} ${signer} fits ${name}, for which the ACME server offers ${types}; add one to spec.acme.solvers`;
}

const TURNS = 'namespaces take turns, each with its renewals first, then its oldest Order';
export const ORDER_BUDGET = `a limit of the CA on orders, on certificates of equal names, or on failed validations of a name is reached; ${TURNS}`;
export const CERTIFICATE_BUDGET = `its names are proved, but a limit of the CA on certificates is reached; ${TURNS}`;

export function signerNotFound(kind: string, name: string): string {
  return `${kind} ${name} does not exist or is invalid`;
}

export function signerDeleted(kind: string, name: string): string {
  return `${kind} ${name} is being deleted, so it issues no certificate; create the Order with another spec.signerRef`;
}

export function signerNotReady(kind: string, name: string, cause: string): string {
  return `${kind} ${name} is not ready${cause}`;
}

export function notReadyCause(reason: string, message: string): string {
  return `: ${reason}: ${message}`;
}

export const RATE_LIMITED = 'the ACME server limits the calls of this account';

export function downloaded(order: string | undefined): string {
  return `downloaded the certificate of ${order ?? 'the order'}`;
}

export function revoked(reason: string | undefined): string {
  return `the CA has revoked the certificate (${reason ?? 'unspecified'})`;
}

export function renewalMoved(before: string, now: string): string {
  return `the renewal moved from ${before} to ${now}`;
}

// Conditions and Events of a Challenge

export function solverGone(solver: string): string {
  return `the signer no longer has the solver ${solver}; delete the Order, or add the solver again`;
}

export const SOLVER_SILENT = 'the component acme-solver has not answered; check that it runs';
export const SOLVER_SILENT_SO_FAR = 'the component acme-solver has not answered';

export function notRemoved(dnsName: string, solver: string, cause: string): string {
  return `acme-solver could not remove the TXT record or the route for ${dnsName} (solver ${solver}) within ten minutes: ${cause}. Remove it yourself`;
}

export function validationBudget(dnsName: string): string {
  return `the limit of the CA on failed validations of ${dnsName} is reached; the next one waits, because the CA would limit the whole account`;
}

// Events of requests, and why they wait

export function orderEnded(order: string, cause: string): string {
  return `Order ${order} ended: ${cause}`;
}

export function notRepeated(order: string, cause: string): string {
  return `Order ${order} ended: ${cause}; another Order would end alike, so none follows until the signer changes. After a correction at the CA, delete the Order to retry`;
}

export function signerHeld(cause: string, time: string): string {
  return `for a request of this signer, ${cause}: no request of the signer gets an Order before ${time}, unless the signer changes. One Order then tries the CA again`;
}

export function orderState(order: string, cause: string): string {
  return `Order ${order}: ${cause}`;
}

export function wrongChain(order: string, fault: string): string {
  return `Order ${order} has ${fault}`;
}

export function nextOrder(cause: string, time: string): string {
  return `${cause}; the next one is made at ${time}, or when it is deleted`;
}

export function reasonAndMessage(reason: string, message: string): string {
  return `${reason}: ${message}`;
}

export function unreadableChain(fault: string): string {
  return `a chain that cannot be read: ${fault}`;
}

export const NO_CERTIFICATE = 'no certificate';

export function orderExists(namespace: string, name: string): string {
  return `Order ${namespace}/${name} exists already`;
}

export function orderCreated(namespace: string, name: string): string {
  return `Order ${namespace}/${name} was created`;
}

export function requestedSignerNotReady(kind: string, name: string, cause: string): string {
  return `${kind} ${name} is not ready${cause}`;
}

export function notReadyReason(reason: string | undefined): string {
  return `: ${reason ?? ''}`;
}

export function unprovableNames(fields: readonly string[]): string {
  return `it requests ${fields.join(', ')}, but an ACME server certifies only DNS names and addresses; leave them out`;
}

export function unorderableName(name: string): string {
  return `an ACME signer takes only requests whose name is a DNS subdomain (RFC 1123) of at most 253 characters, and this one is named ${quote(name, 60)}; create it again with such a name`;
}

export function copyMissing(fields: readonly string[]): string {
  return `spec.requests.copy does not list ${fields.join(', ')}, and an ACME server certifies all names of a request or none`;
}

export const NO_NAMES = 'it requests neither a DNS name nor an address';

export function tooManyNames(count: number, max: number): string {
  return `it requests ${count} names, more than the ${max} of one certificate`;
}

export function listed(what: string, names: readonly string[]): string {
  return `${what}: ${quoteList(names)}`;
}

export function unprovableCommonName(name: string): string {
  return `its common name ${quote(name)} is neither a DNS name nor an address; leave it out`;
}

// Events of Certificates

export function renewalSuggested(from: string, to: string): string {
  return `The CA suggests to renew it from ${from} to ${to}`;
}

export function renewalNotMarked(fault: string): string {
  return `cannot mark its Certificate, so cert-manager decides when to renew it: ${fault}`;
}

export function renewalMarked(certificate: string): string {
  return `Certificate ${certificate} is marked for renewal, as by cmctl renew`;
}

// Condition Ready of an ACME signer

export function annotateSecret(signerName: string): string {
  return `annotate it with ${SIGNER_NAME}=${signerName}`;
}

export function accountKeyNotGranted(secret: string, advice: string): string {
  return `Secret ${secret} does not grant its key to this signer; ${advice}`;
}

export function nextKeyFault(fault: string): string {
  return `${NEXT_KEY} of the Secret: ${fault}`;
}

export const STORE_ACCOUNT_KEY = `store the private key of the account there as ${ACCOUNT_KEY}, or have countersign account-key or the component authority create one`;

export function accountKeyFault(secret: string, fault: string, advice: string): string {
  return `Secret ${secret}: ${fault}; ${advice}`;
}

export function externalAccountFault(secret: string, fault: string, key: string): string {
  return `Secret ${secret}: ${fault}; put the MAC key that the CA gave you there as ${key}`;
}

export function macKeyBlank(key: string): string {
  return `its ${key} is blank`;
}

export function macKeyHexadecimal(key: string): string {
  return `its ${key} is hexadecimal, and not base64url text (RFC 8555 §7.3.4)`;
}

export function macKeyNotBase64(key: string): string {
  return `its ${key} is not base64url text (RFC 8555 §7.3.4)`;
}

export function macKeyShort(key: string, octets: number, least: number): string {
  return `its ${key} has ${octets} octets, and HS256 needs ${least} (RFC 7518 §3.2)`;
}

export function checkExternalAccount(secret: string, keyId: string): string {
  return `; if it refuses the external account, correct spec.acme.externalAccountBinding.keyID (${quote(keyId, 100)}) or the MAC key in Secret ${secret}`;
}

export function secretLacks(key: string): string {
  return `it has no ${key}`;
}

/** @param isInTeam - whether the Secret is of an AcmeSigner, in the namespace of a team */
export function listSecret(secret: string, isInTeam: boolean): string {
  return listInInstallation({
    what: 'the Secret',
    value: isInTeam
      ? 'acme.secrets'
      : 'acme.signers (accountSecret, or externalAccountSecret for an external account)',
    flag: `--acme-secret ${secret}`,
  });
}

export function accountStatus(account: string, status: string): string {
  return `the ACME account ${account} is ${status} and cannot be used again; name another Secret in spec.acme.accountKey.secret, and make its key with countersign account-key`;
}

export const CORRECT_SERVER = '; correct spec.acme.server';

export function serverFault(fault: string, advice: string): string {
  return `spec.acme.server: ${fault}${advice}`;
}

export function registrationRefused(
  status: number,
  type: string,
  detail: string,
  advice: string,
): string {
  return `the ACME server refused: ${status} ${type}${detail === '' ? '' : ` ${detail}`}${advice}`;
}

export function keyChanged(thumbprint: string): string {
  return `the account has the new key ${thumbprint}`;
}

export function serverAnswer(status: number, type: string, detail: string): string {
  return `${status} ${type}${detail === '' ? '' : ` ${detail}`}`;
}

export function answered(answer: string): string {
  return `it answered ${answer}`;
}

export const REMOVE_NEXT_KEY = 'remove next.key from the Secret to get another one';

export function newKeyInUse(answer: string, advice: string): string {
  return `the new key has an account already (${answer}); ${advice}`;
}

export const NAME_OTHER_SECRET =
  'to use another key, name another Secret in spec.acme.accountKey: a new account';

export function keyChangeImpossible(cause: string, advice: string): string {
  return `the ACME server cannot change the key: ${cause}; ${advice}`;
}

export function oldKeyKept(cause: string): string {
  return `the account keeps its old key: ${cause}`;
}

export const KEY_CHANGES = 'the account changes to its new key';

export function invalidServer(server: string): string {
  return `spec.acme.server ${server} is not a directory URL`;
}

export function signerNameTaken(rival: string, signerName: string): string {
  return `${rival} has the signer name ${signerName} too; delete one of them`;
}

export function serverNotAllowed(server: string): string {
  return `the administrator does not allow AcmeSigners the server ${server}: the component acme has no --namespaced-server of this URL`;
}

export function originNotAllowed(origin: string): string {
  return `the administrator does not allow AcmeSigners the origin ${origin} of spec.acme.additionalOrigins: the component acme has no --namespaced-server of this origin`;
}

export function accountReady(account: string): string {
  return `requests are answered by the account ${account}`;
}

// Log

export const CHALLENGE_CHANGED = 'Challenge changed';
export const CHALLENGE_RESTARTED = 'the account has a new key, another Challenge is made';
export const AUTHORIZATION_GIVEN_UP = 'authorization given up';
export const AUTHORIZATION_LEFT = 'authorization left to its end';
export const REVOCATION_CHANGED = 'revocation changed';
export const ORDER_CHANGED = 'Order changed';
export const ORDER_MADE = 'order made';
export const ORDERS_DELETED = 'unneeded Orders were deleted';
export const ORPHAN_REMOVED = 'removed an order without a request';
export const ORPHAN_NOT_REMOVED = 'cannot remove an order without a request';
export const UNREADABLE_OBJECT = 'object cannot be read, ignored';

// /readyz

export function unlisted(failure: string | undefined): string {
  return `ACME signers, Orders or Challenges: ${failure ?? 'not listed yet'}`;
}
