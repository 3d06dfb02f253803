// SPDX-License-Identifier: Apache-2.0
/** Texts about solvers and their checks, by where users read them. */
import { listInInstallation } from '#api/operator/installation-value.ts';
import { quantity } from '#base/quantity.ts';
import { quote } from '#base/quote.ts';
import type { GuardWords } from '#base/egress/connect-guard.ts';

// Refusals of an address

/** Callees of a Challenge's self-check: servers that requesters name, by DNS or by a redirect. */
export const OF_THE_SELF_CHECK: GuardWords = {
  called: 'what the self-check calls',
  flag: '--self-check-network',
};

export const OF_ACME_SIGNERS: GuardWords = {
  called: 'servers of AcmeSigners',
  flag: 'acme.networks, --namespaced-network',
};

/** Fix for a host without an address that the self-check may call. */
export const ALLOW_A_NETWORK =
  'an administrator can allow networks outside the Internet (--self-check-network of acme)';

// Flags

export function invalidHttp01Grant(text: string): string {
  return `${JSON.stringify(text)} is not a namespace and zone; write team-a=team-a.example.com`;
}

export function invalidSolverGrant(text: string, members: string): string {
  return `${JSON.stringify(text)} is not an address of a solver; write ${members}=… or nameserver=…, with the address as the signer has it`;
}

// Conditions of a Challenge: not granted

export function nameNotGranted(namespace: string, dnsName: string): string {
  return `AcmeSigners of namespace ${namespace} may not prove ${quote(dnsName)} by HTTP-01; an administrator grants it by --http01-zone ${namespace}=${dnsName} of acme, acme-solver and acme-responder`;
}

export function solverNotGranted(member: string, text: string): string {
  return `the administrator does not allow AcmeSigners the ${member} ${quote(text, 200)}: the components acme and acme-solver have no --namespaced-solver of it (${member}=…)`;
}

// Conditions of a Challenge: DNS servers and resolvers

export function notADnsName(name: string): string {
  return `cannot be queried: ${quote(name)} is not a DNS name`;
}

export const NOT_HOST_AND_PORT = 'is not host:port';
export const NOT_A_URL = 'is not a URL';

export function httpStatus(status: number): string {
  return `answers HTTP status ${status}`;
}

export function invalidDnsMessage(fault: string): string {
  return `sends no DNS message: ${quote(fault)}`;
}

export const DNS_CUT = 'it ends too early';
export const DNS_NAME = 'a name is too long';
export const DNS_LABEL = 'a label has another type';
export const DNS_POINTER = 'a compression pointer leads to no earlier name';
export const DNS_POINTERS = 'a name has too many compression pointers';
export const DNS_STRING = 'a string is longer than its TXT record';

export function dnsAddress(type: string): string {
  return `a record of type ${type} has no address`;
}

export function dnsRecords(limit: number): string {
  return `a section has more than ${limit} records`;
}

export function notCalled(refusal: string): string {
  return `is not called: ${refusal}`;
}

export const OTHER_QUERY = 'answers another query';
export const CONNECTION_CLOSED = 'closes the connection without an answer';
export const NO_ANSWER = 'does not answer';

export function unreachable(fault: string): string {
  return `cannot be reached: ${quote(fault, 300)}`;
}

export const NO_RESOLVER = 'there is no resolver';

export function answeredRcode(rcode: string): string {
  return `answers ${rcode}`;
}

export function resolverFault(resolver: string, fault: string): string {
  return `the resolver ${resolver} ${fault}`;
}

export function cnameLoop(name: string, max: number): string {
  return `the CNAMEs of ${name} have more than ${max} links, or form a circle`;
}

export function zoneQueryAnswer(rcode: string): string {
  return `answers ${rcode} to the query for the zone`;
}

export const NO_ZONE = 'has no zone for it';
export const NO_NS_RECORDS = 'the resolver returned no NS records of it';

export function zoneNotFound(name: string, fault: string): string {
  return `cannot find the zone of ${name}: ${fault}`;
}

export function serversNotFound(zone: string, fault: string): string {
  return `cannot find the servers ${zone}: ${fault}`;
}

export const OF_ITS_ZONE = 'of its zone';

export function ofZone(zone: string): string {
  return `of ${zone}`;
}

export const OF_THE_SOLVER = 'that the solver names';
export const CANNOT_BE_QUERIED = 'cannot be queried';

/**
 * The same text for a server without an address and for one with refused addresses. The owner of a
 * zone may name any host as its server, and must not learn which names the cluster's own DNS has.
 */
export const NO_ALLOWED_ADDRESS = 'has no address that may be called';

/**
 * Text for a server behind a CNAME outside the Internet, because its name and address belong to the
 * cluster.
 */
export const A_SERVER = 'a server';

