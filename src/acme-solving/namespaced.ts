// SPDX-License-Identifier: Apache-2.0
import type { AcmeSigner, AcmeSolver } from '../api/acme/index.ts';
import { quote } from '../quote.ts';
import { formatDnsAddress, parseDnsAddress } from './dns/address.ts';
import type { SolverGrant } from './http/grants.ts';

/** Two ways to write one address are one. */
function addressOf(member: SolverGrant['member'], text: string): string {
  if (member === 'webhook') return text;
  if (URL.canParse(text) && /^https?:/.test(text)) return new URL(text).href;
  const address = parseDnsAddress(text.toLowerCase());
  return address === undefined ? text : formatDnsAddress(address);
}

/**
 * What the solvers of an AcmeSigner may not have called, and what to do; undefined where all of it is granted. Nothing is
 * without a grant: whoever writes an AcmeSigner would else have the components call any address of the cluster's network.
 * An AcmeClusterSigner is the administrator's own.
 */
export function solversRefusal(
  { metadata, spec }: Pick<AcmeSigner, 'metadata' | 'spec'>,
  grants: readonly SolverGrant[],
): string | undefined {
  if (metadata.namespace === undefined) return undefined;
  return firstRefusal(spec.acme.solvers.flatMap(calledBy), grants);
}

/** The same of resolvers that a self-check is to ask. */
export function nameserversRefusal(
  nameservers: readonly string[],
  grants: readonly SolverGrant[],
): string | undefined {
  return firstRefusal(nameservers.map(asNameserver), grants);
}

/** What is called: the member that says so, and its address. */
type Called = readonly [member: SolverGrant['member'], text: string];

const asNameserver = (text: string): Called => ['nameserver', text];

function calledBy({ rfc2136, acmeDNS, webhook, selfCheck }: AcmeSolver): readonly Called[] {
  return [
    ...(rfc2136 === undefined ? [] : [['rfc2136', rfc2136.server] as const]),
    ...(acmeDNS === undefined ? [] : [['acmeDNS', acmeDNS.server] as const]),
    ...(webhook === undefined ? [] : [['webhook', webhook.groupName] as const]),
    ...(selfCheck?.nameservers ?? []).map(asNameserver),
  ];
}

function firstRefusal(
  called: readonly Called[],
  grants: readonly SolverGrant[],
): string | undefined {
  const refused = called.find(([member, text]) => {
    const address = addressOf(member, text);
    return !grants.some(
      (each) => each.member === member && addressOf(member, each.address) === address,
    );
  });
  if (refused === undefined) return undefined;
  const [member, text] = refused;
  return `the administrator does not allow AcmeSigners the ${member} ${quote(text, 200)}: the components acme and acme-solver have no --namespaced-solver of it (${member}=…)`;
}
