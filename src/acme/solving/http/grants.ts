// SPDX-License-Identifier: Apache-2.0
import type { Challenge } from '#api/acme/challenge.ts';
import { usageError } from '#base/errors.ts';
import * as messages from '../messages.ts';

/** A Challenge, created or not. */
interface Proof {
  readonly metadata: { readonly namespace?: string | undefined };
  readonly spec: Pick<Challenge['spec'], 'signerRef' | 'dnsName' | 'type'>;
}

/** Lets AcmeSigners of a namespace prove the names of a zone by HTTP-01. */
export interface Http01Grant {
  readonly namespace: string;
  /** Zone without a final dot, in lower case. */
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
  throw usageError(messages.invalidHttp01Grant(text.slice(0, 80)));
}

/**
 * Reports whether HTTP-01 may prove a Challenge. A user who can serve a file at a name gets
 * certificates for it, and all hosts of the cluster lead to the same Ingress controller. The owner
 * of a namespace therefore proves only what an administrator granted. Only administrators write
 * AcmeClusterSigners.
 */
export function mayProveByHttp(
  { metadata: { namespace }, spec: { signerRef, dnsName } }: Proof,
  grants: readonly Http01Grant[],
): boolean {
  if (signerRef.kind === 'AcmeClusterSigner') return true;
  const name = dnsName.toLowerCase();
  return grants.some(
    (each) =>
      each.namespace === namespace && (name === each.zone || name.endsWith(`.${each.zone}`)),
  );
}

/** Returns the reason that a Challenge may not be proved, or undefined. */
export function grantRefusal(
  proof: Proof,
  grants: readonly Http01Grant[],
): { readonly reason: string; readonly message: string } | undefined {
  const { metadata, spec } = proof;
  if (spec.type !== 'http-01' || mayProveByHttp(proof, grants)) return undefined;
  const { namespace = '' } = metadata;
  const message = messages.nameNotGranted(namespace, spec.dnsName);
  return { reason: 'NameNotGranted', message };
}

/** An address that AcmeSigners may have called, and the solver's field for it. */
export interface SolverGrant {
  readonly member: (typeof MEMBERS)[number];
  /** Address in the form that a signer has it. */
  readonly address: string;
}

const MEMBERS = ['rfc2136', 'acmeDNS', 'webhook', 'nameserver'] as const;

/**
 * Reads `rfc2136=ns1.example.com:53`, `acmeDNS=https://auth.example.com`,
 * `webhook=acme.example.com` or `nameserver=192.0.2.53`.
 *
 * @throws SignerError USAGE
 */
export function parseSolverGrant(text: string): SolverGrant {
  const at = text.indexOf('=');
  const member = MEMBERS.find((each) => each === text.slice(0, Math.max(at, 0)));
  const given = text.slice(at + 1);
  if (member !== undefined && given !== '') return { member, address: given };
  throw usageError(
    messages.invalidSolverGrant(text.slice(0, 80), MEMBERS.slice(0, -1).join('=…, ')),
  );
}
