// SPDX-License-Identifier: Apache-2.0
import type { Challenge } from '../../api/acme/index.ts';
import { usageError } from '../../errors.ts';

/** AcmeSigners of a namespace may prove the names of a zone by HTTP-01. */
export interface Http01Grant {
  readonly namespace: string;
  /** Without a dot at its end; lower case. */
  readonly zone: string;
}

const GRANT =
  /^(?<namespace>[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?)=(?<zone>[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?)$/;

/**
 * Reads `team-a=team-a.example.com`.
 *
 * @throws SignerError USAGE
 */
export function parseHttp01Grant(text: string): Http01Grant {
  const { namespace, zone } = GRANT.exec(text)?.groups ?? {};
  if (namespace !== undefined && zone !== undefined) return { namespace, zone };
  throw usageError(
    `${JSON.stringify(text.slice(0, 80))} is no namespace and zone; write team-a=team-a.example.com`,
  );
}

/**
 * Whether a Challenge may be proved by HTTP-01. Whoever can have a file served at a name gets certificates for that name,
 * and every host of the cluster leads to the same Ingress controller. So the owner of a namespace proves what an
 * administrator granted; an AcmeClusterSigner is the administrator's own.
 */
export function mayProveByHttp(
  { metadata: { namespace }, spec: { signerRef, dnsName } }: Challenge,
  grants: readonly Http01Grant[],
): boolean {
  if (signerRef.kind === 'AcmeClusterSigner') return true;
  const name = dnsName.toLowerCase();
  return grants.some(
    (each) =>
      each.namespace === namespace && (name === each.zone || name.endsWith(`.${each.zone}`)),
  );
}

/** What AcmeSigners may have called: a member of a solver, and its address. */
export interface SolverGrant {
  readonly member: (typeof MEMBERS)[number];
  /** As a signer may have it. */
  readonly address: string;
}

const MEMBERS = ['rfc2136', 'acmeDNS', 'webhook', 'nameserver'] as const;

/**
 * Reads `rfc2136=ns1.example.com:53`, `acmeDNS=https://auth.example.com`, `webhook=acme.example.com` or
 * `nameserver=192.0.2.53`.
 *
 * @throws SignerError USAGE
 */
export function parseSolverGrant(text: string): SolverGrant {
  const at = text.indexOf('=');
  const member = MEMBERS.find((each) => each === text.slice(0, Math.max(at, 0)));
  const given = text.slice(at + 1);
  if (member !== undefined && given !== '') return { member, address: given };
  throw usageError(
    `${JSON.stringify(text.slice(0, 80))} is no address of a solver; write ${MEMBERS.slice(0, -1).join('=…, ')}=… or nameserver=…, with the address as the signer has it`,
  );
}
