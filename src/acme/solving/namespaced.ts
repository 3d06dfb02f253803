// SPDX-License-Identifier: Apache-2.0
import type { AcmeSigner, AcmeSolver } from '#api/acme/acme-signer.ts';
import { formatDnsAddress, parseDnsAddress } from './dns/address.ts';
import type { SolverGrant } from './http/grants.ts';
import * as messages from './messages.ts';

/** Returns one form for equal addresses. */
function addressOf(member: SolverGrant['member'], text: string): string {
  if (member === 'webhook') return text;
  if (URL.canParse(text) && /^https?:/.test(text)) return new URL(text).href;
  const address = parseDnsAddress(text.toLowerCase());
  return address === undefined ? text : formatDnsAddress(address);
}

/**
 * Returns the first address that the solvers of an AcmeSigner may not call, with the fix, or
 * undefined. AcmeSigners have no addresses without a grant. Otherwise the author of an AcmeSigner
 * could have the components call any address of the cluster's network. Only administrators write
 * AcmeClusterSigners.
 */
export function solversRefusal(
  { metadata, spec }: Pick<AcmeSigner, 'metadata' | 'spec'>,
  grants: readonly SolverGrant[],
): string | undefined {
  if (metadata.namespace === undefined) return undefined;
  return firstRefusal(spec.acme.solvers.flatMap(calledBy), grants);
}

/** Returns the same for resolvers that a self-check queries. */
export function nameserversRefusal(
  nameservers: readonly string[],
  grants: readonly SolverGrant[],
): string | undefined {
  return firstRefusal(nameservers.map(asNameserver), grants);
}

/** An address to call, and the solver's field that has it. */
type SolverAddress = readonly [member: SolverGrant['member'], text: string];

const asNameserver = (text: string): SolverAddress => ['nameserver', text];

function calledBy({ rfc2136, acmeDNS, webhook, selfCheck }: AcmeSolver): readonly SolverAddress[] {
  return [
    ...(rfc2136 === undefined ? [] : [['rfc2136', rfc2136.server] as const]),
    ...(acmeDNS === undefined ? [] : [['acmeDNS', acmeDNS.server] as const]),
    ...(webhook === undefined ? [] : [['webhook', webhook.groupName] as const]),
    ...(selfCheck?.nameservers ?? []).map(asNameserver),
  ];
}

function firstRefusal(
  called: readonly SolverAddress[],
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
  return messages.solverNotGranted(member, text);
}
