// SPDX-License-Identifier: Apache-2.0
import { Option, type Command } from 'commander';
import { parseNetwork, type Network } from '../../egress/networks.ts';
import { checkFederatedDomain } from '../../api/object/federated-bundle.ts';
import { readForeignDomain, type ForeignDomain } from '../../spiffe/foreign-domain.ts';
import { checkTrustDomain } from '../../spiffe/trust-domain.ts';
import type { ComponentOptions } from '../component-options.ts';
import { durationFlag, parsedFlag } from '../flag-values.ts';

/** The flags of `federation`. */
export interface FederationOptions extends ComponentOptions {
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

/** Adds those of {@link FederationOptions} that the other components do not have. */
export function addFederationOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--federate <domain,profile,...,url>',
        'foreign trust domain: <name>,https_web,<url> or <name>,https_spiffe,<SPIFFE ID of the server>,<url> (repeatable)',
      )
        .argParser((text: string, before: readonly ForeignDomain[]) => [
          ...before,
          parsedFlag(text, readForeignDomain),
        ])
        .default([], 'none'),
    )
    .addOption(
      namesOption(
        '--ended-trust-domain <name>',
        'trust domain that is not federated with any more: its bundle is deleted (repeatable)',
        checkEnded,
      ),
    )
    .addOption(
      namesOption(
        '--own-trust-domain <name>',
        'trust domain of our own, whose CAs no other may claim (repeatable)',
        checkTrustDomain,
      ),
    )
    .option(
      '--federation-files <directory>',
      'directory with <name>.json or <name>.pem, the first bundle for https_spiffe, and <name>.crt, the CAs of a server of https_web',
      '/run/countersign/federation',
    )
    .addOption(
      new Option(
        '--federation-network <network>',
        'network that bundle endpoints may be in although it is no part of the Internet, such as 10.0.0.0/8 (repeatable)',
      )
        .argParser((text: string, before: readonly Network[]) => [
          ...before,
          parsedFlag(text, parseNetwork),
        ])
        .default([], 'none'),
    )
    .addOption(
      new Option(
        '--keep <duration>',
        'how long a bundle is kept while its endpoint gives no good answer',
      )
        .argParser(durationFlag)
        .default(DAY_SECONDS, '24h'),
    )
    .addOption(
      new Option('--shortest-refresh <duration>', 'no endpoint is asked more often')
        .argParser(durationFlag)
        .default(MINUTE_SECONDS, '1m'),
    );
}

/** A repeatable flag; `check` returns the name. */
function namesOption(flag: string, description: string, check: (name: string) => string): Option {
  return new Option(flag, description)
    .argParser((text: string, before: readonly string[]) => [...before, parsedFlag(text, check)])
    .default([], 'none');
}

/** @throws SignerError NAME_INVALID */
function checkEnded(name: string): string {
  checkFederatedDomain(checkTrustDomain(name));
  return name;
}
