// SPDX-License-Identifier: Apache-2.0
import { parseDuration } from '#api/object/duration.ts';
import { checkFederatedDomain } from '#api/object/federated-bundle.ts';
import { parseNetwork, type Network } from '#base/egress/networks.ts';
import type { Flag } from '#component/flag.ts';
import { readForeignDomain, type ForeignDomain } from '../spiffe/foreign-domain.ts';
import { checkTrustDomain } from '../spiffe/trust-domain.ts';

/** Flags of `federation`. */
export interface FederationFlags {
  readonly federate: readonly ForeignDomain[];
  readonly endedTrustDomain: readonly string[];
  readonly ownTrustDomain: readonly string[];
  readonly federationFiles: string;
  readonly federationNetwork: readonly Network[];
  /** Seconds. */
  readonly keep: number;
  /** Seconds. */
  readonly shortestRefresh: number;
}

const DAY_SECONDS = 86_400;
const MINUTE_SECONDS = 60;

/** Directory where the Deployment mounts the first bundles and the server CAs. */
export const FEDERATION_DIRECTORY = '/run/countersign/federation';

/** Secret whose keys the chart mounts there as files. */
export const FEDERATION_SECRET = 'countersign-federation-files';

/** {@link FederationFlags} */
export const FEDERATION_FLAGS: readonly Flag[] = [
  {
    flag: '--federate <domain,profile,...,url>',
    help: 'foreign trust domain: <name>,https_web,<url> or <name>,https_spiffe,<SPIFFE ID of the server>,<url> (repeatable)',
    parse: readForeignDomain,
    repeatable: true,
    shown: 'none',
  },
  {
    flag: '--ended-trust-domain <name>',
    help: 'trust domain that is no longer federated with: its bundle is deleted (repeatable)',
    parse: checkEnded,
    repeatable: true,
    shown: 'none',
  },
  {
    flag: '--own-trust-domain <name>',
    help: 'trust domain of our own, whose CAs no other may claim (repeatable)',
    parse: checkTrustDomain,
    repeatable: true,
    shown: 'none',
  },
  {
    flag: '--federation-files <directory>',
    help: 'directory with <name>.json or <name>.pem, the first bundle for https_spiffe, and <name>.crt, the CAs of a server of https_web',
    default: FEDERATION_DIRECTORY,
  },
  {
    flag: '--federation-network <network>',
    help: 'non-public network that bundle endpoints may be in, such as 10.0.0.0/8 (repeatable)',
    parse: parseNetwork,
    repeatable: true,
    shown: 'none',
  },
  {
    flag: '--keep <duration>',
    help: 'how long to keep a bundle while its endpoint gives no good answer',
    parse: parseDuration,
    default: DAY_SECONDS,
    shown: '24h',
  },
  {
    flag: '--shortest-refresh <duration>',
    help: 'minimum time between two fetches from an endpoint',
    parse: parseDuration,
    default: MINUTE_SECONDS,
    shown: '1m',
  },
];

/** @throws SignerError NAME_INVALID */
function checkEnded(name: string): string {
  checkFederatedDomain(checkTrustDomain(name));
  return name;
}