export function withNetworkAdvice(missing: string): string {
  return `${missing}; ${ALLOW_A_NETWORK}`;
}

// Conditions of a Challenge: the TXT record

export function recordNotSeen(
  path: string,
  count: string,
  servers: string,
  faults: readonly string[],
): string {
  return `the TXT record ${path} is not seen on ${count} ${servers}: ${faults.join('; ')}`;
}

export function shareOfServers(counted: number, asked: number): string {
  return `${counted} of ${quantity(asked, 'server')}`;
}

export function moreServers(count: number): string {
  return `${count} more`;
}

export function delegated(name: string, target: string, further: string): string {
  return `${name} (CNAME to ${target}${further})`;
}

export function besideWildcard(name: string, target: string): string {
  return `${name} (at the name itself: its CNAME to ${target} comes from a wildcard)`;
}

export function moreLinks(count: number): string {
  return ` and ${count} more`;
}

export const NO_SUCH_NAME = 'answers that there is no such name';

export const NOT_AUTHORITATIVE = 'is not authoritative for the zone';
export const NOT_RECURSIVE =
  'answers with a CNAME and does not follow it; name resolvers that recurse in selfCheck.nameservers';
export const NO_TXT_RECORD = 'answers that the name has no TXT record';

export function otherValues(count: number): string {
  return `answers ${quantity(count, 'other value')}`;
}

export function withRecord(missing: string, record: string): string {
  return `${missing}. Write this record: ${record}`;
}

export const CA_NAME = "the CA's name in CAA records";

export function waitsInstead(wait: string, until: string): string {
  return `waits ${wait} instead of a check, until ${until}`;
}

// Conditions of a Challenge: acme-dns

/**
 * Known error codes of acme-dns (its api.go and auth.go). The text of another server may have a
 * secret.
 */
export const ACME_DNS_ERRORS: Readonly<Record<string, string>> = {
  forbidden: 'it does not know the account, or not from this address (forbidden)',
  bad_subdomain: 'it does not know the subdomain of the account (bad_subdomain)',
  bad_txt: 'it accepts only values of 43 characters (bad_txt)',
  db_error: 'its database failed (db_error)',
};

export function notDelegated(name: string, record: string, target: string): string {
  return `${name} leads to nothing that acme-dns serves; write this record: ${record}. IN CNAME ${target}. If it is there, the resolvers of acme-solver do not see it: name others by --resolver`;
}

export function cname(record: string, target: string): string {
  return `${record} (CNAME to ${target})`;
}

export function invalidAccounts(secret: string): string {
  return `the key "accounts" of the Secret ${secret} is not a JSON object of acme-dns accounts by name: username, password, fulldomain and subdomain`;
}

export function accountMissing(secret: string, dnsName: string, known: string): string {
  return `the key "accounts" of the Secret ${secret} has no account for ${dnsName}, but for ${known === '' ? 'no name' : known}; register one and add it`;
}

export function serverStatus(server: string, status: number, cause: string): string {
  return `${server} answers HTTP status ${status}${cause}`;
}

// Conditions of a Challenge: dynamic updates (RFC 2136)

export function invalidServer(server: string): string {
  return `rfc2136.server ${quote(server)} is not host:port`;
}

export function invalidKeyName(name: string): string {
  return `rfc2136.tsig.keyName ${quote(name)} is not a DNS name`;
}

export function invalidKey(secret: string): string {
  return `the key "tsig" of the Secret ${secret} is not the base64 text of a TSIG key`;
}

export function cnamesNotFollowed(record: string, fault: string): string {
  return `cannot follow the CNAMEs of ${record}: ${fault}`;
}

export function primaryWithoutZone(server: string, fault: string, record: string): string {
  return `${server} ${fault}, the record ${record}; set rfc2136.zone, or another server`;
}

export function notUpdatable(record: string, zone: string): string {
  return `${record} in the zone ${quote(zone)} is not a name that can be updated`;
}

export function recordOutsideZone(record: string, zone: string): string {
  return `${record} is not in the zone ${zone}; correct rfc2136.zone or the selector of the solver`;
}

export function answerUnverified(server: string, fault: string): string {
  return `the answer of ${server} ${fault}: another party may have written it, so it is rejected`;
}

export const NOT_SIGNED = 'is not signed';
export const WRONG_SIGNATURE = 'has a wrong signature';

export function unknownKey(name: string, algorithm: string): string {
  return `does not know the TSIG key ${name} with ${algorithm}, or not for this zone; correct rfc2136.tsig or the server's keys`;
}

export function otherSecret(name: string): string {
  return `has another secret for the TSIG key ${name}; correct the Secret`;
}

export function clockDiffers(minutes: number, aheadSeconds: number): string {
  return `has a clock that is ${minutes} minutes ${aheadSeconds < 0 ? 'behind' : 'ahead of'} ours; set the clocks`;
}

