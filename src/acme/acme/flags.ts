// SPDX-License-Identifier: Apache-2.0
import {
  DNS_FLAGS,
  HTTP01_FLAGS,
  NAMESPACED_FLAGS,
  type DnsFlags,
  type Http01Flags,
  type NamespacedFlags,
} from '../flags.ts';
import { parseNetwork, type Network } from '#base/egress/networks.ts';
import { usageError } from '#base/errors.ts';
import type { Flag } from '#component/flag.ts';

/** Flags of `acme` for the self-check of Challenges. */
export interface SelfCheckFlags extends DnsFlags, NamespacedFlags {
  readonly selfCheckNetwork: readonly Network[];
  readonly selfCheckPorts?: { readonly http: number; readonly https: number };
}

/** Flags of `acme`. */
export interface AcmeFlags extends SelfCheckFlags, Http01Flags {
  readonly namespacedServer: readonly string[];
  readonly renewCertificates: boolean;
  readonly maxChallenges: number;
}

/** The default of cert-manager's `--max-concurrent-challenges`. */
const DEFAULT_CHALLENGES = 60;
/** Upper limit: each Challenge needs memory, and a check every ten seconds. */
const MAX_CHALLENGE_LIMIT = 10_000;

const SELF_CHECK_FLAGS: readonly Flag[] = [
  {
    flag: '--self-check-network <network>',
    help: 'network outside the Internet that the self-check may call, such as 10.0.0.0/8 (repeatable)',
    parse: parseNetwork,
    repeatable: true,
  },
  {
    flag: '--self-check-ports <http,https>',
    help: 'ports that the ACME server calls in place of 80 and 443, as test servers do',
    parse: parsePorts,
  },
];

/** See {@link AcmeFlags}. */
export const ACME_FLAGS: readonly Flag[] = [
  {
    flag: '--namespaced-server <url>',
    help: 'directory of an ACME server that AcmeSigners may name (repeatable; default: none)',
    repeatable: true,
  },
  {
    flag: '--renew-certificates',
    help: 'mark Certificates of cert-manager as cmctl renew does when their CA wants them renewed',
    default: false,
  },
  {
    flag: '--max-challenges <count>',
    help: 'Challenges that are processed at once, of all signers together',
    parse: parseMaxChallenges,
    default: DEFAULT_CHALLENGES,
  },
  ...HTTP01_FLAGS,
  ...DNS_FLAGS,
  ...NAMESPACED_FLAGS,
  ...SELF_CHECK_FLAGS,
];

/** @throws SignerError USAGE */
function parseMaxChallenges(text: string): number {
  const count = /^[0-9]{1,5}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= MAX_CHALLENGE_LIMIT) return count;
  throw usageError(
    `${JSON.stringify(text.slice(0, 20))} is not a number from 1 to ${MAX_CHALLENGE_LIMIT}`,
  );
}

/** @throws SignerError USAGE */
function parsePorts(text: string): { readonly http: number; readonly https: number } {
  const { http, https } = /^(?<http>\d{1,5}),(?<https>\d{1,5})$/.exec(text)?.groups ?? {};
  const ports = { http: Number(http), https: Number(https) };
  if (ports.http > 0 && ports.http < 65_536 && ports.https > 0 && ports.https < 65_536)
    return ports;
  throw usageError('write two ports, such as 8080,8443');
}
