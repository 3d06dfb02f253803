// SPDX-License-Identifier: Apache-2.0
import { Option, type Command } from 'commander';
import { checkSignerName } from '../../api/signer/signer-name.ts';
import { usageError } from '../../errors.ts';
import { checkTrustDomain } from '../../spiffe/trust-domain.ts';
import { isInCluster, type ComponentOptions } from '../component-options.ts';
import { durationFlag, parsedFlag } from '../flag-values.ts';

/** How a bundle endpoint proves itself (SPIFFE Federation §5.2). */
export const ENDPOINT_PROFILES = ['https_web', 'https_spiffe'] as const;

/** One of the profiles. */
export type EndpointProfile = (typeof ENDPOINT_PROFILES)[number];

/** The flags of `bundle-endpoint`. */
export interface EndpointOptions extends ComponentOptions {
  /** Trust domain → signer names. */
  readonly trustDomain: ReadonlyMap<string, readonly string[]>;
  readonly profile: readonly EndpointProfile[];
  readonly listenWeb: string;
  readonly webCertificate: string;
  readonly listenSpiffe: string;
  readonly svid: string;
  /** Seconds; undefined: a fifth of `propagation`. */
  readonly refreshHint?: number;
}

/** The ports of the Deployment's containers. */
const WEB_PORT = 8446;
const SPIFFE_PORT = 8447;

/** Adds those of {@link EndpointOptions} that the other components do not have. */
export function addEndpointOptions(command: Command, environment = process.env): Command {
  const host = isInCluster(environment) ? '0.0.0.0' : '127.0.0.1';
  return command
    .addOption(
      new Option(
        '--trust-domain <name=signer,...>',
        'trust domain whose bundle is served at /<name>/bundle.json, and the signers of its X509-SVIDs (repeatable)',
      )
        .argParser((text: string, before: EndpointOptions['trustDomain']) =>
          parsedFlag(text, (value) => withTrustDomain(before, value)),
        )
        .default(new Map(), 'none'),
    )
    .addOption(
      new Option(
        '--profile <profile>',
        `how the endpoint proves itself: ${ENDPOINT_PROFILES.join(' or ')} (repeatable; default: both)`,
      )
        .argParser((text: string, before: readonly EndpointProfile[]) => [
          ...before,
          parsedFlag(text, profileOf),
        ])
        .default([]),
    )
    .option('--listen-web <host:port>', 'address for https_web', `${host}:${WEB_PORT}`)
    .option(
      '--web-certificate <directory>',
      'directory with tls.crt and tls.key for https_web; reloaded when they change',
      '/run/countersign/web',
    )
    .option('--listen-spiffe <host:port>', 'address for https_spiffe', `${host}:${SPIFFE_PORT}`)
    .option(
      '--svid <directory>',
      'directory with tls.crt and tls.key for https_spiffe: an X509-SVID; reloaded when they change',
      '/run/countersign/svid',
    )
    .addOption(
      new Option(
        '--refresh-hint <duration>',
        'how often other trust domains should look (default: a fifth of --propagation)',
      ).argParser(durationFlag),
    );
}

/** @throws SignerError NAME_INVALID, SIGNER_NAME_INVALID or USAGE */
function withTrustDomain(
  before: EndpointOptions['trustDomain'],
  text: string,
): EndpointOptions['trustDomain'] {
  const at = text.indexOf('=');
  if (at < 0)
    throw usageError('write a trust domain and its signers: prod.example.com=example.com/workload');
  const domain = checkTrustDomain(text.slice(0, at));
  if (before.has(domain))
    throw usageError(`${domain} is named twice; write all its signers into one flag`);
  const signers = new Set(text.slice(at + 1).split(','));
  for (const each of signers) checkSignerName(each);
  return new Map([...before, [domain, [...signers]]]);
}

function profileOf(text: string): EndpointProfile {
  const found = ENDPOINT_PROFILES.find((each) => each === text);
  if (found === undefined) throw usageError(`must be ${ENDPOINT_PROFILES.join(' or ')}`);
  return found;
}