export function longerSignature(name: string): string {
  return `wants a longer signature by the TSIG key ${name}; correct the server's keys`;
}

export function signatureRefused(name: string): string {
  return `refuses the signature by the TSIG key ${name}`;
}

export const WITHOUT_KEY = 'without a TSIG key';

export function withKey(name: string): string {
  return `with the TSIG key ${name}`;
}

export function updateNotAllowed(name: string, who: string): string {
  return `does not allow TXT records of ${name} to be changed ${who}; correct its update policy`;
}

export function notPrimary(zone: string, record: string): string {
  return `is not the primary of the zone ${zone}, to which ${record} belongs, or wants a TSIG key; correct rfc2136.server, zone or tsig`;
}

export function nameOutsideZone(name: string, zone: string): string {
  return `reports that ${name} is not in the zone ${zone}; correct rfc2136.zone`;
}

export function zoneNotWritten(zone: string): string {
  return `could not write the zone ${zone}; see its log`;
}

export const NO_UPDATES = 'knows no dynamic updates; set another server';
export const UPDATE_NOT_UNDERSTOOD = 'does not understand the update; set another server';

export function updateRefused(name: string, zone: string): string {
  return `refuses to change TXT records of ${name} in the zone ${zone}`;
}

// Conditions of a Challenge: a provider that serves a webhook

export function providerText(group: string, solver: string): string {
  return `the provider ${group}/${quote(solver)}`;
}

export function unusableProvider(provider: string): string {
  return `${provider} answers no ChallengePayload with a response`;
}

export function providerRefused(provider: string, fault: string): string {
  return `${provider} could not do it: ${fault}`;
}

export function providerNotCalled(provider: string, fault: string, advice: string): string {
  return `${provider} was not called: ${fault}${advice}`;
}

export function grantProvider(group: string): string {
  const advice = listInInstallation({
    what: group,
    value: 'acme.dnsWebhooks',
    flag: `--dns-webhook ${group}`,
  });
  return `; ${advice}`;
}

export const INSTALL_PROVIDER =
  '; install the provider, or correct webhook.groupName or solverName';

// Conditions of a Challenge: HTTP-01

export const INSTALL_GATEWAY_API = '; install the Gateway API, or let the solver make an Ingress';

export function routeUnseen(route: string, gateway: string): string {
  return `no controller has taken ${route}; see whether the Gateway ${quote(gateway)} exists and its controller runs`;
}

export function routeCondition(
  controller: string,
  { type, reason = '', message = '' }: { type: string; reason?: string; message?: string },
): string {
  return `${type} is False by ${quote(controller, 100)}: ${quote(reason, 64)} ${quote(message, 300)}`;
}

export function routeNotAdmitted(
  route: string,
  gateway: string,
  faults: readonly string[],
): string {
  return `the Gateway ${quote(gateway)} does not serve ${route}: ${faults.slice(0, 3).join('; ')}; correct it, or http01.gateway of the solver`;
}

export function fileNotThere(faults: string, more: string, advice: string): string {
  return `the file is not there: ${faults}${more}${advice}`;
}

export function moreFaults(count: number): string {
  return `; and ${count} more`;
}

export function redirectCircle(host: string): string {
  return `${host} redirects in a circle`;
}

export function tooManyRedirects(max: number): string {
  return `more than ${max} redirects`;
}

export function noAllowedAddress(host: string): string {
  return `${host} has no address that may be called; ${ALLOW_A_NETWORK}`;
}

export function refusedAddress(host: string): string {
  return `${host} has another address, which may not be called; ${ALLOW_A_NETWORK}`;
}

export function unresolved(host: string, fault: string): string {
  return `${host} cannot be resolved: ${quote(fault, 240)}`;
}

export function typeNotResolved(type: string, fault: string): string {
  return `${type}: ${fault}`;
}

export function ofRecord(type: string): string {
  return ` (${type} record)`;
}

export const WAIT_INSTEAD =
  '; if the CA reaches it, set selfCheck.waitInstead of the solver, which replaces this check';

export function tooManyAddresses(max: number): string {
  return `it leads to more than ${max} addresses`;
}

export function otherContent(server: string): string {
  return `${server} answered 200 with another content`;
}

export function redirectRefused(server: string): string {
  return `${server} redirects to another scheme, port or user, which is not followed`;
}

export const INCOMPLETE_ANSWER = 'no complete answer in time';

export function addressUnreachable(fault: string): string {
  return `cannot be reached: ${quote(fault, 120)}`;
}

export function withoutLocation(status: number): string {
  return `answered ${status} without a Location`;
}

export function answered(status: number): string {
  return `answered ${status}`;
}

export function longAnswer(bytes: number): string {
  return `answered 200 with more than ${bytes} bytes`;
}
